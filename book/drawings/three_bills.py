"""Draw what a block costs for three sizes of image, as areas to one scale: chapter 1.

Divided by 2·D, the multiply-accumulates of a block are T·T, which is quadratic in the
number of tokens, plus T·6D, which is linear. Another drawing, ``bill``, has one of
these bands, which a reader can change.
"""

from book.drawings.bill import macs
from book.drawings.kit import Drawing, Word
from vit_steps.cost import token_count

SIDES = (224, 384, 1024)  # pixels along an image
P, D = 16, 768
LEFT, LONGEST = 2.0, 356.0
ABOVE = (16.0, 34.0, 34.0)  # from the end of a band to the base line of the next text


def draw() -> Drawing:
    counts = [token_count(side, P) + 1 for side in SIDES]
    scale = LONGEST / (counts[-1] + 6 * D)
    written = [share(T) for T in counts]
    drawing = Drawing(
        "A block's work for three sizes of image",
        "Three bands drawn to one scale, each as high as the image has tokens, and as "
        "long as these and 6D together. The square at the left end of a band is the "
        "quadratic part. "
        + ", ".join(
            f"for {side} pixels and {T:,} tokens it is {part}"
            for side, T, part in zip(SIDES, counts, written, strict=True)
        )
        + " of the band.",
    )
    bottom = 0.0
    for above, side, T, part in zip(ABOVE, SIDES, counts, written, strict=True):
        top = bottom + above
        quadratic, linear = (round(number / 1e6) for number in macs(T, D))
        pixels = Word(f"{side} pixels", bold=True)
        drawing.text(LEFT, top, pixels, f": T = {T:,} tokens")
        percent = Word(part, bold=True, colour="asking")
        drawing.text(LEFT + LONGEST, top, percent, " is quadratic", anchor="end")
        words = (
            Word(f"{quadratic:,}", colour="asking"),
            " + ",
            Word(f"{linear:,}", colour="position"),
            f" = {quadratic + linear:,} million MACs",
        )
        drawing.text(LEFT, top + 15, *words, size=11, colour="soft")
        square, rest = T * scale, 6 * D * scale
        y = top + 23
        first = drawing.box(LEFT, y, square, square, colour="asking", radius=0)
        second = drawing.box(first.right, y, rest, square, colour="position", radius=0)
        bottom = first.bottom
    for place, name, formula in (
        (first, "quadratic", "2·T²·D"),
        (second, "linear", "12·T·D²"),
    ):
        middle, y = place.middle, place.centre
        drawing.text(middle, y - 3, name, anchor="middle", bold=True)
        drawing.text(middle, y + 13, formula, anchor="middle", size=11)
    for place, name in ((first, "T"), (second, "6D")):
        y = bottom + 10
        drawing.line((place.x + 2, y), (place.right - 2, y), colour="soft")
        for x in (place.x + 2, place.right - 2):
            drawing.line((x, y - 4), (x, y + 4), colour="soft")
        drawing.text(place.middle, y + 15, name, anchor="middle", colour="soft")
    return drawing


def share(T: int) -> str:
    """Return the quadratic part of a block's multiply-accumulates."""
    quadratic, linear = macs(T, D)
    return f"{quadratic / (quadratic + linear):.1%}"
