"""The parts that all commands share: exit status, sizes, and files to be written."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from vit_steps.optional import not_installed
from vit_steps.sizes import Size


def run_command(
    command: Callable[[], None], options: Mapping[str, str] | None = None
) -> int:
    """Run a command and return its exit status; an error is printed as one sentence.

    Args:
        options: the command's options by the arguments they set. An error begins with
            an argument, "lr: got -1", and is printed as "--lr: got -1".
    """
    try:
        command()
        return 0
    except ModuleNotFoundError as error:
        reason = not_installed(error.name or "")
    except (ValueError, OSError, ImportError, ArithmeticError, RuntimeError) as error:
        reason = str(error).partition("\n")[0]
        argument, colon, rest = reason.partition(":")
        if options and argument in options:
            reason = options[argument] + colon + rest
    print(f"Stopped: {reason}", file=sys.stderr)
    return 1


def check_new(path: str, overwrite: bool, inputs: Sequence[str] = ()) -> None:
    """Raise an error if a file that is there is not to be replaced, or is an input.

    Raises:
        ValueError: if the command reads the same file.
        FileExistsError: if it exists, without ``overwrite``.
    """
    exists = Path(path).exists()
    if exists and any(Path(i).exists() and Path(i).samefile(path) for i in inputs):
        way = "expected another name than that of what is read"
        raise ValueError(f"output: got {path!r}, {way}")
    if exists and not overwrite:
        way = "choose another name, or replace it with --overwrite"
        raise FileExistsError(f"output: {path!r} is there already; {way}")
