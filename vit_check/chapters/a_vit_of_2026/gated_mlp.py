from torch import Tensor
from torch.nn import functional as F

from vit_check.engine.functions import checked_by

TABLE = """
gated_mlp(x, gate, hidden, out) -> (B, T, D)
  float64(2, 5, 6), *(0.8 * float64(2, 8, 6)), 0.4 * float64(6, 8)
  float32(3, 4, 5), *(0.9 * float32(2, 7, 5)), 0.4 * float32(5, 7)
  float64(2, 3, 6), *(0.8 * float64(2, 6, 6)), 0.4 * float64(6, 6)
activation on both: F.linear(x, hidden) -> F.silu(F.linear(x, hidden))
    gates and hidden numbers both go through the activation; only the gates do
activation on the product: F.silu(F.linear(x, gate)) -> F.linear(x, gate)
  gates * inside -> F.silu(gates * inside)
    the activation comes after the product, expected before it, on the gates
sum for product: gates * inside -> gates + inside
    gates and hidden numbers are added, expected multiplied
no activation: F.silu(F.linear(x, gate)) -> F.linear(x, gate)
    the gates have no activation
sigmoid: F.silu -> torch.sigmoid
    the gates go through a sigmoid, as in GLU, expected SiLU, x·σ(x)
GELU: F.silu -> F.gelu
    the gates go through a GELU, as in GEGLU, expected SiLU, x·σ(x)
ReLU: F.silu -> F.relu
    the gates go through a ReLU, expected SiLU, x·σ(x)
gate forgotten: gates * inside -> gates
    the gates alone are used: this is an MLP without a gate
? Three layers: which of them read x, and what does the third one read?
? The gates go through SiLU, the hidden numbers do not; the third reads their product.
? F.linear(F.silu(F.linear(x, gate)) * F.linear(x, hidden), out).
"""


@checked_by(TABLE, batched=(0,))
def gated_mlp(x: Tensor, gate: Tensor, hidden: Tensor, out: Tensor) -> Tensor:
    gates = F.silu(F.linear(x, gate))
    inside = F.linear(x, hidden)
    return F.linear(gates * inside, out)
