"""Draw variants of the sets, and see that they can be solved and give nothing away.

    python -m tests.classroom.variants --seeds 200          questions and checks
    python -m tests.classroom.variants --seeds 3 --run      and the solutions are run
    python -m tests.classroom.variants 05 --show 2027       what a seed changes

The last column of ``--run`` lists the checks that the book's own solutions still pass.
"""

import argparse
import contextlib
import difflib
import io
import multiprocessing
import sys
import time
from pathlib import Path
from types import ModuleType

import nbformat
from nbgrader.utils import is_grade, is_solution

import vit_check as check
from classroom.release.release import SOURCES
from classroom.release.variant import varied
from vit_check.chapters.questions import QUESTIONS
from vit_check.drawn import variant_of

CHAPTERS = Path(check.__file__).with_name("chapters")
NAMES = sorted(path.stem for path in SOURCES.glob("*.ipynb"))


def source_of(name):
    return nbformat.read(SOURCES / f"{name}.ipynb", as_version=4)


def texts_of(name):
    """Return, by their places, all texts in which a table may replace something."""
    cells = source_of(name).cells
    texts = {cell.id: cell.source for cell in cells}
    for cell in cells:
        image = cell.metadata.get("mystnb", {}).get("image", {})
        texts[f"{cell.id}, alt"] = image.get("alt", "")
    for path in sorted((CHAPTERS / name.split("_", 1)[1]).glob("*.py")):
        texts[path.name] = path.read_text(encoding="utf-8")
    return texts


def places_not_found(name):
    """Return what a set's table would replace, but occurs in no text."""
    variant = variant_of(name, 0)
    found = [variant.found_in(text) for text in texts_of(name).values()]
    return set(variant.places) - set().union(*found)


def wrong_questions(seed):
    """Yield a sentence about each fault in a variant's questions."""
    check.variant(seed)
    for asked in list(QUESTIONS.values()):
        if asked.expected is None:
            continue
        right = asked.expected()
        if finding(asked, right):
            yield f"{asked.name}: the right value {right} does not pass"
        for slip in asked.slips:
            said = finding(asked, slip())
            if said is None:
                yield f"{asked.name}: the slip {slip()} passes"
            elif said.sentence != slip.sentence:
                yield f"{asked.name}: {slip()} is told {said.sentence!r}"


def finding(asked, value):
    return asked.judge([], asked.observe(value, []))


def run(nb, answers=None):
    """Run a set and return what its checks say: grade_id -> sentence, None if right.

    Args:
        answers: a set whose solutions replace the notebook's own.
    """
    if answers is not None:
        own = {c.id: c.source for c in answers.cells if is_solution(c)}
        for cell in nb.cells:
            cell.source = own.get(cell.id, cell.source)
    import matplotlib as mpl

    mpl.use("Agg")
    sys.modules["the_set"] = ModuleType("the_set")  # where PyTorch looks for names
    names = vars(sys.modules["the_set"])
    said = {}
    for cell in nb.cells:
        if cell.cell_type != "code" or cell.id == "colab":
            continue
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(cell.source, cell.id, "exec"), names)
        except Exception as error:
            said[cell.id] = f"{type(error).__name__}: {error}"
        else:
            if is_grade(cell):
                said[cell.id] = None
    return said


def _run_apart(arguments):
    name, seed, published = arguments
    started = time.monotonic()
    source = source_of(name)
    nb = varied(source, name, seed)
    said = run(nb, source if published else None)
    return name, seed, published, said, time.monotonic() - started


def show(name, seed):
    variant = variant_of(name, seed)
    print(variant.drawn)
    for where, text in texts_of(name).items():
        after = variant.text(text)
        if after != text:
            lines = text.splitlines(), after.splitlines()
            print(f"\n=== {where}")
            for line in difflib.unified_diff(*lines, lineterm="", n=0):
                if not line.startswith(("---", "+++", "@@")):
                    print(line)


def report(name, seed, published, said, took):
    """Print what a run said; return whether a solution has failed."""
    head = f"{name} {seed} ({took:.0f} s):"
    if published:
        cells = [c for c in source_of(name).cells if c.cell_type == "code"]
        graded = [cell.id for cell in cells if is_grade(cell)]
        still = [cell for cell in graded if said.get(cell, "") is None]
        print(head, f"{len(still)} of {len(graded)} still pass:", *still)
        return False
    wrong = {cell: why for cell, why in said.items() if why is not None}
    print(head, "the solutions fail" if wrong else "the solutions pass")
    for cell, why in wrong.items():
        print("    ", cell, why[:300])
    return bool(wrong)


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.classroom.variants")
    parser.add_argument("sets", nargs="*", help="numbers; default: all")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--show", type=int)
    options = parser.parse_args()
    names = [n for n in NAMES if not options.sets or n[:2] in options.sets]
    seeds = range(options.first, options.first + options.seeds)
    bad = False
    for name in names:
        for place in sorted(places_not_found(name)):
            print(f"{name}: nowhere: {place!r}")
            bad = True
    if options.show is not None:
        for name in names:
            show(name, options.show)
        return 0
    for seed in seeds:
        for sentence in wrong_questions(seed):
            print(f"seed {seed}: {sentence}")
            bad = True
    check.variant(None)
    if options.run:
        todo = [(n, s, p) for p in (False, True) for n in names for s in seeds]
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
            for done in pool.imap(_run_apart, todo):
                bad |= report(*done)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
