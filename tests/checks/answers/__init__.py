"""Answers as students and tutorials write them: right ones and wrong ones, by check.

    @right("patchify")
    def with_einops(images, patch_size): ...

    @wrong("patchify", "view instead of transpose")
    def by_view(images, patch_size): ...

``wrong`` names the mistake that the check has to find in the answer.
"""

from collections import defaultdict

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
