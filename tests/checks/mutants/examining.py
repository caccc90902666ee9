"""Give all mutants of one answer to its check."""

import ast
from dataclasses import replace

import torch

from tests.checks.mutants.operators import mutants
from tests.checks.mutants.survivors import change
from tests.checks.mutants.targets import targets

MEMORY = 4 * 2**30  # bytes of address space for a process
# The sentence of a check that only knows where the outputs differ.
GENERIC = {
    "axes",
    "factor",
    "not finite",
    "order",
    "reshape",
    "shape",
    "value",
    "values",
}


def bound_memory() -> None:
    """Limit this process to one thread and ``MEMORY``, whatever a mutant does."""
    torch.set_num_threads(1)
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def examine(name: str, sentences: bool = False) -> dict:
    """Return the number of an answer's mutants, and those that its check accepts.

    With ``sentences`` also those that are refused without a reason, only with where the
    outputs differ: their sentences are still to be written.
    """
    (target,) = [t for t in targets() if t.name == name]
    quick = target.quick_check()
    finding = quick.examine(target.built(target.source), {})
    if finding is not None:
        raise ValueError(f"{name}: the answer itself is refused: {finding.sentence}")
    number, survivors, unnamed = 0, [], []
    lines = lines_run(target, quick) if target.of_package else None
    for _, was, becomes, source in mutants(target.source, lines):
        number += 1
        try:
            answer = target.built(source)
        except Exception:  # a mutant that cannot be defined needs no check
            continue
        if quick.examine(answer, {}) is None:
            survivors.append(change(was, becomes))
        elif sentences:
            finding = target.whole_check().examine(answer, {})
            if finding is not None and finding.mistake in GENERIC:
                unnamed.append(becomes)
    return {
        "fingerprint": target.fingerprint(),
        "mutants": number,
        "survivors": survivors,
        "unnamed": unnamed,
    }


def lines_run(target, quick) -> set[int]:
    """Return the lines of a source that run during its check.

    A function of the package may do more than a check asks of an answer; those lines
    are covered by the package's own tests.
    """
    found = set()
    marked = ast.unparse(_Marking().visit(ast.parse(target.source)))
    marking = replace(target, globals=target.globals | {"_ran": found.add})
    quick.examine(marking.built(marked), {})
    lines = set()
    for node in ast.walk(ast.parse(target.source)):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            inside = range(node.lineno, node.end_lineno + 1)
        elif hasattr(node, "test"):
            inside = range(node.test.lineno, node.test.end_lineno + 1)
        elif isinstance(node, ast.For):
            inside = range(node.lineno, node.iter.end_lineno + 1)
        else:
            continue
        if found & set(inside):
            lines |= set(inside)
    return lines


class _Marking(ast.NodeTransformer):
    """Insert before each statement a call of ``_ran`` with its line."""

    def generic_visit(self, node):
        super().generic_visit(node)
        for field in ("body", "orelse", "finalbody"):
            statements = getattr(node, field, None)
            if isinstance(statements, list):
                marked = [
                    [ast.parse(f"_ran({statement.lineno})").body[0], statement]
                    for statement in statements
                ]
                setattr(node, field, [one for pair in marked for one in pair])
        return node
