"""A Vision Transformer for images of any size: its positions are resized as it runs."""

import torch
from torch import Tensor
from torch.nn import functional as F

from vit_steps.embedding import prepend_tokens
from vit_steps.patch_embedding import check_images
from vit_steps.transfer import rebuilt
from vit_steps.vision_transformer import VisionTransformer


class AnySizeVisionTransformer(VisionTransformer):
    """A Vision Transformer that takes images of any size in multiples of the patch.

    For each batch the learned positions are resized to the grid of its patches, as
    ``interpolate_position_embedding`` does (arXiv 2010.11929, section 3.2).

    Shape: (B, C, H, W) -> (B, K), with any H and W that the patches fill
    """

    def embed(self, images: Tensor) -> Tensor:
        """Embed images of any size: (B, C, H, W) -> (B, T, D)."""
        check_images(
            images, self.config.in_channels, None, self.patch_embed.proj.weight
        )
        P = self.patch_embed.patch_size
        if images.shape[2] % P[0] or images.shape[3] % P[1]:
            raise ValueError(
                f"images: got shape {tuple(images.shape)}, expected height and width "
                f"in multiples of the patch size {P[0]}×{P[1]}"
            )
        patches = self.patch_embed.proj(images)  # (B, D, rows, columns)
        cls_position, positions = self.pos_embed.tensor_split([1], dim=1)
        positions = positions.transpose(1, 2)  # (1, D, N) of the model's grid
        positions = positions.reshape(1, -1, *self.patch_embed.grid_size)
        positions = F.interpolate(  # in float32 or better: 16 bits are too coarse
            positions.to(torch.promote_types(positions.dtype, torch.float32)),
            patches.shape[2:],
            mode="bicubic",
            antialias=True,
        ).to(patches.dtype)  # (1, D, rows, columns)
        patches = (patches + positions).flatten(2).transpose(1, 2)  # (B, N, D)
        cls_token = self.cls_token + cls_position
        return self.pos_drop(prepend_tokens(patches, cls_token))  # (B, T, D)


def any_size(model: VisionTransformer) -> AnySizeVisionTransformer:
    """Return a trained model for images of any size; all else is as ``rebuilt`` keeps.

    Raises: ValueError for a variant, which has other tokens.
    """
    weights = model.state_dict()
    return rebuilt(model, AnySizeVisionTransformer, model.config, weights)
