"""Make the forms A and B of the quiz from its questions."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from classroom.assessment.questions import BANK
from classroom.assessment.quiz import Ask, Source

LETTERS = "ABCD"


@dataclass(frozen=True)
class Option:
    text: str
    right: bool
    comment: str  # why it is right, or the mistake that leads to it

    @property
    def told(self) -> str:
        """The comment as a sentence for a student who has chosen this option."""
        return self.comment if self.right else f"The mistake: {self.comment}."


@dataclass(frozen=True)
class Question:
    """A question of one form, with its four options in their order."""

    number: int
    name: str
    chapter: int
    belief: str
    text: str
    options: tuple[Option, ...]

    @property
    def heading(self) -> str:
        return f"Chapter {self.chapter}: {self.name.replace('_', ' ')}"

    @property
    def letter(self) -> str:
        """The letter of the right option."""
        return LETTERS[[option.right for option in self.options].index(True)]

    @property
    def answer(self) -> Option:
        return next(option for option in self.options if option.right)


@dataclass(frozen=True)
class Form:
    name: str
    questions: tuple[Question, ...]


def forms(chapters: Sequence[int] | None = None, seed: int | None = None) -> list[Form]:
    """Return forms A and B, with the same questions for different cases.

    Args:
        chapters: whose questions are asked; None for all.
        seed: draws the cases and the order of the options. Without it A has the first
            case of each question and B the second.
    """
    sources = [s for s in BANK if chapters is None or s.chapter in chapters]
    if not sources:
        known = [source.chapter for source in BANK]
        raise ValueError(
            f"chapters: got {chapters}, expected some of {min(known)} to {max(known)}"
        )
    asked: dict[str, list[Question]] = {"A": [], "B": []}
    for number, source in enumerate(sources, start=1):
        draw = random.Random(f"{seed} {source.name}")
        asks = source.asks[:2] if seed is None else draw.sample(source.asks, 2)
        for name, ask in zip(asked, asks, strict=True):
            asked[name].append(_question(number, source, ask, draw))
    return [Form(name, tuple(questions)) for name, questions in asked.items()]


def _question(number: int, source: Source, ask: Ask, draw: random.Random) -> Question:
    options = [Option(ask.right, True, ask.why)]
    options += [Option(text, False, mistake) for text, mistake in ask.wrong.items()]
    draw.shuffle(options)
    return Question(
        number=number,
        name=source.name,
        chapter=source.chapter,
        belief=source.belief,
        text=ask.text,
        options=tuple(options),
    )
