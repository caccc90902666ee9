import socket
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from vit_check.engine.asking import JUDGE
from vit_check.judge import Judge


@pytest.fixture
def judge():
    """A judge in a folder whose path is short enough for a socket, unlike tmp_path."""
    if not hasattr(socket, "AF_UNIX"):
        pytest.skip("no Unix sockets here")
    with TemporaryDirectory() as folder, Judge(Path(folder, "judge")) as judge:
        yield judge


@pytest.fixture
def asked(judge, monkeypatch):
    """A judge that the checks of this process ask."""
    monkeypatch.setenv(JUDGE, judge.path)
    return judge
