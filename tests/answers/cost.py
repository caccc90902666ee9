import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import NamedTuple

import torch

import vit_steps
from tests.answers import right, wrong

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
                raise ValueError("the height is left with a rest")
            if left + patch_size[1] > image_size[1]:
                raise ValueError("the width is left with a rest")
            count += 1
    return count


@right("token_count")
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
            raise ValueError(f"{rest} pixels left over")
        N *= many
    return N


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


right("attention_cost")(vit_steps.attention_cost)


@right("attention_cost")
def as_a_dict(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D = num_tokens, embed_dim
    square = bytes_per_number * T**2
    return {
        "projection_macs": 4 * T * D**2,
        "matmul_macs": T * D * T + T * T * D,
        "matrix_bytes": square,
        "all_heads_bytes": square * num_heads,
        "what": "of one image",
    }


class Cost(NamedTuple):
    matrix_bytes: int
    all_heads_bytes: int
    matmul_macs: int
    projection_macs: int


@right("attention_cost")
def as_a_named_tuple(T, D, h=1, size=4):
    d = D // h
    return Cost(T * T * size, h * T * T * size, h * 2 * T * T * d, 4 * T * D * D)


@right("attention_cost")
def as_a_tuple(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    d = embed_dim // num_heads
    scores = sum(num_tokens * num_tokens * d for _ in range(num_heads))
    square = num_tokens * num_tokens * bytes_per_number
    projections = num_tokens * embed_dim * embed_dim * 3 + num_tokens * embed_dim**2
    return square, num_heads * square, 2 * scores, projections


@right("attention_cost")
def as_an_object(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    cost = SimpleNamespace()
    scores = torch.empty(num_heads, num_tokens, num_tokens, device="meta")
    cost.matrix_bytes = scores[0].numel() * bytes_per_number
    cost.all_heads_bytes = scores.numel() * bytes_per_number
    cost.matmul_macs = 2 * scores.numel() * (embed_dim // num_heads)
    cost.projection_macs = 4 * num_tokens * math.prod([embed_dim] * 2)
    return cost


@wrong("attention_cost", "always four bytes")
def knows_float32_only(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D = num_tokens, embed_dim
    return T * T * 4, num_heads * T * T * 4, 2 * T * T * D, 4 * T * D * D


@wrong("attention_cost", "numbers for bytes")
def counts_numbers(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D = num_tokens, embed_dim
    return T * T, num_heads * T * T, 2 * T * T * D, 4 * T * D * D


@wrong("attention_cost", "heads multiply the products")
def adds_up_heads(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, square = num_tokens, embed_dim, num_tokens**2 * bytes_per_number
    return Cost(square, num_heads * square, num_heads * 2 * T**2 * D, 4 * T * D**2)


@wrong("attention_cost", "one head's products")
def forgets_the_other_heads(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, d, square = num_tokens, embed_dim // num_heads, num_tokens**2 * bytes_per_number
    return Cost(square, num_heads * square, 2 * T**2 * d, 4 * T * embed_dim**2)


@wrong("attention_cost", "one product")
def scores_alone(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, square = num_tokens, embed_dim, num_tokens**2 * bytes_per_number
    return Cost(square, num_heads * square, T**2 * D, 4 * T * D**2)


@wrong("attention_cost", "output projection left out")
def q_k_v_alone(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, square = num_tokens, embed_dim, num_tokens**2 * bytes_per_number
    return Cost(square, num_heads * square, 2 * T**2 * D, T * D * 3 * D)


@wrong("attention_cost", "flops for macs")
def as_a_flop_counter(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, square = num_tokens, embed_dim, num_tokens**2 * bytes_per_number
    return Cost(square, num_heads * square, 4 * T**2 * D, 8 * T * D**2)


@wrong("attention_cost", "heads share a square")
def one_square(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, square = num_tokens, embed_dim, num_tokens**2 * bytes_per_number
    return Cost(square, square, 2 * T**2 * D, 4 * T * D**2)


@wrong("attention_cost", "square divided among heads")
def shares_the_square(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, square = num_tokens, embed_dim, num_tokens**2 * bytes_per_number
    return Cost(square // num_heads, square // num_heads * num_heads, 2 * T**2 * D,
                4 * T * D**2)  # fmt: skip


@wrong("attention_cost", "class token added")
def counts_it_again(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D = num_tokens + 1, embed_dim
    square = T**2 * bytes_per_number
    return Cost(square, num_heads * square, 2 * T**2 * D, 4 * T * D**2)


@wrong("attention_cost", "missing")
def leaves_one_out(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    cost = vit_steps.attention_cost(num_tokens, embed_dim, num_heads, bytes_per_number)
    return {name: getattr(cost, name) for name in Cost._fields[:3]}


@wrong("attention_cost", "float")
def with_one_slash(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, square = num_tokens, embed_dim, num_tokens**2 * bytes_per_number
    macs = num_heads * 2 * T**2 * (D / num_heads)
    return Cost(square, num_heads * square, macs, 4 * T * D**2)


@dataclass
class Bill:
    square: int
    macs: int


@wrong("attention_cost", "missing")
def under_other_names(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    return Bill(num_tokens**2 * bytes_per_number, 2 * num_tokens**2 * embed_dim)


@wrong("attention_cost", "macs swapped")
def in_another_order(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, square = num_tokens, embed_dim, num_tokens**2 * bytes_per_number
    return square, num_heads * square, 4 * T * D**2, 2 * T**2 * D


@wrong("attention_cost", "raises")
def without_defaults(num_tokens, embed_dim, num_heads, bytes_per_number):
    return vit_steps.attention_cost(num_tokens, embed_dim, num_heads, bytes_per_number)


@wrong("attention_cost", "nothing mended")
def as_it_was_given(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, h = num_tokens, embed_dim, num_heads
    square = T * T * bytes_per_number
    return square, h * square, h * 2 * T * T * D, 3 * T * D * D


@wrong("attention_cost", "heads multiply the projections")
def four_matrices_a_head(num_tokens, embed_dim, num_heads=1, bytes_per_number=4):
    T, D, square = num_tokens, embed_dim, num_tokens**2 * bytes_per_number
    return Cost(square, num_heads * square, 2 * T**2 * D, num_heads * 4 * T * D**2)


@right("block_macs")
def as_two_named_sums(num_tokens, embed_dim, mlp_ratio=4):
    quadratic, linear = from_the_formulas(num_tokens, embed_dim, mlp_ratio)
    return {"linear": linear, "quadratic": quadratic}


@right("block_macs")
def from_the_formulas(num_tokens, embed_dim, mlp_ratio=4):
    T, D, M = num_tokens, embed_dim, mlp_ratio * embed_dim
    return 2 * T**2 * D, 4 * T * D**2 + 2 * T * D * M


@right("block_macs")
def from_the_package(T, D, r=4):
    cost = vit_steps.attention_cost(T, D)
    return [cost.matmul_macs, cost.projection_macs + 2 * T * D * int(r * D)]


@right("block_macs")
def from_the_whole_model(num_tokens, embed_dim, mlp_ratio=4):
    model = vit_steps.model_cost(
        image_size=(1, num_tokens - 1),
        patch_size=1,
        embed_dim=embed_dim,
        depth=1,
        num_heads=1,
        mlp_ratio=mlp_ratio,
    )
    linear = ("attn.qkv", "attn.proj", "mlp.fc1", "mlp.fc2")
    macs = sum(step.macs for step in model.steps if step.name in linear)
    return model.attention_macs, macs


@right("block_macs")
def by_layers(num_tokens, embed_dim, mlp_ratio=4):
    D, linear = embed_dim, 0
    for ins, outs in [(D, 3 * D), (D, D), (D, mlp_ratio * D), (mlp_ratio * D, D)]:
        linear += num_tokens * ins * outs
    return 2 * num_tokens * num_tokens * D, linear


def block(T, D, quadratic=2, per_token=0):
    return quadratic * T * T * D, T * per_token


@wrong("block_macs", "mlp left out")
def attention_alone(num_tokens, embed_dim, mlp_ratio=4):
    return block(num_tokens, embed_dim, per_token=4 * embed_dim**2)


@wrong("block_macs", "projections left out")
def products_and_mlp(num_tokens, embed_dim, mlp_ratio=4):
    return block(num_tokens, embed_dim, per_token=2 * embed_dim**2 * mlp_ratio)


@wrong("block_macs", "one layer of the mlp")
def up_and_never_down(num_tokens, embed_dim, mlp_ratio=4):
    return block(num_tokens, embed_dim, per_token=(4 + mlp_ratio) * embed_dim**2)


@wrong("block_macs", "always four times")
def twelve(num_tokens, embed_dim, mlp_ratio=4):
    return block(num_tokens, embed_dim, per_token=12 * embed_dim**2)


@wrong("block_macs", "output projection left out")
def three_and_two(num_tokens, embed_dim, mlp_ratio=4):
    return block(num_tokens, embed_dim, per_token=(3 + 2 * mlp_ratio) * embed_dim**2)


@wrong("block_macs", "one product")
def half_of_attention(num_tokens, embed_dim, mlp_ratio=4):
    D = embed_dim
    return block(num_tokens, D, quadratic=1, per_token=(4 + 2 * mlp_ratio) * D**2)


@wrong("block_macs", "order swapped")
def linear_first(num_tokens, embed_dim, mlp_ratio=4):
    quadratic, linear = from_the_formulas(num_tokens, embed_dim, mlp_ratio)
    return linear, quadratic


@wrong("block_macs", "flops for macs")
def as_a_counter_says(num_tokens, embed_dim, mlp_ratio=4):
    quadratic, linear = from_the_formulas(num_tokens, embed_dim, mlp_ratio)
    return quadratic * 2, linear * 2


@wrong("block_macs", "one sum")
def added_up(num_tokens, embed_dim, mlp_ratio=4):
    return sum(from_the_formulas(num_tokens, embed_dim, mlp_ratio))


@wrong("block_macs", "linear part of one token")
def without_the_tokens(num_tokens, embed_dim, mlp_ratio=4):
    return 2 * num_tokens**2 * embed_dim, (4 + 2 * mlp_ratio) * embed_dim**2


@wrong("block_macs", "mlp quadratic")
def attention_and_the_rest(num_tokens, embed_dim, mlp_ratio=4):
    T, D = num_tokens, embed_dim
    return 2 * T**2 * D + 2 * mlp_ratio * T * D**2, 4 * T * D**2


@wrong("block_macs", "float")
def with_a_float_ratio(num_tokens, embed_dim, mlp_ratio=4.0):
    M = float(mlp_ratio) * embed_dim
    quadratic, _ = from_the_formulas(num_tokens, embed_dim)
    return quadratic, num_tokens * (4 * embed_dim**2 + 2 * embed_dim * M)


@wrong("block_macs", "mlp of one token")
def mlp_without_tokens(num_tokens, embed_dim, mlp_ratio=4):
    T, D, M = num_tokens, embed_dim, mlp_ratio * embed_dim
    return 2 * T * T * D, T * 4 * D**2 + 2 * D * M


@wrong("block_macs", "projections of one token")
def projections_without_tokens(num_tokens, embed_dim, mlp_ratio=4):
    T, D, M = num_tokens, embed_dim, mlp_ratio * embed_dim
    return 2 * T * T * D, 4 * D**2 + T * (D * M + M * D)


@wrong("block_macs", "mlp layers all M by M")
def wide_throughout(num_tokens, embed_dim, mlp_ratio=4):
    T, D, M = num_tokens, embed_dim, mlp_ratio * embed_dim
    return 2 * T * T * D, T * (4 * D * D + 2 * M * M)


@wrong("block_macs", "pairs counted")
def pairs_alone(num_tokens, embed_dim, mlp_ratio=4):
    _, linear = from_the_formulas(num_tokens, embed_dim, mlp_ratio)
    return 2 * num_tokens**2, linear
