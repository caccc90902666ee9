import math

import torch
from einops import rearrange
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import right, wrong
from tests.checks.answers.multi_head_attention.shared import (
    merge_with_einops,
    split_with_einops,
)
from vit_steps import MultiHeadAttention


class Heads(nn.Module):
    """The code of most tutorials; the wrong answers below change a line of it."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.h, self.d = num_heads, embed_dim // num_heads
        self.query = nn.Linear(embed_dim, embed_dim)
        self.key = nn.Linear(embed_dim, embed_dim)
        self.value = nn.Linear(embed_dim, embed_dim)
        self.out = nn.Linear(embed_dim, embed_dim)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.h, self.d).transpose(1, 2)

    def scores(self, q, k):
        return q @ k.transpose(-2, -1) / math.sqrt(self.d)

    def merge(self, x):
        return x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)

    def forward(self, x):
        q, k, v = (self.split(f(x)) for f in (self.query, self.key, self.value))
        return self.out(self.merge(self.scores(q, k).softmax(dim=-1) @ v))


right("multi_head_attention")(Heads)


HEADS = 4


def built_in(number):
    class Fixed(Heads):
        def __init__(self, embed_dim, num_heads):
            super().__init__(embed_dim, number)

    return Fixed


for number in (2, 3, HEADS, 5, 10):
    wrong("multi_head_attention", "built in")(built_in(number))


@wrong("multi_head_attention", "built in")
class OfTwentyNumbers(Heads):
    def __init__(self, embed_dim, num_heads):
        super().__init__(20, num_heads)


@right("multi_head_attention")
class PyTorchs(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(embed_dim, num_heads, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x)


@right("multi_head_attention")
class HeadByHead(nn.Module):
    def __init__(self, dim, n):
        super().__init__()
        make = lambda: nn.Linear(dim, dim // n, bias=False)  # noqa: E731
        self.keys = nn.ModuleList([make() for _ in range(n)])
        self.queries = nn.ModuleList([make() for _ in range(n)])
        self.values = nn.ModuleList([make() for _ in range(n)])
        self.mix = nn.Linear(dim, dim)

    def forward(self, x):
        found = [
            F.scaled_dot_product_attention(q(x), k(x), v(x))
            for q, k, v in zip(self.queries, self.keys, self.values, strict=True)
        ]
        return self.mix(torch.cat(found, dim=-1)), None


@right("multi_head_attention")
class Interleaved(nn.Module):
    """One joint parameter in which each head's q, k and v are neighbours."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.h = num_heads
        self.W = nn.Parameter(torch.randn(embed_dim, 3 * embed_dim) * 0.02)
        self.b = nn.Parameter(torch.zeros(3 * embed_dim))
        self.W_o = nn.Parameter(torch.randn(embed_dim, embed_dim) * 0.02)

    def forward(self, x):
        qkv = rearrange(x @ self.W + self.b, "b t (h n d) -> n b h t d", n=3, h=self.h)
        scores = torch.einsum("bhqd,bhkd->bhqk", qkv[0], qkv[1])
        weights = (scores * qkv.shape[-1] ** -0.5).softmax(-1)
        return rearrange(weights @ qkv[2], "b h t d -> b t (h d)") @ self.W_o


@right("multi_head_attention")
def as_a_function(x, qkv_weight, qkv_bias, proj_weight, proj_bias, num_heads):
    q, k, v = F.linear(x, qkv_weight, qkv_bias).chunk(3, dim=-1)
    q, k, v = (split_with_einops(part, num_heads) for part in (q, k, v))
    found = F.scaled_dot_product_attention(q, k, v)
    return F.linear(merge_with_einops(found), proj_weight, proj_bias)


@wrong("multi_head_attention", "scale by D")
class ScaledByD(Heads):
    def scores(self, q, k):
        return q @ k.mT / math.sqrt(self.h * self.d)


@wrong("multi_head_attention", "no scale")
class Unscaled(Heads):
    def scores(self, q, k):
        return q @ k.mT


@wrong("multi_head_attention", "heads joined by view")
class JoinedByView(Heads):
    def merge(self, x):
        return x.reshape(x.shape[0], x.shape[2], -1)


@wrong("multi_head_attention", "attention among heads")
class NeverTransposed(Heads):
    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.h, self.d)

    def merge(self, x):
        return x.flatten(2)


@wrong("multi_head_attention", "heads averaged")
class Averaged(Heads):
    def merge(self, x):
        return x.mean(1).repeat(1, 1, self.h)


@wrong("multi_head_attention", "softmax over queries")
class OverQueries(Heads):
    def forward(self, x):
        q, k, v = (self.split(f(x)) for f in (self.query, self.key, self.value))
        return self.out(self.merge(self.scores(q, k).softmax(dim=2) @ v))


@wrong("multi_head_attention", "projection unused")
class Unprojected(Heads):
    def forward(self, x):
        q, k, v = (self.split(f(x)) for f in (self.query, self.key, self.value))
        return self.merge(self.scores(q, k).softmax(dim=-1) @ v)


@wrong("multi_head_attention", "not repeatable")
class DropoutWithoutEval(Heads):
    def forward(self, x):
        return F.dropout(super().forward(x), 0.1)


@wrong("multi_head_attention", "hidden")
class InAList(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.heads = [nn.Linear(embed_dim, embed_dim) for _ in range(3)]
        self.out = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        q, k, v = (head(x) for head in self.heads)
        return self.out(F.scaled_dot_product_attention(q, k, v))


@wrong("multi_head_attention", "no projection")
class WithoutProjection(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.h = num_heads
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim)

    def forward(self, x):
        q, k, v = (split_with_einops(p, self.h) for p in self.qkv(x).chunk(3, -1))
        return merge_with_einops(F.scaled_dot_product_attention(q, k, v))


@wrong("multi_head_attention", "no super")
class ForgetsSuper(Heads):
    def __init__(self, embed_dim, num_heads):
        self.out = nn.Linear(embed_dim, embed_dim)


@wrong("multi_head_attention", "misspelt __init__")
class Misspelt(nn.Module):
    def _init_(self, embed_dim, num_heads):
        super().__init__()
        self.out = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        return self.out(x)


@wrong("multi_head_attention", "depends on the batch")
class NormsOverTheBatch(Heads):
    def forward(self, x):
        return super().forward(x) - (x - x.roll(1, 0)).mean() * 0 + x.mean(0) * 1e-2


@wrong("multi_head_attention", "no scale")
def unscaled_function(x, qkv_weight, qkv_bias, proj_weight, proj_bias, num_heads):
    q, k, v = F.linear(x, qkv_weight, qkv_bias).chunk(3, dim=-1)
    q, k, v = (split_with_einops(part, num_heads) for part in (q, k, v))
    found = F.scaled_dot_product_attention(q, k, v, scale=1.0)
    return F.linear(merge_with_einops(found), proj_weight, proj_bias)


class JointHeads(nn.Module):
    """timm's joint layer; the wrong answers below split its output differently."""

    bias = True

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.h, self.d = num_heads, embed_dim // num_heads
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim, bias=self.bias)
        self.proj = nn.Linear(embed_dim, embed_dim)
        self.attn_drop, self.proj_drop = nn.Dropout(0.1), nn.Dropout(0.1)

    def cut(self, qkv):
        B, T, _ = qkv.shape
        return qkv.reshape(B, T, 3, self.h, self.d).permute(2, 0, 3, 1, 4).unbind(0)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.cut(self.qkv(x))
        weights = ((q * self.d**-0.5) @ k.transpose(-2, -1)).softmax(dim=-1)
        x = (self.attn_drop(weights) @ v).transpose(1, 2).reshape(B, T, D)
        return self.proj_drop(self.proj(x))


right("multi_head_attention")(JointHeads)


@right("multi_head_attention")
class AsUvA(JointHeads):
    """A joint layer in another valid layout: each head's q, k and v are neighbours."""

    def cut(self, qkv):
        B, T, _ = qkv.shape
        return qkv.reshape(B, T, self.h, 3 * self.d).transpose(1, 2).chunk(3, dim=-1)


@right("multi_head_attention")
class AsLucidrains(nn.Module):
    def __init__(self, dim, heads, dropout=0.0):
        super().__init__()
        dim_head = dim // heads
        inner_dim = dim_head * heads
        self.heads, self.scale = heads, dim_head**-0.5
        self.attend = nn.Softmax(dim=-1)
        self.to_qkv = nn.Linear(dim, inner_dim * 3, bias=False)
        self.to_out = nn.Sequential(nn.Linear(inner_dim, dim), nn.Dropout(dropout))

    def forward(self, x):
        qkv = self.to_qkv(x).chunk(3, dim=-1)
        q, k, v = (rearrange(t, "b n (h d) -> b h n d", h=self.heads) for t in qkv)
        attn = self.attend(torch.matmul(q, k.transpose(-1, -2)) * self.scale)
        return self.to_out(rearrange(torch.matmul(attn, v), "b h n d -> b n (h d)"))


@wrong("multi_head_attention", "norm inside")
class AsLucidrainsLater(AsLucidrains):
    def __init__(self, dim, heads):
        super().__init__(dim, heads)
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        return super().forward(self.norm(x))


@right("multi_head_attention")
class AsHuggingFace(nn.Module):
    """Separate q, k and v, a module for the projection, and a tuple as the output."""

    def __init__(self, hidden_size, num_attention_heads):
        super().__init__()
        self.h, self.d = num_attention_heads, hidden_size // num_attention_heads
        self.attention = nn.ModuleDict(
            {n: nn.Linear(hidden_size, hidden_size) for n in ("query", "key", "value")}
        )
        self.output = nn.ModuleDict({"dense": nn.Linear(hidden_size, hidden_size)})

    def transpose_for_scores(self, x):
        return x.view(*x.size()[:-1], self.h, self.d).permute(0, 2, 1, 3)

    def forward(self, hidden_states, output_attentions=False):
        parts = self.attention
        key = self.transpose_for_scores(parts["key"](hidden_states))
        value = self.transpose_for_scores(parts["value"](hidden_states))
        query = self.transpose_for_scores(parts["query"](hidden_states))
        scores = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(self.d)
        probs = nn.functional.softmax(scores, dim=-1)
        context = torch.matmul(probs, value).permute(0, 2, 1, 3).contiguous()
        context = self.output["dense"](context.view(*hidden_states.size()))
        return (context, probs) if output_attentions else (context,)


@right("multi_head_attention")
class AsD2l(nn.Module):
    """Lazy layers, and heads merged into the batch."""

    def __init__(self, num_hiddens, num_heads, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.W_q = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_k = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_v = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_o = nn.LazyLinear(num_hiddens, bias=bias)

    def transpose_qkv(self, X):
        X = X.reshape(X.shape[0], X.shape[1], self.num_heads, -1).permute(0, 2, 1, 3)
        return X.reshape(-1, X.shape[2], X.shape[3])

    def forward(self, X):
        q, k, v = (self.transpose_qkv(W(X)) for W in (self.W_q, self.W_k, self.W_v))
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.shape[-1])
        found = torch.bmm(torch.softmax(scores, dim=-1), v)
        found = found.reshape(-1, self.num_heads, *found.shape[1:]).permute(0, 2, 1, 3)
        return self.W_o(found.flatten(2))


@right("multi_head_attention")
class AsInJax(nn.Module):
    """Weights of three axes, (D, h, d) and (h, d, D), and only einsum."""

    def __init__(self, features, heads):
        super().__init__()
        d = features // heads
        make = lambda *shape: nn.Parameter(0.02 * torch.randn(shape))  # noqa: E731
        self.query, self.key = make(features, heads, d), make(features, heads, d)
        self.value, self.out = make(features, heads, d), make(heads, d, features)

    def forward(self, x):
        q, k, v = (
            torch.einsum("btm,mhd->bthd", x, W)
            for W in (self.query, self.key, self.value)
        )
        q = q / math.sqrt(q.shape[-1])
        weights = torch.einsum("bqhd,bkhd->bhqk", q, k).softmax(dim=-1)
        return torch.einsum("bhqk,bkhd,hdm->bqm", weights, v, self.out)


@right("multi_head_attention")
class AsArena(nn.Module):
    """Weights of three axes with the heads first, and biases of two axes."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        d = d_model // n_heads
        for name in "QKV":
            weight = nn.Parameter(torch.randn(n_heads, d_model, d))
            self.register_parameter(f"W_{name}", weight)
            self.register_parameter(f"b_{name}", nn.Parameter(torch.zeros(n_heads, d)))
        self.W_O = nn.Parameter(torch.randn(n_heads, d, d_model))
        self.b_O = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        q, k, v = (
            torch.einsum("btm,hmd->bthd", x, getattr(self, f"W_{name}"))
            + getattr(self, f"b_{name}")
            for name in "QKV"
        )
        scores = torch.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
        found = torch.einsum("bhqk,bkhd->bqhd", scores.softmax(-1), v)
        return torch.einsum("bqhd,hdm->bqm", found, self.W_O) + self.b_O


@right("multi_head_attention")
class MatricesOfItsOwn(nn.Module):
    """q, k and v as parameters multiplied from the right, the projection as a layer."""

    def __init__(self, D, h):
        super().__init__()
        self.h = h
        self.Wq, self.Wk, self.Wv = (nn.Parameter(torch.eye(D)) for _ in range(3))
        self.mix = nn.Linear(D, D)

    def forward(self, x):
        q, k, v = (
            split_with_einops(x @ W, self.h) for W in (self.Wq, self.Wk, self.Wv)
        )
        return self.mix(merge_with_einops(F.scaled_dot_product_attention(q, k, v)))


@right("multi_head_attention")
def head_by_head_function(x, qkv_w, qkv_b, proj_w, proj_b, num_heads):
    D = x.shape[-1]
    d = D // num_heads
    total = proj_b
    for i in range(num_heads):
        q, k, v = (
            x @ qkv_w[n * D + i * d : n * D + (i + 1) * d].T
            + qkv_b[n * D + i * d : n * D + (i + 1) * d]
            for n in range(3)
        )
        found = (q @ k.mT / d**0.5).softmax(dim=-1) @ v
        total = total + found @ proj_w[:, i * d : (i + 1) * d].T
    return total


@wrong("multi_head_attention", "qkv cut by view")
class CutByView(JointHeads):
    def cut(self, qkv):
        B, T, _ = qkv.shape
        return qkv.view(B, 3, self.h, T, self.d).unbind(1)


@wrong("multi_head_attention", "qkv cut by view, batch too")
class CutAllByView(JointHeads):
    def cut(self, qkv):
        B, T, _ = qkv.shape
        return qkv.view(3, B, self.h, T, self.d)


@wrong("multi_head_attention", "heads split by view")
class CutPerHeadByView(JointHeads):
    def cut(self, qkv):
        B, T, _ = qkv.shape
        return qkv.view(B, self.h, T, 3 * self.d).chunk(3, dim=-1)


@wrong("multi_head_attention", "attention among heads")
class PermutedToTokensFirst(JointHeads):
    def forward(self, x):
        B, T, D = x.shape
        qkv = self.qkv(x).reshape(B, T, 3, self.h, self.d).permute(2, 0, 1, 3, 4)
        found = F.scaled_dot_product_attention(*qkv)
        return self.proj(found.reshape(B, T, D))


@wrong("multi_head_attention", "raises")
class HeadsTakenForThree(JointHeads):
    def cut(self, qkv):
        B, T, _ = qkv.shape
        q, k, v = qkv.reshape(B, T, self.h, 3, self.d).permute(2, 0, 3, 1, 4)
        return q, k, v


@wrong("multi_head_attention", "raises")
class WithoutContiguous(Heads):
    def merge(self, x):
        return x.transpose(1, 2).view(x.shape[0], x.shape[2], -1)


@wrong("multi_head_attention", "softmax over heads")
class OverHeads(Heads):
    def forward(self, x):
        q, k, v = (self.split(f(x)) for f in (self.query, self.key, self.value))
        return self.out(self.merge(self.scores(q, k).softmax(dim=1) @ v))


@wrong("multi_head_attention", "scale by h")
class ScaledByHeads(Heads):
    def scores(self, q, k):
        return q @ k.mT / math.sqrt(q.shape[1])


@wrong("multi_head_attention", "scale by tokens")
class ScaledByTokens(Heads):
    def scores(self, q, k):
        return q @ k.mT / math.sqrt(q.shape[2])


@wrong("multi_head_attention", "causal")
class AsGpt(Heads):
    def __init__(self, n_embd, n_head, block_size=64):
        super().__init__(n_embd, n_head)
        past = torch.tril(torch.ones(block_size, block_size))
        self.register_buffer("past", past.view(1, 1, block_size, block_size))

    def scores(self, q, k):
        T = q.shape[2]
        scores = super().scores(q, k)
        return scores.masked_fill(self.past[:, :, :T, :T] == 0, float("-inf"))


@wrong("multi_head_attention", "across the batch")
class BatchSecond(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(embed_dim, num_heads)

    def forward(self, x):
        return self.attention(x, x, x)[0]


@wrong("multi_head_attention", "split and joined by view")
class ByViewBothWays(Heads):
    def split(self, x):
        return x.view(x.shape[0], self.h, x.shape[1], self.d)

    def merge(self, x):
        return x.reshape(x.shape[0], x.shape[2], -1)


@wrong("multi_head_attention", "d before h")
class LettersConfused(Heads):
    def split(self, x):
        return rearrange(x, "b t (d h) -> b h t d", h=self.h)

    def merge(self, x):
        return rearrange(x, "b h t d -> b t (d h)")


@wrong("multi_head_attention", "d before h in the merge")
class LettersConfusedAtTheEnd(Heads):
    def merge(self, x):
        return rearrange(x, "b h t d -> b t (d h)")


@wrong("multi_head_attention", "unused")
class KeysForgotten(Heads):
    def forward(self, x):
        q, v = self.split(self.query(x)), self.split(self.value(x))
        return self.out(self.merge(self.scores(q, q).softmax(dim=-1) @ v))


@wrong("multi_head_attention", "one head")
class HeadsForgotten(Heads):
    def forward(self, x):
        q, k, v = self.query(x), self.key(x), self.value(x)
        return self.out(F.scaled_dot_product_attention(q, k, v))


@wrong("multi_head_attention", "residual inside")
class WithResidual(Heads):
    def forward(self, x):
        return x + super().forward(x)


@wrong("multi_head_attention", "weights first")
class WeightsFirst(Heads):
    def forward(self, x):
        q, k, v = (self.split(f(x)) for f in (self.query, self.key, self.value))
        weights = self.scores(q, k).softmax(dim=-1)
        return weights, self.out(self.merge(weights @ v))


@wrong("multi_head_attention", "heads too wide")
class WideHeads(nn.Module):
    def __init__(self, k, heads):
        super().__init__()
        self.k, self.heads = k, heads
        self.tokeys = nn.Linear(k, k * heads, bias=False)
        self.toqueries = nn.Linear(k, k * heads, bias=False)
        self.tovalues = nn.Linear(k, k * heads, bias=False)
        self.unifyheads = nn.Linear(heads * k, k)

    def forward(self, x):
        q, k, v = (
            split_with_einops(f(x), self.heads)
            for f in (self.toqueries, self.tokeys, self.tovalues)
        )
        found = F.scaled_dot_product_attention(q, k, v)
        return self.unifyheads(merge_with_einops(found))


@wrong("multi_head_attention", "no projection")
class ValuesUnprojected(Heads):
    """A module with three matrices, whose values are the tokens themselves."""

    def __init__(self, embed_dim, num_heads):
        super().__init__(embed_dim, num_heads)
        self.value = nn.Identity()


@wrong("multi_head_attention", "projected twice")
class ProjectedTwice(Heads):
    def forward(self, x):
        return self.out(super().forward(x))


@wrong("multi_head_attention", "heads split by view")
def split_by_view_function(x, qkv_w, qkv_b, proj_w, proj_b, num_heads):
    parts = F.linear(x, qkv_w, qkv_b).chunk(3, dim=-1)
    q, k, v = (p.reshape(len(x), num_heads, x.shape[1], -1) for p in parts)
    found = F.scaled_dot_product_attention(q, k, v)
    return F.linear(merge_with_einops(found), proj_w, proj_b)


@wrong("multi_head_attention", "projection without its bias")
def biasless_function(x, qkv_w, qkv_b, proj_w, proj_b, num_heads):
    return as_a_function(x, qkv_w, qkv_b, proj_w, 0 * proj_b, num_heads)


# Heads divided in another way


class OneLayerAHead(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        d = embed_dim // num_heads
        self.qkv = nn.ModuleList(
            [nn.Linear(embed_dim, 3 * d) for _ in range(num_heads)]
        )
        self.out = self.output(embed_dim, d, num_heads)

    def output(self, D, d, h):
        return nn.Linear(D, D)

    def join(self, heads):
        return self.out(torch.cat(heads, dim=-1))

    def forward(self, x):
        found = []
        for layer in self.qkv:
            q, k, v = layer(x).chunk(3, dim=-1)
            found.append(F.scaled_dot_product_attention(q, k, v))
        return self.join(found)


right("multi_head_attention")(OneLayerAHead)


@right("multi_head_attention")
class OneOutputAHead(OneLayerAHead):
    def output(self, D, d, h):
        return nn.ModuleList([nn.Linear(d, D) for _ in range(h)])

    def join(self, heads):
        return sum(layer(head) for layer, head in zip(self.out, heads, strict=True))


@right("multi_head_attention")
class OneOutputAHeadOfThree(HeadByHead):
    def __init__(self, dim, n):
        super().__init__(dim, n)
        del self.mix
        self.proj = nn.ModuleList(
            [nn.Linear(dim // n, dim, bias=False) for _ in range(n)]
        )

    def forward(self, x):
        heads = zip(self.queries, self.keys, self.values, self.proj, strict=True)
        return sum(
            out(F.scaled_dot_product_attention(q(x), k(x), v(x)))
            for q, k, v, out in heads
        )


@right("multi_head_attention")
class AllInOneTensor(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.h = num_heads
        self.W = nn.Parameter(torch.randn(4, embed_dim, embed_dim) / embed_dim**0.5)

    def forward(self, x):
        q, k, v = (
            split_with_einops(x @ matrix, self.h) for matrix in self.W[:3].unbind()
        )
        return merge_with_einops(F.scaled_dot_product_attention(q, k, v)) @ self.W[3]


@right("multi_head_attention")
class BiasesInOneTensorToo(AllInOneTensor):
    def __init__(self, embed_dim, num_heads):
        super().__init__(embed_dim, num_heads)
        self.b = nn.Parameter(torch.zeros(4, embed_dim))

    def forward(self, x):
        *qkv, (W_out, b_out) = zip(self.W, self.b, strict=True)
        q, k, v = (split_with_einops(x @ W + b, self.h) for W, b in qkv)
        found = F.scaled_dot_product_attention(q, k, v)
        return merge_with_einops(found) @ W_out + b_out


@right("multi_head_attention")
class ThreeInOneTensor(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.h = num_heads
        self.W = nn.Parameter(torch.randn(3, embed_dim, embed_dim) / embed_dim**0.5)
        self.b = nn.Parameter(torch.zeros(3, embed_dim))
        self.proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        q, k, v = (
            split_with_einops(x @ W + b, self.h)
            for W, b in zip(self.W, self.b, strict=True)
        )
        return self.proj(merge_with_einops(F.scaled_dot_product_attention(q, k, v)))


# Scaled after the softmax, as in one tutorial


@wrong("multi_head_attention", "scale late, by d")
class ScaledLate(Heads):
    by = "d"

    def forward(self, x):
        q, k, v = (self.split(f(x)) for f in (self.query, self.key, self.value))
        width = self.d if self.by == "d" else self.d * self.h
        weights = (q @ k.transpose(-2, -1)).softmax(dim=-1) / width**0.5
        return self.out(self.merge(weights @ v))


@wrong("multi_head_attention", "scale late, by D")
class ScaledLateByD(ScaledLate):
    by = "D"


@wrong("multi_head_attention", "scaled twice")
class ScaledTwice(Heads):
    def merge(self, x):
        return super().merge(x) / self.d**0.5


@wrong("multi_head_attention", "weights first, averaged")
class PyTorchsTurned(PyTorchs):
    def forward(self, x):
        return super().forward(x)[::-1]


class BiasOfTheOutputAlone(nn.Module):
    """Parameters without layers; only the output has a bias, in any order."""

    order = ("wq", "wk", "wv", "wo", "bo")

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.h = num_heads
        for name in self.order:
            shape = (embed_dim,) * (2 if name.startswith("w") else 1)
            self.register_parameter(name, nn.Parameter(0.1 * torch.randn(*shape)))

    def mapped(self, x, letter):
        y = x @ getattr(self, f"w{letter}")
        return y + getattr(self, f"b{letter}", 0)

    def forward(self, x):
        q, k, v = (
            self.mapped(x, letter).unflatten(-1, (self.h, -1)).transpose(1, 2)
            for letter in "qkv"
        )
        found = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        return self.mapped(found, "o")


right("multi_head_attention")(BiasOfTheOutputAlone)


@right("multi_head_attention")
class BiasesInAnyOrder(BiasOfTheOutputAlone):
    order = ("wq", "wv", "bq", "bv", "wk", "wo", "bo")


@wrong("multi_head_attention", "result kept")
class KeepsTheResultOfEachShape(Heads):
    def forward(self, x):
        kept = self.__dict__.setdefault("kept", {})
        if x.shape not in kept:
            kept[x.shape] = super().forward(x)
        return kept[x.shape]


@wrong("multi_head_attention", "not repeatable")
class KeepsKeysAndValues(MultiHeadAttention):
    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.num_heads, -1)).unbind(2)
        q, k, v = (part.transpose(1, 2) for part in (q, k, v))
        past = self.__dict__.get("past")
        if past is not None and past[0].shape == k.shape:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        self.__dict__["past"] = k[:, :, -x.shape[1] :], v[:, :, -x.shape[1] :]
        found = F.scaled_dot_product_attention(q, k, v)
        return self.proj(found.transpose(1, 2).flatten(2))


@wrong("multi_head_attention", "wrong in training")
class DoubledInTraining(Heads):
    def forward(self, x):
        return super().forward(x) * (1 + self.training)


@right("multi_head_attention")
class DropsWeightsInTraining(MultiHeadAttention):
    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.num_heads, -1)).unbind(2)
        q, k, v = (part.transpose(1, 2) for part in (q, k, v))
        drop = 0.1 if self.training else 0.0
        found = F.scaled_dot_product_attention(q, k, v, None, drop)
        return self.proj(found.transpose(1, 2).flatten(2))


@right("multi_head_attention")
class PyTorchsWithDropout(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.layer = nn.MultiheadAttention(
            embed_dim, num_heads, dropout=0.2, batch_first=True
        )

    def forward(self, x):
        return self.layer(x, x, x)[0]
