"""Run the mutants.

python -m tests.checks.mutants [--only WORD] [--jobs N] [--again] [--sentences]
"""

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

from tqdm import tqdm

from tests.checks.mutants.examining import bound_memory, examine
from tests.checks.mutants.survivors import read, write
from tests.checks.mutants.targets import targets


def main(arguments=None):
    options = _parser().parse_args(arguments)
    known = read()
    wanted = [t for t in targets() if options.only in t.name]
    due = [t.name for t in wanted if options.again or not _is_current(t, known)]
    unnamed = {}
    started = time.monotonic()
    with ProcessPoolExecutor(
        options.jobs, get_context("spawn"), initializer=bound_memory
    ) as pool:
        runs = {pool.submit(examine, name, options.sentences): name for name in due}
        for run in tqdm(as_completed(runs), total=len(runs), unit="answer"):
            if run.exception() is not None:
                tqdm.write(f"{runs[run]}: {run.exception()}")
                known.pop(runs[run], None)
                continue
            entry = run.result()
            unnamed[runs[run]] = entry.pop("unnamed")
            known[runs[run]] = _with_reasons(entry, known.get(runs[run]))
            write(known)
    present = {target.name for target in targets()}
    known = {name: entry for name, entry in known.items() if name in present}
    write(known)
    for name, changes in unnamed.items():
        for change in changes:
            print(f"{name}: no sentence says what is wrong with {change!r}")
    failed = sum(run.exception() is not None for run in runs)
    return min(1, failed + _report(known, time.monotonic() - started))


def _parser():
    parser = argparse.ArgumentParser(prog="python -m tests.checks.mutants")
    parser.add_argument("--only", default="", help="answers whose name has this word")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument(
        "--again", action="store_true", help="also answers that have not changed"
    )
    parser.add_argument(
        "--sentences",
        action="store_true",
        help="list the changes for which the check has no reason to give",
    )
    return parser


def _is_current(target, known):
    entry = known.get(target.name)
    return entry is not None and entry["fingerprint"] == target.fingerprint()


def _with_reasons(entry, before):
    """Give survivors the reasons that were written before for the same changes."""
    written = (before or {}).get("survivors", {})
    entry["survivors"] = {s: written.get(s, "") for s in entry["survivors"]}
    return entry


def _report(known, seconds):
    number = sum(entry["mutants"] for entry in known.values())
    survivors = [(n, *s) for n, e in known.items() for s in e["survivors"].items()]
    open_ones = [(name, survivor) for name, survivor, reason in survivors if not reason]
    for name, survivor in open_ones:
        print(f"{name}\n    {survivor}")
    print(
        f"{number:,} mutants of {len(known)} answers, {len(survivors)} not refused, "
        f"{len(open_ones)} of them without a reason; {seconds:.0f} s"
    )
    return 1 if open_ones else 0


if __name__ == "__main__":
    sys.exit(main())
