import pytest
import torch
import torch.nn.functional as F

from vit_steps.data import cluttered_digits
from vit_steps.data.published import digits, digits_split


def inside(boxes):
    """Make a mask of the boxes, with loops: (n, 4) -> (n, 1, 32, 32)."""
    mask = torch.zeros(len(boxes), 1, 32, 32, dtype=torch.bool)
    for place, (top, left, bottom, right) in zip(mask, boxes.tolist(), strict=True):
        place[0, top:bottom, left:right] = True
    return mask


def on_black(images, labels, count=300):
    black = torch.zeros(2, 1, 40, 40)
    return cluttered_digits.cluttered_digits(images, labels, black, count, seed=5)


@pytest.fixture(scope="module")
def made():
    return cluttered_digits.make(600, "train")


def test_what_is_made(made):
    images, labels, boxes = made
    assert images.shape == (600, 1, 32, 32) and images.dtype == torch.float32
    assert labels.shape == (600,) and labels.dtype == torch.int64
    assert boxes.shape == (600, 4) and boxes.dtype == torch.int64
    assert images.min() >= 0 and 0.9 < images.max() <= 1
    assert labels.unique().tolist() == list(range(10))


def test_boxes_are_everywhere_in_the_image_in_steps(made):
    tops, lefts, bottoms, rights = made[2].unbind(1)
    assert (bottoms - tops == 16).all() and (rights - lefts == 16).all()
    places = list(range(0, 17, cluttered_digits.STEP))
    for corners in (tops, lefts):
        assert corners.unique().tolist() == places
    assert len(torch.stack([tops, lefts]).unique(dim=1).T) == len(places) ** 2


def test_the_seed_decides_and_nothing_else():
    before = torch.get_rng_state()
    first, again, other = (cluttered_digits.make(20, "test", s) for s in (3, 3, 4))
    assert torch.equal(torch.get_rng_state(), before)
    for one, two, three in zip(first, again, other, strict=True):
        assert torch.equal(one, two) and not torch.equal(one, three)


def test_parts_share_neither_digits_nor_the_tests_ground(monkeypatch):
    monkeypatch.setattr(cluttered_digits, "cluttered_digits", lambda *a, **o: (a, o))
    drawn = set()
    images, labels = digits()
    indices = digits_split(labels)
    whole = cluttered_digits.textures()
    assert whole.shape == (3, 1, 512, 512) and 0.3 < whole.mean() < 0.6
    for part, size in cluttered_digits.PARTS.items():
        seen = whole[..., 384:] if part == "test" else whole[..., :384]
        for seed in (0, 1):
            used, options = cluttered_digits.make(part=part, seed=seed)
            assert torch.equal(used[0], images[indices[part]])
            assert torch.equal(used[1], labels[indices[part]])
            assert torch.equal(used[2], seen)
            assert options["count"] == size
            drawn.add(options["seed"])
    assert len(drawn) == 6  # each part and seed draws its own images


def test_the_digit_is_in_its_box_under_its_label(monkeypatch):
    monkeypatch.setattr(cluttered_digits, "TURN", 0.0)
    monkeypatch.setattr(cluttered_digits, "ZOOM", 0.0)
    small = torch.rand(10, 1, 8, 8)
    images, labels, boxes = on_black(small, torch.arange(10).flip(0))
    assert len(labels.unique()) == 10
    inner = slice(1, -1)  # an enlarged digit fades at its edge
    for image, label, (top, left, bottom, right) in zip(
        images[:, 0], labels.tolist(), boxes.tolist(), strict=True
    ):
        large = F.interpolate(small[[9 - label]], size=16, mode="bilinear")[0, 0]
        ink = image[top:bottom, left:right][inner, inner] / large[inner, inner]
        torch.testing.assert_close(ink, ink[:1, :1].expand(14, 14))
        assert 0.75 <= ink[0, 0] <= 1


def test_digits_are_turned_and_stretched_a_little():
    bar = torch.zeros(1, 1, 8, 8)
    bar[..., 1:7, 3:5] = 1
    images, _, boxes = on_black(bar, torch.zeros(1, dtype=torch.int64))
    ink = images[inside(boxes)].reshape(-1, 16, 16)
    ink = ink / ink.sum((1, 2), keepdim=True)
    places = torch.arange(16.0) - 7.5
    rows, columns = places[:, None], places
    for axis in (rows, columns):
        middle = (ink * axis).sum((1, 2))
        torch.testing.assert_close(middle, torch.zeros(300), atol=0.05, rtol=0)
    moments = [
        (ink * one * other).sum((1, 2))
        for one, other in ((rows, rows), (columns, columns), (rows, columns))
    ]
    angles = torch.rad2deg(torch.atan2(2 * moments[2], moments[0] - moments[1]) / 2)
    assert -15 < angles.min() < -9 and 9 < angles.max() < 15
    for moment in moments[:2]:  # along the bar's length and width
        sizes = moment.sqrt() / moment.sqrt().median()
        assert 0.8 < sizes.min() < 0.95 and 1.05 < sizes.max() < 1.2


def test_scraps_are_squares_clear_of_the_box_and_of_their_own_brightness():
    white = torch.ones(4, 1, 8, 8)
    images, _, boxes = on_black(white, torch.arange(4))
    gap = cluttered_digits.GAP
    wider = (boxes + gap * torch.tensor([-1, -1, 1, 1])).clamp(min=0)
    assert not images[inside(wider) & ~inside(boxes)].any()
    area = cluttered_digits.SCRAP**2
    most = cluttered_digits.SCRAPS
    counts = []
    for image, mask in zip(images, inside(boxes), strict=True):
        scraps = image[~mask]
        scraps = scraps[scraps > 0]
        assert 0.75 <= scraps.min() and scraps.max() <= 1
        counts.append(len(scraps.unique()))
        assert area <= len(scraps) <= area * most
    # a scrap may hide another
    assert max(counts) == most and sum(count >= most - 1 for count in counts) > 200


def test_scraps_are_cut_from_the_enlarged_digits():
    # the rows of these digits have known brightnesses, which scraps must keep
    small = torch.linspace(0.2, 1, 8)[None, None, :, None].expand(3, 1, 8, 8)
    images, _, boxes = on_black(small, torch.arange(3), 50)
    large = F.interpolate(small, size=16, mode="bilinear")[0, 0, :, 0]
    steps = {round(ratio, 3) for ratio in (large[1:] / large[:-1]).tolist()}
    for image, (top, left, *_) in zip(images[:, 0], boxes.tolist(), strict=True):
        alone = image.clone()
        alone[top : top + 16, left : left + 16] = 0
        a, b = alone[:-1], alone[1:]
        ratios = (b / a)[(a > 0) & (b > 0)]
        fits = [round(ratio, 3) in steps for ratio in ratios.tolist()]
        assert len(fits) > 20 and sum(fits) > 0.6 * len(fits)  # others overlap


def test_the_ground_is_cut_from_the_textures():
    codes = torch.arange(3 * 40 * 36).reshape(3, 1, 40, 36) / (3 * 40 * 36)
    images, _, _ = cluttered_digits.cluttered_digits(
        torch.zeros(2, 1, 8, 8), torch.arange(2), codes, 400, seed=0
    )
    codes = codes * cluttered_digits.BACKGROUND
    seen = set()
    for image in images:
        place = int((codes - image[0, 0, 0]).abs().argmin())
        texture, row, column = place // (40 * 36), place // 36 % 40, place % 36
        expected = codes[texture, :, row : row + 32, column : column + 32]
        torch.testing.assert_close(image, expected)
        seen.add((texture, row, column))
    for axis, count in enumerate((3, 9, 5)):
        assert {place[axis] for place in seen} == set(range(count))


def test_ink_covers_the_ground():
    light = torch.ones(1, 1, 32, 32)
    full = torch.ones(1, 1, 8, 8)
    images, _, boxes = cluttered_digits.cluttered_digits(
        full, torch.zeros(1, dtype=torch.int64), light, 50, seed=0
    )
    assert images[inside(boxes + torch.tensor([4, 4, -4, -4]))].min() > 0.75
    assert images.min() == pytest.approx(cluttered_digits.BACKGROUND)
    assert images.max() <= 1


def test_brightness_does_not_give_the_place_away(made):
    images, _, boxes = made
    masses = (images * inside(boxes)).flatten(1).sum(1) / images.flatten(1).sum(1)
    assert 0.25 < masses.mean() < 0.40


def test_no_linear_classifier_reads_them(made):
    from sklearn.linear_model import RidgeClassifier

    images, labels, _ = made
    others, others_labels, _ = cluttered_digits.make(300, "test")
    linear = RidgeClassifier(100.0).fit(images.flatten(1), labels)
    assert linear.score(others.flatten(1), others_labels) < 0.3


def test_refused():
    with pytest.raises(ValueError, match="part: got 'all', expected one of train, val"):
        cluttered_digits.make(part="all")
    with pytest.raises(ValueError, match="count: got 0, expected a positive int"):
        cluttered_digits.make(0)
