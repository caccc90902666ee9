"""The mutants that passed, in survivors.txt: each answer's, under the reasons why.

    accuracy of classroom/source/08_training.ipynb
      15 mutants, 0d7cbe2e90da0c78
      return (answers == labels).double().mean()«.item() -> »
        A tensor of one number is accepted in place of the number.

A reason is that of all lines above it up to the reason before; one without a reason
stands under "?". A line that is too long goes on below, indented by six spaces.
"""

import itertools
import re
import textwrap
from pathlib import Path

FILE = Path(__file__).with_name("survivors.txt")
WIDTH = 88


def change(was, becomes):
    """Return a statement with what was changed in it, as ``f(«a -> b»)``."""
    words, others = (re.findall(r"\w+|\s+|.", text) for text in (was, becomes))
    start = _alike(words, others)
    end = _alike(words[start:][::-1], others[start:][::-1])
    old, new = ("".join(text[start : len(text) - end]) for text in (words, others))
    whole = [*words[:start], f"«{old} -> {new}»", *words[len(words) - end :]]
    return re.sub(r"\s+", " ", "".join(whole))


def _alike(words, others):
    """Return how many words are the same at the beginning."""
    pairs = zip(words, others, strict=False)
    return sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))


def read():
    """Return the entries by the names of their answers."""
    known = {}
    if not FILE.exists():
        return known
    for block in re.split(r"\n(?=\S)", FILE.read_text(encoding="utf-8").strip()):
        name, numbers, *lines = re.sub(r"\n {6}", " ", block).splitlines()
        mutants, fingerprint = numbers.strip().split(" mutants, ")
        survivors, waiting = {}, []
        for line in lines:
            if line.startswith("    "):
                reason = line.strip().removeprefix("?")
                survivors |= dict.fromkeys(waiting, reason)
                waiting = []
            else:
                waiting.append(line[2:])
        known[name] = {
            "mutants": int(mutants),
            "fingerprint": fingerprint,
            "survivors": survivors,
        }
    return known


def write(known):
    lines = []
    for name, entry in sorted(known.items()):
        lines += [name, f"  {entry['mutants']} mutants, {entry['fingerprint']}"]
        for reason in dict.fromkeys(entry["survivors"].values()):
            for line, why in entry["survivors"].items():
                lines += _wrapped(line, "  ") if why == reason else []
            lines += _wrapped(reason or "?", "    ")
    FILE.write_text("\n".join([*lines, ""]), encoding="utf-8")


def _wrapped(text, indent):
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=" " * 6,
        break_long_words=False,
        break_on_hyphens=False,
    )
