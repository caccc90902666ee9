"""Run every notebook as Colab would: its versions, its first cell, a clean start.

    python -m tests.repository.colab                 all, in the book's order
    python -m tests.repository.colab notebooks/02_patch_embedding.ipynb          one
    python -m tests.repository.colab --python /path/to/python3.13      choose the Python

A chapter, and an exercise set with its solutions, must run from top to bottom. So must
the student's version of the set, in which every check has to raise a sentence about
what is missing. Each notebook runs twice in one session, and the second time its first
cell does nothing.
"""

import argparse
import math
import sys
from pathlib import Path

import nbformat
import yaml

from tests.repository.colab.runtime import ROOT, Runtime, Stopped
from tests.repository.colab.session import check


def in_the_books_order() -> list[Path]:
    """Return the chapters, each followed by its exercises, unsolved and solved."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    found = []
    for part in toc["parts"]:
        for chapter in part["chapters"]:
            for entry in (chapter, *chapter.get("sections", [])):
                path = ROOT / f"{entry['file']}.ipynb"
                found += [path, ROOT / "classroom" / "source" / path.name]
    return [p for p in dict.fromkeys(found) if p.exists()]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.repository.colab")
    parser.add_argument("notebooks", nargs="*", type=Path, help="default: all")
    parser.add_argument("--python", help="default: python3.13, else python3.11")
    options = parser.parse_args()
    try:
        runtime = Runtime(options.python)
        runtime.prepare()
        failed = report(options.notebooks or in_the_books_order(), runtime)
    except Stopped as problem:
        print(f"Stopped: {problem}", file=sys.stderr)
        return 1
    print(f"{failed} failed" if failed else "every notebook ran")
    return int(failed > 0)


def report(notebooks: list[Path], runtime: Runtime) -> int:
    """Run each notebook, print the outcome, and return the number that failed."""
    failed = 0
    print("first run  again   memory")
    for path in notebooks:
        name = path.resolve().relative_to(ROOT).as_posix()
        unsolved = name.startswith("notebooks/exercises/")
        done = check(nbformat.read(path, as_version=4), runtime, unsolved)
        first, again, *_ = [*done.seconds, math.nan, math.nan]
        verdict = "FAILED" if done.faults else "ran"
        cost = f"{first:7.0f} s {again:4.0f} s {done.megabytes:5} MB"
        print(f"{cost}  {verdict:6} {name}", *done.faults, sep="\n    ", flush=True)
        failed += bool(done.faults)
    return failed


if __name__ == "__main__":
    sys.exit(main())
