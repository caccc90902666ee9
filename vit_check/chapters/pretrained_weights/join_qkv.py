import torch
from torch import Tensor

from vit_check.engine.functions import checked_by

TABLE = """
join_qkv(q_weight, q_bias, k_weight, k_bias, v_weight, v_bias) -> (weight, bias)
  moves row column -> row column
  *(float32(*shape) for shape in ((6, 6), (6,)) * 3)
  *(float64(*shape) for shape in ((5, 5), (5,)) * 3)
  *(float32(*shape) for shape in ((4, 4), (4,)) * 3)
biases in another order: parts[1::2] -> (parts[3], parts[1], parts[5])
    weight and bias are joined in two different orders: rows get the bias of others
rows interleaved: torch.cat -> (lambda parts: torch.stack(parts, 1).flatten(0, 1))
    the rows of q, k and v take turns, expected all D of q, then of k, then of v
side by side: torch.cat(weights) -> torch.cat(weights, dim=1)
    the matrices are joined side by side, (D, 3D), expected one below the other
each transposed: torch.cat(weights) -> torch.cat([weight.T for weight in weights])
    each matrix comes out transposed, (in, out), expected as it comes, (out, in)
biases of zero: torch.cat(biases) -> torch.zeros_like(torch.cat(biases))
    the biases are replaced by zeros: the three that came are to be kept
? The joint layer puts out 3·D numbers a token, and the model cuts them into three
  pieces of D. Which piece does it take for the queries?
? A weight of nn.Linear is (out, in): more outputs are more rows, biases in their order.
? torch.cat([q_weight, k_weight, v_weight]) and the same with the biases.
"""


@checked_by(TABLE, gradients=False)
def join_qkv(*parts: Tensor) -> tuple[Tensor, Tensor]:
    weights, biases = parts[::2], parts[1::2]
    return torch.cat(weights), torch.cat(biases)
