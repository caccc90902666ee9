"""Attention of today: queries and keys are normalised, and turned to their places."""

from typing import Any

import torch
import torch.fx
from torch import Tensor, nn
from torch.nn import functional as F

from vit_steps.attention import MultiHeadAttention, scaled_dot_product_attention
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
        """Return (B, T, D), and the weights (B, h, T, T) if they are asked for.

        Raises: ValueError if ``x`` is not (B, T, D).
        """
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
