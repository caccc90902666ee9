"""Write the lab's WebAssembly kernels as a module of its scripts.

python -m book.lab_kernels

Their source is ``book/scripts/lab/parts/kernels.wat``.
"""

import base64
from pathlib import Path

import wasmtime

FOLDER = Path(__file__).parent / "scripts" / "lab" / "parts"
SOURCE, SCRIPT = FOLDER / "kernels.wat", FOLDER / "simd.js"


def kernels_script() -> str:
    module = wasmtime.wat2wasm(SOURCE.read_text(encoding="utf-8"))
    text = base64.b64encode(module).decode()
    return f'export const simd = "{text}";\n'


if __name__ == "__main__":
    SCRIPT.write_text(kernels_script(), encoding="utf-8")
