"""Draw DeiT in training: two tokens, heads and losses, with chapter 13's numbers."""

import torch
from torch.nn import functional as F

from book.drawings.kit import Box, Colour, Drawing, Word
from vit_steps.variants import hard_distillation_loss

CLASSES = ("1", "4", "7")
LABEL = 2
TEACHER = [4.0, -1.0, 3.0]
CLASS, DISTILLATION = [0.5, 0.0, 1.0], [0.6, 0.1, 0.2]

FIRST: Colour = "class"
THIRD: Colour = "ink"
SECOND: Colour = "patch-0"  # the distillation token and its target
ONE, TWO, THREE = 60.0, 180.0, 300.0  # middles of three columns


def draw() -> Drawing:
    teacher, one, two = (torch.tensor([n]) for n in (TEACHER, CLASS, DISTILLATION))
    label = torch.tensor([LABEL])
    choice = teacher.argmax(dim=1)
    parts = F.cross_entropy(one, label), F.cross_entropy(two, choice)
    loss = hard_distillation_loss((one, two), label, teacher)
    torch.testing.assert_close(sum(parts) / 2, loss)
    chosen = CLASSES[int(choice)]

    drawing = Drawing(
        "DeiT's tokens, heads and losses",
        "An image of a digit goes to the student and to the teacher. In the student, a "
        "class token and a distillation token come before the N patches, and all of "
        "them pass through the encoder blocks. A head reads the class token, a second "
        "head the distillation token. The class token's shares are "
        f"{listed(one)} for the digits 1, 4 and 7, and are compared with the label "
        f"{CLASSES[LABEL]}: cross-entropy {parts[0]:.3f}. The distillation token's are "
        f"{listed(two)}, and are compared with the teacher's choice {chosen}: "
        f"cross-entropy {parts[1]:.3f}. The loss is their mean, {loss:.3f}. In use, "
        "the teacher is gone, and the answer is the mean of the two heads' logits.",
    )
    image = drawing.box(
        94, 4, 172, 26, "one image, as augmented", colour="ink", thick=1.25
    )
    drawing.arrow((130, image.bottom + 2), (130, 48))
    drawing.arrow((230, image.bottom + 2), (THREE, 50), (THREE, 72))
    drawing.box(2, 50, 236, 147, colour="soft", radius=8)
    drawing.text(10, 67, Word("Student", bold=True), ", a Vision Transformer")
    token(drawing, Box(10, 76, 50, 24), "class", "class")
    token(drawing, Box(66, 76, 82, 24), "distillation", SECOND)
    for k in range(3):
        drawing.box(154 + 22 * k, 76, 18, 24, colour="line", radius=3)
    drawing.text(221, 92, "…", size=11)
    drawing.text(154, 113, "N patches", size=11, colour="soft")
    drawing.arrow((35, 102), (35, 118))
    drawing.arrow((107, 102), (107, 118))
    drawing.arrow((140, 102), (140, 118))
    blocks = drawing.box(10, 120, 220, 26, "encoder blocks, norm", radius=4)
    for middle, name, colour in ((ONE, "head", FIRST), (TWO, "head_dist", SECOND)):
        drawing.arrow((middle, blocks.bottom + 2), (middle, 164), colour=colour)
        drawing.box(middle - 38, 166, 76, 24, colour=colour, thick=1.5, radius=4)
        drawing.text(middle, 182, name, anchor="middle", code=True, size=11.5)
    drawing.box(246, 74, 108, 40, colour="ink", thick=1.5)
    drawing.text(THREE, 91, "Teacher", bold=True, anchor="middle")
    drawing.text(THREE, 107, "trained before", size=11, anchor="middle")

    for middle, logits, colour in (
        (ONE, one, FIRST),
        (TWO, two, SECOND),
        (THREE, teacher, THIRD),
    ):
        start = 116 if colour == THIRD else 192
        drawing.arrow((middle, start), (middle, 211), colour=colour)
        shares(drawing, middle, logits, colour)
    drawing.text(2, 276, Word(f"The label: {CLASSES[LABEL]}", bold=True))
    drawing.text(358, 276, Word(f"Its choice: {chosen}", bold=True), anchor="end")
    drawing.arrow((ONE - 20, 282), (ONE - 20, 300))
    drawing.arrow((ONE + 48, 254), (ONE + 48, 300), colour=FIRST)
    drawing.arrow((TWO, 254), (TWO, 300), colour=SECOND)
    drawing.arrow((THREE + 20, 282), (THREE + 20, 324), (238, 324))
    for middle, part, colour in ((ONE, parts[0], FIRST), (TWO, parts[1], SECOND)):
        place = drawing.box(
            middle - 56, 302, 112, 42, colour=colour, thick=1.5, radius=4
        )
        drawing.text(middle, 319, "cross-entropy", size=11.5, anchor="middle")
        drawing.text(middle, 336, f"{part:.3f}", bold=True, anchor="middle")
        drawing.arrow((middle, place.bottom + 2), (middle, 366))
    drawing.box(
        ONE - 56,
        368,
        TWO - ONE + 112,
        26,
        f"their mean: the loss, {loss:.3f}",
        bold=True,
    )
    drawing.lines(
        250,
        374,
        "In use: no teacher,",
        "and the mean of",
        "the heads’ logits.",
        size=11,
    )
    return drawing


def token(drawing: Drawing, place: Box, name: str, colour: Colour) -> None:
    drawing.box(
        place.x,
        place.y,
        place.width,
        place.height,
        name,
        colour=colour,
        thick=1.75,
        radius=3,
        bold=True,
        size=11.5,
    )


def shares(
    drawing: Drawing, middle: float, logits: torch.Tensor, colour: Colour
) -> None:
    """Draw the softmax of three logits below the digits that they belong to."""
    cell = 35
    numbers = [f"{share:.2f}" for share in logits.softmax(dim=1)[0].tolist()]
    place = drawing.cells(
        middle - 1.5 * cell, 230, [numbers], (cell, 22), colour=colour, size=11.5
    )
    for k, name in enumerate(CLASSES):
        x = place.column(k, 3).middle
        drawing.text(x, 226, name, size=11.5, anchor="middle", bold=True)


def listed(logits: torch.Tensor) -> str:
    *first, last = (f"{share:.2f}" for share in logits.softmax(dim=1)[0].tolist())
    return f"{', '.join(first)} and {last}"
