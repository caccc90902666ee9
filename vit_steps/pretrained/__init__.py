"""Weights that others trained, in the model of this book, and back in theirs."""

from vit_steps.pretrained.features import extract_features
from vit_steps.pretrained.first_difference import Difference, first_difference
from vit_steps.pretrained.hub import Published, copy_timm, published
from vit_steps.pretrained.loading import config_of, load_weights
from vit_steps.pretrained.names import (
    StateDict,
    WeightsMismatch,
    from_dinov2,
    from_huggingface,
    from_timm,
    from_torchvision,
    to_dinov2,
    to_huggingface,
    to_timm,
    to_torchvision,
    without,
)

__all__ = [
    "Difference",
    "Published",
    "StateDict",
    "WeightsMismatch",
    "config_of",
    "copy_timm",
    "extract_features",
    "first_difference",
    "from_dinov2",
    "from_huggingface",
    "from_timm",
    "from_torchvision",
    "load_weights",
    "published",
    "to_dinov2",
    "to_huggingface",
    "to_timm",
    "to_torchvision",
    "without",
]
