import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from vit_steps.data.sets import (
    ImageData,
    ImageSet,
    channel_statistics,
    stratified_split,
)


def image_set(n=7, size=(3, 4, 5), **options):
    labels = torch.arange(n) % 3
    boxes = torch.randint(9, (n, 4))
    return ImageSet(torch.rand(n, *size), labels, boxes, **options)


def test_an_item_is_the_transformed_image_and_its_label():
    images = image_set(transform=lambda image: 2 * image[:, 1:])
    image, label = images[4]
    assert torch.equal(image, 2 * images.images[4, :, 1:])
    assert type(label) is int and label == 1
    assert len(images) == 7


def test_without_a_transform_an_item_is_the_image():
    images = ImageSet(torch.randint(256, (2, 1, 4, 5)).to(torch.uint8), torch.arange(2))
    assert torch.equal(images[1][0], images.images[1]) and images.boxes is None


@pytest.mark.parametrize("as_indices", [list, torch.tensor])
def test_a_batch_transforms_each_image_for_itself(as_indices):
    images = image_set(transform=lambda image: image + torch.rand(()))
    chosen = [5, 0, 5]
    batch, labels = images.batch(as_indices(chosen))
    shifts = batch - images.images[chosen]
    torch.testing.assert_close(shifts, shifts[:, :1, :1, :1].expand_as(shifts))
    assert len(shifts[:, 0, 0, 0].unique()) == 3
    assert labels.tolist() == [2, 0, 2]


def test_a_batch_of_nothing_in_particular_is_all():
    images = image_set(transform=torch.neg)
    batch, labels = images.batch()
    assert torch.equal(batch, -images.images) and torch.equal(labels, images.labels)


def test_a_subset_keeps_everything_together():
    images = image_set(transform=torch.neg)
    chosen = [6, 2]
    subset = images.subset(chosen)
    for name in ("images", "labels", "boxes"):
        assert torch.equal(getattr(subset, name), getattr(images, name)[chosen])
    assert subset.transform is torch.neg
    assert ImageSet(images.images, images.labels).subset(chosen).boxes is None


def test_a_data_loader_takes_it():
    images = image_set(transform=torch.neg)
    batches = list(DataLoader(images, batch_size=4))
    assert [tuple(batch.shape) for batch, _ in batches] == [(4, 3, 4, 5), (3, 3, 4, 5)]
    assert torch.equal(torch.cat([batch for batch, _ in batches]), -images.images)
    assert torch.equal(torch.cat([labels for _, labels in batches]), images.labels)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"images": torch.rand(6, 4, 5)}, r"images: got shape \(6, 4, 5\), expected"),
        (
            {"images": torch.rand(6, 1, 4, 5).double()},
            r"images: got torch.float64, exp",
        ),
        ({"labels": torch.arange(5)}, r"labels: got shape \(5,\), expected \(6,\)"),
        ({"boxes": torch.ones(6, 2)}, r"boxes: got shape \(6, 2\), expected \(6, 4\)"),
    ],
)
def test_wrong_image_sets_are_refused(changed, message):
    right = {"images": torch.rand(6, 1, 4, 5), "labels": torch.arange(6)}
    with pytest.raises(ValueError, match=message):
        ImageSet(**right | changed)


def test_data_of_three_parts():
    parts = {"train": image_set(), "validation": image_set(2), "test": image_set(3)}
    data = ImageData("ours", ("a", "b", "c"), **parts, mean=(0.5,), std=(0.25,))
    assert data.num_classes == 3
    with pytest.raises(AttributeError):
        data.name = "other"


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_statistics_equal_numpys(dtype):
    images = (256 * torch.rand(6, 3, 4, 5) ** 2 * torch.rand(3, 1, 1)).to(torch.uint8)
    numbers = images.numpy().astype(np.float64) / 255
    if dtype == torch.float32:
        images = images / 255
    mean, std = channel_statistics(images)
    assert mean == pytest.approx(numbers.mean(axis=(0, 2, 3)))
    assert std == pytest.approx(numbers.std(axis=(0, 2, 3)))
    assert all(type(number) is float for number in mean + std)


def test_a_split_keeps_every_class_in_proportion():
    labels = torch.tensor([0] * 40 + [1] * 20 + [2] * 10)[torch.randperm(70)]
    others, held_out = stratified_split(labels, 14, seed=3)
    assert sorted(others.tolist() + held_out.tolist()) == list(range(70))
    assert labels[held_out].bincount().tolist() == [8, 4, 2]
    again, other_seed = (stratified_split(labels, 14, seed)[1] for seed in (3, 4))
    assert torch.equal(held_out, again) and not torch.equal(held_out, other_seed)


def test_a_split_may_leave_one_of_each_class():
    others, held_out = stratified_split(torch.tensor([0, 0, 1, 1]), 2, seed=0)
    assert len(others) == len(held_out) == 2


@pytest.mark.parametrize(
    ("labels", "size"),
    [([0, 0, 0, 1], 2), ([0, 0, 1, 1], 1), ([0, 0, 1, 1], 3), ([], 0)],
)
def test_a_split_without_a_class_is_refused(labels, size):
    with pytest.raises(
        ValueError, match=f"labels: cannot hold out {size} of {len(labels)} images: "
    ):
        stratified_split(torch.tensor(labels, dtype=torch.int64), size, seed=0)
