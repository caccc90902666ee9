"""Draw an image on its way through a trained model, from its patches to the answer.

This is the still picture. On the page the script draws its own in its place, wider on a
desk, in which each step can be opened, with the numbers that the model computes there,
for any patch and head (book/scripts/figures/data_flow.js).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import Tensor

from book.drawings.kit import Box, Drawing
from vit_steps import VisionTransformer, ViTConfig, data
from vit_steps.checkpoint import read_checkpoint
from vit_steps.data import cluttered_digits
from vit_steps.patch_embedding import patchify
from vit_steps.sizes import as_pair

PICTURES = (17, 32, 0)  # test images; chapter 9 has the same
SEEN, IN_HEAD = 4, 3  # numbers of a token that are written, and of a head's vector
SIDE, P, N, T = 8, 4, 64, 65
PATCH, CHOSEN = 18, 1  # the patch and the head that are open at the start

IMAGE = Box(2, 76, 64, 64)
TOP = 44  # y of the class token's strand
BLOCKS, WIDE = 124, 40  # left edge of the first block, and its width
LAST = 298  # x at which the strands of the patches end
HEAD = Box(300, TOP - 3, 8, 134)
BARS, LONGEST = 324, 34  # left edge of the bars, and the length of one of 100 %
NAMES = 194  # base line of the names below the flow
LARGE = Box(2, 206, 112, 112)
MAPS = Box(2, 340, 112, 112)
LEGEND = (114, 466)
FIRST, LABELS = 208, 124  # where the table begins

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
UNIT = 0.01  # numbers are rounded to it, those in FINER to smaller units
FINER = {"grey": 0.001, "reads": 0.001, "scores": 0.005}


@dataclass(frozen=True)
class Step:
    """A step of the model, and its place in the picture, from one x to another."""

    name: str
    letters: str
    here: tuple[int, ...]
    base: tuple[int, ...]  # the shape in ViT-B/16
    start: float
    end: float


def before_the_blocks(small: ViTConfig, base: ViTConfig) -> list[Step]:
    shapes = [of_patches(config) for config in (small, base)]
    names = ("the image", "cut into patches", "tokens", "class token, positions")
    letters = ("(C, H, W)", "(N, C·P·P)", "(N, D)", "(T, D)")
    ends = (IMAGE.right, 94, 108, BLOCKS)
    starts = (0, *ends)
    return [
        Step(*one)
        for one in zip(names, letters, *shapes, starts[:4], ends, strict=True)
    ]


def of_patches(config: ViTConfig) -> list[tuple[int, ...]]:
    """Return the shapes of image, patches, tokens, and tokens with the class token."""
    steps = {step.name: step.shape for step in config.cost().steps}
    numbers = config.in_channels * math.prod(as_pair(config.patch_size, "patch_size"))
    count, wide = steps["patch_embed.proj"]
    return [
        steps["image"],
        (count, numbers),
        (count, wide),
        steps["pos_embed"],
    ]


def in_a_block(small: ViTConfig, base: ViTConfig) -> list[Step]:
    """Return the steps of a block; x is measured from the block's left edge."""
    found = []
    for config in (small, base):
        tokens = config.cost().steps[2].shape[0]
        h = config.num_heads
        whole = (tokens, config.embed_dim)
        heads = (h, tokens, config.embed_dim // h)
        found.append((heads, (h, tokens, tokens), whole, whole))
    names = ("queries, keys, values", "attention weights", "mixed, added", "MLP, added")
    letters = ("(h, T, d)", "(h, T, T)", "(T, D)", "(T, D)")
    ends = (9, 19, 29, WIDE)
    return [
        Step(*one)
        for one in zip(names, letters, *found, (0, *ends[:3]), ends, strict=True)
    ]


def after_the_blocks(small: ViTConfig, base: ViTConfig) -> list[Step]:
    return [
        Step(name, letters, here, there, start, end)
        for name, letters, here, there, start, end in (
            (
                "norm, class token",
                "(D)",
                (small.embed_dim,),
                (base.embed_dim,),
                284,
                299,
            ),
            ("head", "(K)", (small.num_classes,), (base.num_classes,), 299, 311),
            ("softmax", "(K)", (small.num_classes,), (base.num_classes,), 311, 360),
        )
    ]


@cache
def trained() -> tuple[Any, Tensor, Tensor, dict[str, float]]:
    """Return the model, the images, their labels, and their mean and spread."""
    images, labels, _ = cluttered_digits.make(500, "test")  # as in chapter 9
    _, card = read_checkpoint("cluttered-digits")
    model = VisionTransformer.from_pretrained("cluttered-digits").double().eval()
    chosen = list(PICTURES)
    scale = {"mean": card["mean"][0], "std": card["std"][0]}
    return model, images[chosen].double(), labels[chosen], scale


Numbers = dict[str, Tensor]


@cache
def flows() -> list[Numbers]:
    """Compute, in float64, the numbers of each step for each of the images."""
    model, images, _, scale = trained()
    with torch.no_grad():
        return [one_flow(model, image[None], scale) for image in images]


def one_flow(model: Any, image: Tensor, scale: dict[str, float]) -> Numbers:
    inputs = data.normalize(image, [scale["mean"]], [scale["std"]])  # (1, C, H, W)
    x = model.embed(inputs)  # (1, T, D)
    blocks: dict[str, list[Tensor]] = {}
    reads = [read(model, x)]
    for block in model.blocks:
        for name, numbers in one_block(block, x).items():
            blocks.setdefault(name, []).append(numbers)
        x, _ = block(x)
        reads.append(read(model, x))
    last = model.norm(x)[0, 0]  # (D,)
    return {
        "grey": patchify(image, P)[0],  # (N, P·P)
        "tokens": model.patch_embed(inputs)[0, :, :SEEN],  # (N, 4)
        **{name: torch.stack(numbers) for name, numbers in blocks.items()},
        "end": x[0, 0, :SEEN],
        "last": last[:SEEN],
        "logits": model.head(last),  # (K,)
        "reads": torch.stack(reads),  # (L + 1, K)
    }


def read(model: Any, x: Tensor) -> Tensor:
    """Return the answer that norm and head read from the class token: (K,)."""
    probabilities: Tensor = model.head(model.norm(x)[0, 0]).softmax(dim=0)
    return probabilities


def one_block(block: Any, x: Tensor) -> Numbers:
    """Return a block's numbers, with the class token as the one that asks."""
    normed = block.norm1(x)  # (1, T, D)
    h = block.attn.num_heads
    q, k, v = block.attn.qkv(normed).reshape(T, 3, h, -1).permute(1, 2, 0, 3)
    scores = (q[:, :1] @ k.transpose(1, 2))[:, 0] / math.sqrt(q.shape[-1])  # (h, T)
    weights = scores.softmax(dim=-1)  # (h, T), of the class token
    heads = (weights[:, None] @ v)[:, 0]  # (h, d)
    change = block.attn.proj(heads.flatten())  # (D,)
    added = x[0, 0] + change
    ready = block.norm2(added)
    wide = block.mlp.fc1(ready)  # (M,)
    bent = block.mlp.act(wide)
    found = {"class": x[0, 0], "normed": normed[0, 0], "change": change}
    found |= {"added": added, "ready": ready, "wide": wide, "bent": bent}
    found |= {"narrow": block.mlp.fc2(bent)}
    in_heads = {"query": q[:, 0], "key": k[:, 1:], "value": v[:, 1:], "heads": heads}
    return (
        {name: part[..., :SEEN] for name, part in found.items()}
        | {name: part[..., :IN_HEAD] for name, part in in_heads.items()}
        | {"scores": scores}
    )


def of_the_model() -> Numbers:
    """Return the model's own numbers, which are the same for each image."""
    model, *_ = trained()
    filters = model.patch_embed.proj
    with torch.no_grad():
        return {
            "filter": filters.weight[0].flatten()[:SEEN],
            "bias": filters.bias[:1],
            "class": model.cls_token[0, 0, :SEEN],
            "positions": model.pos_embed[0, :, :SEEN],  # (T, 4)
            "head": model.head.weight[:, :SEEN],  # (K, 4)
            "headBias": model.head.bias,
        }


def packed(numbers: Numbers) -> list[object]:
    """Return the name, shape and unit of each tensor, and all numbers as letters.

    Two letters hold a number, in units counted from -2048 on.
    """
    described = []
    text = ""
    for name, tensor in numbers.items():
        unit = FINER.get(name, UNIT)
        counts = (tensor.double() / unit).round().long().flatten() + 2048
        if counts.min() < 0 or counts.max() > 4095:
            raise ValueError(f"{name}: expected -2048 to 2047 units of {unit}")
        text += "".join(DIGITS[n // 64] + DIGITS[n % 64] for n in counts.tolist())
        described.append([name, list(tensor.shape), unit])
    return [described, text]


def shape(sizes: Sequence[int]) -> str:
    return f"({', '.join(f'{size}' for size in sizes)})"


def draw() -> Drawing:
    model, _, labels, scale = trained()
    small = model.config
    base = ViTConfig.base()
    first, inside, last = (
        part(small, base) for part in (before_the_blocks, in_a_block, after_the_blocks)
    )
    now = flows()[0]
    answer = int(now["logits"].argmax())
    drawing = Drawing(
        "From the image to the answer",
        f"An image of a handwritten {labels[0]} runs through a trained model from left "
        f"to right. It is cut into {N} patches, and each becomes a strand. The class "
        f"token joins them on top. In each of {small.depth} blocks ribbons run from "
        "the patches to the class token, as wide as their attention weights. After the "
        "last norm only the class token goes on, to the head and ten bars: "
        f"{percent(now['reads'][-1][answer])} for the {answer}. A table below has the "
        "shape after each step, here and in ViT-B/16.",
    )
    drawing.numbers = {
        "pictures": [packed(numbers) for numbers in flows()],
        "labels": labels.tolist(),
        "model": packed(of_the_model()),
        "scale": {name: round(number, 4) for name, number in scale.items()},
        "steps": [
            [
                [s.name, s.letters, shape(s.here), shape(s.base), s.start, s.end]
                for s in part
            ]
            for part in (first, inside, last)
        ],
        "depth": small.depth,
        "heads": small.num_heads,
        "patch": PATCH,
        "chosen": CHOSEN,
    }
    with drawing.part("still"):
        strands(drawing)
        for block in range(small.depth):
            one_of_the_blocks(drawing, block, weights_of(now, block).mean(dim=0))
        answers(drawing, now["reads"][-1])
        names(drawing, small.depth)
        opened(drawing, now, small.num_heads, small.depth)
        table(drawing, first, inside, last)
    with drawing.part("flow", moving=True):
        with drawing.part("legend"):
            drawing.legend(*LEGEND, size=13)
        for index, name in enumerate(PICTURES):
            with drawing.part(f"image-{index}"):
                drawing.photograph(IMAGE, f"cluttered_digit_{name}")
    for handle in ("handle-step", "handle-patch", "handle-head"):
        with drawing.part(handle, moving=True):
            pass
    return drawing


def percent(share: Tensor) -> str:
    return f"{100 * share.item():.0f} %"


def weights_of(numbers: Numbers, block: int) -> Tensor:
    """Return the class token's attention weights: (h, T)."""
    return numbers["scores"][block].softmax(dim=-1)


def strand(token: int) -> float:
    return TOP + 2 * token


def strands(drawing: Drawing) -> None:
    """Draw the image, its patches' strands to the last norm, and the class token's."""
    drawing.photograph(IMAGE, f"cluttered_digit_{PICTURES[0]}")
    fan = ""
    for patch in range(N):
        out = IMAGE.y + (patch // SIDE + 0.5) * IMAGE.height / SIDE
        y = strand(patch + 1)
        fan += f"M{IMAGE.right} {out:g}C78 {out:g} 80 {y} 94 {y}H{LAST - 6}"
    drawing.shape(fan, "line", 0.4)
    drawing.shape(threaded(PATCH), "patch-0", 2)
    drawing.box(94, TOP, 10, 132, colour="ink", radius=3)
    drawing.box(110, TOP - 3, 8, 135, colour="position", radius=3)
    drawing.shape(f"M106 {TOP}H{HEAD.x}", "class", 3)
    drawing.circle(106, TOP, 3.5, "class", thick=2)
    drawing.box(286, TOP - 3, 7, 135, colour="ink", radius=3)
    drawing.box(HEAD.x, HEAD.y, HEAD.width, HEAD.height, colour="ink", radius=3)


def threaded(patch: int) -> str:
    """Return the path of one patch, from the image to the last norm."""
    row, column = divmod(patch, SIDE)
    cell = IMAGE.width / SIDE
    x, out = IMAGE.x + (column + 0.5) * cell, IMAGE.y + (row + 0.5) * cell
    y = strand(patch + 1)
    return f"M{x:g} {out:g}H{IMAGE.right:g}C78 {out:g} 80 {y} 94 {y}H{LAST}"


def one_of_the_blocks(drawing: Drawing, block: int, weights: Tensor) -> None:
    left = BLOCKS + block * WIDE
    drawing.box(left + 2, TOP - 8, WIDE - 4, 144, colour="line", ground=False, radius=5)
    drawing.shape(ribbons(block, weights[1:].tolist()), "ink", full=True)
    drawing.box(left + 30, TOP - 3, 5, 135, colour="ink", radius=2)


def ribbons(block: int, weights: Sequence[float]) -> str:
    """Return the outlines of ribbons from the patches to the class token.

    One is as wide as ten times its weight; those of less than a hundredth are left out.
    """
    left = BLOCKS + block * WIDE
    path = ""
    for patch, weight in enumerate(weights):
        if weight >= 0.01:
            y = strand(patch + 1)
            half = 5 * weight
            (a, b), (c, e) = (
                (f"{edge - half:.1f}", f"{edge + half:.1f}") for edge in (y, TOP)
            )
            path += f"M{left + 5} {a}C{left + 18} {a} {left + 16} {c} {left + 27} {c}"
            path += f"V{e}C{left + 16} {e} {left + 18} {b} {left + 5} {b}Z"
    return path


def answers(drawing: Drawing, shares: Tensor) -> None:
    for digit, share in enumerate(shares.tolist()):
        y = TOP + 13.4 * digit
        drawing.text(BARS - 4, y + 4, f"{digit}", size=12, anchor="end")
        drawing.full(Box(BARS, y - 4.5, LONGEST * share, 9), "ink")


def names(drawing: Drawing, depth: int) -> None:
    """Write below the flow what each of its parts is."""
    y = NAMES
    middles = {"image": 34.0, "tokens": 97.0, "block 0": 146.0, "head": 297.0}
    middles |= {f"{b}": BLOCKS + (b + 0.5) * WIDE for b in range(1, depth)}
    for name, x in middles.items():
        drawing.text(x, y, name, size=12, anchor="middle")
    drawing.text(358, y, "answer", size=12, anchor="end")


def opened(drawing: Drawing, now: Numbers, heads: int, depth: int) -> None:
    """Draw the image large, and where the class token looks in each of the heads."""
    drawing.photograph(LARGE, f"cluttered_digit_{PICTURES[0]}")
    place = LARGE.cell(*divmod(PATCH, SIDE), SIDE, SIDE)
    drawing.frame(place, "patch-0", around=0)
    drawing.text(2, MAPS.y - 6, f"attention, block {depth - 1}", size=12)
    weights = weights_of(now, depth - 1)
    for head in range(heads):
        place, shares = map_of(head), weights[head, 1:] / weights[head, 1:].max()
        drawing.heat(place, shares.reshape(SIDE, SIDE).tolist())
        drawing.box(*vars(place).values(), ground=False, radius=0, thick=0.75)
    drawing.legend(*LEGEND, size=13)


def map_of(head: int) -> Box:
    return Box(MAPS.x + head % 2 * 58, MAPS.y + head // 2 * 58, 54, 54)


def table(
    drawing: Drawing, first: list[Step], inside: list[Step], last: list[Step]
) -> None:
    """Draw title and shapes after each step, for a page that does not move."""
    drawing.text(2, 14, "From the image to the answer", size=13, bold=True)
    right, middle = 358, 277
    drawing.text(middle, FIRST, "here", size=11, anchor="end", bold=True)
    drawing.text(right, FIRST, "ViT-B/16", size=11, anchor="end", bold=True)
    y = FIRST + 22.0
    for number, part in enumerate((first, inside, last)):
        if number == 1:
            drawing.text(LABELS, y, "in each block", size=11, colour="soft")
            y += 20
        for step in part:
            name = step.name.replace("queries, keys, values", "q, k, v")
            name = name.replace("class token, positions", "class and positions")
            drawing.text(LABELS, y, name.replace("cut into ", ""), size=11)
            drawing.text(middle, y, shape(step.here), size=10.8, anchor="end")
            drawing.text(right, y, shape(step.base), size=10.8, anchor="end")
            y += 18
        y += 5
