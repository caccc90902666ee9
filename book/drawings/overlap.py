"""Draw a training step that sends its gradients afterwards, and one that overlaps."""

from itertools import pairwise
from math import ceil

from book.drawings.kit import Box, Colour, Drawing
from vit_steps.training_cost import ACCELERATORS, training_seconds
from vit_steps.vision_transformer import ViTConfig

CONFIG, IMAGES, GPUS = ViTConfig.base(), 256, 8
BUCKET = 25e6  # bytes, about as many as DDP puts into one
SPEED = 50e9  # bytes a second, in a cluster
BACKWARD = 2 / 3  # of a step: twice the work of the forward pass
LEFT, RIGHT = 50.0, 352.0
BAR, GAP = 24.0, 6.0  # height of a bar, and between computing and sending
FORWARD_COLOUR: Colour = "soft"
BACKWARD_COLOUR: Colour = "patch-0"
SENDING: Colour = "patch-2"

Span = tuple[float, float]  # milliseconds from the start of the step


def times() -> tuple[float, float, float]:
    """Return the milliseconds of the step, of its backward pass, and of the sending."""
    step = 1000 * training_seconds(CONFIG, IMAGES, ACCELERATORS["H100"])
    return step, BACKWARD * step, 1000 * sent() / SPEED


def sent() -> float:
    """Return the bytes that each GPU sends in an all-reduce of the gradients."""
    return 2 * (GPUS - 1) / GPUS * gradient()


def gradient() -> float:
    return 4.0 * CONFIG.cost().parameters


def buckets() -> int:
    return ceil(gradient() / BUCKET)


def full_at() -> list[float]:
    """Return when each bucket is full; gradients come evenly in the backward pass."""
    step, backward, _ = times()
    count = buckets()
    return [step - backward + backward * (n + 1) / count for n in range(count)]


def overlapping() -> list[Span]:
    """Return when each bucket is sent: when it is full, and the one before is sent."""
    each = times()[2] / buckets()
    spans: list[Span] = []
    for full in full_at():
        begin = max(full, spans[-1][1] if spans else 0)
        spans.append((begin, begin + each))
    return spans


def draw() -> Drawing:
    step, backward, sending = times()
    overlapped = overlapping()
    ends = step + sending, overlapped[-1][1]
    drawing = Drawing(
        "Sending afterwards, and sending while computing",
        f"Two time lines of a training step of {step:.0f} ms, the forward pass and "
        f"then the backward pass of {backward:.0f} ms. In the first, the gradients are "
        f"sent afterwards, in {sending:.0f} ms, so the step takes {ends[0]:.0f} ms. In "
        f"the second the gradients fill {buckets()} buckets one after the other, and "
        "each bucket is sent as soon as it is full, while the backward pass goes on. "
        "Only the last bucket, with the gradients of block 0, is sent after it, so the "
        f"step takes {ends[1]:.0f} ms.",
    )
    afterwards = [(step, ends[0])]
    y = time_line(drawing, 14, "First compute, then send", ends[0], afterwards, False)
    time_line(drawing, y, "Send each bucket when it is full", ends[1], overlapped, True)
    return drawing


def at(milliseconds: float) -> float:
    """Return the x of a time; the longer step takes the whole width."""
    step, _, sending = times()
    return LEFT + (RIGHT - LEFT) * milliseconds / (step + sending)


def time_line(
    drawing: Drawing, y: float, name: str, end: float, sends: list[Span], parts: bool
) -> float:
    """Draw a step below its name, and return the y of the next name."""
    step, backward, _ = times()
    drawing.text(0, y, name, bold=True, size=13)
    drawing.text(RIGHT, y, f"{end:.0f} ms", bold=True, size=13, anchor="end")
    top = y + (22 if parts else 10)
    below = top + BAR + GAP
    turn = at(step - backward)
    drawing.text(0, top + 16, "compute", size=11)
    drawing.box(
        LEFT, top, turn - LEFT, BAR, "forward", colour=FORWARD_COLOUR, radius=0, size=11
    )
    colour = BACKWARD_COLOUR
    if parts:
        edges = [step - backward, *full_at()]
        for start, full in pairwise(edges):
            place = Box(at(start), top, at(full) - at(start), BAR)
            drawing.box(place.x, top, place.width, BAR, colour=colour, radius=0)
            drawing.line((place.right, top + BAR), (place.right, below), thick=0.75)
        drawing.text(turn + 1, top - 5, "head, block 11", size=11, colour=colour)
        x = at(step)
        drawing.text(x, top - 5, "block 0", size=11, colour=colour, anchor="end")
    else:
        wide = at(step) - turn
        words = f"backward, {backward:.0f} ms"
        drawing.box(turn, top, wide, BAR, words, colour=colour, radius=0, size=11)
    drawing.text(0, below + 16, "send", size=11)
    for begin, stop in sends:
        drawing.full(Box(at(begin), below, at(stop) - at(begin), BAR), SENDING)
    if parts:
        drawing.lines(
            LEFT,
            below + 10,
            f"{buckets()} buckets",
            "of 25 MB",
            size=11,
            colour=SENDING,
        )
    else:
        words = f"the whole gradient, {times()[2]:.0f} ms"
        drawing.text(
            at(step) - 6, below + 16, words, size=11, anchor="end", colour=SENDING
        )
    return below + BAR + 28
