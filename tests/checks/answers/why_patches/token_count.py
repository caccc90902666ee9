import numpy as np
import torch

import vit_steps
from tests.checks.answers import right, wrong

right("token_count")(vit_steps.token_count)


@right("token_count")
def with_loops(image_size, patch_size):
    if not isinstance(image_size, tuple):
        image_size = (image_size, image_size)
    if not isinstance(patch_size, tuple):
        patch_size = (patch_size, patch_size)
    count = 0
    for top in range(0, image_size[0], patch_size[0]):
        for left in range(0, image_size[1], patch_size[1]):
            if top + patch_size[0] > image_size[0]:
                raise ValueError(f"height {image_size[0]}, patch {patch_size[0]}")
            if left + patch_size[1] > image_size[1]:
                raise ValueError(f"width {image_size[1]}, patch {patch_size[1]}")
            count += 1
    return count


@wrong("token_count", "assert")
def with_assert(image_size, patch_size):
    H, W = image_size if isinstance(image_size, (tuple, list)) else [image_size] * 2
    p, q = patch_size if isinstance(patch_size, (tuple, list)) else [patch_size] * 2
    assert H % p == 0 and W % q == 0, "image must be divisible by patch"
    return int((H / p) * (W / q))


@right("token_count")
def with_tensors(image_size, patch_size):
    image = torch.tensor(image_size).expand(2)
    patch = torch.tensor(patch_size).expand(2)
    if (image % patch).any():
        raise ValueError(f"{image} is no multiple of {patch}")
    return (image // patch).prod()


@right("token_count")
def with_divmod(image_size, patch_size):
    N = 1
    for axis in range(2):
        side = image_size if type(image_size) is int else image_size[axis]
        step = patch_size if type(patch_size) is int else patch_size[axis]
        many, rest = divmod(side, step)
        if rest:
            raise ValueError(f"{side} pixels in steps of {step} leave {rest} over")
        N *= many
    return N


@wrong("token_count", "assert")
def asserts_and_names_the_sizes(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    assert H % p == 0, f"height {H} is no multiple of {p}"
    assert W % q == 0, f"width {W} is no multiple of {q}"
    return (H // p) * (W // q)


@wrong("token_count", "sizes not named")
def refuses_without_a_word(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    if H % p or W % q:
        raise ValueError
    return (H // p) * (W // q)


@wrong("token_count", "sizes not named")
def refuses_as_tutorials_do(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    if H % p or W % q:
        raise ValueError("Image dimensions must be divisible by the patch size.")
    return (H // p) * (W // q)


@wrong("token_count", "sizes not named")
def names_the_image_alone(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    if H % p or W % q:
        raise ValueError(f"an image of {H}x{W} does not fit")
    return (H // p) * (W // q)


def pair(size):
    return size if isinstance(size, tuple) else (size, size)


@wrong("token_count", "class token counted")
def counts_t(image_size, patch_size):
    return vit_steps.token_count(image_size, patch_size) + 1


@wrong("token_count", "no pairs")
def as_in_most_tutorials(image_size, patch_size):
    assert image_size % patch_size == 0
    return (image_size // patch_size) ** 2


@wrong("token_count", "no pairs")
def with_a_pair_of_the_image_only(image_size, patch_size):
    height, width = image_size if isinstance(image_size, tuple) else [image_size] * 2
    if height % patch_size != 0 or width % patch_size != 0:
        raise ValueError("does not fit")
    return height // patch_size * (width // patch_size)


@wrong("token_count", "rest dropped")
def floors_each_side(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    return (H // p) * (W // q)


@wrong("token_count", "rest dropped")
def as_a_convolution_counts(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    return int((H - p) / p + 1) * int((W - q) / q + 1)


@wrong("token_count", "area divided")
def divides_areas(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    return (H * W) // (p * q)


@wrong("token_count", "rest counted as a patch")
def pads_in_thought(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    return -(-H // p) * -(-W // q)


@wrong("token_count", "area checked")
def checks_the_area(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    N = H * W / (p * q)
    if N != int(N):
        raise ValueError("not a whole number of patches")
    return int(N)


@wrong("token_count", "width not checked")
def checks_the_height(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    if H % p:
        raise ValueError("height")
    return (H // p) * (W // q)


@wrong("token_count", "width not checked")
def checks_with_and_for_or(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    if not H % p == 0 == H % q and H != W:
        pass
    if H % p:
        raise ValueError("height")
    return H // p * (W // q)


@wrong("token_count", "height squared")
def takes_the_image_for_square(image_size, patch_size):
    return (pair(image_size)[0] // pair(patch_size)[0]) ** 2


@wrong("token_count", "one side")
def forgets_the_columns(image_size, patch_size):
    return pair(image_size)[0] // pair(patch_size)[0]


@wrong("token_count", "divided once")
def divides_by_the_side(image_size, patch_size):
    H, W = pair(image_size)
    return H * W // pair(patch_size)[0]


@wrong("token_count", "pixels in a patch")
def counts_inside(image_size, patch_size):
    p, q = pair(patch_size)
    return p * q


@wrong("token_count", "float")
def divides_with_one_slash(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    if H % p or W % q:
        raise ValueError("does not fit")
    return (H / p) * (W / q)


@wrong("token_count", "steps of one pixel")
def slides(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    return len(range(H - p + 1)) * len(range(W - q + 1))


@wrong("token_count", "one too few a side")
def stops_early(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    return len(range(0, H - p, p)) * len(range(0, W - q, q))


@wrong("token_count", "patch sides swapped")
def swaps_the_patch(image_size, patch_size):
    (H, W), (q, p) = pair(image_size), pair(patch_size)
    if H % q or W % p:
        raise ValueError("does not fit")
    return (H // p) * (W // q)


@wrong("token_count", "none")
def prints_it(image_size, patch_size):
    print(pair(image_size)[0] // pair(patch_size)[0])


@wrong("token_count", "raises")
def refuses_everything(image_size, patch_size):
    raise ValueError("image_size: expected a multiple of the patch size")


@wrong("token_count", "another error")
def raises_what_comes_to_mind(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    if H % p or W % q:
        raise Exception(f"{H}×{W} does not fit")
    return (H // p) * (W // q)


@wrong("token_count", "not raised")
def prints_the_error(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    if H % p or W % q:
        return print("ValueError: does not fit")
    return (H // p) * (W // q)


@wrong("token_count", "not raised")
def returns_the_error(image_size, patch_size):
    try:
        return vit_steps.token_count(image_size, patch_size)
    except ValueError as error:
        return error


@wrong("token_count", "not raised")
def says_none_fit(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    return 0 if H % p or W % q else (H // p) * (W // q)


@wrong("token_count", "no ints")
def takes_pairs_alone(image_size, patch_size):
    if image_size[0] % patch_size[0] or image_size[1] % patch_size[1]:
        raise ValueError("does not fit")
    return image_size[0] // patch_size[0] * (image_size[1] // patch_size[1])


@wrong("token_count", "patch sides swapped and checked")
def takes_the_patch_as_width_and_height(image_size, patch_size):
    (H, W), (width, height) = pair(image_size), pair(patch_size)
    if H % height or W % width:
        raise ValueError("does not fit")
    return (H // height) * (W // width)


@right("token_count")
def with_numpy(image_size, patch_size):
    image, patch = np.broadcast_to(image_size, 2), np.broadcast_to(patch_size, 2)
    if np.any(image % patch):
        raise ValueError(f"patch {tuple(patch)} does not divide image {tuple(image)}")
    return np.prod(image // patch)


@right("token_count")
def with_recursion(image_size, patch_size):
    if isinstance(image_size, int):
        return with_recursion((image_size, image_size), patch_size)
    if isinstance(patch_size, int):
        return with_recursion(image_size, (patch_size, patch_size))
    if [n for n, p in zip(image_size, patch_size, strict=True) if n % p]:
        raise ValueError(f"image_size={image_size}, patch_size={patch_size}")
    return len(range(0, image_size[0], patch_size[0])) * (
        image_size[1] // patch_size[1]
    )


@wrong("token_count", "raises")
def checks_the_wrong_way_round(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    if p % H or q % W:
        raise ValueError(f"{image_size} does not fit {patch_size}")
    return (H // p) * (W // q)


@wrong("token_count", "height not checked")
def checks_the_last_side_alone(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    for side, step in ((H, p), (W, q)):
        rest = side % step
    if rest:
        raise ValueError(f"{side} is no multiple of {step}")
    return (H // p) * (W // q)


@wrong("token_count", "and for or")
def checks_that_both_sides_leave_a_rest(image_size, patch_size):
    (H, W), (p, q) = pair(image_size), pair(patch_size)
    if H % p and W % q:
        raise ValueError(f"{image_size} does not fit {patch_size}")
    return (H // p) * (W // q)
