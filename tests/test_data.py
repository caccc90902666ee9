import pytest
import torch

from vit_steps import data


@pytest.mark.parametrize("name", data.PHOTOS)
def test_photographs_are_there_with_their_licences(name):
    image = data.photo(name)
    assert image.dtype == torch.float32 and image.ndim == 3 and image.shape[0] == 3
    assert image.min() >= 0 and image.max() <= 1 and image.std() > 0.05
    assert image.is_contiguous()
    source = data.PHOTOS[name]
    assert source.licence in ("CC BY 2.0", "CC0", "public domain") and source.credit


def test_the_six_are_six_different_ones():
    images = data.photos(32)
    assert images.shape == (6, 3, 32, 32)
    distances = torch.cdist(images.flatten(1), images.flatten(1)) + 100 * torch.eye(6)
    assert distances.min() > 1


def test_size_is_height_and_width_cut_around_the_middle():
    assert data.photo("cat", (64, 96)).shape == (3, 64, 96)
    whole, square = data.photo("astronaut"), data.photo("astronaut", 512)
    assert torch.equal(whole, square)
    middle = data.photo("astronaut", (512, 256))
    assert torch.equal(middle, whole[:, :, 128:384])


def test_unknown_photograph_is_refused():
    with pytest.raises(
        ValueError, match="name: got 'dog', expected one of china, flow"
    ):
        data.photo("dog")


def test_normalize():
    images = torch.tensor(data.IMAGENET_MEAN)[:, None, None].expand(2, 3, 4, 4)
    assert not data.normalize(images).any()
    shifted = images + torch.tensor(data.IMAGENET_STD)[:, None, None]
    torch.testing.assert_close(data.normalize(shifted), torch.ones(2, 3, 4, 4))


def test_digits():
    images, labels = data.digits()
    assert images.shape == (1797, 1, 8, 8) and images.dtype == torch.float32
    assert images.min() == 0 and images.max() == 1
    assert labels.dtype == torch.int64 and labels.unique().tolist() == list(range(10))
