"""Draw attention and a linear layer under the roof of an H100, as chapter 11 counts.

On the page the tokens and the images can be changed (scripts/figures/roofline.js).
"""

import math
from dataclasses import dataclass

from book.drawings.kit import Box, Colour, Drawing
from vit_steps import ViTConfig
from vit_steps.training_cost import ACCELERATORS

PEAK = ACCELERATORS["H100"].flops  # FLOP/s
BANDWIDTH = 3.35e12  # bytes a second
CONFIG = ViTConfig.base()
D, HEADS = CONFIG.embed_dim, CONFIG.num_heads
SIDES = (112, 160, 224, 320, 448, 640, 896, 1280, 1792)  # of an image, in pixels
IMAGES = (1, 2, 4, 8, 16, 32, 64)
SIDE, BATCH = 2, 3  # indices of the start values in SIDES and IMAGES

CHART = Box(44, 30, 302, 176)
LEAST, MOST = (5, 10e12), (20000, 2e15)  # corners of the chart
TABLE = 266
KINDS: tuple[tuple[str, Colour], ...] = (
    ("explicit attention", "patch-2"),
    ("fused attention", "patch-0"),
    ("linear layer, qkv", "patch-3"),
)


@dataclass(frozen=True)
class Work:
    """The FLOPs of an operation, and the bytes that it fetches and stores."""

    flops: float
    moved: float

    @property
    def intensity(self) -> float:
        return self.flops / self.moved

    @property
    def most(self) -> float:
        """FLOP/s that the roof allows."""
        return min(PEAK, self.intensity * BANDWIDTH)


def tokens(side: int) -> int:
    return (side // 16) ** 2 + 1


def works(T: int, images: int) -> list[Work]:
    """Count explicit and fused attention and the layer qkv, in bfloat16."""
    flops = 4 * T * T * D + 5 * HEADS * T * T  # two products and a softmax
    ends = 2 * 4 * T * D  # q, k, v and the output
    tables = 2 * 4 * HEADS * T * T  # two tables, each stored and fetched
    rows = images * T
    linear = Work(2 * rows * D * 3 * D, 2 * (rows * (D + 3 * D) + D * 3 * D))
    return [Work(flops, ends + tables), Work(flops, ends), linear]


def across(intensity: float) -> float:
    share = math.log(intensity / LEAST[0]) / math.log(MOST[0] / LEAST[0])
    return CHART.x + share * CHART.width


def up(speed: float) -> float:
    share = math.log(speed / LEAST[1]) / math.log(MOST[1] / LEAST[1])
    return CHART.bottom - share * CHART.height


def draw() -> Drawing:
    T = tokens(SIDES[SIDE])
    images = IMAGES[BATCH]
    counted = works(T, images)
    explicit, fused, linear = (f"{work.intensity:,.0f}" for work in counted)
    drawing = Drawing(
        "Under the roof of an H100",
        "Both axes are logarithmic: FLOPs a byte to the right, TFLOP/s upwards. The "
        f"roof rises and bends at {PEAK / BANDWIDTH:.0f} FLOPs a byte, from where it "
        f"is flat at {PEAK / 1e12:.0f} TFLOP/s. With {T} tokens, explicit attention "
        f"has {explicit} FLOPs a byte and fused attention {fused}; both are on the "
        f"slope. The layer qkv with {images} images has {linear} and is on the flat "
        "part. A table has the share of the peak that each can reach at most.",
    )
    drawing.numbers = {
        "peak": PEAK,
        "bandwidth": BANDWIDTH,
        "dim": D,
        "heads": HEADS,
        "sides": SIDES,
        "images": IMAGES,
        "start": [SIDE, BATCH],
        "chart": vars(CHART),
        "least": LEAST,
        "most": MOST,
    }
    roof(drawing)
    for index, (_, colour) in enumerate(KINDS):
        with drawing.part(f"path-{index}", moving=True):
            drawing.line((0, 0), (1, 1), colour=colour, thick=1.5)
    for index, work in enumerate(counted):
        with drawing.part(f"point-{index}"):
            x, y = across(work.intensity), up(work.most)
            point(drawing, index, x, y)
    with drawing.part("chart", moving=True):
        drawing.full(CHART, "ink", 0)
    with drawing.part("sizes"):
        drawing.text(2, TABLE - 4, f"{T:,} tokens, {images} images", bold=True)
    table(drawing, counted)
    return drawing


def point(drawing: Drawing, index: int, x: float, y: float) -> None:
    """Draw the mark of an operation: a square, a circle or a small square."""
    size, radius = ((6, 0), (6.5, 6.5), (4.5, 2))[index]
    colour = KINDS[index][1]
    drawing.box(
        x - size, y - size, 2 * size, 2 * size, colour=colour, radius=radius, thick=2.5
    )


def roof(drawing: Drawing) -> None:
    bend = PEAK / BANDWIDTH
    start = LEAST[1] / BANDWIDTH  # where the roof meets the level of the lower edge
    first = max(start, LEAST[0])
    for speed in (10e12, 100e12, 1000e12):
        y = up(speed)
        drawing.line((CHART.x, y), (CHART.right, y), thick=0.4)
        drawing.text(CHART.x - 6, y + 4, f"{speed / 1e12:,.0f}", size=12, anchor="end")
    for intensity in (10, 100, 1000, 10000):
        drawing.text(
            across(intensity),
            CHART.bottom + 15,
            f"{intensity:,}",
            size=12,
            anchor="middle",
        )
    drawing.text(2, 14, "TFLOP/s at most", size=12)
    drawing.text(CHART.right, CHART.bottom + 30, "FLOPs a byte", size=12, anchor="end")
    flat = up(PEAK)
    drawing.line(
        (across(first), up(first * BANDWIDTH)),
        (across(bend), flat),
        (CHART.right, flat),
        colour="ink",
        thick=2.5,
    )
    drawing.line(
        (across(bend), flat), (across(bend), CHART.bottom), thick=1, dashed=True
    )
    drawing.text(
        across(bend) + 6,
        CHART.bottom - 8,
        f"the bend, {bend:.0f}",
        size=12,
        colour="soft",
    )
    drawing.text(CHART.x + 4, up(500e12), "memory sets", size=12, colour="soft")
    drawing.text(CHART.x + 4, up(500e12) + 14, "the pace", size=12, colour="soft")
    words = "arithmetic sets the pace"
    drawing.text(CHART.right, flat - 12, words, size=12, colour="soft", anchor="end")


def table(drawing: Drawing, counted: list[Work]) -> None:
    heads = ("FLOPs a byte", "of peak, at most")
    for x, name in zip((242, 346), heads, strict=True):
        drawing.text(x, TABLE - 4, name, size=12, colour="soft", anchor="end")
    for index, (work, (name, _)) in enumerate(zip(counted, KINDS, strict=True)):
        y = TABLE + 18 + 22 * index
        point(drawing, index, 10, y - 4)
        drawing.text(24, y, name, size=12)
        with drawing.part(f"intensity-{index}"):
            drawing.text(242, y, f"{work.intensity:,.0f}", bold=True, anchor="end")
        with drawing.part(f"share-{index}"):
            share = f"{work.most / PEAK:.0%}".replace("%", " %")
            drawing.text(346, y, share, bold=True, anchor="end")
