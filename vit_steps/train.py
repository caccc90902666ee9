"""The command that trains: a data set's recipe, with what its options change.

python -m vit_steps.train --data cluttered-digits --output model.safetensors
"""

import argparse
import sys
from dataclasses import asdict, replace
from typing import Any, get_args, get_type_hints

import torch

from vit_steps.checkpoint import check_writable
from vit_steps.distributed import (
    process_rank,
    processes,
    shard,
    train_together,
    wait_for_all,
)
from vit_steps.optional import pip_line
from vit_steps.recipes import RECIPES, Recipe
from vit_steps.training import TrainConfig, evaluate, tensorboard
from vit_steps.training_state import whole
from vit_steps.vision_transformer import ViTConfig

# Where the images come from: an option, and the data sets that have it.
SOURCE_OPTIONS = {
    "root": ("fashion-mnist", "cifar-10", "folder"),
    "full": ("fashion-mnist",),
    "download": ("fashion-mnist", "cifar-10"),
    "image_size": ("folder",),
}


def options_of(config: type, *settled: str) -> dict[str, type]:
    """A config's fields that are options of the same name, and their values' types."""
    types = {
        name: (get_args(hint) or (hint,))[0]  # int | None and Size are read as int
        for name, hint in get_type_hints(config).items()
    }
    return {name: kind for name, kind in types.items() if name not in settled}


TRAIN_OPTIONS = options_of(TrainConfig)
# Without what the data settles, and what is rarely changed.
MODEL_OPTIONS = options_of(
    ViTConfig,
    *("image_size", "in_channels", "num_classes"),
    *("qkv_bias", "representation_size", "norm_eps"),
)


def main(arguments: list[str] | None = None) -> int:
    """The command; see ``python -m vit_steps.train --help``."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = _parser().parse_args(arguments)
    try:
        _run(options, "python -m vit_steps.train " + " ".join(arguments))
    except ModuleNotFoundError as error:
        print(f"Stopped: {error}; {pip_line(error)}", file=sys.stderr)
        return 1
    except (ValueError, OSError, ImportError, FloatingPointError) as error:
        print(f"Stopped: {error}", file=sys.stderr)
        return 1
    return 0


def _run(options: argparse.Namespace, command: str) -> None:
    if options.output:
        check_writable(options.output)  # now, not when the training is done
    if options.threads:
        torch.set_num_threads(options.threads)
    source = _source(options)
    with processes(options.device) as device:
        images = _load(options, source)
        recipe = _recipe(options, images)
        model = recipe.build().to(device)
        history = train_together(
            shard(model) if options.shard else model,
            images,
            recipe.train,
            options.checkpoint,
            options.resume,
            callbacks=[tensorboard(options.tensorboard)] if options.tensorboard else [],
        )
        if options.shard:
            state = {name: whole(tensor) for name, tensor in model.state_dict().items()}
            model = recipe.build().to(device)
            model.load_state_dict(state)
            model.preprocessing = images.preprocessing
        if process_rank() > 0:
            return
    test = evaluate(model, images.test, num_workers=recipe.train.num_workers)
    print(f"test: loss {test.loss:.3f}, top-1 {test.top1:.2%}, top-5 {test.top5:.2%}")
    if options.output:
        try:
            model.save_pretrained(
                options.output,
                dtype=torch.float16,
                data=options.data,
                position_std=recipe.position_std,
                train_config=asdict(recipe.train),
                test=asdict(test),
                seconds=round(sum(epoch.seconds for epoch in history.epochs)),
                command=command,
                torch=torch.__version__,
                threads=torch.get_num_threads(),
            )
        except OSError as error:
            kept = options.checkpoint or "no file, for want of a --checkpoint"
            raise OSError(f"{error}; the training's state is in {kept}") from error
        print(f"The model is in {options.output}")


def _source(options: argparse.Namespace) -> dict[str, Any]:
    """Where the images come from; refuses what the data set has no use for."""
    source = {name: getattr(options, name) for name in SOURCE_OPTIONS}
    source = {name: value for name, value in source.items() if value}
    for name in source:
        if options.data not in SOURCE_OPTIONS[name]:
            owners = " and ".join(SOURCE_OPTIONS[name])
            raise ValueError(
                f"--{name.replace('_', '-')}: {options.data} has no such choice, "
                f"expected it with {owners} only"
            )
    if options.data == "folder":
        if not options.root:
            raise ValueError(
                "--root: got none, expected the folder of your images, with one folder "
                "for each class in it"
            )
        source = {"image_size": RECIPES["folder"].model.image_size} | source
    return source


def _load(options: argparse.Namespace, source: dict[str, Any]) -> Any:
    """The data; the first process fetches what is not there, then the others read."""
    from vit_steps import data

    if process_rank() > 0:
        wait_for_all()
    images = data.load(
        options.data,
        options.augment,
        merge_validation=options.merge_validation,
        **source,
    )
    if process_rank() == 0:
        wait_for_all()
    return images


def _recipe(options: argparse.Namespace, images: Any) -> Recipe:
    """The data set's recipe, with what the options and the data say."""

    def given(names: dict[str, type]) -> dict[str, Any]:
        chosen = {name: getattr(options, name) for name in names}
        return {name: value for name, value in chosen.items() if value is not None}

    recipe, (image, _) = RECIPES[options.data], images.train[0]
    channels, height, width = image.shape
    model = replace(
        recipe.model,
        image_size=height if height == width else (height, width),
        in_channels=channels,
        num_classes=images.num_classes,
        **given(MODEL_OPTIONS),
    )
    training = replace(recipe.train, **given(TRAIN_OPTIONS))
    position = given({"position_std": float})
    return replace(recipe, model=model, train=training, **position)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m vit_steps.train",
        description="Train a Vision Transformer. What is not said is taken from the "
        "recipe of the data set; a warm-up takes at most half of the training.",
    )
    say = parser.add_argument
    say("--data", choices=RECIPES, required=True, help="what to train on")
    say("--root", help="the folder of cifar-10, or of your images")
    say("--full", action="store_true", help="all of Fashion-MNIST, not a tenth")
    say("--image-size", type=int, help="pixels that images of a folder are brought to")
    say("--download", action="store_true", help="fetch what is not there")
    say(
        "--no-augment",
        dest="augment",
        action="store_false",
        help="show every image as it is, every time",
    )
    say(
        "--merge-validation",
        action="store_true",
        help="train on the validation part too, once the recipe is settled",
    )
    say("--output", help="where to write the trained model, in float16")
    say("--checkpoint", help="where to keep the state after each epoch")
    say("--resume", action="store_true", help="go on from --checkpoint, if it is there")
    say("--tensorboard", metavar="FOLDER", help="write curves there")
    say("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    say(
        "--shard",
        action="store_true",
        help="split the model over torchrun's processes (FSDP2), not only the images",
    )
    say("--threads", type=int, help="of PyTorch; another number, other last bits")
    say("--position-std", type=float, help="width of the initial positions")
    for owner, names in ((TrainConfig, TRAIN_OPTIONS), (ViTConfig, MODEL_OPTIONS)):
        group = parser.add_argument_group(f"fields of {owner.__name__}")
        for name, kind in names.items():
            option = "--" + name.replace("_", "-")
            if kind is bool:
                group.add_argument(option, action=argparse.BooleanOptionalAction)
            else:
                group.add_argument(option, type=kind)
    return parser


if __name__ == "__main__":
    sys.exit(main())
