import torch
from torch import Tensor

from vit_check.engine.functions import checked_by

TABLE = """
attention_rollout(weights) -> (B, T, T)
  [*(1.5 * float64(4, 3, 2, 5, 5)).softmax(-1)]
  [*(1.5 * float32(3, 2, 4, 6, 6)).softmax(-1)]
  [*(1.5 * float64(1, 4, 1, 3, 3)).softmax(-1)]
order reversed: mixed @ rollout -> rollout @ mixed
    it is rollout @ mixed, expected mixed @ rollout: a later block stands on the left
no residual: 0.5 * identity + 0.5 * merged -> merged
    attention alone is multiplied: the identity, which carries half past it, is missing
identity added: 0.5 * identity + 0.5 * merged -> identity + merged
    the identity is added and nothing halved: rows sum to 2, after L blocks to 2^L
first block bare: rollout = identity -> rollout = None
  mixed @ rollout -> merged if rollout is None else mixed @ rollout
    the first block is not mixed with the identity
identity at the end: mixed @ rollout -> merged @ rollout
  return rollout -> return 0.5 * identity + 0.5 * rollout
    the identity is mixed in after the product, expected in every block
heads averaged at the end: block.mean(dim=1) -> block
  return rollout -> return rollout.mean(dim=1)
    each head is followed by itself through all blocks, and the heads are averaged at
    the end, expected in every block: what one head wrote, all of the next block read
largest head: block.mean -> block.amax
    the largest weight of all heads is taken, expected their mean
first head alone: block.mean(dim=1) -> block[:, 0]
    only the first head is used, expected the mean of all
number by number: rollout = identity -> rollout = 1
  mixed @ rollout -> mixed * rollout
    the blocks are multiplied number by number; a matrix product sums over all paths
last block missing: in weights: -> in weights[:-1]:
    the last block is missing in the product
? Sum the rows of your result: if they are not 1, something is counted twice or left
  out. If they are, look at the order.
? Each block passes on half the identity and half its attention, averaged over the
  heads; the rollout so far is multiplied by it from the left.
? rollout = (0.5 * torch.eye(T) + 0.5 * block.mean(dim=1)) @ rollout.
"""


@checked_by(TABLE, batched=(0,), gradients=False, any_dtype=True)
def attention_rollout(weights: list[Tensor]) -> Tensor:
    identity = torch.eye(weights[0].shape[-1]).to(weights[0])  # (T, T)
    rollout = identity
    for block in weights:
        merged = block.mean(dim=1)  # (B, T, T)
        mixed = 0.5 * identity + 0.5 * merged
        rollout = mixed @ rollout
    return rollout
