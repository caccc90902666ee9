"""Draw the residual stream of chapter 6: the cat after twelve random blocks.

Four stacks are drawn one below the other. Each shows its stream, as thick as the mean
length of a token, and the photograph put together again from the patches that its
tokens still resemble most. On the page it moves, block by block
(scripts/figures/residual_stream.js).
"""

from dataclasses import dataclass, field
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import vit_book
from book.drawings.kit import Box, Colour, Drawing, Point
from vit_steps import EncoderBlock, ViTEmbedding, data

D, HEADS, BLOCKS, P, N = 192, 3, 12, 16, 196
STACKS = ("pre-norm", "post-norm", "residual from normed x", "no residual")
NORM_IN_BRANCH = ("pre-norm", "no residual")
EQUAL = 1e-12  # relative difference up to which all tokens count as equal
TOP, PITCH = 44, 108  # top of the first stack, and distance of the stacks
CAT = Box(2, 22, 76, 76)
FLOOR = 85  # y of a stream's lower edge, from the top of its stack
LEFT, WIDE = 96, 20.5  # beginning of a stream, and length of a block
BAR = 6
RIGHT = LEFT + BLOCKS * WIDE
PARTS: dict[str, Colour] = {"attention": "patch-0", "MLP": "patch-3"}


@dataclass
class Stack:
    """The measurements of the cat's tokens in a stack, block by block.

    ``lengths`` holds, after each step, the mean length of a token and of the part of it
    that is left from the start. ``added`` holds the mean lengths that attention and MLP
    of a block add. ``answers`` holds the most similar patch of each token; it is None
    where all tokens are equal.
    """

    steps: int  # steps in a block
    lengths: list[tuple[float, float]] = field(default_factory=list)
    added: list[tuple[float, float]] = field(default_factory=list)
    answers: list[list[int] | None] = field(default_factory=list)

    @property
    def recognised(self) -> list[int | None]:
        return [
            None if a is None else sum(i == k for i, k in enumerate(a))
            for a in self.answers
        ]


class Stream:
    """The tokens on their way, and the part of them that is left from the start.

    Apart from its division, a fresh LayerNorm is linear, so the same steps can be done
    to the tokens and to a part of them.
    """

    def __init__(self, start: Tensor, stack: Stack) -> None:
        self.whole = self.first = start  # (1, T, D)
        self.stack = stack
        self.step()

    def step(self) -> None:
        parts = (self.whole, self.first)
        whole, first = (part.norm(dim=2).mean().item() for part in parts)
        self.stack.lengths.append((whole, first))

    def add(self, change: Tensor) -> None:
        self.whole = self.whole + change
        self.step()

    def replace(self, change: Tensor) -> None:
        self.whole = change
        self.first = torch.zeros_like(change)
        self.step()

    def norm(self) -> None:
        variance = self.whole.var(dim=2, correction=0, keepdim=True)
        for name in ("whole", "first"):
            part = getattr(self, name)
            centred = part - part.mean(dim=2, keepdim=True)
            setattr(self, name, centred / (variance + 1e-6).sqrt())
        self.step()


@cache
def stacks() -> dict[str, Stack]:
    """Compute the four stacks of the chapter, with its seeds, in float64."""
    torch.manual_seed(0)
    embedding = ViTEmbedding(224, P, in_channels=3, embed_dim=D)
    cat = data.normalize(vit_book.photo("cat", size=224)[None])
    with torch.no_grad():
        start = embedding(cat).double()  # (1, T, D)
        torch.manual_seed(1)
        blocks = [EncoderBlock(D, HEADS).double() for _ in range(BLOCKS)]
        return {name: sent_through(blocks, name, start) for name in STACKS}


def sent_through(blocks: list[EncoderBlock], name: str, start: Tensor) -> Stack:
    stack = Stack(steps=2 if name in NORM_IN_BRANCH else 4)
    stream = Stream(start, stack)
    stack.answers.append(answers(start, start))
    for block in blocks:
        by_attention = one_part(stream, name, block.norm1, block.attn)
        by_mlp = one_part(stream, name, block.norm2, block.mlp)
        stack.added.append((by_attention, by_mlp))
        stack.answers.append(answers(stream.whole, start))
    return stack


def one_part(stream: Stream, name: str, norm: nn.Module, part: nn.Module) -> float:
    """Apply attention or the MLP as in this stack; return its output's mean length."""
    if name == "residual from normed x":
        stream.norm()
    change = part(norm(stream.whole) if name in NORM_IN_BRANCH else stream.whole)
    if isinstance(change, tuple):
        change, _ = change  # attention also returns its weights
    if name == "no residual":
        stream.replace(change)
    else:
        stream.add(change)
    if name == "post-norm":
        stream.norm()
    return change.norm(dim=2).mean().item()


def answers(tokens: Tensor, start: Tensor) -> list[int] | None:
    """Return the patch that each token resembles most, as the chapter measures it."""
    now, then = (x[0, 1:] - x[0, 1:].mean(dim=0) for x in (tokens, start))  # (N, D)
    if now.norm() < EQUAL * tokens[0, 1:].norm():
        return None
    likeness = F.normalize(now, dim=1) @ F.normalize(then, dim=1).T  # (N, N)
    return likeness.argmax(dim=1).tolist()


def draw() -> Drawing:
    drawing = Drawing(
        "The residual stream",
        "Four stacks of twelve random blocks, one below the other. Each has a "
        "photograph of a cat, put together from the patches that its tokens are taken "
        "for after the last block, and its stream, as thick as a token is long. "
        + " ".join(described(name) for name in STACKS),
    )
    drawing.numbers = {
        "stacks": {
            name: {
                "steps": stack.steps,
                "lengths": [[round(n, 2) for n in pair] for pair in stack.lengths],
                "recognised": stack.recognised,
                "wrong": [wrong(frame) for frame in stack.answers],
            }
            for name, stack in stacks().items()
        },
        "cat": vars(CAT),
        "top": TOP,
        "pitch": PITCH,
        "floor": FLOOR,
        "left": LEFT,
        "wide": WIDE,
    }
    legend(drawing)
    with drawing.part("now", moving=True):
        tops = (TOP + index * PITCH + 30 for index in range(len(STACKS)))
        drawing.shape("".join(f"M{RIGHT} {top}v72" for top in tops), "ink")
    for index, name in enumerate(STACKS):
        with drawing.at(0, TOP + index * PITCH):
            one_stack(drawing, name)
    bottom = TOP + len(STACKS) * PITCH
    with drawing.part("rows", moving=True):
        for index in range(len(STACKS)):
            top = TOP + index * PITCH
            drawing.full(Box(LEFT, top + 30, RIGHT - LEFT, 72), "ink", 0)
    for block in range(0, BLOCKS + 1, 2):
        x = LEFT + block * WIDE
        drawing.text(x, bottom + 12, f"{block}", size=12, anchor="middle")
    with drawing.part("block"):
        drawing.text(2, bottom + 12, f"after {BLOCKS} blocks", size=12)
    return drawing


def described(name: str) -> str:
    stack = stacks()[name]
    (before, _), (after, left) = stack.lengths[0], stack.lengths[-1]
    count = stack.recognised[-1]
    words = "all tokens are equal" if count is None else f"{count} of {N} recognised"
    return (
        f"{name[0].upper()}{name[1:]}: {words}; the stream's tokens are {before:.1f} "
        f"long before the first block and {after:.1f} after the last, and {left:.2f} "
        "of it is what is left of the tokens at the start."
    )


def wrong(frame: list[int] | None) -> list[int] | None:
    """Return a flat list: each place that shows another patch, then that patch."""
    if frame is None:
        return None
    return [n for place, k in enumerate(frame) if place != k for n in (place, k)]


def legend(drawing: Drawing) -> None:
    entries: tuple[tuple[float, float, Colour, str], ...] = (
        (2, 5, "ink", "the residual stream"),
        (166, 5, "asking", "what is left of the start"),
        (2, 22, PARTS["attention"], "what attention adds"),
        (166, 22, PARTS["MLP"], "what the MLP adds"),
    )
    for x, y, colour, words in entries:
        place = Box(x, y, 11, 11)
        if colour == "ink":
            drawing.box(x, y, 11, 11, colour=colour, radius=2)
        else:
            drawing.full(place, colour, radius=2)
        drawing.text(x + 17, y + 10, words, size=12)


def one_stack(drawing: Drawing, name: str) -> None:
    stack = stacks()[name]
    drawing.text(2, 11, name, bold=True)
    count = stack.recognised[-1]
    with drawing.part(f"count-{name}"):
        words = "all tokens equal" if count is None else f"{count} of {N} recognised"
        drawing.text(358, 11, words, anchor="end")
    length, left = stack.lengths[-1]
    with drawing.part(f"length-{name}"):
        drawing.text(LEFT, 26, f"length {length:.1f}", size=12, colour="soft")
    with drawing.part(f"left-{name}"):
        words = f"left of the start {left:.1f}"
        drawing.text(LEFT + 78, 26, words, size=12, colour="asking")
    with drawing.part(f"cat-{name}"):
        put_together(drawing, stack.answers[-1])
    with drawing.part(f"empty-{name}"):
        if count is None:
            nothing(drawing)
    with drawing.part(f"ahead-{name}", moving=True):
        drawing.line(*band(stack, 0)[1:-1], colour="line", thick=0.75, dashed=True)
    with drawing.part(f"stream-{name}"):
        drawing.area(*band(stack, 0), colour="ink")
    with drawing.part(f"first-{name}"):
        drawing.area(*band(stack, 1), colour="asking", full=True)
    for block, lengths in enumerate(stack.added):
        with drawing.part(f"added-{name}-{block}"):
            for half, (length, colour) in enumerate(
                zip(lengths, PARTS.values(), strict=True)
            ):
                x = LEFT + (block + half / 2 + 0.25) * WIDE
                bar = Box(x - BAR / 2, FLOOR + 3, BAR, length)
                drawing.full(bar, colour)


def put_together(drawing: Drawing, frame: list[int] | None) -> None:
    """Draw the cat with the patch that each token resembles most in its place."""
    if frame is None:
        return
    drawing.photograph(CAT, "cat")
    rows = 224 // P
    for place, patch in enumerate(frame):
        if place != patch:
            row, column = divmod(patch, rows)
            piece = Box(column * P, row * P, P, P)
            where = CAT.cell(*divmod(place, rows), rows, rows)
            drawing.photograph(where, "cat", piece)


def nothing(drawing: Drawing) -> None:
    drawing.box(CAT.x, CAT.y, CAT.width, CAT.height, colour="line", radius=0)
    drawing.lines(
        CAT.middle, CAT.centre - 2, f"{N} times", "one token", size=12, anchor="middle"
    )


def band(stack: Stack, which: int) -> list[Point]:
    """Return the outline of the stream, or of the part of it left from the start."""
    wide = WIDE / stack.steps
    points = [
        (LEFT + i * wide, FLOOR - lengths[which])
        for i, lengths in enumerate(stack.lengths)
    ]
    return [(LEFT, FLOOR), *points, (RIGHT, FLOOR)]
