import torch
from einops import rearrange

from tests.checks.answers import right, wrong


@right("reorder_qkv")
def reorder_with_einops(rows, num_heads):
    return rearrange(rows, "(h n d) ... -> (n h d) ...", n=3, h=num_heads)


@right("reorder_qkv")
def reorder_with_reshape(rows, num_heads):
    d = rows.shape[0] // (3 * num_heads)
    cut = rows.reshape(num_heads, 3, d, *rows.shape[1:])
    return cut.transpose(0, 1).reshape(rows.shape)


@right("reorder_qkv")
def reorder_with_slices(rows, num_heads):
    d = len(rows) // num_heads // 3
    starts = [(3 * head + part) * d for part in range(3) for head in range(num_heads)]
    return torch.cat([rows[start : start + d] for start in starts])


@right("reorder_qkv")
def reorder_with_an_index(rows, num_heads):
    index = torch.arange(len(rows)).view(num_heads, 3, -1)
    return rows[index.permute(1, 0, 2).flatten()]


@wrong("reorder_qkv", "left as they were")
def reorder_by_view(rows, num_heads):
    d = len(rows) // (3 * num_heads)
    return rows.reshape(3, num_heads, d, -1).reshape(rows.shape)


@wrong("reorder_qkv", "the other way")
def reorder_back(rows, num_heads):
    return rearrange(rows, "(n h d) ... -> (h n d) ...", n=3, h=num_heads)


@wrong("reorder_qkv", "read as (h, d, 3)")
def reorder_every_third(rows, num_heads):
    return torch.cat([rows[i::3] for i in range(3)])


@wrong("reorder_qkv", "d before h")
def reorder_heads_inside(rows, num_heads):
    return rearrange(rows, "(h n d) ... -> (n d h) ...", n=3, h=num_heads)


@wrong("reorder_qkv", "d first")
def reorder_numbers_first(rows, num_heads):
    return rearrange(rows, "(h n d) ... -> (d h n) ...", n=3, h=num_heads)


@wrong("reorder_qkv", "values first")
def reorder_v_k_q(rows, num_heads):
    q, k, v = rearrange(rows, "(h n d) ... -> n (h d) ...", n=3, h=num_heads)
    return torch.cat([v, k, q])


@wrong("reorder_qkv", "three tensors")
def reorder_apart(rows, num_heads):
    q, k, v = rearrange(rows, "(h n d) ... -> n (h d) ...", n=3, h=num_heads)
    return q, k, v


@wrong("reorder_qkv", "not joined")
def reorder_and_stop(rows, num_heads):
    return rearrange(rows, "(h n d) ... -> n h d ...", n=3, h=num_heads)


@wrong("reorder_qkv", "transposed")
def reorder_and_turn(rows, num_heads):
    return reorder_with_einops(rows, num_heads).T


@wrong("reorder_qkv", "q alone")
def reorder_returns_q(rows, num_heads):
    return reorder_with_einops(rows, num_heads)[: len(rows) // 3]


@wrong("reorder_qkv", "changes its input")
def reorder_in_place(rows, num_heads):
    rows.copy_(reorder_with_einops(rows.clone(), num_heads))
    return rows


@right("reorder_qkv")
def by_row_numbers(rows, num_heads):
    d = len(rows) // (3 * num_heads)
    order = torch.arange(len(rows)).reshape(num_heads, 3, d).transpose(0, 1)
    return rows[order.flatten()]


@right("reorder_qkv")
def by_chunks_of_chunks(rows, num_heads):
    heads = [head.chunk(3) for head in rows.chunk(num_heads)]
    return torch.cat([head[which] for which in range(3) for head in heads])


@wrong("reorder_qkv", "the other way")
def by_row_numbers_the_other_way(rows, num_heads):
    d = len(rows) // (3 * num_heads)
    order = torch.arange(len(rows)).reshape(3, num_heads, d).transpose(0, 1)
    return rows[order.flatten()]
