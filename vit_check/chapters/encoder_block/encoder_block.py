"""Check of chapter 6: the encoder block."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from torch import Generator, Tensor
from torch.nn import functional as F

from vit_check.chapters.encoder_block.layer_norm import normed
from vit_check.chapters.encoder_block.mlp import (
    OF_MLP,
    Function,
    mlp_lacks,
    mlp_readings,
    mlp_weights,
    two_layers,
)
from vit_check.chapters.multi_head_attention.multi_head_attention import (
    maps_from_heads,
    multi_head_attention,
)
from vit_check.engine.check import Case
from vit_check.engine.drawing import normal
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.modules import ModuleCheck, run_module
from vit_check.engine.reading import (
    Linear,
    Part,
    Sizes,
    Weights,
    attention_readings,
    layer_norms,
    linears,
    sides,
    without_norms,
)
from vit_check.engine.verdict import Finding, Mistake
from vit_steps.encoder import EncoderBlock

Step = Callable[[Tensor], Any]


def _block(x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step) -> Tensor:
    x = x + attn(norm1(x))
    return x + mlp(norm2(x))


def _post_norm(x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step) -> Tensor:
    x = norm1(x + attn(x))
    return norm2(x + mlp(x))


def _from_normed(
    x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step, where: str
) -> Tensor:
    normed = norm1(x)
    x = attn(normed) + (normed if where != "MLP" else x)
    normed = norm2(x)
    return mlp(normed) + (normed if where != "attention" else x)


def _no_residual(
    x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step, where: str
) -> Tensor:
    x = attn(norm1(x)) + (x if where == "MLP" else 0)
    return mlp(norm2(x)) + (x if where == "attention" else 0)


def _one_norm(x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step) -> Tensor:
    x = x + attn(norm1(x))
    return x + mlp(norm1(x))


def _norms_missing(
    x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step, where: str
) -> Tensor:
    x = x + attn(norm1(x) if where == "MLP" else x)
    return x + mlp(norm2(x) if where == "attention" else x)


def _norm_behind(x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step) -> Tensor:
    x = x + norm1(attn(x))
    return x + norm2(mlp(x))


def _parallel(x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step) -> Tensor:
    return x + attn(norm1(x)) + mlp(norm2(x))


def _mlp_first(x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step) -> Tensor:
    x = x + mlp(norm1(x))
    return x + attn(norm2(x))


def _attention_lost(
    x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step
) -> Tensor:
    return x + mlp(norm2(x + attn(norm1(x))))


def _residual_twice(
    x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step
) -> Tensor:
    x = x + (x + attn(norm1(x)))
    return x + (x + mlp(norm2(x)))


def _norm_at_the_end(
    x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step
) -> Tensor:
    x = x + attn(norm1(x))
    return norm2(x + mlp(x))


def _half(
    x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step, part: str
) -> Tensor:
    return x + (attn(norm1(x)) if part == "attention" else mlp(norm2(x)))


_OF_WIRING = [
    Mistake(
        "residual from the normed x",
        "the residual is the normed x: add to the x from before the norm",
        partial(_from_normed, where="both"),
    ),
    Mistake(
        "residual from the normed x at attention",
        "what attention found is added to the normed x: add it to the x from before "
        "the norm",
        partial(_from_normed, where="attention"),
    ),
    Mistake(
        "residual from the normed x at the MLP",
        "what the MLP computed is added to the normed x: add it to the x from before "
        "the norm",
        partial(_from_normed, where="MLP"),
    ),
    Mistake(
        "no residual",
        "nothing is added to what came in: x is replaced by what attention and MLP "
        "compute",
        partial(_no_residual, where="both"),
    ),
    Mistake(
        "no residual at attention",
        "what attention found replaces x; it should be added to it",
        partial(_no_residual, where="attention"),
    ),
    Mistake(
        "no residual at the MLP",
        "what the MLP computed replaces x; it should be added to it",
        partial(_no_residual, where="MLP"),
    ),
    Mistake(
        "post-norm",
        "the norms come after the sums, which is post-norm; each belongs inside its "
        "branch, in front of attention and of the MLP",
        _post_norm,
    ),
    Mistake(
        "one norm for both",
        "attention and MLP look through the same norm, and the other norm is not used",
        _one_norm,
    ),
    Mistake(
        "no norms",
        "neither attention nor MLP looks through a norm",
        partial(_norms_missing, where="both"),
    ),
    Mistake(
        "attention without norm",
        "attention reads x without a norm",
        partial(_norms_missing, where="attention"),
    ),
    Mistake(
        "MLP without norm",
        "the MLP reads x without a norm",
        partial(_norms_missing, where="MLP"),
    ),
    Mistake(
        "norm behind the branch",
        "the norms come after attention and MLP; they belong in front of them",
        _norm_behind,
    ),
    Mistake(
        "norm at the end",
        "the second norm comes after the last sum; it belongs in front of the MLP",
        _norm_at_the_end,
    ),
    Mistake(
        "parallel",
        "the MLP reads the x from before attention: the two run side by side, and the "
        "MLP does not see what attention found",
        _parallel,
    ),
    Mistake(
        "MLP first",
        "the MLP comes before attention; attention comes first",
        _mlp_first,
    ),
    Mistake(
        "attention lost",
        "the second sum starts from the block's input: what attention found reaches "
        "the MLP, but is not added to the stream",
        _attention_lost,
    ),
    Mistake(
        "residual twice",
        "x is added twice, inside attention and MLP and outside of them once more",
        _residual_twice,
    ),
    Mistake(
        "no attention",
        "attention takes no part: tokens do not meet",
        partial(_half, part="MLP"),
    ),
    Mistake(
        "no MLP",
        "the MLP takes no part",
        partial(_half, part="attention"),
    ),
]


def _of_block(
    weights: Weights,
    sizes: Sizes,
    x: Tensor,
    wiring: Callable[..., Tensor] = _block,
    eps: float = 1e-6,
    attend: Any = None,
    think: Any = two_layers,
    level: Callable[..., Tensor] = F.layer_norm,
) -> Tensor:
    """A block with a place for each usual mistake."""

    def norm(name: str) -> Function:
        weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
        return lambda x: level(x, x.shape[-1:], weight, bias, eps)

    of_attention = {
        name.removeprefix("attn."): value
        for name, value in weights.items()
        if name.startswith("attn.")
    }
    return wiring(
        x,
        norm("norm1"),
        partial(attend or _attend, of_attention, sizes),
        norm("norm2"),
        partial(think, weights, sizes),
    )


def _attend(weights: Weights, sizes: Sizes, x: Tensor) -> Tensor:
    assert multi_head_attention.function is not None
    return multi_head_attention.function.reference(
        x, *(weights[name] for name in _OF_ATTENTION), sizes["num_heads"]
    )


_OF_ATTENTION = ("qkv.weight", "qkv.bias", "proj.weight", "proj.bias")

_USUAL_IN_ATTENTION = {
    "no scale",
    "scale by D",
    "scale by d",
    "scale late, by d",
    "scale late, by D",
    "softmax over queries",
    "heads joined by view",
    "split and joined by view",
    "attention among heads",
    "across the batch",
    "causal",
    "one head",
    "projection unused",
}


def by_std(x: Tensor, shape: Any, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
    """A norm that divides by the sample's standard deviation plus eps."""
    mean, std = x.mean(dim=-1, keepdim=True), x.std(dim=-1, keepdim=True)
    return weight * (x - mean) / (std + eps) + bias


_ONE_FAULT = [
    *(
        Mistake(m.name, m.sentence, partial(_of_block, wiring=m.wrong))
        for m in _OF_WIRING
    ),
    Mistake(
        "eps 1e-5",
        "the norms' eps is 1e-5, PyTorch's default; the Vision Transformer's is 1e-6",
        partial(_of_block, eps=1e-5),
    ),
    Mistake(
        "eps 1e-12",
        "the norms' eps is 1e-12; the Vision Transformer's is 1e-6",
        partial(_of_block, eps=1e-12),
    ),
    Mistake(
        "divided by std + eps",
        "the norms divide by std + eps, the std of a sample, with D - 1 below the sum; "
        "a layer norm divides by √(variance + eps), with D below it",
        partial(_of_block, level=by_std),
    ),
    Mistake(
        "PyTorch's defaults",
        "this is nn.TransformerEncoderLayer with its defaults: the norms after the "
        "sums, a ReLU, and an eps of 1e-5",
        partial(
            _of_block,
            wiring=_post_norm,
            eps=1e-5,
            think=partial(two_layers, bend=F.relu),
        ),
    ),
    *(
        Mistake(m.name, m.sentence, partial(_of_block, think=m.wrong))
        for m in OF_MLP
        if "inside" not in m.name
    ),
    *(
        Mistake(m.name, m.sentence, partial(_of_block, attend=m.wrong))
        for m in multi_head_attention.mistakes
        if m.name in _USUAL_IN_ATTENTION
    ),
]

# An answer with PyTorch's eps may have a second mistake beside it.
OF_BLOCK = [
    *_ONE_FAULT,
    *(
        Mistake(
            f"{m.name} with PyTorch's eps",
            f"{m.sentence}; and the norms' eps is 1e-5, PyTorch's default, expected "
            "1e-6",
            partial(m.wrong, eps=1e-5),
            readings=4,
        )
        for m in _ONE_FAULT
        if "eps" not in m.name and m.name != "PyTorch's defaults"
    ),
]


def attention_maps(parts: list[Part], D: int, h: int, M: int) -> list[Linear]:
    """The linear maps that queries, keys, values and projections may be made of."""
    widths = {D, 2 * D, 3 * D, D // h, 3 * D // h} - {M}
    if any(p.value.shape == (4, D, D) for p in parts):
        widths.add(4 * D)
    return [m for m in linears(parts, D) if m.outs in widths]


def block_weights(
    norms: list[tuple[Part, Part]], attention: Weights, layers: tuple[Linear, Linear]
) -> Weights:
    """The parts of a block under the package's names."""
    weights = mlp_weights(*layers)
    weights |= {f"attn.{name}": attention[name] for name in _OF_ATTENTION}
    for name, (weight, bias) in zip(("norm1", "norm2"), norms, strict=True):
        weights |= {f"{name}.weight": weight.value, f"{name}.bias": bias.value}
    return weights


def hidden_dim(sizes: Sizes) -> int:
    return int(sizes["embed_dim"] * sizes["mlp_ratio"])


def _block_reading(parts: list[Part], sizes: Sizes) -> Iterator[Weights]:
    D, h, M = sizes["embed_dim"], sizes["num_heads"], hidden_dim(sizes)
    norms = layer_norms(parts, D)
    if len(norms) != 2:
        return
    parts = without_norms(parts, D)
    maps, mlps = attention_maps(parts, D, h, M), list(mlp_readings(parts, D, M))
    from_heads = maps_from_heads(parts, D, h)
    # The usual readings of attention first; and which norm is the first one where
    # neither is called?
    for pair, ordered in (
        (norms, True),
        (norms[::-1], True),
        (norms, False),
        (norms[::-1], False),
    ):
        for attention in attention_readings(maps, D, h, ordered, from_heads):
            for (layers,) in mlps:
                yield block_weights(pair, attention, layers)


def _block_lacks(parts: list[Part], sizes: Sizes) -> Finding | None:
    D, M = sizes["embed_dim"], hidden_dim(sizes)
    if any(p.kind == "norm" and p.value.ndim > 1 for p in parts):
        return Finding(
            "norm over tokens",
            "has a norm whose weight has two axes, so that it runs over the tokens "
            "too; it runs over the D numbers of each token",
        )
    norms = len(layer_norms(parts, D))
    if norms == 1:
        return Finding(
            "one norm shared",
            "has one norm where it needs two: each of attention and MLP has a norm "
            "with weights of its own",
        )
    if norms == 0:
        return Finding(
            "norms missing",
            "has no norm with weight and bias over D numbers; it needs two, one for "
            "attention and one for the MLP",
        )
    if norms > 2:
        return Finding("norm too many", f"has {norms} norms, expected two")
    finding = mlp_lacks(parts, D, M)
    if finding is not None:
        return finding
    if not any(sides(p) == {D, M} for p in parts):
        beside = [n for p in parts if D in sides(p) for n in sides(p) - {D}]
        if beside.count(3 * D) == 1:  # q, k and v
            beside.remove(3 * D)
        widths = sorted(set(beside))
        there = f"those beside D×D go to or from {widths}" if widths else "all are D×D"
        return Finding(
            "MLP missing",
            f"has no matrix from D = {D} to M = {M} numbers, or back; {there}",
        )
    others = [p for p in parts if sides(p) != {D, M}]
    assert multi_head_attention.lacking is not None
    return multi_head_attention.lacking(others, sizes)


def _right_block(weights: Weights, sizes: Sizes, x: Tensor) -> Tensor:
    block = EncoderBlock(sizes["embed_dim"], sizes["num_heads"], sizes["mlp_ratio"])
    return run_module(block, weights, x)[0]


def output_of_tuple(output: Any) -> Any:
    """The output, where attention weights or None come with it."""
    return output[0] if isinstance(output, tuple) and output else output


def _callables_for_block(
    answer: Callable[..., Any],
    x: Tensor,
    norm1: list[Tensor],
    mixing: list[Tensor],
    norm2: list[Tensor],
    layers: list[Tensor],
) -> Any:
    shares, values = mixing
    into, back = layers
    return answer(
        x,
        lambda x: normed(x, norm1[0], norm1[1]),
        lambda x: shares.softmax(dim=-1) @ x @ values,
        lambda x: normed(x, norm2[0], norm2[1]),
        lambda x: F.gelu(x @ into) @ back,
    )


def _block_function_inputs(generator: Generator) -> Iterator[Case]:
    for B, T, D, M in ((2, 5, 6, 9), (3, 4, 7, 5)):
        norms = [
            [1 + 0.3 * normal(generator, D), 0.5 * normal(generator, D)]
            for _ in range(2)
        ]
        mixing = [normal(generator, T, T), normal(generator, D, D) / D**0.5]
        layers = [
            normal(generator, D, M) / D**0.5,
            normal(generator, M, D) / M**0.5,
        ]
        x = 0.5 + 2 * normal(generator, B, T, D)
        yield [x, norms[0], mixing, norms[1], layers]


_HINTS_OF_BLOCK = (
    "Draw the stream of tokens as a straight line, and on it what is read and what is "
    "added: where do the two branches leave the line, and where do they come back?",
    "Twice the same: norm, compute, add to the x from before the norm; first with "
    "attention, then with the MLP, each with a norm of its own, eps 1e-6.",
    "x = x + self.attn(self.norm1(x)), then x = x + self.mlp(self.norm2(x)).",
)

encoder_block = ModuleCheck(
    "encoder_block",
    "class EncoderBlock(embed_dim, num_heads, mlp_ratio), called with x (B, T, D)",
    sizes={"embed_dim": 10, "num_heads": 2, "mlp_ratio": 6},
    other_sizes={"embed_dim": 12, "num_heads": 3, "mlp_ratio": 5},
    inputs=lambda generator, sizes: [
        0.1 + 0.3 * normal(generator, 4, 7, sizes["embed_dim"])
    ],
    reading=_block_reading,
    reference=_right_block,
    package=lambda sizes: EncoderBlock(**sizes),
    mistakes=OF_BLOCK,
    hints=_HINTS_OF_BLOCK,
    shape="(B, T, D)",
    lacking=_block_lacks,
    tried=16,
    function=FunctionCheck(
        "encoder_block",
        "encoder_block(x, norm1, attn, norm2, mlp) -> (B, T, D)",
        _block,
        _block_function_inputs,
        [
            *_OF_WIRING,
            Mistake(
                "norms swapped",
                "norm2 is in front of attention and norm1 in front of the MLP",
                lambda x, norm1, attn, norm2, mlp: _block(x, norm2, attn, norm1, mlp),
            ),
        ],
        _HINTS_OF_BLOCK,
        shape="(B, T, D)",
        batched=(0,),
        scenario=_callables_for_block,
        normalize=output_of_tuple,
    ),
    normalize=output_of_tuple,
)
