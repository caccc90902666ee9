"""Write the page that lists what a teacher should look at."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter

from classroom.grading.copies import Copies, Work, copies, published_work
from classroom.grading.course import Course
from classroom.grading.page import page
from classroom.grading.result import Result
from classroom.grading.versions import INSTEAD
from classroom.release.assignment import Assignment
from vit_steps.checkpoint import write_whole

LINES = 20  # lines about one student in one section
LONGEST = 400  # characters of a line
PEOPLE = 30  # names in one group


@dataclass(frozen=True)
class Entry:
    """Lines about one student, or about no student in particular."""

    who: Result | None
    lines: list[str]

    @property
    def shown(self) -> list[str]:
        more = len(self.lines) - LINES
        shown = [_cut(line) for line in self.lines[:LINES]]
        return [*shown, f"… and {more:,} more."] if more > 0 else shown


@dataclass(frozen=True)
class Section:
    title: str
    meaning: str
    entries: list[Entry]
    folded: bool = False  # since nothing has to be done about it


def write_report(
    course: Course,
    results: list[Result],
    left_out: list[str],
    plain: list[Result],
    assignments: Sequence[Assignment] = (),
) -> None:
    """Write oddities.html.

    Args:
        left_out: a sentence for each file that was not graded.
        plain: the results whose feedback page does not show the notebook.
    """
    published: dict[str, set[Work]] = {}
    for one in assignments:
        published.setdefault(one.name, set()).update(published_work(one))
    found = _sections(results, left_out, plain, published)
    sections = [section for section in found if section.entries]
    text = page(
        "report.html",
        open=[section for section in sections if not section.folded],
        folded=[section for section in sections if section.folded],
    )
    write_whole(course.root / "oddities.html", text.encode("utf-8", "replace"))


def _sections(
    results: list[Result],
    left_out: list[str],
    plain: list[Result],
    published: dict[str, set[Work]],
) -> Iterable[Section]:
    yield Section(
        "Needs a person",
        "The grader could not finish these, and they have 0 until you decide.",
        [Entry(r, [r.sentence]) for r in results if r.status == "unfinished"],
    )
    yield Section(
        "Whose is it?",
        "Several uploads claim to be the same student's, or a name can be read in "
        "several ways. No platform is told the mark until you have decided.",
        [Entry(r, [r.contested]) for r in results if r.contested],
    )
    yield Section(
        "Could not be read",
        "These are no notebooks, or damaged ones. They have 0, and the table of marks "
        "gives the same reason.",
        [Entry(r, [r.sentence]) for r in results if r.status == "unreadable"],
    )
    yield Section(
        "Changed what is locked",
        "Tests, tasks and points were put back as you gave them out before anything "
        "ran, so this has changed no mark.",
        [Entry(r, r.tampered) for r in results if r.tampered],
    )
    yield Section(
        "Unusual code",
        "No task asks for this. It may well be harmless; read the cell before you "
        "think ill of anybody.",
        [Entry(r, r.odd) for r in results if r.odd],
    )
    yield Section(
        "The same work",
        "What these students wrote themselves is the same, or nearly. That is a reason "
        "to ask them, and no proof. Names of variables and comments do not count. "
        "Their code is compared with the set's own solutions, too.",
        _same_work(results, published),
    )
    others = [line for line in left_out if INSTEAD in line]
    yield Section(
        "Not graded",
        "Files that are no notebooks, could not be read, or belong to no exercise set.",
        [Entry(None, [line]) for line in left_out if line not in others],
    )
    yield Section(
        "Run again by itself",
        "The first run was not a fair one. The mark is that of the second, in which "
        "no other notebook was running.",
        [Entry(r, [r.again]) for r in results if r.again],
        folded=True,
    )
    yield Section(
        "Feedback without the notebook",
        "Making a page of the notebook took too much time or room. The page has the "
        "mark and the reasons alone.",
        [Entry(r, []) for r in plain],
        folded=True,
    )
    yield Section(
        "Other attempts",
        "Of several notebooks of one student, the last counts, but never the one that "
        "was handed out.",
        [Entry(None, [line]) for line in others],
        folded=True,
    )
    yield Section(
        "Put right without harm",
        "What uploads, other programs and slips had changed. It cost nobody a mark, "
        "and the student's page says the same.",
        [Entry(r, r.changes) for r in results if r.changes],
        folded=True,
    )


def _same_work(results: list[Result], published: dict[str, set[Work]]) -> list[Entry]:
    entries = []
    for name in sorted({result.assignment for result in results}):
        of_set = {r.student: r for r in results if r.assignment == name}
        graded = [r for r in of_set.values() if r.status == "graded"]
        works = [Work(r.student, r.submission, r.code, r.text) for r in graded]
        works += sorted(published.get(name, ()), key=attrgetter("student"))
        groups = [one for one in copies(works) if of_set.keys() & {*one.students}]
        entries += [Entry(None, [_line(name, one, of_set)]) for one in groups]
    return entries


def _line(name: str, group: Copies, of_set: dict[str, Result]) -> str:
    people = [of_set[student] for student in group.students if student in of_set]
    people.sort(key=attrgetter("name"))
    named = [f"{_cut(r.name, 60)} ({r.lms_id or r.student})" for r in people]
    if len(named) > PEOPLE:
        named[PEOPLE:] = [f"{len(named) - PEOPLE:,} more"]
    named += [student for student in group.students if student not in of_set]
    return f"{name}: {', '.join(named[:-1])} and {named[-1]}: {group.what}."


def _cut(line: str, longest: int = LONGEST) -> str:
    return line if len(line) <= longest else f"{line[:longest]} …"
