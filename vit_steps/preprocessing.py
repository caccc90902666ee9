"""From a photograph to what a model takes: size, channels, mean and spread."""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from vit_steps.optional import imported
from vit_steps.sizes import Size, as_pair


@dataclass(frozen=True)
class Preprocessing:
    """How a model's images are normalised, and what its classes are called.

    Raises: ValueError if these are no such numbers or names.
    """

    mean: tuple[float, ...]  # images in [0, 1] become (image - mean) / std
    std: tuple[float, ...]
    classes: tuple[str, ...] = ()  # in the order of the logits; none if nobody said

    def __post_init__(self) -> None:
        numbers = (*self.mean, *self.std)
        real = all(isinstance(x, (int, float)) and math.isfinite(x) for x in numbers)
        if not real or len(self.mean) != len(self.std) or min(self.std, default=0) <= 0:
            raise ValueError(
                f"mean, std: got {self.mean} and {self.std}, expected a number for "
                "each channel, those of std above 0"
            )
        if not all(isinstance(name, str) for name in self.classes):
            raise ValueError(f"classes: got {self.classes}, expected names")

    @classmethod
    def read(cls, metadata: Mapping[str, Any]) -> Self | None:
        """What a checkpoint says of it; None if there is no mean in it."""
        if metadata.get("mean") is None:
            return None
        names = ("mean", "std", "classes")
        return cls(*(tuple(metadata.get(name) or ()) for name in names))

    def check_fits(self, in_channels: int, num_classes: int) -> None:
        """Raise ValueError if it is not of so many channels and classes."""
        C, K = len(self.mean), len(self.classes)
        if C != in_channels or K not in (0, num_classes):
            raise ValueError(
                f"mean, std, classes: got {C}, {len(self.std)} and {K}, expected "
                f"{in_channels} for the channels and {num_classes} or no classes"
            )

    def normalize(self, images: Tensor) -> Tensor:
        """(..., C, H, W) in [0, 1] -> (..., C, H, W)"""
        mean, std = images.new_tensor(self.mean), images.new_tensor(self.std)
        return (images - mean[:, None, None]) / std[:, None, None]


def as_picture(image: Any, image_size: Size, in_channels: int) -> Tensor:
    """A photograph of any size as a model sees it, before normalisation.

    Scaled bicubically and cut to its middle, as a folder's images are in evaluation. Of
    colour only the luma (ITU-R BT.601) is left for a grey model.

    An image is a file's path, one of Pillow's, an array (H, W) or (H, W, C), or a
    tensor (H, W) or (C, H, W); the last two of uint8, or floats from 0 to 1.

    Shape: -> (C, H, W), float32 between 0 and 1

    Raises:
        FileNotFoundError, ImportError: if there is no such file, or no Pillow.
        ValueError: if it is no image, or its shape, channels or range are others.
    """
    pil = imported("PIL.Image")
    fit = imported("PIL.ImageOps").fit
    import numpy as np

    pixels = _pixels(image, in_channels)  # (C, H, W), or (1, H, W), or (3, H, W)
    scale = 255 if pixels.dtype == torch.uint8 else 1
    if pixels.shape[0] == 3 and in_channels == 1:
        luma = torch.tensor([0.299, 0.587, 0.114]) / scale
        grey = luma @ pixels.float().flatten(1)  # (H·W,)
        pixels, scale = grey.reshape(1, *pixels.shape[1:]), 1
    height, width = as_pair(image_size, "image_size")
    channels = [pil.fromarray(channel.numpy()) for channel in pixels.contiguous()]
    fitted = [fit(c, (width, height), pil.Resampling.BICUBIC) for c in channels]
    picture = torch.from_numpy(np.stack([np.array(channel) for channel in fitted]))
    return (picture / scale).clamp(0, 1).expand(in_channels, -1, -1)


def _pixels(image: Any, in_channels: int) -> Tensor:
    """(C, H, W) of uint8, or of float32 from 0 to 1; refuses what is neither."""
    import numpy as np
    from PIL import Image

    if isinstance(image, (str, os.PathLike)):
        image = opened(os.fspath(image))
    if isinstance(image, Image.Image):
        image = np.array(_in_8_bits(image))
    if not isinstance(image, (np.ndarray, Tensor)):
        kinds = "a path, an image of Pillow's, an array or a tensor"
        raise ValueError(f"image: got {type(image).__name__}, expected {kinds}")
    kind, shape = str(image.dtype).removeprefix("torch."), tuple(image.shape)
    if kind != "uint8" and "float" not in kind:
        raise ValueError(f"image: got {kind}, expected uint8, or floats from 0 to 1")
    layout = "(C, H, W)"
    if isinstance(image, np.ndarray):
        layout = "(H, W, C)"
        image = image.astype("uint8" if kind == "uint8" else "float32", order="C")
        image = torch.from_numpy(image)
        image = image.movedim(-1, 0) if image.ndim == 3 else image
    pixels = image[None] if image.ndim == 2 else image
    known = (1, 3) if in_channels in (1, 3) else (in_channels,)
    if pixels.ndim != 3 or not pixels.numel() or pixels.shape[0] not in known:
        raise ValueError(
            f"image: got shape {shape}, expected one image, (H, W) or {layout}, with "
            f"{' or '.join(map(str, known))} channels"
        )
    pixels = pixels.detach().cpu()
    if pixels.dtype == torch.uint8:
        return pixels
    low, high = pixels.min().item(), pixels.max().item()
    if not (low >= -1e-6 and high <= 1 + 1e-6):  # nor if one is not a number
        advice = "divide what goes to 255 by 255" if high > 1 else "mend the NaN"
        if low < 0:
            advice = "give what is normalised already to the model itself"
        raise ValueError(
            f"image: got floats from {low:.3g} to {high:.3g}, expected 0 to 1; {advice}"
        )
    return pixels.float()


def opened(path: str) -> Any:
    """A file as Pillow's image, the way it was held, of 8 bits: grey or RGB.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is no image, or one whose values do not fit into 8 bits.
    """
    from PIL import Image, ImageOps

    if not os.path.isfile(path):
        what = "a folder" if os.path.isdir(path) else "not there"
        raise FileNotFoundError(f"image: {path} is {what}, expected a file")
    try:
        with Image.open(path) as image:
            turned = ImageOps.exif_transpose(image)  # a copy
    except Exception as error:  # each format has others
        raise ValueError(f"image: {path} cannot be read as one: {error}") from error
    return _in_8_bits(turned, f"{path} ")


def _in_8_bits(image: Any, name: str = "") -> Any:
    """A Pillow image in grey or RGB; refuses what would lose by it unseen."""
    import numpy as np
    from PIL import Image

    if image.mode.startswith("I;16"):
        image = Image.fromarray(((np.array(image) + 128.0) // 257).astype(np.uint8))
    if image.mode[0] in "IF":
        mode = f"has Pillow's mode {image.mode}, expected 8 or 16 bits a channel"
        raise ValueError(f"image: {name}{mode}")
    if image.has_transparency_data:
        if image.convert("RGBA").getchannel("A").getextrema()[0] < 255:
            what = "is transparent in places; paste it on a ground first"
            raise ValueError(f"image: {name}{what}")
    return image.convert("L" if image.mode in ("1", "L", "LA") else "RGB")
