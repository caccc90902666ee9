"""The least work of a Vision Transformer: its matrix products and nothing else."""

from collections.abc import Callable

import torch
from torch import Tensor

from vit_steps import ViTConfig, token_count


def matrix_products(
    config: ViTConfig, batch_size: int, device: str, dtype: torch.dtype
) -> Callable[[], None]:
    """Return a function that multiplies all the model's matrices, back to back.

    The matrices have the model's shapes, and the products are written into memory that
    is allocated beforehand. There is no norm, softmax, GELU, bias or copy: the time
    that a forward pass needs beyond this is what a better implementation could save.
    """
    B, D, h = batch_size, config.embed_dim, config.num_heads
    N = token_count(config.image_size, config.patch_size)
    T, d, M = N + 1, D // h, int(config.mlp_ratio * D)
    P, C, K = config.patch_size, config.in_channels, config.num_classes
    assert isinstance(P, int)

    def random(*shape: int) -> Tensor:
        return torch.randn(shape, device=device, dtype=dtype)

    def product(*left: int, columns: int) -> tuple[Tensor, Tensor, Tensor]:
        batch = left[:-2]
        right = random(*batch, left[-1], columns)
        return random(*left), right, random(*left[:-1], columns)

    embed = product(B * N, C * P * P, columns=D)
    head = product(B, D, columns=K)
    # Each block has its own weights, so it gets its own matrices here.
    blocks = [
        (
            product(B * T, D, columns=3 * D),
            product(B * h, T, d, columns=T),
            product(B * h, T, T, columns=d),
            product(B * T, D, columns=D),
            product(B * T, D, columns=M),
            product(B * T, M, columns=D),
        )
        for _ in range(config.depth)
    ]

    def multiply() -> None:
        with torch.inference_mode():
            torch.matmul(embed[0], embed[1], out=embed[2])
            for block in blocks:
                for left, right, out in block:
                    torch.matmul(left, right, out=out)
            torch.matmul(head[0], head[1], out=head[2])

    return multiply
