"""Answers as students and tutorials write them: right ones and wrong ones.

Each file has the answers to the check of its name. ``wrong`` names the mistake that the
check has to find. A table above a right answer holds wrong ones that differ from it by
a small change, in the form of known mistakes:

    @right
    @wrong_edits('''
    rows and columns swapped: (h w) -> (w h)
    ''')
    def with_einops(images, patch_size): ...

    @wrong("view instead of transpose")
    def by_view(images, patch_size): ...

``right_edits``, below an answer, does the same for other right ones; a row's name says
how it differs.
"""

import sys
from collections import defaultdict

from vit_check.engine.table import Edited, rows

RIGHT = defaultdict(list)  # check -> answers
WRONG = defaultdict(list)  # check -> (mistake, answer) pairs


def right(answer):
    RIGHT[_check()].append(answer)
    return answer


def wrong(mistake):
    def register(answer):
        WRONG[_check()].append((mistake, answer))
        return answer

    return register


def right_edits(table, **named):
    def register(answer):
        RIGHT[_check()] += [edit.answer for _, edit in _edits(answer, table, named)]
        return answer

    return register


def wrong_edits(table, **named):
    def register(answer):
        WRONG[_check()] += _edits(answer, table, named)
        return answer

    return register


def _check():
    """Return the name of the file in which the caller was called."""
    return sys._getframe(2).f_globals["__name__"].rpartition(".")[2]


def _edits(answer, table, named):
    return [
        (row.name, Edited(answer, tuple(row.code), (), named)) for row in rows(table)
    ]


def made(answer):
    """Return an answer; make it first if it is an edited one."""
    return answer.answer if isinstance(answer, Edited) else answer
