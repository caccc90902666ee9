import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from vit_steps.sizes import (
    as_pair,
    as_size,
    check_count,
    check_fields,
    check_number,
    check_rate,
    check_switch,
    patch_grid,
)


def test_a_number_is_a_square_and_a_pair_is_height_and_width():
    assert as_pair(16, "patch_size") == (16, 16)
    assert as_pair((8, 16), "patch_size") == (8, 16)
    assert as_pair([8, 16], "patch_size") == (8, 16)


@pytest.mark.parametrize(
    ("came", "kept"),
    [
        (16, 16),
        (np.int64(16), 16),
        ((16, 16), 16),
        ([8, 16], (8, 16)),
        (torch.Size([8, 16]), (8, 16)),
        ((np.int32(8), 16), (8, 16)),
    ],
)
def test_a_size_becomes_a_plain_int_or_tuple(came, kept):
    size = as_size(came, "image_size")
    assert size == kept
    assert type(size) is type(kept)
    assert {type(side) for side in as_pair(came, "image_size")} == {int}


@pytest.mark.parametrize(
    "size", [0, -4, 16.0, "16", None, True, (8,), (8, 8, 8), (8, 0), (), (True, 8)]
)
def test_wrong_sizes_are_refused_with_their_name(size):
    with pytest.raises(ValueError, match="patch_size: got .* expected a positive int"):
        as_pair(size, "patch_size")


def test_numbers_of_numpy_become_plain_numbers():
    assert type(check_count(np.int64(3), "depth")) is int
    assert type(check_number(np.float32(0.5), "lr")) is float
    assert type(check_rate(np.float64(0.5), "drop_rate")) is float


@pytest.mark.parametrize("value", [None, True, "1", [1], 1.5, math.inf, math.nan, -1])
def test_wrong_counts_are_refused(value):
    with pytest.raises(ValueError, match="depth: got .*, expected a positive int"):
        check_count(value, "depth")
    with pytest.raises(ValueError, match="seed: got .*, expected an int of at least 0"):
        check_count(value, "seed", least=0)


@pytest.mark.parametrize("value", [None, True, "1", [1.0], math.inf, math.nan, 0])
def test_wrong_numbers_are_refused(value):
    with pytest.raises(ValueError, match="lr: got .*, expected more than 0"):
        check_number(value, "lr", above=0)


@pytest.mark.parametrize("value", [None, True, "0.1", math.nan, math.inf, -0.1, 1])
def test_wrong_rates_are_refused(value):
    with pytest.raises(
        ValueError, match="drop_rate: got .*, expected at least 0 and below 1"
    ):
        check_rate(value, "drop_rate")


@pytest.mark.parametrize("value", [None, 0, 1, "True"])
def test_wrong_switches_are_refused(value):
    with pytest.raises(ValueError, match="qkv_bias: got .*, expected True or False"):
        check_switch(value, "qkv_bias")


def test_a_frozen_dataclass_keeps_what_its_checks_return():
    @dataclass(frozen=True)
    class Config:
        depth: int
        clip: float | None = None

        def __post_init__(self):
            check_fields(self, check_count, "depth")
            check_fields(self, check_number, "clip", above=0, optional=True)

    assert type(Config(np.int64(2)).depth) is int
    assert Config(2).clip is None
    with pytest.raises(ValueError, match="clip: got 0, expected more than 0"):
        Config(2, clip=0)


def test_grid_is_rows_and_columns():
    assert patch_grid((224, 320), 16) == (14, 20)
    assert patch_grid((6, 6), (3, 2)) == (2, 3)


@pytest.mark.parametrize(
    ("image", "patch"), [(230, 16), ((224, 230), 16), ((9, 8), 8), (8, 16)]
)
def test_patches_that_do_not_fill_the_image_are_refused(image, patch):
    with pytest.raises(ValueError, match="image_size: got .* expected multiples of"):
        patch_grid(image, patch)
