"""A Vision Transformer for images of any size: its positions are resized as it runs."""

import torch
import torch.fx
from torch import Tensor
from torch.nn import functional as F

from vit_steps.embedding import prepend_tokens
from vit_steps.patch_embedding import PatchEmbedding, check_images
from vit_steps.transfer import check_model, rebuilt
from vit_steps.vision_transformer import VisionTransformer


@torch.fx.wrap  # a tracer keeps the call as it is: the checks depend on the size
def patches_of_any_size(patch_embed: PatchEmbedding, images: Tensor) -> Tensor:
    """Embed the patches of images of any size: (B, C, H, W) -> (B, D, H/P, W/P).

    Raises: ValueError as ``check_images``, or if the patches do not fill the images.
    """
    check_images(images, patch_embed.in_channels, None, patch_embed.proj.weight)
    P = patch_embed.patch_size
    if images.shape[2] % P[0] or images.shape[3] % P[1]:
        raise ValueError(
            f"images: got shape {tuple(images.shape)}, expected height and width "
            f"in multiples of the patch size {P[0]}×{P[1]}"
        )
    return patch_embed.proj(images)  # (B, D, H/P, W/P)


class AnySizeVisionTransformer(VisionTransformer):
    """A Vision Transformer that takes images of any size in multiples of the patch.

    For each batch the learned positions are resized to the grid of its patches, as
    ``interpolate_position_embedding`` does (arXiv 2010.11929, section 3.2).

    Shape: (B, C, H, W) -> (B, K), with any H and W that the patches fill
    """

    def embed(self, images: Tensor) -> Tensor:
        """Embed images of any size: (B, C, H, W) -> (B, T, D)."""
        patches = patches_of_any_size(self.patch_embed, images)  # (B, D, rows, columns)
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
    check_model(model)
    return rebuilt(model, AnySizeVisionTransformer, model.config, model.state_dict())
