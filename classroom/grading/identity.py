"""Decide which student handed in an upload.

Only the outermost name decides: a platform writes it, or at least its beginning, while
every name further inside was chosen by a student.
"""

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise

from classroom.grading.uploads import MAYBE_NOTEBOOK, ZIP_OR_NOTEBOOK

# The name that Canvas writes (lib/content_zipper.rb of canvas-lms): the student's name,
# in lower case and without signs or spaces, the student's number, the file's number,
# the file's name. lovelaceada_LATE_12345_67890_work-2.ipynb
CANVAS = re.compile(
    r"(?P<name>[^_]*|[0-9_a-z\x80-\U0010ffff]*?)(?P<late>_LATE)?"
    r"_(?P<id>[1-9][0-9]*)_[0-9]+_(?P<file>.*)",
    re.DOTALL,
)
# The same if grading is anonymous: LATE_anon_x7Yz2_67890_work-2.ipynb
ANONYMOUS = re.compile(
    r"(?P<late>LATE_)?(?P<name>anon_[1-9A-HJ-NP-Za-km-z]{5})_[0-9]+_(?P<file>.*)",
    re.DOTALL,
)
# Moodle's folder Ada Lovelace_12345_assignsubmission_file_, or a file whose name begins
# like this. Moodle replaces each _ in a student's name by a space.
MOODLE = re.compile(
    r"(?P<name>[^_]*)_(?P<id>[0-9]+)_assignsubmission_file(_.*)?", re.DOTALL
)
# Brightspace's folder 397063-2557369 - Ada Lovelace - Sep 24, 2024 926 PM, or a file
# whose name begins like this. The first number is the student's, the second that of the
# assignment. D2L describes it nowhere; it is as in those downloads that teachers'
# scripts sort, such as rename_and_move.sh of saritonin/academic-shell-scripts.
BRIGHTSPACE = re.compile(
    r"(?P<id>[0-9]+)-[0-9]+ - (?P<name>.+?) ?- (?P<time>"
    r"[A-Z][a-z]{2}[a-z.]* [0-9]{1,2}, [0-9]{4} [0-9]{3,4} [AP]M)( - .*)?",
    re.DOTALL,
)
# Blackboard's file Exercises 5_ada1815_attempt_2024-09-24-21-26-05_work.ipynb: what the
# teacher called it, the student's user name, a word in the language of the platform,
# the time, the file's name; in nbgrader's guide, "Managing assignment files manually".
BLACKBOARD = re.compile(
    r".+?_(?P<name>[^_]+)_[^\W\d_]+_(?P<time>[0-9]{4}(?:-[0-9]{2}){5})(_.*|\.txt)",
    re.DOTALL,
)
TURN = re.compile(r"-([0-9]{1,9})\.[\w.]+$")  # Canvas's, on a file sent again
# A student's and a file's number on Canvas; the second has at least three digits.
NUMBERS = re.compile(r"_[1-9][0-9]*(?=_[1-9][0-9]{2,}_)")
NOT_IN_A_NAME = re.compile(r"[\x00-/:-^`{-\x7f]")  # on Canvas
LONGEST = 40  # bytes of a student's name that are kept in a file's name
HASHED = re.compile(r"-[0-9a-f]{16}$", re.IGNORECASE)


@dataclass(frozen=True)
class Claim:
    """The student that an upload names as its author.

    Attributes:
        name: as the platform gives it, else the name of the upload.
        lms_id: the platform's number for the student, or "".
        upload: the upload's full name if only that name ties a student's files
            together. Two such uploads are two claims, whatever student they name.
            Blackboard's underlines can be a part of the user's name, so there it is all
            that stands before the attempt.
        readings: if the author is in doubt, all beginnings of the upload's name with
            which the platform can have named a student, the shortest first.
    """

    name: str
    lms_id: str = ""
    upload: str = ""
    readings: tuple[str, ...] = ()
    by_platform: bool = field(default=False, compare=False)  # not by a student

    def student(self, contested: bool = False) -> str:
        """Return a name for files; if the claim is contested, one that no rival has."""
        safe = safe_name(self.name, self.lms_id)
        whole = f"{self.upload}/{self.name}"
        return f"{safe}-{_hash(whole)}" if contested else safe


@dataclass(frozen=True)
class Label:
    """Everything that is read from an outermost name."""

    claim: Claim
    late: bool = False
    turn: int = 0  # the higher it is, the later the file was handed in


def label(path: str, exercise_sets: list[str]) -> Label:
    """Read the outermost name of a path, as a platform or a teacher wrote it.

    Students choose the names of their files, and some also their own names; both can
    contain what looks like a number written by the platform. A name that can be read in
    more than one way is in doubt, and then no other upload is assigned to the same
    student.
    """
    outermost = path.split("/", 1)[0]
    platforms = MOODLE, ANONYMOUS, BRIGHTSPACE, BLACKBOARD
    found = [match for p in platforms if (match := p.fullmatch(outermost))]
    if not found and (on_canvas := CANVAS.fullmatch(outermost)):
        found = [on_canvas]
    if not found:
        return Label(Claim(plain_name(outermost, exercise_sets), upload=outermost))
    own = {
        outermost[: one.end("id" if "id" in one.re.groupindex else "name")]
        for one in found
    }
    readings = tuple(sorted(own.union(_canvas_readings(outermost)), key=len))
    fields = found[0].groupdict(default="")
    # The platform's own reading is among them, so a single one must be right.
    claim = Claim(fields["name"], fields.get("id", ""), by_platform=True)
    if len(readings) > 1:
        claim = replace(claim, upload=outermost, readings=readings)
    elif found[0].re is BLACKBOARD:
        claim = replace(claim, upload=readings[0])
    return Label(claim, bool(fields.get("late")), _turn(fields))


def _turn(fields: dict[str, str]) -> int:
    """Return a number that is higher for what was handed in later."""
    if "time" not in fields:
        turn = TURN.search(fields.get("file", ""))
        return int(turn[1]) if turn else 0
    if fields["time"][0].isdigit():
        return int(fields["time"].replace("-", ""))
    month, day, year, clock, half = fields["time"].split()
    with suppress(ValueError):  # a month in another language
        time = datetime.strptime(
            f"{month[:3]} {day} {year} {clock:0>4} {half}", "%b %d, %Y %I%M %p"
        )
        return int(f"{time:%Y%m%d%H%M%S}")
    return 0


def _canvas_readings(outermost: str) -> list[str]:
    """Return every beginning that Canvas can have written, up to a student's number."""
    # LATE is the only word that Canvas writes in capitals.
    foreign = NOT_IN_A_NAME.search(outermost.replace("_LATE", "_late"))
    end = foreign.start() if foreign else len(outermost)
    return [outermost[: found.end()] for found in NUMBERS.finditer(outermost, 0, end)]


def crowded(claims: Iterable[Claim], most: int) -> dict[Claim, str]:
    """Return the doubtful claims beyond the limit, each with its common beginning.

    Without a limit, a student whose every upload is in doubt would be graded once for
    each. The readings of uploads form a tree. Below a student's true reading there is
    only this student's work. Above it there may be work of others, but all of this
    student's work is on one branch. So a limit on the number of branches keeps out no
    other student.
    """
    branches = defaultdict[str, set[str]](set)
    found = {}
    for claim in claims:
        for reading, branch in pairwise([*claim.readings, claim.upload]):
            if branch in branches[reading] or len(branches[reading]) < most:
                branches[reading].add(branch)
            else:
                found[claim] = reading
    return found


def by_pattern(pattern: str, exercise_sets: list[str]) -> Callable[[str], Label | None]:
    """Return a function that reads a path by the user's pattern.

    The function returns None for a path that does not match.

    Raises:
        ValueError: if the pattern is not a regular expression, or has no group that
            names a student.
    """
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(
            f"--pattern {pattern!r} is no regular expression: {error}."
        ) from None
    if not {"name", "id"} & set(compiled.groupindex):
        raise ValueError(
            f"--pattern {pattern!r} has no group 'name' or 'id' to name the student. "
            "An example with one: '(?P<name>[^/]+)/.*'."
        )

    def read(path: str) -> Label | None:
        found = compiled.match(path)
        groups = found.groupdict() if found else {}
        lms_id = groups.get("id") or ""
        whole = groups.get("name") or lms_id
        name = plain_name(whole, exercise_sets)
        return Label(Claim(name, lms_id, "" if lms_id else whole)) if name else None

    return read


def plain_name(text: str, exercise_sets: list[str]) -> str:
    """Return a name without a file's ending and without the names of exercise sets."""
    name = MAYBE_NOTEBOOK.sub("", ZIP_OR_NOTEBOOK.sub("", text))
    for other in sorted(exercise_sets, key=len, reverse=True):
        name = name.replace(other, "").strip(" _-.") or name
    return name


def safe_name(name: str, lms_id: str = "") -> str:
    """Return a name for files: letters, digits, dash, underscore, at most 61 bytes.

    Different names stay different, and so do different numbers.
    """
    readable = unicodedata.normalize("NFKC", name)
    readable = re.sub(r"[^\w-]+", "-", readable).strip("-")
    short = readable.encode()[:LONGEST].decode(errors="ignore")
    if lms_id:  # numbers are unique, so the name may be cut
        fits = re.fullmatch(r"[0-9A-Za-z]{1,20}", lms_id)
        return f"{short}_{lms_id if fits else _hash(lms_id)}"
    if short != name or not short or HASHED.search(short):
        return f"{short}-{_hash(name)}"
    return short


def rivals(
    claimed: Collection[tuple[Claim, str]],
) -> dict[tuple[Claim, str], list[Claim]]:
    """Return (claim, set) -> other claims to be the same student, for that set."""
    groups: dict[tuple[str, ...], list[Claim]] = {}
    for claim, name in claimed:
        for sign in _signs(claim):
            groups.setdefault((name, *sign), []).append(claim)
    return {
        (claim, name): list(
            dict.fromkeys(
                other
                for sign in _signs(claim)
                for other in groups[name, *sign]
                if other != claim
            )
        )
        for claim, name in claimed
    }


def _signs(claim: Claim) -> Iterator[tuple[str, str]]:
    """Yield the keys that no two students share, on any file system."""
    yield "key", safe_name(claim.name, claim.lms_id).casefold()
    if claim.lms_id:
        yield "id", claim.lms_id
    else:
        yield "name", unicodedata.normalize("NFKC", claim.name).casefold()


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
