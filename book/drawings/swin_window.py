"""Rolled, cut, masked and rolled back: the map of 4 × 6 tokens of chapter 13."""

import torch

from book.drawings.kit import Box, Colour, Drawing, Word
from vit_steps.variants.swin import (
    shifted_window_mask,
    window_partition,
    window_reverse,
)

ROWS, COLUMNS, W = 4, 6, 2
SHIFT = W // 2
CELL = 22
# How roll carried a token: not at all, over the top, sideways, both ways.
GROUPS: tuple[Colour, ...] = ("soft", "patch-0", "patch-1", "patch-2")

names = 10 * torch.arange(ROWS)[:, None] + torch.arange(COLUMNS)  # (rows, columns)
rolled = names.roll((-SHIFT, -SHIFT), dims=(0, 1))
windows = window_partition(rolled[None, :, :, None], W)[..., 0]  # (windows, w²)
mask = shifted_window_mask(ROWS, COLUMNS, W, SHIFT)  # (windows, w², w²)
pasted = window_reverse(windows[..., None], ROWS, COLUMNS)[0, :, :, 0]
back = pasted.roll((SHIFT, SHIFT), dims=(0, 1))


def group(name: int) -> int:
    row, column = divmod(name, 10)
    return (row < SHIFT) + 2 * (column < SHIFT)


def draw() -> Drawing:
    assert torch.equal(back, names)
    corners = ", ".join(f"{n:02}" for n in windows[-1].tolist())
    drawing = Drawing(
        "A shifted window",
        "A map of 4 rows and 6 columns of tokens, named by row and column. Roll: row 0 "
        "goes to the bottom and column 0 to the right. Cut: six windows of four "
        f"tokens; the last holds the four corners {corners}. Mask: a square of pairs "
        "for each window. Two tokens may attend to each other if both were carried in "
        "the same way or both stayed. The first two windows allow all 16 pairs, three "
        "allow 8, and the last only the 4 on its diagonal. Back: pasted and rolled "
        "back, each token is where it was.",
    )
    before, after = Box(2, 24, COLUMNS * CELL, ROWS * CELL), Box(0, 0, 0, 0)
    drawing.text(2, 15, "The map", bold=True, size=13)
    cells(drawing, before, names)
    right = drawing.width - COLUMNS * CELL - 2
    after = Box(right, 24, COLUMNS * CELL, ROWS * CELL)
    drawing.text(right, 15, "1. Roll, 2. cut", bold=True, size=13)
    cells(drawing, after, rolled)
    cuts(drawing, after)
    y = before.centre
    drawing.arrow((before.right + 6, y), (after.x - 6, y), thick=1.5)
    middle = (before.right + after.x) / 2
    drawing.text(middle, y - 8, "up and", size=11, colour="soft", anchor="middle")
    drawing.text(middle, y + 17, "left by 1", size=11, colour="soft", anchor="middle")

    drawing.text(2, 140, "3. Mask", bold=True, size=13)
    drawing.text(
        68, 140, "row: the query; column: the key; filled: may attend", size=11
    )
    for number, (inside, allowed) in enumerate(zip(windows, mask, strict=True)):
        row, column = divmod(number, COLUMNS // W)
        square(drawing, 2 + 122 * column, 162 + 104 * row, inside, allowed)

    top = 384
    drawing.text(2, top, "4. Paste, 5. roll back", bold=True, size=13)
    end = Box(2, top + 9, COLUMNS * CELL, ROWS * CELL)
    cells(drawing, end, back)
    x = end.right + 18
    drawing.text(x, top + 20, "What the colours say", bold=True, size=11.5)
    for number, said in enumerate(
        ("not carried", "over the top", "sideways", "both ways")
    ):
        at = top + 30 + 18 * number
        drawing.box(x, at, 14, 13, colour=GROUPS[number], radius=2, thick=1.25)
        drawing.text(x + 20, at + 11, f"{said} in the roll", size=11.5)
    return drawing


def cells(drawing: Drawing, place: Box, tokens: torch.Tensor) -> None:
    for i, row in enumerate(tokens.tolist()):
        for j, name in enumerate(row):
            cell = place.cell(i, j, ROWS, COLUMNS)
            drawing.box(
                cell.x,
                cell.y,
                CELL,
                CELL,
                f"{name:02}",
                colour=GROUPS[group(name)],
                radius=0,
                thick=0.75,
                size=11.5,
                bold=group(name) > 0,
            )


def cuts(drawing: Drawing, place: Box) -> None:
    """Thick lines around the windows."""
    for i in range(0, ROWS, W):
        for j in range(0, COLUMNS, W):
            cell = place.cell(i // W, j // W, ROWS // W, COLUMNS // W)
            drawing.box(
                cell.x,
                cell.y,
                cell.width,
                cell.height,
                colour="ink",
                ground=False,
                radius=0,
                thick=2.25,
            )


def square(
    drawing: Drawing, x: float, y: float, inside: torch.Tensor, allowed: torch.Tensor
) -> None:
    """One window's mask, with the names of its tokens along both sides."""
    said = [f"{name:02}" for name in inside.tolist()]
    place = Box(x + 18, y + 4, 4 * CELL, 4 * 18)
    for k, name in enumerate(said):
        colour = GROUPS[group(int(name))]
        ink: Colour = "ink" if colour == "soft" else colour
        drawing.text(
            place.column(k, 4).middle,
            y,
            Word(name, ink),
            size=11,
            anchor="middle",
        )
        drawing.text(
            x + 15, place.row(k, 4).centre + 4, Word(name, ink), size=11, anchor="end"
        )
    drawing.cells(
        place.x,
        place.y,
        [[""] * 4] * 4,
        (CELL, 18),
        colour="ink",
        ground=False,
        strengths=allowed.double().mul(0.75).tolist(),
    )
