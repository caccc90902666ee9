import torch

from tests.checks.answers import wrong_edits
from vit_steps import VisionTransformer, ViTConfig


@wrong_edits("""
no biases: C * D + D -> C * D
  + 4 * D + 2 * D * M + M + D -> + 2 * D * M
  + K -> nothing
no qkv bias: + 4 * D + 2 -> + D + 2
2·D missing: + 2 * D + D * K -> + D * K
no class token: 1 + (H // P) -> (H // P)
    positions for the patches alone
always 4: T = -> M = 4 * D; T =
value: block = -> M = M // D * D; block =
    a ratio made whole
one norm: block = 4 * D -> block = 2 * D
float: return -> return 1.0 *
""")
def on_paper(H, P, C, K, D, L, M):
    T = 1 + (H // P) ** 2
    block = 4 * D + 4 * D**2 + 4 * D + 2 * D * M + M + D
    return P * P * C * D + D + D + T * D + L * block + 2 * D + D * K + K


def by_building(
    image_size, patch_size, in_channels, num_classes, embed_dim, depth, hidden_dim
):
    sizes = image_size, patch_size, in_channels, num_classes, embed_dim, depth
    with torch.device("meta"):
        config = ViTConfig(*sizes, num_heads=2, mlp_ratio=hidden_dim / embed_dim)
        return sum(p.numel() for p in VisionTransformer(config).parameters())


def part_by_part(H, P, C, K, D, L, M):
    linear = lambda ins, outs: ins * outs + outs  # noqa: E731
    count = linear(P * P * C, D) + (2 + (H // P) ** 2) * D
    for _ in range(L):
        count += 2 * D + linear(D, 3 * D) + linear(D, D)
        count += 2 * D + linear(D, M) + linear(M, D)
    return count + 2 * D + linear(D, K)
