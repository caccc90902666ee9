import torch

from tests.checks.answers import right, wrong
from vit_steps import VisionTransformer, ViTConfig
from vit_steps.cost import model_cost


@right("parameter_count")
def on_paper(H, P, C, K, D, L, M):
    T = 1 + (H // P) ** 2
    block = 4 * D + 4 * D**2 + 4 * D + 2 * D * M + M + D
    return P * P * C * D + D + D + T * D + L * block + 2 * D + D * K + K


@right("parameter_count")
def by_building(
    image_size, patch_size, in_channels, num_classes, embed_dim, depth, hidden_dim
):
    with torch.device("meta"):
        config = ViTConfig(
            image_size,
            patch_size,
            in_channels,
            num_classes,
            embed_dim,
            depth,
            num_heads=2,
            mlp_ratio=hidden_dim / embed_dim,
        )
        return sum(p.numel() for p in VisionTransformer(config).parameters())


@right("parameter_count")
def part_by_part(H, P, C, K, D, L, M):
    linear = lambda ins, outs: ins * outs + outs  # noqa: E731
    count = linear(P * P * C, D) + (2 + (H // P) ** 2) * D
    for _ in range(L):
        count += 2 * D + linear(D, 3 * D) + linear(D, D)
        count += 2 * D + linear(D, M) + linear(M, D)
    return count + 2 * D + linear(D, K)


@wrong("parameter_count", "no biases")
def matrices_alone(H, P, C, K, D, L, M):
    T = 1 + (H // P) ** 2
    block = 4 * D + 4 * D**2 + 2 * D * M
    return P * P * C * D + D + T * D + L * block + 2 * D + D * K


@wrong("parameter_count", "no qkv bias")
def bias_of_the_projection_alone(H, P, C, K, D, L, M):
    return on_paper(H, P, C, K, D, L, M) - 3 * D * L


@wrong("parameter_count", "no MLP bias")
def matrices_of_the_mlp(H, P, C, K, D, L, M):
    return on_paper(H, P, C, K, D, L, M) - L * (M + D)


@wrong("parameter_count", "MLP biases of D")
def both_of_d(H, P, C, K, D, L, M):
    return on_paper(H, P, C, K, D, L, M) + L * (D - M)


@wrong("parameter_count", "no final norm")
def last_norm_forgotten(H, P, C, K, D, L, M):
    return on_paper(H, P, C, K, D, L, M) - 2 * D


@wrong("parameter_count", "no class token")
def positions_of_patches(H, P, C, K, D, L, M):
    return on_paper(H, P, C, K, D, L, M) - D


@wrong("parameter_count", "always 4")
def four_times(H, P, C, K, D, L, M):
    return on_paper(H, P, C, K, D, L, 4 * D)


@wrong("parameter_count", "three matrices")
def without_projection(H, P, C, K, D, L, M):
    return on_paper(H, P, C, K, D, L, M) - L * (D * D + D)


@wrong("parameter_count", "one norm")
def one_norm_a_block(H, P, C, K, D, L, M):
    return on_paper(H, P, C, K, D, L, M) - L * 2 * D


@wrong("parameter_count", "one channel")
def grey_patches(H, P, C, K, D, L, M):
    return on_paper(H, P, 1, K, D, L, M)


@wrong("parameter_count", "one block")
def one_block(H, P, C, K, D, L, M):
    return on_paper(H, P, C, K, D, 1, M)


@wrong("parameter_count", "float")
def as_a_float(H, P, C, K, D, L, M):
    cost = model_cost(
        ViTConfig(
            image_size=H,
            patch_size=P,
            in_channels=C,
            num_classes=K,
            embed_dim=D,
            depth=L,
            num_heads=1,
            mlp_ratio=M / D,
        )
    )
    return float(cost.parameters)


@wrong("parameter_count", "value")
def ratio_made_whole(H, P, C, K, D, L, M):
    return on_paper(H, P, C, K, D, L, M // D * D)
