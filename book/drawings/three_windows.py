"""Draw the photograph with which chapter 0 begins, and two windows on it.

On the page there is one window, which opens step by step, and the rest of the
photograph is covered (scripts/figures/three_windows.js).
"""

from book.drawings.kit import PIXELS, Box, Drawing

PHOTOGRAPH = "astronaut_224"
SIDES = (11, 21, 31, 51, 81, 121, PIXELS)  # of the window on the page, in pixels
SMALL = (11, 51)  # those that the chapter asks about
MIDDLE = (60, 140)  # column and row of their middle
VIEW, PHOTO = Box(2, 24, 172, 172), Box(186, 24, 172, 172)
GAP = 8


def window(side: int) -> Box:
    """Return the pixels of a window."""
    x, y = (middle - (side - 1) / 2 for middle in MIDDLE)
    return Box(x, y, side, side)


def share(side: int) -> str:
    """Return how much of the photograph a window shows."""
    percent = 100 * side**2 / PIXELS**2
    return f"{percent:.1f} %" if percent < 1 else f"{percent:.0f} %"


def framed(pixels: Box) -> Box:
    """Return the place of a window on the drawn photograph."""
    scale = PHOTO.width / PIXELS
    x, y = PHOTO.x + scale * pixels.x, PHOTO.y + scale * pixels.y
    return Box(x, y, scale * pixels.width, scale * pixels.height)


def draw() -> Drawing:
    first, second = (f"{side} by {side} pixels" for side in SMALL)
    drawing = Drawing(
        "A window on a photograph",
        f"At the left two windows on a photograph. One has {first}, coarse squares of "
        f"orange; the other has {second}, orange cloth with folds and the upper edge "
        "of a round purple badge. At the right the whole photograph: a smiling "
        "astronaut in an orange suit, with two small frames, one inside the other, on "
        "her chest below the neck ring and above the badge.",
    )
    drawing.numbers = {
        "pixels": PIXELS,
        "sides": SIDES,
        "middle": MIDDLE,
        "photo": vars(PHOTO),
    }
    whole = f"{PIXELS}×{PIXELS} pixels"
    drawing.text(PHOTO.middle, 14, whole, size=13, bold=True, anchor="middle")
    drawing.photograph(PHOTO, PHOTOGRAPH)
    with drawing.part("still"):
        side = (VIEW.height - GAP) / 2
        for index, size in enumerate(SMALL):
            place = Box(VIEW.x, VIEW.y + index * (side + GAP), side, side)
            drawing.photograph(place, PHOTOGRAPH, window(size), squares=True)
            drawing.text(place.right + 8, place.centre, f"{size}×{size}", bold=True)
            drawing.text(place.right + 8, place.centre + 16, share(size))
            drawing.mark(framed(window(size)))
        drawing.text(VIEW.x, 14, "two windows", size=13, bold=True)
    with drawing.part("view", moving=True):
        drawing.photograph(VIEW, PHOTOGRAPH, window(SIDES[1]))
    with drawing.part("title", moving=True):
        drawing.text(VIEW.middle, 14, " ", size=13, bold=True, anchor="middle")
    with drawing.part("cover", moving=True):
        drawing.covers([PHOTO], 0.4)
    with drawing.part("frame", moving=True):
        drawing.mark(framed(window(SIDES[0])))
    with drawing.part("whole", moving=True):
        drawing.full(PHOTO, "ink", 0)
    return drawing
