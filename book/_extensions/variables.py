r"""Set short formulas as text: $T$, $D = 768$, $(B, h, T, d)$, $2 \cdot T^2$.

Such a formula has only letters, numbers and signs on one line. Its letters are set in
the font of larger formulas, everything else in the font of the sentence, and it breaks
where the sentence may: a browser breaks no line inside MathML, in which all other
formulas are set (formulas.py), for instance fractions.

A line never breaks inside a formula, unless the formula is longer than a phone is wide,
and never between a formula and the comma or full stop after it.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.writers.html5 import HTML5Translator

SIGNS = {
    r"\cdot": "·",
    r"\times": "×",
    r"\approx": " ≈ ",
    r"\le": " ≤ ",
    r"\ge": " ≥ ",
    r"\dots": "…",
    "+": " + ",
    "-": " − ",
    "=": " = ",
    "<": " < ",
    ">": " > ",
    ",": ", ",
    "{,}": ",",
} | {sign: sign for sign in "()/.:"}
RAISED = str.maketrans("0123456789-T", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵀ")
PIECE = re.compile(
    r"\s*(?:(?P<sign>\\(?:cdot|times|approx|le|ge|dots)(?![A-Za-z])|\{,\}|[-+=<>,()/.:])"
    r"|\\mathrm\{(?P<name>[a-z]+)\}|\\(?P<function>ln|log|exp|sin|cos)(?![A-Za-z])"
    r"|(?P<root>\\sqrt\{)?(?P<what>[A-Za-z]|\d+)(?:_(?P<index>\w))?(?(root)\}))"
    r"(?:\^(?P<power>\d|\{-?\d+\}|\{\\mathsf T\}))?\s*"
)
LETTERS_IN_ONE_LINE = 28  # that fit on a phone
ENDS = re.compile(r"[.,;:!?)’”\]]+")


class variable(nodes.Inline, nodes.TextElement):  # type: ignore[misc] # no types there
    """A letter of a formula: ``<var>``."""


def write_variable(translator: HTML5Translator, node: variable) -> None:
    translator.body.append(f"<var>{node.astext()}</var>")
    raise nodes.SkipNode


def one_line(formula: str) -> nodes.inline | None:
    """Return the formula as text; None if one line of text cannot show it."""
    line = nodes.inline(classes=["formula"])
    place = 0
    while place < len(formula):
        found = PIECE.match(formula, place)
        if found is None:
            return None
        line += written(found)
        place = found.end()
    join_texts(line)
    if len(line.astext()) > LETTERS_IN_ONE_LINE:
        line["classes"].append("long")
    return line


def written(piece: re.Match[str]) -> Iterator[nodes.Node]:
    if sign := piece["sign"]:
        yield nodes.Text(SIGNS[sign])
    elif name := piece["name"]:
        yield nodes.Text(name)
    elif function := piece["function"]:
        yield nodes.Text(f" {function} ")
    else:
        yield nodes.Text("√" if piece["root"] else "")
        yield letter_or_number(piece["what"])
        if piece["index"]:
            yield nodes.subscript("", "", letter_or_number(piece["index"]))
    power = (piece["power"] or "").strip("{}").removeprefix(r"\mathsf ")
    yield nodes.Text(power.translate(RAISED))


def letter_or_number(what: str) -> nodes.Node:
    return variable("", what) if what.isalpha() else nodes.Text(what)


def join_texts(line: nodes.inline) -> None:
    """Join neighbouring texts, with the right spaces between signs."""
    parts = line.children
    line.children = []
    for is_text, together in groupby(parts, lambda part: isinstance(part, nodes.Text)):
        if not is_text:
            line += together
            continue
        text = "".join(part.astext() for part in together)
        if not line.children:
            text = text.lstrip()
        # a minus sign of a number, not of a difference, has no spaces around it
        text = re.sub(r"(?:(?<=[(,=·×/])|^(?=−)) ?− *", "−", text)
        text = re.sub(r"(?<=\() +|(?<=[a-z]) +(?=\()|(?<=,) (?=\))", "", text)
        line += nodes.Text(re.sub(" +", " ", text))


class FormulasInSentences(SphinxTransform):
    default_priority = (
        840  # after NoBreakSpaces, which takes sentences as they are written
    )

    def apply(self, **kwargs: Any) -> None:
        for formula in list(self.document.findall(nodes.math)):
            line = one_line(formula.astext())
            if line is not None:
                formula.replace_self(line)
            keep_together(formula if line is None else line)


def keep_together(formula: nodes.Element) -> None:
    parent = formula.parent
    place = parent.index(formula)
    after = parent[place + 1] if place + 1 < len(parent) else None
    if isinstance(after, nodes.Text) and (ends := ENDS.match(after)):
        whole = nodes.inline("", "", formula, nodes.Text(ends.group()))
        whole["classes"].append("unbroken")
        parent[place : place + 2] = [whole, nodes.Text(after[ends.end() :])]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_node(variable, html=(write_variable, None))
    app.add_transform(FormulasInSentences)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
