"""Check of chapter 1: how many tokens there are."""

import math
import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import Generator

from vit_check.engine.check import Case
from vit_check.engine.drawing import whole_number
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps.cost import token_count as right_count
from vit_steps.sizes import Size, as_pair

_REFUSED = "a ValueError"
_OTHER_ERROR = "another error"
_NOT_RAISED = "no error"
_NO_PAIRS = "takes no pairs"
_NO_INTS = "takes no ints"
_SIDES_SWAPPED = "refuses what fits, and takes it with the patch's sides swapped"
_BOTH_SIDES = "a ValueError where neither side fits, and none where one does not"
_ASSERTED = "an AssertionError"
_SIZES_NAMED = "a ValueError that names the sizes"
_SIZES_UNNAMED = "a ValueError that does not name the sizes"


def _count_or_refuse(
    count: Any, image_size: Size, patch_size: Size, by_what: bool = False
) -> Any:
    """The count; for patches that do not fit, that it refuses them, or by what."""
    fits = _sides_fit(image_size, patch_size)
    try:
        found = count(image_size, patch_size)
    except (ValueError, AssertionError) as error:
        if fits and _refuses_sides_swapped(count):
            return _SIDES_SWAPPED
        if fits or (by_what and not _runs(count, 12, 4)):
            raise
        return _of_kind(error, image_size, patch_size) if by_what else _REFUSED
    except TypeError:
        ints = isinstance(image_size, int) and isinstance(patch_size, int)
        if ints and _runs(count, (12, 12), (4, 4)):
            return _NO_INTS
        if not ints and _runs(count, 12, 4):
            return _NO_PAIRS
        raise
    except Exception as error:
        if fits or type(error) not in (Exception, RuntimeError):
            raise
        return _OTHER_ERROR
    if fits:
        return found
    if not _is_count(found):
        return _NOT_RAISED
    return _BOTH_SIDES if _refuses_both_sides_alone(count) else found


def _refuses_sides_swapped(count: Any) -> bool:
    return _runs(count, (12, 18), (6, 4)) and not _runs(count, (12, 18), (4, 6))


def _refuses_both_sides_alone(count: Any) -> bool:
    one = _runs(count, (13, 16), 4) and _runs(count, (12, 17), 4)
    return one and not _runs(count, (13, 17), 4)


def _of_kind(error: Exception, image_size: Size, patch_size: Size) -> str:
    if isinstance(error, AssertionError):
        return _ASSERTED
    said = set(re.findall(r"\d+", str(error)))
    sides = zip(as_pair(image_size, ""), as_pair(patch_size, ""), strict=True)
    named = any(n % p and {str(n), str(p)} <= said for n, p in sides)
    return _SIZES_NAMED if named else _SIZES_UNNAMED


def _runs(count: Any, image_size: Size, patch_size: Size) -> bool:
    try:
        count(image_size, patch_size)
    except Exception:
        return False
    return True


def _is_count(found: Any) -> bool:
    """Whether it is a number of patches, and no None, False, 0 or error in its place"""
    if isinstance(found, torch.Tensor) and found.numel() == 1:
        found = found.item()
    return isinstance(found, int | float) and found > 0 and found is not True


def _sides_fit(image_size: Size, patch_size: Size) -> bool:
    (H, W), (height, width) = as_pair(image_size, "image"), as_pair(patch_size, "patch")
    return H % height == 0 and W % width == 0


def _counting_inputs(generator: Generator) -> Iterator[Case]:
    rows, more, side = (
        whole_number(generator, *span) for span in ((8, 14), (2, 6), (5, 8))
    )
    yield [224, 16]
    yield [rows * side, side]
    yield [(rows * side, (rows + more) * side), side]
    yield [(63, 44), (7, 4)]  # for which no two mistakes come to the same
    yield [((rows + more) * 7, rows * 4), (7, 4)]
    yield [12 * rows, (4, 6)]
    yield [600, 16]
    yield [(2 * side, 5 * side - 1), side]
    yield [(5 * side - 1, 2 * side), side]
    yield [(40, 90), 20]  # the area is that of nine patches
    yield [(40, 90), 20, True]
    yield [(10 * side + 1, 4 * side), side, True]


def _sides(image_size: Size, patch_size: Size) -> tuple[int, int, int, int]:
    H, W = as_pair(image_size, "image_size")
    return (H, W, *as_pair(patch_size, "patch_size"))


def _by_sides(image_size: Size, patch_size: Size) -> int:
    H, W, height, width = _sides(image_size, patch_size)
    return (H // height) * (W // width)


def _rounded_up(image_size: Size, patch_size: Size) -> int:
    H, W, height, width = _sides(image_size, patch_size)
    return math.ceil(H / height) * math.ceil(W / width)


def _by_area(image_size: Size, patch_size: Size) -> int:
    H, W, height, width = _sides(image_size, patch_size)
    return (H * W) // (height * width)


def _with_area_checked(image_size: Size, patch_size: Size) -> int:
    H, W, height, width = _sides(image_size, patch_size)
    if (H * W) % (height * width):
        raise ValueError
    return (H * W) // (height * width)


def _with_one_side_checked(image_size: Size, patch_size: Size, side: int) -> int:
    sizes = _sides(image_size, patch_size)
    if sizes[side] % sizes[2 + side]:
        raise ValueError
    return _by_sides(image_size, patch_size)


def _for_pairs(image_size: Any, patch_size: Any) -> int:
    (H, W), (height, width) = image_size, patch_size
    return _by_sides((H, W), (height, width))


def _refusing_otherwise(image_size: Size, patch_size: Size) -> int:
    if not _sides_fit(image_size, patch_size):
        raise RuntimeError
    return right_count(image_size, patch_size)


def _asserting(image_size: Size, patch_size: Size) -> int:
    assert _sides_fit(image_size, patch_size), (image_size, patch_size)
    return right_count(image_size, patch_size)


def _refusing_in_silence(image_size: Size, patch_size: Size) -> int:
    if not _sides_fit(image_size, patch_size):
        raise ValueError
    return right_count(image_size, patch_size)


def _with_patch_turned(image_size: Size, patch_size: Size) -> int:
    return right_count(image_size, as_pair(patch_size, "patch_size")[::-1])


def _saying_otherwise(image_size: Size, patch_size: Size) -> int | None:
    if not _sides_fit(image_size, patch_size):
        return None
    return right_count(image_size, patch_size)


def _for_ints(image_size: Any, patch_size: Any) -> int:
    if image_size % patch_size:
        raise ValueError
    return int((image_size // patch_size) ** 2)


def _with_and_for_or(image_size: Size, patch_size: Size) -> int:
    H, W, height, width = _sides(image_size, patch_size)
    if H % height and W % width:
        raise ValueError
    return _by_sides(image_size, patch_size)


def _steps_of_one(image_size: Size, patch_size: Size) -> int:
    H, W, height, width = _sides(image_size, patch_size)
    return (H - height + 1) * (W - width + 1)


def _one_side_of(image_size: Size, patch_size: Size, axis: int) -> int:
    H, W, height, width = _sides(image_size, patch_size)
    return (H // height, W // width)[axis]


def _square_of(image_size: Size, patch_size: Size, axis: int) -> int:
    return _one_side_of(image_size, patch_size, axis) ** 2


token_count = FunctionCheck(
    "token_count",
    "token_count(image_size, patch_size) -> the int N, or a ValueError that names both "
    "sizes where the patches do not fill the image",
    right_count,
    _counting_inputs,
    [
        Mistake(
            "assert",
            "refuses by assert, which `python -O` takes away; raise a ValueError",
            _asserting,
        ),
        Mistake(
            "sizes not named",
            "raises a ValueError that does not say which sizes did not fit; whoever "
            "meets it will want to know the image's and the patch's",
            _refusing_in_silence,
        ),
        Mistake(
            "class token counted",
            "counts one too many: N is the number of patches, and the class token, "
            "which makes it T, belongs to no patch",
            lambda image, patch: right_count(image, patch) + 1,
        ),
        Mistake(
            "one side",
            "counts the patches along one side; the image has rows and columns of "
            "them, so multiply the two",
            lambda image, patch: _one_side_of(image, patch, 0),
        ),
        Mistake(
            "sides added",
            "adds the rows and the columns of patches; their product is the number",
            lambda image, patch: (
                _one_side_of(image, patch, 0) + _one_side_of(image, patch, 1)
            ),
        ),
        Mistake(
            "divided once",
            "divides the pixels by P; a patch takes P·P of them",
            lambda image, patch: math.prod(as_pair(image, "")) // as_pair(patch, "")[0],
        ),
        Mistake(
            "pixels counted",
            "counts the pixels; a token is a patch, which has P·P of them",
            lambda image, patch: math.prod(as_pair(image, "")),
        ),
        Mistake(
            "pixels in a patch",
            "counts the pixels of one patch; how many patches has the image?",
            lambda image, patch: math.prod(as_pair(patch, "")),
        ),
        Mistake(
            "channels counted",
            "counts each patch three times: the channels of a patch belong to one "
            "token",
            lambda image, patch: 3 * right_count(image, patch),
        ),
        Mistake(
            "steps of one pixel",
            "counts windows that move by one pixel; patches do not overlap, and the "
            "window moves by its own width",
            _steps_of_one,
        ),
        Mistake(
            "one too few a side",
            "leaves out the last row and the last column of patches",
            lambda image, patch: (
                (_one_side_of(image, patch, 0) - 1)
                * (_one_side_of(image, patch, 1) - 1)
            ),
        ),
        Mistake(
            "no pairs",
            "takes only an int, and raises a TypeError for a (height, width); "
            "image_size and patch_size may each be either",
            _for_ints,
        ),
        Mistake(
            "no ints",
            "takes only a (height, width), and raises a TypeError for an int; "
            "image_size and patch_size may each be either",
            _for_pairs,
        ),
        Mistake(
            "another error",
            "refuses an image that the patches do not fill with another error than a "
            "ValueError, which is what a caller expects for a wrong value",
            _refusing_otherwise,
        ),
        Mistake(
            "not raised",
            "gives something back for an image that the patches do not fill; an error "
            "that is printed or returned stops nobody, so raise it",
            _saying_otherwise,
        ),
        Mistake(
            "and for or",
            "refuses an image only if the patches fill neither of its sides; one that "
            "they do not fill is enough",
            _with_and_for_or,
        ),
        Mistake(
            "width not checked",
            "refuses a height that the patches do not fill, and lets such a width pass",
            lambda image, patch: _with_one_side_checked(image, patch, 0),
        ),
        Mistake(
            "height not checked",
            "refuses a width that the patches do not fill, and lets such a height pass",
            lambda image, patch: _with_one_side_checked(image, patch, 1),
        ),
        Mistake(
            "area checked",
            "asks whether the patch's area divides the image's; 40×90 pixels are nine "
            "times 20×20 and still hold no nine patches: ask it of each side",
            _with_area_checked,
        ),
        Mistake(
            "rest dropped",
            "counts the whole patches of an image that they do not fill and says "
            "nothing of the pixels left over; refuse it with a ValueError",
            _by_sides,
        ),
        Mistake(
            "rest counted as a patch",
            "counts a patch for pixels that do not fill one; refuse such an image with "
            "a ValueError",
            _rounded_up,
        ),
        Mistake(
            "area divided",
            "divides the image's area by the patch's; where the patches do not fill "
            "the image, that counts pieces which are no patches, and it is to be "
            "refused with a ValueError",
            _by_area,
        ),
        Mistake(
            "height squared",
            "takes the image for a square: it squares the rows of patches, where "
            "rows times columns is asked for",
            lambda image, patch: _square_of(image, patch, 0),
        ),
        Mistake(
            "width squared",
            "takes the image for a square: it squares the columns of patches, where "
            "rows times columns is asked for",
            lambda image, patch: _square_of(image, patch, 1),
        ),
        Mistake(
            "patch sides swapped",
            "divides the height by the patch's width and the width by its height: "
            "sizes are (height, width)",
            lambda image, patch: (
                _by_sides(image, as_pair(patch, "")[::-1])
                if _sides_fit(image, patch)
                else right_count(image, patch)
            ),
        ),
        Mistake(
            "patch sides swapped and checked",
            "asks whether the patch's width divides the height and its height the "
            "width: sizes are (height, width)",
            _with_patch_turned,
        ),
    ],
    hints=(
        "How many patches lie side by side along the height, and how many along the "
        "width? Each of the sizes may be an int or a (height, width).",
        "Rows are H // P, columns are W // P, and N is their product. A remainder on "
        "either side is a ValueError, with both sizes in its sentence.",
        "H, W = image_size if isinstance(image_size, tuple) else (image_size, "
        "image_size); the same for the patch; `if H % height or W % width: raise "
        'ValueError(f"{H}×{W} pixels, patches of {height}×{width}")`; then return '
        "(H // height) * (W // width).",
    ),
    gradients=False,
    scenario=_count_or_refuse,
)
