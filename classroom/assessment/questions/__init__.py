"""The questions of the quiz, in the order of the chapters.

A question is a function of its case. It computes every number from the case, the right
one and those to which the usual mistakes lead, and returns them as an ``Ask``. To add
one, write such a function and give it two cases or more: the first is that of form A,
the second that of form B, and any others are there for a seed to draw.
"""

from classroom.assessment.questions import to_seven  # isort: skip
from classroom.assessment.questions import from_eight  # isort: skip
from classroom.assessment.quiz import BANK

__all__ = ["BANK", "from_eight", "to_seven"]
