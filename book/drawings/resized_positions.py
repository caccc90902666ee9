"""Draw learned positions before and after they are resized to another grid.

On the page the grid, the kind of resizing and the chosen place can be changed
(scripts/figures/resized_positions.js).
"""

from functools import cache

import torch
from torch import Tensor
from torch.nn import functional as F

from book.drawings.kit import Box, Drawing
from book.drawings.position_similarity import shaded
from vit_steps import VisionTransformer

OLD = 8  # rows and columns that the positions were trained with
SIDES = range(4, 15)
P = 4  # pixels along a patch
KINDS = ("bicubic", "bilinear")
START = 12
CHOSEN = (4, 4)
SHORTCUT = 6  # side of the grid at which the shortcut, cutting off, is shown first

LEFT, RIGHT = Box(2, 40, 164, 164), Box(194, 40, 164, 164)
SCALE = Box(96, 234, 246, 9)


@cache
def products() -> Tensor:
    """Return the dot products of the trained positions of all places: (N, N)."""
    model = VisionTransformer.from_pretrained("cluttered-digits").double()
    positions = model.pos_embed.detach()[0, 1:]  # (N, D)
    return positions @ positions.T


@cache
def along(kind: str, side: int) -> Tensor:
    """Return how much each old row gives to each new one: (side, OLD).

    Columns are resized with the same weights.
    """
    rows = torch.eye(OLD, dtype=torch.float64)[None, None]  # (1, 1, OLD, OLD)
    return F.interpolate(rows, (side, OLD), mode=kind, antialias=True)[0, 0]


def shares(kind: str, side: int) -> Tensor:
    """Return how much each old place gives to each new one: (side², N)."""
    if kind == "cut off":
        return torch.eye(OLD**2, dtype=torch.float64)[: side**2]
    return torch.kron(along(kind, side), along(kind, side))


def similarity(kind: str, side: int) -> Tensor:
    """Return the cosine similarity of the positions of all new places."""
    given = shares(kind, side)
    dots = given @ products() @ given.T
    lengths = dots.diagonal().sqrt()
    return dots / lengths[:, None] / lengths


def neighbours(kind: str, side: int) -> float:
    """Return the mean similarity of two places side by side, or one above another."""
    cosines = similarity(kind, side).reshape(4 * (side,))
    at = torch.arange(side - 1)
    rows, columns = cosines[at, :, at + 1, :], cosines[:, at, :, at + 1]
    pairs = [part.diagonal(dim1=1, dim2=2) for part in (rows, columns)]
    return torch.cat(pairs).mean().item()


def old_place(place: tuple[int, int], side: int) -> tuple[int, int]:
    """Return the place of the trained grid that lies under the middle of a new one."""
    row, column = (int((index + 0.5) * OLD / side) for index in place)
    return row, column


def draw() -> Drawing:
    old, new = neighbours("bicubic", OLD), neighbours("bicubic", START)
    drawing = Drawing(
        "Positions on another grid",
        f"Two maps. At the left, the trained positions of a grid of {OLD} by {OLD}: "
        "how similar each is to that of a chosen place in the middle. At the right, "
        f"the same positions resized to {START} by {START}, seen from the same part of "
        "the picture: the spot around the chosen place is the same, drawn more finely. "
        f"Neighbours have a similarity of {old:.2f} at the left and of {new:.2f} at "
        "the right.",
    )
    lower = torch.tril_indices(OLD**2, OLD**2)
    dots = products()[lower[0], lower[1]]
    drawing.numbers = {
        "old": OLD,
        "sides": list(SIDES),
        "start": START,
        "shortcut": SHORTCUT,
        "chosen": CHOSEN,
        "pixels": P,
        "left": vars(LEFT),
        "right": vars(RIGHT),
        "products": (1000 * dots).round().int().tolist(),
        "along": {
            kind: [
                (10000 * along(kind, side).flatten()).round().int().tolist()
                for side in SIDES
            ]
            for kind in KINDS
        },
    }
    drawing.text(LEFT.x, 14, "as trained", bold=True)
    drawing.text(LEFT.x, 31, f"{OLD}×{OLD}, for {OLD * P}×{OLD * P} pixels", size=12)
    with drawing.part("kind"):
        drawing.text(RIGHT.x, 14, "bicubic", bold=True)
    with drawing.part("size"):
        pixels = START * P
        words = f"{START}×{START}, for {pixels}×{pixels} pixels"
        drawing.text(RIGHT.x, 31, words, size=12)
    for name, place, side, chosen in (
        ("old", LEFT, OLD, old_place(CHOSEN, START)),
        ("new", RIGHT, START, CHOSEN),
    ):
        values = similarity("bicubic", side)[chosen[0] * side + chosen[1]]
        with drawing.part(f"map-{name}"):
            shaded(drawing, place, values.reshape(side, side).clamp_min(0))
        with drawing.part(f"place-{name}"):
            drawing.frame(place.cell(*chosen, side, side), around=0)
        with drawing.part(f"alike-{name}"):
            alike = f"neighbours: {neighbours('bicubic', side):.2f}"
            drawing.text(place.x, place.bottom + 16, alike, size=12)
    with drawing.part("handle-place", moving=True):
        drawing.full(RIGHT, "ink", 0)
    scale(drawing)
    return drawing


def scale(drawing: Drawing) -> None:
    """Draw the scale: which share of black stands for which similarity."""
    drawing.text(2, SCALE.bottom, "similarity", size=12)
    for step in range(17):
        drawing.full(SCALE.column(step, 17), "position", step / 16)
    drawing.box(*vars(SCALE).values(), ground=False, thick=0.75, radius=0)
    below = SCALE.bottom + 14
    drawing.text(SCALE.x, below, "≤ 0", size=12)
    drawing.text(SCALE.middle, below, "0.5", size=12, anchor="middle")
    drawing.text(SCALE.right, below, "1", size=12, anchor="end")
