"""List every known mistake and every known answer with what is said of it.

python -m tests.checks.listing [--only WORD] > listing.txt

The lines are sorted, so that `diff` compares the lists of two commits.
"""

import argparse

import torch

from tests.checks.answers import RIGHT, WRONG, made
from tests.checks.test_every_check import CHECKS


def listed(only=""):
    """Return the lines for the checks whose names have a word in them, sorted."""
    return sorted(line for name in CHECKS if only in name for line in _of(name))


def _of(name):
    for mistake in CHECKS[name].mistakes:
        yield f"{name} | mistake | {mistake.name} | {mistake.sentence}"
    for answer in RIGHT[name]:
        yield f"{name} | right | {answer.__name__} | {_said(name, answer)}"
    for mistake, answer, _ in WRONG[name]:
        yield f"{name} | wrong | {mistake}: {answer.__name__} | {_said(name, answer)}"


def _said(name, answer):
    torch.manual_seed(0)
    finding = CHECKS[name].examine(made(answer), {})
    said = finding and f"{finding.mistake} | {' '.join(finding.sentence.split())}"
    return said or "right"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.checks.listing")
    parser.add_argument("--only", default="", help="checks whose name has this word")
    print(*listed(parser.parse_args().only), sep="\n")
