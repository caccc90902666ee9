"""The questions of the quiz, in the order of the chapters.

A question is a function of its case. It computes every number from the case, the right
one and those to which the usual mistakes lead, and returns them as an ``Ask``. To add
one, write such a function and give it two cases or more: the first is that of form A,
the second that of form B, and any others are there for a seed to draw. A question in
which nothing is computed is in ``in_words.toml``.
"""

import tomllib
from pathlib import Path

from classroom.assessment.questions import from_eight, to_seven
from classroom.assessment.quiz import BANK, Ask, Source

__all__ = ["BANK", "from_eight", "to_seven"]

_text = Path(__file__).with_name("in_words.toml").read_text("utf-8")
for _one in tomllib.loads(_text)["question"]:
    _asks = (Ask(**ask | {"wrong": dict(ask["wrong"])}) for ask in _one.pop("ask"))
    BANK.append(Source(**_one, asks=tuple(_asks)))
BANK.sort(key=lambda source: source.chapter)
