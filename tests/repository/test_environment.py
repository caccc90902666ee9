"""Test `make book` on machines that lack something: it names that, and a remedy.

The script runs in an empty folder, with stand-ins for python, pip, uv, df and
nvidia-smi.
"""

import os
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a shell script")

PIP = """#!/bin/sh
echo "pip $*" >> "$LOG"
case "$*" in
  *"index versions"*) echo "Available versions: 2.14.0, ${OFFERED:-2.13.0}, 2.12.0" ;;
  *download*) mkdir -p .venv/wheels ;;
  *" uv=="*) [ -z "$NO_UV" ] ;;
  *) [ -z "$PIP_FAILS" ] ;;
esac
"""
UV = '#!/bin/sh\necho "uv $*" >> "$LOG"\n[ -z "$UV_FAILS" ]\n'
PYTHON = """#!/bin/sh
case "$1" in
  -c) [ -z "$OLD_PYTHON" ] ;;
  --version) echo "Python 3.12.0" ;;
  -m) mkdir -p "$3/bin" && cp "$STUBS/python3" "$3/bin/python" \\
      && [ -z "$NO_VENV" ] && cp "$STUBS"/pip "$STUBS"/uv "$3/bin" ;;
  *) echo "python $*" >> "$LOG" ;;
esac
"""
DF = '#!/bin/sh\necho head\necho "disk 0 0 $((${FREE_MB:-9000} * 1024)) 0% /"\n'
STAND_INS = {
    "pip": PIP,
    "uv": UV,
    "python3": PYTHON,
    "df": DF,
    "uname": "#!/bin/sh\necho ${SYSTEM:-Linux}\n",
    "nvidia-smi": '#!/bin/sh\n[ -n "$GPU" ]\n',
}
NEEDED = (
    "requirements.txt",
    "requirements-no-deps.txt",
    "constraints.txt",
    "environment/install.sh",
)
PINNED = "-r requirements.txt -c constraints.txt"
ALONE = (
    "--no-deps -r requirements-no-deps.txt --editable . --editable book/distribution"
)


@pytest.fixture
def run(tmp_path):
    stubs, project = tmp_path / "stubs", tmp_path / "project"
    stubs.mkdir()
    (project / "environment").mkdir(parents=True)
    for name in NEEDED:
        shutil.copy(ROOT / name, project / name)
    for name, text in STAND_INS.items():
        (stubs / name).write_text(text)
        (stubs / name).chmod(0o755)
    for name in ("python", "python3.11", "python3.12", "python3.13", "python3.14"):
        shutil.copy(stubs / "python3", stubs / name)

    def run(**variables):
        log = project / "log"
        log.unlink(missing_ok=True)
        done = subprocess.run(
            ["sh", str(project / "environment" / "install.sh")],
            env={
                "PATH": f"{stubs}{os.pathsep}/usr/bin{os.pathsep}/bin",
                "STUBS": str(stubs),
                "LOG": str(log),
                **variables,
            },
            capture_output=True,
            text=True,
        )
        done.ready = (project / ".venv" / "ready").exists()
        done.log = log.read_text() if log.exists() else ""
        done.by_uv = [line for line in done.log.splitlines() if line.startswith("uv ")]
        done.by_pip = [
            line for line in done.log.splitlines() if line.startswith("pip ")
        ]
        return done

    return run


def test_uv_installs_everything(run):
    done = run()
    assert done.returncode == 0 and done.ready
    assert "Making an environment" in done.stdout
    assert len(done.by_uv) == 2
    assert PINNED in done.by_uv[0] and done.by_uv[1].endswith(ALONE)
    assert not any("requirements" in line for line in done.by_pip)
    assert "python environment/mend_torchvision.py" in done.log


def test_a_second_run_keeps_the_environment(run):
    run()
    assert "Making an environment" not in run().stdout


def test_without_a_gpu_nothing_of_cuda_is_installed(run):
    assert f"--torch-backend cpu {PINNED}" in run().by_uv[0]


def test_with_a_gpu_the_build_that_fits_its_driver(run):
    done = run(GPU="1", OFFERED="2.13.0+cpu")
    assert f"--torch-backend auto {PINNED}" in done.by_uv[0]


def test_elsewhere_there_is_one_build(run):
    done = run(SYSTEM="Darwin")
    assert "torch-backend" not in done.log and PINNED in done.by_uv[0]


@pytest.mark.parametrize(
    ("offered", "taken"),
    [
        ("2.13.0+cpu, 2.13.0", True),
        ("2.13.0, 2.13.0", False),
        ("2.13.0+cu130, 2.13.0+cpu", False),  # pip takes the first
        ("2.12.0+cpu", False),
    ],
)
def test_a_build_without_cuda_that_pip_is_offered_is_taken(run, offered, taken):
    done = run(OFFERED=offered)
    downloads = [line for line in done.by_pip if "download" in line]
    assert bool(downloads) == taken
    assert (f"--find-links .venv/wheels {PINNED}" in done.by_uv[0]) == taken
    if taken:
        assert downloads[0].endswith("torch==2.13.0 torchvision==0.28.0")


@pytest.mark.parametrize("variables", [{"NO_UV": "1"}, {"UV_FAILS": "1"}])
def test_where_uv_cannot_pip_does_it_all(run, variables):
    done = run(**variables)
    assert done.returncode == 0 and done.ready
    packages, alone, taken_out = done.by_pip[-3:]
    assert packages.endswith(PINNED) and alone.endswith(ALONE)
    assert "uninstall --yes rfc3987-syntax" in taken_out
    assert "PyTorch comes with CUDA" in done.stdout
    assert "CUDA" not in run(OFFERED="2.13.0+cpu", **variables).stdout


def test_no_python_that_fits(run):
    done = run(OLD_PYTHON="1")
    assert done.returncode == 1 and not done.ready
    assert "Python 3.11, 3.12, 3.13 or 3.14 is needed" in done.stderr
    assert "make book PYTHON=" in done.stderr


def test_a_named_python_that_does_not_exist(run):
    done = run(PYTHON="/nowhere/python3")
    assert done.returncode == 1
    assert "/nowhere/python3 is none" in done.stderr


def test_a_python_that_makes_half_an_environment(run):
    done = run(NO_VENV="1")
    assert done.returncode == 1 and not done.ready
    assert "apt install python3-venv" in done.stderr
    assert run().ready  # because the package is installed now


def test_too_little_disk(run):
    done = run(FREE_MB="287")
    assert done.returncode == 1
    assert "287 MB are free on this disk" in done.stderr and "4000" in done.stderr


def test_installing_fails_and_no_half_environment_counts_as_ready(run):
    done = run(UV_FAILS="1", PIP_FAILS="1")
    assert done.returncode == 1 and not done.ready
    assert "run the same command again" in done.stderr


def test_the_disk_fills_up_while_installing(run):
    run()
    done = run(UV_FAILS="1", PIP_FAILS="1", FREE_MB="12")
    assert done.returncode == 1
    assert "the disk is full: 12 MB are free" in done.stderr
