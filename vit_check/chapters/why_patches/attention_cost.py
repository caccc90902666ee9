from vit_check.engine.functions import FunctionCheck
from vit_check.engine.observing import by_names
from vit_steps.cost import attention_cost as right_cost

TABLE = """
attention_cost(num_tokens, embed_dim, num_heads=1, bytes_per_number=4) -> matrix_bytes,
    all_heads_bytes, matmul_macs, projection_macs
  whole(31, 60), 5 * whole(7, 13), 5, 8
  whole(31, 60), 6 * whole(7, 13), 6, 2
  whole(31, 60), 6 * whole(7, 13), 6
  whole(31, 60), 24 * whole(3, 6)
one product: 2 * T * T * D -> T * T * D
    counts one product of two: q with k and the weights with v take T²·D each
one head's products: 2 * T * T * D -> 2 * T * T * (D // h)
    counts one head's products: h heads of d = D/h numbers take as much as one of D
heads multiply the products: 2 * T * T * D -> 2 * T * T * D * h
    multiplies the products by h, but a head's vectors have d = D/h numbers: h cancels
output projection left out: 4 * T * D * D -> 3 * T * D * D
    counts the projections to q, k and v and leaves out the fourth, behind the heads
biases counted: 4 * T * D * D -> 4 * T * D * (D + 1)
    counts the biases too; each is added without a multiplication
nothing mended: 2 * T * T * D -> 2 * T * T * D * h
  4 * T * D * D -> 3 * T * D * D
    still has two faults: the products grow with h, and the projections lack a matrix
flops for macs: 2 * T * T * D -> 4 * T * T * D
  4 * T * D * D -> 8 * T * D * D
    counts multiplication and addition apart; a multiply-accumulate is both
bytes swapped: matrix_bytes=T -> all_heads_bytes=T
  all_heads_bytes=h -> matrix_bytes=h
    has matrix_bytes and all_heads_bytes the wrong way round
macs swapped: matmul_macs=2 -> projection_macs=2
  projection_macs=4 -> matmul_macs=4
    has matmul_macs and projection_macs the wrong way round
? Write down the shape of q, k and v of one head, the scores, and a projection.
? A product of an (a, b) and a (b, c) matrix takes a·b·c multiply-accumulates. One
  head's scores are (T, d) times (d, T).
? matrix_bytes is T²·bytes_per_number, all_heads_bytes h times that, matmul_macs 2·T²·D,
  projection_macs 4·T·D².
"""

attention_cost = FunctionCheck(
    right_cost,
    TABLE,
    normalize=by_names(
        "matrix_bytes", "all_heads_bytes", "matmul_macs", "projection_macs"
    ),
)
