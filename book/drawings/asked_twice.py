"""Draw four tests that ask a model twice: what it is given, and what it answers."""

import copy
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor, nn

from book.drawings.data_flow import PICTURES, trained
from book.drawings.kit import PIXELS, Box, Drawing, number
from vit_doctor.quick import shuffle_patches
from vit_steps import data

ORDER = (1, 0, 2)  # of data_flow's three pictures; the first is followed
PICTURE, *OTHERS = (f"cluttered_digit_{PICTURES[place]}" for place in ORDER)
P, SIDE = 4, 8  # side of a patch in pixels, and patches along a side
FIRST, SECOND = 90.0, 232.0  # left edges of the image that is given
IMAGE, BARS, HIGH = 48, 60, 32  # sides; height of the longest bar
TOP, STEP = 38.0, 66.0  # of the rows
NONE = 1e-6  # logits that differ by less, in float64, are the same


@dataclass(frozen=True)
class Asked:
    """A test: its name, what is done the second time, and both answers."""

    name: str
    how: tuple[str, str]
    stays: bool
    before: Tensor
    after: Tensor


@cache
def tests() -> list[Asked]:
    """Ask the trained model of chapter 9, and check that nothing is wrong with it."""
    model, images, _, scale = trained()
    images = data.normalize(images[list(ORDER)], [scale["mean"]], [scale["std"]])
    shuffled = shuffle_patches(images, P)
    without = copy.deepcopy(model)
    nn.init.zeros_(without.pos_embed)
    with torch.no_grad():
        known, again = (model(images)[0] for _ in range(2))
        alone = model(images[:1])[0]
        moved = model(shuffled)[0]
        off, moved_off = (without(batch)[0] for batch in (images, shuffled))
    found = [
        Asked("again", ("the same", "images"), True, known, again),
        Asked("alone", ("in a batch,", "then alone"), True, known, alone),
        Asked("shuffled", ("patches change", "places"), False, known, moved),
        Asked("positions off", ("shuffled, all", "positions 0"), True, off, moved_off),
    ]
    for test in found:
        same = (test.before - test.after).abs().max().item() < NONE
        assert same == test.stays, test.name
    return found


def draw() -> Drawing:
    drawing = Drawing(
        "Four tests that ask a model twice",
        "Four rows. In each a model is given a picture of a digit, twice, and its ten "
        "logits are drawn as bars beside it. Again: the same batch of three pictures "
        "comes twice, and the bars stay as they are. Alone: the picture comes in the "
        "batch and then without the others, and the bars stay. Shuffled: the patches "
        "of the picture come in another order, and the bars must move. Positions off: "
        "in a model with all positions zero the patches are shuffled, and the bars, "
        "which differ from those of the other rows, stay.",
    )
    for x, name in ((FIRST, "first"), (SECOND, "then")):
        drawing.text(x, 14, name, size=12.5, bold=True)
        drawing.text(x + IMAGE + 8, 14, "logits", size=11, colour="soft")
    longest = max(
        t.abs().max().item() for test in tests() for t in (test.before, test.after)
    )
    for row, test in enumerate(tests()):
        y = TOP + row * STEP
        if row:
            line = (2, y - 11), (358, y - 11)
            drawing.line(*line, colour="soft", thick=0.75, dashed=True)
        drawing.text(2, y + 12, test.name, bold=True)
        drawing.lines(2, y + 27, *test.how, size=10.5)
        batch = test.name in ("again", "alone")
        given(drawing, FIRST, y, among_others=batch)
        given(
            drawing,
            SECOND,
            y,
            among_others=test.name == "again",
            shuffled=test.name not in ("again", "alone"),
        )
        for x, answer in ((FIRST, test.before), (SECOND, test.after)):
            bars(drawing, x + IMAGE + 8, y, answer / longest)
        drawing.text(
            (FIRST + IMAGE + 8 + BARS + SECOND) / 2,
            y + IMAGE / 2 + 6,
            "=" if test.stays else "≠",
            size=18,
            bold=True,
            anchor="middle",
        )
    return drawing


def given(
    drawing: Drawing, x: float, y: float, among_others: bool, shuffled: bool = False
) -> None:
    """Draw the picture that is given, before others or with its patches shuffled."""
    place = Box(x, y, IMAGE, IMAGE)
    if among_others:
        side = IMAGE - 8
        for behind, name in reversed(list(enumerate(OTHERS, start=1))):
            other = Box(x + 4 * behind, y + 8 - 4 * behind, side, side)
            drawing.photograph(other, name)
            drawing.box(*edges(other), ground=False, radius=0)
        place = Box(x, y + 8, side, side)
    if shuffled:
        numbers = torch.arange(SIDE**2, dtype=torch.float64).view(1, 1, SIDE, SIDE)
        order = shuffle_patches(numbers, 1).flatten().int().tolist()
        pixels = PIXELS // SIDE
        for cell, patch in enumerate(order):
            row, column = divmod(patch, SIDE)
            piece = Box(column * pixels, row * pixels, pixels, pixels)
            drawing.photograph(
                place.cell(*divmod(cell, SIDE), SIDE, SIDE), PICTURE, piece
            )
    else:
        drawing.photograph(place, PICTURE)
    drawing.box(*edges(place), ground=False, radius=0)


def edges(place: Box) -> tuple[float, float, float, float]:
    return place.x, place.y, place.width, place.height


def bars(drawing: Drawing, x: float, y: float, shares: Tensor) -> None:
    """Draw logits, as shares of the largest, as bars up and down from a line."""
    zero, step = y + 34, BARS / len(shares)
    places = []
    for k, share in enumerate(shares.tolist()):
        high = max(abs(share) * HIGH, 0.5)
        top = zero - high if share > 0 else zero
        places.append(Box(x + k * step + 0.75, top, step - 1.5, high))
    drawing.filled(places, "ink")
    drawing.shape(f"M{number(x)} {number(zero)}h{BARS}", "line", 1)
