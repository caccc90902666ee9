"""Make the students' notebooks from the sources.

python -m classroom.release                         all, and vit_check/sets.json
python -m classroom.release --check                 changes nothing, lists what is stale
python -m classroom.release --without-solutions     for a class, in _build/handout
python -m classroom.release --seed 2027             drawn, in _build/exercises/2027
"""

import argparse
import sys
from pathlib import Path

import nbformat

from classroom.release.assignment import Assignment
from classroom.release.handout import (
    commit_of_this_copy,
    handed_out,
    is_published,
    lines_to_install,
)
from classroom.release.release import RELEASED, ROOT, SOURCES, released, text_of
from classroom.release.sets import stale_sets

BUILT = ROOT / "_build"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m classroom.release")
    parser.add_argument("sources", nargs="*", type=Path, help="default: all")
    parser.add_argument("--out", type=Path, help="folder to write into")
    parser.add_argument("--without-solutions", action="store_true", help="for a class")
    parser.add_argument("--seed", type=int, help="draw a variant, and its solutions")
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    sources = options.sources or sorted(SOURCES.glob("*.ipynb"))
    if options.without_solutions or options.seed is not None:
        return _write_handouts(sources, options.seed, options.out)
    out, stale = options.out or RELEASED, []
    for path in sources:
        text = text_of(released(nbformat.read(path, as_version=4)))
        target = out / path.name
        if target.exists() and target.read_text(encoding="utf-8") == text:
            continue
        stale.append(target)
        if not options.check:
            out.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    if not options.sources and out == RELEASED:
        releases = [
            nbformat.read(path, as_version=4)
            for path in sorted(RELEASED.glob("*.ipynb"))
        ]
        stale += stale_sets(releases, write=not options.check)
    for target in stale:
        print(f"{'stale' if options.check else 'written'}: {target}")
    return int(options.check and bool(stale))


def _write_handouts(sources: list[Path], seed: int | None, out: Path | None) -> int:
    """Write what a class gets, and of a variant the solutions into a folder apart."""
    usual = BUILT / "handout" if seed is None else BUILT / "exercises" / str(seed)
    out = out or usual
    out.mkdir(parents=True, exist_ok=True)
    commit = commit_of_this_copy()
    for path in sources:
        source = Assignment(path, seed).source
        notebook = handed_out(released(source, solutions=False), commit)
        (out / path.name).write_text(text_of(notebook), encoding="utf-8")
        if seed is not None:
            (out / "solutions").mkdir(exist_ok=True)
            (out / "solutions" / path.name).write_text(text_of(source), "utf-8")
    print(f"{out} has the notebooks to hand out.")
    if seed is not None:
        print("The folder solutions in it is for you alone.")
    if not commit:
        print("Which commit this copy is of is not known: their first cell installs")
        print("the newest version.")
        return 0
    print("In Colab their first cell installs this version. Anywhere else it takes:")
    print(*(f"  {line}" for line in lines_to_install(commit)), sep="\n")
    if not is_published(commit):
        print(f"Push first: {commit[:8]} is not online yet, as far as git here knows.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
