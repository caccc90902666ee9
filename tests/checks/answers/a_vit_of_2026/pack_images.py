import torch
from torch.nn import functional as F

from tests.checks.answers import wrong_edits
from vit_check.chapters.a_vit_of_2026.pack_images import one_grid  # noqa: F401
from vit_steps.variants.rotary import rope_angles


def _of_a_grid(grid, head_dim):
    angles = rope_angles(grid, head_dim, coordinates="indexed")
    return F.pad(angles, (0, 0, 1, 0))


def with_block_diag(grids, head_dim):
    angles = [_of_a_grid(grid, head_dim) for grid in grids]
    blocks = [torch.ones(len(one), len(one), dtype=torch.bool) for one in angles]
    return torch.cat(angles), torch.block_diag(*blocks).bool()


@wrong_edits("""
one class token: 1 + rows * columns for rows, columns in grids
  -> (number == 0) + rows * columns for number, (rows, columns) in enumerate(grids)
  _of_a_grid(grid, head_dim) -> _of_a_grid(grid, head_dim)[int(start > 0) :]
value: 1 + rows * columns -> rows * columns
  _of_a_grid(grid, head_dim) -> _of_a_grid(grid, head_dim)[1:]
value: angles, mask -> mask, angles
value: return angles, mask -> return angles, torch.where(mask, 0.0, -torch.inf)
""")
def with_slices(grids, head_dim):
    lengths = [1 + rows * columns for rows, columns in grids]
    angles = torch.zeros(sum(lengths), head_dim // 2)
    mask = torch.zeros(sum(lengths), sum(lengths), dtype=torch.bool)
    start = 0
    for grid, length in zip(grids, lengths, strict=True):
        end = start + length
        angles[start:end] = _of_a_grid(grid, head_dim)
        mask[start:end, start:end] = True
        start = end
    return angles, mask


@wrong_edits("""
mask open
  image.unsqueeze(0) == image.unsqueeze(1) -> image.unsqueeze(0) + image[:, None] >= 0
mask inverted: == image.unsqueeze(1) -> != image.unsqueeze(1)
causal: image.unsqueeze(0) == image.unsqueeze(1) -> (image == image[:, None]).tril()
one grid across all: return angles, -> return one_grid(grids, head_dim),
""")
def with_repeats(grids, head_dim):
    lengths = torch.tensor([1 + rows * columns for rows, columns in grids])
    image = torch.repeat_interleave(torch.arange(len(grids)), lengths)
    angles = torch.cat([_of_a_grid(grid, head_dim) for grid in grids])
    return angles, image.unsqueeze(0) == image.unsqueeze(1)
