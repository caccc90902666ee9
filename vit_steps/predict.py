"""Answers of a trained model about photographs, and maps of where it looked.

vit-steps predict cluttered-digits photo.png --map map.png
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from vit_steps.attention_maps import attention_rollout, class_token_to_patches
from vit_steps.checkpoint import check_finite
from vit_steps.command import check_new, model_parser, numbers, run_command
from vit_steps.evaluating import evaluating
from vit_steps.optional import imported
from vit_steps.predictions import Predictions, class_names
from vit_steps.preprocessing import Preprocessing, as_picture
from vit_steps.sizes import check_count
from vit_steps.transfer import check_model
from vit_steps.vision_transformer import VisionTransformer

BATCH = 64  # images that the command shows to the model at once


@dataclass(frozen=True)
class Answer:
    """The most probable classes of an image, the best first; prints as one line."""

    classes: tuple[str, ...]  # their indices where the model has no names for them
    probabilities: tuple[float, ...]  # softmax of the logits

    def __str__(self) -> str:
        pairs = zip(self.classes, self.probabilities, strict=True)
        return ", ".join(f"{name} ({share:.1%})" for name, share in pairs)


def predict(model: VisionTransformer, image: Any, top: int = 5) -> Answer:
    """Return the ``top`` most probable classes of a photograph of any size.

    The image is a path, or whatever else ``as_picture`` takes.

    Raises: ValueError if the model is in training mode, was never trained, has fewer
        than two classes or no ``preprocessing``; and as ``as_picture`` does.
    """
    check_count(top, "top")
    model = classifying(model)
    _, images = _prepared(model, image)
    return _answer(model, _run_on(model, images)[0], top)


def evaluated(model: Any, by_head: bool = False) -> VisionTransformer:
    """Return a model in evaluation mode, without the wrapper of ``torch.compile``.

    Raises: ValueError if it is not a VisionTransformer, is in training mode, holds
        numbers that are not finite, or is to answer ``by_head`` and this is still zero.
    """
    model = getattr(model, "_orig_mod", model)
    check_model(model)
    if model.training:
        raise ValueError("model: is in training mode, expected model.eval()")
    check_finite(model.state_dict(), "model")
    weight: Any = getattr(model.head, "weight", None)  # None without a head
    if by_head and weight is not None and not weight.any():
        raise ValueError("model: got a head that is all zero, expected a trained one")
    return model


def classifying(model: Any) -> VisionTransformer:
    """Return what ``evaluated`` does, if it has two classes or more."""
    model = evaluated(model, by_head=True)
    K = model.config.num_classes
    if K < 2:
        raise ValueError(f"model: got {K} classes, expected two or more to choose from")
    return model


def _run_on(model: VisionTransformer, images: Tensor) -> Tensor:
    """Return the logits in float32 and on the CPU: (B, C, H, W) -> (B, K)."""
    with evaluating(model):
        return model(images).float().cpu()


def _answer(model: VisionTransformer, logits: Tensor, top: int) -> Answer:
    """Return the ``top`` most probable classes; logits (K,)."""
    names = class_names(model, len(logits))
    shares, indices = logits.softmax(dim=0).topk(min(top, len(logits)))
    return Answer(tuple(names[i] for i in indices.tolist()), tuple(shares.tolist()))


def show_attention(model: VisionTransformer, image: Any, ax: Any = None) -> Any:
    """Draw a photograph, bright where the class token looks, and return the axes.

    The map is attention rollout, as in arXiv 2010.11929, figure 6, and its brightest
    1 % has full brightness. The axes are matplotlib's current ones if none are given.

    Raises: ValueError if the model has no class token; and as ``predict`` does.
    """
    from vit_steps.notebook import show_attention_over_image

    model = evaluated(model)
    if model.cls_token is None:
        raise ValueError("model: has no class token, expected one, whose map is drawn")
    picture, images = _prepared(model, image)
    with evaluating(model):
        _, weights = model.encode(images, need_weights=True)
    rollout = attention_rollout(weights)  # (1, T, T)
    attention = class_token_to_patches(rollout, model.num_prefix_tokens)[0]  # (N,)
    attention = attention.float().cpu().reshape(model.patch_embed.grid_size)
    return show_attention_over_image(attention, picture, ax)


def _prepared(model: VisionTransformer, image: Any) -> tuple[Tensor, Tensor]:
    """Return a picture (C, H, W), and a batch of it (1, C, H, W), normalised."""
    config, known = model.config, model.preprocessing
    if known is None:
        raise ValueError(
            "model.preprocessing: got None, expected the mean and std of its training "
            "images in a Preprocessing; the command takes --mean and --std"
        )
    known.check_fits(config.in_channels, config.num_classes)
    picture = as_picture(image, config.image_size, config.in_channels)  # (C, H, W)
    return picture, known.normalize(picture)[None].to(model.pos_embed)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; ``vit-steps predict --help`` describes it."""
    parser = model_parser(
        "predict",
        "Name what is in photographs, one line each, with probabilities. Files that "
        "cannot be read are listed at the end.",
    )
    add = parser.add_argument
    of_any_size = "a photograph of any size, in colour or grey, or a folder of them"
    add("image", nargs="+", help=of_any_size)
    add("--top", type=int, default=5, help="how many classes to name (5)")
    add("--csv", metavar="OUT.csv", help="write all probabilities, a row an image")
    add("--map", metavar="OUT.png", help="draw one image, bright where the model looks")
    where = "a number for each channel, where the model's file holds none"
    add("--mean", type=numbers, default=(), metavar="M,M,M", help=where)
    add("--std", type=numbers, default=(), metavar="S,S,S", help=where)
    options = parser.parse_args(arguments)
    names = {"name": "model", "map": "--map", "csv": "--csv", "root": "image"}
    return run_command(lambda: _run(options), names)


def _run(options: argparse.Namespace) -> str | None:
    paths = [path for given in options.image for path in _files(given)]
    if options.map:
        if len(paths) > 1:
            raise ValueError(f"map: got {len(paths)} images, expected one")
        check_new(options.map, options.overwrite, paths, "map", ".png")
    if options.csv:
        check_new(options.csv, options.overwrite, paths, "csv", ".csv")
    check_count(options.top, "top")
    model = VisionTransformer.from_pretrained(options.model)
    if options.mean or options.std:
        classes = model.preprocessing.classes if model.preprocessing else ()
        model.preprocessing = Preprocessing(options.mean, options.std, classes)
    model = classifying(model)
    read: list[str] = []
    logits: list[Tensor] = []  # (K,) each
    left_out = None
    try:
        for path, of_one in asked(model, paths):
            print(f"{path}: {_answer(model, of_one, options.top)}")
            read.append(path)
            logits.append(of_one)
    except Unread as error:
        if not read:
            raise
        left_out = str(error).removeprefix("image: ")
    finally:  # write the answers even after Ctrl-C
        if options.csv and read:
            names = class_names(model, model.config.num_classes)
            found = Predictions(torch.stack(logits), torch.empty(0), None, names)
            found.write_csv(options.csv, read)
    if options.map:
        figure = imported("matplotlib.figure").Figure(figsize=(4, 4))
        show_attention(model, paths[0], figure.add_axes((0, 0, 1, 1)))
        figure.savefig(options.map, dpi=150)
    return left_out


class Unread(ValueError):
    """Raised after all other files are answered; names those that cannot be read."""


def asked(
    model: VisionTransformer, paths: Sequence[str]
) -> Iterator[tuple[str, Tensor]]:
    """Ask a model about files, in batches; yield path and logits (K,) of each."""
    failed: list[str] = []
    for start in range(0, len(paths), BATCH):
        images: dict[int, Tensor] = {}  # (1, C, H, W) each
        for index in range(start, min(start + BATCH, len(paths))):
            try:
                _, images[index] = _prepared(model, paths[index])
            except (ValueError, OSError) as error:
                if not str(error).startswith("image: "):  # a fault of the model
                    raise
                failed.append(str(error).removeprefix("image: "))
        if images:
            logits = _run_on(model, torch.cat([*images.values()]))  # (B, K)
            yield from zip([paths[index] for index in images], logits, strict=True)
    if failed:
        files = f"{len(failed)} of {len(paths)} files cannot be read: "
        raise Unread(f"image: {files * (len(paths) > 1)}{'; '.join(failed)}")


def _files(given: str) -> list[str]:
    """Return the images of a folder, or a file as it is."""
    if not os.path.isdir(given):
        return [given]
    from vit_steps.data.folder import image_files

    return image_files(given)
