"""Whose an upload is.

The outermost name decides, alone: on Canvas and Moodle it is the platform that writes
it, and whatever lies deeper has a name that a student chose.
"""

import hashlib
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from classroom.grading.uploads import ZIP_OR_NOTEBOOK

# As canvas-lms writes it in lib/content_zipper.rb: the student's name, in lower case
# and without signs or spaces, the student's number, the file's number, the file's name.
# lovelaceada_LATE_12345_67890_work-2.ipynb
CANVAS = re.compile(
    r"(?P<name>[^_]*|[0-9_a-z\x80-\U0010ffff]*?)(?P<late>_LATE)?"
    r"_(?P<id>[1-9][0-9]*)_[0-9]+_(?P<file>.*)",
    re.DOTALL,
)
# The same where grading is anonymous: LATE_anon_x7Yz2_67890_work-2.ipynb
ANONYMOUS = re.compile(
    r"(?P<late>LATE_)?(?P<name>anon_[1-9A-HJ-NP-Za-km-z]{5})_[0-9]+_(?P<file>.*)",
    re.DOTALL,
)
# Ada Lovelace_12345_assignsubmission_file_, a folder, or the same before a file's name.
# Moodle replaces each _ in a name by a space.
MOODLE = re.compile(
    r"(?P<name>[^_]*)_(?P<id>[0-9]+)_assignsubmission_file(_.*)?", re.DOTALL
)
TURN = re.compile(r"-([0-9]{1,9})\.[\w.]+$")  # Canvas's, of a file sent again
# A student's and a file's number on Canvas; the latter has three digits and more.
NUMBERS = re.compile(r"_[1-9][0-9]*(?=_[1-9][0-9]{2,}_)")
NOT_IN_A_NAME = re.compile(r"[\x00-/:-^`{-\x7f]")  # on Canvas
LONGEST = 40  # bytes of a name that are kept in the name of a file
HASHED = re.compile(r"-[0-9a-f]{16}$", re.IGNORECASE)


@dataclass(frozen=True)
class Claim:
    """Whom an upload names as its student.

    Attributes:
        name: as the platform gives it, else as the upload is called.
        lms_id: the platform's number for the student, or "".
        upload: the name in full, where nothing but that name holds the files of a
            student together. Two uploads are then two claims, whatever their names.
        readings: where it is doubtful whose it is, all beginnings of that name with
            which the platform can have named a student, the shortest first.
    """

    name: str
    lms_id: str = ""
    upload: str = ""
    readings: tuple[str, ...] = ()

    def student(self, contested: bool = False) -> str:
        """A name for files; where it is contested, one that no rival has."""
        safe = safe_name(self.name, self.lms_id)
        whole = f"{self.upload}/{self.name}"
        return f"{safe}-{_hash(whole)}" if contested else safe


@dataclass(frozen=True)
class Label:
    """All that an outermost name says. A higher ``turn`` was handed in later."""

    claim: Claim
    late: bool = False
    turn: int = 0


def label(path: str, exercise_sets: list[str]) -> Label:
    """Read a path's outermost name, as Canvas, Moodle or a teacher has written it.

    Students choose how their files are called, some also how they are, and either may
    look like a number that the platform writes. A name that can be read in more than
    one way is doubtful, and then no other upload is taken for the same student's.
    """
    outermost = path.split("/", 1)[0]
    platforms = MOODLE, ANONYMOUS, CANVAS
    found = next(filter(None, (p.fullmatch(outermost) for p in platforms)), None)
    if not found:
        return Label(Claim(plain_name(outermost, exercise_sets), upload=outermost))
    said = found.groupdict(default="")
    lms_id = said.get("id", "")
    own = outermost[: found.end("id" if lms_id else "name")]
    readings = tuple(sorted({own, *_canvas_readings(outermost)}, key=len))
    # What the platform wrote is among them, so one alone is the truth.
    claim = Claim(said["name"], lms_id)
    if len(readings) > 1:
        claim = replace(claim, upload=outermost, readings=readings)
    turn = TURN.search(said.get("file", ""))
    return Label(claim, bool(said.get("late")), int(turn[1]) if turn else 0)


def _canvas_readings(outermost: str) -> list[str]:
    """All that Canvas can have written, up to a student's number."""
    # In capitals it writes this word alone.
    foreign = NOT_IN_A_NAME.search(outermost.replace("_LATE", "_late"))
    end = foreign.start() if foreign else len(outermost)
    return [outermost[: found.end()] for found in NUMBERS.finditer(outermost, 0, end)]


def crowded(claims: Iterable[Claim], most: int) -> dict[Claim, str]:
    """Doubtful claims that are too many -> how the names of all these begin.

    A student whose every upload is doubtful would otherwise be graded once for each.
    The readings of uploads make a tree. Below the true reading of a student stands that
    student's work alone, and above it, where others' may stand too, all of it is on one
    branch, so that to limit the branches keeps nobody else's out.
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
    """What reads a path as a pattern of the user's does; None for one it does not fit.

    Raises:
        ValueError: if the pattern is none, or names nobody.
    """
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(
            f"--pattern {pattern!r} is no regular expression: {error}."
        ) from None
    if not {"name", "id"} & set(compiled.groupindex):
        raise ValueError(
            f"--pattern {pattern!r} has no group 'name' or 'id', by which it would say "
            "whose a file is. With one: '(?P<name>[^/]+)/.*'."
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
    """Without the ending of a file and the names of exercise sets."""
    name = ZIP_OR_NOTEBOOK.sub("", text)
    for other in sorted(exercise_sets, key=len, reverse=True):
        name = name.replace(other, "").strip(" _-.") or name
    return name


def safe_name(name: str, lms_id: str = "") -> str:
    """A name for files, of at most 61 bytes: letters, digits, dash and underscore.

    Different names stay different, and so do different numbers.
    """
    readable = unicodedata.normalize("NFKC", name)
    readable = re.sub(r"[^\w-]+", "-", readable).strip("-")
    short = readable.encode()[:LONGEST].decode(errors="ignore")
    if lms_id:  # of which there are no two, so the name need not be whole
        fits = re.fullmatch(r"[0-9A-Za-z]{1,20}", lms_id)
        return f"{short}_{lms_id if fits else _hash(lms_id)}"
    if short != name or not short or HASHED.search(short):
        return f"{short}-{_hash(name)}"
    return short


def rivals(
    claimed: Collection[tuple[Claim, str]],
) -> dict[tuple[Claim, str], list[Claim]]:
    """(claim, exercise set) -> other claims to be the same student, for that set."""
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
    """What no two students have in common, on whatever file system."""
    yield "key", safe_name(claim.name, claim.lms_id).casefold()
    if claim.lms_id:
        yield "id", claim.lms_id
    else:
        yield "name", unicodedata.normalize("NFKC", claim.name).casefold()


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
