"""Draw which tokens an output of PyTorch's attention is made of, as in chapter 14.

On the page another output can be chosen, a token changed and an image taken away
(scripts/figures/made_of.js).
"""

from dataclasses import dataclass

import torch
from torch import nn

from book.drawings.kit import Box, Drawing, Word, number

TOKENS = [[1, 2, 3], [10, 20, 30]]  # a number for each token of two images
CHOSEN = (0, 0)  # image and token of the output that is asked about
LOWEST, HIGHEST, STEP = 4, 40, 3  # of a token that changes; all means have few digits
CELL = (45, 36)
LEFT, RIGHT = 53, 223  # left edges of the tables
TOPS = {"left out": 58, "given": 200}  # upper edges of the tables of each layer
TITLES = {"left out": ("batch_first", " left out"), "given": ("batch_first=True", "")}
STRENGTH = 0.4  # of the colour of a token that is the whole output


@dataclass(frozen=True)
class Answer:
    """A layer's outputs for the tokens, and the slopes of the chosen output."""

    outputs: list[list[float]]
    made_of: list[list[float]]


def answer(name: str) -> Answer:
    layer = nn.MultiheadAttention(1, 1, batch_first=name == "given").double()
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.tensor([[0], [0], [1]]))  # scores of zero
        layer.out_proj.weight.fill_(1)
    x = torch.tensor(TOKENS, dtype=torch.float64)[..., None].requires_grad_()
    y, _ = layer(x, x, x)  # (B, T, 1)
    (slopes,) = torch.autograd.grad(y[CHOSEN].sum(), x)  # (B, T, 1)
    return Answer(y[..., 0].tolist(), slopes[..., 0].tolist())


def draw() -> Drawing:
    answers = {name: answer(name) for name in TOPS}
    wrong, right = (number(one.outputs[0][0]) for one in answers.values())
    drawing = Drawing(
        "What an output is made of",
        "The tokens 1, 2 and 3 of image 0 and 10, 20 and 30 of image 1, twice, with "
        "what attention makes of them. With batch_first left out the first token of "
        f"image 0 becomes {wrong}, made of the first tokens of both images, which is a "
        f"column of the table. With batch_first=True it becomes {right}, made of the "
        "three tokens of image 0, which is a row.",
    )
    drawing.numbers = {
        "tokens": TOKENS,
        "chosen": CHOSEN,
        "first": [LOWEST, HIGHEST, STEP],
        "cell": CELL,
        "right": RIGHT,
        "tops": TOPS,
        "strength": STRENGTH,
    }
    for x, words in ((LEFT, "goes in"), (RIGHT, "comes out")):
        middle = x + 1.5 * CELL[0]
        drawing.text(middle, 13, words, colour="soft", anchor="middle")
    for name, found in answers.items():
        layer(drawing, name, found)
    return drawing


def layer(drawing: Drawing, name: str, found: Answer) -> None:
    """Draw what goes into a layer, what comes out, and the sum of the chosen output."""
    top = TOPS[name]
    (wide, high) = CELL
    code, words = TITLES[name]
    drawing.text(2, top - 24, Word(code, code=True), words, bold=True, size=13)
    for x in (LEFT, RIGHT):
        for token in range(3):
            words = "token 0" if token == 0 else f"{token}"
            middle = x + (token + 0.5) * wide
            drawing.text(
                middle, top - 6, words, size=12, colour="soft", anchor="middle"
            )
    for image in range(2):
        base = top + (image + 0.5) * high + 4
        drawing.text(2, base, f"image {image}", size=12, colour="soft")
    middle = top + high
    drawing.arrow((LEFT + 3 * wide + 7, middle), (RIGHT - 7, middle))
    for image in range(2):
        with drawing.part(f"row-{name}-{image}"):
            for token in range(3):
                place = Box(LEFT, top, 3 * wide, 2 * high).cell(image, token, 2, 3)
                with drawing.part(f"share-{name}-{image}-{token}"):
                    share = found.made_of[image][token]
                    drawing.full(place, "value", max(STRENGTH * share, 0.001))
                cell(drawing, place, f"in-{name}-{image}-{token}", TOKENS[image][token])
    with drawing.part(f"handle-{name}"):
        for image in range(2):
            for token in range(3):
                place = Box(RIGHT, top, 3 * wide, 2 * high).cell(image, token, 2, 3)
                part = f"out-{name}-{image}-{token}"
                cell(drawing, place, part, found.outputs[image][token])
        with drawing.part(f"chosen-{name}"):
            place = Box(RIGHT, top, 3 * wide, 2 * high)
            drawing.frame(place.cell(*CHOSEN, 2, 3), around=-1)
    with drawing.part(f"sum-{name}"):
        drawing.text(
            LEFT, top + 2 * high + 18, summed(found), bold=True, colour="value"
        )


def cell(drawing: Drawing, place: Box, part: str, shown: float) -> None:
    drawing.box(*vars(place).values(), ground=False, radius=0, thick=0.75)
    with drawing.part(part):
        drawing.text(
            place.middle, place.centre + 4.7, number(shown), size=13, anchor="middle"
        )


def summed(found: Answer) -> str:
    """Return the chosen output as the mean of the tokens that it is made of."""
    seen = [
        number(TOKENS[image][token])
        for image, shares in enumerate(found.made_of)
        for token, share in enumerate(shares)
        if share
    ]
    result = number(found.outputs[CHOSEN[0]][CHOSEN[1]])
    return f"{result} = ({' + '.join(seen)}) / {len(seen)}"
