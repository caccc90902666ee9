import torch
from einops import rearrange


def cut_with_einops(images, patch_size):
    return rearrange(
        images,
        "b c (h p1) (w p2) -> b (h w) (c p1 p2)",
        p1=patch_size,
        p2=patch_size,
    )


def cut_with_loops(images, patch_size):
    P, patches = patch_size, []
    for top in range(0, images.shape[2], P):
        for left in range(0, images.shape[3], P):
            square = images[:, :, top : top + P, left : left + P]
            patches.append(square.flatten(1))
    return torch.stack(patches, dim=1)
