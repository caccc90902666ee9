"""Write the large model's WebAssembly kernels as a module of the lab's scripts.

python -m book.photograph_kernels

Their source is ``book/scripts/lab/photograph/kernels.wat``.
"""

import base64
import json
import re

import wasmtime

from book import lab_kernels

FOLDER = lab_kernels.FOLDER.parent / "photograph"
SOURCE, SCRIPT = FOLDER / "kernels.wat", FOLDER / "simd.js"
NUMBER = r"\(local\.get \$\w+\)"
FUSED = re.compile(rf"\(f32x4\.relaxed_madd ({NUMBER}) ({NUMBER}) ({NUMBER})\)")


def kernels_script() -> str:
    """Return the script: the kernels with fused multiply-add, and those without."""
    sources = [SOURCE.read_text(encoding="utf-8"), without_fused()]
    texts = [base64.b64encode(wasmtime.wat2wasm(text)).decode() for text in sources]
    return f"export const photographSimd = {json.dumps(texts)};\n"


def without_fused() -> str:
    """Return the source with a product and a sum for each fused multiply-add."""
    code = re.sub(r";;.*", "", SOURCE.read_text(encoding="utf-8"))
    return FUSED.sub(r"(f32x4.add (f32x4.mul \1 \2) \3)", code)


if __name__ == "__main__":
    SCRIPT.write_text(kernels_script(), encoding="utf-8")
