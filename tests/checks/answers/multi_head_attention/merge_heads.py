import torch
from einops import rearrange

from tests.checks.answers import wrong_edits


@wrong_edits("""
d before h: (h d) -> (d h)
reshape: (h d)") -> (h d)").squeeze()
""")
def merge_with_einops(x):
    return rearrange(x, "b h t d -> b t (h d)")


@wrong_edits("""
view instead of transpose: x.transpose(1, 2).contiguous().view -> x.reshape
averaged: x.transpose(1, 2).contiguous().view(B, T, h * d) -> x.sum(1) / h
none: return x -> x
raises: .contiguous() -> nothing
built in: view(B, T -> view(5, -1
T and h mixed up: view(B, T, h * d) -> view(B, h, -1)
built in: x.transpose(1, 2).contiguous().view(B, T,
  -> x.permute(2, 0, 1, 3).reshape(T, B,
    "… alone: axis 0 is to be the batch, of 2 and of 1"
""")
def merge_with_contiguous(x):
    B, h, T, d = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, h * d)


@wrong_edits("order: range(x.shape[1]) -> reversed(range(x.shape[1]))")
def merge_with_cat(x):
    return torch.cat([x[:, i] for i in range(x.shape[1])], dim=-1)
