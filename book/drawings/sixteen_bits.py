"""Draw the bits of a third in float32, bfloat16 and float16, as in chapter 11."""

import math

import torch

from book.drawings.kit import WIDTH, Box, Colour, Drawing, Word

NUMBER = 1 / 3
FORMATS = {torch.float32: (8, 23), torch.bfloat16: (8, 7), torch.float16: (5, 10)}
COLOURS: tuple[Colour, ...] = ("ink", "patch-2", "patch-0")  # of the three parts
CELL, HIGH, APART = 10.5, 20, 6  # a bit; between sign, exponent and mantissa
TOP, DOWN = 16, 104  # base line of the first format's name, and to the next
LARGE = 1e6  # from here on a number is written as a power of ten


def parts(dtype: torch.dtype) -> list[str]:
    """Return the bits of the number: sign, exponent and mantissa."""
    exponent, mantissa = FORMATS[dtype]
    size = 1 + exponent + mantissa
    as_integer = torch.int32 if size == 32 else torch.int16
    stored = torch.tensor(NUMBER, dtype=dtype).view(as_integer).item()
    bits = f"{int(stored) % 2**size:0{size}b}"
    return [bits[0], bits[1 : 1 + exponent], bits[1 + exponent :]]


def largest(dtype: torch.dtype) -> list[str | Word]:
    """Return the largest number of a format in words."""
    most = torch.finfo(dtype).max
    if most < LARGE:
        return [f"{most:,.0f}"]
    power = math.floor(math.log10(most))
    digits = f"{most / 10**power:.1f} · 10"
    return [digits, Word(str(power), size=10.5, raised=4)]


def draw() -> Drawing:
    said = []
    for dtype in FORMATS:
        _, exponent, mantissa = parts(dtype)
        said.append(
            f"{name_of(dtype)}: {len(exponent)} bits of exponent and {len(mantissa)} "
            f"of mantissa, {steps(dtype):,} steps from 1 to 2, a third becomes "
            f"{becomes(dtype)}."
        )
    drawing = Drawing(
        "A third in three formats",
        "Three rows of bits, one bit for the sign in front of each. "
        + " ".join(said)
        + " The largest number is the same in float32 and bfloat16, and "
        f"{torch.finfo(torch.float16).max:,.0f} in float16.",
    )
    for index, dtype in enumerate(FORMATS):
        row(drawing, TOP + index * DOWN, dtype)
    return drawing


def name_of(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def steps(dtype: torch.dtype) -> int:
    """Return the number of steps from 1 to 2."""
    return round(1 / torch.finfo(dtype).eps)


def becomes(dtype: torch.dtype) -> str:
    return f"{torch.tensor(NUMBER, dtype=dtype).item():.8f}"


def row(drawing: Drawing, y: float, dtype: torch.dtype) -> None:
    """Draw a format: its name, what a third becomes, its bits, steps and range."""
    drawing.text(0, y, name_of(dtype), bold=True, size=13)
    drawing.text(
        WIDTH,
        y,
        "1/3 becomes ",
        Word(becomes(dtype), bold=True),
        size=11.5,
        anchor="end",
    )
    x = 0.0
    for part, bits, colour in zip(
        ("", "exponent", "mantissa"), parts(dtype), COLOURS, strict=True
    ):
        place = drawing.cells(
            x, y + 26, [list(bits)], (CELL, HIGH), colour, size=10.5, ink="ink"
        )
        if part:
            about = f"{part}: {len(bits)}"
            drawing.text(
                place.middle, y + 20, about, size=10.5, colour=colour, anchor="middle"
            )
        x = place.right + APART
    if dtype == torch.bfloat16:
        dropped = Box(x - APART + 2, y + 26, 16 * CELL, HIGH)
        drawing.box(
            dropped.x,
            dropped.y,
            dropped.width,
            HIGH,
            "rounded off",
            ground=False,
            dashed=True,
            radius=3,
            size=11,
            ink="soft",
        )
    base = y + 26 + HIGH + 16
    drawing.text(0, base, f"{steps(dtype):,} steps from 1 to 2", size=11.5)
    drawing.text(
        WIDTH,
        base,
        "largest number ",
        *largest(dtype),
        size=11.5,
        anchor="end",
    )
