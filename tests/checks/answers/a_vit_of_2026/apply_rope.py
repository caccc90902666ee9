import torch
from einops import rearrange

from tests.checks.answers import wrong, wrong_edits


@wrong_edits("""
turned the other way
  a * cos - b * sin, a * sin + b * cos -> a * cos + b * sin, b * cos - a * sin
no minus: a * cos - b * sin -> a * cos + b * sin
sine and cosine exchanged: cos, sin = torch.cos(angles), torch.sin(angles)
  -> sin, cos = torch.cos(angles), torch.sin(angles)
degrees: torch.cos(angles), torch.sin(angles)
  -> torch.cos(angles / 180 * torch.pi), torch.sin(angles / 180 * torch.pi)
dtype: out.to(x.dtype) -> out
gradient: torch.cos(angles) -> torch.cos(angles.detach())
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


@wrong("neighbouring pairs")
def complex_numbers_of_neighbours(x, angles):
    pairs = x.to(angles.dtype).reshape(*x.shape[:-1], -1, 2)
    turned = torch.view_as_complex(pairs.contiguous()) * torch.polar(
        torch.ones_like(angles), angles
    )
    return torch.view_as_real(turned).flatten(-2).to(x.dtype)


@wrong("neighbours read, halves written")
def reads_neighbours(x, angles):
    return in_two_halves(torch.cat([x[..., 0::2], x[..., 1::2]], dim=-1), angles)


@wrong("changes its input")
def in_place(x, angles):
    out = by_rotate_half(x, angles)
    x.copy_(out)
    return out
