"""The check of ``attention_cost``, chapter 1."""

from collections.abc import Iterator, Mapping
from typing import Any

from torch import Generator

from vit_check.engine.check import Case
from vit_check.engine.drawing import whole_number
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps.cost import attention_cost as right_cost

_COSTS = ("matrix_bytes", "all_heads_bytes", "matmul_macs", "projection_macs")


def _four_costs(answer: Any) -> Any:
    """Four costs by name, from an object, a dict or a tuple that holds them."""
    if isinstance(answer, Mapping):
        return {name: answer[name] for name in _COSTS if name in answer} or answer
    named = set(getattr(answer, "_fields", ())) & set(_COSTS)
    if isinstance(answer, (tuple, list)) and not named:
        four = len(answer) == len(_COSTS)
        return dict(zip(_COSTS, answer, strict=True)) if four else answer
    found = {n: getattr(answer, n) for n in _COSTS if hasattr(answer, n)}
    return found or answer


def _costs(
    T: int,
    D: int,
    h: int = 1,
    size: int = 4,
    *,
    square: Any = lambda T, D, h, size: T * T * size,
    squares: Any = lambda square, h: h * square,
    products: Any = lambda T, D, h: 2 * T * T * D,
    projections: Any = lambda T, D, h: 4 * T * D * D,
) -> dict[str, Any]:
    """The four costs, with a place for each usual mistake."""
    numbers = (square(T, D, h, size), products(T, D, h), projections(T, D, h))
    return {
        "matrix_bytes": numbers[0],
        "all_heads_bytes": squares(numbers[0], h),
        "matmul_macs": numbers[1],
        "projection_macs": numbers[2],
    }


def _cost_mistake(name: str, sentence: str, **changed: Any) -> Mistake:
    return Mistake(name, sentence, lambda *sizes: _costs(*sizes, **changed))


def _cost_inputs(generator: Generator) -> Iterator[Case]:
    for bytes_per_number in (8, 2):
        T, h, d = (
            whole_number(generator, *span) for span in ((31, 60), (5, 7), (7, 13))
        )
        yield [T, h * d, h, bytes_per_number]
        yield [T, h * d, h]
        yield [T, h * d]


attention_cost = FunctionCheck(
    "attention_cost",
    "attention_cost(num_tokens, embed_dim, num_heads=1, bytes_per_number=4) -> "
    "matrix_bytes, all_heads_bytes, matmul_macs, projection_macs",
    right_cost,
    _cost_inputs,
    [
        _cost_mistake(
            "numbers for bytes",
            "counts the numbers in the square; each takes bytes_per_number bytes",
            square=lambda T, D, h, size: T * T,
        ),
        _cost_mistake(
            "always four bytes",
            "takes 4 bytes for every number, and bytes_per_number has no effect",
            square=lambda T, D, h, size: 4 * T * T,
        ),
        _cost_mistake(
            "bits for bytes",
            "counts bits in matrix_bytes, eight for each byte",
            square=lambda T, D, h, size: 8 * T * T * size,
        ),
        _cost_mistake(
            "tokens times width",
            "takes the matrix to be T×D; it has a row and a column for each token",
            square=lambda T, D, h, size: T * D * size,
        ),
        _cost_mistake(
            "two squares",
            "counts two matrices in matrix_bytes; it is to be one head's T×T matrix",
            square=lambda T, D, h, size: 2 * T * T * size,
        ),
        _cost_mistake(
            "heads share a square",
            "has one matrix for all heads; each head keeps a T×T matrix of its own",
            squares=lambda square, h: square,
        ),
        _cost_mistake(
            "square divided among heads",
            "divides the T×T matrix among the heads; what they divide is D, and each "
            "has a whole T×T matrix",
            square=lambda T, D, h, size: T * T * size // h,
        ),
        _cost_mistake(
            "heads squared",
            "multiplies all_heads_bytes by h twice",
            squares=lambda square, h: h * h * square,
        ),
        _cost_mistake(
            "one product",
            "counts one of attention's two products: q with k and then the weights "
            "with v take T²·D each",
            products=lambda T, D, h: T * T * D,
        ),
        _cost_mistake(
            "one head's products",
            "counts the products of a single head: h heads of d = D/h numbers take "
            "as much as one of D",
            products=lambda T, D, h: 2 * T * T * (D // h),
        ),
        _cost_mistake(
            "heads multiply the products",
            "multiplies the products by h, but a head's vectors have only d = D/h "
            "numbers: the heads cancel out",
            products=lambda T, D, h: 2 * T * T * D * h,
        ),
        _cost_mistake(
            "products linear",
            "has products that grow with T; every token meets every token, which is T²",
            products=lambda T, D, h: 2 * T * D,
        ),
        _cost_mistake(
            "product widths squared",
            "has D² in the products; each of the T² pairs takes D multiply-accumulates",
            products=lambda T, D, h: 2 * T * T * D * D,
        ),
        _cost_mistake(
            "output projection left out",
            "counts the projections to q, k and v and leaves out the one behind the "
            "heads, which is the fourth",
            projections=lambda T, D, h: 3 * T * D * D,
        ),
        _cost_mistake(
            "one projection",
            "counts one D×D matrix; there are those for q, k, v and the output",
            projections=lambda T, D, h: T * D * D,
        ),
        _cost_mistake(
            "projections of one token",
            "counts the projections of a single token; all T tokens go through them",
            projections=lambda T, D, h: 4 * D * D,
        ),
        _cost_mistake(
            "projections quadratic",
            "has T² in the projections; each token goes through them alone",
            projections=lambda T, D, h: 4 * T * T * D,
        ),
        _cost_mistake(
            "heads multiply the projections",
            "multiplies the projections by h; each token goes through four D×D "
            "matrices, however many heads share the D",
            projections=lambda T, D, h: 4 * T * D * D * h,
        ),
        _cost_mistake(
            "nothing mended",
            "still has two faults: the products grow with h, and a matrix is missing "
            "in the projections",
            products=lambda T, D, h: 2 * T * T * D * h,
            projections=lambda T, D, h: 3 * T * D * D,
        ),
        _cost_mistake(
            "projections of one head",
            "counts the projections of a single head, D×d; all heads together have D×D",
            projections=lambda T, D, h: 4 * T * D * (D // h),
        ),
        _cost_mistake(
            "flops for macs",
            "counts the multiplication and the addition separately; a "
            "multiply-accumulate is both, so the MACs are half of that",
            products=lambda T, D, h: 4 * T * T * D,
            projections=lambda T, D, h: 8 * T * D * D,
        ),
        Mistake(
            "class token added",
            "adds a token: num_tokens is T, and the class token is in it already",
            lambda T, *sizes: _costs(T + 1, *sizes),
        ),
        Mistake(
            "bytes swapped",
            "has matrix_bytes and all_heads_bytes the wrong way round",
            lambda *sizes: dict(
                zip(
                    ("all_heads_bytes", "matrix_bytes", *_COSTS[2:]),
                    _costs(*sizes).values(),
                    strict=True,
                )
            ),
        ),
        Mistake(
            "macs swapped",
            "has matmul_macs and projection_macs the wrong way round",
            lambda *sizes: dict(
                zip(
                    (*_COSTS[:2], "projection_macs", "matmul_macs"),
                    _costs(*sizes).values(),
                    strict=True,
                )
            ),
        ),
    ],
    hints=(
        "Write down the shape of each matrix: q, k and v of one head, the scores, and "
        "the weight of a projection.",
        "A product of an (a, b) and a (b, c) matrix takes a·b·c multiply-accumulates. "
        "One head's scores are (T, d) times (d, T).",
        "matrix_bytes is T²·bytes_per_number, all_heads_bytes h times that, "
        "matmul_macs 2·T²·D, projection_macs 4·T·D².",
    ),
    gradients=False,
    normalize=_four_costs,
)
