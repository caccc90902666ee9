import torch
from einops import rearrange
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import right, right_edits, wrong_edits
from tests.checks.answers.encoder_block.layer_norm import by_the_formula
from tests.checks.answers.multi_head_attention.multi_head_attention import AsInFlax
from vit_steps import EncoderBlock, MultiHeadAttention, optional


class _Feed(nn.Sequential):
    def __init__(self, dim, hidden):
        super().__init__(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))


@wrong_edits("""
built in: super().__init__() -> super().__init__(); num_heads = 2
built in: super().__init__() -> super().__init__(); num_heads = 4
parameters: super().__init__() -> super().__init__(); mlp_ratio = 0.5
parameters: super().__init__() -> super().__init__(); mlp_ratio = 1
post-norm: x + self.attn(self.norm1(x)) -> self.norm1(x + self.attn(x))
  x + self.mlp(self.norm2(x)) -> self.norm2(x + self.mlp(x))
residual from the normed x
  x = x + self.attn(self.norm1(x)) -> x = self.norm1(x); x = x + self.attn(x)
  return x + self.mlp(self.norm2(x)) -> x = self.norm2(x); return x + self.mlp(x)
residual from the normed x at the MLP
  return x + self.mlp(self.norm2(x)) -> x = self.norm2(x); return x + self.mlp(x)
no residual: x + self.attn -> self.attn
  x + self.mlp -> self.mlp
no residual at the MLP: x + self.mlp -> self.mlp
one norm for both: self.norm2(x) -> self.norm1(x)
MLP without norm: self.norm2(x) -> x
parallel: x = x + self.attn -> attended = self.attn
  return x + -> return x + attended +
MLP first: self.attn(self.norm1(x)) -> self.mlp(self.norm1(x))
  self.mlp(self.norm2(x)) -> self.attn(self.norm2(x))
attention lost: x = x + -> y = x +
  self.norm2(x) -> self.norm2(y)
eps 1e-5: , eps=1e-6 -> nothing
tanh GELU: int(mlp_ratio * embed_dim))
  -> int(mlp_ratio * embed_dim)); self.mlp[1] = nn.GELU("tanh")
no activation: int(mlp_ratio * embed_dim))
  -> int(mlp_ratio * embed_dim)); self.mlp[1] = nn.Identity()
more than asked for
  self.norm1 = -> self.gamma_1 = nn.Parameter(0.1 * torch.ones(embed_dim)); self.norm1 =
  self.norm2 = -> self.gamma_2 = nn.Parameter(0.1 * torch.ones(embed_dim)); self.norm2 =
  x + self.attn -> x + self.gamma_1 * self.attn
  x + self.mlp -> x + self.gamma_2 * self.mlp
    LayerScale, as in CaiT and timm
batch in training
  return x + self.mlp(self.norm2(x)) -> x = x + self.mlp(self.norm2(x)); return x
  return x -> return x - self.training * x.mean(dim=0, keepdim=True)
changes its input: x = x + -> x +=
type: self.mlp(self.norm2(x)) -> self.mlp(self.norm2(x)), None
    a pair, where the task asks for the tokens and nothing else
not repeatable
  x + self.mlp(self.norm2(x)) -> F.dropout(x + self.mlp(self.norm2(x)), 0.1)
random in training: x = x + self.attn -> y = x; x = x + self.attn
  return x + self.mlp(self.norm2(x)) -> x = x + self.mlp(self.norm2(x)); return x
  return x -> return y + (x - y) * (torch.rand(len(x), 1, 1) >= 0.2 * self.training)
    drops branches, and does not scale the others
""")
class Block(nn.Module):
    """The block of the chapter."""

    def __init__(self, embed_dim, num_heads, mlp_ratio):
        super().__init__()
        self.norm1 = nn.LayerNorm(embed_dim, eps=1e-6)
        self.attention = MultiHeadAttention(embed_dim, num_heads)
        self.norm2 = nn.LayerNorm(embed_dim, eps=1e-6)
        self.mlp = _Feed(embed_dim, int(mlp_ratio * embed_dim))

    def attn(self, x):
        return self.attention(x)[0]

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


right(EncoderBlock)
wrong_edits("""
built in: int(embed_dim * mlp_ratio) -> 2 * embed_dim
    "… asked for mlp_ratio=2.75, it has mlp_ratio=2: …"
parameters: int(embed_dim * mlp_ratio) -> round(embed_dim * mlp_ratio)
    "… is expected for embed_dim=10, num_heads=2, mlp_ratio=2.75 (the names are free)"
shared: self.norm2 = nn.LayerNorm(embed_dim, eps=norm_eps)
  -> self.norm2 = self.norm1
    "… norm1 and norm2 are the same module…"
parameters: self.norm2 = nn.LayerNorm(embed_dim, eps=norm_eps)
  -> self.norm2 = nn.Sequential(nn.LayerNorm(10), nn.Linear(10, 10))
    "… the task asks for: norm2.1.weight (10, 10), norm2.1.bias (10,)"
""")(EncoderBlock)


@wrong_edits("""
ReLU: activation="gelu", -> nothing
dropout: dropout=0.0, -> nothing
across the batch: batch_first=True, -> nothing
""")
def pytorchs(embed_dim, num_heads, mlp_ratio):
    return nn.TransformerEncoderLayer(
        embed_dim,
        num_heads,
        int(embed_dim * mlp_ratio),
        activation="gelu",
        layer_norm_eps=1e-6,
        dropout=0.0,
        batch_first=True,
        norm_first=True,
    )


def timms_block(embed_dim, num_heads, mlp_ratio):
    make = optional.timm().models.vision_transformer.Block
    return make(embed_dim, num_heads, mlp_ratio, qkv_bias=True)


def torchvisions_block(embed_dim, num_heads, mlp_ratio):
    make = optional.torchvision().models.vision_transformer.EncoderBlock
    return make(num_heads, embed_dim, int(mlp_ratio * embed_dim), 0.0, 0.0)


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
            self.to_out = nn.Sequential(nn.Linear(dim, dim), nn.Dropout(0.0))

        def forward(self, x):
            q, k, v = rearrange(
                self.to_qkv(x), "b n (k h d) -> k b h n d", k=3, h=self.heads
            )
            out = F.scaled_dot_product_attention(q, k, v)
            return self.to_out(rearrange(out, "b h n d -> b n (h d)"))

    def __init__(self, dim, heads, ratio):
        super().__init__()
        self.ff = self.Branch(dim, _Feed(dim, int(dim * ratio)))
        self.attend = self.Branch(dim, self.Attention(dim, heads))

    def forward(self, x):
        return self.ff(self.attend(x))


@wrong_edits("""
no scale: (q, k, v) -> (q, k, v, scale=1.0)
""")
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
        self.ffn = _Feed(embed_dim, int(embed_dim * mlp_ratio))

    def forward(self, x):
        y = self.norms[0](x)
        k, q, v = (
            rearrange(f(y), "b t (h d) -> b h t d", h=self.h)
            for f in (self.k, self.q, self.v)
        )
        found = F.scaled_dot_product_attention(q, k, v)
        x = x + self.o(rearrange(found, "b h t d -> b t (h d)"))
        return x + self.ffn(self.norms[1](x))


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
            _Feed(embedding_dim, int(mlp_ratio * embedding_dim)),
        )

    def forward(self, x):
        x = self.msa_block(x) + x
        x = self.mlp_block(x) + x
        return x


@wrong_edits("""
residual from the normed x
  middle = attn(norm1(x)) + x -> x = norm1(x); middle = norm2(attn(x) + x)
  mlp(norm2(middle)) -> mlp(middle)
""")
def block_of_callables(x, norm1, attn, norm2, mlp):
    middle = attn(norm1(x)) + x
    return torch.add(middle, mlp(norm2(middle)))


# Norms whose parameters belong to the block


def _normed(x, weight, bias):
    return F.layer_norm(x, x.shape[-1:], weight.flatten(), bias.flatten(), 1e-6)


@right_edits("""
in Greek, of three axes: w1 -> gamma1
  b1 -> beta1
  w2 -> gamma2
  b2 -> beta2
  (D)) -> (1, 1, D))
by words: w1 -> norm1_weight
  b1 -> norm1_bias
  w2 -> norm2_weight
  b2 -> norm2_bias
weights first
  self.b1 = nn.Parameter(torch.zeros(D)) -> self.scale_b = nn.Parameter(torch.ones(D))
  self.w2 = nn.Parameter(torch.ones(D)) -> self.shift_a = nn.Parameter(torch.zeros(D))
  self.w1 -> self.scale_a
  self.b1 -> self.shift_a
  self.w2 -> self.scale_b
  self.b2 -> self.shift_b
in a list of parameters: self.w1, self.b1, self.w2, self.b2 -> self.norms
  self.w1 -> w1
  self.b1 -> b1
  self.w2 -> w2
  self.b2 -> b2
  self.attn = -> self.norms = nn.ParameterList([w1, b1, w2, b2]); self.attn =
""")
class RawNorms(nn.Module):
    """A block that calls layer norm as a function, on weights of its own."""

    def __init__(self, embed_dim, num_heads, mlp_ratio):
        super().__init__()
        D, M = embed_dim, int(embed_dim * mlp_ratio)
        self.w1 = nn.Parameter(torch.ones(D))
        self.b1 = nn.Parameter(torch.zeros(D))
        self.w2 = nn.Parameter(torch.ones(D))
        self.b2 = nn.Parameter(torch.zeros(D))
        self.attn = MultiHeadAttention(D, num_heads)
        self.fc1, self.fc2 = nn.Linear(D, M), nn.Linear(M, D)

    def forward(self, x):
        w1, b1, w2, b2 = self.w1, self.b1, self.w2, self.b2
        x = x + self.attn(_normed(x, w1, b1))[0]
        return x + self.fc2(F.gelu(self.fc1(_normed(x, w2, b2))))


class _WideNorm(nn.Module):
    def __init__(self, D):
        super().__init__()
        self.a, self.b = (
            nn.Parameter(torch.ones(1, 1, D)),
            nn.Parameter(torch.zeros(1, 1, D)),
        )

    def forward(self, x):
        return _normed(x, self.a, self.b)


right_edits(
    """
Flax's attention
  MultiHeadAttention(embed_dim, num_heads) -> AsInFlax(embed_dim, num_heads)
  self.attention(x)[0] -> self.attention(x)
weight and bias of three axes: nn.LayerNorm(embed_dim, eps=1e-6) -> _WideNorm(embed_dim)
""",
    AsInFlax=AsInFlax,
)(Block)
