"""Write the table of points and weights into its page: `make exercises`.

python -m classroom.assessment.points [--check]     --check changes nothing

The weight of a set is its share of the minutes, because a point is not worth the same
work in every set. Weights are whole per cents that add up to 100.
"""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from classroom.assessment.alike import points_alike
from classroom.assessment.written import assignments, written
from classroom.release.assignment import Assignment
from classroom.release.release import ROOT

PAGE = ROOT / "book" / "assessment.md"
HEAD = re.compile(r"^\*[A-Z][a-z ]+ · (\d+) minutes · ", re.MULTILINE)
TABLE = re.compile(r"(?<=<!-- points -->\n\n).*?(?=\n\n<!-- /points -->)", re.DOTALL)
FIVE_WEEKS = [*range(1, 10), 14]  # the sets of the course that the book plans


@dataclass(frozen=True)
class Worth:
    """The minutes and points of an exercise set."""

    number: int
    title: str
    link: str
    tasks: int
    minutes: int
    points: int
    in_words: int  # of these, for the written answer
    alike: int  # of these, for what is the same in a variant


def worth(assignment: Assignment, in_words: int) -> Worth:
    cells = assignment.source.cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    heads = HEAD.findall(text)
    title = cells[0].source.splitlines()[0].partition(": ")[2]
    return Worth(
        number=int(assignment.name[:2]),
        title=title,
        link=f"../notebooks/exercises/{assignment.path.name}",
        tasks=len(heads),
        minutes=sum(map(int, heads)),
        points=int(sum(assignment.points.values())),
        in_words=in_words,
        alike=points_alike(assignment),
    )


def per_cents(numbers: Sequence[int]) -> list[int]:
    """Return the shares of numbers in whole per cents that add up to 100.

    The per cents that rounding down has left over go to the largest remainders.
    """
    exact = [100 * number / sum(numbers) for number in numbers]
    shares = [int(share) for share in exact]
    left_over = 100 - sum(shares)
    by_remainder = sorted(
        range(len(exact)), key=lambda n: exact[n] - shares[n], reverse=True
    )
    for place in by_remainder[:left_over]:
        shares[place] += 1
    return shares


def table() -> str:
    """Return the table as Markdown, with the sums in its last row."""
    in_words = {answer.number: answer.points for answer in written()}
    sets = [worth(one, in_words[int(one.name[:2])]) for one in assignments()]
    of_all = per_cents([one.minutes for one in sets])
    course = [one for one in sets if one.number in FIVE_WEEKS]
    in_course = dict(
        zip(
            (one.number for one in course),
            per_cents([one.minutes for one in course]),
            strict=True,
        )
    )
    lines = [
        "| set | tasks | minutes | points | of these in words | the same in a variant "
        "| weight, five weeks | weight, all sets |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for one, share in zip(sets, of_all, strict=True):
        weight = f"{in_course[one.number]} %" if one.number in in_course else ""
        lines.append(
            f"| {one.number}. [{one.title}]({one.link}) | {one.tasks} | {one.minutes} "
            f"| {one.points} | {one.in_words} | {one.alike} | {weight} | {share} % |"
        )
    sums = [
        sum(one.tasks for one in sets),
        f"{sum(one.minutes for one in sets):,}",
        sum(one.points for one in sets),
        sum(one.in_words for one in sets),
        sum(one.alike for one in sets),
        f"{sum(in_course.values())} %",
        f"{sum(of_all)} %",
    ]
    lines.append(f"| all | {' | '.join(map(str, sums))} |")
    return "\n".join(lines)


def rewritten(page: Path = PAGE) -> str:
    """Return the page with the table as it is computed now."""
    text = page.read_text("utf-8")
    if not TABLE.search(text):
        raise ValueError(f"{page.name}: no table between the comments named points")
    return TABLE.sub(lambda _: table(), text)


def main(arguments: list[str]) -> int:
    text = rewritten()
    stale = text != PAGE.read_text("utf-8")
    if stale and "--check" not in arguments:
        PAGE.write_text(text, "utf-8", newline="\n")
    if stale:
        print(PAGE.relative_to(ROOT).as_posix())
    return int(stale and "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
