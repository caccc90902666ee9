import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from torch import Tensor
from torch.nn import functional as F

from vit_check.chapters.encoder_block.mlp import mlp, mlp_readings, two_layers
from vit_check.chapters.multi_head_attention.multi_head_attention import (
    maps_from_heads,
    multi_head_attention,
    output_of_tuple,
    several_heads,
)
from vit_check.engine import reading
from vit_check.engine.drawing import Answer, normal
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.modules import ModuleCheck
from vit_check.engine.reading import Linear, Part, Sizes, Weights
from vit_steps.encoder import EncoderBlock

Step = Callable[[Tensor], Tensor]


def wired(x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step) -> Tensor:
    x = x + attn(norm1(x))
    return x + mlp(norm2(x))


_OF_WIRING = """
residual from the normed x: x + attn -> norm1(x) + attn
  x + mlp -> norm2(x) + mlp
    the residual is the normed x: add to the x from before the norm
residual from the normed x at the MLP: x + mlp -> norm2(x) + mlp
    what the MLP computed is added to the normed x: add it to the x from before the norm
subtracted: x + attn -> x - attn
  x + mlp -> x - mlp
    what attention and MLP found is subtracted from x; it should be added
multiplied: x + attn -> x * attn
    x is multiplied by what attention found; it should be added to it
no residual: x + attn -> attn
  x + mlp -> mlp
    nothing is added to what came in: x is replaced by what attention and MLP compute
no residual at attention: x + attn -> attn
    what attention found replaces x; it should be added to it
no residual at the MLP: x + mlp -> mlp
    what the MLP computed replaces x; it should be added to it
post-norm: x + attn(norm1(x)) -> norm1(x + attn(x))
  x + mlp(norm2(x)) -> norm2(x + mlp(x))
    the norms come after the sums, which is post-norm; each belongs inside its branch,
    in front of attention and of the MLP
one norm for both: norm2(x) -> norm1(x)
    attention and MLP look through the same norm, and the other norm is not used
attention without norm: norm1(x) -> x
    attention reads x without a norm
MLP without norm: norm2(x) -> x
    the MLP reads x without a norm
parallel: x = x + attn(norm1(x)) -> y = x + attn(norm1(x))
  return x + mlp -> return y + mlp
    the MLP reads the x from before attention, so that the two run side by side
MLP first: attn(norm1(x)) -> mlp(norm1(x))
  mlp(norm2(x)) -> attn(norm2(x))
    the MLP comes before attention; attention comes first
attention lost: x = x + attn(norm1(x)) -> y = x + attn(norm1(x))
  mlp(norm2(x)) -> mlp(norm2(y))
    the second sum starts from the block's input: what attention found is not added
"""


def pre_norm_block(weights: Weights, sizes: Sizes, x: Tensor) -> Tensor:
    """Run a block with these weights, in functions whose sources can be edited."""

    def norm(name: str) -> Step:
        weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
        return lambda x: F.layer_norm(x, x.shape[-1:], weight, bias, 1e-6)

    return wired(
        x,
        norm("norm1"),
        partial(several_heads, reading.within(weights, "attn."), sizes),
        norm("norm2"),
        partial(two_layers, weights, sizes),
    )


_OF_NORMS = """\
eps 1e-5: weight, bias, 1e-6 -> weight, bias, 1e-5
    the norms' eps is 1e-5, PyTorch's default; the Vision Transformer's is 1e-6
"""

_USUAL_IN_ATTENTION = "no scale | causal | across the batch | one head".split(" | ")

PARTS_OF_BLOCK = (several_heads, two_layers, wired)


def attention_maps(parts: list[Part], D: int, h: int, M: int) -> list[Linear]:
    """Return the linear maps that may make queries, keys, values and projections."""
    widths = {D, 2 * D, 3 * D, D // h, 3 * D // h} - {M}
    if any(p.value.shape == (4, D, D) for p in parts):
        widths.add(4 * D)
    return [m for m in reading.linears(parts, D) if m.outs in widths]


def block_weights(
    norms: list[tuple[Part, Part]], attention: Weights, layers: tuple[Linear, Linear]
) -> Weights:
    """Yield the parts of a block under the package's names."""
    weights = layers[0].named("mlp.fc1") | layers[1].named("mlp.fc2")
    weights |= {f"attn.{name}": value for name, value in attention.items()}
    for name, (weight, bias) in zip(("norm1", "norm2"), norms, strict=True):
        weights |= {f"{name}.weight": weight.value, f"{name}.bias": bias.value}
    return weights


def hidden_dim(sizes: Sizes) -> int:
    return int(sizes["embed_dim"] * sizes["mlp_ratio"])


def _block_reading(parts: list[Part], sizes: Sizes) -> Iterator[Weights]:
    D, h, M = sizes["embed_dim"], sizes["num_heads"], hidden_dim(sizes)
    norms = reading.layer_norms(parts, D)
    if len(norms) != 2:
        return
    parts = reading.without_norms(parts, D)
    maps, mlps = attention_maps(parts, D, h, M), list(mlp_readings(parts, D, M))
    from_heads = maps_from_heads(parts, D, h)
    # The usual readings come first. If no norm is called, either may be the first.
    for ordered, pair in itertools.product((True, False), (norms, norms[::-1])):
        for attention in reading.attention_readings(maps, D, h, ordered, from_heads):
            for (layers,) in mlps:
                yield block_weights(pair, attention, layers)


def _callables_for_block(answer: Answer, x: Tensor, *learned: Any) -> Any:
    norm1, (shares, values), norm2, (into, back) = learned
    return answer(
        x,
        lambda x: F.layer_norm(x, x.shape[-1:], *norm1),
        lambda x: shares.softmax(dim=-1) @ x @ values,
        lambda x: F.layer_norm(x, x.shape[-1:], *norm2),
        lambda x: F.gelu(x @ into) @ back,
    )


_HINTS = """
? Draw the stream of tokens as a straight line, and on it what is read and what is
  added: where do the two branches leave the line, and where do they come back?
? Twice the same: norm, compute, add to the x from before the norm; first with
  attention, then with the MLP, each with a norm of its own, eps 1e-6.
? x = x + self.attn(self.norm1(x)), then x = x + self.mlp(self.norm2(x)).
"""

_OF_STEPS = """
encoder_block(x, norm1, attn, norm2, mlp) -> (B, T, D)
  0.5 + 2 * float64(2, 5, 6), [1 + 0.3 * float64(6), 0.5 * float64(6)],
    [float64(5, 5), float64(6, 6) / 2.4], [1 + 0.3 * float64(6), 0.5 * float64(6)],
    [float64(6, 9) / 2.4, float64(9, 6) / 3]
  0.5 + 2 * float64(3, 4, 7), [1 + 0.3 * float64(7), 0.5 * float64(7)],
    [float64(4, 4), float64(7, 7) / 2.6], [1 + 0.3 * float64(7), 0.5 * float64(7)],
    [float64(7, 5) / 2.6, float64(5, 7) / 2.2]"""

_BUILT = """
class EncoderBlock(embed_dim, num_heads, mlp_ratio=4.0), called with x (B, T, D)
  10, 2, 2.75  # M = 27, as int makes it of 27.5
  12, 3, 5"""

encoder_block = ModuleCheck(
    "encoder_block",
    pre_norm_block,
    _BUILT + _OF_WIRING + _OF_NORMS + _HINTS,
    inputs=lambda generator, sizes: [
        0.1 + 0.3 * normal(generator, 4, 7, sizes["embed_dim"])
    ],
    reading=_block_reading,
    package=lambda sizes: EncoderBlock(**sizes),
    parts=PARTS_OF_BLOCK,
    borrowed=[
        *(row for row in mlp.rows if "inside" not in row.name),
        *(r for r in multi_head_attention.rows if r.name in _USUAL_IN_ATTENTION),
    ],
    shape="(B, T, D)",
    tried=16,
    as_function=FunctionCheck(
        wired,
        _OF_STEPS + _OF_WIRING + _HINTS,
        batched=(0,),
        scenario=_callables_for_block,
    ),
    normalize=output_of_tuple,
    output_alone=True,
)
