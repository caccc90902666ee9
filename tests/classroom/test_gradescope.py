"""Test the autograder for Gradescope, without a network, in a container like theirs.

Bubblewrap stands in for Docker: the folders of /autograder, root with the rights that
Docker leaves it, and nothing of this machine but its programs. A container there has
768 MB, half a processor and ten minutes.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from contextlib import suppress
from pathlib import Path

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook

from classroom.gradescope import run
from classroom.gradescope.__main__ import IMPORTED, main, pinned
from classroom.gradescope.results import RIGHT, in_words
from classroom.gradescope.run import CONTAINER, assignment_in, room
from classroom.grading.procfs import Procfs
from classroom.grading.result import Result
from classroom.grading.sandbox import SETTINGS, SYSTEM
from classroom.release.assignment import Assignment
from classroom.release.release import SOURCES, url_of
from tests.classroom.bench.adversaries import NUISANCES, dump, solved
from tests.classroom.in_sandbox import in_sandbox
from tests.patience import SECONDS

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Gradescope has Linux")

SET = Assignment(SOURCES / "05_multi_head_attention.ipynb")
HUNGRY = ["09"]  # of the sets
OF_DOCKER = "CHOWN DAC_OVERRIDE FOWNER FSETID KILL SETGID SETUID SETPCAP".split()
SECONDS_OF_PROCESSOR = 300  # half a processor for ten minutes

# Stand-ins for what setup.sh fetches from the network. They write down their arguments.
STUBS = {
    "apt-get": 'echo "apt-get $*" >>/opt/log',
    "python3": """
mkdir -p "$3/bin" && cp /opt/stubs/pip /opt/stubs/uv "$3/bin/" """,
    "pip": 'echo "pip $*" >>/opt/log; cat uv.txt >>/opt/log',
    "uv": """
echo "uv $*" >>/opt/log
if [ "$1" = venv ]; then
    {python} -m venv --without-pip "$4"
    echo {packages} >"$(echo "$4"/lib/python3*/site-packages)/installed.pth"
fi""",
}


class Container:
    """A folder for /autograder and one for /opt, and what is run between them."""

    def __init__(self, folder):
        self.autograder, self.opt = folder / "autograder", folder / "opt"
        for name in ("source", "submission", "results"):
            (self.autograder / name).mkdir(parents=True)
        (self.opt / "stubs").mkdir(parents=True)

    def run(self, command):
        """Run a command as Gradescope does; return its output and the peak of memory.

        Memory is what belongs to no file, because the rest can be dropped.
        """
        line = ["bwrap", "--unshare-net", "--unshare-pid", "--die-with-parent"]
        line += ["--clearenv", "--setenv", "PATH", "/opt/stubs:/usr/bin:/bin"]
        line += ["--setenv", "HOME", "/tmp"]
        if os.geteuid() == 0:
            line += ["--cap-drop", "ALL"]
            line += [
                word for name in OF_DOCKER for word in ("--cap-add", f"CAP_{name}")
            ]
        else:
            line += ["--unshare-user", "--uid", "1000", "--gid", "1000"]
        for path in map(Path, SYSTEM):
            if path.is_symlink():
                line += ["--symlink", str(path.readlink()), str(path)]
            else:
                line += ["--ro-bind-try", str(path), str(path)]
        for path in SETTINGS:
            line += ["--ro-bind-try", path, path]
        line += [
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "--perms",
            "1777",
            "--tmpfs",
            "/tmp",
        ]
        line += ["--bind", str(self.autograder), "/autograder"]
        line += ["--bind", str(self.opt), "/opt"]
        for path in {Path(sys.prefix).resolve(), Path(sys.base_prefix).resolve()}:
            for parent in reversed(path.parents[:-1]):
                line += ["--perms", "0755", "--dir", str(parent)]
            line += ["--ro-bind", str(path), str(path)]
        line += ["--chdir", "/autograder", "--", "sh", "-c"]
        line += [f"ulimit -t {SECONDS_OF_PROCESSOR}; exec {command} 2>&1"]
        with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
            peak = [0]
            ended = threading.Event()
            watching = threading.Thread(target=_watch, args=(process.pid, peak, ended))
            watching.start()
            try:
                said, _ = process.communicate(timeout=SECONDS)
            finally:
                process.kill()
                ended.set()
                watching.join()
        assert process.returncode == 0, said
        return said, peak[0]

    def grade(self, files):
        """Return results.json for files that are handed in, and the memory it took."""
        shutil.rmtree(self.autograder / "submission")
        for name, data in files.items():
            path = self.autograder / "submission" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        (self.autograder / "submission").mkdir(exist_ok=True)
        _, peak = self.run("/autograder/run_autograder")
        found = self.autograder / "results" / "results.json"
        return json.loads(found.read_text("utf-8")), peak


def _watch(pid, peak, ended):
    procfs = Procfs(Path("/proc"))
    while not ended.is_set():
        time.sleep(0.05)
        with suppress(OSError, psutil.Error):  # a process may have just ended
            everyone = psutil.Process(pid).children(recursive=True)
            held = sum(procfs.look(process.pid).anonymous for process in everyone)
            peak[0] = max(peak[0], held)


def unpacked(assignment, folder):
    """Return a container into which a set's autograder was unpacked."""
    assert main([assignment.name[:2], "--out", str(folder)]) == 0
    container = Container(folder)
    with zipfile.ZipFile(folder / f"{assignment.name}.zip") as archive:
        archive.extractall(container.autograder / "source")
        modes = {one.filename: one.external_attr >> 16 for one in archive.infolist()}
    for name in ("setup.sh", "run_autograder"):
        assert modes[name] == 0o100755
        path = container.autograder / "source" / name
        path.chmod(0o755)
    shutil.copy(path, container.autograder)
    return container


@pytest.fixture(scope="module")
def container(tmp_path_factory):
    container = unpacked(SET, tmp_path_factory.mktemp("gradescope"))
    places = {
        "{python}": Path(sys.executable).resolve(),
        "{packages}": Path(nbformat.__file__).resolve().parents[1],
    }
    for name, text in STUBS.items():
        for key, place in places.items():
            text = text.replace(key, str(place))
        stub = container.opt / "stubs" / name
        stub.write_text(f"#!/bin/sh\n{text}\n")
        stub.chmod(0o755)
    container.run("/autograder/source/setup.sh")
    shutil.rmtree(container.opt / "stubs")
    return container


def points(told):
    return {one["number"]: (one["score"], one["max_score"]) for one in told["tests"]}


@in_sandbox
def test_the_environment_comes_from_the_right_places(container):
    log = (container.opt / "log").read_text()
    assert "uv pip install --python /opt/vit/bin/python --torch-backend cpu" in log
    assert pinned("uv") in log and "apt-get update" in log
    wanted = (container.autograder / "source" / "requirements.txt").read_text()
    names = {line.partition("==")[0].lower() for line in wanted.splitlines()}
    assert names > {*IMPORTED, "nbgrader", "ipykernel"}


@in_sandbox
def test_right_answers_get_every_point_within_the_memory(container):
    """The notebook's own code can read and write nothing of the grader's."""
    nb = nbformat.reads(dump(solved(SET)).decode(), as_version=4)
    if os.geteuid() == 0:  # else the notebook cannot be another user
        place = "/autograder/results/results.json"
        look = f"import os\nassert not os.path.exists({place!r}) and os.getuid()"
        nb.cells[0] = new_code_cell(f"{look}\nok = True")
        for cell in nb.cells:
            if cell.source.startswith("shape_of_q ="):
                cell.source = f"assert ok\n{cell.source}"
    told, peak = container.grade({"my work.ipynb": dump(nb), "notes.txt": b"x"})
    words = sum(in_words(SET).values())
    full = sum(SET.points.values()) - words
    assert sum(score for score, _ in points(told).values()) == full, told
    assert sum(most for _, most in points(told).values()) == full
    assert {one["output"] for one in told["tests"]} == {RIGHT}
    assert f"gives its {words:g} points" in told["output"]
    assert peak < CONTAINER
    assert not list(container.autograder.glob("tmp*"))


@in_sandbox
@pytest.mark.parametrize("number", HUNGRY)
def test_the_sets_that_take_most_memory_fit(number, container, tmp_path):
    (path,) = SOURCES.glob(f"{number}_*.ipynb")
    hungry = Assignment(path)
    other = unpacked(hungry, tmp_path)
    other.opt = container.opt
    told, peak = other.grade({"answers.ipynb": dump(solved(hungry))})
    assert {one["output"] for one in told["tests"]} == {RIGHT}
    assert peak < CONTAINER


@in_sandbox
def test_an_answer_that_takes_all_memory_leaves_the_container_whole(container):
    nb = nbformat.reads(dump(solved(SET)).decode(), as_version=4)
    cell = next(cell for cell in nb.cells if cell.source.startswith("shape_of_q ="))
    cell.source += f"\n{NUISANCES['memory hog']}"
    told, peak = container.grade({"05.ipynb": dump(nb)})
    assert 0 < sum(score == 0 for score, _ in points(told).values()) < len(points(told))
    assert peak < CONTAINER


@in_sandbox
def test_a_wrong_answer_costs_its_points_and_is_named(container):
    wrong = dump(solved(SET)).replace(b"times_fewer = D // d", b"times_fewer = d")
    told, _ = container.grade({"folder/05.ipynb": wrong})
    lost = {one["number"]: one for one in told["tests"] if not one["score"]}
    assert list(lost) == ["4.1"]
    assert lost["4.1"]["name"] == "One set of keys for all heads"
    assert lost["4.1"]["max_score"] == SET.points["test-shared-keys"]
    assert lost["4.1"]["output"].startswith("Not right yet: that is d; compare ")
    assert lost["4.1"]["output"].endswith(".")


@in_sandbox
@pytest.mark.parametrize(
    "files, words",
    [
        ({}, "No notebook was found."),
        ({"05.ipynb": b"{"}, "The file is not a whole notebook"),
    ],
)
def test_nothing_to_run_gets_nothing_and_a_reason(files, words, container):
    told, _ = container.grade(files)
    assert all(score == 0 < most for score, most in points(told).values())
    assert words in told["output"]
    assert all(words in one["output"] for one in told["tests"])


@in_sandbox
def test_a_grader_that_dies_leaves_a_sentence(container):
    broken = container.autograder / "source" / "set"
    aside = broken.rename(broken.with_name("aside"))
    try:
        with pytest.raises(AssertionError, match="Traceback"):
            container.grade({})
    finally:
        aside.rename(broken)
    told = json.loads((container.autograder / "results" / "results.json").read_text())
    assert told["score"] == 0 and "tell your teacher" in told["output"]


@pytest.mark.parametrize("slow", [True, False])
def test_a_run_that_was_kept_waiting_is_not_the_last_word(slow, tmp_path, monkeypatch):
    """It is repeated if there is time, and if not, the student may do so."""
    for name in ("source/set", "submission", "results"):
        (tmp_path / name).mkdir(parents=True)
    shutil.copy(SET.path, tmp_path / "source" / "set")
    (tmp_path / "source" / "assignments.db").touch()
    (tmp_path / "source" / "seed.txt").touch()
    (tmp_path / "submission" / "05.ipynb").write_bytes(dump(solved(SET)))
    runs = []

    def starved(submission, assignment, course, terms, again=""):
        runs.append(again)
        result = Result.of(submission, assignment)
        result.starved = slow or not again
        result.failures = {"test-shared-keys": "late"}
        return result

    monkeypatch.setattr(run.worker, "grade", starved)
    monkeypatch.setattr(run, "AGAIN", -1 if slow else run.AGAIN)
    run.main(tmp_path)
    told = json.loads((tmp_path / "results" / "results.json").read_text("utf-8"))
    assert runs == ([""] if slow else ["", "busy"])
    assert (run.BUSY in told["output"]) == slow


def test_the_memory_is_the_containers(tmp_path):
    limit = tmp_path / "memory.max"
    assert room(limit) == CONTAINER
    limit.write_text("max\n")
    assert room(limit) == CONTAINER
    limit.write_text("3221225472\n")
    assert room(limit) == 3 * 2**30


def test_a_variant_has_an_autograder_of_its_own(tmp_path):
    assert main(["12", "--seed", "2027", "--out", str(tmp_path)]) == 0
    with zipfile.ZipFile(tmp_path / "12_scale-2027.zip") as archive:
        archive.extractall(tmp_path)
    drawn = assignment_in(tmp_path)
    assert drawn.seed == 2027 and "check.variant(2027)" in str(drawn.release)
    with Gradebook(url_of(tmp_path / "assignments.db")) as book:
        assert [one.name for one in book.assignments] == [drawn.label]


def test_a_set_that_is_not_there_is_refused(capsys, tmp_path):
    assert main(["99", "--out", str(tmp_path / "out")]) == 1
    assert "expected one of 01, 02" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
