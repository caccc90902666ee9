import numpy as np
import torch
from einops import rearrange
from torch import nn

import vit_steps
from tests.checks.answers import right, wrong_edits


@wrong_edits("""
channels last: (c p1 p2) -> (p1 p2 c)
    as vit-pytorch
rows and columns swapped: (h w) -> (w h)
as if: rearrange(images, -> rearrange(images.permute(0, 1, 3, 2),
    the image turned
changes its input: return rearrange -> patches = rearrange
  p2=patch_size) -> p2=patch_size); images -= images.mean(); return patches
shape: p2=patch_size) -> p2=patch_size)[:, :, : 3 * patch_size**2]
depends on the batch: p2=patch_size)
  -> p2=patch_size).reshape(2, -1, images.shape[1] * patch_size**2)
    for the batch of the first test
""")
def cut_with_einops(images, patch_size):
    return rearrange(
        images, "b c (h p1) (w p2) -> b (h w) (c p1 p2)", p1=patch_size, p2=patch_size
    )


def cut_with_loops(images, patch_size):
    P, patches = patch_size, []
    for top in range(0, images.shape[2], P):
        for left in range(0, images.shape[3], P):
            square = images[:, :, top : top + P, left : left + P]
            patches.append(square.flatten(1))
    return torch.stack(patches, dim=1)


def cut_into_zeros(images, patch_size):
    patches = cut_with_loops(images, patch_size)
    return torch.zeros(patches.shape).copy_(patches)  # float32, whatever comes


right(vit_steps.patchify)


@wrong_edits("""
order: bhwcpq -> bhwcqp
depends on the batch: imgs.view(B, C, -> imgs.view(C, B,
  bchpwq -> cbhpwq
raises: W // p -> H // p
    for square images
view instead of cutting: x = torch.einsum("bchpwq->bhwcpq", x) -> pass
no gradient
  imgs.view -> torch.from_numpy(imgs.detach().double().numpy()).to(imgs.dtype).view
""")
def cut_with_view(imgs, p):
    B, C, H, W = imgs.size()
    x = imgs.view(B, C, H // p, p, W // p, p)
    x = torch.einsum("bchpwq->bhwcpq", x)
    return x.reshape(B, (H // p) * (W // p), C * p**2)


@wrong_edits("""
built in: x.view(B, -> x.view(4,
    "… and (4, … axis 0 is to be the batch, …"
built in: x.view(B, -> x.view(1,
    "… and (1, … axis 0 is to be the batch, …"
""")
def cut_with_tensor_unfold(images, patch_size):
    B, C = images.shape[:2]
    x = images.unfold(2, patch_size, patch_size).unfold(3, patch_size, patch_size)
    x = x.permute(0, 2, 3, 1, 4, 5).contiguous()
    return x.view(B, -1, C * patch_size * patch_size)


@wrong_edits("""
patches last: .transpose(1, 2) -> nothing
reshaped instead of turned: return nn.Unfold -> x = nn.Unfold
  .transpose(1, 2) -> ; return x.reshape(x.shape[0], x.shape[2], x.shape[1])
type: .transpose(1, 2) -> .mT.to_sparse()
    "… sparse tensor, expected a tensor…"
type: .transpose(1, 2) -> .mT.to(torch.float8_e5m2)
    "… float8_e5m2 tensor, expected a tensor…"
type: .transpose(1, 2) -> .mT.to("meta")
    "… holds no numbers, expected a tensor…"
type: return nn.Unfold -> x = nn.Unfold
  .transpose(1, 2) -> .mT; return torch.nested.nested_tensor([*x])
    "… nested tensor, expected a tensor…"
""")
def cut_with_nn_unfold(images, patch_size):
    return nn.Unfold(patch_size, stride=patch_size)(images).transpose(1, 2)


def cut_with_split(images, patch_size):
    rows = images.split(patch_size, dim=2)
    squares = [square for row in rows for square in row.split(patch_size, dim=3)]
    return torch.stack(squares, 1).flatten(2)


def cut_with_an_index(images, patch_size):
    C, H, W = images.shape[1:]
    order = np.arange(C * H * W).reshape(C, H // patch_size, patch_size, -1, patch_size)
    order = order.transpose(1, 3, 0, 2, 4).reshape(-1, C * patch_size**2)
    return images.flatten(1)[:, torch.from_numpy(order)]
