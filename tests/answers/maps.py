import math

import torch
from einops import rearrange, reduce
from torch.nn import functional as F

from tests.answers import right, wrong
from vit_steps.attention_maps import (
    attention_distance,
    attention_rollout,
    class_token_attention,
    class_token_to_patches,
    mask_patches,
    mass_inside,
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


right("attention_rollout")(attention_rollout)


@right("attention_rollout")
def added_and_divided(weights):
    result = torch.eye(weights[0].size(-1), dtype=weights[0].dtype)
    for block in weights:
        a = block.mean(1) + torch.eye(block.size(-1), dtype=block.dtype)
        a = a / a.sum(dim=-1, keepdim=True)
        result = torch.matmul(a, result)
    return result


@right("attention_rollout")
def from_the_last_backwards(weights):
    T = weights[0].shape[-1]
    rollout = None
    for block in reversed(weights):
        mixed = (
            torch.eye(T, dtype=block.dtype) + reduce(block, "b h q k -> b q k", "mean")
        ) / 2
        rollout = mixed if rollout is None else rollout @ mixed
    return rollout


@right("attention_rollout")
def path_by_path(weights):
    steps = [0.5 * w.mean(1) + 0.5 * torch.eye(w.shape[-1]).to(w) for w in weights]
    total = steps[0]
    for step in steps[1:]:
        total = torch.einsum("bts,bsu->btu", step, total)
    return total


@right("attention_rollout")
def image_by_image(weights):
    eye = torch.eye(weights[0].shape[-1], dtype=weights[0].dtype)
    images = [
        torch.linalg.multi_dot(
            [eye, *(0.5 * eye + 0.5 * w[i].mean(0) for w in reversed(weights)), eye]
        )
        for i in range(len(weights[0]))
    ]
    return torch.stack(images)


@wrong("attention_rollout", "order reversed")
def later_on_the_right(weights):
    result = torch.eye(weights[0].size(-1), dtype=weights[0].dtype)
    for block in weights:
        a = 0.5 * block.mean(1) + 0.5 * torch.eye(block.size(-1), dtype=block.dtype)
        result = result @ a
    return result


@wrong("attention_rollout", "no residual")
def attention_alone(weights):
    result = weights[0].mean(1)
    for block in weights[1:]:
        result = block.mean(1) @ result
    return result


@wrong("attention_rollout", "identity added")
def adds_identity(weights):
    result = torch.eye(weights[0].size(-1), dtype=weights[0].dtype)
    for block in weights:
        result = (block.mean(1) + torch.eye(block.size(-1)).to(block)) @ result
    return result


@wrong("attention_rollout", "largest head, divided")
def fuses_by_max(weights):
    result = torch.eye(weights[0].size(-1), dtype=weights[0].dtype)
    for block in weights:
        a = block.max(dim=1).values + torch.eye(block.size(-1)).to(block)
        result = (a / a.sum(-1, keepdim=True)) @ result
    return result


@wrong("attention_rollout", "divided by columns")
def divides_columns(weights):
    result = torch.eye(weights[0].size(-1), dtype=weights[0].dtype)
    for block in weights:
        a = block.mean(dim=1) + torch.eye(block.size(-1)).to(block)
        result = (a / a.sum(dim=1, keepdim=True)) @ result
    return result


@wrong("attention_rollout", "number by number")
def star_for_matmul(weights):
    result = None
    for block in weights:
        a = 0.5 * block.mean(1) + 0.5 * torch.eye(block.size(-1)).to(block)
        result = a if result is None else a * result
    return result


@wrong("attention_rollout", "sum of blocks")
def plus_for_matmul(weights):
    return sum(0.5 * w.mean(1) + 0.5 * torch.eye(w.size(-1)).to(w) for w in weights)


@wrong("attention_rollout", "last block alone")
def forgets_the_product(weights):
    for block in weights:
        result = 0.5 * block.mean(1) + 0.5 * torch.eye(block.size(-1)).to(block)
    return result


@wrong("attention_rollout", "turned")
def transposed(weights):
    return attention_rollout(weights).transpose(1, 2)


@wrong("attention_rollout", "map alone")
def gives_the_map(weights):
    return class_token_to_patches(attention_rollout(weights))


@wrong("attention_rollout", "residual once")
def mixes_once(weights):
    result = attention_alone(weights)
    return 0.5 * result + 0.5 * torch.eye(result.size(-1)).to(result)


@wrong("attention_rollout", "heads summed and divided")
def sums_heads(weights):
    result = torch.eye(weights[0].size(-1), dtype=weights[0].dtype)
    for block in weights:
        a = block.sum(dim=1) + torch.eye(block.size(-1)).to(block)
        result = (a / a.sum(-1, keepdim=True)) @ result
    return result


@wrong("attention_rollout", "a half everywhere")
def half_of_ones(weights):
    result = torch.eye(weights[0].size(-1), dtype=weights[0].dtype)
    for block in weights:
        result = (0.5 * block.mean(1) + 0.5) @ result
    return result


@wrong("attention_rollout", "changes its input")
def adds_in_place(weights):
    for block in weights:
        block *= 0.5
        block += 0.5 * torch.eye(block.shape[-1]).to(block)
    return path_of(weights)


def path_of(passed):
    result = passed[0].mean(1)
    for block in passed[1:]:
        result = block.mean(1) @ result
    return result


right("attention_distance")(attention_distance)


def grid(grid_size):
    rows, columns = grid_size
    return [divmod(i, columns) for i in range(rows * columns)]


@right("attention_distance")
def with_loops(weights, grid_size, patch_size=1):
    places = grid(grid_size)
    far = torch.tensor(
        [[patch_size * math.dist(a, b) for b in places] for a in places],
        dtype=weights[0].dtype,
    )
    found = []
    for block in weights:
        table = block[:, :, 1:, 1:]
        table = table / table.sum(-1, keepdim=True)
        found.append(
            [(table[:, h] * far).sum(-1).mean() for h in range(table.shape[1])]
        )
    return torch.tensor(found, dtype=weights[0].dtype)


@right("attention_distance")
def with_cdist(weights, grid_size, patch_size):
    places = torch.tensor(grid(grid_size)).to(weights[0]) * patch_size
    far = torch.cdist(places, places, compute_mode="donot_use_mm_for_euclid_dist")
    table = F.normalize(torch.stack(weights)[..., 1:, 1:], p=1, dim=-1)
    return torch.einsum("lbhij,ij->lh", table, far) / table.shape[1] / len(places)


@right("attention_distance")
def with_meshgrid(weights, grid, patch):
    y, x = torch.meshgrid(*(torch.arange(n) * patch for n in grid), indexing="ij")
    y, x = y.flatten(), x.flatten()
    far = torch.hypot((y[:, None] - y).double(), (x[:, None] - x).double())
    means = []
    for block in weights:
        shares = block[..., 1:, 1:] / (1 - block[..., 1:, :1])
        means.append((shares * far.to(block)).sum(-1).mean(-1).mean(0))
    return torch.stack(means)


@wrong("attention_distance", "last token dropped")
def keeps_the_class_token(weights, grid_size, patch_size):
    moved = [w[..., :-1, :-1] for w in weights]
    return with_cdist([F.pad(w, (1, 0, 1, 0)) for w in moved], grid_size, patch_size)


@wrong("attention_distance", "not divided")
def without_dividing(weights, grid_size, patch_size):
    places = torch.tensor(grid(grid_size)).to(weights[0]) * patch_size
    far = (places[:, None] - places).norm(dim=-1)
    found = [(w[..., 1:, 1:] * far).sum(-1).mean((0, 2)) for w in weights]
    return torch.stack(found)


@wrong("attention_distance", "rows for columns")
def divides_by_rows(weights, grid_size, patch_size):
    rows, columns = grid_size
    places = [divmod(i, rows) for i in range(rows * columns)]
    far = torch.tensor([[patch_size * math.dist(a, b) for b in places] for a in places])
    table = F.normalize(torch.stack(weights)[..., 1:, 1:], p=1, dim=-1)
    return (table * far.to(table)).sum(-1).mean((1, 3))


@wrong("attention_distance", "in patches")
def forgets_the_patch_size(weights, grid_size, patch_size):
    return with_cdist(weights, grid_size, 1)


@wrong("attention_distance", "squared")
def forgets_the_root(weights, grid_size, patch_size):
    places = torch.tensor(grid(grid_size)).to(weights[0])
    far = patch_size * (places[:, None] - places).square().sum(-1)
    table = F.normalize(torch.stack(weights)[..., 1:, 1:], p=1, dim=-1)
    return (table * far).sum(-1).mean((1, 3))


@wrong("attention_distance", "along the grid")
def manhattan(weights, grid_size, patch_size):
    places = torch.tensor(grid(grid_size)).to(weights[0]) * patch_size
    far = (places[:, None] - places).abs().sum(-1)
    table = F.normalize(torch.stack(weights)[..., 1:, 1:], p=1, dim=-1)
    return (table * far).sum(-1).mean((1, 3))


@wrong("attention_distance", "difference of indices")
def in_one_row(weights, grid_size, patch_size):
    place = torch.arange(weights[0].shape[-1] - 1)
    far = patch_size * (place[:, None] - place).abs()
    table = F.normalize(torch.stack(weights)[..., 1:, 1:], p=1, dim=-1)
    return (table * far).sum(-1).mean((1, 3))


@wrong("attention_distance", "columns ask")
def the_other_axis(weights, grid_size, patch_size):
    return with_cdist([w.mT for w in weights], grid_size, patch_size)


@wrong("attention_distance", "most attended alone")
def to_the_brightest(weights, grid_size, patch_size):
    places = torch.tensor(grid(grid_size)).to(weights[0]) * patch_size
    nearest = torch.stack(weights)[..., 1:, 1:].argmax(-1)  # (L, B, h, N)
    return (places[nearest] - places).norm(dim=-1).mean((1, 3))


@wrong("attention_distance", "heads averaged")
def a_number_a_block(weights, grid_size, patch_size):
    return attention_distance(weights, grid_size, patch_size).mean(1)


@wrong("attention_distance", "images kept")
def an_axis_too_many(weights, grid_size, patch_size):
    places = torch.tensor(grid(grid_size)).to(weights[0]) * patch_size
    far = (places[:, None] - places).norm(dim=-1)
    table = F.normalize(torch.stack(weights)[..., 1:, 1:], p=1, dim=-1)
    return (table * far).sum(-1).mean(-1)


@wrong("attention_distance", "summed over patches")
def adds_up(weights, grid_size, patch_size):
    far = attention_distance(weights, grid_size, patch_size)
    return far * (weights[0].shape[-1] - 1)


right("mass_inside")(mass_inside)


@right("mass_inside")
def pixel_by_pixel(attention, boxes, image_size, patch_size):
    columns, P = image_size[1] // patch_size, patch_size
    masses = []
    for shares, (top, left, bottom, end) in zip(attention, boxes.tolist(), strict=True):
        inside = 0.0
        for y in range(top, bottom):
            for x in range(left, end):
                inside += shares[y // P * columns + x // P] / P**2
        masses.append(inside)
    return torch.stack(masses)


@right("mass_inside")
def with_repeated_pixels(attention, boxes, image_size, P):
    rows, columns = image_size[0] // P, image_size[1] // P
    grid = attention.reshape(-1, rows, columns) / P**2
    pixels = grid.repeat_interleave(P, 1).repeat_interleave(P, 2)
    return torch.stack(
        [p[t:b, l:r].sum() for p, (t, l, b, r) in zip(pixels, boxes, strict=True)]
    )


@right("mass_inside")
def with_a_pooled_mask(attention, boxes, image_size, patch_size):
    mask = torch.zeros(len(boxes), 1, *image_size, dtype=attention.dtype)
    for picture, (y, x, y_end, x_end) in zip(mask, boxes, strict=True):
        picture[:, y:y_end, x:x_end] = 1
    share = F.avg_pool2d(mask, patch_size).flatten(1)
    return torch.linalg.vecdot(attention, share)


def masses(attention, boxes, image_size, patch_size, pool=F.avg_pool2d, end=0):
    mask = torch.zeros(len(boxes), 1, *image_size, dtype=attention.dtype)
    for picture, (y, x, y_end, x_end) in zip(mask, boxes.tolist(), strict=True):
        picture[:, y : y_end + end, x : x_end + end] = 1
    return (attention * pool(mask, patch_size).flatten(1)).sum(1)


@wrong("mass_inside", "whole patch if touched")
def counts_what_it_touches(attention, boxes, image_size, patch_size):
    return masses(attention, boxes, image_size, patch_size, F.max_pool2d)


@wrong("mass_inside", "cut patches left out")
def counts_what_is_whole(attention, boxes, image_size, patch_size):
    whole = lambda x, P: -F.max_pool2d(-x, P)  # noqa: E731
    return masses(attention, boxes, image_size, patch_size, whole)


@wrong("mass_inside", "left before top")
def x_before_y(attention, boxes, image_size, patch_size):
    return masses(attention, boxes[:, [1, 0, 3, 2]], image_size, patch_size)


@wrong("mass_inside", "one pixel too many")
def ends_included(attention, boxes, image_size, patch_size):
    return masses(attention, boxes, image_size, patch_size, end=1)


@wrong("mass_inside", "columns first")
def down_the_columns(attention, boxes, image_size, patch_size):
    turned = lambda x, P: F.avg_pool2d(x, P).mT  # noqa: E731
    return masses(attention, boxes, image_size, patch_size, turned)


@wrong("mass_inside", "pixels counted whole")
def forgets_the_pixels_part(attention, boxes, image_size, patch_size):
    return masses(attention, boxes, image_size, patch_size) * patch_size**2


@wrong("mass_inside", "averaged over images")
def one_number(attention, boxes, image_size, patch_size):
    return masses(attention, boxes, image_size, patch_size).mean()


@wrong("mass_inside", "averaged over patches")
def mean_for_sum(attention, boxes, image_size, patch_size):
    return masses(attention, boxes, image_size, patch_size) / attention.shape[1]


@wrong("mass_inside", "divided by the area")
def how_much_denser(attention, boxes, image_size, patch_size):
    top, left, bottom, right = boxes.unbind(1)
    area = (bottom - top) * (right - left) / (image_size[0] * image_size[1])
    return masses(attention, boxes, image_size, patch_size) / area


@wrong("mass_inside", "by the middle")
def middle_in_or_out(attention, boxes, image_size, P):
    rows, columns = image_size[0] // P, image_size[1] // P
    y = (torch.arange(rows) + 0.5) * P
    x = (torch.arange(columns) + 0.5) * P
    top, left, bottom, right = boxes[:, :, None].unbind(1)
    inside = ((y >= top) & (y < bottom))[:, :, None] & ((x >= left) & (x < right))[
        :, None
    ]
    return (attention * inside.flatten(1)).sum(1)


@wrong("mass_inside", "dtype")
def as_float32(attention, boxes, image_size, patch_size):
    return masses(attention.float(), boxes, image_size, patch_size)


right("mask_patches")(mask_patches)


@right("mask_patches")
def with_slices(images, patch_size, indices, fill=0.0):
    images, columns, P = images.clone(), images.shape[3] // patch_size, patch_size
    for image, hidden in zip(images, indices, strict=True):
        for i in hidden:
            row, column = i // columns, i % columns
            image[:, row * P : (row + 1) * P, column * P : (column + 1) * P] = fill
    return images


@right("mask_patches")
def with_einops_and_scatter(images, patch_size, indices, fill=0.0):
    rows = images.shape[2] // patch_size
    patches = rearrange(
        images, "b c (i p) (j q) -> b (i j) (c p q)", p=patch_size, q=patch_size
    )
    index = indices[:, :, None].expand(-1, -1, patches.shape[2])
    patches = patches.scatter(1, index, fill)
    return rearrange(
        patches,
        "b (i j) (c p q) -> b c (i p) (j q)",
        i=rows,
        p=patch_size,
        q=patch_size,
    )


@right("mask_patches")
def with_interpolate(images, patch_size, indices, fill=0.0):
    B, _, H, W = images.shape
    N = H // patch_size * (W // patch_size)
    hidden = F.one_hot(indices, N).sum(1).clamp(max=1).float()
    hidden = hidden.reshape(B, 1, H // patch_size, W // patch_size)
    hidden = F.interpolate(hidden, scale_factor=patch_size, mode="nearest")
    return images * (1 - hidden) + fill * hidden


@right("mask_patches")
def with_numbered_pixels(images, patch_size, indices, fill=0.0):
    H, W = images.shape[2:]
    rows = torch.arange(H) // patch_size
    number = rows[:, None] * (W // patch_size) + torch.arange(W) // patch_size
    hidden = torch.stack([torch.isin(number, one) for one in indices])
    return images.masked_fill(hidden[:, None], fill)


@wrong("mask_patches", "changes its input")
def covers_the_caller_s(images, patch_size, indices, fill=0.0):
    images.copy_(with_slices(images, patch_size, indices, fill))
    return images


@wrong("mask_patches", "columns first")
def rows_and_columns_swapped(images, patch_size, indices, fill=0.0):
    images, rows, P = images.clone(), images.shape[2] // patch_size, patch_size
    for image, hidden in zip(images, indices, strict=True):
        for i in hidden:
            column, row = i // rows, i % rows
            image[:, row * P : (row + 1) * P, column * P : (column + 1) * P] = fill
    return images


@wrong("mask_patches", "the others taken")
def keeps_what_is_named(images, patch_size, indices, fill=0.0):
    covered = with_slices(torch.zeros_like(images), patch_size, indices, 1.0)
    return torch.where(covered == 1, images, fill)


@wrong("mask_patches", "first image's patches")
def one_mask_for_all(images, patch_size, indices, fill=0.0):
    return with_numbered_pixels(
        images, patch_size, indices[:1].expand(len(images), -1), fill
    )


@wrong("mask_patches", "everybody's patches")
def all_indices_for_all(images, patch_size, indices, fill=0.0):
    images, columns, P = images.clone(), images.shape[3] // patch_size, patch_size
    for i in indices.flatten().tolist():
        row, column = i // columns, i % columns
        images[:, :, row * P : (row + 1) * P, column * P : (column + 1) * P] = fill
    return images


@wrong("mask_patches", "counted from 1")
def numbers_from_one(images, patch_size, indices, fill=0.0):
    return with_slices(images, patch_size, indices - 1, fill)


@wrong("mask_patches", "one too late")
def counts_the_class_token(images, patch_size, indices, fill=0.0):
    return with_slices(images, patch_size, indices + 1, fill)


@wrong("mask_patches", "fill ignored")
def always_black(images, patch_size, indices, fill=0.0):
    return with_slices(images, patch_size, indices)


@wrong("mask_patches", "fill multiplied")
def multiplies(images, patch_size, indices, fill=0.0):
    return images * with_slices(torch.ones_like(images), patch_size, indices, fill)


@wrong("mask_patches", "fill added")
def adds(images, patch_size, indices, fill=0.0):
    return images + with_slices(torch.zeros_like(images), patch_size, indices, fill)


@wrong("mask_patches", "first patch alone")
def only_one(images, patch_size, indices, fill=0.0):
    return with_slices(images, patch_size, indices[:, :1], fill)


@wrong("mask_patches", "first channel alone")
def only_one_channel(images, patch_size, indices, fill=0.0):
    covered = with_slices(images, patch_size, indices, fill)
    return torch.cat([covered[:, :1], images[:, 1:]], dim=1)


@wrong("mask_patches", "none")
def returns_nothing(images, patch_size, indices, fill=0.0):
    with_slices(images, patch_size, indices, fill)


@wrong("attention_rollout", "heads averaged at the end")
def follows_each_head(weights):
    rollout = torch.eye(weights[0].shape[-1]).to(weights[0])
    for block in weights:
        rollout = (0.5 * block + 0.5 * torch.eye(block.shape[-1]).to(block)) @ rollout
    return rollout.mean(dim=1)


@wrong("attention_distance", "without itself")
def leaves_itself_out(weights, grid_size, patch_size):
    rows, columns = grid_size
    there = [(i // columns, i % columns) for i in range(rows * columns)]
    there = patch_size * torch.tensor(there).to(weights[0])
    means = []
    for block in weights:
        paid = block[..., 1:, 1:].clone()
        paid.diagonal(dim1=-2, dim2=-1).zero_()
        paid = paid / paid.sum(dim=-1, keepdim=True)
        means.append((paid * torch.cdist(there, there)).sum(-1).mean(dim=(0, 2)))
    return torch.stack(means)


@wrong("attention_distance", "not divided, and rows for columns")
def both_mistakes_of_the_exercise(weights, grid_size, patch_size):
    rows, columns = grid_size
    index = torch.arange(rows * columns)
    places = torch.stack([index // rows, index % rows], dim=1).to(weights[0])
    distances = patch_size * torch.cdist(places, places)
    means = [(block[..., 1:, 1:] * distances).sum(-1) for block in weights]
    return torch.stack([mean.mean(dim=(0, 2)) for mean in means])


@wrong("mass_inside", "rounded down")
def whole_patches(attention, boxes, image_size, patch_size):
    rows, columns = image_size[0] // patch_size, image_size[1] // patch_size
    grids = attention.reshape(-1, rows, columns)
    sides = [[side // patch_size for side in box] for box in boxes.tolist()]
    cut = zip(grids, sides, strict=True)
    return torch.stack([g[t:b, left:r].sum() for g, (t, left, b, r) in cut])


@wrong("mass_inside", "width first")
def width_before_height(attention, boxes, image_size, patch_size):
    W, H = image_size
    return mass_inside(attention, boxes, (H, W), patch_size)
