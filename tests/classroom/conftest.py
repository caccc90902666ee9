import tempfile
from pathlib import Path

import pytest

from classroom.release.assignment import Assignment
from tests.classroom.small_exercises import write_source


@pytest.fixture(scope="session")
def exercises(tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "05_heads.ipynb"
    return Assignment(write_source(path))


@pytest.fixture
def short_folder():
    """For sockets, whose paths are short."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)
