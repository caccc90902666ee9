"""Draw rollout as paths: three tokens, two blocks, with the numbers of chapter 9."""

import torch

from book.drawings.kit import Box, Colour, Drawing, Word
from vit_steps.attention_maps import attention_rollout

FIRST = [[0.2, 0.4, 0.4], [0.0, 0.1, 0.9], [0.0, 0.5, 0.5]]
SECOND = [[0.0, 0.8, 0.2], [0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]
TOKENS: tuple[tuple[str, Colour, float], ...] = (  # name, colour, darkness in print
    ("class token", "class", 0.7),
    ("patch 1", "patch-0", 0.35),
    ("patch 2", "patch-2", 1),
)
LEFT, STEP, WIDE, HIGH = 74, 98, 88, 16  # bars: left edge, distance, width, height
HEAVY = 9  # thickness of a line that carries a share of 1


def draw() -> Drawing:
    tables = [torch.tensor(t, dtype=torch.float64) for t in (FIRST, SECOND)]
    drawing = Drawing("Rollout follows the paths", description_of(tables))
    bottom = panel(drawing, 0, tables, 0.0, "Attention alone")
    panel(drawing, bottom + 30, tables, 0.5, "If half of each token stays as it is")
    return drawing


def passed(tables: list[torch.Tensor], residual: float) -> list[torch.Tensor]:
    """Return the mixture in each token: at the input, after one block, after two."""
    after = [
        attention_rollout([t[None, None] for t in tables[:depth]], residual)[0]
        for depth in (1, 2)
    ]
    return [torch.eye(3, dtype=torch.float64), *after]


def description_of(tables: list[torch.Tensor]) -> str:
    alone, half = (passed(tables, residual)[2][0] for residual in (0.0, 0.5))
    return (
        "Twice three tokens, from top to bottom: at the input, after one block, and "
        "the class token after two. Each is a bar that says of which input tokens it "
        "consists, and lines lead from the tokens that it takes to the token that "
        "takes them, thicker for a larger share. With attention alone, token 1 after "
        "one block is 0.1 of patch 1 and 0.9 of patch 2, and the class token takes 0.8 "
        f"of it. It ends with {alone[1]:.2f} of patch 1 and {alone[2]:.2f} of patch 2. "
        "If half of each token stays as it is, the class token ends with "
        f"{half[0]:.2f} of itself, {half[1]:.3f} of patch 1 and {half[2]:.3f} of "
        "patch 2."
    )


def panel(
    drawing: Drawing,
    top: float,
    tables: list[torch.Tensor],
    residual: float,
    title: str,
) -> float:
    """Draw the paths to the class token, and return the panel's lower end."""
    contents = passed(tables, residual)
    blocks = [
        residual * torch.eye(3, dtype=torch.float64) + (1 - residual) * table
        for table in tables
    ]
    drawing.text(2, top + 13, title, bold=True)
    rows = [top + 36, top + 112, top + 204]
    for y, name in zip(
        rows, ("input", "after one block", "after two blocks"), strict=True
    ):
        head, *rest = name.split(" ", 1)
        drawing.text(2, y + (6 if rest else 12), head, size=11, colour="soft")
        if rest:
            drawing.text(2, y + 20, *rest, size=11, colour="soft")
    bars = [[Box(LEFT + i * STEP, y, WIDE, HIGH) for i in range(3)] for y in rows[:2]]
    last = Box(LEFT, rows[2], 3 * STEP - (STEP - WIDE), HIGH)

    used = [share > 0 for share in blocks[1][0].tolist()]
    for to in range(3):
        for source in range(3):
            share = blocks[0][to, source].item()
            if used[to] and share > 0:
                lead(drawing, bars[0][source], bars[1][to], share, TOKENS[source][1])
    for source in range(3):
        share = blocks[1][0, source].item()
        if share > 0:
            place = bars[1][source]
            below = Box(place.x, place.y, WIDE, HIGH + 18)
            straight = Box(place.x, last.y, WIDE, HIGH)
            lead(drawing, below, straight, share, "line")
            drawing.text(
                place.middle + 9,
                last.y - 20,
                f"{share:.1f}",
                size=12,
                bold=True,
            )
    for source, (name, colour, _) in enumerate(TOKENS):
        bar(drawing, bars[0][source], contents[0][source])
        drawing.text(
            bars[0][source].middle,
            bars[0][source].y - 5,
            name,
            size=11,
            colour=colour,
            anchor="middle",
            bold=True,
        )
        if used[source]:
            bar(drawing, bars[1][source], contents[1][source])
            numbers(drawing, bars[1][source], contents[1][source])
        else:
            drawing.text(
                bars[1][source].middle,
                bars[1][source].y + 12,
                "not taken",
                size=11,
                colour="soft",
                anchor="middle",
            )
    parts = bar(drawing, last, contents[2][0])
    for part, (_, colour, _) in zip(parts, TOKENS, strict=True):
        if part.width > 0:
            share = part.width / last.width
            drawing.text(
                part.middle,
                last.bottom + 14,
                f"{share:.3f}" if residual else f"{share:.2f}",
                colour=colour,
                anchor="middle",
                bold=True,
            )
    if not residual:
        counted(drawing, last.bottom + 17, blocks)
    return last.bottom + (54 if not residual else 18)


def lead(drawing: Drawing, source: Box, to: Box, share: float, colour: Colour) -> None:
    """Draw a line from one token to another, as thick as the share that it carries."""
    drawing.line(
        (source.middle, source.bottom),
        (to.middle, to.y),
        colour=colour,
        thick=HEAVY * share,
    )


def bar(drawing: Drawing, place: Box, content: torch.Tensor) -> list[Box]:
    """Draw a token as a bar of its parts, and return the places of the parts."""
    x = place.x
    parts = []
    for share, (_, colour, dark) in zip(content.tolist(), TOKENS, strict=True):
        parts.append(Box(x, place.y, share * place.width, place.height))
        if share > 0:
            drawing.full(parts[-1], colour, dark)
        x = parts[-1].right
    drawing.box(
        place.x,
        place.y,
        place.width,
        place.height,
        ground=False,
        radius=0,
        colour="ink",
    )
    return parts


def numbers(drawing: Drawing, place: Box, content: torch.Tensor) -> None:
    """Write the shares below a bar, each in its token's colour."""
    words: list[str | Word] = []
    for share, (_, colour, _) in zip(content.tolist(), TOKENS, strict=True):
        if share > 0:
            words += ["  "] * bool(words) + [Word(f"{share:.2f}", colour, bold=True)]
    drawing.text(place.middle, place.bottom + 14, *words, size=11, anchor="middle")


def counted(drawing: Drawing, y: float, blocks: list[torch.Tensor]) -> None:
    """Write the sum over the paths from each patch; along a path shares multiply."""
    for source in (1, 2):
        name, colour, _ = TOKENS[source]
        pairs = [
            (blocks[1][0, between].item(), blocks[0][between, source].item())
            for between in (1, 2)
        ]
        paths = " + ".join(f"{later:.1f}·{former:.1f}" for later, former in pairs)
        total = sum(later * former for later, former in pairs)
        words = (Word(f"{name}:  ", colour, bold=True), f"{paths} = {total:.2f}")
        drawing.text(LEFT, y + 17 * source, *words)
