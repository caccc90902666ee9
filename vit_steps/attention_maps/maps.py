"""Maps of the class token's attention, block by block and through all blocks."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from vit_steps.sizes import check_count, check_number
from vit_steps.tensors import check_tensor


def class_token_attention(
    weights: Sequence[Tensor], num_prefix_tokens: int = 1
) -> Tensor:
    """Return the class token's attention to each patch, in every block and head.

    Shape: L of (B, h, T, T) -> (B, L, h, N), summing to 1 over the patches
    Raises: ValueError if there are no weights, or they are not all (B, h, T, T).
    """
    blocks = [
        class_token_to_patches(block, num_prefix_tokens)
        for block in check_weights(weights)
    ]
    return torch.stack(blocks, dim=1)  # (B, L, h, N)


def class_token_to_patches(attention: Tensor, num_prefix_tokens: int = 1) -> Tensor:
    """Return the class token's row of an attention matrix or a rollout, patches only.

    The shares of the tokens in front of the patches are left out, and the others are
    divided by their sum. If the class token attends to no patch, all are zero.

    Shape: (..., T, T) -> (..., N)
    Raises: ValueError if the matrices are not square, or have no class token or no
        patch.
    """
    check_tensor(attention, "attention", "...", "T", "T")
    check_count(num_prefix_tokens, "num_prefix_tokens", most=attention.shape[-1] - 1)
    return as_shares(attention[..., 0, num_prefix_tokens:])  # (..., N)


def attention_rollout(weights: Sequence[Tensor], residual: float = 0.5) -> Tensor:
    """Return how much of each input token is in each output token, by attention alone.

    Attention rollout, arXiv 2005.00928, section 3: a block passes on its attention,
    averaged over the heads, and what its residual connection carries,
    Â = residual·I + (1 - residual)·A; the rollout is Â_L ··· Â_2 Â_1. Values, MLPs and
    the differences of the heads are left out. ``class_token_to_patches`` of it is the
    map of arXiv 2010.11929, figure 6 and appendix D.8.

    Shape: L of (B, h, T, T) -> (B, T, T), rows summing to 1: output token, input token
    Raises: ValueError if the weights are not all (B, h, T, T), or ``residual`` is not
        from 0 to 1.
    """
    check_number(residual, "residual", least=0, most=1)
    blocks = check_weights(weights)
    rollout = identity = torch.eye(blocks[0].shape[-1]).to(blocks[0])  # (T, T)
    for block in blocks:
        mixed = residual * identity + (1.0 - residual) * block.mean(dim=1)  # (B, T, T)
        rollout = mixed @ rollout  # (B, T, T): the later block on the left
    return rollout


def check_weights(weights: Sequence[Tensor], tokens: int | str = "T") -> list[Tensor]:
    """Return all weights in float32 or better; ValueError unless all (B, h, T, T)."""
    blocks: list[Any] = list(weights) or [None]
    shape: tuple[int | str, ...] = ("B", "h", tokens, tokens)
    note = "; the second result of encode(images, need_weights=True) has one a block"
    for index, block in enumerate(blocks):
        check_tensor(block, f"weights[{index}]", *shape, note=note)
        shape = block.shape  # all blocks must have the first one's shape
    return [as_floats(block) for block in blocks]


def as_floats(amounts: Tensor) -> Tensor:
    """Return numbers in float32, or in their own dtype if that is more exact."""
    return amounts.to(torch.promote_types(amounts.dtype, torch.float32))


def as_shares(amounts: Tensor) -> Tensor:
    """Divide amounts by their sum over the last axis; a row of zeros stays zero."""
    amounts = as_floats(amounts)
    total = amounts.sum(dim=-1, keepdim=True)
    return amounts / total.clamp_min(torch.finfo(amounts.dtype).tiny)
