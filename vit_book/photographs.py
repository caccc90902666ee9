"""Sample photographs: six that libraries ship, and 123 small ones with labels."""

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from vit_steps.preprocessing import as_picture
from vit_steps.sizes import Size, as_pair, check_choice


@dataclass(frozen=True)
class Photo:
    """The source and the licence of a sample photograph."""

    library: str
    loader: str  # the library's own name for it
    credit: str
    license: str


PHOTOS = {
    "china": Photo("scikit-learn", "china.jpg", "danielbuechele, Flickr", "CC BY 2.0"),
    "flower": Photo("scikit-learn", "flower.jpg", "vultilion, Flickr", "CC BY 2.0"),
    "astronaut": Photo("scikit-image", "astronaut", "NASA", "public domain"),
    "cat": Photo("scikit-image", "chelsea", "Stéfan van der Walt", "CC0"),
    "coffee": Photo(
        "scikit-image", "coffee", "Rachel Michetti, at Pikolo Espresso Bar", "CC0"
    ),
    "rocket": Photo("scikit-image", "rocket", "SpaceX", "CC0"),
}

THINGS = Path(__file__).with_name("things")  # a folder for each class
COPIES = ("building/12.jpg", "building/18.jpg", "building/27.jpg")  # of other things


def photo(name: str, size: Size | None = None) -> Tensor:
    """Return a sample photograph, one of ``PHOTOS``.

    It is scaled to ``size``, (height, width) or an int for a square, and cropped to its
    middle; with None it keeps its own size.

    Shape: -> (3, H, W), float32 between 0 and 1
    Raises: ValueError if there is no photograph of that name.
    """
    source = PHOTOS[check_choice(name, "name", PHOTOS)]
    if source.library == "scikit-learn":
        from sklearn.datasets import load_sample_image

        array = load_sample_image(source.loader)
    else:
        from skimage import data

        array = getattr(data, source.loader)()
    shape = array.shape[:2] if size is None else as_pair(size, "size")
    return as_picture(array, shape, in_channels=3)


def photos(size: Size) -> Tensor:
    """Return all sample photographs, in the order of ``PHOTOS``.

    Shape: -> (6, 3, H, W), float32 between 0 and 1
    """
    return torch.stack([photo(name, size) for name in PHOTOS])


def things(size: Size, copies: bool = True) -> tuple[Tensor, Tensor]:
    """Return 123 small photographs and their labels, the places of sorted folders.

    There are 24 each of animals, buildings, fish, power (dams, solar panels, windmills)
    and tools, and three of the buildings a second time if ``copies`` are wanted. They
    come from GCompris 3.1 and are in the public domain or under CC0; ``THINGS /
    "CREDITS.csv"`` names the photographers. Each is scaled and cropped as in ``photo``.

    Shape: -> (B, 3, H, W), float32 between 0 and 1, and (B,)
    """
    files = sorted(THINGS.glob("*/*.jpg"))
    if not copies:
        left_out = {THINGS / name for name in COPIES}
        files = [file for file in files if file not in left_out]
    classes = sorted({file.parent.name for file in files})
    shape = as_pair(size, "size")
    images = torch.stack([as_picture(file, shape, in_channels=3) for file in files])
    return images, torch.tensor([classes.index(file.parent.name) for file in files])
