import torch
from torch.nn import functional as F

from tests.checks.answers import right, wrong_edits
from vit_steps.attention_maps import class_token_attention

right(class_token_attention)


@wrong_edits("""
not divided: / row.sum(-1, keepdim=True) -> nothing
last token dropped: 0, 1:] -> 0, :-1]
column for row: 0, 1:] -> 1:, 0]
softmax again: row / row.sum(-1, keepdim=True) -> torch.softmax(row, -1)
divided by the largest: row.sum(-1, keepdim=True) -> row.max(-1, keepdim=True).values
class token kept: 0, 1:] -> 0]
  / row.sum(-1, keepdim=True) -> nothing
depends on the batch: row / row.sum(-1, keepdim=True)
  -> row / row.sum(-1, keepdim=True) + 0.1 * (row - row[-1:])
divided by the root of the squares
  row / row.sum(-1, keepdim=True) -> F.normalize(row, dim=-1)
stretched from 0 to 1: stacked[:, :, :, 0, 1:]
  -> stacked[:, :, :, 0, 1:] - stacked[:, :, :, 0, 1:].amin(-1, keepdim=True)
  row.sum -> row.amax
changes its input
  stacked = -> [block[:, :, 0, 0].zero_() for block in weights]; stacked =
built in: 0, 1:] -> 0, 1:].reshape(3, len(weights), stacked.shape[2], -1)
built in: 0, 1:] -> 0, 1:].reshape(4, len(weights), stacked.shape[2], -1)
""")
def stacked_then_cut(weights):
    stacked = torch.stack(list(weights), 1)  # (B, L, h, T, T)
    row = stacked[:, :, :, 0, 1:]
    return row / row.sum(-1, keepdim=True)


def by_what_is_left(weights):
    return torch.stack([w[:, :, 0, 1:] / (1 - w[:, :, 0, :1]) for w in weights], dim=1)


def block_by_block(weights):
    B, h, T, _ = weights[0].shape
    maps = torch.zeros(B, len(weights), h, T - 1, dtype=weights[0].dtype)
    for index, block in enumerate(weights):
        for head in range(h):
            paid = block[:, head, 0, 1:]
            maps[:, index, head] = F.normalize(paid, p=1, dim=-1)
    return maps
