"""Pooling by attention: a learned query gathers an image from its tokens."""

import torch
from torch import Tensor, nn

from vit_steps.attention import scaled_dot_product_attention
from vit_steps.sizes import check_heads


class AttentionPool(nn.Module):
    """A vector for each image: attention from one learned query, then an MLP.

    It is the head "MAP" of arXiv 2106.04560, which SigLIP has (arXiv 2303.15343). A
    class token asks in every block; this query asks once, after the last. Names are
    those of timm.

    Args:
        norm: of D numbers, in front of the MLP.
        mlp: (..., D) -> (..., D).

    Shape: (B, T, D) -> (B, D)
    """

    def __init__(
        self, embed_dim: int, num_heads: int, norm: nn.Module, mlp: nn.Module
    ) -> None:
        super().__init__()
        check_heads(embed_dim, num_heads)
        self.num_heads = num_heads
        self.latent = nn.Parameter(torch.empty(1, 1, embed_dim))
        self.q = nn.Linear(embed_dim, embed_dim)
        self.kv = nn.Linear(embed_dim, 2 * embed_dim)
        self.proj = nn.Linear(embed_dim, embed_dim)
        self.norm = norm
        self.mlp = mlp
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise query and attention: as timm, and as ``MultiHeadAttention``."""
        nn.init.trunc_normal_(self.latent, std=self.latent.shape[-1] ** -0.5)
        for weight in (self.q.weight, *self.kv.weight.chunk(2), self.proj.weight):
            nn.init.xavier_uniform_(weight)
        for linear in (self.q, self.kv, self.proj):
            nn.init.zeros_(linear.bias)

    def forward(self, tokens: Tensor) -> Tensor:
        B, T, D = tokens.shape
        h, d = self.num_heads, D // self.num_heads
        q = self.q(self.latent).reshape(1, h, 1, d)  # the same for every image
        kv = self.kv(tokens).reshape(B, T, 2, h, d)  # (B, T, 2, h, d)
        k, v = kv.permute(2, 0, 3, 1, 4).unbind(0)  # (B, h, T, d) each
        gathered, _ = scaled_dot_product_attention(q, k, v)  # (B, h, 1, d)
        x = self.proj(gathered.reshape(B, D))  # (B, D)
        return x + self.mlp(self.norm(x))  # (B, D)
