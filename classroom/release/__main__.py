"""Make the students' notebooks from the sources.

python -m classroom.release                  all sources, and vit_check/sets.json
python -m classroom.release --check          changes nothing, lists what is stale
"""

import argparse
import sys
from pathlib import Path

import nbformat

from classroom.release.release import RELEASED, SOURCES, released, text_of
from classroom.release.sets import stale_sets


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m classroom.release")
    parser.add_argument("sources", nargs="*", type=Path, help="default: all")
    parser.add_argument("--out", type=Path, default=RELEASED)
    parser.add_argument(
        "--without-solutions", action="store_true", help="leave out the folded ones"
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args(arguments)
    stale = []
    for path in options.sources or sorted(SOURCES.glob("*.ipynb")):
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


if __name__ == "__main__":
    sys.exit(main())
