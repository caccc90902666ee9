import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from vit_steps import PatchEmbedding, optional, patchify, unpatchify

sizes = st.tuples(st.integers(1, 4), st.integers(1, 4))


@given(
    batch=st.integers(0, 3),
    channels=st.integers(1, 4),
    grid=sizes,
    patch=sizes,
    dtype=st.sampled_from([torch.float32, torch.float64, torch.uint8, torch.bool]),
)
def test_cut_and_put_together_loses_nothing(batch, channels, grid, patch, dtype):
    size = (grid[0] * patch[0], grid[1] * patch[1])
    images = torch.randint(0, 2, (batch, channels, *size)).to(dtype)
    patches = patchify(images, patch)
    assert patches.shape == (batch, grid[0] * grid[1], channels * patch[0] * patch[1])
    assert torch.equal(unpatchify(patches, patch, size), images)


def test_order_is_rows_first_and_inside_channel_row_column():
    images = torch.arange(2 * 3 * 4 * 6).reshape(2, 3, 4, 6)
    patches = patchify(images, (2, 3))
    assert torch.equal(patches[1, 1], images[1, :, 0:2, 3:6].flatten())
    assert torch.equal(patches[1, 2], images[1, :, 2:4, 0:3].flatten())


@pytest.mark.parametrize("patch", [(2, 3), (4, 1)])
def test_patchify_is_unfold(patch):
    images = torch.rand(2, 3, 8, 9)
    expected = F.unfold(images, patch, stride=patch).transpose(1, 2)
    assert torch.equal(patchify(images, patch), expected)


def test_patchify_leaves_its_input_alone():
    images = torch.rand(1, 3, 4, 4)
    before = images.clone()
    patchify(images, 2).zero_()
    assert torch.equal(images, before)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_embedding_is_a_linear_layer_on_patches_with_its_gradients(dtype):
    embedding = PatchEmbedding((8, 12), (4, 3), 3, 10).to(dtype)
    images = torch.rand(2, 3, 8, 12, dtype=dtype, requires_grad=True)
    weight, bias = embedding.proj.weight, embedding.proj.bias
    expected = F.linear(patchify(images, (4, 3)), weight.flatten(1), bias)
    output = embedding(images)
    assert output.shape == (2, 8, 10)
    torch.testing.assert_close(output, expected)

    goal = torch.randn_like(output)
    ours = torch.autograd.grad((output * goal).sum(), (images, weight, bias))
    theirs = torch.autograd.grad((expected * goal).sum(), (images, weight, bias))
    torch.testing.assert_close(ours, theirs)


def test_equal_to_timm_and_torchvision():
    embedding = PatchEmbedding(32, 8, 3, 20)
    images = torch.rand(2, 3, 32, 32)
    theirs = optional.timm().layers.PatchEmbed(32, 8, 3, 20)
    theirs.load_state_dict(embedding.state_dict())
    torch.testing.assert_close(embedding(images), theirs(images))
    vit = optional.torchvision().models.VisionTransformer(32, 8, 1, 2, 20, 40)
    vit.conv_proj.load_state_dict(embedding.proj.state_dict())
    torch.testing.assert_close(embedding(images), vit._process_input(images))


def test_initialisation_is_lecun_normal():
    weight = PatchEmbedding(32, 16, 3, 512).proj.weight
    expected = (3 * 16 * 16) ** -0.5
    assert abs(weight.std().item() / expected - 1) < 0.02
    assert weight.abs().max() <= 2 * expected / 0.8796 + 1e-6


def test_an_empty_batch_works():
    assert PatchEmbedding(8, 4, 3, 5)(torch.rand(0, 3, 8, 8)).shape == (0, 4, 5)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (torch.rand(3, 8, 8), r"images: got shape \(3, 8, 8\), expected \(B, 3, 8, 8"),
        (torch.rand(1, 1, 8, 8), r"got shape \(1, 1, 8, 8\), expected \(B, 3, 8, 8"),
        (torch.rand(1, 3, 8, 12), r"got shape \(1, 3, 8, 12\), expected \(B, 3, 8, 8"),
        (torch.zeros(1, 3, 8, 8, dtype=torch.uint8), "torch.uint8, expected floating"),
    ],
)
def test_embedding_refuses(images, message):
    with pytest.raises(ValueError, match=message):
        PatchEmbedding(8, 4, 3, 5)(images)


def test_embedding_says_what_an_array_needs():
    with pytest.raises(ValueError, match="images: got a ndarray, expected a tensor"):
        PatchEmbedding(8, 4, 3, 5)(torch.rand(1, 3, 8, 8).numpy())


def test_patchify_refuses():
    with pytest.raises(ValueError, match=r"images: got shape \(3, 8, 8\)"):
        patchify(torch.rand(3, 8, 8), 4)
    with pytest.raises(ValueError, match="image_size: got 8×9, expected multiples"):
        patchify(torch.rand(1, 3, 8, 9), 4)
    with pytest.raises(ValueError, match=r"images: got shape \(0, 3, 8, 0\)"):
        patchify(torch.rand(0, 3, 8, 0), 4)


@pytest.mark.parametrize("shape", [(4, 48), (1, 5, 48), (1, 4, 50), (1, 1, 4, 48)])
def test_unpatchify_refuses(shape):
    with pytest.raises(
        ValueError, match=r"patches: got shape .* expected \(B, 4, C·16"
    ):
        unpatchify(torch.rand(shape), 4, 8)
