import torch
from einops import rearrange

from tests.checks.answers import wrong_edits


@wrong_edits("""
as if
  a * cos - b * sin, a * sin + b * cos -> a * cos + b * sin, b * cos - a * sin
no minus: a * cos - b * sin -> a * cos + b * sin
sine and cosine exchanged: cos, sin = torch.cos(angles), torch.sin(angles)
  -> sin, cos = torch.cos(angles), torch.sin(angles)
degrees: torch.cos(angles), torch.sin(angles)
  -> torch.cos(angles / 180 * torch.pi), torch.sin(angles / 180 * torch.pi)
dtype: out.to(x.dtype) -> out
angles rounded: cos, sin = -> angles = angles.to(x.dtype); cos, sin =
neighbouring pairs: x[..., :half], x[..., half:] -> x[..., ::2], x[..., 1::2]
  torch.cat -> torch.stack
  dim=-1) -> dim=-1).flatten(-2)
neighbours read, halves written
  x[..., :half], x[..., half:] -> x[..., ::2], x[..., 1::2]
changes its input: return out.to -> x.copy_(out); return out.to
""")
def in_two_halves(x, angles):
    half = x.shape[-1] // 2
    a, b = x[..., :half], x[..., half:]
    cos, sin = torch.cos(angles), torch.sin(angles)
    out = torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
    return out.to(x.dtype)


def _rotate_half(x):
    first, second = x.chunk(2, dim=-1)
    return torch.cat([-second, first], dim=-1)


def by_rotate_half(x, angles):
    angles = torch.cat([angles, angles], dim=-1)
    return (x * angles.cos() + _rotate_half(x) * angles.sin()).to(x.dtype)


def with_complex_numbers(x, angles):
    pairs = rearrange(x.to(angles.dtype), "... (two i) -> ... i two", two=2)
    turned = torch.view_as_complex(pairs.contiguous()) * torch.exp(1j * angles)
    return rearrange(torch.view_as_real(turned), "... i two -> ... (two i)").to(x)


def by_matrices(x, angles):
    cos, sin = angles.cos(), angles.sin()
    turn = torch.stack([torch.stack([cos, -sin], -1), torch.stack([sin, cos], -1)], -2)
    pairs = torch.stack(x.to(angles.dtype).chunk(2, dim=-1), dim=-1)
    turned = torch.einsum("tiab,...tib->...tia", turn, pairs)
    return torch.cat(turned.unbind(-1), dim=-1).to(x.dtype)
