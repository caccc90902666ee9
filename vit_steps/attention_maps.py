"""What a Vision Transformer looks at: maps of its attention, and how to test them.

The ``weights`` are the second thing that ``encode(images, need_weights=True)`` returns,
one (B, h, T, T) a block. In front of the patches stand ``num_prefix_tokens``; a model
knows its own. ``grid_size`` is rows and columns of patches, ``patch_size`` pixels; an
int is a square. The model runs again only in ``deletion_curve``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from vit_steps.patch_embedding import patchify
from vit_steps.sizes import Size, as_pair, patch_grid
from vit_steps.vision_transformer import VisionTransformer


def class_token_attention(
    weights: Sequence[Tensor], num_prefix_tokens: int = 1
) -> Tensor:
    """What the class token pays to each patch, in every block and head.

    Shape: L of (B, h, T, T) -> (B, L, h, N), summing to 1 over the patches
    Raises: ValueError if the weights are none, or not all (B, h, T, T).
    """
    blocks = [
        class_token_to_patches(block, num_prefix_tokens)
        for block in checked_weights(weights)
    ]
    return torch.stack(blocks, dim=1)  # (B, L, h, N)


def class_token_to_patches(attention: Tensor, num_prefix_tokens: int = 1) -> Tensor:
    """The class token's row of an attention matrix or a rollout, patches only.

    Its own share is left out and the rest divided by its sum. Where the class token
    pays the patches nothing at all, the row is zeros. How many tokens come before the
    patches, a matrix cannot tell: a model says it in its ``num_prefix_tokens``.

    Shape: (..., T, T) -> (..., N)
    Raises: ValueError if the matrices are not square, or hold no class token or no
        patch.
    """
    check_square(attention, "attention", "(..., T, T)")
    T = attention.shape[-1]
    if not 1 <= num_prefix_tokens < T:
        raise ValueError(
            f"num_prefix_tokens: got {num_prefix_tokens}, expected 1, the class token, "
            f"to {T - 1} of {T} tokens"
        )
    return as_shares(attention[..., 0, num_prefix_tokens:])  # (..., N)


def attention_rollout(weights: Sequence[Tensor], residual: float = 0.5) -> Tensor:
    """How much of each input token is in each output token, if attention were all.

    Attention rollout, arXiv 2005.00928, section 3: a block passes on its attention,
    averaged over the heads, and what its residual connection carries,
    Â = residual·I + (1 - residual)·A; the rollout is Â_L ··· Â_2 Â_1. Values, MLPs and
    the heads' differences do not enter. ``class_token_to_patches`` of it is the map of
    arXiv 2010.11929, figure 6 and appendix D.8.

    Shape: L of (B, h, T, T) -> (B, T, T), rows summing to 1: output token, input token
    Raises: ValueError if the weights are none, or not all (B, h, T, T), or ``residual``
        is out of range.
    """
    if not 0.0 <= residual <= 1.0:
        raise ValueError(f"residual: got {residual}, expected 0 <= residual <= 1")
    blocks = checked_weights(weights)
    identity = torch.eye(blocks[0].shape[-1]).to(blocks[0])  # (T, T)
    rollout = identity
    for block in blocks:
        mixed = residual * identity + (1.0 - residual) * block.mean(dim=1)  # (B, T, T)
        rollout = mixed @ rollout  # (B, T, T): the later block on the left
    return rollout


def attention_distance(
    weights: Sequence[Tensor],
    grid_size: Size,
    patch_size: Size = 1,
    num_prefix_tokens: int = 1,
) -> Tensor:
    """How far each head looks: the mean distance to what a patch attends to.

    From centre to centre, weighted by attention, averaged over patches and images
    (arXiv 2010.11929, section 4.5, figure 7 right and appendix D.7). The class token
    is nowhere, so it is left out, and each patch's attention divided by the rest.

    Shape: L of (B, h, T, T) -> (L, h), in pixels; in patches if ``patch_size`` is 1
    Raises: ValueError if the weights are none, or not all (B, h, T, T), or their T is
        not that of the grid.
    """
    blocks = checked_weights(weights)
    rows, columns = as_pair(grid_size, "grid_size")
    T = blocks[0].shape[-1]
    if T != num_prefix_tokens + rows * columns:
        raise ValueError(
            f"weights: got {T} tokens, expected {num_prefix_tokens + rows * columns}, "
            f"{rows}×{columns} patches and {num_prefix_tokens} in front of them"
        )
    distances = _distances(grid_size, patch_size).to(blocks[0])  # (N, N)
    means = []
    for block in blocks:
        between_patches = block[..., num_prefix_tokens:, num_prefix_tokens:]
        shares = as_shares(between_patches)  # (B, h, N, N)
        distance = (shares * distances).sum(dim=-1)  # (B, h, N)
        means.append(distance.mean(dim=(0, 2)))  # (h,)
    return torch.stack(means)  # (L, h)


def uniform_distance(grid_size: Size, patch_size: Size = 1) -> float:
    """The ``attention_distance`` of a head that attends to all patches equally."""
    return _distances(grid_size, patch_size).mean().item()


def position_similarity(pos_embed: Tensor, grid_size: Size) -> Tensor:
    """Cosine similarity of the patches' positions, each with each.

    ``similarity[row, column]`` is a picture of the grid: how alike the position of that
    patch is to every other (arXiv 2010.11929, section 4.5 and figure 7, centre). The
    class token's, which is the first, is left out.

    Shape: (1, 1 + N, D) -> (rows, columns, rows, columns), from -1 to 1
    Raises: ValueError if the shape is another, or does not fit the grid.
    """
    rows, columns = as_pair(grid_size, "grid_size")
    places = rows * columns
    if pos_embed.ndim != 3 or pos_embed.shape[:2] != (1, 1 + places):
        raise ValueError(
            f"pos_embed: got shape {tuple(pos_embed.shape)}, expected "
            f"(1, {1 + places}, D): the class token and {rows}×{columns} patches"
        )
    directions = F.normalize(pos_embed[0, 1:].detach(), dim=-1)  # (N, D)
    similarity = directions @ directions.T  # (N, N)
    return similarity.reshape(rows, columns, rows, columns)


def patch_filters(model: VisionTransformer, count: int | None = None) -> Tensor:
    """The patch embedding's D filters in their principal components, as pictures.

    Sorted by the variance they explain, each of length 1, its largest number positive;
    their mean is taken off first (arXiv 2010.11929, section 4.5 and figure 7, left).
    The filters themselves are ``model.patch_embed.proj.weight``. If ``count`` is None,
    these are all components, the smaller of D - 1 and C·P·P.

    Shape: -> (count, C, P, P)
    Raises: ValueError if there are fewer components than ``count``.
    """
    filters = model.patch_embed.proj.weight.detach()  # (D, C, P, P)
    available = min(len(filters) - 1, filters[0].numel())
    count = available if count is None else count
    if not 1 <= count <= available:
        raise ValueError(f"count: got {count}, expected 1 to {available}")
    rows = filters.flatten(1)  # (D, C·P·P)
    components = torch.linalg.svd(rows - rows.mean(dim=0), full_matrices=False).Vh
    components = components[:count]  # (count, C·P·P)
    largest = components.gather(1, components.abs().argmax(dim=1, keepdim=True))
    return (components * largest.sign()).reshape(count, *filters.shape[1:])


def patch_brightness(images: Tensor, patch_size: Size) -> Tensor:
    """Each patch's share of the picture's brightness: a baseline that has no model.

    All channels count equally, before normalisation. A black picture gives all its
    patches the same.

    Shape: (B, C, H, W) -> (B, N), summing to 1
    Raises: ValueError if a pixel is negative, or the images do not fit the patches.
    """
    patches = patchify(images, patch_size)  # (B, N, C·P·P)
    if patches.numel() and patches.min() < 0:
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
    """How much of the attention falls into each image's box.

    A patch that the box cuts counts by the share of its area inside. Attention that is
    the same everywhere scores the box's share of the image.

    Args:
        attention: paid to each patch, summing to 1; what stands between the first axis
            and the last (blocks, heads) is kept.
        boxes: top, left, bottom, right in pixels, one row an image; bottom and right
            are the first pixels outside.

    Shape: attention (B, ..., N), boxes (B, 4) -> (B, ...)
    Raises: ValueError if a shape does not fit, or a box is empty or not inside.
    """
    H, W = as_pair(image_size, "image_size")
    height, width = as_pair(patch_size, "patch_size")
    rows, columns = patch_grid(image_size, patch_size)
    N = rows * columns
    if attention.ndim < 2 or attention.shape[-1] != N:
        raise ValueError(
            f"attention: got shape {tuple(attention.shape)}, expected (B, ..., {N}) "
            f"for {rows}×{columns} patches"
        )
    B = len(attention)
    if boxes.shape != (B, 4):
        raise ValueError(f"boxes: got shape {tuple(boxes.shape)}, expected ({B}, 4)")
    boxes = boxes.to(attention)
    check_boxes(boxes, H, W)
    top, left, bottom, right = boxes.unbind(dim=1)  # (B,) each
    in_rows = overlap(top, bottom, rows, height)  # (B, rows)
    in_columns = overlap(left, right, columns, width)  # (B, columns)
    share = in_rows[:, :, None] * in_columns[:, None, :]  # (B, rows, columns)
    share = share.reshape(B, *[1] * (attention.ndim - 2), N)  # (B, 1 ..., N)
    return (attention * share).sum(dim=-1)  # (B, ...)


def mask_patches(
    images: Tensor,
    patch_size: Size,
    indices: Tensor,
    fill: float | Sequence[float] | Tensor = 0.0,
) -> Tensor:
    """Take patches out of images: each is replaced by ``fill``.

    Args:
        indices: for each image the patches to take out, counted row by row.
        fill: a number, one for each channel, or a picture (C, H, W) to see in their
            place, such as the mean of the training images; (B, C, H, W) for one each.

    Shape: images (B, C, H, W), indices (B, k) -> (B, C, H, W)
    Raises: ValueError if a shape does not fit, or there is no such patch.
    """
    if images.ndim != 4 or not torch.is_floating_point(images):
        raise ValueError(
            f"images: got shape {tuple(images.shape)} of {images.dtype}, "
            "expected (B, C, H, W) of floating point"
        )
    B, C, H, W = images.shape
    height, width = as_pair(patch_size, "patch_size")
    rows, columns = patch_grid((H, W), patch_size)
    if indices.ndim != 2 or len(indices) != B or indices.dtype != torch.long:
        raise ValueError(
            f"indices: got shape {tuple(indices.shape)} of {indices.dtype}, "
            f"expected ({B}, k) of torch.int64"
        )
    if indices.numel() and not 0 <= indices.min() <= indices.max() < rows * columns:
        raise ValueError(
            f"indices: got {indices.min()} to {indices.max()}, "
            f"expected 0 to {rows * columns - 1}"
        )
    fill = torch.as_tensor(fill).to(images)
    if fill.shape == (C,):
        fill = fill[:, None, None]  # (C, 1, 1)
    elif fill.ndim and fill.shape not in (images.shape, images.shape[1:]):
        raise ValueError(
            f"fill: got shape {tuple(fill.shape)}, expected a number, "
            f"({C},), ({C}, {H}, {W}) or ({B}, {C}, {H}, {W})"
        )
    hidden = torch.zeros(B, rows * columns, dtype=torch.bool, device=images.device)
    hidden = hidden.scatter(1, indices, True)  # (B, N)
    hidden = hidden.reshape(B, 1, rows, columns)
    hidden = hidden.repeat_interleave(height, 2).repeat_interleave(width, 3)
    return torch.where(hidden, fill, images)  # hidden is (B, 1, H, W)


@dataclass(frozen=True)
class DeletionCurve:
    """What a model makes of images from which patches are taken; S steps."""

    logits: Tensor  # (S, B), the true class's
    correct: Tensor  # (S, B), whether the true class is the model's first

    @property
    def accuracy(self) -> Tensor:
        """(S,): share of images that are classified right."""
        return self.correct.float().mean(dim=1)


def deletion_curve(
    model: VisionTransformer,
    images: Tensor,
    labels: Tensor,
    order: Tensor,
    counts: Sequence[int],
    fill: float | Sequence[float] | Tensor = 0.0,
) -> DeletionCurve:
    """Test a map by taking away: mask the first patches of ``order``, ask the model.

    If a map names the patches that matter, the true class falls faster than with
    patches named at random (region perturbation, arXiv 1509.06321). With ``attention``
    (B, N) the order is ``attention.argsort(dim=1, descending=True, stable=True)``.

    Args:
        order: (B, N), each image's patches, the first to be masked first.
        counts: how many to mask at each step, such as ``[0, 4, 8, 16]``.
        fill: what to see in their place, as in ``mask_patches``.

    Shape: images (B, C, H, W), labels (B,), order (B, N) -> S = len(counts) steps
    Raises: ValueError if the model is training, a shape does not fit, or a count or a
        label is out of range.
    """
    if model.training:
        raise ValueError("model: got one in training mode, expected model.eval()")
    rows, columns = model.patch_embed.grid_size
    B, N = len(images), rows * columns
    every_patch = torch.arange(N, device=order.device)
    is_order = order.shape == (B, N) and order.dtype == torch.long
    if not is_order or not (order.sort(dim=1).values == every_patch).all():
        raise ValueError(
            f"order: got shape {tuple(order.shape)} of {order.dtype}, expected "
            f"({B}, {N}) of torch.int64, each patch from 0 to {N - 1} once in a row"
        )
    K = model.config.num_classes
    are_labels = labels.shape == (B,) and labels.dtype == torch.long
    if not are_labels or not ((labels >= 0) & (labels < K)).all():
        raise ValueError(
            f"labels: got shape {tuple(labels.shape)} of {labels.dtype}, expected "
            f"({B},) of torch.int64, classes from 0 to {K - 1}"
        )
    if not counts or not all(0 <= count <= N for count in counts):
        raise ValueError(f"counts: got {counts}, expected some from 0 to {N}")
    scores = []
    for count in counts:
        patch_size = model.patch_embed.patch_size
        masked = mask_patches(images, patch_size, order[:, :count], fill)
        with torch.no_grad():
            scores.append(model(masked))  # (B, K)
    logits, true = torch.stack(scores), labels[:, None]  # (S, B, K), (B, 1)
    return DeletionCurve(
        logits.take_along_dim(true[None], dim=2).squeeze(2),
        logits.argmax(dim=2) == labels,
    )


def checked_weights(weights: Sequence[Tensor]) -> list[Tensor]:
    """The weights of all blocks, in float32 or better."""
    if weights is None or len(weights) == 0 or any(w is None for w in weights):
        raise ValueError(
            "weights: got none, expected one (B, h, T, T) a block; "
            "call encode(images, need_weights=True)"
        )
    for index, block in enumerate(weights):
        shape = tuple(block.shape) if isinstance(block, Tensor) else type(block)
        got = f"weights: got {shape} at {index}"
        if not isinstance(block, Tensor) or block.ndim != 4:
            raise ValueError(
                f"{got}, expected one (B, h, T, T) a block; they are the second thing "
                "that encode returns"
            )
        check_square(block, "weights", "(B, h, T, T)")
        if block.shape != weights[0].shape:
            raise ValueError(f"{got}, expected {tuple(weights[0].shape)} as at 0")
    dtype = torch.promote_types(weights[0].dtype, torch.float32)
    return [block.to(dtype) for block in weights]


def check_square(attention: Tensor, name: str, expected: str) -> None:
    """Raise ValueError if attention is not T × T with a class token and a patch."""
    shape = tuple(attention.shape)
    if len(shape) < 2 or shape[-1] != shape[-2] or shape[-1] < 2:
        raise ValueError(
            f"{name}: got shape {shape}, expected {expected}, "
            "square, with the class token and at least one patch"
        )


def check_boxes(boxes: Tensor, H: int, W: int) -> None:
    """Raise ValueError if one of (B, 4) boxes is empty, or not inside H × W pixels."""
    top, left, bottom, right = boxes.unbind(dim=1)  # (B,) each
    inside = (top >= 0) & (top < bottom) & (bottom <= H)
    inside &= (left >= 0) & (left < right) & (right <= W)
    if not inside.all():
        first = int(inside.logical_not().nonzero()[0])
        raise ValueError(
            f"boxes: got {boxes[first].tolist()} for image {first}, expected top, "
            f"left, bottom, right of an area inside {H}×{W}"
        )


def as_shares(amounts: Tensor) -> Tensor:
    """Divide by the sum over the last axis; where that is zero, zeros."""
    total = amounts.sum(dim=-1, keepdim=True)
    return amounts / total.clamp_min(torch.finfo(amounts.dtype).tiny)


def _distances(grid_size: Size, patch_size: Size) -> Tensor:
    """From each patch's centre to each other's: (N, N), in pixels."""
    rows, columns = as_pair(grid_size, "grid_size")
    height, width = as_pair(patch_size, "patch_size")
    centres = torch.cartesian_prod(
        torch.arange(rows, dtype=torch.float64) * height,
        torch.arange(columns, dtype=torch.float64) * width,
    )  # (N, 2)
    return (centres[:, None] - centres).norm(dim=-1)  # (N, N)


def overlap(start: Tensor, end: Tensor, number: int, length: int) -> Tensor:
    """Share of each of ``number`` stretches that lies between: (B,) -> (B, number)."""
    first = torch.arange(number).to(start) * length  # (number,)
    last = torch.minimum(end[:, None], first + length)  # (B, number)
    covered = last - torch.maximum(start[:, None], first)
    return covered.clamp_min(0) / length
