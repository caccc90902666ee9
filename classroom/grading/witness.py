"""Find out whether a cell ran to its end in a shell that was not changed.

A student's cell can make the shell skip every later cell, or hide errors. Three things
guard against that from outside. Before a graded cell the shell is restored. At its end,
and only there, the cell sends a random word that the kernel has not seen before. And
the kernel's own reply to the request counts, not the outputs that it shows. Code in the
student's process can still be deceived by a determined author, so the verdict on a
check comes from the judge, which is another process.
"""

import json
import secrets
from typing import Any

MIME = "application/vnd.vit-steps.witness"

# Runs in the kernel, and publishes how the shell differs from a fresh one.
_LOOK = """
def _look(restore):
    import builtins, json, IPython
    from IPython.core.inputtransformer2 import TransformerManager
    ip, kind = IPython.get_ipython(), type(IPython.get_ipython())
    own = [name for name in vars(ip) if callable(getattr(kind, name, None))]
    found = [f"shell.{name}" for name in own]
    fresh, now = TransformerManager(), ip.input_transformer_manager
    for name in ("cleanup_transforms", "line_transforms", "token_transformers"):
        if len(getattr(now, name)) != len(getattr(fresh, name)):
            found.append(f"shell.{name}")
    if ip.ast_transformers:
        found.append("shell.ast_transformers")
    if ip.custom_exceptions:
        found.append("shell.custom_exceptions")
    for name in ("exec", "compile", "isinstance", "print", "__import__", "all", "any"):
        if getattr(getattr(builtins, name, None), "__self__", None) is not builtins:
            found.append(f"builtins.{name}")
    for name in ("run_cell", "run_cell_async", "run_code", "run_ast_nodes"):
        if not getattr(getattr(kind, name), "__module__", "").startswith(
            ("IPython", "ipykernel")
        ):
            found.append(f"shell.{name}")
    if restore is not None:
        for name in list(vars(ip)):
            if f"shell.{name}" in found and f"shell.{name}" not in restore:
                delattr(ip, name)
        ip.input_transformer_manager = fresh
        ip.ast_transformers = []
        ip.set_custom_exc((), None)
    ip.display_pub.publish({MIME: json.dumps(sorted(found))})
"""


def look(restore: list[str] | None = None) -> str:
    """Return source code that publishes what is unusual in the shell.

    Args:
        restore: restore everything except these names, which were found at the start.
    """
    function = _LOOK.replace("MIME", repr(MIME))
    return f"{function}\n_look({restore!r})\ndel _look"


class Word:
    """A random word, and the line of code that sends it."""

    def __init__(self) -> None:
        self.word = secrets.token_hex(16)

    def at_the_end_of(self, source: str) -> str:
        ip = '__import__("IPython").get_ipython()'
        return f"{source}\n{ip}.display_pub.publish({{{MIME!r}: {self.word!r}}})"


def found(words: list[str]) -> list[str]:
    """Return the names that ``look`` published, or none if nothing can be read."""
    for word in reversed(words):
        try:
            names: Any = json.loads(word)
        except ValueError:
            continue
        if isinstance(names, list):
            return [str(name)[:60] for name in names[:20]]
    return []
