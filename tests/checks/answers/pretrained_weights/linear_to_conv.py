import torch
from einops import rearrange

from tests.checks.answers import right, wrong


@right("linear_to_conv")
def conv_with_einops(weight, patch_size):
    pattern = "d (p1 p2 c) -> d c p1 p2"
    return rearrange(weight, pattern, p1=patch_size, p2=patch_size)


@right("linear_to_conv")
def conv_with_unflatten(weight, patch_size):
    return weight.unflatten(1, (patch_size, patch_size, -1)).movedim(-1, 1)


@right("linear_to_conv")
def conv_pixel_by_pixel(weight, patch_size):
    D, P = len(weight), patch_size
    C = weight.shape[1] // P**2
    conv = weight.new_zeros(D, C, P, P)
    for row in range(P):
        for column in range(P):
            start = (row * P + column) * C
            conv[:, :, row, column] = weight[:, start : start + C]
    return conv


@wrong("linear_to_conv", "reshaped alone")
def conv_with_view(weight, patch_size):
    C = weight.size(1) // patch_size**2
    return weight.view(weight.size(0), C, patch_size, patch_size)


@wrong("linear_to_conv", "rows and columns swapped")
def conv_columns_first(weight, patch_size):
    pattern = "d (p1 p2 c) -> d c p2 p1"
    return rearrange(weight, pattern, p1=patch_size, p2=patch_size)


@wrong("linear_to_conv", "channels last")
def conv_as_in_tensorflow(weight, patch_size):
    pattern = "d (p1 p2 c) -> d p1 p2 c"
    return rearrange(weight, pattern, p1=patch_size, p2=patch_size)


@wrong("linear_to_conv", "channels in the middle")
def conv_row_channel_column(weight, patch_size):
    pattern = "d (p1 c p2) -> d c p1 p2"
    return rearrange(weight, pattern, p1=patch_size, p2=patch_size)


@wrong("linear_to_conv", "weight turned")
def conv_of_a_kernel(weight, patch_size):
    P, D = patch_size, weight.shape[0]
    return weight.reshape(P, P, weight.shape[1] // P**2, D).permute(3, 2, 0, 1)


@wrong("linear_to_conv", "flipped")
def conv_of_mathematics(weight, patch_size):
    return torch.flip(conv_with_einops(weight, patch_size), dims=[-1, -2])


@wrong("linear_to_conv", "C before D")
def conv_in_out(weight, patch_size):
    pattern = "d (p1 p2 c) -> c d p1 p2"
    return rearrange(weight, pattern, p1=patch_size, p2=patch_size)


@wrong("linear_to_conv", "raises")
def conv_of_colour_pictures(weight, patch_size):
    P = patch_size
    return weight.reshape(len(weight), P, P, 3).permute(0, 3, 1, 2)


@wrong("linear_to_conv", "flattened")
def conv_still_flat(weight, patch_size):
    pattern = "d (p1 p2 c) -> d (c p1 p2)"
    return rearrange(weight, pattern, p1=patch_size, p2=patch_size)
