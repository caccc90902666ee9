"""Draw windows, roll, cut, mask and roll back on 8×8 tokens, as in chapter 13.

On the page it moves, with the cat behind it (scripts/figures/swin_window.js).
"""

import torch

from book.drawings.kit import Box, Colour, Drawing
from vit_steps.variants.swin import (
    shifted_window_mask,
    window_partition,
    window_reverse,
)

SIDE, W = 8, 2
SHIFT = W // 2
COUNT = SIDE // W  # number of windows along a side
BLOCKS = 4
CHOSEN = (3, 3)  # the token whose reach is counted, and that is chosen first
BEGINS = 2  # the step that it shows first
# Tokens are grouped by the edges over which roll carried them.
GROUPS: tuple[Colour, ...] = ("soft", "patch-0", "patch-1", "patch-2")
CARRIED = ("not carried", "over the top", "sideways", "both ways")
LARGE = 30  # side of a token in the moving drawing
MAP = Box(2, 24, SIDE * LARGE, SIDE * LARGE)
# The places in the still drawing. Only what was rolled needs names, and room for them.
AT_FIRST = Box(2, 20, SIDE * 11, SIDE * 11)
ROLLED = Box(96, 20, SIDE * 18, SIDE * 18)
MASKS = Box(246, 20, SIDE * 14, SIDE * 14)
BACK = Box(2, 184, SIDE * 11, SIDE * 11)
PANEL = Box(252, 58, 104, 104)  # the table of pairs, with its row and column of tokens

names = 10 * torch.arange(SIDE)[:, None] + torch.arange(SIDE)  # (rows, columns)
rolled = names.roll((-SHIFT, -SHIFT), dims=(0, 1))
windows = window_partition(rolled[None, :, :, None], W)[..., 0]  # (windows, w²)
mask = shifted_window_mask(SIDE, SIDE, W, SHIFT)  # (windows, w², w²)
pasted = window_reverse(windows[..., None], SIDE, SIDE)[0, :, :, 0]
back = pasted.roll((SHIFT, SHIFT), dims=(0, 1))


def group(name: int) -> int:
    row, column = divmod(name, 10)
    return (row < SHIFT) + 2 * (column < SHIFT)


def sees(name: int, shifted: bool) -> set[int]:
    """Return the tokens that one token attends to in a block."""
    if not shifted:
        inside = window_partition(names[None, :, :, None], W)[..., 0].tolist()
        return set(next(window for window in inside if name in window))
    for window, allowed in zip(windows.tolist(), mask.tolist(), strict=True):
        if name in window:
            row = allowed[window.index(name)]
            return {key for key, may in zip(window, row, strict=True) if may}
    raise ValueError(f"name: got {name}, expected a token of the map")


def reach(name: int, blocks: int) -> set[int]:
    """Return the tokens that can influence one token after some blocks."""
    reached = {name}
    for block in reversed(range(blocks)):
        reached = set().union(*(sees(token, block % 2 == 1) for token in reached))
    return reached


def draw() -> Drawing:
    assert torch.equal(back, names)
    corners = ", ".join(f"{n:02}" for n in windows[-1].tolist())
    row, column = CHOSEN
    counts = [len(reach(10 * row + column, n + 1)) for n in range(BLOCKS)]
    numbers = ", ".join(map(str, counts))
    drawing = Drawing(
        "A shifted window",
        f"A map of {SIDE} by {SIDE} tokens in windows of {W} by {W}. Roll: row 0 goes "
        "to the bottom and column 0 to the right. Cut: the lines are where they were, "
        f"and the last window holds the four corners {corners}. Mask: a table of 4 by "
        "4 pairs for each window, hatched where two tokens were not carried in the "
        "same way; nine windows have no hatching, six are half hatched, and the last "
        "one keeps its diagonal. Back: the map as it was, with the lines moved by one "
        f"token. After 1 to {BLOCKS} blocks the token in row {row}, column {column} "
        f"can be reached by {numbers} tokens.",
    )
    drawing.numbers = {
        "side": SIDE,
        "window": W,
        "blocks": BLOCKS,
        "chosen": CHOSEN,
        "begins": BEGINS,
        "map": {"x": MAP.x, "y": MAP.y, "cell": LARGE},
        "masks": {"x": MASKS.x, "y": MASKS.y, "cell": MASKS.width / SIDE},
        "panel": {"x": PANEL.x, "y": PANEL.y, "cell": PANEL.width / 5},
        "groups": GROUPS,
        "bar": PANEL.width,
    }
    with drawing.part("still"):
        at_rest(drawing, counts)
    with drawing.part("stage", moving=True):
        stage(drawing)
    with drawing.part("handle-map", moving=True), drawing.part("frame"):
        drawing.frame(Box(MAP.x, MAP.y, LARGE, LARGE), around=0)
    return drawing


def at_rest(drawing: Drawing, counts: list[int]) -> None:
    """Draw every step at once, for a page that does not move."""
    for title, place, tokens, first in (
        ("In windows", AT_FIRST, names, 0),
        ("1. Roll, 2. cut", ROLLED, rolled, 0),
        ("4. Roll back", BACK, back, SHIFT),
    ):
        drawing.text(place.x, place.y - 7, title, bold=True, size=11)
        cells(drawing, place, tokens, named=place is ROLLED)
        lines(drawing, place, first)
    drawing.text(MASKS.x, MASKS.y - 7, "3. Mask", bold=True, size=11)
    with drawing.part("masks"):
        tables(drawing, MASKS)
    lines(drawing, MASKS, 0)
    legend(drawing, 108, BACK.y)
    drawing.text(240, BACK.y + 10, "Blocks and reach", bold=True, size=11)
    for index, count in enumerate(counts):
        y = BACK.y + 28 + 18 * index
        words = f"{index + 1} block{'s' * (index > 0)}"
        drawing.text(240, y, words, size=11)
        drawing.text(358, y, f"{count} tokens", size=11, anchor="end")


def stage(drawing: Drawing) -> None:
    """Draw the map that rolls, and the parts for the tokens that one token sees."""
    with drawing.part("step"):
        drawing.text(2, 15, "Windows", size=13, bold=True)
    with drawing.part("count"):
        drawing.text(358, 15, "sees 4 of 64 tokens", size=12, anchor="end")
    with drawing.part("map"):
        drawing.box(MAP.x, MAP.y, MAP.width, MAP.height, radius=0, thick=0.75)
    with drawing.part("tables"):
        drawing.full(MAP, "line")
    for first in (0, SHIFT):
        with drawing.part(f"lines-{first}"):
            lines(drawing, MAP, first)
    with drawing.part("window"):
        drawing.text(PANEL.x, 37, "who sees whom", size=12, bold=True)
        drawing.text(PANEL.x, PANEL.y - 5, "query ↓", size=12, colour="soft")
        drawing.text(
            PANEL.right, PANEL.y - 5, "key →", size=12, colour="soft", anchor="end"
        )
        with drawing.part("pairs"):
            side = PANEL.width / 5
            drawing.box(
                PANEL.x + side, PANEL.y + side, 4 * side, 4 * side, radius=0, thick=1
            )
    with drawing.part("legend"):
        legend(drawing, PANEL.x, PANEL.bottom + 14)
    with drawing.part("reach"):
        for index in range(BLOCKS):
            y = 48 + 46 * index
            with drawing.part(f"reach-{index}"):
                words = f"{index + 1} block{'s' * (index > 0)}"
                drawing.text(PANEL.x, y, words, size=12)
            with drawing.part(f"reached-{index}"):
                drawing.text(PANEL.right, y, "", size=12, bold=True, anchor="end")
            with drawing.part(f"share-{index}"):
                drawing.bar(PANEL.x, y + 7, PANEL.width, 11, 1, "asking")


def legend(drawing: Drawing, x: float, y: float) -> None:
    """Draw the legend of the colours and the hatching."""
    for number, words in enumerate(CARRIED):
        at = y + 17 * number
        colour = GROUPS[number]
        drawing.full(Box(x, at, 13, 12), colour, 0.55 if number else 0.12)
        drawing.box(x, at, 13, 12, colour=colour, ground=False, radius=0)
        drawing.text(x + 19, at + 10, words, size=12)
    at = y + 17 * len(CARRIED)
    drawing.box(x, at, 13, 12, ground=False, radius=2, thick=0.75)
    hatched(drawing, [Box(x, at, 13, 12)])
    drawing.text(x + 19, at + 10, "masked", size=12)


def cells(drawing: Drawing, place: Box, tokens: torch.Tensor, named: bool) -> None:
    """Draw the tokens in their groups' colours, and the names of those carried."""
    groups: dict[int, list[Box]] = {}
    for i, row in enumerate(tokens.tolist()):
        for j, name in enumerate(row):
            cell = place.cell(i, j, SIDE, SIDE)
            groups.setdefault(group(name), []).append(cell)
            if named and group(name):
                x, y = cell.middle, cell.centre + 4
                drawing.text(x, y, f"{name:02}", size=10.5, anchor="middle")
    for number, boxes in sorted(groups.items()):
        drawing.filled(boxes, GROUPS[number], 0.3 if number else 0.12)


def lines(drawing: Drawing, place: Box, first: int) -> None:
    """Draw the lines between windows, the first one ``first`` tokens from the edge."""
    cell = place.width / SIDE
    drawing.box(
        place.x,
        place.y,
        place.width,
        place.height,
        colour="ink",
        ground=False,
        radius=0,
        thick=2,
    )
    for index in range(first or W, SIDE, W):
        x, y = place.x + index * cell, place.y + index * cell
        drawing.line((x, place.y), (x, place.bottom), colour="ink", thick=2)
        drawing.line((place.x, y), (place.right, y), colour="ink", thick=2)


def tables(drawing: Drawing, place: Box) -> None:
    """Draw a table of pairs in each window's place, hatched where the mask forbids."""
    filled: dict[Colour, list[Box]] = {}
    forbidden = []
    for number, (inside, allowed) in enumerate(
        zip(windows.tolist(), mask.tolist(), strict=True)
    ):
        window = place.cell(*divmod(number, COUNT), COUNT, COUNT)
        for query, row in enumerate(allowed):
            for key, may in enumerate(row):
                pair = window.cell(query, key, W * W, W * W)
                pair = Box(pair.x, pair.y, pair.width - 0.6, pair.height - 0.6)
                if may:
                    filled.setdefault(GROUPS[group(inside[query])], []).append(pair)
                else:
                    forbidden.append(pair)
    for colour, pairs in filled.items():
        drawing.filled(pairs, colour, 0.2 if colour == GROUPS[0] else 0.55)
    hatched(drawing, forbidden)


def hatched(drawing: Drawing, places: list[Box]) -> None:
    """Draw three slanted lines in each place."""
    path = ""
    for place in places:
        x, y, wide, high = place.x, place.y, place.width, place.height
        for start, end in (
            ((x, y + high / 2), (x + wide / 2, y)),
            ((x, y + high), (x + wide, y)),
            ((x + wide / 2, y + high), (x + wide, y + high / 2)),
        ):
            path += f"M{start[0]:g} {start[1]:g}L{end[0]:g} {end[1]:g}"
    drawing.shape(path, "ink", 0.6)
