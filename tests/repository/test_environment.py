"""`make book` on machines that lack something: it says what, and what to do.

The script runs in an empty folder with stand-ins for python, pip, df and nvidia-smi.
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
  *--dry-run*) echo "$DRY_RUN" ;;
  *) [ -z "$PIP_FAILS" ] ;;
esac
"""
UV = '#!/bin/sh\necho "uv $*" >> "$LOG"\n'
PYTHON = """#!/bin/sh
case "$1" in
  -c) [ -z "$OLD_PYTHON" ] ;;
  --version) echo "Python 3.12.0" ;;
  -m) mkdir -p "$3/bin" && cp "$STUBS"/pip "$STUBS"/uv "$3/bin" \\
      && cp "$STUBS/python3" "$3/bin/python" ;;
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
CUDA = '{"install": [{"metadata": {"name": "nvidia-cublas"}}]}'


@pytest.fixture
def run(tmp_path):
    stubs, project = tmp_path / "stubs", tmp_path / "project"
    stubs.mkdir()
    (project / ".ci").mkdir(parents=True)
    shutil.copy(ROOT / ".ci" / "environment", project / ".ci")
    for name in ("requirements.txt", "constraints.txt"):
        shutil.copy(ROOT / name, project)
    for name, text in STAND_INS.items():
        (stubs / name).write_text(text)
        (stubs / name).chmod(0o755)
    for name in ("python", "python3.11", "python3.12", "python3.13"):
        shutil.copy(stubs / "python3", stubs / name)

    def run(**variables):
        log = project / "log"
        log.unlink(missing_ok=True)
        done = subprocess.run(
            ["sh", str(project / ".ci" / "environment")],
            env={
                "PATH": f"{stubs}{os.pathsep}/usr/bin{os.pathsep}/bin",
                "STUBS": str(stubs),
                "LOG": str(log),
                "DRY_RUN": "{}",
                **variables,
            },
            capture_output=True,
            text=True,
        )
        done.ready = (project / ".venv" / "ready").exists()
        done.log = log.read_text() if log.exists() else ""
        return done

    return run


def test_it_installs_everything_and_says_what_it_does(run):
    done = run()
    assert done.returncode == 0 and done.ready
    assert "Making an environment" in done.stdout
    assert "torch==2.13.0 torchvision==0.28.0" in done.log
    assert "-r requirements.txt -c constraints.txt" in done.log
    assert "--no-deps d2l==1.0.3" in done.log
    assert "uv " not in done.log


def test_a_second_run_keeps_the_environment(run):
    run()
    assert "Making an environment" not in run().stdout


def test_without_a_gpu_nothing_of_cuda_is_installed(run):
    done = run(DRY_RUN=CUDA)
    assert done.returncode == 0
    uv = next(line for line in done.log.splitlines() if line.startswith("uv"))
    assert "--torch-backend cpu torch==2.13.0 torchvision==0.28.0" in uv
    before = done.log[: done.log.index(uv)]
    assert "pip install --quiet --disable-pip-version-check torch" not in before


@pytest.mark.parametrize("variables", [{"GPU": "1"}, {"SYSTEM": "Darwin"}])
def test_with_a_gpu_or_elsewhere_pip_decides(run, variables):
    done = run(DRY_RUN=CUDA, **variables)
    assert done.returncode == 0 and "uv " not in done.log


def test_no_python_that_fits(run):
    done = run(OLD_PYTHON="1")
    assert done.returncode == 1 and not done.ready
    assert "Python 3.11, 3.12 or 3.13 is needed" in done.stderr
    assert "make book PYTHON=" in done.stderr


def test_the_python_that_was_named_is_none(run):
    done = run(PYTHON="/nowhere/python3")
    assert done.returncode == 1
    assert "/nowhere/python3 is none" in done.stderr


def test_too_little_disk(run):
    done = run(FREE_MB="287")
    assert done.returncode == 1
    assert "287 MB are free on this disk" in done.stderr and "4000" in done.stderr


def test_installing_fails_and_no_half_environment_counts_as_ready(run):
    done = run(PIP_FAILS="1")
    assert done.returncode == 1 and not done.ready
    assert "run the same command again" in done.stderr


def test_the_disk_fills_up_while_installing(run):
    run()
    done = run(PIP_FAILS="1", FREE_MB="12")
    assert done.returncode == 1
    assert "the disk is full: 12 MB are free" in done.stderr
