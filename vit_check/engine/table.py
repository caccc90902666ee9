"""A check as a table: its signature, its cases, known mistakes and three hints.

    attend(q, k) -> (B, T, T)
      float32(2, 3, 5), float32(2, 3, 5)
      float64(3, 1, 4), float64(3, 1, 4)  # a single token
    no scale: / math.sqrt(d) -> nothing
        the scores are not divided by √d before the softmax
    softmax over queries: softmax(dim=-1) -> softmax(dim=-2)
        the softmax runs over the queries: each column sums to 1, but each row should
    written by view: = by_view
        a view moves nothing: swap the axes first
    ? Which axis does the softmax take?
    ? The scores are divided by the root of q.shape[-1]; then each query's row of
      weights sums to 1.
    ? scores = q @ k.mT / math.sqrt(q.shape[-1]), then scores.softmax(dim=-1).

The signature comes first, and below it, indented by two spaces, the arguments of each
case, a line a case. ``float32(2, 3)``, ``float64`` and ``bfloat16`` draw
a tensor of this shape, ``below(K, 2, 3)`` one of whole numbers from 0 to K - 1, and
``whole(3, 9)`` one of 3 to 8. A case that is too long for
a line goes on in the next, indented by four.

Where an answer only moves numbers about, ``moves row column -> column row`` names the
axes that they come from and those that they go to, for saying where one came from.

A mistake is an edit of the right answer: a name, what is changed, and the sentence for
the student. An edit stands after the name. Further edits, or one that is too long for
that line, follow on lines of their own, indented by two spaces, where the arrow may
begin the next line. The sentence is indented by four. ``-> nothing`` takes something
out. ``= name`` is another answer altogether: a function by that name, or an expression.

Last come the hints, each saying more than the one before. All code may use ``math``,
``re``, ``torch``, ``F`` and all names in the file of the right answer.
"""

import ast
import inspect
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Generator
from torch.nn import functional as F

from vit_check.engine.drawing import Answer, drawing
from vit_check.engine.verdict import Mistake

ALWAYS_NAMED: dict[str, Any] = {"math": math, "re": re, "torch": torch, "F": F}


@dataclass(frozen=True)
class Row:
    """A row of a table: its name, the lines of code, and the sentence."""

    name: str
    code: list[str]
    sentence: str


@dataclass(frozen=True)
class Head:
    """How a table begins: the signature, the code of each case, and names of axes."""

    signature: str
    cases: list[str]
    moves: str

    def drawn(self, generator: Generator, names: Mapping[str, Any]) -> list[list[Any]]:
        """Return the arguments of each case.

        Args:
            names: what else the code may use.

        Raises: ValueError if a case cannot be computed.
        """
        scope = ALWAYS_NAMED | dict(names) | drawing(generator)
        return [evaluated("case", code, scope, "[%s\n]") for code in self.cases]


def evaluated(what: str, code: str, scope: dict[str, Any], form: str = "%s") -> Any:
    """Return the value of a piece of a table.

    Raises: ValueError, which says ``what`` it is, if it cannot be computed.
    """
    try:
        return eval(form % code, scope)
    except Exception as error:
        raise ValueError(
            f"{what}: {code!r} cannot be computed, {type(error).__name__}: {error}"
        ) from error


def parted(table: str) -> tuple[Head, str]:
    """Return the head of a table, and the mistakes and hints below it."""
    first = blocks(table)[0]
    signature, *lines = continued(first)
    moves = [line for line in lines if line.startswith("moves ")]
    cases = [line for line in lines if line not in moves]
    head = Head(signature, cases, "".join(moves).removeprefix("moves "))
    return head, table.strip().removeprefix("\n".join(first))


def continued(block: list[str]) -> list[str]:
    """Return the lines of a block, each joined with those below it that go on.

    Raises: ValueError if a line has other spaces in front.
    """
    found = [block[0]]
    for line in block[1:]:
        if line.startswith("    "):
            found[-1] += f" {line.strip()}"
        elif line.startswith("  ") and line[2] not in " \t":
            found.append(line[2:])
        elif line:
            raise ValueError(f"{line!r} has neither two spaces in front nor four")
    return found


def rows(table: str) -> list[Row]:
    """Read the rows of a table, in their order.

    Raises: ValueError if a row has no code.
    """
    return [_row(*block) for block in blocks(table) if not block[0].startswith("? ")]


def hints_in(table: str) -> tuple[str, str, str]:
    """Return the three hints of a table.

    Raises: ValueError if there are more or fewer.
    """
    found = [b for b in blocks(table) if b[0].startswith("? ")]
    if len(found) != 3:
        raise ValueError(f'table: got {len(found)} hints behind "?", expected 3')
    one, two, three = (" ".join(map(str.strip, block))[2:].strip() for block in found)
    return one, two, three


def blocks(table: str) -> list[list[str]]:
    """Return the lines of a table in blocks, each of which begins without an indent."""
    parts = re.split(r"\n(?=\S)", table.strip())
    return [part.splitlines() for part in parts if part]


def _row(head: str, *lines: str) -> Row:
    name, _, edit = head.partition(": ")
    code = [edit] if edit else []
    for line in lines:
        if re.match(r"  -> ", line):
            code[-1] += line[1:]
        elif re.match(r"  \S", line):
            code.append(line[2:])
    said = [line.strip() for line in lines if line.startswith("    ")]
    if not code:
        raise ValueError(f"table: the row {name!r} has no code")
    return Row(name, code, " ".join(said))


def mistakes(
    right: Answer, table: str | Sequence[Row], parts: Sequence[Answer] = ()
) -> list[Mistake]:
    """Return the rows of a table as mistakes, in their order.

    Args:
        right: the right answer that the edits are made in.
        parts: functions that it calls and that may be edited too.

    Raises: ValueError if a row has no sentence.
    """
    found = []
    for row in rows(table) if isinstance(table, str) else table:
        if not row.sentence:
            raise ValueError(f"table: the row {row.name!r} has no sentence")
        wrong = Edited(right, tuple(row.code), tuple(parts))
        found.append(Mistake(row.name, row.sentence, wrong))
    return found


@dataclass(eq=False)
class Edited:
    """A right answer with edits in its source, made when it is first asked for.

    Args:
        right: the answer.
        code: the edits of a row, or the expression after ``=``.
        parts: functions that it calls and that may be edited too.
        named: names that the code may use besides those of these functions' files.
    """

    right: Answer
    code: tuple[str, ...]
    parts: tuple[Answer, ...] = ()
    named: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.__name__ = f"{self.right.__name__}, edited"

    def __call__(self, *arguments: Any) -> Any:
        return self.answer(*arguments)

    @cached_property
    def answer(self) -> Answer:
        """The wrong answer.

        Raises: ValueError if an edit does not fit.
        """
        functions = *self.parts, self.right
        scope = dict(ALWAYS_NAMED)
        for function in functions:
            scope |= vars(inspect.getmodule(function))
        scope |= self.named
        if self.code[0].startswith("= "):
            return eval(self.code[0].removeprefix("= "), scope)
        source = "\n".join(map(source_of, functions))
        for edit in self.code:
            source = edited(source, edit)
        exec(compile(source, f"<{self.right.__name__}: {self.code}>", "exec"), scope)
        return scope[self.right.__name__]


def source_of(function: Answer) -> str:
    """Return the source of a function or class, as in its file.

    Its decorators are left out.
    """
    source = textwrap.dedent(inspect.getsource(function))
    (definition,) = ast.parse(source).body
    return "".join(source.splitlines(keepends=True)[definition.lineno - 1 :])


def edited(source: str, edit: str) -> str:
    """Return a source with ``old -> new`` done wherever the old text is.

    Spaces and line breaks do not matter, and names match only as a whole.

    Raises: ValueError if the old text is not in the source.
    """
    old, _, new = edit.partition(" -> ")
    new = "" if new == "nothing" else new
    pattern = r"\s*".join(map(re.escape, re.findall(r"\w+|\S", old)))
    start = r"(?<!\w)" if re.match(r"\w", old) else ""
    end = r"(?!\w)" if re.search(r"\w$", old) else ""
    changed, times = re.subn(start + pattern + end, lambda _: new, source)
    if not times:
        raise ValueError(f"edit: {old!r} does not stand in the source")
    return changed
