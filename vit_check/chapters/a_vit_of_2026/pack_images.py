import itertools
from typing import Any

import torch
from torch import Tensor

from vit_check.chapters.a_vit_of_2026.grid_angles import grid_angles
from vit_check.engine.drawing import Answer
from vit_check.engine.findings import Trouble
from vit_check.engine.functions import checked_by


def one_grid(grids: list[tuple[int, int]], head_dim: int) -> Tensor:
    """Return angles for which each image begins in the row below the one before."""
    above, found = 0, []
    for rows, columns in grids:
        angles = grid_angles.reference(above + rows, columns, head_dim)
        found += [angles[:1], angles[1 + above * columns :]]
        above += rows
    return torch.cat(found)


def _token_by_token(
    pack: Answer, grids: list[tuple[int, int]], head_dim: int
) -> dict[str, Any]:
    """Return each token's angles, and for each pair of tokens what the mask says."""
    output = pack(grids, head_dim)
    parts = output if isinstance(output, tuple | list) else ()
    if [isinstance(part, Tensor) for part in parts] != [True, True]:
        raise Trouble("type", "is to return two tensors, the angles and the mask")
    angles, mask = output[0].float(), output[1]
    kinds = [f"{tuple(x.shape)} {str(x.dtype)[6:]}" for x in (angles, mask)]
    seen: dict[str, Any] = {"what is returned": " and ".join(kinds)}
    names = [
        f"{f'patch {n - 1}' if n else 'the class token'} of image {image}"
        for image, (rows, columns) in enumerate(grids)
        for n in range(1 + rows * columns)
    ]
    T = len(names)
    if len(angles) == T and mask.shape == (T, T) and mask.dtype == torch.bool:
        for at, (name, row) in enumerate(zip(names, angles, strict=True)):
            seen[f"what is at place {at}, that of {name},"] = row
        pairs = itertools.product(names, names)
        for (one, other), may in zip(pairs, mask.flatten().tolist(), strict=True):
            seen[f"{one} looking at {other}"] = "allowed" if may else "forbidden"
    return seen


TABLE = """
pack_images(grids, head_dim) -> angles (T, d/2), mask (T, T)
  [(2, 3), (4, 2)], 8
  [(1, 4), (3, 2), (1, 4)], 12
  [(3, 3)], 8
mask open: == image -> >= 0 * image
    every token may look at all others, so the images see each other
mask inverted: == image -> != image
    True and False are exchanged: True is to stand for a pair that may be attended
causal: == image -> == image; mask = mask.tril()
    a token may look only at itself and those before it, expected at its whole image
one grid across all: torch.cat(angles) -> one_grid(grids, head_dim)
    the rows go on where the image before ended, expected to begin at 0 in each
two images: enumerate(grids) -> enumerate(grids[:2])
    only the first two images are packed, however many there are
blocks without class tokens: [number] * (1 + -> [number] * (
  image = torch.tensor(numbers) -> image = torch.tensor(numbers + [number] * len(grids))
    the mask's blocks have N tokens, and are too short by the class token
one class token: 1 + rows * columns -> (number == 0) + rows * columns
  columns, head_dim) -> columns, head_dim)[int(number > 0) :]
    there is one class token for all images, expected one before the patches of each
? Write down for every token of the sequence which image it belongs to.
? A number for each token, that of its image: two tokens may look at each other if their
  numbers are equal. The angles of the images come one after another.
? torch.cat of the grid_angles(rows, columns, head_dim), and image[:, None] == image.
"""


@checked_by(TABLE, scenario=_token_by_token)
def pack_images(grids: list[tuple[int, int]], head_dim: int) -> tuple[Tensor, Tensor]:
    angles, numbers = [], []
    for number, (rows, columns) in enumerate(grids):
        angles.append(grid_angles.reference(rows, columns, head_dim))
        numbers += [number] * (1 + rows * columns)
    image = torch.tensor(numbers)
    mask = image[:, None] == image
    return torch.cat(angles), mask
