from vit_check.engine.functions import checked_by
from vit_check.engine.observing import by_names

TABLE = """
block_macs(num_tokens, embed_dim, mlp_ratio=4) -> (quadratic, linear), both whole
    numbers of multiply-accumulates
  whole(31, 60), whole(70, 99), 7  # for which all mistakes give different counts
  whole(31, 60), whole(70, 99), 5
  whole(31, 60), whole(70, 99)
order swapped: quadratic, projections + mlp -> projections + mlp, quadratic
    returns the linear part first, expected (quadratic, linear)
output projection left out: 4 * T * D -> 3 * T * D
    counts three projections, for q, k and v; the one behind the heads is the fourth
one layer of the mlp: 2 * T * D * M -> T * D * M
    counts one of the MLP's two layers: one goes from D up to M, one from M back to D
second layer of M by M: 2 * T * D * M -> T * D * M + T * M * M
    takes the MLP's second layer to go from M to M; it goes from M back to D
both layers of M by M: 2 * T * D * M -> 2 * T * M * M
    takes both of the MLP's layers to be M×M; one goes from D up to M, one back to D
one product: 2 * T * T -> T * T
    counts one product of two: q with k and the weights with v take T²·D each
projections quadratic: quadratic, projections + mlp -> quadratic + projections, mlp
    puts the projections into the quadratic part; each token goes through them alone
biases counted: projections + mlp -> projections + mlp + T * (5 * D + M)
    counts the biases too; each is added without a multiplication
flops for macs: quadratic, projections + mlp -> 2 * quadratic, 2 * (projections + mlp)
    counts the multiplication and the addition separately; a multiply-accumulate is both
? Ask of each matrix product of a block: does a token meet tokens in it, or a weight?
? Tokens meet tokens in two products of T²·D. They meet weights in four matrices of D×D
  and in two of D×M.
? quadratic is 2·T²·D; linear is T·(4·D² + 2·D·M), with M = mlp_ratio·D.
"""


@checked_by(TABLE, normalize=by_names("quadratic", "linear"))
def block_macs(T: int, D: int, mlp_ratio: int = 4) -> tuple[int, int]:
    M = mlp_ratio * D
    quadratic = 2 * T * T * D
    projections = 4 * T * D * D
    mlp = 2 * T * D * M
    return quadratic, projections + mlp
