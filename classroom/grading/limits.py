"""The limits on what one submission may use."""

from dataclasses import dataclass

MIB = 2**20
PATIENCE = 3  # times as long for a cell that only waits
DESCRIPTORS = 256  # that one process may have open


@dataclass(frozen=True)
class Limits:
    """Seconds, bytes and counts, none of which honest work reaches.

    Args:
        cell_seconds: seconds of computing for one cell, by the processor's clock and
            for all its processes together, so that a busy machine costs nobody a mark.
            Then the cell is interrupted, and killed if that is not enough. A cell that
            only waits has ``PATIENCE`` times as long.
        patience_with_others: how many times as long a cell has while other programs
            keep it from computing. This is measured by the wall clock, which bounds the
            run even on a busy machine.
        doubtful: uploads of one student that are read, each by itself, if their names
            leave the author in doubt.
    """

    cell_seconds: int = 30
    patience_with_others: int = 6
    total_seconds: int = 900  # the same for one notebook, restarts included
    memory: int = 3072 * MIB  # of all processes of one kernel, with files in memory
    processes: int = 128  # and threads of one kernel
    descriptors: int = 2048  # that all processes of one kernel have open together
    files: int = 20_000  # in memory, of one kernel
    output: int = MIB  # that is kept from one cell
    outputs: int = 8 * MIB  # from one notebook
    notebook: int = 20 * MIB  # the largest that is read
    cells: int = 500  # of the longest notebook that is graded
    restarts: int = 6  # of a kernel that died
    uploads: int = 50  # notebooks and zips of one student, the newest
    upload_bytes: int = 64 * MIB  # of one student's notebooks together
    zip_bytes: int = 256 * MIB  # of one student's zips together
    doubtful: int = 12
    remarks: int = 5  # sentences about one student's files, of each sort


ORDINARY = Limits()
