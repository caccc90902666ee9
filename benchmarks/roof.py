"""Measure how fast a GPU multiplies, moves bytes and attends."""

from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import torch
from torch.nn import functional as F

from vit_steps import scaled_dot_product_attention

REPEATS = 20
SIDE = 8192
EVEN = 4096
TOKENS = (196, 197, 1024, 1025, EVEN, EVEN + 1)  # odd ones with a class token
SHAPE = (16, 12, 64)  # images, heads, width of a head: ViT-B's


def milliseconds(task: Callable[[], object]) -> float:
    """Return the median time of a task on the GPU, by the GPU's own clock."""
    for _ in range(3):
        task()
    times = []
    for _ in range(REPEATS):
        start = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        start.record()
        task()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return median(times)


def roof() -> dict[str, Any]:
    """Return FLOPs and bytes a second at most, and times of two kinds of attention."""
    random = partial(torch.randn, device="cuda", dtype=torch.bfloat16)
    left, right = random(SIDE, SIDE), random(SIDE, SIDE)
    multiplying = milliseconds(partial(torch.matmul, left, right))
    source = random(2**30)
    target = torch.empty_like(source)
    copying = milliseconds(partial(target.copy_, source))
    bytes_moved = 2 * source.numel() * source.element_size()  # each is read and written
    found: dict[str, Any] = {
        "tflops": 2 * SIDE**3 / multiplying / 1e9,
        "tb_per_second": bytes_moved / copying / 1e9,
    }
    attention: dict[str, Any] = {"rows": []}
    for count in TOKENS:
        images, heads, width = SHAPE
        q, k, v = (random(images, heads, count, width) for _ in range(3))
        with torch.inference_mode():
            row: dict[str, Any] = {
                "tokens": count,
                "explicit_ms": milliseconds(
                    partial(scaled_dot_product_attention, q, k, v)
                ),
                "fused_ms": milliseconds(
                    partial(F.scaled_dot_product_attention, q, k, v)
                ),
            }
        row["gflop"] = 4 * images * heads * count**2 * width / 1e9
        attention["rows"].append(row)
        print(row)
    even = random(images, heads, EVEN, EVEN)
    attention["division_ms"] = milliseconds(partial(torch.div, even, 8.0))
    attention["softmax_ms"] = milliseconds(partial(torch.softmax, even, dim=-1))
    return found | {"attention": attention}
