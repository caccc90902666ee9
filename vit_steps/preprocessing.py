"""Turn a photograph into a model's input: size, channels, mean, standard deviation."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vit_steps.optional import check_installed
from vit_steps.sizes import Size, as_pair, check_each, check_fields, check_number


@dataclass(frozen=True)
class Preprocessing:
    """The mean and std that a model's images are normalised with, and its class names.

    Raises: ValueError if mean and std are not those of images in [0, 1], one for each
        channel, or two classes have the same name.
    """

    mean: tuple[float, ...]  # images in [0, 1] become (image - mean) / std
    std: tuple[float, ...]
    classes: tuple[str, ...] = ()  # in the order of the logits; empty if unknown

    def __post_init__(self) -> None:
        check_fields(self, check_each, "mean", each=check_number, least=0)
        check_fields(self, check_each, "std", each=check_number, above=0)
        if len(self.mean) != len(self.std) or max(self.mean + self.std) > 1:
            raise ValueError(
                f"mean, std: got {self.mean} and {self.std}, expected a number for "
                "each channel of images in [0, 1]; divide those of 0..255 by 255"
            )
        classes = self.classes if isinstance(self.classes, (tuple, list)) else [None]
        if len({name for name in classes if isinstance(name, str)}) < len(classes):
            raise ValueError(f"classes: got {self.classes}, expected different names")
        object.__setattr__(self, "classes", tuple(self.classes))

    def check_fits(self, in_channels: int, num_classes: int) -> None:
        """Raise ValueError unless it fits a model with these channels and classes."""
        C, K = len(self.mean), len(self.classes)
        if C != in_channels or K not in (0, num_classes):
            raise ValueError(
                f"mean, std, classes: got {C}, {len(self.std)} and {K}, expected "
                f"{in_channels} for the channels and {num_classes} or no classes"
            )

    def normalize(self, images: Tensor) -> Tensor:
        """Normalise images: (..., C, H, W) in [0, 1] -> (..., C, H, W)."""
        mean, std = images.new_tensor(self.mean), images.new_tensor(self.std)
        return (images - mean[:, None, None]) / std[:, None, None]


def as_picture(image: Any, image_size: Size, in_channels: int) -> Tensor:
    """Return a photograph of any size as a model sees it, before normalisation.

    It is scaled bicubically and cut to its middle, as the images of a folder are in
    evaluation. A grey model gets the luma of a coloured image (ITU-R BT.601).

    An image is the path of a file, a Pillow image, an array (H, W) or (H, W, C), or a
    tensor (H, W) or (C, H, W). Arrays and tensors hold uint8, or floats from 0 to 1.

    Shape: -> (C, H, W), float32 between 0 and 1
    Raises: FileNotFoundError if there is no such file; ValueError if it is not an
        image, or its shape, channels or range do not fit.
    """
    check_installed("PIL")
    from PIL import Image, ImageOps

    pixels = _pixels(image, in_channels)  # (C, H, W), or (1, H, W), or (3, H, W)
    scale = 255 if pixels.dtype == torch.uint8 else 1
    if pixels.shape[0] == 3 and in_channels == 1:
        luma = torch.tensor([0.299, 0.587, 0.114])
        pixels = torch.einsum("c,chw->hw", luma, pixels.float())[None]
    height, width = as_pair(image_size, "image_size")
    channels = [Image.fromarray(channel.numpy()) for channel in pixels.contiguous()]
    fitted = [np.array(ImageOps.fit(c, (width, height))) for c in channels]
    picture = torch.from_numpy(np.stack(fitted)) / scale
    return picture.clamp(0, 1).expand(in_channels, -1, -1)


def _pixels(image: Any, in_channels: int) -> Tensor:
    """Return an image as a tensor (C, H, W) of uint8, or of float32 from 0 to 1."""
    from PIL import Image

    if isinstance(image, (str, os.PathLike)):
        image = opened(os.fspath(image))
    if isinstance(image, Image.Image):
        image = _in_8_bits(image)
    last = not isinstance(image, Tensor)  # an array has its channels last
    # copied, since PyTorch does not read mirrored arrays
    pixels = torch.from_numpy(np.array(image)) if last else image.detach().cpu()
    shape = tuple(pixels.shape)
    if pixels.dtype != torch.uint8 and not pixels.is_floating_point():
        got = f"got {pixels.dtype}"
        raise ValueError(f"image: {got}, expected torch.uint8, or floats from 0 to 1")
    if last and pixels.ndim == 3:
        pixels = pixels.movedim(-1, 0)
    pixels = pixels[None] if pixels.ndim == 2 else pixels
    known = (1, 3) if in_channels in (1, 3) else (in_channels,)
    if pixels.ndim != 3 or not pixels.numel() or pixels.shape[0] not in known:
        raise ValueError(
            f"image: got shape {shape}, expected one image, (H, W), an array (H, W, C) "
            f"or a tensor (C, H, W), with {' or '.join(map(str, known))} channels"
        )
    if pixels.dtype == torch.uint8:
        return pixels
    pixels = pixels.float()
    low, high = pixels.aminmax()
    if not -1e-6 <= low <= high <= 1 + 1e-6:  # "not", so that NaN is refused too
        raise ValueError(
            f"image: got floats from {low:.3g} to {high:.3g}, expected 0 to 1; divide "
            "an image in 0..255 by 255, and give a normalised one to the model itself"
        )
    return pixels


def opened(path: str) -> Any:
    """Read a file as an upright Pillow image of 8 bits, in grey or RGB.

    Raises: FileNotFoundError if there is none; ValueError if it is no image of 8 bits.
    """
    from PIL import Image, ImageOps

    if not os.path.isfile(path):
        raise FileNotFoundError(f"image: {path} is not there, expected a file")
    try:
        with Image.open(path) as image:
            upright = ImageOps.exif_transpose(image)
    except Exception as error:  # Pillow's readers raise many kinds of errors
        raise ValueError(f"image: {path} cannot be read as one: {error}") from error
    return _in_8_bits(upright, f"{path} ")


def _in_8_bits(image: Any, name: str = "") -> Any:
    """Convert a Pillow image to grey or RGB.

    Raises: ValueError if that would lose its transparency, or more bits than 16.
    """
    from PIL import Image

    if image.mode.startswith("I;16"):
        image = Image.fromarray(((np.array(image) + 128.0) // 257).astype(np.uint8))
    if image.mode[0] in "IF":
        mode = f"has Pillow's mode {image.mode}, expected 8 or 16 bits a channel"
        raise ValueError(f"image: {name}{mode}")
    seen = image.has_transparency_data and image.convert("RGBA").getextrema()[3]
    if seen and seen[0] < 255:
        advice = "paste it on a background, with Pillow's Image.alpha_composite"
        raise ValueError(f"image: {name}is transparent in places; {advice}")
    return image.convert("L" if image.mode in ("1", "L", "LA") else "RGB")
