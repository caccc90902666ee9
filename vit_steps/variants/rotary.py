"""Rotary positions: queries and keys are turned by angles that say where they are."""

import math

import torch
from torch import Tensor

from vit_steps.sizes import Size, as_pair, check_choice

# How the place of a patch becomes a number: from -1 to 1, or by counting.
COORDINATES = ("normalised", "indexed")


def rope_angles(
    grid_size: tuple[int, int],
    head_dim: int,
    base: float = 100.0,
    coordinates: str = "normalised",
    reference: Size | None = None,
    device: torch.device | None = None,
) -> Tensor:
    """Return by how much each pair of numbers turns, for every patch of a grid.

    A head of d numbers has d/2 pairs. The first half of them turns with the row of a
    patch, the second half with its column, and the periods grow in each half from 1
    towards ``base``, so that some pairs tell neighbours apart and others halves of the
    image. The pairs and their order are those of DINOv3 (arXiv 2508.10104).

    Args:
        coordinates: "normalised" are the centres of the patches in an image that
            reaches from -1 to 1, as in DINOv3; a period is a whole turn. "indexed" are
            the numbers of row and column, as in EVA-02 (arXiv 2303.11331, base 10000)
            and RoPE-ViT (2403.13298, base 100); a period is a turn by one radian.
        reference: rows and columns of the grid that a model with indexed coordinates
            was trained on. Another grid is squeezed or stretched to fit it.

    Shape: -> (N, d/2), in radians
    Raises: ValueError if d is not a positive multiple of 4, or ``coordinates`` is
        something else.
    """
    if head_dim < 4 or head_dim % 4:
        raise ValueError(f"head_dim: got {head_dim}, expected a positive multiple of 4")
    check_choice(coordinates, "coordinates", COORDINATES)
    rows, columns = grid_size
    steps = torch.arange(head_dim // 4, device=device) / (head_dim // 4)
    frequencies = base**-steps  # (d/4,)
    if coordinates == "normalised":
        frequencies = 2 * math.pi * frequencies
    trained = grid_size if reference is None else as_pair(reference, "reference")

    def angles(length: int, trained_length: int) -> Tensor:
        place = torch.arange(length, device=device)
        if coordinates == "normalised":
            place = (2 * place + 1) / length - 1  # centres of the patches
        else:
            place = place * (trained_length / length)
        return place[:, None] * frequencies  # (length, d/4)

    by_row = angles(rows, trained[0])[:, None].expand(-1, columns, -1)
    by_column = angles(columns, trained[1])[None].expand(rows, -1, -1)
    return torch.cat([by_row, by_column], dim=2).flatten(0, 1)  # (N, d/2)


def apply_rope(x: Tensor, angles: Tensor) -> Tensor:
    """Turn the pairs of queries or keys: arXiv 2104.09864, equation 34.

    The first number of a pair is in the first half of the head, the second at the same
    place of the other half. The dot product of a query and a key that were both turned
    depends on the difference of their angles alone.

    Shape: x (..., T, d), angles (T, d/2) -> (..., T, d), in the dtype of ``x``
    """
    cos, sin = angles.cos(), angles.sin()  # (T, d/2)
    first, second = x.chunk(2, dim=-1)  # (..., T, d/2)
    turned = (first * cos - second * sin, second * cos + first * sin)
    return torch.cat(turned, dim=-1).to(x.dtype)  # (..., T, d)
