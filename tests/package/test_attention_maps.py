import math

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA
from torch.nn import functional as F

from tests.conftest import draw_at_random
from vit_steps import VisionTransformer, ViTConfig
from vit_steps.attention_maps import (
    attention_distance,
    attention_rollout,
    class_token_attention,
    class_token_to_patches,
    deletion_curve,
    mask_patches,
    mass_inside,
    patch_brightness,
    patch_filters,
    position_similarity,
    uniform_distance,
)

# Images of 12×10, cut into 4×2 patches of 3×5.
IMAGE = (12, 10)
PATCH = (3, 5)
GRID = (4, 2)
N = 8
B, C, L, h, T, D, K = 5, 3, 4, 2, 9, 6, 7


def model():
    config = ViTConfig(
        image_size=IMAGE,
        patch_size=PATCH,
        num_classes=K,
        embed_dim=D,
        depth=L,
        num_heads=h,
    )
    return draw_at_random(VisionTransformer(config), 0.5).eval()


def random_weights(dtype=torch.float32):
    return [(2 * torch.randn(B, h, T, T, dtype=dtype)).softmax(-1) for _ in range(L)]


def corners():
    """Return index, top and left edge of each patch, in pixels."""
    return [(i, i // GRID[1] * PATCH[0], i % GRID[1] * PATCH[1]) for i in range(N)]


def test_class_token_attention_number_by_number():
    weights = random_weights()
    attention = class_token_attention(weights)
    expected = np.zeros((B, L, h, N))
    for b, block, head in np.ndindex(B, L, h):
        row = weights[block][b, head, 0].numpy()
        for patch in range(N):
            expected[b, block, head, patch] = row[1 + patch] / (1 - row[0])
    assert attention.dtype == torch.float32
    np.testing.assert_allclose(attention, expected, rtol=1e-5)


def test_class_token_attention_is_that_of_the_model():
    net = model()
    images = torch.rand(B, C, *IMAGE)
    attention = class_token_attention(net.encode(images, need_weights=True)[1])
    x = net.blocks[0].norm1(net.embed(images))
    q, k, _ = net.blocks[0].attn.qkv(x).chunk(3, dim=-1)
    scores = q[:, 0, -3:, None] * k[:, 1:, -3:].mT / math.sqrt(3)  # the last head
    expected = scores.sum(1).softmax(-1)  # without the class token
    torch.testing.assert_close(attention[:, 0, -1], expected)


def test_a_class_token_that_pays_the_patches_nothing_gives_zeros():
    assert torch.equal(class_token_to_patches(torch.eye(T)), torch.zeros(N))


@pytest.mark.parametrize("residual", [0.0, 0.5, 0.8])
def test_rollout_follows_every_path(residual):
    weights = [block[:2, :, :3, :3] for block in random_weights(torch.float64)[:3]]
    expected = np.zeros((2, 3, 3))
    for b, top, upper, lower, bottom in np.ndindex(2, 3, 3, 3, 3):
        path = [(bottom, lower), (lower, upper), (upper, top)]  # through the blocks
        share = 1.0
        for block, (source, target) in zip(weights, path, strict=True):
            heads = [block[b, head, target, source].item() for head in range(h)]
            share *= residual * (source == target) + (1 - residual) * np.mean(heads)
        expected[b, top, bottom] += share
    np.testing.assert_allclose(attention_rollout(weights, residual), expected)
    if residual == 0.5:  # the paper's value is the default
        np.testing.assert_allclose(attention_rollout(weights), expected)


def test_rollout_rows_sum_to_one():
    rollout = attention_rollout(random_weights())
    torch.testing.assert_close(rollout.sum(-1), torch.ones(B, T))
    patches = class_token_to_patches(rollout)
    torch.testing.assert_close(patches * (1 - rollout[:, :1, 0]), rollout[:, 0, 1:])


@pytest.mark.parametrize("heads", ["look at themselves", "are not counted"])
def test_rollout_of_identity_is_identity(heads):
    if heads == "look at themselves":
        rollout = attention_rollout([torch.eye(T).expand(B, h, T, T)] * L)
    else:
        rollout = attention_rollout(random_weights(), residual=1.0)
    torch.testing.assert_close(rollout, torch.eye(T).expand(B, T, T))


def test_attention_distance_number_by_number():
    weights = random_weights()
    expected = np.zeros((L, h))
    for block, head, b in np.ndindex(L, h, B):
        for query, top, left in corners():
            row = weights[block][b, head, 1 + query, 1:]
            for key, other_top, other_left in corners():
                distance = math.hypot(top - other_top, left - other_left)
                share = (row[key] / row.sum()).item()
                expected[block, head] += share * distance / (B * N)
    distance = attention_distance(weights, GRID, PATCH)
    np.testing.assert_allclose(distance, expected, rtol=1e-5)


def test_attention_distance_of_known_heads():
    itself = torch.eye(T)
    everywhere = torch.full((T, T), 1 / T)
    across = torch.zeros(T, T)  # to the other patch in the row, 5 pixels away
    across[range(1, T), [2, 1, 4, 3, 6, 5, 8, 7]] = 1
    weights = torch.stack([itself, everywhere, across]).expand(B, 3, T, T)
    pixels = attention_distance([weights], GRID, PATCH)[0]
    uniform = uniform_distance(GRID, PATCH)
    assert pixels.tolist() == pytest.approx([0.0, uniform, 5.0])
    patches = attention_distance([weights], GRID)[0]
    assert patches.tolist() == pytest.approx([0.0, uniform_distance(GRID), 1.0])


def test_uniform_distance():
    assert uniform_distance(1, 16) == 0
    assert uniform_distance((1, 2), (3, 8)) == 4  # the mean of 0, 8, 8, 0
    pairs = [math.dist(p[1:], q[1:]) for p in corners() for q in corners()]
    assert uniform_distance(GRID, PATCH) == pytest.approx(np.mean(pairs))


def test_position_similarity_number_by_number():
    pos_embed = torch.randn(1, T, D, requires_grad=True)
    similarity = position_similarity(pos_embed, GRID)
    assert similarity.shape == (*GRID, *GRID) and not similarity.requires_grad
    for row, column, other_row, other_column in np.ndindex(*GRID, *GRID):
        one = pos_embed[0, 1 + row * GRID[1] + column]
        other = pos_embed[0, 1 + other_row * GRID[1] + other_column]
        got = similarity[row, column, other_row, other_column]
        torch.testing.assert_close(got, F.cosine_similarity(one, other, dim=0))


@pytest.mark.parametrize("embed_dim", [60, 6])  # more and fewer than C·P·P = 45
def test_filters_are_sklearns_principal_components(embed_dim):
    net = VisionTransformer(
        ViTConfig(image_size=IMAGE, patch_size=PATCH, embed_dim=embed_dim, num_heads=1)
    )
    weight = draw_at_random(net).patch_embed.proj.weight
    weight.data += 1  # a mean, which must be subtracted
    filters = patch_filters(net)
    count = min(embed_dim - 1, 45)
    assert filters.shape == (count, C, *PATCH) and not filters.requires_grad
    rows = weight.detach().flatten(1).numpy()
    expected = PCA(count, svd_solver="full").fit(rows).components_
    got = filters.flatten(1).numpy()
    largest = np.abs(got).argmax(1)
    assert (got[range(count), largest] > 0).all()
    np.testing.assert_allclose(np.abs((got * expected).sum(1)), 1, atol=1e-3)
    torch.testing.assert_close(patch_filters(net, 3), filters[:3])


def test_brightness_number_by_number():
    images = torch.rand(B, C, *IMAGE)
    expected = np.zeros((B, N))
    for index, top, left in corners():
        patch = images[:, :, top : top + PATCH[0], left : left + PATCH[1]]
        expected[:, index] = patch.sum((1, 2, 3)) / images.sum((1, 2, 3))
    np.testing.assert_allclose(patch_brightness(images, PATCH), expected, rtol=1e-5)


def test_a_black_picture_is_as_bright_everywhere():
    images = torch.zeros(2, C, *IMAGE)
    images[1, 0, 0, 0] = 1e-6
    brightness = patch_brightness(images, PATCH)
    assert brightness.tolist() == [[1 / N] * N, [1.0] + [0.0] * (N - 1)]


# The whole image, one patch, parts of two rows of patches, one pixel, half pixels.
BOXES = torch.tensor(
    [[0, 0, 12, 10], [3, 5, 6, 10], [1, 0, 5, 10], [11, 4, 12, 5], [0.5, 2, 7.5, 9]]
)


def test_mass_inside_number_by_number():
    attention = torch.randn(B, L, h, N).softmax(-1)
    pixels = torch.zeros(B, 24, 20)  # half pixels
    for b, box in enumerate(BOXES):
        top, left, bottom, right = (2 * box).int().tolist()
        pixels[b, top:bottom, left:right] = 1 / 4
    expected = torch.zeros(B, L, h)
    for index, top, left in corners():
        rows = slice(2 * top, 2 * (top + PATCH[0]))
        columns = slice(2 * left, 2 * (left + PATCH[1]))
        share = pixels[:, rows, columns].sum((1, 2)) / (PATCH[0] * PATCH[1])
        expected += attention[..., index] * share[:, None, None]
    inside = mass_inside(attention, BOXES, IMAGE, PATCH)
    torch.testing.assert_close(inside, expected)
    alone = mass_inside(attention[:, 1, 1], BOXES, IMAGE, PATCH)
    torch.testing.assert_close(alone, expected[:, 1, 1])


def test_uniform_attention_has_the_boxs_share_of_the_image_inside():
    top, left, bottom, right = BOXES.unbind(1)
    expected = (bottom - top) * (right - left) / (12 * 10)
    inside = mass_inside(torch.full((B, N), 1 / N), BOXES, IMAGE, PATCH)
    torch.testing.assert_close(inside, expected)


def test_mass_inside_takes_whole_numbers():
    attention = torch.rand(B, N).softmax(-1)
    boxes = torch.tensor([[1, 2, 7, 9]]).expand(B, 4)
    expected = mass_inside(attention, boxes.float(), IMAGE, PATCH)
    assert torch.equal(mass_inside(attention, boxes, IMAGE, PATCH), expected)


@pytest.mark.parametrize("shape", [(), (C,), IMAGE, (C, *IMAGE), (B, C, *IMAGE)])
def test_masked_patches_show_the_fill_and_the_rest_the_image(shape):
    images, fill = torch.rand(B, C, *IMAGE), torch.rand(shape, dtype=torch.float64)
    before = images.clone()
    indices = torch.rand(B, N).argsort(1)[:, :3]
    masked = mask_patches(images, PATCH, indices, fill)
    picture = fill.reshape(C, 1, 1) if shape == (C,) else fill
    picture = picture.float().expand(B, C, *IMAGE)
    assert masked.dtype == images.dtype
    for index, top, left in corners():
        place = np.s_[:, top : top + PATCH[0], left : left + PATCH[1]]
        for b in range(B):
            source = picture if index in indices[b] else images
            assert torch.equal(masked[b][place], source[b][place])
    assert torch.equal(images, before)


@pytest.mark.parametrize("fill", [0.0, 1, [0.1, 0.2, 0.3]])
def test_fill_is_a_plain_number_or_a_list(fill):
    images = torch.rand(B, C, *IMAGE, dtype=torch.float64)
    every = torch.arange(N).expand(B, N)
    masked = mask_patches(images, PATCH, every, fill)
    expected = torch.tensor(fill, dtype=torch.float64).reshape(-1, 1, 1)
    torch.testing.assert_close(masked, expected.expand(B, C, *IMAGE), atol=1e-7, rtol=0)


def test_no_patches_masked_is_the_image():
    images = torch.rand(B, C, *IMAGE)
    none = torch.zeros(B, 0, dtype=torch.long)
    assert torch.equal(mask_patches(images, PATCH, none), images)


def test_deletion_curve_number_by_number():
    net = model()
    images = torch.rand(B, C, *IMAGE)
    labels = torch.randint(K, (B,))
    labels[0] = net(images)[0].argmax()
    order = torch.rand(B, N).argsort(1)
    counts = [0, 3, N]
    curve = deletion_curve(net, images, labels, order, counts, fill=0.5)
    assert curve.logits.shape == (3, B) and not curve.logits.requires_grad
    for step, count in enumerate(counts):
        for b in range(B):
            image = images[b : b + 1]
            masked = mask_patches(image, PATCH, order[b : b + 1, :count], 0.5)
            scores = net(masked)[0].detach()
            torch.testing.assert_close(curve.logits[step, b], scores[labels[b]])
            assert curve.correct[step, b] == (scores.argmax() == labels[b])
    assert curve.correct[0, 0] and not curve.correct.all()
    expected = [sum(step.tolist()) / B for step in curve.correct]
    assert curve.accuracy.tolist() == pytest.approx(expected)


def test_taking_away_the_patch_that_decides_costs_most():
    net = model()
    images = torch.zeros(B, C, *IMAGE)
    images[:, :, 6:9, 5:] = 1  # only patch 5 is not black
    blank = net(torch.zeros(1, C, *IMAGE)).detach()
    labels = (net(images).detach() - blank).argmax(1)
    brightness = patch_brightness(images, PATCH)
    first = brightness.argsort(dim=1, descending=True, stable=True)
    attended = deletion_curve(net, images, labels, first, [1])
    others = deletion_curve(net, images, labels, first.flip(1), [0, N - 1])
    assert (first[:, 0] == 5).all()
    assert (attended.logits[0] < others.logits).all()
    torch.testing.assert_close(others.logits[0], others.logits[1])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_dtype_is_kept_or_raised_to_float32(dtype):
    weights = [w.to(dtype) for w in random_weights()]
    expected = torch.promote_types(dtype, torch.float32)
    rollout = attention_rollout(weights)
    assert rollout.dtype == class_token_attention(weights).dtype == expected
    assert attention_distance(weights, GRID, PATCH).dtype == expected
    inside = mass_inside(class_token_to_patches(rollout), BOXES, IMAGE, PATCH)
    assert inside.dtype == expected
    close = dict(atol=0.02, rtol=0.02) if dtype == torch.bfloat16 else {}
    sums = torch.ones(B, T, dtype=expected)
    torch.testing.assert_close(rollout.sum(-1), sums, **close)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_the_same_on_a_gpu():
    net = model()
    images = torch.rand(B, C, *IMAGE)
    labels = torch.randint(K, (B,))

    def everything(net, images, labels):
        weights = net.encode(images, need_weights=True)[1]
        attention = class_token_to_patches(attention_rollout(weights))
        order = attention.argsort(1)
        return (
            class_token_attention(weights),
            attention_distance(weights, GRID, PATCH),
            position_similarity(net.pos_embed, GRID),
            patch_brightness(images, PATCH),
            mass_inside(attention, BOXES, IMAGE, PATCH),
            deletion_curve(net, images, labels, order, [0, 2], [0.1, 0.2, 0.3]).logits,
        )

    expected = everything(net, images, labels)
    got = everything(net.cuda(), images.cuda(), labels.cuda())
    for ours, theirs in zip(got, expected, strict=True):
        torch.testing.assert_close(ours.cpu(), theirs, atol=1e-3, rtol=1e-3)


SQUARE = torch.rand(B, h, T, T)


@pytest.mark.parametrize(
    "function", [class_token_attention, attention_rollout, attention_distance]
)
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([], r"\[0\]: got None, expected .* encode\(images, need_weights=True\)"),
        (
            [None, None],
            r"\[0\]: got None, expected .* encode\(images, need_weights=True\)",
        ),
        (SQUARE, r"\[0\]: got shape \(2, 9, 9\), expected \(B, h, [T9], [T9]\); "),
        (
            (torch.rand(B, T, D), [SQUARE]),
            r"\[0\]: got shape \(5, 9, 6\), .* of encode",
        ),
        ([SQUARE, [SQUARE]], r"\[1\]: got a list, expected a tensor"),
        (
            [SQUARE[..., :7]],
            r"\[0\]: got shape \(5, 2, 9, 7\), expected \(B, h, [T9], [T9]\)",
        ),
        ([SQUARE[:0]], r"\[0\]: got shape \(0, 2, 9, 9\), .*, each at least 1; "),
        (
            [SQUARE, SQUARE[:, :1]],
            r"\[1\]: got shape \(5, 1, .*, expected \(5, 2, 9, 9\)",
        ),
    ],
)
def test_weights_refused(function, weights, message):
    arguments = (GRID,) if function is attention_distance else ()
    with pytest.raises(ValueError, match=message):
        function(weights, *arguments)


IMAGES, ATTENTION = torch.rand(B, C, *IMAGE), torch.rand(B, N)
INDICES = torch.zeros(B, 3, dtype=torch.long)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: class_token_to_patches(ATTENTION), r"attention: got shape \(5, 8\)"),
        (lambda: class_token_to_patches(ATTENTION[0]), r"attention: got shape \(8,\)"),
        (lambda: attention_rollout([SQUARE], 1.5), "residual: got 1.5, .* at most 1"),
        (lambda: attention_rollout([SQUARE], -0.1), "residual: got -0.1"),
        (
            lambda: attention_distance([SQUARE], 3),
            r"weights\[0\]: got shape \(5, 2, 9, 9\), expected \(B, h, 10, 10\); ",
        ),
        (lambda: attention_distance([SQUARE], GRID, 0), "patch_size: got 0"),
        (
            lambda: attention_distance([SQUARE], GRID, 1, -1),
            "num_prefix_tokens: got -1, expected an int of at least 0",
        ),
        (
            lambda: class_token_attention([SQUARE], 9),
            "num_prefix_tokens: got 9, expected an int from 1 to 8",
        ),
        (lambda: attention_rollout([SQUARE], "half"), "residual: got 'half'"),
        (lambda: uniform_distance(0), "grid_size: got 0"),
        (
            lambda: position_similarity(torch.rand(1, 9, D), 3),
            r"pos_embed: got shape \(1, 9, 6\), expected \(1, 10, D\)",
        ),
        (lambda: position_similarity(torch.rand(9, D), GRID), "pos_embed: got shape"),
        (
            lambda: position_similarity(torch.rand(2, 9, D), GRID),
            "pos_embed: got shape",
        ),
        (
            lambda: patch_filters(model(), 6),
            "count: got 6, expected an int from 1 to 5",
        ),
        (lambda: patch_filters(model(), 0), "count: got 0"),
        (
            lambda: patch_brightness(IMAGES - 0.5, PATCH),
            r"images: got a pixel of -0.\d+, .* before normalisation",
        ),
        (lambda: patch_brightness(IMAGES, 5), "image_size: got 12×10"),
        (
            lambda: mass_inside(ATTENTION[:, 1:], BOXES, IMAGE, PATCH),
            r"attention: got shape \(5, 7\), expected \(B, ..., 8\)",
        ),
        (lambda: mass_inside(ATTENTION[0], BOXES, IMAGE, PATCH), "attention: got"),
        (
            lambda: mass_inside(ATTENTION, BOXES[:4], IMAGE, PATCH),
            r"boxes: got shape \(4, 4\), expected \(5, 4\)",
        ),
        (lambda: mask_patches(IMAGES[0], PATCH, INDICES), "images: got shape"),
        (
            lambda: mask_patches(IMAGES.byte(), PATCH, INDICES),
            "images: got torch.uint8, expected floating point",
        ),
        (lambda: mask_patches(IMAGES, 5, INDICES), "image_size: got 12×10"),
        (
            lambda: mask_patches(IMAGES, PATCH, INDICES[1:]),
            r"indices: got shape \(4, 3\), expected \(5, k\)",
        ),
        (lambda: mask_patches(IMAGES, PATCH, INDICES[:, 0]), "indices: got shape"),
        (
            lambda: mask_patches(IMAGES, PATCH, INDICES > 0),
            "indices: got .* of torch.bool, .* torch.int64",
        ),
        (
            lambda: mask_patches(IMAGES, PATCH, INDICES + N),
            "indices: got 8 to 8 of torch.int64, expected 0 to 7",
        ),
        (lambda: mask_patches(IMAGES, PATCH, INDICES - 1), "indices: got -1 to -1"),
        (
            lambda: mask_patches(IMAGES, PATCH, INDICES, torch.rand(1, 12, 10)),
            r"fill: got shape \(1, 12, 10\), expected \(3, 12, 10\)",
        ),
    ],
)
def test_refuses(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_is_not_a_tensor_is_refused():
    order, labels = torch.arange(N).expand(B, N), torch.zeros(B, dtype=torch.long)
    for name, call in {
        "attention": lambda value: class_token_to_patches(value),
        "pos_embed": lambda value: position_similarity(value, GRID),
        "boxes": lambda value: mass_inside(ATTENTION, value, IMAGE, PATCH),
        "images": lambda value: mask_patches(value, PATCH, INDICES),
        "indices": lambda value: mask_patches(IMAGES, PATCH, value),
        "labels": lambda value: deletion_curve(model(), IMAGES, value, order, [0]),
        "order": lambda value: deletion_curve(model(), IMAGES, labels, value, [0]),
    }.items():
        for value in ([[1, 2], [3, 4]], np.zeros((2, 2)), None):
            got = "None" if value is None else f"a {type(value).__name__}"
            message = rf"^{name}: got {got}, expected a tensor \("
            with pytest.raises(ValueError, match=message):
                call(value)


def test_boxes_as_fractions_are_refused_with_the_remedy():
    fractions = BOXES / torch.tensor([12, 10, 12, 10])
    message = (
        r"^boxes: got numbers from 0 to 1, expected pixels; .*\(\[12, 10, 12, 10\]\)"
    )
    with pytest.raises(ValueError, match=message):
        mass_inside(ATTENTION, fractions, IMAGE, PATCH)
    pixel = torch.tensor([[0, 0, 1, 1]]).expand(B, 4)  # whole numbers are pixels
    inside = mass_inside(ATTENTION, pixel, IMAGE, PATCH)
    torch.testing.assert_close(inside, ATTENTION[:, 0] / 15)


def test_boxes_of_bytes_in_a_large_image():
    boxes = torch.tensor([[0, 0, 200, 150]], dtype=torch.uint8)
    inside = mass_inside(torch.tensor([[1.0, 0.0]]), boxes, (300, 600), 300)
    torch.testing.assert_close(inside, torch.tensor([200 * 150 / 300**2]))


def test_attention_of_whole_numbers_counts_as_shares():
    table = torch.eye(T, dtype=torch.long).roll(1, dims=1)  # each token to the next
    one_hot = class_token_to_patches(table)
    torch.testing.assert_close(one_hot, F.one_hot(torch.tensor(0), N).float())
    half = torch.tensor([[0, 0, 3, 2.5]])
    inside = mass_inside(one_hot.long()[None], half, IMAGE, PATCH)
    torch.testing.assert_close(inside, torch.tensor([0.5]))


def test_filters_of_a_model_in_sixteen_bits():
    net = model()
    expected = patch_filters(net)
    got = patch_filters(net.bfloat16())
    assert got.dtype == torch.float32
    assert (got * expected).sum(dim=(1, 2, 3)).abs().min() > 0.99


def test_deletion_curve_leaves_the_model_as_it_was():
    net = model().train()
    net.blocks[0].eval()
    deletion_curve(net, IMAGES, INDICES[:, 0], torch.arange(N).expand(B, N), [0, 1])
    assert net.training and not net.blocks[0].training


@pytest.mark.parametrize(
    "box",
    [
        [-1, 0, 3, 3],
        [0, -1, 3, 3],
        [0, 0, 13, 3],
        [0, 0, 3, 11],
        [3, 0, 3, 3],
        [0, 3, 3, 3],
        [math.nan, 0, 3, 3],
    ],
)
def test_mass_inside_refuses_wrong_boxes(box):
    boxes = BOXES.clone()
    boxes[2] = torch.tensor(box)
    with pytest.raises(ValueError, match=r"boxes: got \[.*\] for image 2, .* 12×10"):
        mass_inside(ATTENTION, boxes, IMAGE, PATCH)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (dict(order=INDICES), r"order: got shape \(5, 3\), expected \(5, 8\)"),
        (
            dict(order=torch.zeros(B, N, dtype=torch.long)),
            "order: got a patch twice in a row, expected each once",
        ),
        (
            dict(order=torch.arange(N, dtype=torch.int32).expand(B, N)),
            "order: got .* of torch.int32, expected .* of torch.int64",
        ),
        (
            dict(labels=torch.zeros(4, dtype=torch.long)),
            r"labels: got shape \(4,\), expected \(5,\)",
        ),
        (dict(labels=torch.zeros(B)), "labels: got .* of torch.float32"),
        (dict(labels=torch.full((B,), K)), "labels: got .*, expected 0 to 6"),
        (dict(labels=torch.full((B,), -1)), "labels: got .*, expected 0 to 6"),
        (dict(counts=[0, 9]), "counts: got 9, expected an int from 0 to 8"),
        (dict(labels=torch.zeros(0, dtype=torch.long)), r"labels: got shape \(0,\)"),
        (dict(images=IMAGES[:0]), r"images: got shape \(0, .* each at least 1"),
        (dict(images=IMAGES[0]), r"images: got shape \(3, 12, 10\), expected \(B, C"),
        (dict(counts=[-1]), "counts: got -1, expected an int from 0 to 8"),
    ],
)
def test_deletion_curve_refuses(wrong, message):
    right = dict(
        model=model(),
        images=IMAGES,
        labels=torch.zeros(B, dtype=torch.long),
        order=torch.arange(N).expand(B, N),
        counts=[0, 1],
    )
    with pytest.raises(ValueError, match=message):
        deletion_curve(**right | wrong)


def test_deletion_curve_refuses_a_model_without_a_head():
    net = model()
    net.reset_classifier(0)
    order, labels = torch.arange(N).expand(B, N), torch.zeros(B, dtype=torch.long)
    with pytest.raises(ValueError, match=r"^model\.config\.num_classes: got 0"):
        deletion_curve(net, IMAGES, labels, order, [0])
