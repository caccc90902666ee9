"""The options of the command that trains."""

import argparse
import inspect
import re
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, NoReturn, get_args, get_type_hints

import torch

from vit_steps.command import size
from vit_steps.optional import INSTALL
from vit_steps.recipes import RECIPES, Recipe
from vit_steps.sizes import Size
from vit_steps.training import TrainConfig
from vit_steps.vision_transformer import ViTConfig

SOURCE_OPTIONS = ("root", "full", "download", "image_size", "in_channels")
DATA_DECIDES = ("image_size", "in_channels", "num_classes")
TRAIN_OPTIONS = tuple(field.name for field in fields(TrainConfig))
MODEL_OPTIONS = tuple(
    field.name for field in fields(ViTConfig) if field.name not in DATA_DECIDES
)
DROP_OPTIONS = ("drop_rate", "attn_drop_rate", "drop_path_rate")

OPTIONS = {  # beside those of the training and the model; without a value, switches
    "--root FOLDER": "your images, in a folder for each class; or the data's files",
    "--full": "all of Fashion-MNIST, not a tenth",
    "--download": "download what is missing",
    "--image-size PIXELS": "to cut a folder's images to: 64, the default, or 64x48",
    "--in-channels COUNT": "1 for grey, 3 for colour; default: as the files are",
    "--no-augment": "show every image unchanged, every time",
    "--merge-validation": "train on that part too, once all is chosen",
    "--output FILE": "where to write the trained model",
    "--overwrite": "replace the --output that is there",
    "--checkpoint FILE": "where to keep the state after each epoch",
    "--resume": "go on from --checkpoint, if it is there",
    "--tensorboard FOLDER": "where to write curves",
    "--shard": "split the model too over torchrun's processes (FSDP2)",
    "--threads COUNT": "of PyTorch; another number changes the last bits; default: "
    "OMP_NUM_THREADS, else 1 for a small model, whose steps are too short to share, or "
    "PyTorch's own",
    "--device NAME": "cpu, cuda or mps; default: cuda if there is one, else cpu",
}


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options, each None where it was not given."""
    first = Parser(add_help=False)
    first.add_argument("--data")
    data = first.parse_known_args(arguments)[0].data
    return _parser(RECIPES.get(data)).parse_args(arguments)


def given(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Return those of the options that were given."""
    values = {name: getattr(options, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def option_names(options: argparse.Namespace) -> dict[str, str]:
    """Return the option that sets each argument of the package's functions."""
    names = {name: as_option(name) for name in vars(options)}
    return names | {"name": "--from", "start": "--from", "config": "--checkpoint"}


def as_option(name: str) -> str:
    return "--" + name.replace("_", "-")


def field_comments(config: type) -> dict[str, str]:
    """Return the comment beside each field of a dataclass, which describes it."""
    comment = re.compile(r"^    (\w+): .*?  # (.+)$", re.MULTILINE)
    return dict(comment.findall(inspect.getsource(config)))


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence, without a list of all options."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"Stopped: {message}; --help lists all options\n")


def _parser(recipe: Recipe | None) -> Parser:
    parser = Parser(
        prog="python -m vit_steps.train",
        usage="python -m vit_steps.train --data NAME [options]",
        description="Train a Vision Transformer. Options that are not given have the "
        "values of the data's\nrecipe; --data NAME --help shows it.",
        epilog=f"This installs everything it needs:\n  {INSTALL}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--data", choices=RECIPES, required=True)
    for option, described in OPTIONS.items():
        name, _, value = option.partition(" ")
        if value:
            kind: Any = {"COUNT": int, "PIXELS": size}.get(value, str)
            add(name, metavar=value, type=kind, help=described)
        else:
            add(name, action="store_true", default=None, help=described)
    start = (
        "a trained model to start from, a file or the name of one that ships; it keeps "
        "its normalisation, and its head if the classes have the same names"
    )
    add("--from", metavar="MODEL", dest="start", help=start)
    parser.set_defaults(device="cuda" if torch.cuda.is_available() else "cpu")
    training = parser.add_argument_group("training")
    _add_fields(training, TrainConfig, TRAIN_OPTIONS, recipe and recipe.train)
    model = parser.add_argument_group("model")
    _add_fields(model, ViTConfig, MODEL_OPTIONS, recipe and recipe.model)
    _add_fields(model, Recipe, ("position_std",), recipe)
    return parser


def _add_fields(group: Any, config: type, names: Iterable[str], recipe: Any) -> None:
    """Add options for fields of a config, with the recipe's values as defaults."""
    comments = field_comments(config)
    hints = get_type_hints(config)
    for name in names:
        kind = (get_args(hints[name]) or (hints[name],))[0]  # float of float | None
        how: dict[str, Any] = {"type": kind, "metavar": kind.__name__.upper()}
        if kind is bool:
            how = {"action": argparse.BooleanOptionalAction}
        if hints[name] == Size:
            how = {"type": size, "metavar": "PIXELS"}
        default = [f"default: {getattr(recipe, name)}"] if recipe else []
        described = "; ".join([*filter(None, [comments.get(name)]), *default])
        group.add_argument(as_option(name), help=described.replace("%", "%%"), **how)
