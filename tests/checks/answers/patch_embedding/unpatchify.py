from einops import rearrange
from torch.nn import functional as F

import vit_steps
from tests.checks.answers import right, wrong_edits

right(vit_steps.unpatchify)


@wrong_edits("""
rows and columns swapped: (h w) -> (w h)
channels last in a patch: (c p1 p2) -> (p1 p2 c)
order: (h p1) (w p2) -> (h p2) (w p1)
    "… the number there belongs at [0, 0, 1, 0]"
raises: h=image_size[0] // patch_size
  -> h=int(patches.shape[1] ** 0.5), w=int(patches.shape[1] ** 0.5)
shape: h=image_size[0] // patch_size -> h=int(patches.shape[1] ** 0.5)
no gradient: rearrange(patches, -> rearrange(patches.detach(),
""")
def join_with_einops(patches, patch_size, image_size):
    return rearrange(
        patches,
        "b (h w) (c p1 p2) -> b c (h p1) (w p2)",
        h=image_size[0] // patch_size,
        p1=patch_size,
        p2=patch_size,
    )


@wrong_edits("""
sizes swapped: image_size, kernel_size -> image_size[::-1], kernel_size
folded without turning: .transpose(1, 2) -> nothing
""")
def join_with_fold(patches, patch_size, image_size):
    return F.fold(
        patches.transpose(1, 2), image_size, kernel_size=patch_size, stride=patch_size
    )


def join_with_pixel_shuffle(patches, patch_size, image_size):
    rows = image_size[0] // patch_size
    return F.pixel_shuffle(patches.mT.unflatten(2, (rows, -1)), patch_size)


@wrong_edits("view instead of joining: x = x.permute(0, 3, 1, 4, 2, 5) -> pass")
def join_with_permute(patches, patch_size, image_size):
    (H, W), P = image_size, patch_size
    x = patches.unflatten(1, (H // P, W // P)).unflatten(3, (-1, P, P))
    x = x.permute(0, 3, 1, 4, 2, 5)
    return x.reshape(len(patches), -1, H, W)
