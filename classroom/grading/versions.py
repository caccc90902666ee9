"""Read the notebooks that one student has handed in, and sort them by exercise set."""

import hashlib
import json
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from pathlib import Path

from nbformat.notebooknode import NotebookNode

from classroom.grading.cells import plain
from classroom.grading.identity import Label
from classroom.grading.limits import MIB, Limits
from classroom.grading.restore import Unreadable, read
from classroom.grading.uploads import (
    NOTE,
    File,
    Unread,
    in_zip_of_student,
    shown,
)
from classroom.release.assignment import Assignment, likeness
from classroom.release.variant import seed_of

LIKE_ENOUGH = 0.2
INSTEAD = "was graded instead, by the same student and"
DEEPEST = 3  # levels of zips inside zips
LONGEST = 4 * MIB  # of a notebook that is looked into, to choose one of several


@dataclass(frozen=True, order=True)
class Version:
    """A notebook of an exercise set; if there are several, the greatest is graded.

    Attributes:
        recognised: whether it contains enough of the set. If not, the set was chosen by
            the file's name, or because there is no other.
        minute: of its date. Copying and unpacking give many files one date.
    """

    recognised: bool
    begun: bool  # it is more than the handout
    turn: int
    minute: int
    written: int  # characters that were written in it
    time: float
    path: str
    digest: str  # the name under which it is kept
    late: bool
    seed: int | None = field(default=None, compare=False)


class Remarks:
    """The first few sentences about one student's files, and a count of the rest."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.first: list[str] = []
        self.more = 0

    def add(self, sentence: str) -> None:
        if len(self.first) < self.most:
            self.first.append(sentence)
        else:
            self.more += 1

    def sentences(self, whose: str) -> list[str]:
        more = [f"{shown(whose)}: and {self.more} more like these."]
        return self.first + more * bool(self.more)


class Reader:
    """Read what one student has handed in, the newest first, within the limits.

    Call ``add`` with each file, then ``read``.

    Attributes:
        versions: exercise set -> the notebooks that belong to it.
    """

    def __init__(
        self, assignments: list[Assignment], keep: Path, limits: Limits
    ) -> None:
        self.versions: dict[str, list[Version]] = {}
        self._assignments, self._keep, self._limits = assignments, keep, limits
        # a heap
        self._newest: list[tuple[bool, int, float, int, Label, File]] = []
        self._added = 0
        self._uploads = limits.uploads
        self._room = {"notebook": limits.upload_bytes, "zip": limits.zip_bytes}
        self._about_notebooks = Remarks(limits.remarks)
        self._about_others = Remarks(limits.remarks)

    def add(self, label: Label, file: File) -> None:
        if not self._wanted(file):
            return
        self._added += 1
        sure = not file.is_maybe_notebook
        heappush(self._newest, (sure, label.turn, file.time, self._added, label, file))
        if len(self._newest) > self._limits.uploads:
            self._refuse(heappop(self._newest)[-1])

    @property
    def waiting(self) -> bool:
        """True if there is anything to read."""
        return bool(self._newest)

    def read(self) -> None:
        """Assign each notebook to its exercise set, those in zips too."""
        for *_, label, file in sorted(self._newest, reverse=True):
            read = self._zip if file.is_zip else self._notebook
            read(label, file)
        for name, versions in self.versions.items():
            if len(versions) > 1:
                releases = {a.seed: a.release for a in self._of_set(name)}
                self.versions[name] = [
                    self._looked_into(version, releases[version.seed])
                    for version in versions
                ]

    def sentences(self, whose: str) -> list[str]:
        """Return sentences about what is not graded, and why."""
        for versions in self.versions.values():
            last = max(versions)
            for other in versions:
                if other.digest != last.digest:
                    why = "later"
                    if other.minute >= last.minute and other.turn >= last.turn:
                        why = "with more in it"
                    if not other.begun:
                        why = "with more in it than was handed out"
                    if other.recognised != last.recognised:
                        why = "more like the exercise set"
                    self._about_notebooks.add(
                        f"{shown(other.path)}: {shown(last.path)} {INSTEAD} {why}."
                    )
        found = self._about_notebooks.sentences(whose)
        found += self._about_others.sentences(whose)
        if not found and not self.versions:
            found.append(f"{shown(whose)}: no notebook was handed in.")
        return found

    def _wanted(self, file: File) -> bool:
        if file.ignored or (file.is_folder and not file.trouble):
            return False
        if NOTE.fullmatch(file.path):
            return False
        if not (file.is_notebook or file.is_zip or file.is_maybe_notebook):
            trouble = file.trouble or "not a notebook"
            self._about_others.add(f"{shown(file.path)}: {trouble}.")
        elif file.trouble:
            self._about_notebooks.add(f"{shown(file.path)}: {file.trouble}.")
        else:
            return True
        return False

    def _takes(self, file: File, kind: str, size: int) -> bool:
        """Return whether there is room for one more file, and if so, reserve it."""
        if not self._uploads or size > self._room[kind]:
            self._refuse(file)
            return False
        self._uploads -= 1
        self._room[kind] -= size
        return True

    def _refuse(self, file: File) -> None:
        self._about_notebooks.add(
            f"{shown(file.path)}: not read; of one student, only the newest "
            f"{self._limits.uploads} files are read, and of these at most "
            f"{self._limits.upload_bytes / MIB:g} MiB of notebooks and "
            f"{self._limits.zip_bytes / MIB:g} MiB of zips."
        )

    def _zip(self, label: Label, file: File, depth: int = 1) -> None:
        if not self._takes(file, "zip", file.size):
            return
        try:
            with in_zip_of_student(file, self._keep) as files:
                for one in sorted(files, key=_sure_and_new, reverse=True):
                    one = replace(one, path=f"{file.path[:-4]}/{one.path}")
                    if not self._wanted(one):
                        continue
                    if not one.is_zip:
                        self._notebook(label, one)
                    elif depth < DEEPEST:
                        self._zip(label, one, depth + 1)
                    else:
                        reason = f"in {depth} zips, and no more are opened"
                        self._about_notebooks.add(f"{shown(one.path)}: {reason}.")
        except Unread as error:
            self._about_notebooks.add(f"{shown(file.path)}: {error}.")

    def _notebook(self, label: Label, file: File) -> None:
        most = self._limits.notebook + 1  # one byte more shows that it is too large
        if not self._takes(file, "notebook", min(file.size, most)):
            return
        try:
            data = file.read(most)
        except Unread as error:
            self._about_notebooks.add(f"{shown(file.path)}: {error}.")
            return
        # The content decides, and if that is not enough, the file's name.
        text = in_utf_8(data)
        like = likeness(text, self._assignments)
        nearest = max(self._assignments, key=lambda one: like[one.label])
        name = nearest.name
        recognised = like[nearest.label] >= LIKE_ENOUGH
        if not recognised and file.is_maybe_notebook:
            self._about_others.add(f"{shown(file.path)}: not a notebook.")
            return
        names = dict.fromkeys(one.name for one in self._assignments)
        if not recognised and len(names) > 1:
            named = [name for name in names if name.lower() in file.path.lower()]
            if not named:
                sentence = f"{shown(file.path)}: belongs to no exercise set."
                self._about_notebooks.add(sentence)
                return
            name = named[0]
        # If a notebook has lost its seed, it is of the variant that it is most like.
        variants = self._of_set(name)
        seeds, seed = [one.seed for one in variants], seed_of(text)
        if seed is None:
            seed = max(variants, key=lambda one: like[one.label]).seed
        elif seed not in seeds:
            every = " ".join(str(one) for one in (*seeds, seed) if one is not None)
            self._about_notebooks.add(
                f"{shown(file.path)}: is of the variant SEED={seed}, which you did not "
                f'name. If it was handed out, give all seeds: SEED="{every}".'
            )
            return
        self.versions.setdefault(name, []).append(
            Version(
                recognised,
                True,
                label.turn,
                int(file.time // 60),
                0,
                file.time,
                file.path,
                keep_file(data, self._keep),
                label.late,
                seed,
            )
        )

    def _of_set(self, name: str) -> list[Assignment]:
        """Return the variants of an exercise set."""
        return [one for one in self._assignments if one.name == name]

    def _looked_into(self, version: Version, release: NotebookNode) -> Version:
        """Return the version with the number of characters that were written in it."""
        data = (self._keep / version.digest).read_bytes()
        if len(data) > LONGEST:
            return replace(version, written=LONGEST)
        given = {plain(cell.source) for cell in release.cells}
        try:
            cells = read(data, self._limits)
        except Unreadable:
            return replace(version, begun=False)
        written = sum(len(c.source) for c in cells if plain(c.source) not in given)
        return replace(version, begun=written > 0, written=written)


def _sure_and_new(file: File) -> tuple[bool, float]:
    return not file.is_maybe_notebook, file.time


def in_utf_8(data: bytes) -> bytes:
    """Return the text of a file in UTF-16 or UTF-32 in the bytes of UTF-8."""
    encoding = json.detect_encoding(data)
    if encoding.startswith("utf-8"):
        return data
    return data.decode(encoding, "replace").encode("utf-8", "replace")


def keep_file(data: bytes, keep: Path) -> str:
    """Write bytes to a file named by their digest, and return the digest."""
    digest = hashlib.sha256(data).hexdigest()
    keep.mkdir(parents=True, exist_ok=True)
    (keep / digest).write_bytes(data)
    return digest
