"""Check of chapter 9: attention followed through all blocks."""

import torch
from torch import Tensor

from vit_check.chapters.attention_maps.drawn_maps import Weights, drawn_weights
from vit_check.engine.functions import FunctionCheck


def right_rollout(weights: Weights) -> Tensor:
    identity = torch.eye(weights[0].shape[-1]).to(weights[0])  # (T, T)
    rollout = identity
    for block in weights:
        merged = block.mean(dim=1)  # (B, T, T)
        mixed = 0.5 * identity + 0.5 * merged
        rollout = mixed @ rollout
    return rollout


MISTAKES = """
order reversed
  mixed @ rollout -> rollout @ mixed
    the product runs the wrong way: a later block takes what the earlier ones have
    mixed, so it stands on the left
no residual
  0.5 * identity + 0.5 * merged -> merged
    attention alone is multiplied: what the residual connection carries past it, the
    identity, is left out
identity added
  0.5 * identity + 0.5 * merged -> identity + merged
    the identity is added and nothing taken off: the rows of a block sum to 2, and those
    of L blocks to 2 to the power of L
divided by columns
  mixed @ -> mixed / mixed.sum(dim=-2, keepdim=True) @
    each column is divided by its sum, expected each row: a row is what one token has,
    in shares
a half everywhere
  0.5 * identity -> 0.5
    one half is added to every entry; the identity has it on the diagonal, where each
    token keeps itself
residual once
  0.5 * identity + 0.5 * merged -> merged
  return rollout -> return 0.5 * identity + 0.5 * rollout
    the identity is mixed in once, after the last block, expected in every one
heads summed and divided
  block.mean -> block.sum
  mixed @ -> mixed / mixed.sum(dim=-1, keepdim=True) @
    the heads are summed and the rows divided again: attention then counts h times as
    much as the residual, expected as much
heads averaged at the end
  block.mean(dim=1) -> block
  return rollout -> return rollout.mean(dim=1)
    each head is followed by itself through all blocks, and the heads are averaged at
    the end, expected in every block: what one head wrote, every head of the next block
    reads
largest head
  block.mean -> block.amax
    the largest weight of all heads is taken, expected their mean
largest head, divided
  block.mean -> block.amax
  mixed @ -> mixed / mixed.sum(dim=-1, keepdim=True) @
    the largest weight of all heads is taken, expected their mean; dividing the rows
    afterwards does not make up for it
first head alone
  block.mean(dim=1) -> block[:, 0]
    only the first head is used, expected the mean of all
sum of blocks
  rollout = identity -> rollout = 0
  mixed @ rollout -> mixed + rollout
    the blocks are added, expected multiplied: content that passes through two blocks
    takes a share of a share
number by number
  rollout = identity -> rollout = 1
  mixed @ rollout -> mixed * rollout
    the blocks are multiplied number by number; summing over all paths is a matrix
    product
number by number from the identity
  mixed @ rollout -> mixed * rollout
    the blocks are multiplied number by number, so that the identity's zeros stay zeros;
    summing over all paths is a matrix product
tables turned
  block.mean(dim=1) -> block.mean(dim=1).mT
    each table is transposed before it is multiplied: rows ask, columns are asked, and a
    row of each already sums to 1
last block alone
  mixed @ rollout -> mixed
    only the last block is in the result: what was gathered so far is overwritten
last block missing
  in weights: -> in weights[:-1]:
    the last block is missing in the product
class token's row alone
  return rollout -> return rollout[:, 0]
    only the class token's row is returned, expected the whole table
? Sum the rows of your result: if they are not 1, something is counted twice or left
  out. If they are, look at the order.
? Each block passes on half the identity and half its attention, averaged over the
  heads; the rollout so far is multiplied by it from the left.
? rollout = (0.5 * torch.eye(T) + 0.5 * block.mean(dim=1)) @ rollout.
"""

attention_rollout = FunctionCheck(
    "attention_rollout(weights) -> (B, T, T)",
    right_rollout,
    lambda g: iter(
        [
            [drawn_weights(g, 3, 2, 4, 5)],
            [drawn_weights(g, 2, 4, 3, 6, torch.float32)],
            [drawn_weights(g, 4, 3, 3, 3)],
        ]
    ),
    MISTAKES,
    shape="(B, T, T)",
    batched=(0,),
    gradients=False,
)
