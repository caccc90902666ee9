"""Attention: each token takes a weighted mean of all tokens' values."""

import math

import torch
import torch.fx
from torch import Tensor, nn
from torch.nn import functional as F

from vit_steps.sizes import check_heads
from vit_steps.tensors import check_tensor

torch.fx.wrap("check_tensor")  # a tracer keeps the call, since it cannot trace a check


def scaled_dot_product_attention(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, dropout_p: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Return softmax(q kᵀ / √d) v and the weights: equation 1 in arXiv 1706.03762.

    Args:
        mask: boolean, broadcast to (..., T_q, T_k); True may be attended. A query that
            may attend nothing gets zeros.
        dropout_p: share of the weights that is dropped from the output; the weights
            that are returned have not been through dropout.

    Shape: q (..., T_q, d), k (..., T_k, d), v (..., T_k, d_v) -> output (..., T_q,
        d_v), weights (..., T_q, T_k)
    Raises: ValueError if d or T_k do not agree, or the mask is not boolean.
    """
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(
            f"k: got {k.shape[-1]} numbers a key, expected a query's {q.shape[-1]}"
        )
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(
            f"v: got {v.shape[-2]} values, expected one for each of {k.shape[-2]} keys"
        )
    if mask is not None and mask.dtype != torch.bool:
        raise ValueError(f"mask: got {mask.dtype}, expected torch.bool, True to attend")
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (..., T_q, T_k)
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = scores.softmax(dim=-1)  # (..., T_q, T_k), each row sums to 1
    if mask is not None:
        # a row whose keys are all masked would otherwise get uniform weights
        weights = weights.masked_fill(~mask, 0.0)
    output = F.dropout(weights, dropout_p) @ v  # (..., T_q, d_v)
    return output, weights


class MultiHeadAttention(nn.Module):
    """Self-attention in h heads side by side, each in its own d = D/h dimensions.

    Section 3.2.2 in arXiv 1706.03762; appendix A, equations 5 to 8, in arXiv
    2010.11929. One matrix ``qkv`` makes queries, keys and values of all heads, each of
    them from the whole token; ``proj`` mixes the outputs of the heads.

    Attributes:
        fused: if True, PyTorch's fused kernel is used unless weights are asked for. It
            never holds a T × T matrix.

    Shape: (B, T, D) -> (B, T, D), and (B, h, T, T) or None
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        qkv_bias: bool = True,
        drop_rate: float = 0.0,
        attn_drop_rate: float = 0.0,
    ) -> None:
        super().__init__()
        check_heads(embed_dim, num_heads)
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.attn_drop_rate = attn_drop_rate
        self.fused = True
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim, bias=qkv_bias)
        self.proj = nn.Linear(embed_dim, embed_dim)
        self.proj_drop = nn.Dropout(drop_rate)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise as the paper's code: D×D matrices Xavier-uniform, biases zero."""
        for weight in (*self.qkv.weight.chunk(3), self.proj.weight):
            nn.init.xavier_uniform_(weight)
        for linear in (self.qkv, self.proj):
            if linear.bias is not None:
                nn.init.zeros_(linear.bias)

    def forward(
        self, x: Tensor, need_weights: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        """Return (B, T, D), and the weights (B, h, T, T) if they are asked for.

        Raises: ValueError if ``x`` is not (B, T, D).
        """
        check_tensor(x, "x", "B", "T", self.embed_dim, may_be_empty=True)
        B, T, D = x.shape
        h, d = self.num_heads, D // self.num_heads
        qkv = self.qkv(x)  # (B, T, 3·D)
        qkv = qkv.reshape(B, T, 3, h, d)  # (B, T, 3, h, d)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)  # (B, h, T, d) each
        dropout_p = self.attn_drop_rate if self.training else 0.0
        weights = None
        if need_weights or not self.fused:
            output, weights = scaled_dot_product_attention(q, k, v, dropout_p=dropout_p)
        else:
            output = F.scaled_dot_product_attention(q, k, v, dropout_p=dropout_p)
        output = output.transpose(1, 2)  # (B, T, h, d): h is beside d again
        output = output.reshape(B, T, D)  # (B, T, D)
        return self.proj_drop(self.proj(output)), weights if need_weights else None


def use_fused_attention(model: nn.Module, fused: bool) -> None:
    """Choose PyTorch's fused kernel or the explicit path in all of a model's attention.

    Below about 1,000 tokens, the explicit path is the faster one in bfloat16 on a CPU,
    several times as fast in training.
    """
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            module.fused = fused
