import pytest

from vit_steps.sizes import as_pair, patch_grid


def test_a_number_is_a_square_and_a_pair_is_height_and_width():
    assert as_pair(16, "patch_size") == (16, 16)
    assert as_pair((8, 16), "patch_size") == (8, 16)
    assert as_pair([8, 16], "patch_size") == (8, 16)


@pytest.mark.parametrize(
    "size", [0, -4, 16.0, "16", None, True, (8,), (8, 8, 8), (8, 0), ()]
)
def test_what_is_no_size_is_refused_with_its_name(size):
    with pytest.raises(ValueError, match="patch_size: got .* expected a positive int"):
        as_pair(size, "patch_size")


def test_grid_is_rows_and_columns():
    assert patch_grid((224, 320), 16) == (14, 20)
    assert patch_grid((6, 6), (3, 2)) == (2, 3)


@pytest.mark.parametrize(
    ("image", "patch"), [(230, 16), ((224, 230), 16), ((9, 8), 8), (8, 16)]
)
def test_patches_that_do_not_fill_the_image_are_refused(image, patch):
    with pytest.raises(ValueError, match="image_size: got .* expected multiples of"):
        patch_grid(image, patch)
