"""What compiling one block costs and brings: the numbers of chapter 11.

    python -m experiments.compiled_block

On one core of an idle machine, with a C++ compiler, for seconds are what is measured.
notebook/measured/compiled-block.json of the package gets them.
"""

import os
import tempfile
import time
from collections.abc import Callable
from statistics import median

import torch
from torch import Tensor
from torch.testing import assert_close

from experiments.writing import write_results
from vit_steps import EncoderBlock

ROUNDS = 15


def seconds_of(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    block = EncoderBlock(192, 3).eval().requires_grad_(False)  # of ViT-Ti
    x = torch.randn(8, 197, 192)  # (B, T, D)
    compiled: Callable[[Tensor], tuple[Tensor, Tensor | None]]
    compiled = torch.compile(block, fullgraph=True)
    with tempfile.TemporaryDirectory() as empty:  # nothing of an earlier visit
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = empty
        first = seconds_of(lambda: compiled(x))
    assert_close(compiled(x)[0], block(x)[0], rtol=1e-4, atol=1e-5)
    block(x)  # warm up
    rounds = [
        (seconds_of(lambda: block(x)), seconds_of(lambda: compiled(x)))
        for _ in range(ROUNDS)
    ]
    as_it_is, later = zip(*rounds, strict=True)
    run = {
        "first_call_seconds": round(first, 2),
        "as_it_is_ms": round(1e3 * median(as_it_is), 2),
        "compiled_ms": round(1e3 * median(later), 2),
    }
    write_results("compiled-block", "python -m experiments.compiled_block", runs=[run])
    print(run)


if __name__ == "__main__":
    main()
