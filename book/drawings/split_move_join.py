"""Draw split, move, join: chapter 2's image of 4×4 numbers and its four patches.

On the page it moves, step by step (scripts/figures/split_move_join.js).
"""

from collections.abc import Sequence
from itertools import groupby

import torch

from book.drawings.kit import Anchor, Box, Colour, Drawing, Word

SIDE, P = 4, 2  # sides of the image and of a patch
ROWS = SIDE // P
CELL, SMALL = 22, 17  # sides of the cells of a matrix and of a strip
LARGE, READ = 34, 22  # the same in the moving drawing
LEFT = 74
COLOURS: tuple[Colour, ...] = ("patch-0", "patch-1", "patch-2", "patch-3")

image = torch.arange(SIDE**2).reshape(SIDE, SIDE)  # (H, W)
split = image.reshape(ROWS, P, ROWS, P)  # (rows, P, columns, P)
moved = split.permute(0, 2, 1, 3)  # (rows, columns, P, P)
joined = moved.reshape(ROWS**2, P**2)  # (N, P·P)
not_moved = split.reshape(ROWS**2, P**2)  # (N, P·P)


def draw() -> Drawing:
    drawing = Drawing(
        "Split, move, join",
        "Split: an image of the numbers 0 to 15 in 2 rows and 2 columns of patches, "
        "shape (2, 2, 2, 2). In reading order the numbers still run from 0 to 15, and "
        "the patches take turns. Move: four pairs of numbers change places, so that "
        f"the order is {listed(moved.flatten())}, one patch after the other. Join: "
        f"a matrix of four rows, one a patch, the first of them {listed(joined[0])}. "
        "Joined without the move, the first row is "
        f"{listed(not_moved[0])}, and every row has numbers of two patches.",
    )
    drawing.numbers = {"side": SIDE, "patch": P, "cell": LARGE, "read": READ}
    with drawing.part("still"):
        at_rest(drawing)
    with drawing.part("stage", moving=True):
        on_the_move(drawing)
    return drawing


def at_rest(drawing: Drawing) -> None:
    """Draw every step at once, for a page that does not move."""
    named(drawing, 36, "Split", split, "rows, P,", "columns, P")
    in_place(drawing)
    before = strip(drawing, 118, split)
    drawing.arrow((before.middle, 102), (before.middle, before.y - 2))
    named(drawing, 153, "Move", moved, "rows,", "columns, P, P")
    after = strip(drawing, 202, moved)
    pairs_move(drawing, before, after)
    for patch in range(ROWS**2):
        group = after.column(patch, ROWS**2)
        called(drawing, group.middle, after.bottom + 14, patch, "middle")

    named(drawing, 294, "Join", joined, "N, P·P")
    right = matrix(drawing, 98, 268, joined)
    drawing.arrow((right.middle, after.bottom + 2), (right.middle, right.y - 2))
    for patch in range(ROWS**2):
        called(drawing, right.x - 5, right.row(patch, 4).centre + 4, patch, "end")
    drawing.lines(right.middle, 371, "Each row", "is one patch.", anchor="middle")

    wrong = matrix(drawing, 214, 268, not_moved)
    x, y = before.right + 7, before.centre
    drawing.arrow(
        (before.right + 2, y),
        (x, y),
        (x, 249),
        (wrong.middle, 249),
        (wrong.middle, wrong.y - 2),
        dashed=True,
    )
    for row, numbers in enumerate(not_moved):
        mixed = sorted({patch_of(number) for number in numbers.tolist()})
        drawing.text(
            wrong.right + 5,
            wrong.row(row, 4).centre + 4,
            " and ".join(str(patch) for patch in mixed),
            size=11,
            colour="soft",
        )
    drawing.lines(
        wrong.middle,
        371,
        [Word("Without the move", "ink", bold=True)],
        "each row mixes two.",
        anchor="middle",
    )


def on_the_move(drawing: Drawing) -> None:
    """Draw the moving cells; the script puts them in their places."""
    with drawing.part("step"):
        drawing.text(4, 18, "an image", size=14, bold=True)
    with drawing.part("shape"):
        drawing.text(356, 18, f"{(SIDE, SIDE)}", size=13, anchor="end")
    drawing.text(4, 296, "the same numbers, read in order", size=12, colour="soft")
    for name, side in (("cell", LARGE), ("read", READ)):
        for number in range(SIDE**2):
            with drawing.part(f"{name}-{number}"):
                patch = patch_of(number)
                written = [[str(number)]]
                cell = (side, side)
                colour = COLOURS[patch]
                drawing.cells(0, 0, written, cell, colour, size=0.11 * side + 9.6)
    for row in range(ROWS**2):
        with drawing.part(f"row-{row}"):
            drawing.text(0, 0, "", size=12, colour="soft", anchor="end")
        with drawing.part(f"holds-{row}"):
            drawing.text(0, 0, "", size=12)
    with drawing.part("code"):
        drawing.text(4, 362, "", size=12, code=True)


def patch_of(number: int) -> int:
    """Return the patch that a number of the image belongs to, from 0 to 3."""
    return joined.flatten().tolist().index(number) // P**2


def named(
    drawing: Drawing, y: float, name: str, made: torch.Tensor, *axes: str
) -> None:
    """Write a step at the left: its name, its output's shape, and the axes' names."""
    drawing.text(2, y, name, bold=True, size=13)
    drawing.lines(2, y + 15, f"{tuple(made.shape)}", *axes, size=10.5)


def called(drawing: Drawing, x: float, y: float, patch: int, anchor: Anchor) -> None:
    drawing.text(x, y, f"patch {patch}", size=11, colour=COLOURS[patch], anchor=anchor)


def in_place(drawing: Drawing) -> None:
    """Draw the image with its patches a little apart, each with its name beside it."""
    width = P * CELL
    left = LEFT + SIDE**2 * SMALL / 2 - width - 4
    for patch, numbers in enumerate(moved.reshape(ROWS**2, P, P).tolist()):
        row, column = divmod(patch, ROWS)
        place = drawing.cells(
            left + column * (width + 8),
            4 + row * (width + 8),
            [[str(number) for number in line] for line in numbers],
            (CELL, CELL),
            COLOURS[patch],
            thick=1.5,
        )
        if column == 0:
            called(drawing, place.x - 6, place.centre + 4, patch, "end")
        else:
            called(drawing, place.right + 6, place.centre + 4, patch, "start")


def row_of_patches(
    drawing: Drawing, x: float, y: float, numbers: Sequence[int], cell: float
) -> Box:
    """Draw a row of numbers, each in the colour of its patch."""
    start = x
    for patch, run in groupby(numbers, patch_of):
        written = [str(number) for number in run]
        place = drawing.cells(
            start,
            y,
            [written],
            (cell, cell),
            COLOURS[patch],
            thick=1.5,
            size=0.2 * cell + 7.1,
        )
        start = place.right
    return Box(x, y, start - x, cell)


def strip(drawing: Drawing, y: float, numbers: torch.Tensor) -> Box:
    """Draw all numbers in the order in which the tensor stores them."""
    drawing.text(2, y + 13, "flattened", size=10.5, colour="soft")
    return row_of_patches(drawing, LEFT, y, numbers.flatten().tolist(), SMALL)


def pairs_move(drawing: Drawing, before: Box, after: Box) -> None:
    """Draw an arrow from each pair of neighbours to its new place."""
    old, new = split.flatten().tolist(), moved.flatten().tolist()
    for number in old[::P]:
        x1 = before.column(old.index(number), SIDE**2).right
        x2 = after.column(new.index(number), SIDE**2).right
        drawing.arrow(
            (x1, before.bottom + 2),
            (x1, before.bottom + 12),
            (x2, after.y - 14),
            (x2, after.y - 2),
            colour=COLOURS[patch_of(number)],
            thick=1.75,
        )


def matrix(drawing: Drawing, x: float, y: float, rows: torch.Tensor) -> Box:
    for i, numbers in enumerate(rows.tolist()):
        row_of_patches(drawing, x, y + i * CELL, numbers, CELL)
    return Box(x, y, P**2 * CELL, ROWS**2 * CELL)


def listed(numbers: torch.Tensor) -> str:
    return ", ".join(str(number) for number in numbers.tolist())
