import math
from types import SimpleNamespace
from typing import NamedTuple

import torch

import vit_steps
from tests.checks.answers import right, wrong_edits

right(vit_steps.attention_cost)


@wrong_edits("""
bytes swapped: "matrix_bytes": square -> "all_heads_bytes": square
  "all_heads_bytes": square * num_heads -> "matrix_bytes": square * num_heads
missing: "projection_macs": 4 * T * D**2, -> nothing
""")
def as_a_dict(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D = num_tokens, embed_dim
    square = bytes_per_number * T**2
    return {
        "projection_macs": 4 * T * D**2,
        "matmul_macs": T * D * T + T * T * D,
        "matrix_bytes": square,
        "all_heads_bytes": square * num_heads,
        "what": "of one image",
    }


class _Cost(NamedTuple):
    matrix_bytes: int
    all_heads_bytes: int
    matmul_macs: int
    projection_macs: int


@wrong_edits("""
as if: T * T * size -> T * T * 4
as if: T * T * size -> T * T
as if: h * T * T * size -> T * T * size
heads multiply the products: T * T * d -> T * T * D
one product: h * 2 * T -> h * T
output projection left out: 4 * T * D -> 3 * T * D
nothing mended: T * T * d -> T * T * D
  4 * T * D -> 3 * T * D
flops for macs: h * 2 * T -> h * 4 * T
  4 * T * D -> 8 * T * D
float: D // h -> D / h
raises: h=1, size=4 -> h, size
    without defaults
""")
def as_a_named_tuple(T, D, h=1, size=4):
    d = D // h
    return _Cost(T * T * size, h * T * T * size, h * 2 * T * T * d, 4 * T * D * D)


def as_a_tuple(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    d = embed_dim // num_heads
    scores = sum(num_tokens * num_tokens * d for _ in range(num_heads))
    square = num_tokens * num_tokens * bytes_per_number
    projections = num_tokens * embed_dim * embed_dim * 3 + num_tokens * embed_dim**2
    return square, num_heads * square, 2 * scores, projections


def as_an_object(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    cost = SimpleNamespace()
    scores = torch.empty(num_heads, num_tokens, num_tokens, device="meta")
    cost.matrix_bytes = scores[0].numel() * bytes_per_number
    cost.all_heads_bytes = scores.numel() * bytes_per_number
    cost.matmul_macs = 2 * scores.numel() * (embed_dim // num_heads)
    cost.projection_macs = 4 * num_tokens * math.prod([embed_dim] * 2)
    return cost


class _Four(NamedTuple):
    square: int
    squares: int
    products: int
    projections: int


def in_fields_of_other_names(T, D, h=1, size=4):
    return _Four(T * T * size, h * T * T * size, 2 * T * T * D, 4 * T * D * D)
