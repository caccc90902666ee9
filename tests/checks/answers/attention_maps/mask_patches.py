from einops import rearrange
from torch.nn import functional as F

from tests.checks.answers import right, wrong_edits
from vit_steps.attention_maps import mask_patches

right(mask_patches)


@wrong_edits("""
changes its input: images.clone(), -> images,
columns first: row, column = i // columns, i % columns
  -> column, row = divmod(int(i), images.shape[2] // P)
first image's patches
  zip(images, indices, -> zip(images, indices[:1].expand_as(indices),
counted from 1: in hidden: -> in hidden - 1:
as if: ] = fill -> ] = 0.0
first patch alone: in hidden: -> in hidden[:1]:
first channel alone: image[:, -> image[:1,
none: return images -> nothing
the others taken: images, columns, P -> given = images; images, columns, P
  return images -> return torch.where(images == given, fill, given)
""")
def with_slices(images, patch_size, indices, fill=0.0):
    images, columns, P = images.clone(), images.shape[3] // patch_size, patch_size
    for image, hidden in zip(images, indices, strict=True):
        for i in hidden:
            row, column = i // columns, i % columns
            image[:, row * P : (row + 1) * P, column * P : (column + 1) * P] = fill
    return images


def with_einops_and_scatter(images, patch_size, indices, fill=0.0):
    rows = images.shape[2] // patch_size
    patches = rearrange(
        images, "b c (i p) (j q) -> b (i j) (c p q)", p=patch_size, q=patch_size
    )
    index = indices[:, :, None].expand(-1, -1, patches.shape[2])
    patches = patches.scatter(1, index, fill)
    return rearrange(
        patches,
        "b (i j) (c p q) -> b c (i p) (j q)",
        i=rows,
        p=patch_size,
        q=patch_size,
    )


def with_interpolate(images, patch_size, indices, fill=0.0):
    B, _, H, W = images.shape
    N = H // patch_size * (W // patch_size)
    hidden = F.one_hot(indices, N).sum(1).clamp(max=1).float()
    hidden = hidden.reshape(B, 1, H // patch_size, W // patch_size)
    hidden = F.interpolate(hidden, scale_factor=patch_size, mode="nearest")
    return images * (1 - hidden) + fill * hidden
