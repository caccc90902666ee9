import torch
from einops import rearrange
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import right, wrong
from tests.checks.answers.encoder_block.shared import (
    TIMM,
    TORCHVISION,
    by_the_formula,
)
from vit_steps import EncoderBlock, MultiHeadAttention


class Feed(nn.Sequential):
    def __init__(self, dim, hidden):
        super().__init__(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))


class Block(nn.Module):
    """As in the chapter; the wrong ones below change a line of it."""

    def __init__(self, embed_dim, num_heads, mlp_ratio):
        super().__init__()
        self.norm1 = nn.LayerNorm(embed_dim, eps=1e-6)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.norm2 = nn.LayerNorm(embed_dim, eps=1e-6)
        self.mlp = Feed(embed_dim, int(mlp_ratio * embed_dim))

    def attn(self, x):
        return self.attention(x)[0]

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


right("encoder_block")(Block)


right("encoder_block")(EncoderBlock)


@right("encoder_block")
def pytorchs(embed_dim, num_heads, mlp_ratio):
    return nn.TransformerEncoderLayer(
        embed_dim,
        num_heads,
        int(embed_dim * mlp_ratio),
        activation="gelu",
        layer_norm_eps=1e-6,
        batch_first=True,
        norm_first=True,
    )


@right("encoder_block")
def timms_block(embed_dim, num_heads, mlp_ratio):
    make = TIMM.models.vision_transformer.Block
    return make(embed_dim, num_heads, mlp_ratio, qkv_bias=True)


@right("encoder_block")
def torchvisions_block(embed_dim, num_heads, mlp_ratio):
    make = TORCHVISION.models.vision_transformer.EncoderBlock
    return make(num_heads, embed_dim, int(mlp_ratio * embed_dim), 0.1, 0.1)


@right("encoder_block")
class PreNorms(nn.Module):
    """Wrappers that norm and add, around attention and MLP."""

    class Branch(nn.Module):
        def __init__(self, dim, inner):
            super().__init__()
            self.inner, self.norm = inner, nn.LayerNorm(dim, eps=1e-6)

        def forward(self, x):
            return self.inner(self.norm(x)) + x

    class Attention(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads = heads
            self.to_qkv = nn.Linear(dim, 3 * dim, bias=False)
            self.to_out = nn.Sequential(nn.Linear(dim, dim), nn.Dropout(0.1))

        def forward(self, x):
            q, k, v = rearrange(
                self.to_qkv(x), "b n (k h d) -> k b h n d", k=3, h=self.heads
            )
            out = F.scaled_dot_product_attention(q, k, v)
            return self.to_out(rearrange(out, "b h n d -> b n (h d)"))

    def __init__(self, dim, heads, ratio):
        super().__init__()
        self.ff = self.Branch(dim, Feed(dim, dim * ratio))
        self.attend = self.Branch(dim, self.Attention(dim, heads))

    def forward(self, x):
        return self.ff(self.attend(x)), None


@right("encoder_block")
class WithANormOfItsOwn(nn.Module):
    """Four matrices for attention, and a norm written by hand."""

    class Norm(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.shift = nn.Parameter(torch.zeros(size))
            self.scale = nn.Parameter(torch.ones(size))

        def forward(self, x):
            return by_the_formula(x, self.scale, self.shift)

    def __init__(self, embed_dim, num_heads, mlp_ratio):
        super().__init__()
        self.h = num_heads
        make = lambda: nn.Linear(embed_dim, embed_dim)  # noqa: E731
        self.q, self.k, self.v, self.o = make(), make(), make(), make()
        self.norms = nn.ModuleList([self.Norm(embed_dim) for _ in range(2)])
        self.ffn = Feed(embed_dim, embed_dim * mlp_ratio)

    def forward(self, x):
        y = self.norms[0](x)
        k, q, v = (
            rearrange(f(y), "b t (h d) -> b h t d", h=self.h)
            for f in (self.k, self.q, self.v)
        )
        found = F.scaled_dot_product_attention(q, k, v)
        x = x + self.o(rearrange(found, "b h t d -> b t (h d)"))
        return x + self.ffn(self.norms[1](x))


@right("encoder_block")
class TwoSubBlocks(nn.Module):
    """Attention and MLP each with its norm in a module of its own."""

    class Attention(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.layer_norm = nn.LayerNorm(normalized_shape=dim, eps=1e-6)
            self.multihead_attn = nn.MultiheadAttention(dim, heads, batch_first=True)

        def forward(self, x):
            x = self.layer_norm(x)
            out, _ = self.multihead_attn(query=x, key=x, value=x, need_weights=False)
            return out

    def __init__(self, embedding_dim=768, num_heads=12, mlp_ratio=4):
        super().__init__()
        self.msa_block = self.Attention(embedding_dim, num_heads)
        self.mlp_block = nn.Sequential(
            nn.LayerNorm(embedding_dim, eps=1e-6),
            Feed(embedding_dim, mlp_ratio * embedding_dim),
        )

    def forward(self, x):
        x = self.msa_block(x) + x
        x = self.mlp_block(x) + x
        return x


@right("encoder_block")
def block_of_callables(x, norm1, attn, norm2, mlp):
    middle = attn(norm1(x)) + x
    return torch.add(middle, mlp(norm2(middle)))


@wrong("encoder_block", "post-norm")
class PostNorm(Block):
    def forward(self, x):
        x = self.norm1(x + self.attn(x))
        return self.norm2(x + self.mlp(x))


@wrong("encoder_block", "residual from the normed x")
class FromNormed(Block):
    def forward(self, x):
        x = self.norm1(x)
        x = x + self.attn(x)
        x = self.norm2(x)
        return x + self.mlp(x)


@wrong("encoder_block", "residual from the normed x at attention")
class FromNormedOnce(Block):
    def forward(self, x):
        x = self.norm1(x)
        x = x + self.attn(x)
        return x + self.mlp(self.norm2(x))


@wrong("encoder_block", "residual from the normed x at the MLP")
class FromNormedBelow(Block):
    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        x = self.norm2(x)
        return x + self.mlp(x)


@wrong("encoder_block", "no residual")
class Replaces(Block):
    def forward(self, x):
        return self.mlp(self.norm2(self.attn(self.norm1(x))))


@wrong("encoder_block", "no residual at attention")
class ReplacesOnce(Block):
    def forward(self, x):
        x = self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


@wrong("encoder_block", "no residual at the MLP")
class ReplacesBelow(Block):
    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return self.mlp(self.norm2(x))


@wrong("encoder_block", "one norm for both")
class NormTwoUnused(Block):
    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm1(x))


@wrong("encoder_block", "one norm shared")
class OneNorm(NormTwoUnused):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        del self.norm2


@wrong("encoder_block", "one norm shared")
class TheSameNorm(Block):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.norm2 = self.norm1


@wrong("encoder_block", "MLP without norm")
class NormTwoForgotten(Block):
    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(x)


@wrong("encoder_block", "no norms")
class NormsForgotten(Block):
    def forward(self, x):
        x = x + self.attn(x)
        return x + self.mlp(x)


@wrong("encoder_block", "norms missing")
class NormsNeverMade(NormsForgotten):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        del self.norm1, self.norm2


@wrong("encoder_block", "norm behind the branch")
class NormBehind(Block):
    def forward(self, x):
        x = x + self.norm1(self.attn(x))
        return x + self.norm2(self.mlp(x))


@wrong("encoder_block", "parallel")
class SideBySide(Block):
    def forward(self, x):
        attended = self.attn(self.norm1(x))
        return x + attended + self.mlp(self.norm2(x))


@wrong("encoder_block", "MLP first")
class Reversed(Block):
    def forward(self, x):
        x = x + self.mlp(self.norm1(x))
        return x + self.attn(self.norm2(x))


@wrong("encoder_block", "attention lost")
class KeepsTheFirstX(Block):
    def forward(self, x):
        y = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(y))


@wrong("encoder_block", "eps 1e-5")
class DefaultEps(Block):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.norm1, self.norm2 = nn.LayerNorm(sizes[0]), nn.LayerNorm(sizes[0])


@wrong("encoder_block", "PyTorch's defaults")
def with_pytorchs_defaults(embed_dim, num_heads, mlp_ratio):
    hidden = int(mlp_ratio * embed_dim)
    return nn.TransformerEncoderLayer(embed_dim, num_heads, hidden, batch_first=True)


@wrong("encoder_block", "ReLU")
def pytorchs_with_relu(embed_dim, num_heads, mlp_ratio):
    layer = pytorchs(embed_dim, num_heads, mlp_ratio)
    layer.activation, layer.activation_relu_or_gelu = F.relu, 1
    return layer


@wrong("encoder_block", "across the batch")
def pytorchs_batch_second(embed_dim, num_heads, mlp_ratio):
    layer = pytorchs(embed_dim, num_heads, mlp_ratio)
    layer.self_attn.batch_first = False
    return layer


@wrong("encoder_block", "tanh GELU")
class WithTanhGelu(Block):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.mlp[1] = nn.GELU("tanh")


@wrong("encoder_block", "no activation")
class Straight(Block):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.mlp[1] = nn.Identity()


@wrong("encoder_block", "residual twice")
class InsideAndOutside(Block):
    def attn(self, x):
        return super().attn(x)

    def forward(self, x):
        x = x + (self.attn(self.norm1(x)) + x)
        return x + (self.mlp(self.norm2(x)) + x)


@wrong("encoder_block", "no scale")
class Unscaled(Block):
    def attn(self, x):
        attention = self.attention
        qkv = rearrange(
            attention.qkv(x), "b t (n h d) -> n b h t d", n=3, h=attention.num_heads
        )
        found = F.scaled_dot_product_attention(*qkv, scale=1.0)
        return attention.proj(rearrange(found, "b h t d -> b t (h d)"))


@wrong("encoder_block", "no MLP")
class AttentionAlone(Block):
    def forward(self, x):
        return x + self.attn(self.norm1(x))


@wrong("encoder_block", "wrong width")
class TakesTheRatioForTheWidth(Block):
    def __init__(self, embed_dim, num_heads, mlp_dim):
        super().__init__(embed_dim, num_heads, 4)


@wrong("encoder_block", "changes its input")
class AddsInPlace(Block):
    def forward(self, x):
        x += self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


@wrong("encoder_block", "not repeatable")
class DropsWithoutEval(Block):
    def forward(self, x):
        return F.dropout(super().forward(x), 0.1)


@wrong("encoder_block", "residual from the normed x")
def normed_callables(x, norm1, attn, norm2, mlp):
    x = norm1(x)
    x = norm2(x + attn(x))
    return x + mlp(x)


@wrong("encoder_block", "norms swapped")
def swapped_callables(x, norm1, attn, norm2, mlp):
    x = x + attn(norm2(x))
    return x + mlp(norm1(x))
