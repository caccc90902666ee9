from einops import rearrange

from tests.checks.answers import wrong_edits


@wrong_edits("""
rows and columns swapped: d c p1 p2 -> d c p2 p1
channels in the middle: (p1 p2 c) -> (p1 c p2)
flipped: p2=patch_size) -> p2=patch_size).flip(-1, -2)
order: p2=patch_size) -> p2=patch_size).flip(1)
    "… along axis 1 it holds what belongs at 2, 1, 0"
reshape: d c p1 p2 -> d (c p1 p2)
""")
def conv_with_einops(weight, patch_size):
    pattern = "d (p1 p2 c) -> d c p1 p2"
    return rearrange(weight, pattern, p1=patch_size, p2=patch_size)


@wrong_edits("""
reshaped alone
  (patch_size, patch_size, -1)).movedim(-1, 1) -> (-1, patch_size, patch_size))
weight turned: weight.unflatten(1, (patch_size, patch_size, -1)).movedim(-1, 1)
  -> weight.reshape(patch_size, patch_size, -1, len(weight)).permute(3, 2, 0, 1)
raises: weight.unflatten(1, (patch_size, patch_size, -1))
  -> weight.reshape(len(weight), patch_size, patch_size, 3)
    for colour pictures alone
""")
def conv_with_unflatten(weight, patch_size):
    return weight.unflatten(1, (patch_size, patch_size, -1)).movedim(-1, 1)


def conv_pixel_by_pixel(weight, patch_size):
    D, P = len(weight), patch_size
    C = weight.shape[1] // P**2
    conv = weight.new_zeros(D, C, P, P)
    for row in range(P):
        for column in range(P):
            start = (row * P + column) * C
            conv[:, :, row, column] = weight[:, start : start + C]
    return conv
