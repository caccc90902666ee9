import torch
from einops import rearrange, reduce
from torch.nn import functional as F

from tests.checks.answers import right, wrong
from vit_steps.attention_maps import (
    class_token_attention,
    class_token_to_patches,
)

right("class_token_attention")(class_token_attention)


@right("class_token_attention")
def stacked_then_cut(weights):
    stacked = torch.stack(list(weights), 1)  # (B, L, h, T, T)
    row = stacked[:, :, :, 0, 1:]
    return row / row.sum(-1, keepdim=True)


@right("class_token_attention")
def by_what_is_left(weights):
    return torch.stack([w[:, :, 0, 1:] / (1 - w[:, :, 0, :1]) for w in weights], dim=1)


@right("class_token_attention")
def with_einops(weights):
    rows = rearrange([w[..., 0, 1:] for w in weights], "l b h n -> b l h n")
    return rows / reduce(rows, "b l h n -> b l h 1", "sum")


@right("class_token_attention")
def block_by_block(weights):
    B, h, T, _ = weights[0].shape
    maps = torch.zeros(B, len(weights), h, T - 1, dtype=weights[0].dtype)
    for index, block in enumerate(weights):
        for head in range(h):
            paid = block[:, head, 0, 1:]
            maps[:, index, head] = F.normalize(paid, p=1, dim=-1)
    return maps


@wrong("class_token_attention", "not divided")
def left_as_they_are(weights):
    return torch.stack(weights, dim=1)[..., 0, 1:]


@wrong("class_token_attention", "last token dropped")
def drops_the_last(weights):
    row = torch.stack(weights, dim=1)[..., 0, :-1]
    return row / row.sum(-1, keepdim=True)


@wrong("class_token_attention", "column for row")
def takes_the_column(weights):
    column = torch.stack(weights, dim=1)[..., 1:, 0]
    return column / column.sum(-1, keepdim=True)


@wrong("class_token_attention", "heads averaged")
def averages_heads(weights):
    row = torch.stack(weights, dim=1)[..., 0, 1:]
    return (row / row.sum(-1, keepdim=True)).mean(2)


@wrong("class_token_attention", "blocks first")
def stacks_in_front(weights):
    row = torch.stack(weights)[..., 0, 1:]
    return row / row.sum(-1, keepdim=True)


@wrong("class_token_attention", "last block alone")
def as_many_tutorials(weights):
    row = weights[-1][:, :, 0, 1:]
    return row / row.sum(-1, keepdim=True)


@wrong("class_token_attention", "softmax again")
def softmax_of_shares(weights):
    return torch.softmax(torch.stack(weights, dim=1)[..., 0, 1:], dim=-1)


@wrong("class_token_attention", "divided by the largest")
def scaled_for_a_picture(weights):
    row = torch.stack(weights, dim=1)[..., 0, 1:]
    return row / row.max(-1, keepdim=True).values


@wrong("class_token_attention", "class token kept")
def keeps_its_own_share(weights):
    return torch.stack(weights, dim=1)[:, :, :, 0]


@wrong("class_token_attention", "a list of blocks")
def as_a_list(weights):
    return [class_token_to_patches(block) for block in weights]


@wrong("class_token_attention", "changes its input")
def zeroes_its_own_share(weights):
    for block in weights:
        block[:, :, 0, 0] = 0
    rows = torch.stack(weights, dim=1)[:, :, :, 0]
    return (rows / rows.sum(-1, keepdim=True))[..., 1:]


@wrong("class_token_attention", "depends on the batch")
def divides_by_the_first_image(weights):
    row = torch.stack(weights, dim=1)[..., 0, 1:]
    return row / row.sum(-1, keepdim=True) + 0.1 * (row - row[-1:])


@wrong("class_token_attention", "divided by the root of the squares")
def normalised_by_default(weights):
    return torch.stack([F.normalize(w[:, :, 0, 1:], dim=-1) for w in weights], dim=1)


@wrong("class_token_attention", "divided over the heads")
def divided_along_another_axis(weights):
    row = torch.stack(weights, dim=1)[:, :, :, 0, 1:]
    return row / row.sum(dim=2, keepdim=True)


@wrong("class_token_attention", "stretched from 0 to 1")
def as_grey_values(weights):
    row = torch.stack(weights, dim=1)[..., 0, 1:]
    row = row - row.min(dim=-1, keepdim=True).values
    return row / row.max(dim=-1, keepdim=True).values


def of_a_batch(B):
    def attention(weights):
        maps = class_token_to_patches(torch.stack(weights, dim=1))
        return maps.reshape(B, len(weights), maps.shape[2], -1)

    return attention


for size in (3, 4):
    wrong("class_token_attention", "built in")(of_a_batch(size))
