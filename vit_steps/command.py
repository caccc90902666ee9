"""What the package's commands have in common: each stops with one sentence."""

import sys
from collections.abc import Callable
from pathlib import Path

from vit_steps.optional import not_installed


def stopped(command: Callable[[], None], words: Callable[[str], str] = str) -> int:
    """Run a command, and say in one sentence what stops it; returns the exit status.

    Args:
        words: puts a sentence of the package's into the command's words.
    """
    try:
        command()
        return 0
    except ModuleNotFoundError as error:
        reason = not_installed(error.name or "")
    except (ValueError, OSError, ImportError, ArithmeticError, RuntimeError) as error:
        reason = words(str(error))
    print(f"Stopped: {reason}", file=sys.stderr)
    return 1


def check_new(output: str, overwrite: bool) -> None:
    """Raise FileExistsError if the output is there and is not to be replaced."""
    if Path(output).exists() and not overwrite:
        way = "choose another name, or replace it with --overwrite"
        raise FileExistsError(f"output: {output!r} is there already; {way}")
