import tempfile
from functools import cache
from pathlib import Path
from unittest.mock import patch

import pytest
from nbgrader import api

from classroom.release.assignment import Assignment
from tests.classroom.small_exercises import write_source


@pytest.fixture(scope="session", autouse=True)
def alembic_asked_once():
    """Ask for alembic's version once: nbgrader starts a process for each gradebook."""
    with patch.object(api, "get_alembic_version", cache(api.get_alembic_version)):
        yield


@pytest.fixture(scope="session")
def exercises(tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "05_heads.ipynb"
    return Assignment(write_source(path))


@pytest.fixture
def short_folder():
    """A folder with a short path, as a socket's path may not be long."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        yield Path(folder)
