"""Attention of today: queries and keys normed and turned; and a query that pools."""

from typing import Any

import torch
import torch.fx
from torch import Tensor, nn
from torch.nn import functional as F

from vit_steps.attention import MultiHeadAttention, scaled_dot_product_attention
from vit_steps.sizes import check_heads
from vit_steps.tensors import check_tensor
from vit_steps.variants.rotary import apply_rope

torch.fx.wrap("check_tensor")  # a tracer keeps the call, since it cannot trace a check


class RotaryAttention(MultiHeadAttention):
    """Multi-head attention with a norm and a turn for queries and keys.

    Values get neither. The queries and keys of each head are normalised (qk-norm, arXiv
    2302.05442) and then turned. Without norms and angles this is
    ``MultiHeadAttention``.

    Args:
        q_norm: a norm of d numbers for the queries of all heads; None for no norm.
        k_norm: one for the keys.
        others: the bias and the rates of ``MultiHeadAttention``.

    Shape: (B, T, D), angles (T, d/2) -> (B, T, D), and (B, h, T, T) or None
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        q_norm: nn.Module | None = None,
        k_norm: nn.Module | None = None,
        proj_bias: bool = True,
        **others: Any,
    ) -> None:
        super().__init__(embed_dim, num_heads, **others)
        if not proj_bias:
            self.proj.register_parameter("bias", None)
        self.q_norm = q_norm or nn.Identity()
        self.k_norm = k_norm or nn.Identity()

    def forward(
        self, x: Tensor, need_weights: bool = False, angles: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Attend as ``MultiHeadAttention`` does, with queries and keys turned."""
        check_tensor(x, "x", "B", "T", self.embed_dim, may_be_empty=True)
        B, T, D = x.shape
        h, d = self.num_heads, D // self.num_heads
        qkv = self.qkv(x).reshape(B, T, 3, h, d)  # (B, T, 3, h, d)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)  # (B, h, T, d) each
        q, k = self.q_norm(q).to(v.dtype), self.k_norm(k).to(v.dtype)
        if angles is not None:
            q, k = apply_rope(q, angles), apply_rope(k, angles)
        dropout_p = self.attn_drop_rate if self.training else 0.0
        weights = None
        if need_weights or not self.fused:
            output, weights = scaled_dot_product_attention(q, k, v, dropout_p=dropout_p)
        else:
            output = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout_p)
        output = output.transpose(1, 2).reshape(B, T, D)  # (B, T, D)
        return self.proj_drop(self.proj(output)), weights if need_weights else None


class AttentionPool(nn.Module):
    """A vector for each image: attention from one learned query, then an MLP.

    It is the head "MAP" of arXiv 2106.04560, which SigLIP has (arXiv 2303.15343). A
    class token asks in every block, this query once, after the last. Names are timm's.

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
        """Initialise the query as timm does, the rest as ``MultiHeadAttention``."""
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
