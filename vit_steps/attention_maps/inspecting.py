"""The parts of arXiv 2010.11929, figure 7: distances, positions and filters."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from vit_steps.attention_maps.maps import as_floats, as_shares, check_weights
from vit_steps.sizes import Size, as_pair, check_count
from vit_steps.tensors import check_tensor
from vit_steps.vision_transformer import VisionTransformer


def attention_distance(
    weights: Sequence[Tensor],
    grid_size: Size,
    patch_size: Size = 1,
    num_prefix_tokens: int = 1,
) -> Tensor:
    """Return the mean distance from a patch to what it attends to, for each head.

    From centre to centre, weighted by attention, averaged over patches and images
    (arXiv 2010.11929, section 4.5, figure 7 right and appendix D.7). The class token
    has no place in the image: its share is left out, the others divided by their sum.

    Shape: L of (B, h, T, T) -> (L, h), in pixels; in patches if ``patch_size`` is 1
    Raises: ValueError if the weights are none, or not all (B, h, T, T) with the T of
        the grid and the tokens in front of it.
    """
    distances = patch_distances(grid_size, patch_size)  # (N, N)
    first = check_count(num_prefix_tokens, "num_prefix_tokens", least=0)
    blocks = check_weights(weights, tokens=first + len(distances))
    distances = distances.to(blocks[0])
    means = []
    for block in blocks:
        shares = as_shares(block[..., first:, first:])  # (B, h, N, N)
        distance = (shares * distances).sum(dim=-1)  # (B, h, N)
        means.append(distance.mean(dim=(0, 2)))  # (h,)
    return torch.stack(means)  # (L, h)


def uniform_distance(grid_size: Size, patch_size: Size = 1) -> float:
    """Return the ``attention_distance`` of a head whose weights are all equal."""
    return patch_distances(grid_size, patch_size).mean().item()


def patch_distances(grid_size: Size, patch_size: Size) -> Tensor:
    """Return the distances between the centres of all patches: (N, N), in pixels."""
    rows, columns = as_pair(grid_size, "grid_size")
    height, width = as_pair(patch_size, "patch_size")
    centres = torch.cartesian_prod(
        torch.arange(rows, dtype=torch.float64) * height,
        torch.arange(columns, dtype=torch.float64) * width,
    )  # (N, 2)
    return (centres[:, None] - centres).norm(dim=-1)  # (N, N)


def position_similarity(pos_embed: Tensor, grid_size: Size) -> Tensor:
    """Return the cosine similarity of each patch's position with every other's.

    ``similarity[row, column]`` is a picture of the grid, with the similarities of the
    position in that row and column (arXiv 2010.11929, section 4.5 and figure 7,
    centre). The class token's position, which is the first, is left out.

    Shape: (1, 1 + N, D) -> (rows, columns, rows, columns), from -1 to 1
    Raises: ValueError if the shape is different, or does not fit the grid.
    """
    rows, columns = as_pair(grid_size, "grid_size")
    check_tensor(pos_embed, "pos_embed", 1, 1 + rows * columns, "D")
    directions = F.normalize(pos_embed[0, 1:].detach(), dim=-1)  # (N, D)
    similarity = directions @ directions.T  # (N, N)
    return similarity.reshape(rows, columns, rows, columns)


def patch_filters(model: VisionTransformer, count: int | None = None) -> Tensor:
    """Return the principal components of the patch embedding's D filters, as pictures.

    They are sorted by the variance that they explain, each has length 1, and its number
    of largest size is positive; the mean of the filters is subtracted first (arXiv
    2010.11929, section 4.5 and figure 7, left). Without ``count`` all components are
    returned, D - 1 or C·P·P, whichever is smaller.

    Shape: -> (count, C, P, P)
    Raises: ValueError if there are fewer components than ``count``.
    """
    filters = model.patch_embed.proj.weight.detach()  # (D, C, P, P)
    available = min(len(filters) - 1, filters[0].numel())
    count = check_count(available if count is None else count, "count", most=available)
    rows = as_floats(filters.flatten(1))  # (D, C·P·P); svd takes no 16-bit numbers
    components = torch.linalg.svd(rows - rows.mean(dim=0), full_matrices=False).Vh
    components = components[:count]  # (count, C·P·P)
    largest = components.gather(1, components.abs().argmax(dim=1, keepdim=True))
    return (components * largest.sign()).reshape(count, *filters.shape[1:])
