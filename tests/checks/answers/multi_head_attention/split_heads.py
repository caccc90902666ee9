import torch

from tests.checks.answers import right, wrong_edits
from tests.checks.answers.multi_head_attention._shared import split_with_einops

right(split_with_einops)


@wrong_edits("""
view instead of transpose
  T, num_heads, D // num_heads).permute(0, 2, 1, 3) -> num_heads, T, D // num_heads)
no gradient: x.view -> x.detach().view
raises: D // num_heads -> D
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


def split_with_loops(x, num_heads):
    d = x.shape[2] // num_heads
    return torch.stack(
        [
            torch.stack([sample[:, i * d : (i + 1) * d] for i in range(num_heads)])
            for sample in x
        ]
    )


def split_by_hand_with_gather(x, num_heads):
    columns = torch.arange(x.shape[2]).reshape(num_heads, -1)  # (h, d)
    return x[:, :, columns].movedim(2, 1)


OF_EINOPS = """
d before h: (h d) -> (d h)
d is h: (h d) -> (d h)
  b h t d -> b d t h
dtype: rearrange(x, -> rearrange(x.float(),
"""


wrong_edits(OF_EINOPS)(split_with_einops)
