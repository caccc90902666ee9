import torch
from torch.nn import functional as F

from tests.checks.answers import wrong_edits
from vit_steps.variants.gated_mlp import GatedMLP


@wrong_edits("""
activation on both: (x @ hidden.T) -> F.silu(x @ hidden.T)
activation on the product
  F.silu(x @ gate.T) * (x @ hidden.T) -> F.silu((x @ gate.T) * (x @ hidden.T))
sum for product: ) * ( -> ) + (
no activation: F.silu(x @ gate.T) -> (x @ gate.T)
sigmoid: F.silu -> torch.sigmoid
GELU: F.silu -> F.gelu
gate forgotten: * (x @ hidden.T) -> nothing
""")
def in_one_line(x, gate, hidden, out):
    return (F.silu(x @ gate.T) * (x @ hidden.T)) @ out.T


@wrong_edits("""
as if: gates.sigmoid() * values -> F.silu(values)
""")
def with_one_matrix(x, gate, hidden, out):
    gates, values = F.linear(x, torch.cat([gate, hidden])).chunk(2, dim=-1)
    return F.linear(gates * gates.sigmoid() * values, out)


def with_the_package(x, gate, hidden, out):
    mlp = GatedMLP(gate.shape[1], gate.shape[0], bias=False).to(x.dtype)
    names = ("fc1_g.weight", "fc1_x.weight", "fc2.weight")
    return torch.func.functional_call(
        mlp, dict(zip(names, (gate, hidden, out), strict=True)), x
    )
