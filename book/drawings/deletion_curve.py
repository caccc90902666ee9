"""Draw a picture that chapter 9 covers patch by patch, in one of several orders.

On the page the number of covered patches, the order and the picture can be changed
(scripts/figures/deletion_curve.js).
"""

from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor

from book.drawings.kit import Box, Colour, Drawing, Point
from vit_steps import VisionTransformer, data
from vit_steps.attention_maps import (
    class_token_attention,
    mask_patches,
    mass_inside,
    patch_brightness,
)
from vit_steps.checkpoint import read_checkpoint
from vit_steps.data import cluttered_digits

PICTURES = (17, 32, 0)  # test images; the chapter begins with them
SIDE, P, N = 8, 4, 64  # patches along a side, pixels along a patch's, patches
ORDERS = {
    "most attended": "Most attended first",
    "random": "Random",
    "brightest": "Brightest first",
    "ink in the box": "Ink in the box first",
    "least attended": "Least attended first",
}
SIDES: tuple[tuple[str, Colour], ...] = (
    ("most attended", "class"),
    ("brightest", "patch-0"),
)
COVERED = 4  # at the start, where the two orders differ most
PHOTO = Box(2, 24, 144, 144)
BAR = Box(154, 24, 18, 144)
SECOND = 184  # left edge of the right half
CHART = Box(32, 210, 316, 66)
BESIDE = "random"  # the order whose curve is always there, to compare with
LEGEND = 124  # x of its name, outside the chart, where no line goes


@dataclass(frozen=True)
class Curve:
    """The model's answers with the first 0, 1, ... N patches of an order covered."""

    order: list[int]
    shares: list[int]  # the true class's probability, in hundredths
    answers: list[int]


@dataclass(frozen=True)
class Picture:
    label: int
    box: list[int]  # top, left, bottom, right, in pixels
    curves: dict[str, Curve]


@cache
def pictures() -> tuple[list[Picture], float]:
    """Return the pictures with their curves, in float64, and a cover's brightness."""
    images, labels, boxes = cluttered_digits.make(500, "test")
    _, card = read_checkpoint("cluttered-digits")
    inputs = data.normalize(images, card["mean"], card["std"])  # (B, C, H, W)
    model = VisionTransformer.from_pretrained("cluttered-digits").double()
    torch.manual_seed(0)
    random = torch.rand(len(images), N)  # the same numbers as in the chapter
    found = []
    for index in PICTURES:
        image = images[[index]].double()
        box = boxes[[index]]
        x = inputs[[index]].double()  # (1, C, H, W)
        with torch.no_grad():
            _, weights = model.encode(x, need_weights=True)
        attention = class_token_attention(weights).mean(dim=(1, 2))  # (1, N)
        brightness = patch_brightness(image, P)  # (1, N)
        in_box = mass_inside(torch.eye(N)[None].double(), box, SIDE * P, P)  # (1, N)
        orders = {
            "most attended": attention,
            "random": random[[index]],
            "brightest": brightness,
            "ink in the box": brightness * in_box,
            "least attended": -attention,
        }
        label = int(labels[index])
        curves = {
            name: covered(model, x, label, first[0]) for name, first in orders.items()
        }
        found.append(Picture(label, box[0].tolist(), curves))
    return found, card["mean"][0]


def covered(model: VisionTransformer, x: Tensor, label: int, first: Tensor) -> Curve:
    """Cover the patches of one image in the falling order of ``first``."""
    order = first.argsort(descending=True, stable=True)  # (N,)
    images = [mask_patches(x, P, order[None, :count]) for count in range(N + 1)]
    with torch.no_grad():
        shares = model(torch.cat(images)).softmax(dim=1)  # (N + 1, K)
    hundredths = (100 * shares[:, label]).round().int().tolist()
    return Curve(order.tolist(), hundredths, shares.argmax(dim=1).tolist())


def draw() -> Drawing:
    found, grey = pictures()
    first = found[0]
    words = [
        f"the digit's probability is {first.curves[name].shares[COVERED] / 100:.2f}, "
        f"and the answer is {first.curves[name].answers[COVERED]}"
        for name, _ in SIDES
    ]
    after_five = {name: curve.shares[5] for name, curve in first.curves.items()}
    fallen = max(after_five[name] for name, _ in SIDES)
    assert fallen < 10 < 90 < after_five[BESIDE], "as the words below say"
    drawing = Drawing(
        "Patches covered one by one",
        f"The same picture twice: a handwritten {first.label} in a box and three "
        f"scraps around it, with {COVERED} of its {N} patches covered in grey. At the "
        f"left they are the most attended ones; {words[0]}. At the right they are the "
        f"brightest ones; {words[1]}. Beside each picture a bar shows the probability "
        f"of the {first.label}, and below them curves show it for every number of "
        f"covered patches, from 0 to {N}: both fall within five patches, and a third "
        "one, for random patches, does not.",
    )
    drawing.numbers = {
        "pictures": [
            {
                "label": picture.label,
                "box": picture.box,
                "curves": {
                    name: {
                        "order": curve.order,
                        "shares": curve.shares,
                        "answers": "".join(map(str, curve.answers)),
                    }
                    for name, curve in picture.curves.items()
                },
            }
            for picture in found
        ],
        "orders": ORDERS,
        "side": SIDE,
        "patch": P,
        "covered": COVERED,
        "photo": vars(PHOTO),
        "bar": vars(BAR),
        "second": SECOND,
        "chart": vars(CHART),
        "beside": BESIDE,
    }
    for half, (name, colour) in enumerate(SIDES):
        with drawing.at(half * SECOND, 0):
            one_picture(drawing, half, colour, first, first.curves[name], grey)
    chart(drawing, first)
    return drawing


def one_picture(
    drawing: Drawing,
    half: int,
    colour: Colour,
    picture: Picture,
    curve: Curve,
    grey: float,
) -> None:
    """Draw a picture with its covers, and the true class's probability as a bar."""
    drawing.line((2, 11), (20, 11), colour=colour, thick=2.5, dashed=half == 1)
    with drawing.part(f"title-{half}"):
        drawing.text(26, 15, ORDERS[SIDES[half][0]], bold=True)
    for index, name in enumerate(PICTURES):
        with drawing.part(f"digit-{half}-{index}", moving=index > 0):
            drawing.photograph(PHOTO, f"cluttered_digit_{name}")
    with drawing.part(f"covers-{half}"):
        places = [
            PHOTO.cell(*divmod(patch, SIDE), SIDE, SIDE)
            for patch in curve.order[:COVERED]
        ]
        drawing.covers(places, grey)
    with drawing.part(f"box-{half}"):
        top, left, bottom, right = (edge / P for edge in picture.box)
        cell = PHOTO.width / SIDE
        drawing.frame(
            Box(
                PHOTO.x + left * cell,
                PHOTO.y + top * cell,
                (right - left) * cell,
                (bottom - top) * cell,
            ),
            "key",
            around=0,
        )
    drawing.box(BAR.x, BAR.y, BAR.width, BAR.height, ground=False, radius=0)
    with drawing.part(f"bar-{half}"):
        high = BAR.height * curve.shares[COVERED] / 100
        drawing.full(Box(BAR.x, BAR.bottom - high, BAR.width, high), colour)
    with drawing.part(f"label-{half}"):
        drawing.text(BAR.middle, 16, f"{picture.label}", bold=True, anchor="middle")
    with drawing.part(f"answer-{half}"):
        answer = curve.answers[COVERED]
        mark = "✓" if answer == picture.label else "✗"
        drawing.text(PHOTO.x, 184, f"answer: {answer} {mark}", bold=True)
    with drawing.part(f"share-{half}"):
        share = f"{curve.shares[COVERED] / 100:.2f}"
        drawing.text(BAR.right, 184, share, bold=True, anchor="end")


def chart(drawing: Drawing, picture: Picture) -> None:
    """Draw the probability of the true class against the number of covered patches."""
    with drawing.part("chart-title"):
        words = f"probability of the {picture.label}"
        drawing.text(2, CHART.y - 9, words)
    with drawing.part("covered"):
        words = f"{COVERED} of {N} patches covered"
        drawing.text(CHART.right, CHART.y - 9, words, bold=True, anchor="end")
    for share in (0, 1):
        y = CHART.bottom - CHART.height * share
        drawing.text(CHART.x - 8, y + 4, f"{share}", anchor="end")
        drawing.line((CHART.x, y), (CHART.right, y), thick=0.5)
    random = graph(picture.curves[BESIDE])
    with drawing.part("curve-beside"):
        drawing.line(*random, colour="line", thick=1)
    with drawing.part("name-beside"):
        drawing.line((LEGEND, CHART.y - 13), (LEGEND + 16, CHART.y - 13), thick=1)
        drawing.text(LEGEND + 20, CHART.y - 9, BESIDE)
    for half in (1, 0):
        name, colour = SIDES[half]
        with drawing.part(f"curve-{half}"):
            points = graph(picture.curves[name])
            drawing.line(*points, colour=colour, thick=2, dashed=half == 1)
    x = across(COVERED)
    with drawing.part("now"):
        drawing.line((x, CHART.y - 4), (x, CHART.bottom + 4), colour="ink", thick=1)
    for count in (0, 16, 32, 48, 64):
        drawing.text(across(count), CHART.bottom + 17, f"{count}", anchor="middle")
    with drawing.part("chart", moving=True):
        drawing.full(CHART, "ink", 0)


def graph(curve: Curve) -> list[Point]:
    return [
        (across(count), CHART.bottom - CHART.height * share / 100)
        for count, share in enumerate(curve.shares)
    ]


def across(count: int) -> float:
    return CHART.x + CHART.width * count / N
