"""The check of ``gated_mlp``, chapter 15."""

from collections.abc import Iterator

from torch import Generator, Tensor
from torch.nn import functional as F

from vit_check.engine.check import Case
from vit_check.engine.drawing import normal
from vit_check.engine.functions import FunctionCheck


def swiglu(x: Tensor, gate: Tensor, value: Tensor, out: Tensor) -> Tensor:
    gates = F.silu(F.linear(x, gate))
    values = F.linear(x, value)
    return F.linear(gates * values, out)


def _weights(generator: Generator) -> Iterator[Case]:
    for B, T, D, M in ((2, 5, 6, 8), (3, 4, 5, 7)):
        into = (2 * normal(generator, M, D) / D**0.5 for _ in range(2))
        yield [normal(generator, B, T, D), *into, normal(generator, D, M) / M**0.5]


MISTAKES = """
activation on the values
  F.silu(F.linear(x, gate)) -> F.linear(x, gate)
  F.linear(x, value) -> F.silu(F.linear(x, value))
    the activation is on the values and not on the gates
activation on both
  F.linear(x, value) -> F.silu(F.linear(x, value))
    gates and values both go through the activation; only the gates do
activation on the product
  F.silu(F.linear(x, gate)) -> F.linear(x, gate)
  gates * values -> F.silu(gates * values)
    the activation comes after the product; it belongs to the gates, before it
sum for product
  gates * values -> gates + values
    gates and values are added; a gate multiplies
no activation
  F.silu(F.linear(x, gate)) -> F.linear(x, gate)
    the gates have no activation
sigmoid
  F.silu -> F.sigmoid
    the gates go through a sigmoid, σ(x), which was the first gated unit; here it is
    SiLU, x·σ(x)
GELU
  F.silu -> F.gelu
    the gates go through a GELU, which makes it GEGLU; SwiGLU has SiLU, x·σ(x)
ReLU
  F.silu -> F.relu
    the gates go through a ReLU; SwiGLU has SiLU, x·σ(x)
gate forgotten
  gates * values -> gates
    the values are not used: this is an MLP without a gate
gated with itself
  F.linear(x, value) -> F.linear(x, gate)
    one layer makes both gates and values; each has its own
? Three layers: which of them read x, and what does the third one read?
? The gates go through SiLU, the values through nothing, and the third layer reads their
  product.
? F.linear(F.silu(F.linear(x, gate)) * F.linear(x, value), out).
"""

gated_mlp = FunctionCheck(
    "gated_mlp(x, gate, value, out) -> (B, T, D)",
    swiglu,
    _weights,
    MISTAKES,
    shape="(B, T, D)",
    batched=(0,),
)
