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


def wrong_edits(check, answer, table, **named):
    named["right"] = lambda check: lambda answer: answer  # not registered once more
    for row in rows(table):
        WRONG[check].append((row.name, Edited(answer, tuple(row.code), (), named)))


def made(answer):
    """Return the answer; one that is edited is made now."""
    return answer.answer if isinstance(answer, Edited) else answer
