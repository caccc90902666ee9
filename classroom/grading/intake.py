"""Find out who handed in what, from the folder or zip that a platform exports."""

import re
import shlex
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from classroom.grading.identity import Claim, Label, by_pattern, crowded, label, rivals
from classroom.grading.limits import ORDINARY, Limits
from classroom.grading.uploads import File, Unread, in_folder, in_zip, shown
from classroom.grading.versions import Reader, Remarks, Version
from classroom.release.assignment import Assignment, labelled

Owner = Callable[[str], Label | None]  # called with a path below the place
Found = dict[tuple[Claim, str], list[Version]]  # by student and exercise set


class NoSubmissions(ValueError):
    """Raised when there is nothing to grade; the message gives the reason."""


@dataclass(frozen=True)
class Submission:
    """One notebook of one student.

    Attributes:
        contested: a sentence if the author is in doubt, because other uploads for the
            same exercise set claim to be the same student's or because the name can be
            read in several ways; else "".
    """

    student: str  # a name that is safe in a path and different for each student
    name: str  # as the platform gives it, for people to read
    lms_id: str  # the platform's number for the student, or ""
    assignment: str
    path: str
    kept: Path
    late: bool = False  # as the platform marked it
    contested: str = ""
    seed: int | None = None  # of its variant of the set

    @property
    def label(self) -> str:
        """The label of the variant by which it is graded."""
        return labelled(self.assignment, self.seed)

    @property
    def digest(self) -> str:
        return self.kept.name

    @property
    def data(self) -> bytes:
        return self.kept.read_bytes()


@dataclass
class Intake:
    submissions: list[Submission] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)  # a sentence for each file


def take_in(
    place: Path,
    assignments: list[Assignment],
    keep: Path,
    pattern: str | None = None,
    limits: Limits = ORDINARY,
) -> Intake:
    """Take in all submissions of a folder or zip, one for each student and set.

    First the author of each file is decided, by the outermost name alone. Then each
    student's files are read, within limits that hold for this student alone.

    A folder around the whole class is ignored if it has the name of the zip that holds
    it. Any other such folder could be the work of a single student who made folders
    with other students' names, so it is not graded without asking.

    Args:
        keep: a folder for the notebooks themselves, until they are graded.
        pattern: a regular expression with a group ``name`` or ``id``, matched against
            the path below ``place``; the author of a file is then decided by it alone.

    Raises:
        NoSubmissions: if there is no notebook, or ``place`` is neither folder nor zip.
    """
    sets = [assignment.name for assignment in assignments]
    owner: Owner = partial(label, exercise_sets=sets)
    if pattern:
        try:
            owner = by_pattern(pattern, sets)
        except ValueError as error:
            raise NoSubmissions(str(error)) from error
    keep.mkdir(parents=True, exist_ok=True)
    readers = defaultdict[Claim, Reader](partial(Reader, assignments, keep, limits))
    unassigned = defaultdict[str, Remarks](partial(Remarks, limits.remarks))
    with _files(place) as files:
        if place.is_file() and not pattern:
            files = _without_wrapper(list(files), place)
        for file in files:
            outermost = file.path.split("/", 1)[0]
            if not outermost or File(outermost).ignored:
                continue
            owner_label = owner(file.path)
            if owner_label is not None:
                readers[owner_label.claim].add(owner_label, file)
            elif not file.is_folder and not file.ignored:
                sentence = f"{shown(file.path)}: it does not match --pattern."
                unassigned[outermost].add(sentence)
        unsure = sorted(readers, key=lambda claim: not readers[claim].waiting)
        for claim, reading in crowded(unsure, limits.doubtful).items():
            del readers[claim]
            unassigned[reading].add(
                f"{shown(claim.upload)}: not read; its name can be read in several "
                f"ways, and of such names at most {limits.doubtful} that begin with "
                f"{shown(reading)} are read."
            )
        for reader in readers.values():
            reader.read()
    found = {
        (claim, name): versions
        for claim, reader in readers.items()
        for name, versions in reader.versions.items()
    }
    left_out = [
        s for whose, remarks in unassigned.items() for s in remarks.sentences(whose)
    ]
    for claim, reader in readers.items():
        left_out += reader.sentences(claim.name or claim.lms_id)
    if not found:
        reasons = " ".join(left_out[:3])
        raise NoSubmissions(f"No notebook was found in {place}. {reasons}".strip())
    if not pattern:
        _refuse_a_class_in_one_folder(found, place)
    return Intake(_submissions(found, keep), left_out)


def state_of(place: Path) -> set[tuple[str, float, int]]:
    """Return path, time and size of each file, which tell whether it was changed."""
    if not place.is_file():
        return {(file.path, file.time, file.size) for file in in_folder(place)}
    status = place.stat()
    return {(place.name, status.st_mtime, status.st_size)}


@contextmanager
def _files(place: Path) -> Iterator[Iterable[File]]:
    """Give all files below the place, which can be read until the context ends."""
    if place.is_dir():
        yield in_folder(place)
    elif place.is_file() and zipfile.is_zipfile(place):
        with open(place, "rb") as stream, ExitStack() as stack:
            try:
                files = stack.enter_context(in_zip(stream))
            except Unread as error:
                raise NoSubmissions(f"{place}: {error}.") from error
            yield files
    elif place.is_file() and not File(place.name).is_zip:
        status = place.stat()
        yield [
            File(
                place.name,
                status.st_mtime,
                status.st_size,
                lambda: open(place, "rb"),
            )
        ]
    else:
        raise NoSubmissions(f"{place} is neither a folder nor a zip file.")


def _without_wrapper(files: list[File], place: Path) -> list[File]:
    """Return the files without the one folder around them that is named like the zip.

    A program that zips a folder creates it; no student knows the name of the zip.
    """
    wrapper = f"{place.stem}/"
    own = [file for file in files if not File(file.path.split("/", 1)[0]).ignored]
    around = all(file.path.startswith(wrapper) for file in own)
    if not around or label(wrapper, []).claim.by_platform:
        return files
    return [replace(file, path=file.path.removeprefix(wrapper)) for file in own]


def _refuse_a_class_in_one_folder(found: Found, place: Path) -> None:
    claims = list({claim for claim, _ in found})
    if len(claims) > 1 or claims[0].by_platform:
        return
    paths = [version.path for versions in found.values() for version in versions]
    folders = {path.split("/")[1] for path in paths if path.count("/") > 1}
    if len(folders) < 2 and all(len(versions) == 1 for versions in found.values()):
        return
    top = claims[0].upload
    one_student = shlex.quote("(?P<name>[^/]+)")
    if place.is_dir():
        inside = shlex.quote(shown(str(place / top), 4096))
        remedy = f"give it: make grade SUBMISSIONS={inside}"
    else:
        inside = shlex.quote(shown(f"{re.escape(top)}/(?P<name>[^/]+)", 4096))
        remedy = f"unpack the zip and give the folder in it, or add --pattern {inside}"
    raise NoSubmissions(
        f"All notebooks are in {shown(top)}, and that may be a class or the work of "
        f"one student. For a class, {remedy}. For one student, add --pattern "
        f"{one_student}."
    )


def _submissions(found: Found, keep: Path) -> list[Submission]:
    against = rivals(found)
    submissions = []
    for (claim, name), versions in found.items():
        last = max(versions)
        others = [
            other.upload or max(found[other, name]).path
            for other in against[claim, name]
        ]
        submission = Submission(
            claim.student(contested=bool(others)),
            shown(claim.name or claim.lms_id),
            claim.lms_id,
            name,
            shown(last.path),
            keep / last.digest,
            last.late,
            _contested(claim.upload or last.path, others) or _doubtful(claim),
            last.seed,
        )
        submissions.append(submission)
    return sorted(submissions, key=lambda s: (s.assignment, s.student))


def _contested(upload: str, others: list[str]) -> str:
    if not others:
        return ""
    named = [shown(name) for name in [upload, *others[:3]]]
    if len(others) > 3:
        named[-1] = f"{len(others) - 2} more"
    return (
        f"{', '.join(named[:-1])} and {named[-1]} claim to be the same student's. "
        "Remove those that do not count, rename those of another student, and grade "
        "again."
    )


def _doubtful(claim: Claim) -> str:
    if not claim.readings:
        return ""
    *first, last = [shown(reading) for reading in claim.readings[:3]]
    return (
        f"{shown(claim.upload)} can be the work of {', '.join(first)} or {last}, "
        "because a student may have chosen a part of this name. Remove that part from "
        "the name, and grade again."
    )
