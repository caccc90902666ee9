from einops import rearrange

from tests.checks.answers import wrong, wrong_edits


@wrong_edits("""
rows and columns swapped: d c p1 p2 -> d c p2 p1
channels in the middle: (p1 p2 c) -> (p1 c p2)
flipped: p2=patch_size) -> p2=patch_size).flip(-1, -2)
turned: p2=patch_size) -> p2=patch_size).flip(1)
reshape: d c p1 p2 -> d (c p1 p2)
""")
def conv_with_einops(weight, patch_size):
    pattern = "d (p1 p2 c) -> d c p1 p2"
    return rearrange(weight, pattern, p1=patch_size, p2=patch_size)


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


@wrong("reshaped alone")
def conv_with_view(weight, patch_size):
    C = weight.size(1) // patch_size**2
    return weight.view(weight.size(0), C, patch_size, patch_size)


@wrong("weight turned")
def conv_of_a_kernel(weight, patch_size):
    P, D = patch_size, weight.shape[0]
    return weight.reshape(P, P, weight.shape[1] // P**2, D).permute(3, 2, 0, 1)


@wrong("raises")
def conv_of_colour_pictures(weight, patch_size):
    P = patch_size
    return weight.reshape(len(weight), P, P, 3).permute(0, 3, 1, 2)
