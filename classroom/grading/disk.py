"""Recognise a full disk, whichever of the many parts that write met it first."""

import errno
import shutil
from sqlite3 import OperationalError as SQLiteError

from sqlalchemy.exc import OperationalError

FULL = {errno.ENOSPC, errno.EDQUOT}
DISK_FULL = errno.ENOSPC  # exit status of a worker; it has no other above 1


def is_full_disk(error: BaseException | None) -> bool:
    """Return whether an error, or one that it was raised from, is a full disk's."""
    seen = set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        if isinstance(error, OSError) and error.errno in FULL:
            return True
        # What a student wrote can be in other messages, so only these are read.
        if isinstance(error, shutil.Error) and "No space left" in str(error):
            return True
        if isinstance(error, OperationalError | SQLiteError):
            if "disk is full" in str(error) or "disk I/O error" in str(error):
                return True
        error = error.__cause__ or error.__context__
    return False
