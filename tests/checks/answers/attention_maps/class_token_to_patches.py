import torch
from torch.nn import functional as F

from tests.checks.answers import right, wrong
from vit_steps.attention_maps import (
    class_token_to_patches,
)

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


@wrong("class_token_to_patches", "row of NaN")
def divides_by_0(attention):
    row = attention[..., 0, 1:]
    return row / row.sum(dim=-1, keepdim=True)


@wrong("class_token_to_patches", "last token dropped")
def drops_the_last_one(attention):
    return F.normalize(attention[..., 0, :-1], p=1, dim=-1)


@wrong("class_token_to_patches", "column for row")
def paid_to_it(attention):
    return F.normalize(attention.mT[..., 0, 1:], p=1, dim=-1)


@wrong("class_token_to_patches", "not divided")
def cuts_alone(attention):
    return attention[..., 0, 1:]


@wrong("class_token_to_patches", "class token kept")
def whole_row(attention):
    return attention[..., 0, :]


@wrong("class_token_to_patches", "mean over all rows")
def mean_of_rows(attention):
    return F.normalize(attention.mean(dim=-2)[..., 1:], p=1, dim=-1)


@wrong("class_token_to_patches", "class token last")
def as_if_it_were_last(attention):
    return F.normalize(attention[..., -1, :-1], p=1, dim=-1)


@wrong("class_token_to_patches", "softmax again")
def softmax_of_the_row(attention):
    return attention[..., 0, 1:].softmax(-1)


@wrong("class_token_to_patches", "divided over everything")
def one_sum_for_all(attention):
    row = attention[..., 0, 1:]
    return row / row.sum()


@wrong("class_token_to_patches", "raises")
def written_for_four_axes(attention):
    _batch, _heads, _, _ = attention.shape
    return F.normalize(attention[:, :, 0, 1:], p=1, dim=-1)


@wrong("class_token_to_patches", "divided by the root of the squares")
def normalised_by_default(attention):
    return F.normalize(attention[..., 0, 1:], dim=-1)


@wrong("class_token_to_patches", "divided over the heads")
def divided_along_another_axis(attention):
    row = attention[:, :, 0, 1:]
    return row / row.sum(dim=1, keepdim=True)


@wrong("class_token_to_patches", "stretched from 0 to 1")
def stretched_for_a_picture(attention):
    row = attention[..., 0, 1:]
    low, high = row.amin(-1, keepdim=True), row.amax(-1, keepdim=True)
    return (row - low) / (high - low)
