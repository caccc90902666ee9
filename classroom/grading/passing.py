"""Whether a graded cell has passed, decided from outside the kernel.

A cell with checks has passed when the judge, another process than the student's, has
seen every check pass that the released cell names; and every graded cell has to end
without an error, and to say its word at the end.
"""

import ast
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nbformat.notebooknode import NotebookNode

if TYPE_CHECKING:
    from vit_check.judge import Judgement


@dataclass
class Attempt:
    """One run of one cell.

    Attributes:
        ended_well: the kernel said that there was no error.
        trouble: a sentence if the cell was stopped or took the kernel with it.
        words: what the cell sent through the witness's channel.
    """

    outputs: list[NotebookNode] = field(default_factory=list)
    ended_well: bool = False
    trouble: str | None = None
    words: list[str] = field(default_factory=list)


def checks_named_in(source: str) -> list[str]:
    """``["patchify"]`` for a cell that calls ``check.patchify(patchify)``."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a magic
        return []
    return [
        _record_name(node.func.attr, node.args)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "check"
        and node.func.attr.islower()  # no exception
    ]


def _record_name(check: str, arguments: list[ast.expr]) -> str:
    """As the judge calls it: the check, or ``answer:x`` for ``answer("x", ...)``."""
    if check == "answer" and arguments and isinstance(arguments[0], ast.Constant):
        return f"answer:{arguments[0].value!s}"
    return check


def why_failed(
    attempt: Attempt,
    word: str,
    expected: list[str],
    records: "Iterable[Judgement]",
) -> str | None:
    """A sentence for the student, or None when the cell has passed.

    Args:
        expected: the checks that the released cell names.
        records: what the judge saw.
    """
    if attempt.trouble:
        return attempt.trouble
    seen = list(records)
    for record in seen:
        if not record.passed:
            return record.sentence or f"The check {record.check} did not pass."
    if not attempt.ended_well:
        errors = [o for o in attempt.outputs if o.output_type == "error"]
        if errors:
            return f"{errors[-1].ename}: {errors[-1].evalue}"
        return "The cell ended with an error that was not shown."
    if word not in attempt.words:
        return "The cell did not run to its end."
    missing = Counter(expected) - Counter(record.check for record in seen)
    if missing:
        return f"The check {min(missing)} was not asked for a verdict."
    more = {record.check for record in seen} - set(expected)
    if more:
        return f"The check {min(more)} was called, which does not belong here."
    return None
