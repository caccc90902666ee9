"""Draw what each of two GPUs has when a training is divided in five ways."""

from collections.abc import Callable
from dataclasses import dataclass

from book.drawings.kit import Box, Colour, Drawing, Word

IMAGES = TOKENS = BLOCKS = 4
COLOURS: tuple[Colour, ...] = ("patch-0", "patch-1")  # of GPU 0 and GPU 1
LEFT, STEP = 138, 124  # left edge of GPU 0, and from there to GPU 1's
TOP, DOWN = 50, 74  # upper edge of the first way, and from there to the next
SIDE, WIDE, HIGH = 13, 32, 10  # a token, a block
GAP, APART = 4, 10  # between blocks, and between tokens and blocks
WHOLE = TOKENS * SIDE + APART + WIDE


@dataclass(frozen=True)
class Way:
    """A way to divide: what it sends, and what the GPU of a rank has."""

    name: str
    divides: str
    sends: tuple[str, ...]
    token: Callable[[int, int, int], bool]  # rank, image, token
    block: Callable[[int, int], bool]  # rank, block: with a part of its weights
    half: bool = False  # has only its half of a block's weights
    gathers: bool = False  # gets the other half while the block computes


def second(index: int, count: int) -> int:
    """Return 1 if an index is in the second half."""
    return int(2 * index >= count)


def always(*_: int) -> bool:
    return True


WAYS = (
    Way(
        "DDP",
        "images",
        ("gradients,", "once a step"),
        lambda rank, image, _: second(image, IMAGES) == rank,
        always,
    ),
    Way(
        "FSDP",
        "images, weights",
        ("weights", "and gradients"),
        lambda rank, image, _: second(image, IMAGES) == rank,
        always,
        half=True,
        gathers=True,
    ),
    Way(
        "tensor parallel",
        "every matrix",
        ("activations,", "in every block"),
        always,
        always,
        half=True,
    ),
    Way(
        "pipeline parallel",
        "blocks",
        ("activations, from", "one GPU to the next"),
        always,
        lambda rank, block: second(block, BLOCKS) == rank,
    ),
    Way(
        "context parallel",
        "tokens",
        ("keys and values,", "in every block"),
        lambda rank, _, token: second(token, TOKENS) == rank,
        always,
    ),
)


def draw() -> Drawing:
    drawing = Drawing(
        "What is divided",
        f"Two GPUs, a batch of {IMAGES} images of {TOKENS} tokens and a model of "
        f"{BLOCKS} blocks, divided in five ways. DDP: each GPU has half of the images "
        "and all blocks; gradients are sent once a step. FSDP: the same, but each "
        "stores half of every block's weights and gets the other half while the block "
        "computes; weights and gradients of each block are sent. Tensor parallel: both "
        "have all images and half of every block, and activations are sent in every "
        "block. Pipeline parallel: both have all images, GPU 0 the first two blocks "
        "and GPU 1 the last two, and activations are sent from one to the other. "
        "Context parallel: each has half of the tokens of every image and all blocks, "
        "and keys and values are sent in every block.",
    )
    for rank in range(len(COLOURS)):
        x = LEFT + rank * STEP
        middle = x + WHOLE / 2
        drawing.text(middle, 13, f"GPU {rank}", bold=True, anchor="middle")
        drawing.text(
            x + TOKENS * SIDE / 2, 34, "tokens", size=11, colour="soft", anchor="middle"
        )
        drawing.text(
            x + WHOLE - WIDE / 2,
            34,
            "blocks",
            size=11,
            colour="soft",
            anchor="middle",
        )
    for index, way in enumerate(WAYS):
        y = TOP + index * DOWN
        drawing.text(0, y + 9, way.name, bold=True)
        drawing.text(0, y + 24, "divides ", Word(way.divides, "ink"), size=11)
        for line, words in enumerate(way.sends):
            lead = "sends " if not line else ""
            drawing.text(0, y + 38 + 14 * line, lead, words, size=11, colour="soft")
        between = LEFT + WHOLE + 5, LEFT + STEP - 5
        middle, centre = sum(between) / 2, y + IMAGES * SIDE / 2
        for end in between:
            drawing.arrow((middle, centre), (end, centre), colour="ink")
        for rank in range(len(COLOURS)):
            has(drawing, LEFT + rank * STEP, y, way, rank)
    return drawing


def has(drawing: Drawing, x: float, y: float, way: Way, rank: int) -> None:
    """Draw the tokens and the blocks that a GPU has, and dashed what it has not."""
    colour = COLOURS[rank]
    grid = Box(x, y, TOKENS * SIDE, IMAGES * SIDE)
    for image in range(IMAGES):
        for token in range(TOKENS):
            cell = grid.cell(image, token, IMAGES, TOKENS)
            place = Box(cell.x + 1, cell.y + 1, SIDE - 2, SIDE - 2)
            if way.token(rank, image, token):
                drawing.full(place, colour, 0.75, 1)
            else:
                empty(drawing, place)
    for block in range(BLOCKS):
        place = Box(grid.right + APART, y + block * (HIGH + GAP), WIDE, HIGH)
        if not way.block(rank, block):
            empty(drawing, place)
        elif way.half:
            drawing.full(place.column(rank, 2), colour, 0.75, 1)
            if way.gathers:
                drawing.full(place.column(1 - rank, 2), colour, 0.25, 1)
            else:
                empty(drawing, place.column(1 - rank, 2))
        else:
            drawing.full(place, colour, 0.75, 1)


def empty(drawing: Drawing, place: Box) -> None:
    drawing.box(
        place.x, place.y, place.width, place.height, ground=False, thick=0.6, radius=1
    )
