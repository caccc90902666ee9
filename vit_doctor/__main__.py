"""Examine a trained model and its images, and say in sentences what is wrong.

vit-steps doctor photos.safetensors photos
"""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import torch

from vit_doctor import examine
from vit_doctor.report import Report
from vit_steps import variants
from vit_steps.checkpoint import class_of, read_checkpoint, shipped_models
from vit_steps.command import numbers, run_command
from vit_steps.optional import imported
from vit_steps.preprocessing import Preprocessing
from vit_steps.sizes import as_pair
from vit_steps.vision_transformer import VisionTransformer


def main(arguments: list[str] | None = None) -> int:
    """Run the command; ``vit-steps doctor --help`` describes it."""
    parser = ArgumentParser(
        prog="python -m vit_doctor",
        description="Look for what is wrong with a trained model and its images, and "
        "say it in sentences, with the section of the book to read. A model of another "
        "library can be examined in Python, by vit_doctor.examine.",
    )
    add = parser.add_argument
    known = f"{', '.join(shipped_models())}, or a file that training wrote"
    add("model", help=known)
    add(
        "folder", help="the training images, a folder for each class; or train and test"
    )
    highest = "the highest rate of a training with AdamW, where the file holds none"
    add("--lr", type=float, help=highest)
    where = "a number for each channel, where the model's file holds none"
    add("--mean", type=numbers, default=(), metavar="M,M,M", help=where)
    add("--std", type=numbers, default=(), metavar="S,S,S", help=where)
    options = parser.parse_args(arguments)
    names = {"name": "model", "root": "folder", "lr": "--lr"}
    return run_command(lambda: print(examine_files(options)), names)


def examine_files(options: Namespace) -> Report:
    """Examine a model's file and a folder of images."""
    from vit_steps.data.folder import ImageReader, part_folders, read_known

    _, card = read_checkpoint(options.model)
    kind = getattr(variants, str(class_of(card)), VisionTransformer)
    model = kind.from_pretrained(options.model)
    folders = part_folders(options.folder)
    inside = (each.name for each in folders["train"].iterdir() if each.is_dir())
    classes = model.preprocessing.classes if model.preprocessing else ()
    classes = classes or sorted(name for name in inside if name[0] != ".")
    if options.mean or options.std:
        model.preprocessing = Preprocessing(options.mean, options.std, tuple(classes))
        sizes = model.config.in_channels, model.config.num_classes
        model.preprocessing.check_fits(*sizes)
    known = model.preprocessing
    v2 = imported("torchvision.transforms.v2")
    steps: list[Any] = [v2.ToDtype(torch.float32, scale=True)]
    steps += [v2.Normalize(known.mean, known.std)] if known else []

    def part(folder: Path) -> Any:
        _, images = read_known(folder, classes)
        size = as_pair(model.config.image_size, "image_size")
        images.read = ImageReader(size, model.config.in_channels)
        images.transform = v2.Compose(steps)
        return images

    test = folders.get("test") or folders.get("validation")
    parts = part(folders["train"]), part(test) if test else None
    lr = (
        (card.get("train_config") or {}).get("lr") if options.lr is None else options.lr
    )
    return examine(model, *parts, lr=lr, progress=sys.stderr.isatty())


if __name__ == "__main__":
    sys.exit(main())
