import torch
from torch import nn

from tests.checks.answers import wrong_edits


@wrong_edits("""
order: q_weight, k_weight, v_weight] -> v_weight, k_weight, q_weight]
  q_bias, k_bias, v_bias] -> v_bias, k_bias, q_bias]
    "… along axis 0 it holds what belongs at 12, 13, …"
biases in another order: q_bias, k_bias, v_bias] -> k_bias, q_bias, v_bias]
rows interleaved: torch.cat([q_weight, k_weight, v_weight], dim=0)
  -> torch.stack([q_weight, k_weight, v_weight], dim=1).flatten(0, 1)
  torch.cat([q_bias, k_bias, v_bias], dim=0)
  -> torch.stack([q_bias, k_bias, v_bias], dim=1).flatten()
side by side: dim=0 -> dim=-1
each transposed
  q_weight, k_weight, v_weight] -> q_weight.t(), k_weight.t(), v_weight.t()]
reshape: torch.cat -> torch.stack
""")
def join_with_cat(q_weight, q_bias, k_weight, k_bias, v_weight, v_bias):
    weight = torch.cat([q_weight, k_weight, v_weight], dim=0)
    return weight, torch.cat([q_bias, k_bias, v_bias], dim=0)


def join_into_an_empty_one(qw, qb, kw, kb, vw, vb):
    D = qb.numel()
    weight, bias = qw.new_empty(3 * D, D), qb.new_empty(3 * D)
    for i, (w, b) in enumerate([(qw, qb), (kw, kb), (vw, vb)]):
        weight[i * D : (i + 1) * D] = w
        bias[i * D : (i + 1) * D] = b
    return weight, bias


@wrong_edits("""
biases of zero
  layer.bias.data = torch.hstack([qb, kb, vb]) -> nn.init.zeros_(layer.bias)
""")
def join_in_a_linear_layer(qw, qb, kw, kb, vw, vb):
    layer = nn.Linear(qw.shape[1], 3 * qw.shape[0], dtype=qw.dtype)
    layer.weight.data = torch.vstack([qw, kw, vw])
    layer.bias.data = torch.hstack([qb, kb, vb])
    return layer.weight, layer.bias
