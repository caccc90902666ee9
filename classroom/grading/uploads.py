"""List the files in a folder or a zip, without reading them until asked to.

Files are only read as bytes. No name from outside becomes a path, nothing is unpacked,
no link is followed, and a file that is too large is not read to its end.
"""

import io
import os
import re
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import IO

from classroom.grading.limits import MIB

ZIP_OR_NOTEBOOK = re.compile(r"\.(zip|ipynb(\.json|\.txt)?)$", re.IGNORECASE)
MAYBE_NOTEBOOK = re.compile(r"\.(json|txt)$", re.IGNORECASE)  # the content decides
IGNORED = re.compile(  # index.html is Brightspace's list of a class
    r"__MACOSX|\.ipynb_checkpoints|\.git|\.DS_Store|\._.*|index\.html", re.DOTALL
)
# Blackboard's note on an attempt, which is there whatever was handed in.
NOTE = re.compile(r".*_[0-9]{4}(-[0-9]{2}){5}\.txt", re.DOTALL)
# With other methods a few bytes can unpack to gigabytes, all in one step.
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
LONGEST_LIST = 4 * MIB  # a zip's list of about 60,000 files


class Unread(ValueError):
    """Raised when a file cannot be read; the message gives the reason."""


@dataclass(frozen=True)
class File:
    """A file in a folder or a zip.

    Attributes:
        path: below the place in which it was found. A folder's path ends with a slash,
            and only empty folders are listed.
    """

    path: str
    time: float = 0.0
    size: int = 0  # bytes, at most
    open: Callable[[], IO[bytes]] = io.BytesIO
    trouble: str = ""  # why it must not be opened

    @property
    def is_folder(self) -> bool:
        return self.path.endswith("/")

    @property
    def is_zip(self) -> bool:
        return self.path.lower().endswith(".zip")

    @property
    def is_notebook(self) -> bool:
        return not self.is_zip and bool(ZIP_OR_NOTEBOOK.search(self.path))

    @property
    def is_maybe_notebook(self) -> bool:
        return not self.is_notebook and bool(MAYBE_NOTEBOOK.search(self.path))

    @property
    def ignored(self) -> bool:
        """True if a program wrote the file, and not a student."""
        return any(IGNORED.fullmatch(part) for part in self.path.split("/"))

    def read(self, most: int) -> bytes:
        """Return its first bytes, or raise Unread."""
        try:
            with self.open() as stream:
                return stream.read(most)
        except Exception as error:  # damaged, encrypted
            raise Unread(f"cannot be read ({_reason(error)})") from error


def shown(text: str, most: int = 200) -> str:
    """Return a name from outside with "?" for unprintable characters, and cut."""
    return "".join(c if c.isprintable() else "?" for c in text[:most])


def in_folder(folder: Path) -> Iterator[File]:
    """Yield all files below a folder, at any depth."""
    waiting = [(os.fspath(folder), "")]
    while waiting:
        place, path = waiting.pop()
        try:
            with os.scandir(place) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            yield File(path or "./", trouble=f"cannot be listed ({_reason(error)})")
            continue
        if path and not entries:
            yield File(path)
        for entry in entries:
            file = _on_disk(entry, path + entry.name)
            if file.is_folder:
                waiting.append((entry.path, file.path))
            else:
                yield file


def _on_disk(entry: os.DirEntry[str], path: str) -> File:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        return File(path, trouble=f"cannot be read ({_reason(error)})")
    if stat.S_ISDIR(status.st_mode):
        return File(f"{path}/")
    if stat.S_ISLNK(status.st_mode):
        return File(path, trouble="a link, which is not followed")
    if not stat.S_ISREG(status.st_mode):
        return File(path, trouble="not an ordinary file")
    return File(path, status.st_mtime, status.st_size, partial(_opened, entry.path))


def _opened(path: str) -> IO[bytes]:
    def opener(path: str, flags: int) -> int:
        return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)

    return open(path, "rb", opener=opener)


@contextmanager
def in_zip(stream: IO[bytes]) -> Iterator[list[File]]:
    """Give all files in a zip, which can be read until it is closed.

    Raises:
        Unread: if the file is not a zip, or of a kind that is not supported.
    """
    try:
        archive = zipfile.ZipFile(stream)
        files = [_zipped(archive, entry) for entry in archive.infolist()]
    except Exception as error:  # damaged, a later version, undecodable names
        raise Unread(f"not a zip file that can be read ({_reason(error)})") from error
    with archive:
        yield files


@contextmanager
def in_zip_of_student(file: File, folder: Path) -> Iterator[list[File]]:
    """Give all files in a zip that was handed in, from a temporary copy in a folder.

    A zip with too long a list of files is refused, too.
    """
    with tempfile.TemporaryFile(dir=folder, buffering=0) as copy:
        try:
            with file.open() as stream:
                shutil.copyfileobj(stream, copy)
        except Exception as error:
            raise Unread(f"cannot be read ({_reason(error)})") from error
        with in_zip(_ShortReads(copy)) as files:
            yield files


class _ShortReads(io.BufferedReader):
    """A reader that limits a zip's list of files, which may claim any length."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > LONGEST_LIST:
            raise zipfile.BadZipFile("it lists too many files")
        return super().read(size)


def _zipped(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> File:
    name = entry.filename.replace("\\", "/")  # may be empty
    path = "/".join(part for part in name.split("/") if part not in ("", ".", ".."))
    return File(
        f"{path}/" if name.endswith("/") else path or ".",
        _seconds(entry.date_time),
        entry.file_size,
        partial(archive.open, entry),
        "" if entry.compress_type in PACKED else "packed in a way that is unknown",
    )


def _seconds(date: tuple[int, int, int, int, int, int]) -> float:
    """Return a zip entry's time on the clock of files; 0 if it is invalid."""
    try:
        return datetime(*date).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _reason(error: Exception) -> str:
    said = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return shown(said)
