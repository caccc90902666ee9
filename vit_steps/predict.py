"""Answers of a trained model about photographs, and maps of where it looked.

vit-steps predict cluttered-digits photo.png --map map.png
"""

import argparse
import sys
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from vit_steps.attention_maps import attention_rollout, class_token_to_patches
from vit_steps.checkpoint import shipped_models
from vit_steps.command import check_new, numbers, run_command
from vit_steps.evaluating import evaluating
from vit_steps.optional import imported
from vit_steps.preprocessing import Preprocessing, as_picture
from vit_steps.sizes import check_count
from vit_steps.trained import evaluated
from vit_steps.vision_transformer import VisionTransformer


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
    model = evaluated(model, by_head=True)
    K = model.config.num_classes
    if K < 2:
        raise ValueError(f"model: got {K} classes, expected two or more to choose from")
    known, _, images = _prepared(model, image)
    with evaluating(model):
        probabilities = model(images)[0].float().softmax(dim=0)  # (K,)
    shares, indices = probabilities.topk(min(top, K))
    names = known.classes or tuple(map(str, range(K)))
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
    _, picture, images = _prepared(model, image)
    with evaluating(model):
        _, weights = model.encode(images, need_weights=True)
    rollout = attention_rollout(weights)  # (1, T, T)
    attention = class_token_to_patches(rollout, model.num_prefix_tokens)[0]  # (N,)
    attention = attention.float().cpu().reshape(model.patch_embed.grid_size)
    return show_attention_over_image(attention, picture, ax)


def _prepared(
    model: VisionTransformer, image: Any
) -> tuple[Preprocessing, Tensor, Tensor]:
    """Return a model's preprocessing, the picture (C, H, W), and a batch of it."""
    config, known = model.config, model.preprocessing
    if known is None:
        raise ValueError(
            "model.preprocessing: got None, expected the mean and std of its training "
            "images in a Preprocessing; the command takes --mean and --std"
        )
    known.check_fits(config.in_channels, config.num_classes)
    picture = as_picture(image, config.image_size, config.in_channels)  # (C, H, W)
    return known, picture, known.normalize(picture)[None].to(model.pos_embed)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; ``vit-steps predict --help`` describes it."""
    parser = argparse.ArgumentParser(
        prog="python -m vit_steps.predict",
        description="Name what is in photographs, one line each, with probabilities.",
    )
    add = parser.add_argument
    add("model", help=f"{', '.join(shipped_models())}, or a file that training wrote")
    add("image", nargs="+", help="a photograph of any size, in colour or grey")
    add("--top", type=int, default=5, help="how many classes to name (5)")
    add("--map", metavar="OUT.png", help="draw one image, bright where the model looks")
    add("--overwrite", action="store_true", help="replace the --map that is there")
    where = "a number for each channel, where the model's file holds none"
    add("--mean", type=numbers, default=(), metavar="M,M,M", help=where)
    add("--std", type=numbers, default=(), metavar="S,S,S", help=where)
    options = parser.parse_args(arguments)
    return run_command(lambda: _run(options), {"name": "model", "map": "--map"})


def _run(options: argparse.Namespace) -> None:
    if options.map:
        if len(options.image) > 1:
            raise ValueError(f"map: got {len(options.image)} images, expected one")
        check_new(options.map, options.overwrite, options.image, "map", ".png")
    model = VisionTransformer.from_pretrained(options.model)
    if options.mean or options.std:
        classes = model.preprocessing.classes if model.preprocessing else ()
        model.preprocessing = Preprocessing(options.mean, options.std, classes)
    for image in options.image:
        print(f"{image}: {predict(model, image, options.top)}")
    if options.map:
        figure = imported("matplotlib.figure").Figure(figsize=(4, 4))
        show_attention(model, options.image[0], figure.add_axes((0, 0, 1, 1)))
        figure.savefig(options.map, dpi=150)


if __name__ == "__main__":
    sys.exit(main())
