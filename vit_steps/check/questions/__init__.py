"""Values that the exercises ask for, a file for each chapter."""

from vit_steps.check.questions import why_patches
from vit_steps.check.value_check import ValueCheck

CHAPTERS = [why_patches]

QUESTIONS: dict[str, ValueCheck] = {
    question.name: question for chapter in CHAPTERS for question in chapter.QUESTIONS
}
