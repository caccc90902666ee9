import numpy as np
import pytest
import torch
from PIL import Image

from vit_steps import data
from vit_steps.preprocessing import Preprocessing, as_picture

COLOURS = np.random.default_rng(0).integers(64, 192, (60, 90, 3), np.uint8)
PICTURE = Image.fromarray(COLOURS)


def channels_first(array):
    return torch.from_numpy(np.moveaxis(array, -1, 0).copy())


def test_a_photograph_is_prepared_as_a_folder_is_for_evaluation(tmp_path):
    sideways = Image.Exif()
    sideways[0x0112] = 6  # turned by 90 degrees: rows are columns
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        for number in range(10):
            PICTURE.save(tmp_path / name / f"{number}.png", exif=sideways)
    images = data.load("folder", root=tmp_path, image_size=(24, 16))
    expected, _ = images.test[0]
    picture = as_picture(tmp_path / "a" / "0.png", (24, 16), 3)
    torch.testing.assert_close(images.preprocessing.normalize(picture), expected)
    upright = PICTURE.transpose(Image.Transpose.ROTATE_270)
    assert torch.equal(as_picture(upright, (24, 16), 3), picture)


def test_all_kinds_of_images_give_the_same(tmp_path):
    PICTURE.save(tmp_path / "p.png")
    expected = as_picture(PICTURE, 32, 3)
    assert expected.shape == (3, 32, 32) and expected.dtype == torch.float32
    kinds = [tmp_path / "p.png", str(tmp_path / "p.png"), COLOURS, COLOURS[::-1][::-1]]
    for image in (*kinds, channels_first(COLOURS), PICTURE.convert("RGBA")):
        assert torch.equal(as_picture(image, 32, 3), expected)
    floats = (COLOURS / 255, COLOURS.astype("float32") / 255)
    for image in (*floats, channels_first(COLOURS) / 255):
        # Pillow rounds bytes twice: after scaling the rows, and after the columns
        torch.testing.assert_close(
            as_picture(image, 32, 3), expected, atol=1.5 / 255, rtol=0
        )


def test_an_image_of_the_models_size_is_unchanged():
    image = torch.rand(4, 6, 8)
    torch.testing.assert_close(as_picture(image, (6, 8), 4), image, rtol=0, atol=0)
    grey = (image[0] * 255).byte()
    for one in (grey, grey[None], grey.numpy(), grey.numpy()[..., None]):
        assert torch.equal(as_picture(one, (6, 8), 1)[0], grey / 255)


def test_the_middle_is_cut_out_and_proportions_stay():
    image = torch.zeros(1, 10, 30)
    image[:, :, 10:20] = 1.0
    assert as_picture(image, 10, 1).min() == 1.0


def test_colour_becomes_grey_and_grey_colour():
    grey = as_picture(PICTURE, (60, 90), 1)
    assert grey.shape == (1, 60, 90)
    luma = torch.from_numpy(np.array(PICTURE.convert("L")))
    torch.testing.assert_close(grey[0], luma / 255, atol=0.51 / 255, rtol=0)
    floats = as_picture(channels_first(COLOURS) / 255, (60, 90), 1)
    torch.testing.assert_close(grey, floats)
    three = as_picture(luma, (60, 90), 3)
    assert torch.equal(three, (luma / 255).expand(3, -1, -1))


def test_bicubic_overshoot_stays_between_0_and_1():
    image = torch.zeros(1, 8, 8)
    image[:, :, 4:] = 1.0
    picture = as_picture(image, 32, 1)
    assert picture.min() == 0.0 and picture.max() == 1.0


@pytest.mark.parametrize(
    "image, sentence",
    [
        (
            255 * torch.rand(1, 8, 8),
            "got floats from .*, expected 0 to 1; divide .* by 255, and give",
        ),
        (
            torch.randn(3, 8, 8),
            "got floats from -.*; .* a normalised one to the model itself",
        ),
        (
            torch.full((8, 8), float("nan")),
            "got floats from nan to nan, expected 0 to 1",
        ),
        (torch.zeros(8, 8, dtype=torch.int64), "got torch.int64, expected torch.uint8"),
        (np.zeros((8, 8), bool), "got torch.bool, expected torch.uint8, or floats"),
        (torch.zeros(2, 3, 8, 8), r"got shape \(2, 3, 8, 8\), expected one image, \(H"),
        (torch.zeros(8, 9, 3), r"got shape \(8, 9, 3\), .* \(C, H, W\), with 1 or 3"),
        (np.zeros((3, 8, 9)), r"got shape \(3, 8, 9\), .* array \(H, W, C\) or"),
        (torch.zeros(3, 0, 8), r"got shape \(3, 0, 8\), expected one image"),
        (Image.new("I", (8, 8)), "has Pillow's mode I, expected 8 or 16 bits"),
        (Image.new("F", (8, 8)), "has Pillow's mode F, expected 8 or 16 bits"),
        (
            Image.new("RGBA", (8, 8)),
            "is transparent in places; paste it on a background",
        ),
        ([[5]], "got torch.int64, expected torch.uint8, or floats"),
    ],
)
def test_wrong_images_are_refused(image, sentence):
    with pytest.raises(ValueError, match=f"^image: {sentence}"):
        as_picture(image, 8, 3)


def test_16_bits_are_scaled_to_8(tmp_path):
    levels = np.array([[0, 257 * 40], [257 * 200, 65535]], np.uint16)
    for name in ("grey.png", "grey.tif"):
        Image.fromarray(levels).save(tmp_path / name)
        seen = as_picture(tmp_path / name, 2, 1)
        assert (255 * seen).round().tolist() == [[[0, 40], [200, 255]]]


def test_files_that_are_not_images_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^image: .*x.png is not there, exp"):
        as_picture(tmp_path / "x.png", 8, 3)
    (tmp_path / "text.png").write_text("no picture")
    PICTURE.save(tmp_path / "whole.png")
    half = (tmp_path / "whole.png").read_bytes()[:5000]
    (tmp_path / "half.png").write_bytes(half)
    for name in ("text.png", "half.png"):
        with pytest.raises(
            ValueError, match=rf"^image: .*{name} cannot be read as one"
        ):
            as_picture(tmp_path / name, 8, 3)


@pytest.mark.parametrize(
    "mean, std, classes, sentence",
    [
        ((0.5,), (0.0,), (), "std: got 0.0, expected more than 0"),
        ((0.5,), (0.1, 0.1), (), "mean, std: got .*, expected a number for each"),
        ((float("nan"),), (0.1,), (), "mean: got nan, expected at least 0"),
        (("0.5",), (0.1,), (), "mean: got '0.5', expected at least 0"),
        (0.5, (0.1,), (), "mean: got 0.5, expected one or more numbers"),
        ((127.5,), (58.0,), (), r"images in \[0, 1\]; divide .* by 255"),
        ((0.5,), (58.0,), (), r"images in \[0, 1\].*; divide .* by 255"),
        ((-0.5,), (0.5,), (), "mean: got -0.5, expected at least 0"),
        ((), (), (), "mean: got .*, expected one or more numb"),
        ((0.5,), (0.1,), (1, 2), "classes: got .*, expected different names"),
        ((0.5,), (0.1,), ("a", "a"), "classes: got .*, expected different names"),
        ((0.5,), (0.1,), "cat", "classes: got cat, expected different names"),
        ((0.5,), (0.1,), None, "classes: got None, expected different names"),
    ],
)
def test_wrong_normalisations_are_refused(mean, std, classes, sentence):
    with pytest.raises(ValueError, match=sentence):
        Preprocessing(mean, std, classes)


def test_it_must_fit_the_model():
    known = Preprocessing((0.5,), (0.1,), ("a", "b"))
    known.check_fits(1, 2)
    Preprocessing((0.5,), (0.1,)).check_fits(1, 2)
    for channels, classes in ((3, 2), (1, 3)):
        with pytest.raises(
            ValueError, match=f"got 1, 1 and 2, expected {channels} for"
        ):
            known.check_fits(channels, classes)
