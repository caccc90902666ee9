"""The encoder block: attention between the tokens, then an MLP for each of them."""

import torch
import torch.fx
from torch import Tensor, nn

from vit_steps.attention import MultiHeadAttention
from vit_steps.sizes import check_rate


class MLP(nn.Module):
    """Two linear layers with a GELU between them, for each token by itself.

    Equation 3 in arXiv 2010.11929. The GELU is the exact x·Φ(x) of arXiv 1606.08415, as
    in published PyTorch weights; the paper's code approximates it with tanh.

    Shape: (..., D) -> (..., D), through (..., M)
    """

    def __init__(self, embed_dim: int, hidden_dim: int, drop_rate: float = 0.0) -> None:
        super().__init__()
        self.fc1 = nn.Linear(embed_dim, hidden_dim)
        self.act = nn.GELU()
        self.fc2 = nn.Linear(hidden_dim, embed_dim)
        self.drop = nn.Dropout(drop_rate)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise as the paper's code: Xavier-uniform, biases normal with 1e-6."""
        for linear in (self.fc1, self.fc2):
            nn.init.xavier_uniform_(linear.weight)
            if linear.bias is not None:  # a variant's layers may have none
                nn.init.normal_(linear.bias, std=1e-6)

    def forward(self, x: Tensor) -> Tensor:
        x = self.drop(self.act(self.fc1(x)))  # (..., M)
        return self.drop(self.fc2(x))  # (..., D)


@torch.fx.wrap  # a tracer keeps the call as it is: the shape depends on the rank
def draw_kept(x: Tensor, keep_prob: float) -> Tensor:
    """Draw for each sample whether it is kept: 1 with ``keep_prob``, else 0.

    Shape: (B, ...) -> (B, 1, ...)
    """
    one_per_sample = (x.shape[0],) + (1,) * (x.ndim - 1)  # (B, 1, ...)
    return x.new_empty(one_per_sample).bernoulli_(keep_prob)


class DropPath(nn.Module):
    """Stochastic depth: in training, drop a residual branch for whole samples.

    Each sample keeps its branch with probability 1 - ``drop_prob``; what is kept is
    scaled by 1 / (1 - ``drop_prob``), so that the mean stays what it is in evaluation,
    where nothing is dropped. This is timm's form; arXiv 1603.09382 dropped a layer for
    the whole batch and scaled it in evaluation.

    Shape: (B, ...) -> (B, ...)
    Raises: ValueError if ``drop_prob`` is not in [0, 1).
    """

    def __init__(self, drop_prob: float = 0.0) -> None:
        super().__init__()
        self.drop_prob = check_rate(drop_prob, "drop_prob")

    def forward(self, x: Tensor) -> Tensor:
        if self.drop_prob == 0.0 or not self.training:
            return x
        keep_prob = 1.0 - self.drop_prob
        kept = draw_kept(x, keep_prob)  # (B, 1, ...)
        return x * (kept / keep_prob)

    def extra_repr(self) -> str:
        return f"drop_prob={self.drop_prob}"


class LayerScale(nn.Module):
    """A learned factor for each of a branch's D numbers (arXiv 2103.17239, section 2).

    Shape: (..., D) -> (..., D)
    """

    def __init__(self, embed_dim: int, init_value: float) -> None:
        super().__init__()
        self.init_value = float(init_value)
        self.gamma = nn.Parameter(torch.empty(embed_dim))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set all factors to the initial value."""
        nn.init.constant_(self.gamma, self.init_value)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.gamma


class EncoderBlock(nn.Module):
    """Pre-norm encoder block: equations 2 and 3 in arXiv 2010.11929.

    It computes x + attention(norm(x)), then x + mlp(norm(x)). The norms' eps is 1e-6,
    as in the paper's code, not PyTorch's 1e-5; Hugging Face's ViTs have 1e-12.

    Args:
        embed_dim: D.
        num_heads: h.
        mlp_ratio: M / D.
        drop_rate: dropout after the attention's projection and both layers of the MLP.
        attn_drop_rate: dropout on the attention weights.
        drop_path_rate: stochastic depth of both branches.
        layer_scale: initial value of a factor on both branches; None for no factor.

    Shape: (B, T, D) -> (B, T, D), and (B, h, T, T) or None
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        mlp_ratio: float = 4.0,
        qkv_bias: bool = True,
        drop_rate: float = 0.0,
        attn_drop_rate: float = 0.0,
        drop_path_rate: float = 0.0,
        layer_scale: float | None = None,
        norm_eps: float = 1e-6,
    ) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(embed_dim, eps=norm_eps)
        self.attn = MultiHeadAttention(
            embed_dim=embed_dim,
            num_heads=num_heads,
            qkv_bias=qkv_bias,
            drop_rate=drop_rate,
            attn_drop_rate=attn_drop_rate,
        )
        self.ls1 = (
            nn.Identity() if layer_scale is None else LayerScale(embed_dim, layer_scale)
        )
        self.norm2 = nn.LayerNorm(embed_dim, eps=norm_eps)
        hidden_dim = int(embed_dim * mlp_ratio)
        self.mlp = MLP(embed_dim=embed_dim, hidden_dim=hidden_dim, drop_rate=drop_rate)
        self.ls2 = (
            nn.Identity() if layer_scale is None else LayerScale(embed_dim, layer_scale)
        )
        self.drop_path = DropPath(drop_path_rate)

    def reset_parameters(self) -> None:
        """Initialise all parts anew, as the constructor does."""
        for part in self.children():
            if isinstance(part, (nn.LayerNorm, MultiHeadAttention, MLP, LayerScale)):
                part.reset_parameters()

    def forward(
        self, x: Tensor, need_weights: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        # (B, T, D), and (B, h, T, T) or None
        attended, weights = self.attn(self.norm1(x), need_weights=need_weights)
        x = x + self.drop_path(self.ls1(attended))  # (B, T, D)
        x = x + self.drop_path(self.ls2(self.mlp(self.norm2(x))))  # (B, T, D)
        return x, weights
