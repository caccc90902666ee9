"""The check of ``block_macs``, chapter 1."""

from collections.abc import Iterator, Mapping
from typing import Any

from torch import Generator

from vit_check.engine.check import Case
from vit_check.engine.drawing import whole_number
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


def _block(
    T: int,
    D: int,
    ratio: int = 4,
    products: int = 2,
    projections: int = 4,
    layers: Any = lambda D, M: 2 * D * M,
) -> tuple[int, int]:
    """Quadratic and linear MACs of a block, with a place for each usual mistake."""
    return products * T * T * D, T * (projections * D * D + layers(D, ratio * D))


def _block_mistake(name: str, sentence: str, **changed: Any) -> Mistake:
    return Mistake(name, sentence, lambda *sizes: _block(*sizes, **changed))


def _block_inputs(generator: Generator) -> Iterator[Case]:
    for ratio in (7, 5):  # for which no two mistakes come to the same
        T, D = (whole_number(generator, *span) for span in ((31, 60), (70, 99)))
        yield [T, D, ratio]
        yield [T, D]


_PARTS = ("quadratic", "linear")


def _two_parts(answer: Any) -> Any:
    """Both parts by name, from a dict or a tuple that holds them."""
    if isinstance(answer, Mapping) and set(answer) == set(_PARTS):
        return {name: answer[name] for name in _PARTS}
    if isinstance(answer, (tuple, list)) and len(answer) == len(_PARTS):
        return dict(zip(_PARTS, answer, strict=True))
    return answer


block_macs = FunctionCheck(
    "block_macs",
    "block_macs(num_tokens, embed_dim, mlp_ratio=4) -> (quadratic, linear), both whole "
    "numbers of multiply-accumulates",
    _block,
    _block_inputs,
    [
        Mistake(
            "order swapped",
            "returns the linear part first, expected (quadratic, linear)",
            lambda *sizes: _block(*sizes)[::-1],
        ),
        Mistake(
            "one sum",
            "returns one number for both parts, expected (quadratic, linear)",
            lambda *sizes: sum(_block(*sizes)),
        ),
        _block_mistake(
            "mlp left out",
            "leaves the MLP out of the linear part; most of it is there",
            layers=lambda D, M: 0,
        ),
        _block_mistake(
            "projections left out",
            "leaves attention's four projections out of the linear part",
            projections=0,
        ),
        _block_mistake(
            "output projection left out",
            "counts three projections of attention, for q, k and v; the one behind the "
            "heads is the fourth",
            projections=3,
        ),
        _block_mistake(
            "one projection",
            "counts one projection of attention; there are those for q, k, v and the "
            "output",
            projections=1,
        ),
        _block_mistake(
            "one layer of the mlp",
            "counts one of the MLP's two layers: from D up to M, and down again",
            layers=lambda D, M: D * M,
        ),
        _block_mistake(
            "mlp layers of M by M",
            "counts a layer of M×M in the MLP; its layers are D×M and M×D",
            layers=lambda D, M: D * M + M * M,
        ),
        _block_mistake(
            "mlp as wide as the model",
            "takes the MLP to be D numbers wide inside, so that mlp_ratio has no "
            "effect; it is M = mlp_ratio·D wide",
            layers=lambda D, M: 2 * D * D,
        ),
        Mistake(
            "always four times",
            "takes the MLP to be four times as wide whatever mlp_ratio says",
            lambda T, D, *ratio: _block(T, D),
        ),
        _block_mistake(
            "one product",
            "counts one of attention's two products: q with k and then the weights "
            "with v take T²·D each",
            products=1,
        ),
        Mistake(
            "mlp quadratic",
            "puts the MLP into the quadratic part; it treats each token alone",
            lambda T, D, ratio=4: (
                2 * T * T * D + 2 * T * D * D * ratio,
                4 * T * D * D,
            ),
        ),
        Mistake(
            "projections quadratic",
            "puts the projections into the quadratic part; each token goes through "
            "them alone",
            lambda T, D, ratio=4: (
                2 * T * T * D + 4 * T * D * D,
                2 * T * D * D * ratio,
            ),
        ),
        Mistake(
            "linear part of one token",
            "counts the linear part for a single token; all T go through it",
            lambda T, D, *ratio: (_block(T, D, *ratio)[0], _block(1, D, *ratio)[1]),
        ),
        Mistake(
            "mlp of one token",
            "counts the MLP for a single token; all T go through it",
            lambda T, D, ratio=4: (
                2 * T * T * D,
                4 * T * D * D + 2 * ratio * D * D,
            ),
        ),
        Mistake(
            "projections of one token",
            "counts the projections for a single token; all T go through them",
            lambda T, D, ratio=4: (
                2 * T * T * D,
                4 * D * D + 2 * T * ratio * D * D,
            ),
        ),
        _block_mistake(
            "mlp layers all M by M",
            "counts layers of M×M in the MLP; its layers are D×M and M×D",
            layers=lambda D, M: 2 * M * M,
        ),
        Mistake(
            "biases counted",
            "counts the biases too; each is added without a multiplication",
            lambda T, D, ratio=4: (
                2 * T * T * D,
                _block(T, D, ratio)[1] + T * (5 * D + ratio * D),
            ),
        ),
        Mistake(
            "pairs counted",
            "counts the pairs of tokens in the quadratic part; each pair takes D "
            "multiply-accumulates",
            lambda T, D, *ratio: (2 * T * T, _block(T, D, *ratio)[1]),
        ),
        Mistake(
            "flops for macs",
            "counts the multiplication and the addition separately; a "
            "multiply-accumulate is both",
            lambda *sizes: tuple(2 * macs for macs in _block(*sizes)),
        ),
        Mistake(
            "class token added",
            "adds a token: num_tokens is T, and the class token is in it already",
            lambda T, *sizes: _block(T + 1, *sizes),
        ),
    ],
    hints=(
        "Go through a block and ask of each matrix product: does a token meet other "
        "tokens in it, or a weight?",
        "Tokens meet tokens in two products of T²·D. They meet weights in four "
        "matrices of D×D and in two of D×M.",
        "quadratic is 2·T²·D; linear is T·(4·D² + 2·D·M), with M = mlp_ratio·D.",
    ),
    gradients=False,
    normalize=_two_parts,
)
