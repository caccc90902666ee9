"""Score maps where the right place is known, and test maps by covering patches."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from vit_steps.attention_maps.maps import as_floats, as_shares
from vit_steps.evaluating import evaluating
from vit_steps.patch_embedding import patchify, unpatchify
from vit_steps.sizes import Size, as_pair, check_count, patch_grid
from vit_steps.tensors import check_indices, check_tensor
from vit_steps.vision_transformer import VisionTransformer


def patch_brightness(images: Tensor, patch_size: Size) -> Tensor:
    """Return each patch's share of the image's brightness: a baseline without a model.

    All channels count equally, before normalisation. In a black image all patches have
    the same share.

    Shape: (B, C, H, W) -> (B, N), summing to 1
    Raises: ValueError if a pixel is negative, or the images do not fit the patches.
    """
    patches = patchify(images, patch_size)  # (B, N, C·P·P)
    if (patches < 0).any():
        raise ValueError(
            f"images: got a pixel of {patches.min().item():.3g}, expected none below "
            "0; brightness is measured before normalisation"
        )
    brightness = patches.sum(dim=-1)  # (B, N)
    black = brightness.sum(dim=-1, keepdim=True) == 0
    return as_shares(brightness.masked_fill(black, 1.0))


def mass_inside(
    attention: Tensor, boxes: Tensor, image_size: Size, patch_size: Size
) -> Tensor:
    """Return how much of the attention falls into each image's box.

    A patch that the edge of the box cuts counts by the share of its area inside.
    Uniform attention scores the box's share of the image.

    Args:
        attention: paid to each patch, summing to 1; axes between the first and the
            last, such as blocks and heads, are kept.
        boxes: top, left, bottom, right in pixels, a row for each image; bottom and
            right are the first pixels outside.

    Shape: attention (B, ..., N), boxes (B, 4) -> (B, ...)
    Raises: ValueError if a shape does not fit, or a box is empty, not inside the image,
        or not in pixels.
    """
    height, width = as_pair(patch_size, "patch_size")
    rows, columns = patch_grid(image_size, patch_size)
    check_tensor(attention, "attention", "B", "...", rows * columns)
    check_boxes(boxes, len(attention), image_size)
    attention = as_floats(attention)  # (B, ..., N)
    top, left, bottom, right = boxes.to(attention).unbind(dim=1)  # (B,) each
    in_rows = overlap(top, bottom, rows, height)  # (B, rows)
    in_columns = overlap(left, right, columns, width)  # (B, columns)
    share = in_rows[:, :, None] * in_columns[:, None, :]  # (B, rows, columns)
    return torch.einsum("b...n, bn -> b...", attention, share.flatten(1))  # (B, ...)


def check_boxes(boxes: Tensor, B: int, image_size: Size) -> None:
    """Raise ValueError unless these are B boxes in pixels, inside the image."""
    H, W = as_pair(image_size, "image_size")
    check_tensor(boxes, "boxes", B, 4)
    if boxes.is_floating_point() and boxes.max() <= 1 < max(H, W):
        raise ValueError(
            "boxes: got numbers from 0 to 1, expected pixels; multiply fractions of "
            f"the image by torch.tensor([{H}, {W}, {H}, {W}])"
        )
    for index, (top, left, bottom, right) in enumerate(boxes.tolist()):
        if not (0 <= top < bottom <= H and 0 <= left < right <= W):
            raise ValueError(
                f"boxes: got {[top, left, bottom, right]} for image {index}, expected "
                f"top, left, bottom, right of an area inside {H}×{W}"
            )


def overlap(start: Tensor, end: Tensor, count: int, length: int) -> Tensor:
    """Return the share of each stretch that lies between start and end.

    Each of the ``count`` stretches has this ``length``, and the first begins at 0.

    Shape: (B,), (B,) -> (B, count)
    """
    edges = torch.arange(count + 1).to(start) * length  # (count + 1,)
    inside = edges.clamp(start[:, None], end[:, None])  # (B, count + 1)
    return inside.diff(dim=1) / length


def mask_patches(
    images: Tensor,
    patch_size: Size,
    indices: Tensor,
    fill: float | Sequence[float] | Tensor = 0.0,
) -> Tensor:
    """Replace patches of images by ``fill``.

    Args:
        indices: the patches to replace in each image, counted row by row.
        fill: a number, one for each channel, a picture (H, W) or (C, H, W) such as
            the mean of the training images, or one for each image, (B, C, H, W).

    Shape: images (B, C, H, W), indices (B, k) -> (B, C, H, W)
    Raises: ValueError if a shape does not fit, or there is no such patch.
    """
    check_tensor(images, "images", "B", "C", "H", "W")
    if not images.is_floating_point():
        raise ValueError(f"images: got {images.dtype}, expected floating point")
    H, W = images.shape[2:]
    patches = patchify(images, patch_size)  # (B, N, C·P·P)
    B, N, _ = patches.shape
    check_indices(indices, "indices", B, "k", count=N)
    fill = torch.as_tensor(fill).to(images)
    if fill.ndim == 1:
        fill = fill[:, None, None].expand(-1, H, W)  # (C, H, W)
    check_tensor(fill, "fill", *images.shape[4 - fill.ndim :])
    filled = patchify(fill.expand_as(images), patch_size)  # (B, N, C·P·P)
    hidden = torch.zeros(B, N, 1, dtype=torch.bool, device=images.device)
    hidden = hidden.scatter(1, indices[..., None], True)
    return unpatchify(torch.where(hidden, filled, patches), patch_size, (H, W))


@dataclass(frozen=True)
class DeletionCurve:
    """A model's answers as more and more patches are masked, in S steps."""

    logits: Tensor  # (S, B), of the true class
    correct: Tensor  # (S, B), whether the true class has the largest logit

    @property
    def accuracy(self) -> Tensor:
        """The share of images that are classified correctly, (S,)."""
        return self.correct.float().mean(dim=1)


def deletion_curve(
    model: VisionTransformer,
    images: Tensor,
    labels: Tensor,
    order: Tensor,
    counts: Sequence[int],
    fill: float | Sequence[float] | Tensor = 0.0,
) -> DeletionCurve:
    """Test a map: mask the first patches of ``order``, then let the model answer.

    If a map names the patches that matter, the true logit falls faster than with
    patches named at random (region perturbation, arXiv 1509.06321). With ``attention``
    (B, N) the order is ``attention.argsort(dim=1, descending=True, stable=True)``.

    Args:
        order: (B, N), each image's patches, the first to be masked first.
        counts: how many patches to mask at each step, such as ``[0, 4, 8, 16]``.
        fill: what replaces them, as in ``mask_patches``.

    Shape: images (B, C, H, W), labels (B,), order (B, N) -> S = len(counts) steps
    Raises: ValueError if the model has no head, a shape does not fit, or a count or a
        label is out of range.
    """
    K = check_count(model.config.num_classes, "model.config.num_classes")
    check_tensor(images, "images", "B", "C", "H", "W")
    B, N = len(images), math.prod(model.patch_embed.grid_size)
    check_indices(labels, "labels", B, count=K)
    check_indices(order, "order", B, N, count=N)
    if not (order.sort(dim=1).values == torch.arange(N, device=order.device)).all():
        raise ValueError("order: got a patch twice in a row, expected each once")
    for count in counts:
        check_count(count, "counts", least=0, most=N)
    patch_size = model.patch_embed.patch_size
    answers = []
    with evaluating(model):
        for count in counts:
            masked = mask_patches(images, patch_size, order[:, :count], fill)
            answers.append(model(masked))  # (B, K)
    logits = torch.stack(answers)  # (S, B, K)
    return DeletionCurve(
        logits=logits[:, range(B), labels], correct=logits.argmax(dim=2) == labels
    )
