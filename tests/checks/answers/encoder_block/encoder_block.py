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
    """The block of the chapter; the wrong answers below change a line of it."""

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


def built_in(**sizes):
    class Fixed(Block):
        def __init__(self, embed_dim, num_heads, mlp_ratio):
            given = {
                "embed_dim": embed_dim,
                "num_heads": num_heads,
                "mlp_ratio": mlp_ratio,
            }
            super().__init__(**given | sizes)

    return Fixed


for name, number in (("num_heads", 2), ("num_heads", 4), ("num_heads", 5)):
    wrong("encoder_block", "built in")(built_in(**{name: number}))
for name, number in (("mlp_ratio", 6), ("mlp_ratio", 5), ("embed_dim", 12)):
    wrong("encoder_block", "built in")(built_in(**{name: number}))


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
    """A block with wrappers around attention and MLP that norm and add."""

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
    """A block with four matrices for attention and a norm written by hand."""

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
    """A block with two modules, attention and MLP, each with its own norm."""

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


# Norms whose parameters belong to the block


def normed(x, weight, bias):
    return F.layer_norm(x, x.shape[-1:], weight.flatten(), bias.flatten(), 1e-6)


class RawNorms(nn.Module):
    """A block that calls layer norm as a function, on weights of its own."""

    names = ("w1", "b1", "w2", "b2")
    shape = ()

    def __init__(self, embed_dim, num_heads, mlp_ratio):
        super().__init__()
        D, M = embed_dim, int(embed_dim * mlp_ratio)
        for name, make in zip(self.names, self.makers(), strict=True):
            setattr(self, name, nn.Parameter(make(*self.shape, D)))
        self.attn = MultiHeadAttention(D, num_heads)
        self.fc1, self.fc2 = nn.Linear(D, M), nn.Linear(M, D)

    def makers(self):
        return [torch.ones, torch.zeros] * 2

    def vectors(self):
        return [getattr(self, name) for name in self.names]

    def forward(self, x):
        w1, b1, w2, b2 = self.vectors()
        x = x + self.attn(normed(x, w1, b1))[0]
        return x + self.fc2(F.gelu(self.fc1(normed(x, w2, b2))))


right("encoder_block")(RawNorms)


@right("encoder_block")
class RawNormsInGreek(RawNorms):
    names = ("gamma1", "beta1", "gamma2", "beta2")
    shape = (1, 1)


@right("encoder_block")
class RawNormsByWords(RawNorms):
    names = ("norm1_weight", "norm1_bias", "norm2_weight", "norm2_bias")


@right("encoder_block")
class RawWeightsFirst(RawNorms):
    names = ("scale_a", "scale_b", "shift_a", "shift_b")

    def makers(self):
        return [torch.ones, torch.ones, torch.zeros, torch.zeros]

    def vectors(self):
        return [self.scale_a, self.shift_a, self.scale_b, self.shift_b]


@right("encoder_block")
class NormsInAParameterList(RawNorms):
    def __init__(self, embed_dim, num_heads, mlp_ratio):
        super().__init__(embed_dim, num_heads, mlp_ratio)
        kept = nn.ParameterList(super().vectors())
        for name in self.names:
            delattr(self, name)
        self.norms = kept

    def vectors(self):
        return list(self.norms)


class WideNorm(nn.Module):
    def __init__(self, D):
        super().__init__()
        self.a, self.b = (
            nn.Parameter(torch.ones(1, 1, D)),
            nn.Parameter(torch.zeros(1, 1, D)),
        )

    def forward(self, x):
        return normed(x, self.a, self.b)


@right("encoder_block")
class WithWideNorms(Block):
    def __init__(self, embed_dim, num_heads, mlp_ratio):
        super().__init__(embed_dim, num_heads, mlp_ratio)
        self.norm1, self.norm2 = WideNorm(embed_dim), WideNorm(embed_dim)


@wrong("encoder_block", "post-norm")
class RawNormsBehind(RawNorms):
    def forward(self, x):
        w1, b1, w2, b2 = self.vectors()
        x = normed(x + self.attn(x)[0], w1, b1)
        return normed(x + self.fc2(F.gelu(self.fc1(x))), w2, b2)


@wrong("encoder_block", "norm over tokens")
class NormOverTokens(Block):
    def __init__(self, embed_dim, num_heads, mlp_ratio):
        super().__init__(embed_dim, num_heads, mlp_ratio)
        self.norm1 = nn.LayerNorm((7, embed_dim), eps=1e-6)


# PyTorch's eps together with a second mistake


def with_pytorchs_eps(base):
    class Changed(base):
        def __init__(self, *sizes):
            super().__init__(*sizes)
            self.norm1.eps = self.norm2.eps = 1e-5

    Changed.__name__ = f"{base.__name__}WithPyTorchsEps"
    return Changed


class Tanh(nn.Module):
    def forward(self, x):
        return F.gelu(x, approximate="tanh")


class TanhBlock(Block):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.mlp[1] = Tanh()


class NormsBehind(Block):
    def forward(self, x):
        x = self.norm1(x + self.attn(x))
        return self.norm2(x + self.mlp(x))


class NothingAdded(Block):
    def forward(self, x):
        return self.mlp(self.norm2(self.attn(self.norm1(x))))


class AttentionLost(Block):
    def forward(self, x):
        y = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(y))


for mistake, base in (
    ("tanh GELU", TanhBlock),
    ("post-norm", NormsBehind),
    ("no residual", NothingAdded),
    ("attention lost", AttentionLost),
):
    wrong("encoder_block", f"{mistake} with PyTorch's eps")(with_pytorchs_eps(base))


@wrong("encoder_block", "scale late, by D")
class ScalesLate(Block):
    def attn(self, x):
        layer = self.attention
        B, T, D = x.shape
        q, k, v = layer.qkv(x).reshape(B, T, 3, layer.num_heads, -1).unbind(2)
        scores = torch.einsum("bihd,bjhd->bhij", q, k)
        weights = scores.softmax(-1) / D**0.5
        return layer.proj(torch.einsum("bhij,bjhd->bihd", weights, v).flatten(2))


class StdNorm(nn.Module):
    """The layer norm of the Annotated Transformer."""

    def __init__(self, D):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.ones(D)), nn.Parameter(torch.zeros(D))

    def forward(self, x):
        mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
        return self.a * (x - mean) / (std + 1e-6) + self.b


@wrong("encoder_block", "divided by std + eps")
class WithStd(Block):
    def __init__(self, embed_dim, num_heads, mlp_ratio):
        super().__init__(embed_dim, num_heads, mlp_ratio)
        self.norm1, self.norm2 = StdNorm(embed_dim), StdNorm(embed_dim)


@wrong("encoder_block", "more than asked for")
class ScaledBranches(Block):
    """A block with LayerScale, as in CaiT and timm."""

    def __init__(self, embed_dim, num_heads, mlp_ratio):
        super().__init__(embed_dim, num_heads, mlp_ratio)
        self.gamma_1 = nn.Parameter(0.1 * torch.ones(embed_dim))
        self.gamma_2 = nn.Parameter(0.1 * torch.ones(embed_dim))

    def forward(self, x):
        x = x + self.gamma_1 * self.attn(self.norm1(x))
        return x + self.gamma_2 * self.mlp(self.norm2(x))


for ratio in (0.5, 1, 2, 3):
    wrong("encoder_block", "MLP missing")(built_in(mlp_ratio=ratio))


@wrong("encoder_block", "random in training")
class DropsBranchesUnscaled(Block):
    def forward(self, x):
        y = super().forward(x)
        if not self.training:
            return y
        return x + (y - x) * (torch.rand(len(x), 1, 1) >= 0.2)


@wrong("encoder_block", "batch in training")
class CentredInTraining(Block):
    def forward(self, x):
        y = super().forward(x)
        return y - y.mean(dim=0, keepdim=True) if self.training else y
