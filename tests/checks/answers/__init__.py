"""Answers as students and tutorials write them: right ones and wrong ones.

Each file has the answers to the check of its name. A function or class there is a right
answer, unless its name begins with an underscore, or ``wrong`` names the mistake that
the check has to find. A table above a right answer holds wrong ones that differ from it
by a small change, in the form of known mistakes:

    @wrong_edits('''
    rows and columns swapped: (h w) -> (w h)
    built in: p2=patch_size) -> p2=patch_size).reshape(4, -1, images.shape[1])
        "… the size of the batch, 4, is …"
    ''')
    def with_einops(images, patch_size): ...

    @wrong("view instead of transpose")
    def by_view(images, patch_size): ...

What stands below a row in quotes is said of it, with "…" for what is left out.
``right_edits`` does the same for other right ones; a row's name says how it differs.
``right`` takes answers that stand elsewhere.
"""

import importlib
import inspect
import sys
from collections import defaultdict
from pathlib import Path

from vit_check.engine.table import Edited, rows

RIGHT = defaultdict(list)  # check -> answers
WRONG = defaultdict(list)  # check -> (mistake, answer, what is said of it)
_EDITED = defaultdict(list)  # check -> right answers that are still to be made


def right(*answers):
    RIGHT[_check()] += answers


def wrong(mistake):
    def register(answer):
        WRONG[_check()].append((mistake, answer, ""))
        return answer

    return register


def right_edits(table, **named):
    def register(answer):
        _EDITED[_check()] += [edit for _, edit, _ in _edits(answer, table, named)]
        return answer

    return register


def wrong_edits(table, **named):
    def register(answer):
        WRONG[_check()] += _edits(answer, table, named)
        return answer

    return register


def take_the_rest(file):
    """Register what stands in a file, as a dict of its names, and is not wrong."""
    check = file["__name__"].rpartition(".")[2]
    wrong_ones = [answer for _, answer, _ in WRONG[check]]
    for name, thing in file.items():
        if inspect.isfunction(thing) or inspect.isclass(thing):
            own = thing.__module__ == file["__name__"] and not name.startswith("_")
            if own and thing not in wrong_ones:
                RIGHT[check].append(thing)
    RIGHT[check] += map(made, _EDITED.pop(check, []))


def _check():
    """Return the name of the file in which the caller was called."""
    return sys._getframe(2).f_globals["__name__"].rpartition(".")[2]


def _edits(answer, table, named):
    for row in rows(table):
        said = row.sentence[1:-1] if row.sentence.startswith('"') else ""
        yield row.name, Edited(answer, tuple(row.code), (), named), said


def made(answer):
    """Return an answer; make it first if it is an edited one."""
    return answer.answer if isinstance(answer, Edited) else answer


for _path in sorted(Path(__file__).parent.glob("*/[a-z]*.py")):
    _module = importlib.import_module(f"{__name__}.{_path.parent.name}.{_path.stem}")
    take_the_rest(vars(_module))
