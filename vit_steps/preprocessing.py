"""From a photograph to a model's input: size, channels, mean and standard deviation."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor

from vit_steps.optional import imported
from vit_steps.sizes import Size, as_pair, check_number

ON_WHITE = (
    "paste it on a background first, with Pillow: Image.alpha_composite(Image.new("
    '"RGBA", image.size, "white"), image.convert("RGBA"))'
)


@dataclass(frozen=True)
class Preprocessing:
    """The mean and std that a model's images are normalised with, and its class names.

    Raises: ValueError if they are not numbers of images in [0, 1], one for each
        channel, or not different names.
    """

    mean: tuple[float, ...]  # images in [0, 1] become (image - mean) / std
    std: tuple[float, ...]
    classes: tuple[str, ...] = ()  # in the order of the logits; empty if unknown

    def __post_init__(self) -> None:
        for name in ("mean", "std", "classes"):
            values = getattr(self, name)
            if not isinstance(values, (tuple, list)):
                raise ValueError(f"{name}: got {values!r}, expected a tuple")
            if name != "classes":
                values = [check_number(value, name) for value in values]
            object.__setattr__(self, name, tuple(values))
        got = f"got {self.mean} and {self.std}"
        if not self.mean or len(self.mean) != len(self.std):
            raise ValueError(f"mean, std: {got}, expected a number for each channel")
        if min(self.mean) < 0 or min(self.std) <= 0 or max(*self.mean, *self.std) > 1:
            raise ValueError(
                f"mean, std: {got}, expected those of images in [0, 1], with std above "
                "0; divide numbers of images in 0..255 by 255"
            )
        strings = all(isinstance(name, str) for name in self.classes)
        if not strings or len(set(self.classes)) < len(self.classes):
            raise ValueError(f"classes: got {self.classes}, expected different names")

    @classmethod
    def read(cls, metadata: Mapping[str, Any]) -> Self | None:
        """Return what a checkpoint's metadata hold; None without a mean."""
        if metadata.get("mean") is None:
            return None
        names = ("mean", "std", "classes")
        return cls(*(tuple(metadata.get(name) or ()) for name in names))

    def check_fits(self, in_channels: int, num_classes: int) -> None:
        """Raise ValueError unless it has so many channels, and names or none."""
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
    """Return a photograph of any size as a model sees it, before normalisation.

    It is scaled bicubically and cut to its middle, as the images of a folder are in
    evaluation. A grey model gets the luma of a coloured image (ITU-R BT.601).

    An image is the path of a file, a Pillow image, an array (H, W) or (H, W, C), or a
    tensor (H, W) or (C, H, W). Arrays and tensors hold uint8, or floats from 0 to 1.

    Shape: -> (C, H, W), float32 between 0 and 1

    Raises:
        FileNotFoundError: if there is no such file.
        ImportError: if Pillow is not installed.
        ValueError: if it is not an image, or its shape, channels or range do not fit.
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
    """Return an image as a tensor (C, H, W) of uint8, or of float32 from 0 to 1."""
    import numpy as np
    from PIL import Image

    if isinstance(image, (str, os.PathLike)):
        image = opened(os.fspath(image))
    if isinstance(image, Image.Image):
        image = np.array(_in_8_bits(image))
    if not isinstance(image, (np.ndarray, Tensor)):
        kinds = "a path, a Pillow image, an array or a tensor"
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
    # Written with "not", because every comparison with NaN is False.
    if not (low >= -1e-6 and high <= 1 + 1e-6):
        advice = "replace the NaN first"
        if high > 1:
            advice = "divide images in 0..255 by 255"
        if low < 0:
            advice = "call the model itself with images that are normalised already"
        raise ValueError(
            f"image: got floats from {low:.3g} to {high:.3g}, expected 0 to 1; {advice}"
        )
    return pixels.float()


def opened(path: str) -> Any:
    """Read a file as an upright Pillow image of 8 bits, in grey or RGB.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is not an image, or its values do not fit into 8 bits.
    """
    from PIL import Image, ImageOps

    if not os.path.isfile(path):
        what = "a folder" if os.path.isdir(path) else "not there"
        raise FileNotFoundError(f"image: {path} is {what}, expected a file")
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
    import numpy as np
    from PIL import Image

    if image.mode.startswith("I;16"):
        image = Image.fromarray(((np.array(image) + 128.0) // 257).astype(np.uint8))
    if image.mode[0] in "IF":
        mode = f"has Pillow's mode {image.mode}, expected 8 or 16 bits a channel"
        raise ValueError(f"image: {name}{mode}")
    if image.has_transparency_data:
        if image.convert("RGBA").getchannel("A").getextrema()[0] < 255:
            raise ValueError(f"image: {name}is transparent in places; {ON_WHITE}")
    return image.convert("L" if image.mode in ("1", "L", "LA") else "RGB")
