"""Who handed in what: a folder or zip as a learning platform exports it.

Files are only ever read as bytes. No name from outside becomes a path, nothing is
unpacked, no link is followed, and what is too large is not read to its end.
"""

import hashlib
import os
import re
import stat
import unicodedata
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO
from pathlib import Path, PurePosixPath

from classroom.grading.limits import ORDINARY, Limits
from classroom.release.assignment import Assignment

MOST_FILES = 20_000
MOST_FILES_OF_ONE = 20  # in a zip that a student has handed in
MOST_BYTES = 8 * 2**30
LIKE_ENOUGH = 0.2

# Tried in this order, on the path below the given folder; the user's own comes first.
PATTERNS = (
    # Moodle: Ada Lovelace_12345_assignsubmission_file_/work.ipynb, or without a folder
    r"(?:.*/)?(?P<name>[^/]+?)_(?P<id>\d+)_assignsubmission_file_?/?(?P<file>[^/]*)$",
    # Canvas: lovelaceada_LATE_12345_67890_work-2.ipynb
    r"(?:.*/)?(?P<name>[^/_]+)(?P<late>_LATE)?_(?P<id>\d+)_(?P<turn>\d+)_(?P<file>[^/]+)$",
    # a folder for each student
    r"(?P<name>[^/]+)/.*$",
    # a file for each student
    r"(?P<name>[^/]+)$",
)
IGNORED = re.compile(r"(^|/)(__MACOSX|\.ipynb_checkpoints|\.git|\.DS_Store|\._[^/]*)")
NOTEBOOK = re.compile(r"\.ipynb(\.json|\.txt)?$", re.IGNORECASE)


class NoSubmissions(ValueError):
    """There is nothing to grade; the message says why."""


@dataclass(frozen=True)
class File:
    """One file as it is found, in memory for a moment."""

    path: str
    data: bytes
    time: float = 0.0


@dataclass(frozen=True)
class Received:
    """A notebook that belongs to an exercise set, kept under the name of its digest."""

    path: str
    time: float
    assignment: str
    digest: str


@dataclass(frozen=True)
class Submission:
    """One notebook of one student.

    Attributes:
        student: a name that is safe in a path and different for each student.
        name: as the platform gives it, for people to read.
        lms_id: the platform's number for the student, or "".
        late: whether the platform says so.
    """

    student: str
    name: str
    lms_id: str
    assignment: str
    path: str
    kept: Path
    late: bool = False

    @property
    def digest(self) -> str:
        return self.kept.name

    @property
    def data(self) -> bytes:
        return self.kept.read_bytes()


@dataclass
class Intake:
    submissions: list[Submission] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # a sentence each


def take_in(
    place: Path,
    assignments: list[Assignment],
    keep: Path,
    pattern: str | None = None,
    limits: Limits = ORDINARY,
) -> Intake:
    """All submissions in a folder or zip, one for each student and assignment.

    Args:
        keep: a folder for the notebooks themselves, until they are graded.
        pattern: a regular expression with a group ``name`` or ``id``, matched against
            the path below ``place``.

    Raises:
        NoSubmissions: if there is none, or ``place`` is neither.
    """
    taken = Intake()
    received = _receive(place, assignments, keep, taken.left_out, limits)
    names = sorted((a.name for a in assignments), key=len, reverse=True)
    patterns = [re.compile(p) for p in ([pattern] if pattern else []) + list(PATTERNS)]
    common = _common_folder([file.path for file in received])
    found: dict[tuple[str, str], list[tuple[tuple[int, float, str], Submission]]] = {}
    for file in received:
        submission, turn = _submission(file, common, patterns, names, keep)
        key = (submission.student, submission.assignment)
        found.setdefault(key, []).append(((turn, file.time, file.path), submission))
    for versions in found.values():
        versions.sort(key=lambda version: version[0])
        last = versions[-1][1]
        taken.submissions.append(last)
        taken.left_out += [
            f"{shown(earlier.path)}: {shown(last.path)} was graded instead, by the "
            "same student and later."
            for _, earlier in versions[:-1]
            if earlier.digest != last.digest
        ]
    if not taken.submissions:
        reasons = " ".join(taken.left_out[:3])
        raise NoSubmissions(f"No notebook was found in {place}. {reasons}".strip())
    taken.submissions.sort(key=lambda s: (s.assignment, s.student))
    return taken


def keep_file(data: bytes, keep: Path) -> str:
    """Put bytes into the folder under the name of their digest, which is returned."""
    digest = hashlib.sha256(data).hexdigest()
    keep.mkdir(parents=True, exist_ok=True)
    (keep / digest).write_bytes(data)
    return digest


def safe_name(name: str, lms_id: str = "") -> str:
    """A name for files: letters, digits, dash, underscore; different names stay so."""
    readable = unicodedata.normalize("NFKC", name).strip()
    safe = re.sub(r"[^\w-]+", "-", readable).strip("-")[:60]
    if safe != name or not safe:
        safe += "-" + hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:6]
    return f"{safe}_{lms_id}" if lms_id else safe


def shown(path: str) -> str:
    """A name from outside, such that a terminal or a table shows it and no more."""
    return "".join(c if c.isprintable() else "?" for c in path)[:200]


def _receive(
    place: Path,
    assignments: list[Assignment],
    keep: Path,
    left_out: list[str],
    limits: Limits,
) -> list[Received]:
    received, room = [], MOST_BYTES
    for file in _files(place, left_out, limits):
        room -= len(file.data)
        if room < 0:
            left_out.append(f"More than {MOST_BYTES >> 30} GiB: the rest was not read.")
            break
        assignment = _assignment_of(file, assignments)
        if assignment is None:
            left_out.append(f"{shown(file.path)}: belongs to no exercise set.")
            continue
        digest = keep_file(file.data, keep)
        received.append(Received(file.path, file.time, assignment.name, digest))
    return received


def _submission(
    file: Received,
    common: str,
    patterns: list[re.Pattern[str]],
    assignments: list[str],
    keep: Path,
) -> tuple[Submission, int]:
    path = file.path.removeprefix(common)
    groups = next(m for p in patterns if (m := p.match(path))).groupdict()
    name = NOTEBOOK.sub("", groups.get("name") or groups.get("id") or "")
    for other in assignments:
        name = name.replace(other, "").strip(" _-.") or name
    again = re.search(r"-(\d+)\.ipynb", groups.get("file") or "", re.IGNORECASE)
    lms_id = groups.get("id") or ""
    submission = Submission(
        safe_name(name, lms_id),
        shown(name),
        lms_id,
        file.assignment,
        shown(file.path),
        keep / file.digest,
        bool(groups.get("late")),
    )
    return submission, int(again.group(1)) if again else 0


def _assignment_of(file: File, assignments: list[Assignment]) -> Assignment | None:
    best = max(assignments, key=lambda assignment: assignment.likeness(file.data))
    if best.likeness(file.data) >= LIKE_ENOUGH:
        return best
    named = [a for a in assignments if a.name.lower() in file.path.lower()]
    if named:
        return named[0]
    return best if len(assignments) == 1 else None


def _files(place: Path, left_out: list[str], limits: Limits) -> Iterator[File]:
    if place.is_dir():
        files = _files_in_folder(place, left_out, limits)
    elif place.is_file() and zipfile.is_zipfile(place):
        with open(place, "rb") as stream:
            yield from _files_in_zip(stream, "", left_out, limits)
        return
    elif place.is_file() and NOTEBOOK.search(place.name):
        files = iter([File(place.name, place.read_bytes(), place.stat().st_mtime)])
    else:
        raise NoSubmissions(f"{place} is neither a folder nor a zip file.")
    for file in files:
        if file.path.lower().endswith(".zip"):
            inside = BytesIO(file.data)
            yield from _files_in_zip(inside, file.path[:-4] + "/", left_out, limits)
        else:
            yield file


def _files_in_folder(
    folder: Path, left_out: list[str], limits: Limits
) -> Iterator[File]:
    count = 0
    for parent, folders, names in os.walk(folder, followlinks=False):
        folders.sort()
        for name in sorted(names):
            full = os.path.join(parent, name)
            path = os.path.relpath(full, folder).replace(os.sep, "/")
            path = path.encode("utf-8", "replace").decode("utf-8")
            if not _wanted(path, left_out):
                continue
            count += 1
            if count > MOST_FILES:
                left_out.append(f"More than {MOST_FILES} files: the rest was not read.")
                return
            try:
                descriptor = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except OSError as error:
                left_out.append(f"{shown(path)}: not read ({error.strerror}).")
                continue
            with os.fdopen(descriptor, "rb") as stream:
                status = os.fstat(descriptor)
                if not stat.S_ISREG(status.st_mode):
                    left_out.append(f"{shown(path)}: not an ordinary file.")
                    continue
                data = stream.read(limits.notebook + 1)
            yield File(path, data, status.st_mtime)


def _files_in_zip(
    stream: object, prefix: str, left_out: list[str], limits: Limits
) -> Iterator[File]:
    try:
        archive = zipfile.ZipFile(stream)  # type: ignore[call-overload]
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        left_out.append(f"{shown(prefix)}: not a zip file that can be read ({error}).")
        return
    with archive:
        most = MOST_FILES_OF_ONE if prefix else MOST_FILES
        for number, entry in enumerate(archive.infolist()):
            if number > most:
                where = shown(prefix) or "The zip"
                left_out.append(f"{where}: the rest of over {most} files was not read.")
                return
            path = prefix + entry.filename.replace("\\", "/")
            if entry.is_dir() or not _wanted(path, left_out):
                continue
            try:
                with archive.open(entry) as opened:
                    data = opened.read(limits.notebook + 1)
            except Exception as error:  # damaged, encrypted, an unknown compression
                left_out.append(f"{shown(path)}: cannot be read ({error}).")
                continue
            path = "/".join(
                p for p in PurePosixPath(path).parts if p not in ("/", "..")
            )
            if path.lower().endswith(".zip") and not prefix:
                inside = BytesIO(data)
                yield from _files_in_zip(inside, path[:-4] + "/", left_out, limits)
            elif not path.lower().endswith(".zip"):
                yield File(path, data, _seconds(entry.date_time))


def _seconds(date: tuple[int, int, int, int, int, int]) -> float:
    """A zip entry's time on the clock of files; 0 where it names no day."""
    try:
        return datetime(*date).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _wanted(path: str, left_out: list[str]) -> bool:
    if IGNORED.search(path):
        return False
    if NOTEBOOK.search(path) or path.lower().endswith(".zip"):
        return True
    left_out.append(f"{shown(path)}: not a notebook.")
    return False


def _common_folder(paths: list[str]) -> str:
    """What all paths begin with: zips often hold one folder that holds the rest."""
    common = ""
    while True:
        rests = [path.removeprefix(common) for path in paths]
        tops = {rest.split("/", 1)[0] for rest in rests}
        below = {rest.split("/", 2)[1] for rest in rests if "/" in rest}
        alone = len(tops) == 1 and len(below) > 1 and all("/" in rest for rest in rests)
        if not alone or "_assignsubmission_file" in min(tops):
            return common
        common += min(tops) + "/"
