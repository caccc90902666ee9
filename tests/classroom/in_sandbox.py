"""Helpers for the tests that grade in a sandbox."""

import csv
import io

import pytest

from classroom.grading.limits import Limits
from classroom.grading.result import Terms
from classroom.grading.sandbox import SandboxMissing, check_sandbox
from tests.conftest import REQUIRED

QUICK = Terms(limits=Limits(cell_seconds=5, total_seconds=120))


def sandbox_works():
    try:
        check_sandbox()
    except SandboxMissing as error:
        return str(error)
    return ""


WHY_NOT = sandbox_works()
in_sandbox = pytest.mark.skipif(
    bool(WHY_NOT) and "bubblewrap" not in REQUIRED, reason=WHY_NOT or "bubblewrap works"
)


def table(path):
    return list(csv.reader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
