"""Draw the memory that a training step holds over time, plain and checkpointed."""

from collections.abc import Sequence

from book.drawings.kit import Colour, Drawing, Point
from vit_steps.sizes import as_pair
from vit_steps.training_cost import activation_bytes, training_flops
from vit_steps.vision_transformer import ViTConfig

CONFIG = ViTConfig.tiny(num_classes=6)
LEFT, RIGHT, HIGH = 44, 350, 176  # ends of the time axes, height of the first panel
MIB = 2**20


def held() -> tuple[list[Point], list[Point]]:
    """Return MiB of activations over time; a block's forward pass takes the time 1."""
    L = CONFIG.depth
    whole = activation_bytes(CONFIG, autocast=False)
    shallower = ViTConfig.tiny(num_classes=6, depth=L - 1)
    block = whole - activation_bytes(shallower, autocast=False)
    height, width = as_pair(CONFIG.image_size, "image_size")
    image = 4 * CONFIG.in_channels * height * width  # held during the whole step
    ends = whole - L * block - image  # the last norm and the head
    tokens = CONFIG.cost().steps[-3].shape[0]
    own = 4 * tokens * CONFIG.embed_dim  # a block's input
    again = training_flops(CONFIG, True) / training_flops(CONFIG) * 3 - 3

    everything: list[Point] = [(0, 0), (0, image / MIB)]
    inputs: list[Point] = [(0, 0)]
    for number in range(1, L + 1):
        everything.append((number, (image + number * block) / MIB))
        step = (image + number * own) / MIB
        inputs += [(number - 1, step), (number, step)]
    everything.append((L, whole / MIB))
    inputs.append((L, (image + L * own + ends) / MIB))
    time = float(L)
    for number in range(L, 0, -1):
        waiting = image + number * own + (ends if number == L else 0)
        inputs += [
            (time + again, (waiting + block) / MIB),
            (time + again + 2, waiting / MIB),
            (time + again + 2, (image + (number - 1) * own) / MIB),
        ]
        time += again + 2
        left = (image + (number - 1) * block) / MIB
        everything.append((3 * L - 2 * (number - 1), left))
    for points in (everything, inputs):
        points.append((points[-1][0], 0))
    return everything, inputs


def draw() -> Drawing:
    everything, inputs = held()
    peaks = [max(height for _, height in points) for points in (everything, inputs)]
    waits = max(height for time, height in inputs if time <= CONFIG.depth)
    ends = [points[-1][0] for points in (everything, inputs)]
    drawing = Drawing(
        "Memory over a step of training",
        "Two shapes over time, on the same scale. With everything kept, the "
        f"activations of one image climb to {peaks[0]:.1f} MiB during the forward pass "
        "and fall back to zero during the backward pass. With checkpointing they climb "
        f"in {CONFIG.depth} small steps to {waits:.1f} MiB, and on the way back "
        f"{CONFIG.depth} narrow peaks stand on the staircase, the highest at "
        f"{peaks[1]:.1f} MiB. The second step is about a fifth longer.",
    )
    scale = (RIGHT - LEFT) / ends[1]
    unit = HIGH / 30  # units of the sheet for a MiB
    drawing.text(2, 16, "everything kept", bold=True)
    panel(drawing, 30 + HIGH, HIGH, everything, scale, unit, "patch-0", (0, 10, 20, 30))
    x, y = LEFT + CONFIG.depth * scale, 30 + HIGH - peaks[0] * unit
    drawing.text(x + 12, y + 6, f"{peaks[0]:.1f} MiB", bold=True, colour="patch-0")
    drawing.text(LEFT + 6, 30 + HIGH + 17, "forward", size=11, colour="soft")
    drawing.text(x + 6, 30 + HIGH + 17, "backward", size=11, colour="soft")

    low = 10 * unit
    base = 30 + HIGH + 62 + low
    drawing.text(
        2,
        base - low - 14,
        "each block’s input kept, the rest computed again",
        bold=True,
    )
    panel(drawing, base, low, inputs, scale, unit, "patch-0", (0, 10))
    drawing.text(
        LEFT + 12 * scale + 40,
        base - 5.4 * unit,
        f"{peaks[1]:.1f} MiB",
        bold=True,
        colour="patch-0",
    )
    drawing.text(
        LEFT + 4, base - 3.2 * unit, f"{waits:.1f} MiB", colour="patch-0", bold=True
    )
    drawing.text(LEFT + 6, base + 17, "forward", size=11, colour="soft")
    drawing.text(
        x + 6,
        base + 17,
        "backward, each block forward once more",
        size=11,
        colour="soft",
    )
    for top, bottom in ((30, 30 + HIGH + 20), (base - low, base + 20)):
        drawing.line((x, top), (x, bottom), thick=1, dashed=True)
    return drawing


def panel(
    drawing: Drawing,
    base: float,
    high: float,
    points: Sequence[Point],
    scale: float,
    unit: float,
    colour: Colour,
    marks: Sequence[int],
) -> None:
    """Draw a filled shape over time on its axes."""
    for mark in marks:
        y = base - mark * unit
        drawing.line((LEFT - 4, y), (LEFT, y), thick=1)
        drawing.text(LEFT - 7, y + 4, str(mark), size=10.5, colour="soft", anchor="end")
    drawing.text(LEFT + 5, base - high + 8, "MiB", size=10.5, colour="soft")
    at = [(LEFT + t * scale, base - height * unit) for t, height in points]
    drawing.area(*at, (at[-1][0], base), (at[0][0], base), colour=colour)
    drawing.line(*at, colour=colour, thick=1.5)
    drawing.line((LEFT, base - high), (LEFT, base), (RIGHT + 4, base), thick=1)
