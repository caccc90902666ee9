"""Draw the memory of a ViT-H/14 in one process, under DDP and under FSDP."""

from book.drawings.kit import Box, Colour, Drawing, Word
from vit_steps.training_cost import TrainingMemory, training_memory
from vit_steps.vision_transformer import ViTConfig

PIECES = 4  # pieces of the model, and processes
IMAGES = 8  # images on each device
COLOURS: tuple[Colour, ...] = ("patch-0", "patch-1", "patch-2", "patch-3")
CONFIG = ViTConfig.huge()
WIDE, GAP, LEFT = 52, 10, 118  # processes: width, gap, left edge of the first
SCALE = 6.5  # units for a GB


def memory(sharded: bool) -> TrainingMemory:
    return training_memory(CONFIG, IMAGES, PIECES, sharded, autocast=False)


def gb(size: float) -> str:
    return f"{size / 1e9:.1f} GB"


def block_gb() -> float:
    """Return the GB of one block's float32 weights, which FSDP gathers for a moment."""
    D, M = CONFIG.embed_dim, 4 * CONFIG.embed_dim
    block = 4 * D * D + 2 * D * M + 9 * D + M  # matrices, then biases and norms
    return 4 * block / 1e9


def draw() -> Drawing:
    whole, part = memory(False), memory(True)
    fixed, own = whole.total - whole.activations, part.total - part.activations
    drawing = Drawing(
        "Who holds what",
        f"A ViT-H/14 in float32, {IMAGES} images on each device. One process holds "
        f"{gb(whole.weights)} of weights, {gb(whole.gradients)} of gradients, "
        f"{gb(whole.optimizer)} of averages and {gb(whole.activations)} of "
        f"activations. Under DDP each of {PIECES} processes holds the same: all "
        "weights, gradients and averages are there four times, and only the images, "
        "and with them the activations, are different ones. Under FSDP each of four "
        f"processes holds one quarter of weights, gradients and averages, "
        f"{gb(own)} instead of {gb(fixed)}, a different quarter each, and the "
        "activations of its own images as before. The weights of one block, "
        f"{block_gb():.2f} GB, are put together while that block computes.",
    )
    drawing.text(0, 14, "ViT-H/14 in float32", bold=True, size=13)
    drawing.text(
        360,
        14,
        f"{IMAGES} images on each device",
        size=11.5,
        colour="soft",
        anchor="end",
    )
    y = 36.0
    for name, about, processes, sharded in (
        ("One process", "holds everything", 1, False),
        ("DDP", "everything in each", PIECES, False),
        ("FSDP", "a quarter in each", PIECES, True),
    ):
        y = row(drawing, y, name, about, processes, sharded)
    drawing.lines(
        0,
        y - 4,
        "While a block computes, every process",
        f"has that block’s weights whole: {block_gb():.2f} GB.",
        size=11.5,
    )
    return drawing


def row(
    drawing: Drawing, y: float, name: str, about: str, processes: int, sharded: bool
) -> float:
    held, whole = memory(sharded), memory(False)
    fixed = held.total - held.activations
    drawing.text(0, y, name, bold=True, size=13)
    drawing.text(
        360,
        y,
        about,
        ", ",
        Word(f"{gb(fixed)} + {gb(held.activations)}", "ink", bold=True),
        size=11.5,
        colour="soft",
        anchor="end",
    )
    top = y + 8
    for part, size in (
        ("weights", whole.weights),
        ("gradients", whole.gradients),
        ("averages", whole.optimizer),
    ):
        height = SCALE * size / 1e9
        drawing.text(0, top + height / 2 + 4, part, size=11.5)
        for rank in range(processes):
            place = Box(LEFT + rank * (WIDE + GAP), top, WIDE, height)
            for piece, colour in enumerate(COLOURS):
                here = place.row(piece, PIECES)
                if not sharded or piece == rank:
                    drawing.full(here, colour, 0.6)
            drawing.box(
                place.x,
                place.y,
                WIDE,
                height,
                ground=False,
                radius=2,
                dashed=sharded,
            )
        top += height + 4
    height = SCALE * held.activations / 1e9
    drawing.text(0, top + 12, "activations", size=11.5)
    for rank in range(processes):
        place = drawing.box(
            LEFT + rank * (WIDE + GAP), top, WIDE, height, colour="soft", radius=2
        )
        drawing.lines(
            place.middle,
            place.centre - 3,
            "images" if processes > 1 else "its",
            f"of {rank}" if processes > 1 else "images",
            size=10.5,
            anchor="middle",
        )
    bottom = top + max(height, 16)
    for rank in range(processes):
        drawing.text(
            LEFT + rank * (WIDE + GAP) + WIDE / 2,
            bottom + 14,
            f"rank {rank}",
            size=11,
            colour="soft",
            anchor="middle",
        )
    return bottom + 40
