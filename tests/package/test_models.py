"""The models that ship with the package."""

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest
import torch

from experiments.drawn_digits import digit_from_strokes
from vit_steps import VisionTransformer, data
from vit_steps.attention_maps import (
    class_token_attention,
    mass_inside,
    patch_brightness,
)
from vit_steps.checkpoint import SHIPPED, read_checkpoint
from vit_steps.data import cluttered_digits
from vit_steps.data.published import fashion_mnist
from vit_steps.data.sets import ImageSet
from vit_steps.recipes import RECIPES
from vit_steps.training import evaluate
from vit_steps.variants import VariantVisionTransformer

AVERAGING = "cluttered-digits-mean"
DRAWN = "cluttered-digits-drawn"
NAMES = ["cluttered-digits", DRAWN, AVERAGING, "fashion-mnist"]
# The people who drew these drew no digit of any training.
DRAWINGS = Path(__file__).with_name("drawings.json")
CHANGES = {AVERAGING: {"pooling": "mean"}}
each_model = pytest.mark.parametrize("name", NAMES)


def shipped(name):
    variant = name == AVERAGING
    model_class = VariantVisionTransformer if variant else VisionTransformer
    return model_class.from_pretrained(name)


def held_out(name):
    """Return images that the model has not seen, normalised as in its training."""
    _, card = read_checkpoint(name)

    def normalised(image):
        image = image if image.is_floating_point() else image.float() / 255
        return data.normalize(image, card["mean"], card["std"])

    if card["data"] == "cluttered-digits":
        images, labels, boxes = cluttered_digits.make(part="test")
        return ImageSet(images, labels, boxes, transform=normalised)
    return ImageSet(*fashion_mnist("test"), transform=normalised)


def test_these_ship():
    assert sorted(path.stem for path in SHIPPED.glob("*.safetensors")) == NAMES


@each_model
def test_a_model_is_small_and_says_how_it_was_made(name):
    path = SHIPPED / f"{name}.safetensors"
    assert path.stat().st_size < 1_000_000
    weights, made = read_checkpoint(name)
    assert {w.dtype for w in weights.values()} == {torch.float16}
    recipe, config = RECIPES[made["data"]], shipped(name).config
    assert config == type(config)(**asdict(recipe.model) | CHANGES.get(name, {}))
    config = dict(made["train_config"])
    assert config == {field: getattr(recipe.train, field) for field in config}
    assert made["position_std"] == recipe.position_std
    card = path.with_suffix(".md").read_text(encoding="utf-8")
    commands = {n: f"python -m experiments.retrain {n}" for n in (DRAWN, AVERAGING)}
    plain = f"python -m vit_steps.train .*--data {name}"
    assert re.match(commands.get(name, plain), made["command"])
    assert made["command"] in card and f"`{type(shipped(name)).__name__}." in card
    accuracy = float(re.search(r"test accuracy \| ([\d.]+)%", card)[1])
    assert accuracy == pytest.approx(100 * made["test"]["top1"], abs=0.2)


@pytest.mark.parametrize(
    ("name", "at_least"),
    [
        ("cluttered-digits", 0.95),
        (DRAWN, 0.95),
        (AVERAGING, 0.94),
        ("fashion-mnist", 0.86),
    ],
)
def test_a_model_is_as_good_as_its_card_says(name, at_least):
    top1 = evaluate(shipped(name), held_out(name)).top1
    _, made = read_checkpoint(name)
    assert top1 > at_least
    # Fashion-MNIST's card is about 10,000 images, 1,000 of which ship
    tolerance = 0.03 if name == "fashion-mnist" else 0.005
    assert top1 == pytest.approx(made["test"]["top1"], abs=tolerance)


@pytest.mark.parametrize("name", [DRAWN, AVERAGING])
def test_a_drawn_digit_is_read_wherever_it_is(name):
    drawings = json.loads(DRAWINGS.read_text(encoding="utf-8"))
    drawn = torch.stack(
        [
            digit_from_strokes(list(map(torch.tensor, drawing["strokes"])), pad=1)
            for drawing in drawings
        ]
    )[:, None]  # (60, 1, 8, 8)
    labels = torch.tensor([drawing["digit"] for drawing in drawings])
    grounds = cluttered_digits.textures()[..., -128:]  # not used in training
    images, labels, _ = cluttered_digits.cluttered_digits(
        drawn, labels, grounds, 3000, seed=0
    )
    _, card = read_checkpoint(name)
    images = data.normalize(images, card["mean"], card["std"])
    with torch.inference_mode():
        right = shipped(name)(images).argmax(dim=1) == labels
    assert right.double().mean() > 0.95
    for digit in range(10):
        assert right[labels == digit].double().mean() > 0.85, digit


def test_it_looks_at_the_digit():
    test, recipe = held_out("cluttered-digits"), RECIPES["cluttered-digits"]
    images, _ = test.batch(range(250))
    boxes = test.boxes[:250]

    def mass(attention):
        return mass_inside(attention, boxes, 32, 4).mean(0)

    def looks(model):
        with torch.no_grad():
            _, weights = model.encode(images, need_weights=True)
        return mass(class_token_attention(weights)).mean(dim=1)  # (L,)

    trained = looks(VisionTransformer.from_pretrained("cluttered-digits"))
    untrained = looks(recipe.build().eval())
    brightness = mass(patch_brightness(test.images[:250], 4))
    assert (trained[1:3] > 0.8).all() and (trained > brightness).all()
    assert (
        (untrained < brightness).all() and untrained.mean() < 0.3 and brightness < 0.4
    )
