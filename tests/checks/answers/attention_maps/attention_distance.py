import math

import torch
from torch.nn import functional as F

from tests.checks.answers import right, wrong
from tests.checks.answers.attention_maps.shared import grid
from vit_steps.attention_maps import (
    attention_distance,
)

right("attention_distance")(attention_distance)


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


@wrong("attention_distance", "squared in pixels")
def squared_in_pixels(weights, grid_size, patch_size):
    rows, columns = grid_size
    index = torch.arange(rows * columns)
    places = torch.stack([index // columns, index % columns], dim=1) * patch_size
    distances = (places[:, None] - places).square().sum(dim=-1).to(weights[0])
    means = []
    for block in weights:
        shares = block[..., 1:, 1:]
        shares = shares / shares.sum(dim=-1, keepdim=True)
        means.append((shares * distances).sum(dim=-1).mean(dim=(0, 2)))
    return torch.stack(means)
