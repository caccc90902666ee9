"""The words of the command that trains: its options, their defaults, its sentences."""

import argparse
import re
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, get_args, get_type_hints

import torch

from vit_steps.optional import INSTALL
from vit_steps.recipes import RECIPES, Recipe
from vit_steps.training import TrainConfig
from vit_steps.vision_transformer import ViTConfig

# Where the images come from: an option, and the data sets that have it.
SOURCE_OPTIONS = {
    "root": ("fashion-mnist", "cifar-10", "folder"),
    "full": ("fashion-mnist",),
    "download": ("fashion-mnist", "cifar-10"),
    "image_size": ("folder",),
    "in_channels": ("folder",),
}
# What an option takes, None where it takes nothing, and what it is for.
OPTIONS = {
    "root": ("FOLDER", "your images, in a folder for each class; or the data's files"),
    "full": (None, "all of Fashion-MNIST, not a tenth"),
    "download": (None, "fetch what is not there"),
    "image_size": ("PIXELS", "side of a folder's images, cut to squares; default: 64"),
    "in_channels": ("COUNT", "1 for grey, 3 for colour; default: as the files are"),
    "no_augment": (None, "show every image as it is, every time"),
    "merge_validation": (None, "train on that part too, once the recipe is settled"),
    "from": (
        "MODEL",
        "a trained model to start with, a file or the name of one that ships; says "
        "size and channels where nothing else does, keeps its head for its own classes",
    ),
    "output": ("FILE", "where to write the trained model; without it none is kept"),
    "overwrite": (None, "replace the --output that is there"),
    "checkpoint": ("FILE", "where to keep the state after each epoch"),
    "resume": (None, "go on from --checkpoint, if it is there"),
    "tensorboard": ("FOLDER", "write curves there"),
    "device": ("NAME", "cpu, cuda or mps; default: cuda if there is one, else cpu"),
    "shard": (None, "split the model too over torchrun's processes (FSDP2)"),
    "threads": (
        "COUNT",
        "of PyTorch; another number, other last bits; default: OMP_NUM_THREADS, else 1 "
        "for a small model, whose steps are too short to share, or PyTorch's own",
    ),
}
FIELDS = {
    "epochs": "how often every image is seen",
    "batch_size": "images in a step",
    "lr": "the learning rate at its peak",
    "weight_decay": "AdamW's, for matrices only",
    "warmup_epochs": "epochs in which the learning rate rises, at most half of all",
    "label_smoothing": "share of the target that is spread over all classes",
    "clip_norm": "longest gradient that is followed as it is",
    "mixup": "alpha of blending two images; 0 for none",
    "cutmix": "alpha of pasting a part of one image into another; 0 for none",
    "ema_decay": "of a moving average of the weights, which is then the model",
    "autocast": "compute in bfloat16 where it does little harm",
    "seed": "of everything that is drawn at random",
    "num_workers": "processes that prepare images; 0 to do it between the steps",
    "patch_size": "side of a patch, in pixels",
    "embed_dim": "numbers in a token",
    "depth": "encoder blocks",
    "num_heads": "attention heads of a block; they share the token's numbers",
    "mlp_ratio": "width of a block's MLP, as a multiple of the token's",
    "drop_rate": "dropout of tokens",
    "attn_drop_rate": "dropout of attention weights",
    "drop_path_rate": "share of images that skip the last block (stochastic depth)",
    "layer_scale": "where LayerScale starts; none without",
    "position_std": "width of the bell curve that positions are drawn from",
}


def options_of(config: type, *settled: str) -> dict[str, type]:
    """A config's fields that are options of the same name, and their values' types."""
    return {
        name: (get_args(hint) or (hint,))[0]  # int | None and Size are read as int
        for name, hint in get_type_hints(config).items()
        if name not in settled
    }


TRAIN_OPTIONS = options_of(TrainConfig)
# Without what the data settles, and what is rarely changed.
MODEL_OPTIONS = options_of(
    ViTConfig,
    *("image_size", "in_channels", "num_classes"),
    *("qkv_bias", "representation_size", "norm_eps"),
)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options as they were said; None where one was not."""
    first = Parser(add_help=False)
    first.add_argument("--data")
    data = first.parse_known_args(arguments)[0].data
    return _parser(RECIPES.get(data)).parse_args(arguments)


def given(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Those of the options that were said."""
    said = {name: getattr(options, name) for name in names}
    return {name: value for name, value in said.items() if value is not None}


def as_option(name: str) -> str:
    return "--" + name.replace("_", "-")


def in_options(sentence: str, options: argparse.Namespace) -> str:
    """A sentence of the package's in the command's words: lr: becomes --lr:."""
    sentence = re.sub("^config(?=:)", "checkpoint", sentence.partition("\n")[0])
    sentence = re.sub("^name(?=:)|from_pretrained", "--from", sentence)
    for name in vars(options):
        said = rf"^{name}(?=:)|\b{name}=True"
        if name == "lr" or "_" in name:  # no word of any other use
            said += rf"|(?<![\w/'-]){name}(?![\w/.'-])"
        sentence = re.sub(said, as_option(name), sentence)
    return sentence


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one sentence, without all options before it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"Stopped: {message}; --help tells all options\n")


def _parser(recipe: Recipe | None) -> Parser:
    parser = Parser(
        prog="python -m vit_steps.train",
        usage="python -m vit_steps.train --data NAME [options]",
        description="Train a Vision Transformer. What is not said is taken from the "
        "data's recipe;\n--data NAME --help shows it.",
        epilog=f"Everything it needs is brought by\n  {INSTALL}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", choices=RECIPES, required=True)
    for name, (value, words) in OPTIONS.items():
        how: dict[str, Any] = {"metavar": value}
        if value is None:
            how = {"action": "store_const", "const": True}
        elif value in ("PIXELS", "COUNT"):
            how["type"] = int
        parser.add_argument(as_option(name), help=words, **how)
    parser.set_defaults(device="cuda" if torch.cuda.is_available() else "cpu")
    training = parser.add_argument_group("training")
    for name, kind in TRAIN_OPTIONS.items():
        _add_field(training, name, kind, recipe and recipe.train)
    model = parser.add_argument_group("model")
    for name, kind in MODEL_OPTIONS.items():
        _add_field(model, name, kind, recipe and recipe.model)
    _add_field(model, "position_std", float, recipe)
    return parser


def _add_field(group: Any, name: str, kind: type, recipe: Any) -> None:
    """An option for a field, with the recipe's value if there is one."""
    how: dict[str, Any] = {"type": kind, "metavar": kind.__name__.upper()}
    if kind is bool:
        how = {"action": argparse.BooleanOptionalAction}
    default = f"; default: {getattr(recipe, name)}" if recipe else ""
    group.add_argument(as_option(name), help=FIELDS[name] + default, **how)
