"""Real images: six photographs to look at, and the sets that are trained on."""

from vit_steps.data.augmentation import NAMES, augmentation
from vit_steps.data.folder import ImageFiles
from vit_steps.data.handwritten_digits import digits, digits_split
from vit_steps.data.loading import load
from vit_steps.data.photographs import (
    IMAGENET_MEAN,
    IMAGENET_STD,
    PHOTOS,
    Photo,
    normalize,
    photo,
    photos,
)
from vit_steps.data.published import (
    CIFAR10_CLASSES,
    FASHION_CLASSES,
    cifar10,
    fashion_mnist,
)
from vit_steps.data.sets import (
    ImageData,
    ImageSet,
    channel_statistics,
    stratified_split,
)

__all__ = [
    "CIFAR10_CLASSES",
    "FASHION_CLASSES",
    "IMAGENET_MEAN",
    "IMAGENET_STD",
    "NAMES",
    "PHOTOS",
    "ImageData",
    "ImageFiles",
    "ImageSet",
    "Photo",
    "augmentation",
    "channel_statistics",
    "cifar10",
    "digits",
    "digits_split",
    "fashion_mnist",
    "load",
    "normalize",
    "photo",
    "photos",
    "stratified_split",
]
