"""Digits as visitors draw them on the lab's pad, for the model that runs there.

The handwritten digits of the data set were written with a pen on paper. Drawn with a
mouse or a finger, digits look different: a 7 with or without a bar, an open or closed
4, a 6 with a straight stem. Here each digit is a few curves through a few points. Every
drawing moves, stretches, turns and slants the points at random, and becomes an 8×8
digit in the same way as in ``book/_assets/lab/strokes.js``.
"""
# ruff: noqa: RUF005, because a curve that is unpacked does not fit on a line

import math
from collections.abc import Sequence

import torch
from torch import Tensor

Point = tuple[float, float]  # row and column, in tenths of the height
Stroke = list[Point]  # a curve through the points; a point given twice is a corner

SIDE = 32  # of the bitmap, in pixels
BLOCK = 4  # side of the block of the bitmap that becomes a pixel of the digit
PEN = 4.5  # width in pixels, whatever the size of the drawing
LEAST = 1 / 4  # share of the pad; a smaller drawing is a dot, and is not enlarged

JITTER = 0.28  # standard deviation of a point's move, in tenths of the height
TURN = 10.0  # largest rotation, in degrees to either side
SLANT = (-0.12, 0.32)  # smallest and largest, in columns for each row
WIDTH = (0.72, 1.3)  # smallest and largest factor on the width
STEPS = 5  # straight lines that a curve has between two points


def _ring(
    row: float, column: float, high: float, wide: float, start: float, turns: float
) -> Stroke:
    """Return part of an ellipse; angles in turns, from 0 at the top to the left."""
    count = max(4, round(9 * abs(turns)))
    angles = [2 * math.pi * (start + turns * i / count) for i in range(count + 1)]
    return [
        (row - high / 2 * math.cos(angle), column - wide / 2 * math.sin(angle))
        for angle in angles
    ]


def _line(*points: Point) -> Stroke:
    """Return straight lines, for which every point is a corner."""
    return [point for point in points for _ in range(2)]


SHAPES: list[list[list[Stroke]]] = [
    [  # 0
        [_ring(5, 3, 10, 6, 0, 1)],
        [_ring(5, 3, 10, 5, 0.05, -1)],
        [_ring(5, 3.5, 10, 8, -0.05, 1.06)],
    ],
    [  # 1
        [_line((0, 1), (10, 1))],
        [_line((2.5, 0), (0, 2.2), (10, 2.2))],
        [_line((1.5, 0.6), (0, 2), (10, 2)), _line((10, 0), (10, 4))],
        [_line((3.5, 0), (0, 2.8), (10, 2.8))],
        [_line((2.4, 0), (0, 2.6), (10, 2.6)), _line((10, 0.4), (10, 5))],
    ],
    [  # 2
        [
            [(2.6, 0.4), (0.6, 1.5), (0, 3), (1, 5), (2.8, 5.4), (5, 4.2), (7.5, 2)]
            + _line((10, 0), (10, 6))
        ],
        [
            [(2.2, 0.2), (0.3, 1.6), (0.2, 3.8), (2.2, 5), (4.8, 4), (8, 1.5)]
            + [(9.7, 0.5), (9.4, -0.3), (8.6, 0.6), (9.3, 2.5), (10, 4.2), (9.6, 6)]
        ],
        [
            [(2, 0.5), (0.2, 2), (0.3, 4.2), (2.4, 5.2), (5, 4), (8, 1.4), (9.7, 0)]
            + _line((9.8, 0))
            + [(9.4, 2), (10, 4), (9.7, 5.8)]
        ],
    ],
    [  # 3
        [
            [(1.6, 0.3), (0.1, 2), (0.4, 4.3), (2.4, 5), (4.3, 3.6)]
            + _line((4.8, 2.2))
            + [(5.2, 3.8), (7.2, 5.6), (9.3, 4.4), (10, 2.2), (8.7, 0)]
        ],
        [
            _line((0, 0.3), (0, 5), (4, 2.4))
            + [(4.6, 4.2), (6.8, 5.6), (9, 4.7), (10, 2.4), (8.8, 0)]
        ],
        [
            [(1.2, 0.2), (0, 2.2), (1, 4.6), (3, 4.6), (4.6, 2.6)]
            + [(4.9, 2.0), (5.2, 3), (6.4, 5.2), (8.6, 5), (10, 2.6), (9, 0.2)]
        ],
    ],
    [  # 4
        [_line((0, 1.2), (5.8, 0.4), (5.8, 6)), _line((2.6, 4.3), (10, 4))],
        [_line((0, 0.6), (5, 0.6), (5, 5)), _line((0, 5), (10, 5))],
        [_line((10, 4.4), (0, 4.4), (6.6, 0), (6.6, 6.4))],
        [_line((0, 3.4), (6.6, 0), (6.6, 6.2)), _line((3.6, 4.4), (10, 4.2))],
        [
            [(0, 1), (2.5, 0.3), (4.8, 0.6), (5.4, 2.4), (5, 5)],
            _line((0, 5.2), (10, 4.8)),
        ],
    ],
    [  # 5
        [
            _line((0, 5.2), (0, 0.8), (4.2, 0.5))
            + [(3.7, 2.4), (4.6, 5), (7, 5.7), (9.2, 4.4), (10, 2.2), (8.8, 0)]
        ],
        [
            _line((0, 0.8), (4.6, 0.6))
            + [(3.9, 2.6), (5, 5), (7.4, 5.5), (9.4, 4), (10, 1.8), (9, 0)],
            _line((0, 0.8), (-0.2, 5.6)),
        ],
        [
            _line((0, 5), (0.2, 1), (5, 0.6))
            + [(4.6, 3.2), (6, 5.2), (8.4, 4.8), (10, 2.6), (9.7, 0)]
        ],
    ],
    [  # 6
        [
            [(0, 4.2), (2, 1.8), (5, 0.3), (8, 0.4), (10, 2.6), (9, 5), (6.8, 5.2)]
            + [(5.4, 3.2), (6.4, 1), (8, 0.4)]
        ],
        [
            [(1.2, 4.8), (0, 3.4), (1.4, 1.2), (5, 0), (8.4, 0.8), (10, 3), (8.8, 5.2)]
            + [(6.4, 5), (5.2, 3), (6.6, 0.6)]
        ],
        [
            [(0, 3), (3.5, 1.2), (7.2, 0), (9.4, 1), (10, 3), (8.2, 5), (6.2, 4)]
            + [(5.8, 2.2), (7.4, 0.2)]
        ],
        [
            [(0, 0.5), (3, 0.3), (7.4, 0.3), (9.6, 1.6), (9.8, 3.8), (7.6, 5.2)]
            + [(5.4, 3.8), (5.6, 1.6), (7.2, 0.4)]
        ],
        [_line((0, 3.6), (6.2, 0.7)) + _ring(7.4, 2.7, 5.2, 5, 0.18, 1)],
    ],
    [  # 7
        [_line((0, 0), (0, 5.4), (10, 2))],
        [_line((0, 0), (0, 5.6), (10, 1.6)), _line((4.8, 1.4), (4.8, 5.6))],
        [_line((1.6, 0), (0, 0.2), (0, 5.2), (10, 2.6))],
        [_line((0, 0), (0, 5.4)) + [(3, 4), (6.5, 2.8), (10, 2.4)]],
        [
            _line((1.6, 0), (0, 0.2), (0, 5.6), (10, 2)),
            _line((5, 1.6), (5, 5.4)),
        ],
    ],
    [  # 8
        [
            [(1.4, 5), (0, 3), (1.2, 0.7), (3.4, 1.2), (5, 3), (7, 5.2), (9, 4.8)]
            + [(10, 2.8), (8.8, 0.5), (6.8, 0.8), (5, 2.9), (3, 5), (1.2, 4.9)]
        ],
        [_ring(2.4, 3, 4.8, 4.4, 0, 1), _ring(7.4, 3, 5.2, 5.4, 0, 1)],
        [
            [(0.2, 3), (1.4, 0.6), (3.4, 1), (5.2, 3.2), (7.4, 5.2), (9.6, 3.8)]
            + [(9.7, 1.6), (7.6, 0.2), (5.2, 2.4), (3, 5), (1, 4.8), (0.2, 3)]
        ],
        [_ring(2.2, 2.6, 4.4, 3.6, 0.5, 1), _ring(7.2, 2.6, 5.6, 4.6, 0, -1)],
    ],
    [  # 9
        [_ring(2.8, 2.6, 5.4, 5, -0.2, 1) + _line((1, 5), (10, 4.4))],
        [
            [(1.4, 4.8), (0, 2.8), (1.2, 0.4), (3.8, 0.3), (5.4, 2.2), (4, 4.6)]
            + _line((1.6, 5))
            + [(5, 5), (8.4, 4.4), (10, 2.4), (9, 0.4)]
        ],
        [
            [(1, 4.6), (0, 2.6), (1.6, 0.2), (4, 0.6), (4.8, 2.8), (3.2, 4.6)]
            + [(1.2, 4.8), (5, 4.4), (10, 2.6)]
        ],
        [_ring(2.5, 2.5, 5, 5, -0.25, 1) + _line((2.5, 5), (10, 5))],
    ],
]


def drawn_digits(count: int, seed: int) -> tuple[Tensor, Tensor]:
    """Return drawings of each digit in equal numbers, no two alike.

    Args:
        count: of each digit.
        seed: of the generator that draws them.

    Shape: -> digits (10·count, 1, 8, 8), float32 between 0 and 1, labels (10·count,)
    """
    generator = torch.Generator().manual_seed(seed)
    made = [
        digit_from_strokes(_vary(shapes[i % len(shapes)], generator))
        for shapes in SHAPES
        for i in range(count)
    ]
    labels = torch.arange(len(SHAPES)).repeat_interleave(count)
    return torch.stack(made)[:, None], labels


def _vary(strokes: Sequence[Stroke], generator: torch.Generator) -> list[Tensor]:
    """Return a random variation of strokes, as lines of (points, 2) each."""

    def between(low: float, high: float) -> float:
        return low + (high - low) * torch.rand((), generator=generator).item()

    turn, slant = math.radians(between(-TURN, TURN)), between(*SLANT)
    turned = [[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]
    change = torch.tensor(turned) @ torch.tensor([[1, 0], [-slant, between(*WIDTH)]])
    varied = []
    for stroke in strokes:
        points = torch.tensor(stroke)
        moves = JITTER * torch.randn(points.shape, generator=generator)
        again = (points[1:] == points[:-1]).all(dim=1)
        for i in again.nonzero()[
            :, 0
        ].tolist():  # the two points of a corner move together
            moves[i + 1] = moves[i]
        varied.append(_curve(points + moves) @ change.T)
    return varied


def _curve(points: Tensor) -> Tensor:
    """Return a Catmull-Rom spline through the points: (n, 2) -> (lines + 1, 2)."""
    start, end = points[:-1], points[1:]
    leaving = (end - torch.cat([points[:1], points[:-2]])) / 2
    arriving = (torch.cat([points[2:], points[-1:]]) - start) / 2
    t = torch.linspace(0, 1, STEPS + 1)[:-1, None, None]  # for Hermite's polynomials
    path = (
        (1 + 2 * t) * (1 - t) ** 2 * start
        + t * (1 - t) ** 2 * leaving
        + t**2 * (3 - 2 * t) * end
        - t**2 * (1 - t) * arriving
    )  # (STEPS, n - 1, 2)
    apart = (start != end).any(dim=1)  # no line between a corner's two points
    return torch.cat([path[:, apart].transpose(0, 1).flatten(0, 1), points[-1:]])


def digit_from_strokes(strokes: Sequence[Tensor], pad: float = 10) -> Tensor:
    """Return a drawing as a digit like those of the data set, as ``strokes.js`` does.

    The drawing is enlarged to a bitmap of 32×32 pixels and drawn there with a pen of a
    fixed width. Each block of 4×4 becomes a pixel: its share of inked pixels.

    Args:
        pad: the side of the pad that was drawn on, in the strokes' unit.

    Shape: lines of (points, 2), row and column -> (8, 8), between 0 and 1
    """
    points = torch.cat(list(strokes))
    low, high = points.amin(dim=0), points.amax(dim=0)
    size = max(LEAST * pad, (high - low).max().item())
    pixels = torch.arange(SIDE) + 0.5
    middles = torch.cartesian_prod(pixels, pixels)[:, None]  # (SIDE², 1, 2)
    inked = torch.zeros(SIDE * SIDE, dtype=torch.bool)
    for stroke in strokes:
        line = SIDE / 2 + (stroke - (low + high) / 2) / size * (SIDE - PEN)
        start = torch.cat([line[:1], line[:-1]])  # a dot is a line to itself
        along = line - start  # (lines, 2)
        length = along.square().sum(dim=1)
        share = ((middles - start) * along).sum(dim=2) / length.clamp(min=1e-12)
        nearest = start + share.clamp(0, 1)[..., None] * along  # (SIDE², lines, 2)
        distance = (middles - nearest).square().sum(dim=2).amin(dim=1)
        inked |= distance <= (PEN / 2) ** 2
    blocks = inked.view(SIDE // BLOCK, BLOCK, SIDE // BLOCK, BLOCK)
    return blocks.float().mean(dim=(1, 3))
