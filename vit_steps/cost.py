"""The cost of a Vision Transformer: tokens, parameters, multiply-accumulates, bytes.

A multiply-accumulate (MAC) is one multiplication and one addition. Papers often print
MACs under the name FLOPs; a FLOP counter shows twice the number. Only the matrix
products are counted, which are nearly all of the arithmetic; norms, softmax, GELU,
additions and biases are not.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vit_steps.sizes import Size, as_pair, check_count, check_heads, patch_grid

if TYPE_CHECKING:
    from vit_steps.vision_transformer import ViTConfig


def token_count(image_size: Size, patch_size: Size) -> int:
    """Return the number of patch tokens: N = (H / P) · (W / P).

    The class token, which makes it T = N + 1, is not counted. Sizes are pixels, an int
    for a square or a (height, width).

    Raises: ValueError if a size is not positive, or the patches do not fill the image.
    """
    rows, columns = patch_grid(image_size, patch_size)
    return rows * columns


@dataclass(frozen=True)
class AttentionCost:
    """Cost of one self-attention layer for one image."""

    matrix_bytes: int  # one head's T × T matrix
    all_heads_bytes: int  # the matrices of all h heads
    matmul_macs: int  # q kᵀ, and the attention weights with v: quadratic in T
    projection_macs: int  # q, k, v and the output projection: linear in T


def attention_cost(
    num_tokens: int, embed_dim: int, num_heads: int = 1, bytes_per_number: int = 4
) -> AttentionCost:
    """Return the cost of one self-attention layer for an image of T tokens.

    ``matmul_macs`` is 2·T²·D, however many heads share the D; ``projection_macs`` is
    4·T·D². ``bytes_per_number`` is 4 for float32, 2 for bfloat16.

    Raises: ValueError if a number is below 1, or ``num_heads`` does not divide
        ``embed_dim``.
    """
    check_count(num_tokens, "num_tokens")
    check_heads(embed_dim, num_heads)
    check_count(bytes_per_number, "bytes_per_number")
    T, D, h = num_tokens, embed_dim, num_heads
    return AttentionCost(
        matrix_bytes=T * T * bytes_per_number,
        all_heads_bytes=h * T * T * bytes_per_number,
        matmul_macs=2 * T * T * D,  # q with kᵀ, and the attention weights with v
        projection_macs=4 * T * D * D,  # to q, k and v, and the output projection
    )


@dataclass(frozen=True)
class Step:
    """One step of the model, for one image."""

    name: str
    shape: tuple[int, ...]  # of the step's output, without the batch axis
    parameters: int = 0  # of one block
    macs: int = 0  # of one block
    repeat: int = 1  # number of blocks that have this step

    @property
    def total_parameters(self) -> int:
        return self.repeat * self.parameters

    @property
    def total_macs(self) -> int:
        return self.repeat * self.macs


@dataclass(frozen=True)
class ModelCost:
    """Every step of a Vision Transformer with its cost, and the sums over them."""

    steps: tuple[Step, ...]
    attention_macs: int  # the part of ``macs`` that is quadratic in T, of all blocks

    @property
    def parameters(self) -> int:
        return sum(step.total_parameters for step in self.steps)

    @property
    def macs(self) -> int:
        return sum(step.total_macs for step in self.steps)


def model_cost(config: "ViTConfig") -> ModelCost:
    """Return shape, parameters and MACs of every step, for one image.

    Tokens in front of the patches, ``config.num_prefix_tokens`` of them, each have a
    position.
    """
    rows, columns = patch_grid(config.image_size, config.patch_size)
    patch_height, patch_width = as_pair(config.patch_size, "patch_size")
    D, h, K, L = config.embed_dim, config.num_heads, config.num_classes, config.depth
    N = rows * columns
    T = config.num_prefix_tokens + N
    M = int(D * config.mlp_ratio)
    attention = attention_cost(num_tokens=T, embed_dim=D, num_heads=h)
    product = attention.matmul_macs // 2  # q with kᵀ; weights with v take as much
    patch_numbers = config.in_channels * patch_height * patch_width
    image = (config.in_channels, rows * patch_height, columns * patch_width)
    qkv = 3 * D * D
    qkv_bias = 3 * D if config.qkv_bias else 0
    scale = 0 if config.layer_scale is None else D
    features = config.representation_size or D

    steps = [
        Step("image", image),
        Step("patch_embed.proj", (N, D), patch_numbers * D + D, N * patch_numbers * D),
        Step("cls_token", (T, D), config.num_prefix_tokens * D),
        Step("pos_embed", (T, D), T * D),
        Step("norm1", (T, D), 2 * D, repeat=L),
        Step("attn.qkv", (3, h, T, D // h), qkv + qkv_bias, T * qkv, repeat=L),
        Step("attn: softmax(q k^T)", (h, T, T), macs=product, repeat=L),
        Step("attn: weights v", (h, T, D // h), macs=product, repeat=L),
        Step("attn.proj", (T, D), D * D + D + scale, T * D * D, repeat=L),
        Step("norm2", (T, D), 2 * D, repeat=L),
        Step("mlp.fc1", (T, M), D * M + M, T * D * M, repeat=L),
        Step("mlp.fc2", (T, D), M * D + D + scale, T * M * D, repeat=L),
        Step("norm", (T, D), 2 * D),
        Step("class token out", (D,)),
    ]
    if config.representation_size is not None:
        weights = D * features
        steps.append(Step("pre_logits", (features,), weights + features, weights))
    steps.append(Step("head", (K or features,), features * K + K, features * K))
    return ModelCost(tuple(steps), attention_macs=L * attention.matmul_macs)
