import math

import torch
from einops import rearrange
from torch import nn
from torch.nn import functional as F

from tests.answers import right, wrong
from vit_steps import EncoderBlock, MultiHeadAttention, oracles

TIMM, TORCHVISION = oracles.timm(), oracles.torchvision()


@right("layer_norm")
def by_the_formula(x, weight, bias, eps=1e-6):
    mean = x.mean(-1, keepdim=True)
    var = ((x - mean) ** 2).mean(-1, keepdim=True)
    return weight * (x - mean) / torch.sqrt(var + eps) + bias


@right("layer_norm")
def with_torchs_variance(x, weight, bias, eps=1e-6):
    var, mean = torch.var_mean(x, dim=-1, unbiased=False, keepdim=True)
    return (x - mean) * torch.rsqrt(var + eps) * weight + bias


@right("layer_norm")
def with_torchs_own(x, weight, bias, eps=1e-6):
    return F.layer_norm(x, (x.shape[-1],), weight, bias, eps)


@right("layer_norm")
def token_by_token(x, weight, bias, eps=1e-6):
    samples = []
    for sample in x:
        rows = []
        for token in sample:
            centred = token - token.sum() / len(token)
            rows.append(
                centred
                / math.e ** (0.5 * torch.log(centred @ centred / len(token) + eps))
            )
        samples.append(torch.stack(rows))
    return torch.stack(samples) * weight + bias


@wrong("layer_norm", "unbiased")
def annotated(x, weight, bias, eps=1e-6):
    return (
        weight * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + bias
    )


@wrong("layer_norm", "unbiased")
def with_var_as_it_is(x, weight, bias, eps=1e-6):
    mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True)
    return (x - mean) / (var + eps).sqrt() * weight + bias


@wrong("layer_norm", "eps 1e-5")
def with_the_default_eps(x, weight, bias, eps=1e-6):
    return F.layer_norm(x, x.shape[-1:], weight, bias)


@wrong("layer_norm", "eps 1e-5")
def with_another_default(x, weight, bias, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], weight, bias, eps)


@wrong("layer_norm", "eps ignored")
def with_a_fixed_eps(x, weight, bias, eps=1e-6):
    return F.layer_norm(x, x.shape[-1:], weight, bias, 1e-6)


@wrong("layer_norm", "eps outside the root")
def adds_eps_to_the_std(x, weight, bias, eps=1e-6):
    std = x.std(-1, keepdim=True, unbiased=False)
    return weight * (x - x.mean(-1, keepdim=True)) / (std + eps) + bias


@wrong("layer_norm", "no eps")
def without_eps(x, weight, bias, eps=1e-6):
    std = x.std(-1, keepdim=True, correction=0)
    return weight * (x - x.mean(-1, keepdim=True)) / std + bias


@wrong("layer_norm", "over tokens")
def over_axis_one(x, weight, bias, eps=1e-6):
    var, mean = torch.var_mean(x, dim=1, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias


@wrong("layer_norm", "over batch and tokens")
def as_a_batch_norm(x, weight, bias, eps=1e-6):
    flat = F.batch_norm(x.flatten(0, 1), None, None, weight, bias, True, eps=eps)
    return flat.reshape(x.shape)


@wrong("layer_norm", "over tokens and numbers")
def over_the_image(x, weight, bias, eps=1e-6):
    return F.layer_norm(x, x.shape[1:], eps=eps) * weight + bias


@wrong("layer_norm", "over everything")
def over_all(x, weight, bias, eps=1e-6):
    return (x - x.mean()) / torch.sqrt(x.var(correction=0) + eps) * weight + bias


@wrong("layer_norm", "no root")
def divides_by_the_variance(x, weight, bias, eps=1e-6):
    var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return (x - mean) / (var + eps) * weight + bias


@wrong("layer_norm", "no shift")
def only_divides(x, weight, bias, eps=1e-6):
    return x / torch.sqrt(x.var(-1, keepdim=True, correction=0) + eps) * weight + bias


@wrong("layer_norm", "RMS")
def as_in_llama(x, weight, bias, eps=1e-6):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight + bias


@wrong("layer_norm", "squares not centred")
def squares_of_x(x, weight, bias, eps=1e-6):
    mean = x.mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt((x**2).mean(-1, keepdim=True) + eps) * weight + bias


@wrong("layer_norm", "no bias")
def forgets_the_bias(x, weight, bias, eps=1e-6):
    return F.layer_norm(x, x.shape[-1:], weight, eps=eps)


@wrong("layer_norm", "neither weight nor bias")
def forgets_both(x, weight, bias, eps=1e-6):
    return F.layer_norm(x, x.shape[-1:], eps=eps)


@wrong("layer_norm", "no keepdim")
def loses_the_axis(x, weight, bias, eps=1e-6):
    mean, var = x.mean(-1), x.var(-1, correction=0)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias


@wrong("layer_norm", "changes its input")
def centres_in_place(x, weight, bias, eps=1e-6):
    x -= x.mean(-1, keepdim=True)
    return x / torch.sqrt((x**2).mean(-1, keepdim=True) + eps) * weight + bias


@wrong("layer_norm", "gradient")
def with_statistics_detached(x, weight, bias, eps=1e-6):
    var, mean = torch.var_mean(x.detach(), dim=-1, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias


@right("mlp")
class TwoLayers(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(embed_dim, hidden_dim),
            nn.GELU(),
            nn.Dropout(0.1),
            nn.Linear(hidden_dim, embed_dim),
            nn.Dropout(0.1),
        )

    def forward(self, x):
        return self.net(x)


@right("mlp")
class WithMatricesOfItsOwn(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W1 = nn.Parameter(torch.randn(d_model, d_ff) * 0.02)
        self.b1 = nn.Parameter(torch.zeros(d_ff))
        self.W2 = nn.Parameter(torch.randn(d_ff, d_model) * 0.02)
        self.b2 = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        hidden = x @ self.W1 + self.b1
        return hidden * torch.distributions.Normal(0, 1).cdf(hidden) @ self.W2 + self.b2


@right("mlp")
class WithConvolutions(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.second = nn.Conv2d(hidden_dim, embed_dim, 1)
        self.first = nn.Conv2d(embed_dim, hidden_dim, 1)

    def forward(self, x):
        x = x.transpose(1, 2).unsqueeze(-1)
        return self.second(F.gelu(self.first(x))).squeeze(-1).transpose(1, 2)


@right("mlp")
def timms(embed_dim, hidden_dim):
    return TIMM.layers.Mlp(embed_dim, hidden_dim)


@right("mlp")
def mlp_with_weights(x, fc1_weight, fc1_bias, fc2_weight, fc2_bias):
    hidden = torch.einsum("btd,md->btm", x, fc1_weight) + fc1_bias
    hidden = hidden * (1 + torch.erf(hidden / math.sqrt(2))) / 2
    return F.linear(hidden, fc2_weight, fc2_bias)


def two_layers(*between, behind=()):
    def make(embed_dim, hidden_dim):
        first, second = (
            nn.Linear(embed_dim, hidden_dim),
            nn.Linear(hidden_dim, embed_dim),
        )
        return nn.Sequential(first, *between, second, *behind)

    return make


@wrong("mlp", "ReLU")
def with_relu(embed_dim, hidden_dim):
    return two_layers(nn.ReLU())(embed_dim, hidden_dim)


@wrong("mlp", "tanh GELU")
class WithTanh(TwoLayers):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__(embed_dim, hidden_dim)
        self.net[1] = nn.GELU(approximate="tanh")


@wrong("mlp", "SiLU")
def with_silu(embed_dim, hidden_dim):
    return two_layers(nn.SiLU(), nn.Dropout(0.1))(embed_dim, hidden_dim)


@wrong("mlp", "no activation")
def with_dropout_alone(embed_dim, hidden_dim):
    return two_layers(nn.Dropout(0.1))(embed_dim, hidden_dim)


@wrong("mlp", "activation at the end")
def bent_twice(embed_dim, hidden_dim):
    return two_layers(nn.GELU(), behind=[nn.GELU()])(embed_dim, hidden_dim)


@wrong("mlp", "activation only at the end")
def bent_late(embed_dim, hidden_dim):
    return two_layers(behind=[nn.GELU()])(embed_dim, hidden_dim)


@wrong("mlp", "residual inside")
class AddsX(TwoLayers):
    def forward(self, x):
        return x + self.net(x)


@wrong("mlp", "norm inside")
class WithANorm(TwoLayers):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__(embed_dim, hidden_dim)
        self.layer_norm = nn.LayerNorm(embed_dim, eps=1e-6)

    def forward(self, x):
        return self.net(self.layer_norm(x))


@wrong("mlp", "norm inside, eps 1e-5")
class AsInATutorial(TwoLayers):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__(embed_dim, hidden_dim)
        self.layer_norm = nn.LayerNorm(normalized_shape=embed_dim)

    def forward(self, x):
        return self.net(self.layer_norm(x))


@wrong("mlp", "not repeatable")
class DropsInEval(TwoLayers):
    def forward(self, x):
        return F.dropout(self.net(x), 0.5)


@wrong("mlp", "one layer")
class OneLayer(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.layer = nn.Linear(embed_dim, hidden_dim)

    def forward(self, x):
        return F.gelu(self.layer(x))


@wrong("mlp", "layer too many")
class ThreeLayers(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.a = nn.Linear(embed_dim, hidden_dim)
        self.b = nn.Linear(hidden_dim, hidden_dim)
        self.c = nn.Linear(hidden_dim, embed_dim)

    def forward(self, x):
        return self.c(F.gelu(self.b(F.gelu(self.a(x)))))


@wrong("mlp", "wrong width")
class FourTimes(TwoLayers):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__(embed_dim, 4 * embed_dim)


@wrong("mlp", "no bias in the MLP")
class WithoutBias(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.fc1 = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.fc2 = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


@wrong("mlp", "unused")
class OneLayerNotCalled(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.fc1 = nn.Linear(embed_dim, hidden_dim)
        self.fc2 = nn.Linear(hidden_dim, embed_dim)

    def forward(self, x):
        return F.gelu(self.fc1(x))[..., : x.shape[-1]]


@wrong("mlp", "ReLU")
def relu_with_weights(x, fc1_weight, fc1_bias, fc2_weight, fc2_bias):
    return F.linear(F.linear(x, fc1_weight, fc1_bias).relu(), fc2_weight, fc2_bias)


@right("drop_path")
def as_in_timm(x, drop_prob, training):
    if drop_prob == 0.0 or not training:
        return x
    keep_prob = 1 - drop_prob
    shape = (x.shape[0],) + (1,) * (x.ndim - 1)
    random_tensor = x.new_empty(shape).bernoulli_(keep_prob)
    random_tensor.div_(keep_prob)
    return x * random_tensor


@right("drop_path")
def with_the_floor(x, drop_prob=0.0, training=False):
    if drop_prob == 0.0 or not training:
        return x
    keep_prob = 1 - drop_prob
    random_tensor = keep_prob + torch.rand((len(x), 1, 1), dtype=x.dtype)
    return x.div(keep_prob) * random_tensor.floor()


@right("drop_path")
def with_dropout_of_ones(x, drop_prob, training):
    return x * F.dropout(torch.ones(len(x), 1, 1), drop_prob, training)


@right("drop_path")
def with_where(x, drop_prob, training):
    if training and drop_prob:
        falls = torch.rand(len(x)) < drop_prob
        x = torch.where(falls[:, None, None], 0.0, x / (1 - drop_prob))
    return x


@right("drop_path")
class AsAModule(nn.Module):
    def __init__(self, drop_prob=0.0):
        super().__init__()
        self.drop_prob = drop_prob

    def forward(self, x):
        return as_in_timm(x, self.drop_prob, self.training)


@wrong("drop_path", "each number")
def plain_dropout(x, drop_prob, training):
    return F.dropout(x, drop_prob, training)


@wrong("drop_path", "each token")
def coin_of_two_axes(x, drop_prob, training):
    return x * F.dropout(torch.ones(*x.shape[:2], 1), drop_prob, training)


@wrong("drop_path", "whole batch")
def coin_of_python(x, drop_prob, training):
    if not training or drop_prob == 0:
        return x
    return torch.zeros_like(x) if torch.rand(()) < drop_prob else x / (1 - drop_prob)


@wrong("drop_path", "same for all samples")
def coin_without_the_batch(x, drop_prob, training):
    return x * F.dropout(torch.ones(x.shape[1:]), drop_prob, training)


@wrong("drop_path", "not scaled")
def forgets_to_divide(x, drop_prob, training):
    if not training:
        return x
    return x * (torch.rand(len(x), 1, 1) >= drop_prob)


@wrong("drop_path", "scaled by keep")
def multiplies(x, drop_prob, training):
    if not training:
        return x
    keep = 1 - drop_prob
    return x * (torch.rand(len(x), 1, 1) < keep) * keep


@wrong("drop_path", "drop_prob as keep")
def takes_it_for_keep(x, drop_prob, training):
    if not training or drop_prob == 0:
        return x
    return x * torch.bernoulli(torch.full((len(x), 1, 1), drop_prob)) / drop_prob


@wrong("drop_path", "coin inverted")
def compares_wrongly(x, drop_prob, training):
    if not training or drop_prob == 0:
        return x
    return x * (torch.rand(len(x), 1, 1) < drop_prob) / (1 - drop_prob)


@wrong("drop_path", "active in eval")
def does_not_ask(x, drop_prob, training):
    return F.dropout(torch.ones(len(x), 1, 1), drop_prob) * x


@wrong("drop_path", "training inverted")
def asks_wrongly(x, drop_prob, training):
    return F.dropout(torch.ones(len(x), 1, 1), drop_prob, not training) * x


@wrong("drop_path", "scaled in eval")
def as_in_2016(x, drop_prob, training):
    if training:
        return forgets_to_divide(x, drop_prob, training) / (1 - drop_prob)
    return x * (1 - drop_prob)


@wrong("drop_path", "scaled in eval alone")
def leaves_it_to_evaluation(x, drop_prob, training):
    if training:
        return forgets_to_divide(x, drop_prob, training)
    return x * (1 - drop_prob)


@wrong("drop_path", "removed")
def indexes_with_the_coin(x, drop_prob, training):
    if not training or drop_prob == 0:
        return x
    return x[torch.rand(len(x)) < 1 - drop_prob] / (1 - drop_prob)


@wrong("drop_path", "enlarged in eval")
def divides_always(x, drop_prob, training):
    keep = 1 - drop_prob
    coin = torch.rand(len(x), 1, 1) < keep if training else 1
    return x * coin / keep


@wrong("drop_path", "nothing drawn")
def on_average(x, drop_prob, training):
    return x * (1 - drop_prob) if training else x


@wrong("drop_path", "never dropped")
def nothing_at_all(x, drop_prob, training):
    return F.dropout(x, drop_prob, False)


@wrong("drop_path", "changes its input")
def drops_in_place(x, drop_prob, training):
    if training and drop_prob:
        x *= F.dropout(torch.ones(len(x), 1, 1), drop_prob)
    return x


@wrong("drop_path", "none")
def returns_nothing(x, drop_prob, training):
    as_in_timm(x, drop_prob, training)


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
