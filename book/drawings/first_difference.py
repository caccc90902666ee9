"""Draw first_difference as a ladder: two models compared rung by rung."""

from dataclasses import replace

from book.drawings.kit import Colour, Drawing, Word
from vit_steps import VisionTransformer, data
from vit_steps.checkpoint import read_checkpoint
from vit_steps.pretrained import first_difference
from vit_steps.pretrained.comparing import named_outputs

MODEL = "cluttered-digits"
HEADS = 2  # a wrong number of heads; the model has 4
LEFT, RIGHT = 34, 194  # the two rails
TOP, STEP, GAP = 58, 28, 18
BEYOND = 3  # rungs drawn below the first difference


def draw() -> Drawing:
    places, largest, found = compared()
    drawing = Drawing(
        "first_difference, a ladder",
        "Two models with the same weights side by side, like the rails of a ladder; "
        f"the left one has 4 heads, the right one {HEADS}. Each rung is a place at "
        "which their outputs are compared, from the first at the top downwards: "
        f"{', '.join(places[:found])} are equal. At the next rung, {places[found]}, "
        f"the outputs differ by up to {largest}. There the function stops, and the "
        "rungs below, drawn with dashes, are not compared any more. The fault lies "
        f"between {places[found - 1]} and {places[found]}: it is how attention mixes.",
    )
    for x, whose, heads in ((LEFT, "model a", 4), (RIGHT, "model b", HEADS)):
        drawing.text(x, 14, whose, size=13, bold=True, anchor="middle")
        drawing.text(x, 29, f"{heads} heads", size=11, colour="soft", anchor="middle")
    last = found + BEYOND
    bottom = height_of(last, found) + 20
    for x in (LEFT, RIGHT):
        drawing.arrow((x, 38), (x, bottom), colour="ink", thick=2.5)
    for index, place in enumerate(places[: last + 1]):
        y = height_of(index, found)
        rung(drawing, y, place, index - found)
        if index < found:
            verdict(drawing, y, "equal", "green")
        elif index == found:
            verdict(drawing, y, f"differ by up to {largest}", "red")
        else:
            drawing.text(RIGHT + 32, y + 4, "not compared", size=11, colour="soft")
    between(drawing, height_of(found - 1, found), height_of(found, found))
    drawing.text(
        (LEFT + RIGHT) / 2,
        bottom + 14,
        "and so on, to the logits",
        size=11,
        colour="soft",
        anchor="middle",
    )
    return drawing


def compared() -> tuple[list[str], str, int]:
    """Return the places in running order, the first difference, and its index."""
    right = VisionTransformer.from_pretrained(MODEL)
    wrong = VisionTransformer(replace(right.config, num_heads=HEADS)).eval()
    wrong.load_state_dict(right.state_dict())
    _, card = read_checkpoint(MODEL)
    images, _, _ = data.cluttered_digits.make(500, "test")
    images = data.normalize(images[:8], card["mean"], card["std"])
    found = first_difference(right, wrong, images)
    if found is None:
        raise ValueError("the two models are equal, expected a difference")
    places = list(named_outputs(right, images))
    return places, f"{found.largest:.1f}", places.index(found.place)


def rung(drawing: Drawing, y: float, place: str, after: int) -> None:
    """Draw a place between the rails, ``after`` rungs below the first difference."""
    colour: Colour = "green" if after < 0 else "red" if after == 0 else "line"
    middle = (LEFT + RIGHT) / 2
    half = 69
    for start, end in ((LEFT, middle - half), (middle + half, RIGHT)):
        drawing.line((start, y), (end, y), colour=colour, thick=2.5, dashed=after > 0)
    drawing.box(
        middle - half,
        y - 10.5,
        2 * half,
        21,
        Word(place, "soft" if after > 0 else "ink", code=True, size=10.5),
        colour=colour,
        ground=after <= 0,
        thick=2 if after == 0 else 1,
        radius=4,
        dashed=after > 0,
    )


def verdict(drawing: Drawing, y: float, words: str, colour: str) -> None:
    x = RIGHT + 17
    if colour == "green":  # an equal place gets a tick
        drawing.line(
            (x - 5, y), (x - 1, y + 4), (x + 6, y - 5), colour="green", thick=2
        )
    else:
        for way in (-1, 1):
            drawing.line(
                (x - 4, y - 4 * way), (x + 4, y + 4 * way), colour="red", thick=2
            )
    drawing.text(x + 15, y + 4, words, size=11, bold=colour == "red")


def between(drawing: Drawing, upper: float, lower: float) -> None:
    """Mark the fault: below the last equal place, above the first that differs."""
    x, top, bottom = LEFT - 14, upper + 6, lower - 6
    drawing.line(
        (x + 7, top), (x, top), (x, bottom), (x + 7, bottom), colour="red", thick=2
    )
    y = (upper + lower) / 2
    drawing.line((x, y), (x - 10, y), colour="red", thick=2)
    drawing.text(
        (LEFT + RIGHT) / 2,
        y + 4,
        "the fault is here",
        size=11,
        bold=True,
        anchor="middle",
    )
    drawing.text(RIGHT + 15, y + 4, "between these two places", size=11)


def height_of(index: int, found: int) -> float:
    """Return the y of a rung; there is a gap above the first that differs."""
    return TOP + index * STEP + (GAP if index >= found else 0)
