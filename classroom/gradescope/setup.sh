#!/usr/bin/env bash
# Gradescope runs this as root, once, when the autograder is uploaded.
set -euo pipefail
cd /autograder/source
export UV_PYTHON_INSTALL_DIR=/opt/python # root's folder, the usual one, is closed to others
export UV_NO_CACHE=1

apt-get update
apt-get install -y --no-install-recommends python3-venv
python3 -m venv /opt/uv
/opt/uv/bin/pip install --quiet -r uv.txt
/opt/uv/bin/uv venv --python 3.12 /opt/vit
# PyTorch comes from its own index: 192 MB for processors, where the usual one has gigabytes of CUDA.
/opt/uv/bin/uv pip install --python /opt/vit/bin/python --torch-backend cpu \
    -r requirements.txt -c constraints.txt
/opt/uv/bin/uv pip uninstall --python /opt/vit/bin/python rfc3987-syntax || true # as environment/install.sh

site=$(/opt/vit/bin/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")
cp -r packages/. "$site"
/opt/vit/bin/python -m compileall -q "$site" >/dev/null || true # some packages have files for other Pythons
