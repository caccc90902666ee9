"""Write the lab's WebAssembly kernels as a script that a browser loads.

python -m book.lab_kernels

Their source is ``book/_assets/lab/kernels.wat``.
"""

import base64
from pathlib import Path

import wasmtime

FOLDER = Path(__file__).parent / "_assets" / "lab"
SOURCE, SCRIPT = FOLDER / "kernels.wat", FOLDER / "simd.js"


def kernels_script() -> str:
    module = wasmtime.wat2wasm(SOURCE.read_text(encoding="utf-8"))
    text = base64.b64encode(module).decode()
    return f'(globalThis.vitLab ??= {{}}).simd = "{text}";\n'


if __name__ == "__main__":
    SCRIPT.write_text(kernels_script(), encoding="utf-8")
