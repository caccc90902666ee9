"""What all workers need and each would make for itself.

The server imports it that they are forked from, before a submission is read.
"""

from contextlib import suppress

from sqlalchemy.orm import configure_mappers

import vit_check.judge
from classroom.grading import feedback, page, sandbox, worker
from classroom.grading.seccomp import SeccompMissing, compiled

__all__ = ["feedback", "vit_check", "worker"]

configure_mappers()
page.prepare()
with suppress(SeccompMissing):  # who grades without a sandbox needs none
    compiled()
sandbox.prepare()
