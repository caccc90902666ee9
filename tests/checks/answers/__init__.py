"""Answers as students and tutorials write them: right ones and wrong ones, by check.

    @right("patchify")
    def with_einops(images, patch_size): ...

    @wrong("patchify", "view instead of transpose")
    def by_view(images, patch_size): ...

``wrong`` names the mistake that the check has to find in the answer. An answer that is
a right one with a small change is a row of a table, as known mistakes are:

    wrong_edits("patchify", with_einops, '''
    rows and columns swapped
      (h w) -> (w h)
    ''')

``right_edits`` does the same for answers that are right another way; the headings say
in which.
"""

from collections import defaultdict

from vit_check.engine.table import Edited, rows

RIGHT = defaultdict(list)  # check -> answers
WRONG = defaultdict(list)  # check -> (mistake, answer) pairs


def right(check):
    def register(answer):
        RIGHT[check].append(answer)
        return answer

    return register


def wrong(check, mistake):
    def register(answer):
        WRONG[check].append((mistake, answer))
        return answer

    return register


def right_edits(check, answer, table, **named):
    RIGHT[check] += [edit.answer for _, edit in _edits(answer, table, named)]


def wrong_edits(check, answer, table, **named):
    WRONG[check] += _edits(answer, table, named)


def _edits(answer, table, named):
    named["right"] = lambda check: lambda answer: answer  # not registered once more
    return [
        (row.name, Edited(answer, tuple(row.code), (), named)) for row in rows(table)
    ]


def made(answer):
    """Return the answer; one that is edited is made now."""
    return answer.answer if isinstance(answer, Edited) else answer
