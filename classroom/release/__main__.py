"""Make the students' notebooks from the sources.

python -m classroom.release                  all sources, and vit_check/sets.json
python -m classroom.release --check          changes nothing, lists what is stale
python -m classroom.release --seed 2027      a variant, in _build/exercises/2027
"""

import argparse
import sys
from pathlib import Path

import nbformat

from classroom.release.assignment import Assignment
from classroom.release.release import RELEASED, ROOT, SOURCES, released, text_of
from classroom.release.sets import stale_sets


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m classroom.release")
    parser.add_argument("sources", nargs="*", type=Path, help="default: all")
    parser.add_argument("--out", type=Path, default=RELEASED)
    parser.add_argument(
        "--without-solutions", action="store_true", help="leave out the folded ones"
    )
    parser.add_argument("--seed", type=int, help="draw a variant, and its solutions")
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    sources = options.sources or sorted(SOURCES.glob("*.ipynb"))
    if options.seed is not None:
        return _write_variant(sources, options.seed)
    stale = []
    for path in sources:
        source = nbformat.read(path, as_version=4)
        text = text_of(released(source, solutions=not options.without_solutions))
        target = options.out / path.name
        if target.exists() and target.read_text(encoding="utf-8") == text:
            continue
        stale.append(target)
        if not options.check:
            options.out.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    if not options.sources and options.out == RELEASED:
        releases = [
            nbformat.read(path, as_version=4)
            for path in sorted(RELEASED.glob("*.ipynb"))
        ]
        stale += stale_sets(releases, write=not options.check)
    for target in stale:
        print(f"{'stale' if options.check else 'written'}: {target}")
    return int(options.check and bool(stale))


def _write_variant(sources: list[Path], seed: int) -> int:
    """Write the variant's notebooks, and apart from them those with the solutions."""
    out = ROOT / "_build" / "exercises" / str(seed)
    (out / "solutions").mkdir(parents=True, exist_ok=True)
    for path in sources:
        solved = Assignment(path, seed).source
        handed_out = text_of(released(solved, solutions=False))
        (out / path.name).write_text(handed_out, encoding="utf-8")
        solutions = out / "solutions" / path.name
        solutions.write_text(text_of(solved), encoding="utf-8")
    print(f"{out} has the notebooks to hand out, and a folder with their solutions.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
