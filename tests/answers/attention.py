import math

import torch
from einops import rearrange
from torch import nn
from torch.nn import functional as F

from tests.answers import right, wrong


@right("scaled_dot_product_attention")
def as_in_the_paper(q, k, v):
    weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1)
    return weights @ v, weights


@right("scaled_dot_product_attention")
def with_einsum(q, k, v):
    scores = torch.einsum("...qd,...kd->...qk", q * q.shape[-1] ** -0.5, k)
    weights = F.softmax(scores, -1)
    return torch.einsum("...qk,...kd->...qd", weights, v), weights


@right("scaled_dot_product_attention")
def with_its_own_softmax(q, k, v):
    scores = torch.matmul(q, k.mT) / q.shape[-1] ** 0.5
    scores = (scores - scores.amax(-1, keepdim=True)).exp()
    weights = scores / scores.sum(-1, keepdim=True)
    return (torch.matmul(weights, v), weights)


@right("scaled_dot_product_attention")
def query_by_query(q, k, v):
    outputs, rows = [], []
    for t in range(q.shape[-2]):
        scores = (q[..., t : t + 1, :] * k).sum(-1) / math.sqrt(q.shape[-1])
        row = scores.softmax(-1)
        rows.append(row)
        outputs.append((row.unsqueeze(-1) * v).sum(-2))
    return torch.stack(outputs, -2), torch.stack(rows, -2)


@wrong("scaled_dot_product_attention", "no scale")
def unscaled(q, k, v):
    weights = F.softmax(torch.matmul(q, k.transpose(-1, -2)), dim=-1)
    return torch.matmul(weights, v), weights


@wrong("scaled_dot_product_attention", "scale by tokens")
def scaled_by_sequence_length(q, k, v):
    weights = F.softmax(q @ k.mT / math.sqrt(k.size(-2)), dim=-1)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "softmax over queries")
def softmax_without_minus_one(q, k, v):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    weights = nn.Softmax(dim=scores.ndim - 2)(scores)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "q and k swapped")
def keys_ask(q, k, v):
    weights = F.softmax(k @ q.transpose(-2, -1) / math.sqrt(q.size(-1)), dim=-1)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "keys reshaped")
def reshaped_until_it_fits(q, k, v):
    turned = k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2])
    weights = F.softmax(q @ turned / math.sqrt(q.size(-1)), dim=-1)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "not repeatable")
def dropout_always_on(q, k, v):
    weights = F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
    return F.dropout(weights, 0.1) @ v, weights


@wrong("scaled_dot_product_attention", "changes its input")
def scales_in_place(q, k, v):
    q /= math.sqrt(q.size(-1))
    weights = (q @ k.mT).softmax(-1)
    return weights @ v, weights


@wrong("scaled_dot_product_attention", "output alone")
def forgets_the_weights(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


@wrong("scaled_dot_product_attention", "gradient")
def detaches_the_weights(q, k, v):
    weights = F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
    return weights.detach() @ v, weights


@wrong("scaled_dot_product_attention", "dtype")
def in_float32(q, k, v):
    q, k, v = q.float(), k.float(), v.float()
    weights = F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
    return weights @ v, weights


@right("masked_attention")
def fills_with_minus_infinity(q, k, v, mask):
    scores = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(~mask, float("-inf"))
    weights = torch.nan_to_num(scores.softmax(-1), nan=0.0)
    return weights @ v, weights


@right("masked_attention")
def fills_with_the_smallest_number(q, k, v, mask):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    scores = torch.where(mask, scores, torch.finfo(q.dtype).min)
    weights = torch.where(mask, F.softmax(scores, -1), 0.0).to(q.dtype)
    return weights @ v, weights


@right("masked_attention")
def sums_what_is_allowed(q, k, v, mask):
    scores = q @ k.mT / math.sqrt(q.size(-1))
    powers = (scores - scores.amax(-1, keepdim=True)).exp() * mask
    total = powers.sum(-1, keepdim=True)
    weights = powers / torch.where(total == 0, 1, total)
    return weights @ v, weights


@wrong("masked_attention", "mask inverted")
def hides_what_it_may_see(q, k, v, mask):
    scores = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(mask, float("-inf"))
    weights = torch.nan_to_num(scores.softmax(-1))
    return weights @ v, weights


@wrong("masked_attention", "row of NaN")
def leaves_nan(q, k, v, mask):
    scores = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(mask == 0, float("-inf"))
    weights = scores.softmax(-1)
    return weights @ v, weights


@wrong("masked_attention", "mask ignored")
def takes_a_mask_and_forgets_it(q, k, v, mask=None):
    return as_in_the_paper(q, k, v)


@wrong("masked_attention", "mask multiplied")
def multiplies_scores(q, k, v, mask):
    weights = F.softmax(q @ k.mT / math.sqrt(q.size(-1)) * mask.to(q.dtype), dim=-1)
    return weights @ v, weights


@wrong("masked_attention", "mask after softmax")
def clears_weights(q, k, v, mask):
    weights = F.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
    weights = weights.masked_fill(~mask, 0)
    return weights @ v, weights


@wrong("masked_attention", "row left level")
def never_fully_masked(q, k, v, mask):
    scores = (q @ k.mT / math.sqrt(q.size(-1))).masked_fill(~mask, -1e9)
    weights = scores.softmax(-1)
    return weights @ v, weights


@wrong("masked_attention", "raises")
def a_mask_of_another_kind(q, k, v, mask):
    scores = q @ k.mT / math.sqrt(q.size(-1)) + mask.logarithm()
    return scores.softmax(-1) @ v, scores


@wrong("masked_attention", "no scale")
def masked_but_unscaled(q, k, v, mask):
    scores = (q @ k.mT).masked_fill(~mask, float("-inf"))
    weights = torch.nan_to_num(scores.softmax(-1))
    return weights @ v, weights


@right("split_heads")
def split_with_einops(x, num_heads):
    return rearrange(x, "b t (h d) -> b h t d", h=num_heads)


@right("split_heads")
def split_with_view(x, num_heads):
    B, T, D = x.size()
    return x.view(B, T, num_heads, D // num_heads).permute(0, 2, 1, 3)


@right("split_heads")
def split_with_chunks(x, num_heads):
    return torch.stack(torch.chunk(x, num_heads, dim=-1), dim=1)


@right("split_heads")
def split_with_loops(x, num_heads):
    d = x.shape[2] // num_heads
    return torch.stack(
        [
            torch.stack([sample[:, i * d : (i + 1) * d] for i in range(num_heads)])
            for sample in x
        ]
    )


@wrong("split_heads", "view instead of transpose")
def split_with_one_view(x, num_heads):
    B, T, D = x.size()
    return x.view(B, num_heads, T, D // num_heads)


@wrong("split_heads", "no transpose")
def split_and_left_there(x, num_heads):
    return rearrange(x, "b t (h d) -> b t h d", h=num_heads)


@wrong("split_heads", "d before h")
def split_with_the_wrong_letters(x, num_heads):
    return rearrange(x, "b t (d h) -> b h t d", h=num_heads)


@wrong("split_heads", "tokens behind d")
def split_like_keys(x, num_heads):
    return rearrange(x, "b t (h d) -> b h d t", h=num_heads)


@wrong("split_heads", "heads in the batch")
def split_into_the_batch(x, num_heads):
    return rearrange(x, "b t (h d) -> (b h) t d", h=num_heads)


@wrong("split_heads", "heads first")
def split_heads_first(x, num_heads):
    return rearrange(x, "b t (h d) -> h b t d", h=num_heads)


@wrong("split_heads", "a tuple of heads")
def split_into_a_list(x, num_heads):
    return list(torch.split(x, x.shape[-1] // num_heads, dim=-1))


@wrong("split_heads", "no gradient")
def split_by_numpy(x, num_heads):
    parts = x.detach().reshape(*x.shape[:2], num_heads, -1)
    return parts.transpose(1, 2)


@wrong("split_heads", "dtype")
def split_as_float32(x, num_heads):
    return split_with_einops(x.float(), num_heads)


@right("merge_heads")
def merge_with_einops(x):
    return rearrange(x, "b h t d -> b t (h d)")


@right("merge_heads")
def merge_with_contiguous(x):
    B, h, T, d = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, h * d)


@right("merge_heads")
def merge_with_cat(x):
    return torch.cat([x[:, i] for i in range(x.shape[1])], dim=-1)


@wrong("merge_heads", "view instead of transpose")
def merge_with_reshape_alone(x):
    B, h, T, d = x.shape
    return x.reshape(B, T, h * d)


@wrong("merge_heads", "averaged")
def merge_by_mean(x):
    return x.sum(1) / x.shape[1]


@wrong("merge_heads", "summed")
def merge_by_sum(x):
    return torch.einsum("bhtd->btd", x)


@wrong("merge_heads", "d before h")
def merge_interleaved(x):
    return rearrange(x, "b h t d -> b t (d h)")


@wrong("merge_heads", "heads along the tokens")
def merge_below(x):
    return rearrange(x, "b h t d -> b (h t) d")


@wrong("merge_heads", "T and D swapped")
def merge_turned(x):
    return rearrange(x, "b h t d -> b (h d) t")


@wrong("merge_heads", "heads reversed")
def merge_backwards(x):
    return torch.cat(list(x.unbind(1))[::-1], dim=-1)


@wrong("merge_heads", "none")
def merge_without_return(x):
    x.transpose(1, 2).flatten(2)


class Heads(nn.Module):
    """As most tutorials have it; the wrong ones below change a line of it."""

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
    """q, k and v side by side within each head, in one matrix that is a parameter."""

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
