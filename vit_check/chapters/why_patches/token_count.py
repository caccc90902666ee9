import re
from typing import Any

import torch

from vit_check.engine.findings import Trouble
from vit_check.engine.functions import FunctionCheck
from vit_steps.cost import token_count as right_count
from vit_steps.sizes import Size, as_pair, patch_grid


def _count_or_refuse(
    count: Any, image_size: Size, patch_size: Size, by_what: bool = False
) -> Any:
    """Return the count or, if patches do not fit, that it is refused, and how."""
    fits = _runs(right_count, (image_size, patch_size))
    try:
        found = count(image_size, patch_size)
    except (ValueError, AssertionError) as error:
        swapped = ((12, 18), (6, 4)), ((12, 18), (4, 6))
        if fits and _runs(count, swapped[0]) and not _runs(count, swapped[1]):
            return "refuses what fits, and takes it with the patch's sides swapped"
        if fits or (by_what and not _runs(count, (12, 4))):
            raise
        return _of_kind(error, image_size, patch_size) if by_what else "a ValueError"
    except TypeError:
        ints, pairs = _runs(count, (12, 4)), _runs(count, ((12, 12), (4, 4)))
        mixed = [_runs(count, (12, (4, 4))), _runs(count, ((12, 12), 4))]
        if ints and pairs and all(mixed) and not fits:
            return "a TypeError"
        if any(mixed) or not (ints or pairs):
            raise
        if ints and pairs:
            return "takes two ints or two pairs"
        return "takes no pairs" if ints else "takes no ints"
    except Exception as error:
        if fits or type(error) not in (Exception, RuntimeError):
            raise
        return f"the error {type(error).__name__}"
    if fits:
        return found
    if not _is_count(found):
        said = f"returns {found!r:.40} for image_size={image_size}, patch_size="
        said += f"{patch_size}: these patches do not fill it, so raise a ValueError"
        raise Trouble("no error", said)
    if _runs(count, ((13, 16), 4), ((12, 17), 4)) and not _runs(count, ((13, 17), 4)):
        return "a ValueError where neither side fits, and none where one does not"
    return found


def _of_kind(error: Exception, image_size: Size, patch_size: Size) -> str:
    if isinstance(error, AssertionError):
        return "an AssertionError"
    said = set(re.findall(r"\d+", str(error)))
    sides = zip(as_pair(image_size, ""), as_pair(patch_size, ""), strict=True)
    named = any(n % p and {str(n), str(p)} <= said for n, p in sides)
    return f"a ValueError that {'names' if named else 'does not name'} the sizes"


def _runs(count: Any, *calls: tuple[Size, Size]) -> bool:
    """Return whether nothing is raised for any of these sizes of image and patch."""
    try:
        for sizes in calls:
            count(*sizes)
    except Exception:
        return False
    return True


def _is_count(found: Any) -> bool:
    """Return whether this is a positive number: not None, True, False or an error."""
    if isinstance(found, torch.Tensor) and found.numel() == 1:
        found = found.item()
    return isinstance(found, int | float) and found > 0 and found is not True


TABLE = """
token_count(image_size, patch_size) -> the int N, or a ValueError that names both sizes
    where the patches do not fill the image
  6 * whole(8, 14), 6
  (6, 6 * whole(11, 15)), 6
  (63, 44), (7, 4)  # for which all mistakes give different counts
  (7 * whole(14, 20), 4 * whole(8, 14)), (7, 4)
  12 * whole(8, 14), (4, 6)
  600, 16
  10, 16
  (12, 29), 6
  (29, 12), 6
  (40, 90), 20  # the area is that of nine patches
  (40, 90), 20, True
  (61, 24), 6, True
assert: ValueError -> AssertionError
    refuses by assert, which `python -O` takes away; raise a ValueError
sizes not named: {height}×{width} -> nothing
  {patch_height}×{patch_width} -> nothing
    raises a ValueError that does not name both sizes, the image's and the patch's;
    whoever meets it will want to know them
class token counted: rows * columns -> rows * columns + 1
    counts one too many: N is the number of patches, and the class token is none
one side: rows * columns -> rows
    counts the patches along one side; multiply by those along the other
divided once: rows * columns -> rows * columns * as_pair(patch_size, "")[1]
    divides the pixels by P; a patch takes P·P of them
no pairs: as_pair(image_size, "image_size") -> 2 * (+image_size,)
  as_pair(patch_size, "patch_size") -> 2 * (+patch_size,)
    takes only an int, and raises a TypeError for a (height, width); image_size and
    patch_size may each be either
no ints: as_pair(image_size, "image_size") -> image_size
  as_pair(patch_size, "patch_size") -> patch_size
    takes only a (height, width), and raises a TypeError for an int; image_size and
    patch_size may each be either
both of one kind
  as_pair(image_size
  -> (len if type(image_size) is tuple else range)(patch_size) and as_pair(image_size
    takes two ints or two tuples, and raises a TypeError for one of each; turn each of
    them into a height and a width by itself
and for or: height % patch_height or -> height % patch_height and
    refuses only if neither side can be filled; one that cannot be filled is enough
width not checked: or width % patch_width -> nothing
    lets a width pass that the patches do not fill, expected a ValueError
height not checked: height % patch_height or -> nothing
    lets a height pass that the patches do not fill, expected a ValueError
area checked: height % patch_height or width % patch_width
  -> height * width % (patch_height * patch_width)
  height // patch_height, width // patch_width
  -> height * width // (patch_height * patch_width), 1
    asks whether the patch's area divides the image's; 40×90 pixels are nine times 20×20
    and still hold no nine patches: ask it of each side
rest dropped: height % patch_height or width % patch_width -> False
    counts the whole patches of an image that they do not fill and says nothing of the
    pixels left over; raise a ValueError for such an image
area divided: height % patch_height or width % patch_width -> False
  height // patch_height, width // patch_width
  -> height * width // (patch_height * patch_width), 1
    divides the image's area by the patch's; where the patches do not fill the image,
    that counts pieces which are no patches, and it is to be refused with a ValueError
patch sides swapped and checked
  patch_height, patch_width = -> patch_width, patch_height =
    refuses what fits, and takes it if the patch is turned: sizes are (height, width)
? How many patches lie side by side along the height, and how many along the width? Each
  of the sizes may be an int or a (height, width).
? Rows are H // P, columns are W // P, and N is their product. A remainder on either
  side is a ValueError, with both sizes in its sentence.
? H, W = image_size if isinstance(image_size, tuple) else (image_size, image_size); the
  same for the patch; `if H % height or W % width: raise ValueError(f"{H}×{W} pixels,
  patches of {height}×{width}")`; then return (H // height) * (W // width).
"""

token_count = FunctionCheck(
    right_count, TABLE, parts=[patch_grid], scenario=_count_or_refuse
)
