"""The written answers of the sets, with the rubric by which each is marked."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from nbgrader.utils import is_grade

from classroom.release.assignment import Assignment
from classroom.release.parts import parts_of
from classroom.release.release import SOURCES

FOLD = re.compile(r"<details>.*?</details>", re.DOTALL)
KIND = re.compile(r"^\*Explain · .*$", re.MULTILINE)
MODEL = "**Model answer.** "
RUBRIC = "**Rubric.** "
LINE = "- **1 point:** "


@dataclass(frozen=True)
class Written:
    """A question that is answered in words."""

    number: int  # of the set
    title: str
    question: str  # Markdown, as the rest
    model: str
    lines: tuple[str, ...]  # of the rubric, a point for each

    @property
    def points(self) -> int:
        return len(self.lines)


def assignments() -> list[Assignment]:
    return [Assignment(path) for path in sorted(SOURCES.glob("*.ipynb"))]


def written() -> Iterator[Written]:
    """Yield the written answers of all sets."""
    for assignment in assignments():
        for part in parts_of(assignment.source):
            texts = [cell for cell in part.cells if cell.cell_type == "markdown"]
            for place, cell in enumerate(texts):
                if not is_grade(cell):
                    continue
                _, question = "\n\n".join(t.source for t in texts[:place]).split(
                    "\n", 1
                )
                model, rubric = cell.source.split(RUBRIC)
                lines = [one for one in rubric.splitlines() if one.startswith(LINE)]
                yield Written(
                    number=int(assignment.name[:2]),
                    title=part.title,
                    question=KIND.sub("", FOLD.sub("", question)).strip(),
                    model=model.removeprefix(MODEL).strip(),
                    lines=tuple(line.removeprefix(LINE) for line in lines),
                )
