"""The parts that commands share: errors, sizes, numbers, files to be written."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path

from vit_steps.checkpoint import check_writable, shipped_models
from vit_steps.sizes import Size


def model_parser(name: str, description: str) -> ArgumentParser:
    """Return the parser of a command that takes a model and writes files."""
    prog = f"python -m vit_steps {name}"
    parser = ArgumentParser(prog=prog, description=description)
    known = f"{', '.join(shipped_models())}, or a file that training wrote"
    parser.add_argument("model", help=known)
    again = "replace an OUT file that is there"
    parser.add_argument("--overwrite", action="store_true", help=again)
    return parser


def run_command(command: Callable[[], str | None], options: Mapping[str, str]) -> int:
    """Run a command and return its exit status; an error is printed as one sentence.

    If the error begins with an argument's name, as in "lr: got -1", it is printed with
    the name in ``options``, if any. A command returns what it had to leave out.
    """
    try:
        if left_out := command():
            print(f"Left out: {left_out}", file=sys.stderr)
        return 1 if left_out else 0
    except (ValueError, OSError, ImportError, ArithmeticError, RuntimeError) as error:
        argument, colon, rest = str(error).partition("\n")[0].partition(":")
    print(f"Stopped: {options.get(argument, argument)}{colon}{rest}", file=sys.stderr)
    return 1


def size(text: str) -> Size:
    """Return the pixels that '224' or '224x320' (height x width) stands for."""
    height, _, width = text.lower().replace("×", "x").partition("x")
    return (int(height), int(width)) if width else int(height)


def numbers(text: str) -> tuple[float, ...]:
    """Return the numbers of a text such as '0.49,0.48,0.45'."""
    return tuple(map(float, text.split(",")))


def check_new(
    path: str | PathLike[str],
    overwrite: bool = False,
    inputs: Iterable[str | PathLike[str] | None] = (),
    name: str = "output",
    suffix: str = ".safetensors",
) -> Path:
    """Return the path if a file can be written there without destroying another.

    A file that is there may be replaced with ``overwrite``, but never one of the
    ``inputs`` of the same command, however it is spelled; None stands for no input.
    """
    path = check_writable(path, name, suffix)
    for given in inputs:
        if given and path.resolve() == Path(given).resolve():
            raise ValueError(
                f"{name}: got {fspath(path)!r}, a file that the same command uses, "
                "expected another name"
            )
    if path.exists() and not overwrite:
        raise FileExistsError(
            f"{name}: {fspath(path)!r} is there already; choose another name, or "
            "replace it with --overwrite"
        )
    return path
