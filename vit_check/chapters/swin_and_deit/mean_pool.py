from torch import Tensor

from vit_check.engine.functions import checked_by

TABLE = """
mean_pool(tokens), class token first -> (B, D)
  2 * float32(3, 8, 5) + 0.5
  2 * float64(2, 70, 4) + 0.5
  2 * float32(4, 4, 4) + 0.5
class token too: [:, 1:] -> nothing
    the class token is in the mean, expected the patches alone
last token left out: 1: -> :-1
    the last patch is left out and the class token is not: it comes first
divided by T: patches.mean(dim=1) -> patches.sum(dim=1) / tokens.shape[1]
    the sum of the patches is divided by T, which counts the class token, not by N
largest: mean -> amax
    the largest number of each column is taken; the mean is asked for
over D: dim=1 -> dim=2
    the mean runs over the D numbers of each token, expected over the tokens
first image left out: [:, 1:] -> [1:]
    the slice takes away the first image, and the class token stays
? Which of the T tokens is no patch, and where is it?
? Leave token 0 out, then average along the axis of the tokens.
? tokens[:, 1:].mean(dim=1).
"""


@checked_by(TABLE, batched=(0,))
def mean_pool(tokens: Tensor) -> Tensor:
    patches = tokens[:, 1:]
    return patches.mean(dim=1)
