"""The check of ``join_qkv``, chapter 10."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case
from vit_check.engine.drawing import normal
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


def _join(*parts: Tensor, weights: str = "qkv", biases: str = "qkv") -> Any:
    """Stacked in an order, one for the weights and one for the biases."""
    weight = torch.cat([parts[2 * "qkv".index(letter)] for letter in weights])
    bias = torch.cat([parts[2 * "qkv".index(letter) + 1] for letter in biases])
    return weight, bias


def _join_inputs(generator: Generator) -> Iterator[Case]:
    for D, dtype in ((6, torch.float32), (5, torch.float64), (4, torch.bfloat16)):
        shapes = ((D, D), (D,)) * 3
        yield [normal(generator, *shape, dtype=dtype) for shape in shapes]


_ORDERS = {
    "q and k swapped": ("kqv", "the keys come before the queries"),
    "k and v swapped": ("qvk", "the values come before the keys"),
    "reversed": ("vkq", "the order is v, k, q"),
    "v first": ("vqk", "the values come first"),
    "k first": ("kvq", "the queries come last"),
}


join_qkv = FunctionCheck(
    "join_qkv",
    "join_qkv(q_weight, q_bias, k_weight, k_bias, v_weight, v_bias) -> (weight, bias)",
    _join,
    _join_inputs,
    [
        *(
            Mistake(
                name,
                f"{sentence}: the rows of the joint matrix are those of q, then k, "
                "then v",
                partial(_join, weights=order, biases=order),
            )
            for name, (order, sentence) in _ORDERS.items()
        ),
        Mistake(
            "biases in another order",
            "weight and bias are joined in two different orders: a row of the matrix "
            "then gets the bias of another one",
            partial(_join, biases="kqv"),
        ),
        Mistake(
            "rows interleaved",
            "the rows of q, k and v take turns; all D rows of q are to come first, "
            "then those of k, then those of v",
            lambda *p: (
                torch.stack(p[0::2], dim=1).flatten(0, 1),
                torch.stack(p[1::2], dim=1).flatten(),
            ),
        ),
        Mistake(
            "side by side",
            "the matrices are joined side by side, (D, 3D); a weight is (out, in), and "
            "it is the outputs that there are three times as many of",
            lambda *p: (torch.cat(p[0::2], dim=1), torch.cat(p[1::2])),
        ),
        Mistake(
            "transposed",
            "the joint matrix is transposed at the end, (D, 3D): nn.Linear keeps its "
            "weight as (out, in)",
            lambda *p: (torch.cat(p[0::2]).T, torch.cat(p[1::2])),
        ),
        Mistake(
            "each transposed",
            "each matrix is transposed before it is joined; both sides keep weights as "
            "(out, in), so there is nothing to turn",
            lambda *p: (torch.cat([w.T for w in p[0::2]]), torch.cat(p[1::2])),
        ),
        Mistake(
            "stacked",
            "the matrices are stacked along a new axis, (3, D, D); no axis is to be "
            "added",
            lambda *p: (torch.stack(p[0::2]), torch.stack(p[1::2])),
        ),
        Mistake(
            "biases of zero",
            "the biases are replaced by zeros: the three that came are to be kept",
            lambda *p: (torch.cat(p[0::2]), torch.zeros_like(torch.cat(p[1::2]))),
        ),
        Mistake(
            "keys without bias",
            "the bias of the keys is left at zero; these weights have one",
            lambda *p: _join(*p[:3], torch.zeros_like(p[3]), *p[4:]),
        ),
        Mistake(
            "biases forgotten",
            "only the weight is returned; the biases are joined as well and make the "
            "second of two",
            lambda *p: torch.cat(p[0::2]),
        ),
        Mistake(
            "bias first",
            "the bias is returned first, expected (weight, bias)",
            lambda *p: (torch.cat(p[1::2]), torch.cat(p[0::2])),
        ),
        Mistake(
            "queries three times",
            "the queries stand in all three places",
            partial(_join, weights="qqq", biases="qqq"),
        ),
        Mistake(
            "summed",
            "the matrices are added up, (D, D); the sum cannot be taken apart again",
            lambda *p: (p[0] + p[2] + p[4], p[1] + p[3] + p[5]),
        ),
    ],
    hints=(
        "The joint layer puts out 3·D numbers a token, and the model cuts them into "
        "three pieces of D. Which piece does it take for the queries?",
        "A weight of nn.Linear is (out, in), so more outputs are more rows; the biases "
        "go in the same order as the rows.",
        "torch.cat([q_weight, k_weight, v_weight]) and the same with the biases.",
    ),
    shape="(3D, D)",
    gradients=False,
)
