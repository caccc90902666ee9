import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import draw_at_random
from vit_steps import (
    ViTEmbedding,
    interpolate_position_embedding,
    optional,
    sincos_position_embedding,
)


def test_sincos_number_by_number():
    D, rows, columns = 12, 3, 5
    positions = sincos_position_embedding(D, (rows, columns))
    assert positions.shape == (1, 16, D) and positions.dtype == torch.float32
    assert not positions[0, 0].any()
    for row in range(rows):
        for column in range(columns):
            expected = []
            for place in (row, column):
                angles = [place / 10000 ** (i / 3) for i in range(3)]
                expected += [math.sin(a) for a in angles]
                expected += [math.cos(a) for a in angles]
            got = positions[0, 1 + row * columns + column]
            torch.testing.assert_close(got, torch.tensor(expected))


@pytest.mark.parametrize("grid", [(6, 6), (4, 7)])
def test_sincos_equals_timms(grid):
    build = optional.timm().layers.build_sincos2d_pos_embed
    theirs = build(list(grid), dim=16, interleave_sin_cos=True)
    ours = sincos_position_embedding(16, grid, cls_token=False)
    torch.testing.assert_close(ours[0], theirs.to(ours.dtype))


@given(rows=st.integers(1, 8), columns=st.integers(1, 8))
def test_no_two_places_share_a_sincos_position(rows, columns):
    positions = sincos_position_embedding(16, (rows, columns), cls_token=False)[0]
    distances = torch.cdist(positions, positions) + torch.eye(rows * columns)
    assert distances.min() > 0.1


@pytest.mark.parametrize("embed_dim", [0, -4, 6, 3])
def test_sincos_refuses(embed_dim):
    with pytest.raises(ValueError, match=f"embed_dim: got {embed_dim}, expected"):
        sincos_position_embedding(embed_dim, 4)


@pytest.mark.parametrize(
    ("old", "new"), [((4, 4), (8, 8)), ((4, 4), (3, 7)), ((2, 6), (5, 3))]
)
def test_interpolation_equals_timms(old, new):
    positions = torch.randn(1, 1 + old[0] * old[1], 8)
    ours = interpolate_position_embedding(positions, new, old)
    resample = optional.timm().layers.resample_abs_pos_embed
    theirs = resample(positions, list(new), list(old), num_prefix_tokens=1)
    assert ours.shape == (1, 1 + new[0] * new[1], 8)
    torch.testing.assert_close(ours, theirs)
    assert torch.equal(ours[:, 0], positions[:, 0])


def test_interpolation_to_the_same_grid_changes_nothing():
    positions = torch.randn(1, 17, 8)
    assert torch.equal(interpolate_position_embedding(positions, 4), positions)


def test_interpolation_keeps_a_slope_a_slope():
    rows = torch.arange(8.0)[:, None].expand(8, 8).reshape(1, 64, 1)
    positions = torch.cat([torch.zeros(1, 1, 1), rows], dim=1)
    larger = interpolate_position_embedding(positions, 16)[0, 1:, 0].reshape(16, 16)
    inner = larger[3:-3].diff(dim=0)
    torch.testing.assert_close(inner, torch.full_like(inner, 0.5), atol=0.05, rtol=0)
    torch.testing.assert_close(larger, larger[:, :1].expand(-1, 16))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_interpolation_keeps_the_dtype(dtype):
    positions = torch.randn(1, 17, 8)
    resized = interpolate_position_embedding(positions.to(dtype), 6)
    assert resized.dtype == dtype
    expected = interpolate_position_embedding(positions, 6)
    torch.testing.assert_close(resized.float(), expected, atol=0.05, rtol=0)


def test_interpolation_refuses():
    with pytest.raises(ValueError, match="old_grid_size: got 3×3 .* a grid of 12"):
        interpolate_position_embedding(torch.randn(1, 13, 8), 4)
    with pytest.raises(ValueError, match="old_grid_size: got 2×5"):
        interpolate_position_embedding(torch.randn(1, 13, 8), 4, (2, 5))
    for shape in [(13, 8), (2, 13, 8)]:
        with pytest.raises(ValueError, match="pos_embed: got shape"):
            interpolate_position_embedding(torch.randn(shape), 4)
    with pytest.raises(ValueError, match="old_grid_size: got 0, expected a positive"):
        interpolate_position_embedding(torch.randn(1, 1, 8), 4)
    with pytest.raises(ValueError, match="grid_size: got 0"):
        interpolate_position_embedding(torch.randn(1, 17, 8), 0)


def test_embedding_equals_torchvisions():
    ours = draw_at_random(ViTEmbedding(32, 8, 3, 20))
    theirs = optional.torchvision().models.VisionTransformer(32, 8, 1, 2, 20, 40)
    theirs.conv_proj.load_state_dict(ours.patch_embed.proj.state_dict())
    images = torch.rand(2, 3, 32, 32)
    patches = theirs._process_input(images)
    tokens = torch.cat([ours.cls_token.expand(2, -1, -1), patches], dim=1)
    torch.testing.assert_close(ours(images), tokens + ours.pos_embed)


def test_class_token_is_first_and_the_same_for_all_images():
    embedding = draw_at_random(ViTEmbedding(8, 4, 3, 6))
    tokens = embedding(torch.rand(3, 3, 8, 8))
    expected = (embedding.cls_token + embedding.pos_embed[:, :1])[0].expand(3, -1, -1)
    assert tokens.shape == (3, 5, 6)
    torch.testing.assert_close(tokens[:, :1], expected)


def test_gradient_of_the_class_token_is_the_sum_over_the_batch():
    embedding = ViTEmbedding(8, 4, 3, 6)
    goal = torch.randn(3, 5, 6)
    (embedding(torch.rand(3, 3, 8, 8)) * goal).sum().backward()
    torch.testing.assert_close(embedding.cls_token.grad[0, 0], goal[:, 0].sum(0))


def test_initialisation():
    embedding = ViTEmbedding(224, 16, 3, 64)
    assert not embedding.cls_token.any()
    assert 0.0195 < embedding.pos_embed.std() < 0.0205


def test_dropout_only_in_training():
    embedding = ViTEmbedding(8, 4, 3, 600, drop_rate=0.5)
    images = torch.rand(1, 3, 8, 8)
    dropped = (embedding(images) == 0).float().mean()
    assert 0.4 < dropped < 0.6
    embedding.eval()
    assert torch.equal(embedding(images), embedding(images))
