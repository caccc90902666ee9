"""Known mistakes as a table of edits of a right answer.

A row is a name, what the mistake changes, and the sentence for the student:

    no scale: / math.sqrt(d) -> nothing
        the scores are not divided by √d before the softmax
    softmax over queries: softmax(dim=-1) -> softmax(dim=-2)
        the softmax runs over the queries: each column sums to 1, but each row should
    written by view: = by_view
        a view moves nothing: swap the axes first

An edit stands after the name. Further edits, or one that is too long for that line,
follow on lines of their own, indented by two spaces, where the arrow may begin the next
line. The sentence is indented by four. ``-> nothing`` takes something out. ``= name``
is another answer altogether: a function by that name, or an expression. The code may
use ``math``, ``re``, ``torch``, ``F`` and all names in the file of the right answer.

After the rows a table may have three hints, each saying more than the one before:

    ? Which axis does the softmax take?
    ? The scores are divided by the root of q.shape[-1]; then each query's row of
      weights sums to 1.
    ? scores = q @ k.mT / math.sqrt(q.shape[-1]), then scores.softmax(dim=-1).
"""

import ast
import inspect
import math
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch.nn import functional as F

from vit_check.engine.verdict import Mistake

Answer = Callable[..., Any]

ALWAYS_NAMED: dict[str, Any] = {"math": math, "re": re, "torch": torch, "F": F}


@dataclass(frozen=True)
class Row:
    """A row of a table: its name, the lines of code, and the sentence."""

    name: str
    code: list[str]
    sentence: str


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
    right: Answer,
    table: str | Sequence[Row],
    *,
    parts: Sequence[Answer] = (),
    as_given: Callable[[Answer], Answer] = lambda wrong: wrong,
    **named: Any,
) -> list[Mistake]:
    """Return the rows of a table as mistakes, in their order.

    Args:
        right: the right answer that the edits are made in.
        parts: functions that it calls and that may be edited too.
        as_given: makes of a wrong answer the function that the check calls.
        **named: what the rows name and the files of the answer and its parts do not.

    Raises: ValueError if a row has no sentence.
    """
    table = rows(table) if isinstance(table, str) else table
    for row in table:
        if not row.sentence:
            raise ValueError(f"table: the row {row.name!r} has no sentence")
    return [
        Mistake(
            row.name,
            row.sentence,
            _Called(as_given, Edited(right, tuple(row.code), tuple(parts), named)),
        )
        for row in table
    ]


class _Called:
    """A wrong answer, which is made when it is first called."""

    def __init__(self, as_given: Callable[[Answer], Answer], edited: "Edited") -> None:
        self.as_given, self.edited = as_given, edited

    @cached_property
    def answer(self) -> Answer:
        return self.as_given(self.edited.answer)

    def __call__(self, *arguments: Any) -> Any:
        return self.answer(*arguments)


class Edited:
    """A right answer with edits in its source, made when it is first asked for.

    Args:
        right: the answer.
        code: the edits of a row, or the expression after ``=``.
        parts: functions that it calls and that may be edited too.
        named: more names that the code may use.
    """

    def __init__(
        self,
        right: Answer,
        code: tuple[str, ...],
        parts: tuple[Answer, ...] = (),
        named: dict[str, Any] | None = None,
    ) -> None:
        self.right, self.code, self.parts = right, code, parts
        self.named = {} if named is None else named
        self.__name__ = f"{right.__name__}, edited"

    @cached_property
    def answer(self) -> Answer:
        """The wrong answer.

        Raises: ValueError if an edit does not fit.
        """
        scope = dict(ALWAYS_NAMED)
        for function in (*self.parts, self.right):
            scope |= vars(inspect.getmodule(function))
        scope |= self.named
        if self.code[0].startswith("= "):
            return eval(self.code[0].removeprefix("= "), scope)
        source = "\n".join(map(source_of, (*self.parts, self.right)))
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
