"""Six sample photographs, which ship inside scikit-learn and scikit-image."""

from dataclasses import dataclass

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
