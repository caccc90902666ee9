"""Compiled modules for the kernels, which can write none themselves.

Most installers compile what they install. Where that was not done, every kernel would
take longer to compile its modules than to run the notebook.
"""

import importlib.util
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

# What a kernel imports before the first cell runs, and what nearly all cells use.
MODULES = (
    *("ipykernel.kernelapp", "ipykernel.debugger", "IPython.core.debugger"),
    *("tornado.platform.asyncio", "matplotlib.pyplot"),
    *("matplotlib_inline.backend_inline", "torch", "vit_check", "vit_steps"),
)


def compile_into(folder: Path, modules: Iterable[str] = MODULES) -> Path | None:
    """Compile modules, and all that they import, unless that has been done.

    Returns ``folder``, for Python's option ``-X pycache_prefix``, or None if each of
    them has its compiled file beside it, where Python finds it without being told.
    """
    modules = tuple(filter(importlib.util.find_spec, modules))
    if all(map(_is_compiled, modules)):
        return None
    # -I: no variable of this process's, such as one that forbids to write, counts.
    python = [sys.executable, "-I", "-X", f"pycache_prefix={folder}"]
    command = [*python, "-c", f"import {', '.join(modules)}"]
    subprocess.run(command, capture_output=True)  # without it, all is only slower
    return folder


def _is_compiled(module: str) -> bool:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        return True
    source = Path(spec.origin)
    name = f"{source.stem}.{sys.implementation.cache_tag}.pyc"
    return source.with_name("__pycache__").joinpath(name).exists()
