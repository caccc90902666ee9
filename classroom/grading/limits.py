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
        total_seconds: the same for one notebook, restarts included.
        memory: bytes that all processes of one kernel hold together, files in memory
            included.
        processes: processes and threads of one kernel.
        descriptors: files, pipes and sockets that all processes of one kernel have open
            together.
        files: files in memory of one kernel.
        output: bytes of output that are kept from one cell.
        outputs: bytes of output that are kept from one notebook.
        notebook: bytes of the largest notebook that is read.
        cells: cells of the longest notebook that is graded.
        restarts: how often a kernel that died is started again.
        uploads: notebooks and zips of one student that are read, the newest.
        upload_bytes: bytes of one student's notebooks together.
        zip_bytes: bytes of one student's zips together.
        doubtful: uploads of one student that are read, each by itself, if their names
            leave the author in doubt.
        remarks: sentences in the report about one student's files, of each sort.
    """

    cell_seconds: int = 30
    patience_with_others: int = 6
    total_seconds: int = 900
    memory: int = 3072 * MIB
    processes: int = 128
    descriptors: int = 2048
    files: int = 20_000
    output: int = MIB
    outputs: int = 8 * MIB
    notebook: int = 20 * MIB
    cells: int = 500
    restarts: int = 6
    uploads: int = 50
    upload_bytes: int = 64 * MIB
    zip_bytes: int = 256 * MIB
    doubtful: int = 12
    remarks: int = 5


ORDINARY = Limits()
