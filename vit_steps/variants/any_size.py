"""A Vision Transformer for images of any size, its positions resized as it runs."""

import torch
from torch import Tensor
from torch.nn import functional as F

from vit_steps.embedding import prepend_tokens
from vit_steps.vision_transformer import VisionTransformer


class AnySizeVisionTransformer(VisionTransformer):
    """A Vision Transformer that takes images of any size in multiples of the patch.

    For each batch the learned positions are resized to the patches that it has, as
    ``interpolate_position_embedding`` does (arXiv 2010.11929, section 3.2).

    Shape: (B, C, H, W) -> (B, K), with any H and W that the patches fill
    """

    def embed(self, images: Tensor) -> Tensor:
        """(B, C, H, W) -> (B, T, D), with as many patches as the images have."""
        P = self.patch_embed.patch_size
        if images.shape[2] % P[0] or images.shape[3] % P[1]:
            raise ValueError(
                f"images: got shape {tuple(images.shape)}, expected height and width "
                f"in multiples of the patch size {P[0]}×{P[1]}"
            )
        patches = self.patch_embed.proj(images)  # (B, D, rows, columns)
        cls_position, positions = self.pos_embed.tensor_split([1], dim=1)
        positions = positions.transpose(1, 2)  # (1, D, N), of its own size
        positions = positions.reshape(1, -1, *self.patch_embed.grid_size)
        positions = F.interpolate(  # which 16 bits are not enough for
            positions.to(torch.promote_types(positions.dtype, torch.float32)),
            patches.shape[2:],
            mode="bicubic",
            antialias=True,
        ).to(patches.dtype)  # (1, D, rows, columns)
        patches = (patches + positions).flatten(2).transpose(1, 2)  # (B, N, D)
        cls_token = self.cls_token + cls_position
        return self.pos_drop(prepend_tokens(patches, cls_token))  # (B, T, D)


def any_size(model: VisionTransformer) -> AnySizeVisionTransformer:
    """A trained model for images of any size, in evaluation mode.

    Raises: ValueError if it is a variant, whose tokens are others.
    """
    if type(model) is not VisionTransformer:
        raise ValueError(
            f"model: got a {type(model).__name__}, expected a VisionTransformer"
        )
    free = AnySizeVisionTransformer(model.config).to(model.pos_embed)
    free.load_state_dict(model.state_dict())
    free.preprocessing = model.preprocessing
    return free.eval()
