"""Whose an upload is.

The outermost name decides, alone: on Canvas and Moodle it is the platform that writes
it, and whatever lies deeper has a name that a student chose.
"""

import hashlib
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from classroom.grading.uploads import ZIP_OR_NOTEBOOK

# lovelaceada_LATE_12345_67890_work-2.ipynb: the student's number, then the file's.
CANVAS = re.compile(
    r"(?P<name>[^_]*)(?P<late>_LATE)?_(?P<id>[0-9]+)_[0-9]+_(?P<file>.*)",
    re.DOTALL,
)
# Ada Lovelace_12345_assignsubmission_file_, a folder, or the same before a file's name.
# Moodle replaces each _ in a name by a space.
MOODLE = re.compile(
    r"(?P<name>[^_]*)_(?P<id>[0-9]+)_assignsubmission_file(_.*)?", re.DOTALL
)
TURN = re.compile(r"-([0-9]{1,9})\.[\w.]+$")  # Canvas's, of a file sent again
NUMBERS = re.compile(r"_[0-9]+_[1-9][0-9]{2,}_")  # a student's and a file's on Canvas
LONGEST = 40  # bytes of a name that are kept in the name of a file
HASHED = re.compile(r"-[0-9a-f]{16}$", re.IGNORECASE)


@dataclass(frozen=True)
class Claim:
    """Whom an upload names as its student.

    Attributes:
        name: as the platform gives it, else as the upload is called.
        lms_id: the platform's number for the student, or "".
        upload: the outermost name, where nothing but that name holds the files of a
            student together. Two uploads are then two claims, whatever their names.
        doubtful: whether the number may be another student's, see ``label``.
    """

    name: str
    lms_id: str = ""
    upload: str = ""
    doubtful: bool = False

    def student(self, contested: bool = False) -> str:
        """A name for files; where it is contested, one that no rival has."""
        safe = safe_name(self.name, self.lms_id)
        whole = f"{self.upload}/{self.name}/{self.doubtful}"
        return f"{safe}-{_hash(whole)}" if contested else safe


@dataclass(frozen=True)
class Label:
    """All that an outermost name says. A higher ``turn`` was handed in later."""

    claim: Claim
    late: bool = False
    turn: int = 0


def label(path: str, exercise_sets: list[str]) -> Label:
    """Read a path's outermost name, as Canvas, Moodle or a teacher has written it."""
    outermost = path.split("/", 1)[0]
    if found := CANVAS.fullmatch(outermost):
        # A student who may choose a name on Canvas can put numbers into it, and then
        # the first two are not the platform's. What can be read in two ways is never
        # taken for a later version of what cannot.
        doubtful = bool(NUMBERS.search(outermost, found.start("id")))
        claim = Claim(found["name"], found["id"], doubtful=doubtful)
        turn = TURN.search(found["file"])
        return Label(claim, bool(found["late"]), int(turn[1]) if turn else 0)
    if found := MOODLE.fullmatch(outermost):
        return Label(Claim(found["name"], found["id"]))
    return Label(Claim(plain_name(outermost, exercise_sets), upload=outermost))


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
        name = plain_name(groups.get("name") or lms_id, exercise_sets)
        return Label(Claim(name, lms_id)) if name else None

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
