"""Draw chapter 3's class token in front of two images, and how its gradient adds up."""

from collections.abc import Sequence

import torch
from torch import Tensor

from book.drawings.kit import Box, Colour, Drawing
from vit_steps.embedding import prepend_tokens

CLASS = 9.0
PATCHES = torch.arange(24.0).reshape(2, 3, 4)  # (B, N, D)
PULLS = torch.tensor([[1.0, 2.0, 3.0, 4.0], [10.0, 20.0, 30.0, 40.0]])  # (B, D)
COLOURS: tuple[Colour, ...] = ("patch-0", "patch-1")  # of the images

CELL = 23.0
MIDDLES = (116.0, 282.0)  # of the images
CENTRE = sum(MIDDLES) / 2
NAMES = 64.0  # right edge of the names of the rows


def draw() -> Drawing:
    cls_token = torch.full((1, 1, 4), CLASS, requires_grad=True)
    tokens = prepend_tokens(PATCHES, cls_token)  # (B, T, D)
    loss = (tokens[:, 0] * PULLS).sum()
    (gradient,) = torch.autograd.grad(loss, cls_token)
    drawing = Drawing(
        "One class token, two images, one gradient",
        f"At the top one row, the class token, {listed(cls_token[0, 0])}. Two arrows "
        "lead from it to the first rows of two images, which have three patches each "
        "below it. Below each image is its pull on the class token, "
        f"{listed(PULLS[0])} and {listed(PULLS[1])}. Two arrows lead from the pulls to "
        f"one row, their sum, which is the gradient: {listed(gradient[0, 0])}.",
    )
    top = row(drawing, CENTRE, 4, cls_token[0, 0], "class", thick=2.25)
    drawing.text(NAMES + 56, 20, "cls_token", size=11.5, code=True, anchor="end")
    drawing.text(top.right + 8, 20, "there is only one", size=11, colour="soft")
    drawing.text(CENTRE, 61, "expand", size=11.5, code=True, anchor="middle")
    for index, (middle, colour) in enumerate(zip(MIDDLES, COLOURS, strict=True)):
        fork(drawing, top.bottom + 3, 43, middle, 76)
        image(drawing, index, middle, tokens[index], colour)
    y = 225.0
    drawing.text(NAMES, y + 16, "pull", size=11.5, anchor="end")
    for pull, middle, colour in zip(PULLS, MIDDLES, COLOURS, strict=True):
        place = row(drawing, middle, y, pull, colour, thick=1.75)
        drawing.arrow((middle, y - 20), (middle, y - 3), colour=colour)
        drawing.line((middle, place.bottom + 3), (middle, 267), (CENTRE, 267))
    drawing.circle(CENTRE, 267, 9, "class", thick=1.75)
    drawing.text(CENTRE, 272, "+", size=14, bold=True, anchor="middle")
    drawing.arrow((CENTRE, 276), (CENTRE, 293))
    total = row(drawing, CENTRE, 296, gradient[0, 0], "class", thick=2.25)
    drawing.text(total.x - 8, 312, "cls_token.grad", size=11.5, code=True, anchor="end")
    drawing.text(total.right + 8, 312, "the sum", size=11, colour="soft")
    return drawing


def row(
    drawing: Drawing,
    middle: float,
    y: float,
    numbers: Tensor,
    colour: Colour,
    thick: float = 1,
) -> Box:
    """Draw a vector as a row of cells."""
    written = [whole(number) for number in numbers.tolist()]
    x = middle - len(written) * CELL / 2
    return drawing.cells(x, y, [written], (CELL, CELL), colour, thick=thick)


def fork(drawing: Drawing, y: float, bend: float, middle: float, end: float) -> None:
    """Draw an arrow from the class token to an image."""
    drawing.arrow(
        (CENTRE, y), (CENTRE, bend), (middle, bend), (middle, end), colour="class"
    )


def image(
    drawing: Drawing, index: int, middle: float, tokens: Tensor, colour: Colour
) -> None:
    """Draw the tokens of an image, and its name below."""
    first, *patches = tokens
    top = row(drawing, middle, 79, first, "class", thick=2.25)
    rows = [[whole(number) for number in patch.tolist()] for patch in patches]
    below = drawing.cells(top.x, top.bottom + 3, rows, (CELL, CELL), colour)
    drawing.text(
        middle, below.bottom + 16, f"image {index}", bold=True, anchor="middle"
    )
    if index == 0:
        names: Sequence[tuple[str, Box]] = [
            ("class token", top),
            *((f"patch {i}", below.row(i, len(rows))) for i in range(len(rows))),
        ]
        for name, place in names:
            drawing.text(
                NAMES, place.centre + 4, name, size=11, anchor="end", colour="soft"
            )


def whole(number: float) -> str:
    return f"{number:.0f}"


def listed(numbers: Tensor) -> str:
    return ", ".join(whole(number) for number in numbers.tolist())
