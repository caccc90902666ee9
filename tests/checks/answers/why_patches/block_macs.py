import vit_steps
from tests.checks.answers import wrong_edits


def as_two_named_sums(num_tokens, embed_dim, mlp_ratio=4):
    quadratic, linear = from_the_formulas(num_tokens, embed_dim, mlp_ratio)
    return {"linear": linear, "quadratic": quadratic}


@wrong_edits("""
output projection left out: 4 * T -> 3 * T
one layer of the mlp: 2 * T * D * M -> T * D * M
as if: mlp_ratio * embed_dim -> 4 * embed_dim
float: mlp_ratio * embed_dim -> float(mlp_ratio) * embed_dim
one product: 2 * T**2 -> T**2
order swapped: 2 * T**2 * D, 4 * T * D**2 + 2 * T * D * M
  -> 4 * T * D**2 + 2 * T * D * M, 2 * T**2 * D
flops for macs: 2 * T**2 * D, 4 * T * D**2 + 2 * T * D * M
  -> 4 * T**2 * D, 8 * T * D**2 + 4 * T * D * M
""")
def from_the_formulas(num_tokens, embed_dim, mlp_ratio=4):
    T, D, M = num_tokens, embed_dim, mlp_ratio * embed_dim
    return 2 * T**2 * D, 4 * T * D**2 + 2 * T * D * M


def from_the_package(T, D, r=4):
    cost = vit_steps.attention_cost(T, D)
    return [cost.matmul_macs, cost.projection_macs + 2 * T * D * int(r * D)]
