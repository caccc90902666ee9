"""What one submission may take."""

from dataclasses import dataclass

MIB = 2**20
PATIENCE = 3  # with a cell that only waits
DESCRIPTORS = 256  # of one process


@dataclass(frozen=True)
class Limits:
    """Seconds, bytes and counts. None of them is reached by honest work.

    Args:
        cell_seconds: of computing for one cell, by the processor's clock and for all
            its processes together, so that a busy machine costs nobody a mark; then it
            is interrupted, and killed if that is not enough. A cell that only waits has
            ``PATIENCE`` times as long.
        patience_with_others: how many times as long a cell has that others keep from
            computing; by a clock on the wall, for a busy machine needs it.
        total_seconds: the same for one notebook, restarts included.
        memory: bytes that all processes of one kernel hold together, files in memory
            included.
        processes: of one kernel, threads included.
        descriptors: that all processes of one kernel have open together.
        files: in memory, of one kernel.
        output: bytes of output that are kept from one cell.
        outputs: bytes of output that are kept from one notebook.
        notebook: bytes of a notebook that is read at all.
        cells: of a notebook that is read at all.
        restarts: how often a kernel that died is started anew.
        uploads: notebooks and zips of one student that are read, the newest.
        upload_bytes: of one student's notebooks, together.
        zip_bytes: of one student's zips, together.
        doubtful: uploads of one student that are read, each by itself, where their
            names leave open whose they are.
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
