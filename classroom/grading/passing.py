"""Decide from outside the kernel whether a graded cell has passed.

A cell with checks has passed if the judge, which is not the student's process, has seen
every check pass that the released cell names. In addition every graded cell has to end
without an error, and to send its word at the end.
"""

import ast
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from nbformat.notebooknode import NotebookNode

from vit_check.chapters.questions import QUESTIONS

if TYPE_CHECKING:
    from vit_check.judge import Judgement


@dataclass
class Attempt:
    """One run of one cell."""

    outputs: list[NotebookNode] = field(default_factory=list)
    ended_well: bool = False  # the kernel reported no error
    trouble: str | None = None  # a sentence if it was stopped or ended the kernel
    words: list[str] = field(default_factory=list)  # sent to the witness


def checks_named_in(source: str) -> list[str]:
    """Return the judge's names: ``["patchify"]`` for ``check.patchify(patchify)``."""
    return [name for name, _ in _checks_in(source)]


def classes_named_in(source: str) -> set[str]:
    """Return the checks that get a class: ``{"mlp"}`` for ``check.mlp(MLP)``."""
    return {
        name
        for name, given in _checks_in(source)
        if isinstance(given, ast.Name) and given.id[0].isupper()
    }


def _checks_in(source: str) -> list[tuple[str, ast.expr]]:
    """Return each check that is called in a cell, with its argument."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a magic
        return []
    return [
        check
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "check"
        and node.func.attr.islower()  # not an exception class
        for check in _of_call(node, node.func.attr)
    ]


def _of_call(call: ast.Call, check: str) -> Iterable[tuple[str, ast.expr]]:
    """Return the check or its questions, each with its argument.

    These are the names in ``answer("x", ...)`` and ``answers(x=..., y=...)``.
    """
    if check == "answers":
        return [
            (f"answer:{k.arg}" if k.arg in QUESTIONS else k.arg, k.value)
            for k in call.keywords
            if k.arg and k.arg != "hint"
        ]
    first, second = [*call.args, call, call][:2]
    if check == "answer" and isinstance(first, ast.Constant):
        return [(f"answer:{first.value!s}", second)]
    return [(check, first)]


def taken_from_libraries(records: "Iterable[Judgement]") -> list[str]:
    """Return a sentence for each answer that is a library's own function or class."""
    return [
        f"The answer given to {record.check} is {record.origin}."
        for record in records
        if record.origin
    ]


def why_failed(
    attempt: Attempt,
    word: str,
    source: str,
    records: "Iterable[Judgement]",
) -> str | None:
    """Return a sentence for the student, or None if the cell has passed.

    Args:
        source: the released cell, which names the checks.
        records: the verdicts that the judge has recorded.
    """
    if attempt.trouble:
        return attempt.trouble
    seen = list(records)
    refused = {
        record.check.removeprefix("answer:"): record.sentence
        or f"The check {record.check} did not pass."
        for record in seen
        if not record.passed
    }
    if len(refused) > 1:
        return "; ".join(f"{check}: {sentence}" for check, sentence in refused.items())
    if refused:
        return next(iter(refused.values()))
    if not attempt.ended_well:
        errors = [o for o in attempt.outputs if o.output_type == "error"]
        if errors and errors[-1].ename == "NotImplementedError":
            return "It is not written yet: it raises NotImplementedError."
        if errors:
            return f"{errors[-1].ename}: {errors[-1].evalue}".rstrip(": ")
        return "The cell ended with an error that was not shown."
    if word not in attempt.words:
        return "The cell did not run to its end."
    of_classes = classes_named_in(source)
    functions = {r.check for r in seen if r.form == "function"} & of_classes
    if functions:
        return f"The check {min(functions)} was given a function in place of a class."
    expected = checks_named_in(source)
    missing = Counter(expected) - Counter(record.check for record in seen)
    if missing:
        return f"The check {min(missing)} was not asked for a verdict."
    more = {record.check for record in seen} - set(expected)
    if more:
        return f"The check {min(more)} was called, which does not belong here."
    return None
