import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import NamedTuple

import torch

import vit_steps
from tests.checks.answers import right, wrong

right("attention_cost")(vit_steps.attention_cost)


@right("attention_cost")
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


class Cost(NamedTuple):
    matrix_bytes: int
    all_heads_bytes: int
    matmul_macs: int
    projection_macs: int


@right("attention_cost")
def as_a_named_tuple(T, D, h=1, size=4):
    d = D // h
    return Cost(T * T * size, h * T * T * size, h * 2 * T * T * d, 4 * T * D * D)


@right("attention_cost")
def as_a_tuple(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    d = embed_dim // num_heads
    scores = sum(num_tokens * num_tokens * d for _ in range(num_heads))
    square = num_tokens * num_tokens * bytes_per_number
    projections = num_tokens * embed_dim * embed_dim * 3 + num_tokens * embed_dim**2
    return square, num_heads * square, 2 * scores, projections


@right("attention_cost")
def as_an_object(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    cost = SimpleNamespace()
    scores = torch.empty(num_heads, num_tokens, num_tokens, device="meta")
    cost.matrix_bytes = scores[0].numel() * bytes_per_number
    cost.all_heads_bytes = scores.numel() * bytes_per_number
    cost.matmul_macs = 2 * scores.numel() * (embed_dim // num_heads)
    cost.projection_macs = 4 * num_tokens * math.prod([embed_dim] * 2)
    return cost


@wrong("attention_cost", "always four bytes")
def knows_float32_only(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D = num_tokens, embed_dim
    return T * T * 4, num_heads * T * T * 4, 2 * T * T * D, 4 * T * D * D


@wrong("attention_cost", "numbers for bytes")
def counts_numbers(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D = num_tokens, embed_dim
    return T * T, num_heads * T * T, 2 * T * T * D, 4 * T * D * D


@wrong("attention_cost", "heads multiply the products")
def adds_up_heads(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, square = num_tokens, embed_dim, num_tokens**2 * bytes_per_number
    return Cost(square, num_heads * square, num_heads * 2 * T**2 * D, 4 * T * D**2)


@wrong("attention_cost", "one head's products")
def forgets_the_other_heads(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, d, square = num_tokens, embed_dim // num_heads, num_tokens**2 * bytes_per_number
    return Cost(square, num_heads * square, 2 * T**2 * d, 4 * T * embed_dim**2)


@wrong("attention_cost", "one product")
def scores_alone(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, square = num_tokens, embed_dim, num_tokens**2 * bytes_per_number
    return Cost(square, num_heads * square, T**2 * D, 4 * T * D**2)


@wrong("attention_cost", "output projection left out")
def q_k_v_alone(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, square = num_tokens, embed_dim, num_tokens**2 * bytes_per_number
    return Cost(square, num_heads * square, 2 * T**2 * D, T * D * 3 * D)


@wrong("attention_cost", "flops for macs")
def as_a_flop_counter(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, square = num_tokens, embed_dim, num_tokens**2 * bytes_per_number
    return Cost(square, num_heads * square, 4 * T**2 * D, 8 * T * D**2)


@wrong("attention_cost", "heads share a square")
def one_square(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, square = num_tokens, embed_dim, num_tokens**2 * bytes_per_number
    return Cost(square, square, 2 * T**2 * D, 4 * T * D**2)


@wrong("attention_cost", "square divided among heads")
def shares_the_square(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, square = num_tokens, embed_dim, num_tokens**2 * bytes_per_number
    return Cost(square // num_heads, square // num_heads * num_heads, 2 * T**2 * D,
                4 * T * D**2)  # fmt: skip


@wrong("attention_cost", "class token added")
def counts_it_again(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D = num_tokens + 1, embed_dim
    square = T**2 * bytes_per_number
    return Cost(square, num_heads * square, 2 * T**2 * D, 4 * T * D**2)


@wrong("attention_cost", "missing")
def leaves_one_out(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    cost = vit_steps.attention_cost(num_tokens, embed_dim, num_heads, bytes_per_number)
    return {name: getattr(cost, name) for name in Cost._fields[:3]}


@wrong("attention_cost", "float")
def with_one_slash(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, square = num_tokens, embed_dim, num_tokens**2 * bytes_per_number
    macs = num_heads * 2 * T**2 * (D / num_heads)
    return Cost(square, num_heads * square, macs, 4 * T * D**2)


@dataclass
class Bill:
    square: int
    macs: int


@wrong("attention_cost", "missing")
def under_other_names(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    return Bill(num_tokens**2 * bytes_per_number, 2 * num_tokens**2 * embed_dim)


@wrong("attention_cost", "macs swapped")
def in_another_order(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, square = num_tokens, embed_dim, num_tokens**2 * bytes_per_number
    return square, num_heads * square, 4 * T * D**2, 2 * T**2 * D


@wrong("attention_cost", "raises")
def without_defaults(num_tokens, embed_dim, num_heads, bytes_per_number):
    return vit_steps.attention_cost(num_tokens, embed_dim, num_heads, bytes_per_number)


@wrong("attention_cost", "nothing mended")
def as_it_was_given(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, h = num_tokens, embed_dim, num_heads
    square = T * T * bytes_per_number
    return square, h * square, h * 2 * T * T * D, 3 * T * D * D


@wrong("attention_cost", "heads multiply the projections")
def four_matrices_a_head(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, square = num_tokens, embed_dim, num_tokens**2 * bytes_per_number
    return Cost(square, num_heads * square, 2 * T**2 * D, num_heads * 4 * T * D**2)


class Four(NamedTuple):
    square: int
    squares: int
    products: int
    projections: int


@right("attention_cost")
def in_fields_of_other_names(T, D, h=1, size=4):
    return Four(T * T * size, h * T * T * size, 2 * T * T * D, 4 * T * D * D)


@wrong("attention_cost", "bytes swapped")
def in_a_dict_with_the_bytes_swapped(T, D, h=1, size=4):
    return {
        "all_heads_bytes": T * T * size,
        "matrix_bytes": h * T * T * size,
        "matmul_macs": 2 * T * T * D,
        "projection_macs": 4 * T * D * D,
    }
