"""What a Vision Transformer costs: tokens, parameters, multiply-accumulates, bytes.

A multiply-accumulate (MAC) is one multiplication and one addition. Papers often print
MACs under the name FLOPs; a FLOP counter shows twice the number. Counted here are the
matrix products, nearly all of the arithmetic; norms, softmax, GELU, additions and
biases are left out.
"""

from dataclasses import dataclass

from vit_steps.sizes import Size, as_pair, check_count, check_heads, patch_grid


def token_count(image_size: Size, patch_size: Size) -> int:
    """Number of patch tokens: N = (H / P) · (W / P).

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
    all_heads_bytes: int  # h of them
    matmul_macs: int  # q kᵀ, and the attention weights with v: quadratic in T
    projection_macs: int  # q, k, v and the output projection: linear in T


def attention_cost(
    num_tokens: int, embed_dim: int, num_heads: int = 1, bytes_per_number: int = 4
) -> AttentionCost:
    """Cost of one self-attention layer for one image of ``num_tokens`` tokens (T).

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
    shape: tuple[int, ...]  # of what comes out, without the batch
    parameters: int = 0  # of one block
    macs: int = 0  # of one block
    repeat: int = 1  # blocks that it occurs in

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
    attention_macs: int  # those of ``macs`` that are quadratic in T, of all blocks

    @property
    def parameters(self) -> int:
        return sum(step.total_parameters for step in self.steps)

    @property
    def macs(self) -> int:
        return sum(step.total_macs for step in self.steps)


def model_cost(
    *,
    image_size: Size = 224,
    patch_size: Size = 16,
    in_channels: int = 3,
    num_classes: int = 1000,
    embed_dim: int = 768,
    depth: int = 12,
    num_heads: int = 12,
    mlp_ratio: float = 4.0,
    qkv_bias: bool = True,
    representation_size: int | None = None,
    layer_scale: float | None = None,
    num_prefix_tokens: int = 1,
) -> ModelCost:
    """Shape, parameters and MACs of every step of a Vision Transformer, for one image.

    The arguments are those of ``ViTConfig``. ``num_prefix_tokens`` come before the
    patches, each with a position: the class token, and in some variants others.

    Raises: ValueError if an argument is out of range, or two do not fit each other.
    """
    rows, columns = patch_grid(image_size, patch_size)
    check_heads(embed_dim, num_heads)
    check_count(in_channels, "in_channels")
    if num_classes != 0:  # no head
        check_count(num_classes, "num_classes")
    check_count(depth, "depth")
    N, D, h, K = rows * columns, embed_dim, num_heads, num_classes
    T, M = num_prefix_tokens + N, int(D * mlp_ratio)
    if M < 1:
        raise ValueError(f"mlp_ratio: got {mlp_ratio}, expected at least 1 / embed_dim")
    attention = attention_cost(num_tokens=T, embed_dim=D, num_heads=h)
    product = attention.matmul_macs // 2  # q with kᵀ; weights with v take as much
    patch_height, patch_width = as_pair(patch_size, "patch_size")
    patch_numbers = in_channels * patch_height * patch_width
    qkv = 3 * D * D
    scale = 0 if layer_scale is None else D
    features = D if representation_size is None else representation_size

    steps = [
        Step("image", (in_channels, rows * patch_height, columns * patch_width)),
        Step("patch_embed.proj", (N, D), patch_numbers * D + D, N * patch_numbers * D),
        Step("cls_token", (T, D), num_prefix_tokens * D),
        Step("pos_embed", (T, D), T * D),
        Step("norm1", (T, D), 2 * D, repeat=depth),
        Step(
            "attn.qkv", (3, h, T, D // h), qkv + 3 * D * qkv_bias, T * qkv, repeat=depth
        ),
        Step("attn: softmax(q k^T)", (h, T, T), macs=product, repeat=depth),
        Step("attn: weights v", (h, T, D // h), macs=product, repeat=depth),
        Step("attn.proj", (T, D), D * D + D + scale, T * D * D, repeat=depth),
        Step("norm2", (T, D), 2 * D, repeat=depth),
        Step("mlp.fc1", (T, M), D * M + M, T * D * M, repeat=depth),
        Step("mlp.fc2", (T, D), M * D + D + scale, T * M * D, repeat=depth),
        Step("norm", (T, D), 2 * D),
        Step("class token out", (D,)),
    ]
    if representation_size is not None:
        check_count(representation_size, "representation_size")
        steps.append(
            Step("pre_logits", (features,), D * features + features, D * features)
        )
    steps.append(Step("head", (K or features,), features * K + K, features * K))
    return ModelCost(tuple(steps), attention_macs=depth * attention.matmul_macs)
