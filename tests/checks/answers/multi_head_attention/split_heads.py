import torch
from einops import rearrange

from tests.checks.answers import wrong_edits


@wrong_edits("""
d before h: (h d) -> (d h)
d is h: (h d) -> (d h)
  b h t d -> b d t h
""")
def split_with_einops(x, num_heads):
    return rearrange(x, "b t (h d) -> b h t d", h=num_heads)


@wrong_edits("""
view instead of transpose
  T, num_heads, D // num_heads).permute(0, 2, 1, 3) -> num_heads, T, D // num_heads)
no gradient: x.view -> x.detach().view
raises: D // num_heads -> D
built in: B, T, D = -> T, B, D =
    "… alone: axis 0 is to be the batch, of 2 and of 1"
""")
def split_with_view(x, num_heads):
    B, T, D = x.size()
    return x.view(B, T, num_heads, D // num_heads).permute(0, 2, 1, 3)


@wrong_edits("""
no transpose: dim=1 -> dim=2
tokens split: dim=-1 -> dim=1
""")
def split_with_chunks(x, num_heads):
    return torch.stack(torch.chunk(x, num_heads, dim=-1), dim=1)
