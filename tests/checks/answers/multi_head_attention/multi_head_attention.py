import math

import torch
from einops import rearrange
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import right_edits, wrong_edits
from tests.checks.answers.multi_head_attention.merge_heads import merge_with_einops
from tests.checks.answers.multi_head_attention.split_heads import split_with_einops
from vit_steps import MultiHeadAttention, scaled_dot_product_attention


@right_edits("""
three matrices, multiplied from the right
  nn.Linear(embed_dim, embed_dim) -> nn.Parameter(torch.eye(embed_dim))
  self.out = nn.Parameter(torch.eye(embed_dim))
  -> self.out = nn.Linear(embed_dim, embed_dim)
  self.split(f(x)) for f in -> self.split(x @ W) for W in
""")
@wrong_edits("""
built in: super().__init__() -> super().__init__(); num_heads = 2
built in: super().__init__() -> super().__init__(); num_heads = 3
no super: super().__init__() -> pass
hidden: self.query = nn.Linear(embed_dim, embed_dim)
  -> self.three = [nn.Linear(embed_dim, embed_dim) for _ in range(3)]
  self.key = nn.Linear(embed_dim, embed_dim) -> pass
  self.value = nn.Linear(embed_dim, embed_dim) -> pass
  (self.query, self.key, self.value) -> self.three
misspelt __init__: def __init__ -> def _init_
causal: super().__init__()
  -> super().__init__(); self.register_buffer("past", torch.ones(1, 1, 64, 64).tril())
  return q @ -> T = q.shape[2]; hidden = self.past[:, :, :T, :T] == 0; return (q @
  math.sqrt(self.d) -> math.sqrt(self.d)).masked_fill(hidden, float("-inf"))
heads too wide: num_heads, embed_dim // num_heads -> num_heads, embed_dim
  nn.Linear(embed_dim, embed_dim) -> nn.Linear(embed_dim, num_heads * embed_dim)
  self.out = nn.Linear(embed_dim, num_heads * embed_dim)
  -> self.out = nn.Linear(num_heads * embed_dim, embed_dim)
no projection
  self.value = nn.Linear(embed_dim, embed_dim) -> self.value = nn.Identity()
scale by D: math.sqrt(self.d) -> math.sqrt(self.h * self.d)
no scale: / math.sqrt(self.d) -> nothing
not finite: self.scores(q, k).softmax(dim=-1)
  -> (e := self.scores(q, k).exp()) / e.sum(dim=-1, keepdim=True)
softmax over queries: dim=-1 -> dim=2
softmax over heads: dim=-1 -> dim=1
heads joined by view: x.transpose(1, 2).reshape -> x.reshape
raises: transpose(1, 2).reshape -> transpose(1, 2).view
attention among heads: self.d).transpose(1, 2) -> self.d)
  x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1) -> x.flatten(2)
d before h: x.view(x.shape[0], x.shape[1], self.h, self.d).transpose(1, 2)
  -> rearrange(x, "b t (d h) -> b h t d", h=self.h)
  x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)
  -> rearrange(x, "b h t d -> b t (d h)")
d before h in the merge: x.transpose(1, 2).reshape(x.shape[0], x.shape[2], -1)
  -> rearrange(x, "b h t d -> b t (d h)")
queries for keys: self.scores(q, k) -> self.scores(q, q)
one head: self.split(f(x)) -> f(x)
  self.merge(self.scores(q, k).softmax(dim=-1) @ v)
  -> F.scaled_dot_product_attention(q, k, v)
residual inside: return self.out( -> return x + self.out(
wrong in training: return self.out( -> return (1 + self.training) * self.out(
weights first: return self.out
  -> weights = self.scores(q, k).softmax(dim=-1); return weights, self.out
  forward(self, x) -> forward(self, x, need_weights=True)
type: self.out(self.merge(self.scores(q, k).softmax(dim=-1) @ v))
  -> self.out(self.merge(self.scores(q, k).softmax(dim=-1) @ v)), None
    "… expected a tensor (B, T, D) and nothing else"
not repeatable: return self.out -> return F.dropout(self.out
  @ v)) -> @ v)), 0.1)
depends on the batch: return self.out( -> return x.mean(0) * 1e-2 + self.out(
values: return self.out(
  -> return torch.cat([*map(self, x.split(64, 1))], 1) if len(x[0]) > 64 else self.out(
    "… differs first at … expected …, for x (1, 66, 20)"
result kept: super().__init__() -> super().__init__(); self.kept = {}
  return self.out( -> return self.kept.setdefault(x.shape, self.out(
  @ v)) -> @ v)))
not repeatable: super().__init__() -> super().__init__(); self.past = []
  return self.out
  -> same = [pair for pair in self.past if pair[0].shape == k.shape]; return self.out
  return self.out -> self.past = [(k, v)]; return self.out
  return self.out
  -> k, v = (torch.cat(pair, dim=2) for pair in zip(*same, (k, v))); return self.out
    the keys and values of the last call are kept
random in training: self.scores(q, k).softmax(dim=-1)
  -> F.dropout(self.scores(q, k).softmax(dim=-1), 0.1, self.training)
""")
class Heads(nn.Module):
    """The code of most tutorials."""

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


@right_edits("""
a rate that can be chosen: embed_dim, num_heads) -> embed_dim, num_heads, p=0.2)
  batch_first=True -> dropout=p, batch_first=True
a pair, unless it is told: forward(self, x) -> forward(self, x, need_weights=True)
  self.attention(x, x, x)[0] -> self.attention(x, x, x)[: 1 + need_weights]
""")
@wrong_edits("""
across the batch: , batch_first=True -> nothing
dropout: batch_first=True -> dropout=0.2, batch_first=True
""")
class PyTorchs(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.attention = nn.MultiheadAttention(embed_dim, num_heads, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x)[0]


@right_edits("""
an output layer for each head: self.mix = nn.Linear(dim, dim)
  -> self.mix = nn.ModuleList([nn.Linear(dim // n, dim, bias=False) for _ in range(n)])
  self.mix(torch.cat(found, dim=-1))
  -> sum(layer(head) for layer, head in zip(self.mix, found))
""")
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
        return self.mix(torch.cat(found, dim=-1))


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


@wrong_edits("""
not finite: found = F.scaled_dot_product_attention(q, k, v)
  -> e = (q @ k.mT / q.shape[-1] ** 0.5).exp(); found = e / e.sum(-1, keepdim=True) @ v
heads split by view
  split_with_einops(part, num_heads) -> part.reshape(len(x), num_heads, x.shape[1], -1)
no scale: F.scaled_dot_product_attention(q, k, v)
  -> F.scaled_dot_product_attention(q, k, v, scale=1.0)
""")
def as_a_function(x, qkv_weight, qkv_bias, proj_weight, proj_bias, num_heads):
    q, k, v = F.linear(x, qkv_weight, qkv_bias).chunk(3, dim=-1)
    q, k, v = (split_with_einops(part, num_heads) for part in (q, k, v))
    found = F.scaled_dot_product_attention(q, k, v)
    return F.linear(merge_with_einops(found), proj_weight, proj_bias)


@right_edits("""
each head's q, k and v are neighbours
  qkv.reshape(B, T, 3, self.h, self.d).permute(2, 0, 3, 1, 4).unbind(0)
  -> qkv.reshape(B, T, self.h, 3 * self.d).transpose(1, 2).chunk(3, dim=-1)
""")
@wrong_edits("""
no projection: self.proj = nn.Linear(embed_dim, embed_dim) -> pass
  self.proj_drop(self.proj(x)) -> x
qkv cut by view: qkv.reshape(B, T, 3, self.h, self.d).permute(2, 0, 3, 1, 4).unbind(0)
  -> qkv.view(B, 3, self.h, T, self.d).unbind(1)
heads split by view
  qkv.reshape(B, T, 3, self.h, self.d).permute(2, 0, 3, 1, 4).unbind(0)
  -> qkv.view(B, self.h, T, 3 * self.d).chunk(3, dim=-1)
raises: 3, self.h, self.d -> self.h, 3, self.d
dropout: nn.Dropout(proj_drop) -> nn.Dropout(0.1)
""")
class JointHeads(nn.Module):
    """timm's joint layer."""

    def __init__(self, embed_dim, num_heads, attn_drop=0.1, proj_drop=0.1):
        super().__init__()
        self.h, self.d = num_heads, embed_dim // num_heads
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim)
        self.proj = nn.Linear(embed_dim, embed_dim)
        self.attn_drop, self.proj_drop = nn.Dropout(attn_drop), nn.Dropout(proj_drop)

    def cut(self, qkv):
        B, T, _ = qkv.shape
        return qkv.reshape(B, T, 3, self.h, self.d).permute(2, 0, 3, 1, 4).unbind(0)

    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.cut(self.qkv(x))
        weights = ((q * self.d**-0.5) @ k.transpose(-2, -1)).softmax(dim=-1)
        x = (self.attn_drop(weights) @ v).transpose(1, 2).reshape(B, T, D)
        return self.proj_drop(self.proj(x))


@wrong_edits("""
norm inside: super().__init__() -> super().__init__(); self.norm = nn.LayerNorm(dim)
  self.to_qkv(x) -> self.to_qkv(self.norm(x))
""")
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


@wrong_edits("""
layout: (3, self.num_heads, -1)).unbind(2) -> (self.num_heads, 3, -1)).unbind(3)
as ours: self.proj(x), weights if need_weights else None -> self.proj(x)
as ours: weights if need_weights else None -> weights
as ours: weights if -> weights.mean(dim=1) if
    "… need_weights=True, the weights have shape (2, 7, 7), expected (2, 4, 7, 7)"
""")
class Mended(MultiHeadAttention):
    def forward(self, x, need_weights=False):
        qkv = self.qkv(x).unflatten(-1, (3, self.num_heads, -1)).unbind(2)
        x, weights = scaled_dot_product_attention(*(t.transpose(1, 2) for t in qkv))
        x = x.transpose(1, 2).flatten(2)
        return self.proj(x), weights if need_weights else None


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


@right_edits("""
an output layer for each head: self.out = nn.Linear(embed_dim, embed_dim)
  -> self.out = nn.ModuleList([nn.Linear(d, embed_dim) for _ in range(num_heads)])
  self.out(torch.cat(found, dim=-1))
  -> sum(layer(head) for layer, head in zip(self.out, found))
""")
class OneLayerAHead(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        d = embed_dim // num_heads
        self.qkv = nn.ModuleList(
            [nn.Linear(embed_dim, 3 * d) for _ in range(num_heads)]
        )
        self.out = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        found = []
        for layer in self.qkv:
            q, k, v = layer(x).chunk(3, dim=-1)
            found.append(F.scaled_dot_product_attention(q, k, v))
        return self.out(torch.cat(found, dim=-1))


@right_edits("""
biases in one tensor too
  embed_dim**0.5) -> embed_dim**0.5); self.b = nn.Parameter(torch.zeros(4, embed_dim))
  x @ W, self.h) for W in self.W[:3]
  -> x @ W + b, self.h) for W, b in zip(self.W[:3], self.b)
  @ self.W[3] -> @ self.W[3] + self.b[3]
q, k and v in one tensor, and the projection a layer
  torch.randn(4, embed_dim -> torch.randn(3, embed_dim
  embed_dim**0.5) -> embed_dim**0.5); self.b = nn.Parameter(torch.zeros(3, embed_dim))
  self.h = num_heads -> self.h = num_heads; self.proj = nn.Linear(embed_dim, embed_dim)
  x @ W, self.h) for W in self.W[:3]
  -> x @ W + b, self.h) for W, b in zip(self.W, self.b)
  merge_with_einops(found) @ self.W[3] -> self.proj(merge_with_einops(found))
""")
class AllInOneTensor(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.h = num_heads
        self.W = nn.Parameter(torch.randn(4, embed_dim, embed_dim) / embed_dim**0.5)

    def forward(self, x):
        q, k, v = (split_with_einops(x @ W, self.h) for W in self.W[:3])
        found = F.scaled_dot_product_attention(q, k, v)
        return merge_with_einops(found) @ self.W[3]


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


class BiasesInAnyOrder(BiasOfTheOutputAlone):
    order = ("wq", "wv", "bq", "bv", "wk", "wo", "bo")


def _numbers(*shape):
    return nn.Parameter(torch.randn(shape) / max(shape[0], 1) ** 0.5)


def _attended(q, k, v):
    return (q @ k.mT / math.sqrt(q.shape[-1])).softmax(dim=-1) @ v


class AsInKeras(nn.Module):
    def __init__(self, D, h):
        super().__init__()
        for name in ("query", "key", "value"):
            setattr(self, f"{name}_kernel", _numbers(D, h, D // h))
            setattr(self, f"{name}_bias", _numbers(h, D // h))
        self.output_kernel, self.output_bias = _numbers(h, D // h, D), _numbers(D)

    def made(self, x, name):
        made = torch.einsum("btD,Dhd->bthd", x, getattr(self, f"{name}_kernel"))
        return (made + getattr(self, f"{name}_bias")).transpose(1, 2)

    def forward(self, x):
        found = _attended(*(self.made(x, name) for name in ("query", "key", "value")))
        return torch.einsum("bhtd,hdD->btD", found, self.output_kernel) + (
            self.output_bias
        )


class AsInFlax(nn.Module):
    def __init__(self, D, h):
        super().__init__()
        self.qkv_kernel, self.qkv_bias = (
            _numbers(D, 3, h, D // h),
            _numbers(3, h, D // h),
        )
        self.out_kernel, self.out_bias = _numbers(h, D // h, D), _numbers(D)

    def forward(self, x):
        qkv = torch.einsum("btD,Dnhd->nbthd", x, self.qkv_kernel)
        found = _attended(*(qkv + self.qkv_bias[:, None, None]).transpose(2, 3))
        return torch.einsum("bhtd,hdD->btD", found, self.out_kernel) + self.out_bias


class HeadsInFront(nn.Module):
    def __init__(self, D, h):
        super().__init__()
        self.w, self.b = _numbers(3, h, D, D // h), _numbers(3, h, 1, D // h)
        self.o, self.c = _numbers(h, D // h, D), _numbers(D)

    def forward(self, x):
        qkv = torch.einsum("btD,nhDd->nbhtd", x, self.w) + self.b[:, None]
        return torch.einsum("bhtd,hdD->btD", _attended(*qkv), self.o) + self.c


class OneBiasOfAllOutputs(nn.Module):
    def __init__(self, D, h):
        super().__init__()
        self.h, self.qkv, self.bias = h, nn.Linear(D, 3 * D), _numbers(D)
        self.outs = nn.ModuleList(nn.Linear(D // h, D, bias=False) for _ in range(h))

    def forward(self, x):
        qkv = self.qkv(x).unflatten(-1, (3, self.h, -1)).permute(2, 0, 3, 1, 4)
        found = _attended(*qkv)
        return self.bias + sum(out(found[:, i]) for i, out in enumerate(self.outs))
