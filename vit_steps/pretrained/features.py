"""Features of images from a trained model: a vector for each, or for each patch."""

from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

from vit_steps.compatibility import on_device_of
from vit_steps.evaluating import evaluating
from vit_steps.sizes import check_count
from vit_steps.transfer import check_model
from vit_steps.vision_transformer import VisionTransformer


def extract_features(
    model: VisionTransformer,
    images: Tensor | Dataset[Any] | DataLoader[Any],
    pool: str = "cls",
    batch_size: int = 64,
) -> Tensor:
    """Return a vector for each image, after the final norm, for k-NN or a linear probe.

    The ``pool`` "cls" takes the class token, "mean" the mean of the patches. Labels
    beside the images of a data set are left out. The model is left in its mode.

    Shape: (B, C, H, W) -> (B, D), on the images' device, in the model's dtype
    Raises: ValueError if ``pool`` is something else, or is "cls" for a model without a
        class token, or if there are no images, or they are not normalised.
    """
    check_model(model)
    if pool not in ("cls", "mean"):
        raise ValueError(f"pool: got {pool!r}, expected 'cls' or 'mean'")
    if pool == "cls" and model.cls_token is None:
        raise ValueError("pool: got 'cls', expected 'mean' for a model without one")
    check_count(batch_size, "batch_size")
    batches: Any = images
    if isinstance(images, Tensor):
        batches = torch.split(images, batch_size)
    elif not isinstance(images, DataLoader):
        batches = DataLoader(images, batch_size)
    features = []
    with evaluating(model):
        for batch in batches:
            batch = batch[0] if isinstance(batch, (list, tuple)) else batch
            tokens, _ = model.encode(as_input(model, batch))  # (B, T, D)
            if pool == "cls":
                pooled = tokens[:, 0]  # (B, D)
            else:
                pooled = model.patch_tokens(tokens).mean(dim=1)  # (B, D)
            features.append(pooled.to(batch.device))
    if sum(len(pooled) for pooled in features) == 0:
        raise ValueError("images: got none, expected at least one")
    return torch.cat(features)  # (B, D)


def as_input(model: VisionTransformer, images: Tensor) -> Tensor:
    """Return images on the model's device and, if they are floats, in its dtype.

    Raises: ValueError if the model's ``preprocessing`` is known, and the images look
        like pixels: none is below 0, and the largest is at most 1, or exceeds white.
    """
    known = model.preprocessing
    if known is not None and images.is_floating_point():
        low, high = (x.item() for x in images.aminmax()) if images.numel() else (0, 0)
        white = max((1 - m) / s for m, s in zip(known.mean, known.std, strict=True))
        if low >= 0 and low < high and (high <= 1 or high > 1.01 * white):
            pixels = "images" if high <= 1 else "images / 255"
            raise ValueError(
                f"images: got numbers from {low:.3g} to {high:.3g}, expected "
                f"normalised images; model.preprocessing.normalize({pixels}) makes them"
            )
    return on_device_of(model, images)
