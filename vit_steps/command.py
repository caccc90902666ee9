"""The parts that all commands share: exit status, sizes, and files to be written."""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from os import PathLike, fspath
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


def size(text: str) -> Size:
    """Return the pixels that '224' or '224x320' (height x width) stands for."""
    height, _, width = text.lower().replace("×", "x").partition("x")
    try:
        return (int(height), int(width)) if width else int(height)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"got {text!r}, expected pixels, such as 224, or 224x320 (height x width)"
        ) from None


def check_new(
    path: str | PathLike[str],
    overwrite: bool = False,
    inputs: Iterable[str | PathLike[str] | None] = (),
    name: str = "output",
) -> None:
    """Raise an error if writing a file would destroy another.

    Args:
        overwrite: a file that is there may be replaced.
        inputs: files of the same command, which may not be replaced even then; None
            for one that was not given.
        name: of the argument that ``path`` came from.

    Raises:
        ValueError: if the path is one of the inputs, also if it is spelled otherwise.
        FileExistsError: if the file is there and ``overwrite`` is not set.
    """
    real = Path(path).resolve()
    for used in (Path(other).resolve() for other in inputs if other is not None):
        linked = real.exists() and used.exists() and real.samefile(used)
        if used == real or linked:
            raise ValueError(
                f"{name}: got {fspath(path)!r}, a file that the same command uses, "
                "expected one of its own; choose another name"
            )
    if real.exists() and not overwrite:
        raise FileExistsError(
            f"{name}: {fspath(path)!r} is there already; choose another name, or "
            "replace it with --overwrite"
        )
