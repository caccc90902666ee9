import torch
from torch.nn import functional as F

from tests.checks.answers import right, wrong_edits
from vit_steps.attention_maps import class_token_to_patches

right("class_token_to_patches")(class_token_to_patches)


@right("class_token_to_patches")
def with_where(attention):
    row = attention[..., 0, 1:]
    total = row.sum(-1, keepdim=True)
    return torch.where(total > 0, row / total, 0.0)


@right("class_token_to_patches")
def with_nan_to_num(attention):
    row = attention.select(-2, 0)[..., 1:]
    return (row / row.sum(dim=-1).unsqueeze(-1)).nan_to_num()


@right("class_token_to_patches")
def with_normalize(attention):
    return F.normalize(attention[..., 0, 1:], p=1, dim=-1)


wrong_edits(
    "class_token_to_patches",
    with_where,
    """
row of NaN
  torch.where(total > 0, row / total, 0.0) -> row / total
last token dropped
  0, 1: -> 0, :-1
column for row
  0, 1: -> 1:, 0
not divided
  torch.where(total > 0, row / total, 0.0) -> row
class token kept
  0, 1: -> 0, :
mean over all rows
  [..., 0, 1:] -> [..., 1:].mean(-2)
class token last
  0, 1: -> -1, :-1
softmax again
  torch.where(total > 0, row / total, 0.0) -> row.softmax(-1)
divided over everything
  row.sum(-1, keepdim=True) -> row.sum()
raises
  [..., 0, 1:] -> [:, :, 0, 1:]
divided by the root of the squares
  torch.where(total > 0, row / total, 0.0) -> F.normalize(row, dim=-1)
divided over the heads
  row.sum(-1 -> row.sum(1
stretched from 0 to 1
  [..., 0, 1:] -> [..., 0, 1:] - attention[..., 0, 1:].amin(-1, keepdim=True)
  row.sum -> row.amax
""",
)
