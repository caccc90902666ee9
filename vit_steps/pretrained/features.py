"""What a trained model says of an image, as one vector."""

import torch
from torch import Tensor

from vit_steps.vision_transformer import VisionTransformer


def extract_features(
    model: VisionTransformer, images: Tensor, pool: str = "cls", batch_size: int = 64
) -> Tensor:
    """One vector an image, after the final norm, for k-NN or a linear probe.

    The ``pool`` "cls" takes the class token, "mean" the mean of the patches.

    Shape: (B, C, H, W) -> (B, D), on the images' device
    Raises: ValueError if ``pool`` is something else, or the class token of a model
        without one, the model is in training mode, or there are no images.
    """
    if pool not in ("cls", "mean"):
        raise ValueError(f"pool: got {pool!r}, expected 'cls' or 'mean'")
    if pool == "cls" and model.cls_token is None:
        raise ValueError("pool: got 'cls', expected 'mean' for a model without one")
    if model.training:
        raise ValueError("model: is in training mode, expected model.eval()")
    if len(images) == 0:
        raise ValueError("images: got none, expected at least one")
    features = []
    with torch.no_grad():
        for start in range(0, len(images), batch_size):
            batch = images[start : start + batch_size]
            tokens, _ = model.encode(batch.to(model.pos_embed.device))  # (B, T, D)
            if pool == "cls":
                pooled = tokens[:, 0]  # (B, D)
            else:
                pooled = model.patch_tokens(tokens).mean(dim=1)  # (B, D)
            features.append(pooled.to(images.device))
    return torch.cat(features)  # (B, D)
