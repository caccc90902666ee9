"""What a model says of a photograph, and where it looked.

python -m vit_steps.predict cluttered-digits photo.png --map map.png
"""

import argparse
import sys
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from vit_steps.attention_maps import attention_rollout, class_token_to_patches
from vit_steps.command import run_command
from vit_steps.preprocessing import Preprocessing, as_picture
from vit_steps.sizes import check_count
from vit_steps.vision_transformer import VisionTransformer


@dataclass(frozen=True)
class Answer:
    """The most probable classes of an image, first to last; printed, one line."""

    classes: tuple[str, ...]  # their names, or their numbers if the model knows none
    probabilities: tuple[float, ...]  # softmax of the logits: how sure the model is

    def __str__(self) -> str:
        pairs = zip(self.classes, self.probabilities, strict=True)
        return ", ".join(f"{name} ({share:.1%})" for name, share in pairs)


def predict(model: VisionTransformer, image: Any, top: int = 5) -> Answer:
    """What a model says of a photograph of any size: the ``top`` classes.

    The image is a path, or one as ``as_picture`` takes them.

    Raises: ValueError if the model is in training mode, or has no head or no
        ``preprocessing``; and as ``as_picture`` does.
    """
    check_count(top, "top")
    K = model.config.num_classes
    if K == 0:
        raise ValueError("model: has no head, expected one; reset_classifier makes one")
    known, _, images = _prepared(model, image)
    with torch.no_grad():
        probabilities = model(images)[0].float().softmax(dim=0)  # (K,)
    shares, indices = probabilities.topk(min(top, K))
    names = known.classes or tuple(map(str, range(K)))
    return Answer(tuple(names[i] for i in indices.tolist()), tuple(shares.tolist()))


def show_attention(model: VisionTransformer, image: Any, ax: Any = None) -> Any:
    """Draw a photograph as the model takes it, bright where the class token looks.

    The map is attention rollout, as in arXiv 2010.11929, figure 6, and its brightest
    hundredth has full light, as in ``show_attention_over_image``. Returns the axes,
    which are matplotlib's current ones if none are given.

    Raises: ValueError if the model has no class token; and as ``predict`` does.
    """
    from vit_steps.notebook.pictures import show_attention_over_image

    if model.cls_token is None:
        raise ValueError("model: has no class token, expected one, whose map is drawn")
    _, picture, images = _prepared(model, image)
    with torch.no_grad():
        _, weights = model.encode(images, need_weights=True)
    rollout = attention_rollout(weights)  # (1, T, T)
    attention = class_token_to_patches(rollout, model.num_prefix_tokens)[0]  # (N,)
    attention = attention.float().cpu().reshape(model.patch_embed.grid_size)
    return show_attention_over_image(attention, picture, ax)


def _prepared(
    model: VisionTransformer, image: Any
) -> tuple[Preprocessing, Tensor, Tensor]:
    """Also the picture (C, H, W) that a model sees, and the batch (1, C, H, W)."""
    config, known = model.config, model.preprocessing
    if model.training:
        raise ValueError("model: is in training mode, expected model.eval()")
    if known is None:
        raise ValueError(
            "model: nobody said how its images are normalised; set model.preprocessing "
            "= Preprocessing(mean, std), of vit_steps.preprocessing"
        )
    known.check_fits(config.in_channels, config.num_classes)
    picture = as_picture(image, config.image_size, config.in_channels)  # (C, H, W)
    return known, picture, known.normalize(picture)[None].to(model.pos_embed)


def main(arguments: list[str] | None = None) -> int:
    """The command; see ``python -m vit_steps.predict --help``."""
    options = _parser().parse_args(arguments)
    return run_command(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    if options.map and len(options.image) > 1:
        raise ValueError(f"--map: got {len(options.image)} images, expected one")
    model = VisionTransformer.from_pretrained(options.model)
    C, came = model.config.in_channels, (len(options.mean), len(options.std))
    if came != (C, C) and (any(came) or model.preprocessing is None):
        raise ValueError(
            f"--mean and --std: got {came[0]} and {came[1]} numbers, expected {C}, one "
            f"for each channel of {options.model}, as its images were normalised"
        )
    if any(came):
        classes = model.preprocessing.classes if model.preprocessing else ()
        model.preprocessing = Preprocessing(options.mean, options.std, classes)
    for image in options.image:
        print(f"{image}: {predict(model, image, options.top)}")
    if options.map:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(4, 4))
        show_attention(model, image, figure.add_axes((0, 0, 1, 1)))
        figure.savefig(options.map, dpi=150)


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(number) for number in text.split(","))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m vit_steps.predict",
        description="Say what is on photographs, one line each, with probabilities.",
    )
    say = parser.add_argument
    say("model", help="cluttered-digits, fashion-mnist, or a file that training wrote")
    say("image", nargs="+", help="a photograph of any size, in colour or grey")
    say("--top", type=int, default=5, help="how many classes to name (5)")
    say("--map", metavar="OUT.png", help="draw one image, bright where the model looks")
    where = "a number for each channel, where the model does not say it"
    say("--mean", type=_numbers, default=(), metavar="M,M,M", help=where)
    say("--std", type=_numbers, default=(), metavar="S,S,S", help=where)
    return parser


if __name__ == "__main__":
    sys.exit(main())
