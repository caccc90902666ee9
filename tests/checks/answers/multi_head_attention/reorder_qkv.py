import torch
from einops import rearrange

from tests.checks.answers import wrong_edits


@wrong_edits("""
the other way: (n h d) -> (h d n)
  (h n d) -> (n h d)
  (h d n) -> (h n d)
d before h: (n h d) -> (n d h)
d first: (n h d) -> (d h n)
shape: h=num_heads) -> h=num_heads)[: len(rows) // 3]
changes its input: rearrange(rows, -> rows.copy_(rearrange(rows.clone(),
  h=num_heads) -> h=num_heads))
""")
def reorder_with_einops(rows, num_heads):
    return rearrange(rows, "(h n d) ... -> (n h d) ...", n=3, h=num_heads)


@wrong_edits("left as they were: cut.transpose(0, 1) -> cut")
def reorder_with_reshape(rows, num_heads):
    d = rows.shape[0] // (3 * num_heads)
    cut = rows.reshape(num_heads, 3, d, *rows.shape[1:])
    return cut.transpose(0, 1).reshape(rows.shape)


@wrong_edits("""
read as (h, d, 3)
  rows[start : start + d] for start in starts -> rows[start::3] for start in range(3)
""")
def reorder_with_slices(rows, num_heads):
    d = len(rows) // num_heads // 3
    starts = [(3 * head + part) * d for part in range(3) for head in range(num_heads)]
    return torch.cat([rows[start : start + d] for start in starts])


def by_chunks_of_chunks(rows, num_heads):
    heads = [head.chunk(3) for head in rows.chunk(num_heads)]
    return torch.cat([head[which] for which in range(3) for head in heads])
