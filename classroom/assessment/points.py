"""Write the table of points and weights into its page: `make exercises`.

python -m classroom.assessment.points [--check]     --check changes nothing

The weight of a set is its share of the minutes, because a point is not worth the same
work in every set. Weights are whole per cents that add up to 100.
"""

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from classroom.assessment.alike import points_alike
from classroom.assessment.written import assignments, written
from classroom.release.parts import parts_of
from classroom.release.release import ROOT

PAGE = ROOT / "book" / "assessment.md"
TABLE = re.compile(r"(?<=<!-- points -->\n\n).*?(?=\n\n<!-- /points -->)", re.DOTALL)
FIVE_WEEKS = [*range(1, 10), 14]  # the sets of the course that the book plans


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
    names, counts = {}, {}
    for one in assignments():
        number, (first, *tasks) = int(one.name[:2]), parts_of(one.source)
        title = first.heading.partition(": ")[2]
        link = f"../notebooks/exercises/{one.path.name}"
        names[number] = f"{number}. [{title}]({link})"
        minutes, points = sum(task.minutes for task in tasks), sum(one.points.values())
        alike = points_alike(one)
        counts[number] = len(tasks), minutes, int(points), in_words[number], alike
    five_weeks, whole = (_weights(counts, sets) for sets in (FIVE_WEEKS, counts))
    lines = [
        "| set | tasks | minutes | points | of these in words | the same in a variant "
        "| weight, five weeks | weight, all sets |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for number, name in names.items():
        weights = five_weeks.get(number), whole[number]
        lines.append(_row(name, counts[number], weights))
    sums = [sum(column) for column in zip(*counts.values(), strict=True)]
    weights = sum(five_weeks.values()), sum(whole.values())
    return "\n".join([*lines, _row("all", sums, weights)])


def _weights(
    counts: Mapping[int, Sequence[int]], sets: Iterable[int]
) -> dict[int, int]:
    """Return the weights of some sets by their minutes."""
    numbers = list(sets)
    shares = per_cents([counts[number][1] for number in numbers])
    return dict(zip(numbers, shares, strict=True))


def _row(name: str, counts: Iterable[int], weights: Iterable[int | None]) -> str:
    cells = [f"{count:,}" for count in counts]
    cells += ["" if weight is None else f"{weight} %" for weight in weights]
    return f"| {' | '.join([name, *cells])} |"


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
