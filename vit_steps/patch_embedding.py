"""Images to sequences: cut into patches, each multiplied by the same matrix."""

import torch
import torch.fx
from torch import Tensor, nn

from vit_steps.sizes import Size, as_pair, patch_grid
from vit_steps.tensors import check_tensor


def patchify(images: Tensor, patch_size: Size) -> Tensor:
    """Cut images into patches, row by row, and flatten each patch channel, row, column.

    That is the order in which a convolution's weight is laid out, so that a linear
    layer on these rows and a strided convolution can share one weight.

    Shape: (B, C, H, W) -> (B, N, C·P·P), with N = (H / P)·(W / P)
    Raises: ValueError if the images are not (B, C, H, W), or the patches do not fill
        them.
    """
    check_tensor(images, "images", "B", "C", "H", "W", may_be_empty=True)
    B, C, H, W = images.shape
    rows, columns = patch_grid((H, W), patch_size)
    height, width = as_pair(patch_size, "patch_size")
    x = images.reshape(B, C, rows, height, columns, width)  # (B, C, H/P, P, W/P, P)
    x = x.permute(0, 2, 4, 1, 3, 5)  # (B, H/P, W/P, C, P, P)
    return x.reshape(B, rows * columns, C * height * width)  # (B, N, C·P·P)


def unpatchify(patches: Tensor, patch_size: Size, image_size: Size) -> Tensor:
    """Put patches back together: the inverse of ``patchify``.

    Shape: (B, N, C·P·P) -> (B, C, H, W)
    Raises: ValueError if the patches are not (B, N, C·P·P) with the N and the P of
        these sizes.
    """
    H, W = as_pair(image_size, "image_size")
    rows, columns = patch_grid(image_size, patch_size)
    height, width = as_pair(patch_size, "patch_size")
    N, area = rows * columns, height * width
    if patches.ndim != 3 or patches.shape[1] != N or patches.shape[2] % area:
        raise ValueError(
            f"patches: got shape {tuple(patches.shape)}, expected "
            f"(B, {N}, C·{area}) for an image of {H}×{W}"
        )
    B, C = len(patches), patches.shape[2] // area
    x = patches.reshape(B, rows, columns, C, height, width)  # (B, H/P, W/P, C, P, P)
    x = x.permute(0, 3, 1, 4, 2, 5)  # (B, C, H/P, P, W/P, P)
    return x.reshape(B, C, H, W)  # (B, C, H, W)


@torch.fx.wrap  # a tracer keeps the call as it is: a check cannot be traced
def check_images(
    images: Tensor, in_channels: int, size: tuple[int, int] | None, weight: Tensor
) -> None:
    """Raise an error unless images fit a patch embedding with this ``weight``.

    Args:
        size: the height and width expected; None for any.

    Raises: ValueError if these are not a tensor, or shape, dtype or device do not fit.
    """
    H, W = size or ("H", "W")
    has_no_batch = isinstance(images, Tensor) and images.ndim == 3
    note = "; images[None] makes a batch of one" if has_no_batch else ""
    shape = ("B", in_channels, H, W)
    check_tensor(images, "images", *shape, may_be_empty=True, note=note)
    if not torch.is_floating_point(images):
        raise ValueError(
            f"images: got {images.dtype}, expected floating point; "
            "divide bytes by 255, then normalise"
        )
    if images.device != weight.device:
        raise ValueError(
            f"images: are on {images.device}, expected {weight.device}, where the "
            "model is; images.to(device) moves them"
        )
    if images.dtype != weight.dtype and not torch.is_autocast_enabled(
        images.device.type
    ):
        raise ValueError(
            f"images: got {images.dtype}, expected {weight.dtype} as the model's "
            "parameters; images.to(dtype) converts them"
        )


class PatchEmbedding(nn.Module):
    """Patches to vectors: one linear layer for all, written as a strided convolution.

    The x_p E of equation 1 in arXiv 2010.11929. Window and stride are the patch, so
    each output position sees exactly one patch.

    Shape: (B, C, H, W) -> (B, N, D)
    """

    def __init__(
        self, image_size: Size, patch_size: Size, in_channels: int, embed_dim: int
    ) -> None:
        super().__init__()
        self.image_size = as_pair(image_size, "image_size")
        self.patch_size = as_pair(patch_size, "patch_size")
        self.grid_size = patch_grid(image_size, patch_size)
        self.in_channels = in_channels
        self.proj = nn.Conv2d(
            in_channels, embed_dim, self.patch_size, stride=self.patch_size
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise as the paper's code: weight LeCun-normal, bias zero."""
        # a normal that is cut at two standard deviations keeps 0.8796 of its spread
        std = self.proj.weight[0].numel() ** -0.5 / 0.8796
        nn.init.trunc_normal_(self.proj.weight, std=std, a=-2 * std, b=2 * std)
        nn.init.zeros_(self.proj.bias)

    def forward(self, images: Tensor) -> Tensor:
        """Embed the patches; raises as ``check_images`` does."""
        check_images(images, self.in_channels, self.image_size, self.proj.weight)
        x = self.proj(images)  # (B, D, H/P, W/P)
        return x.flatten(2).transpose(1, 2)  # (B, N, D)
