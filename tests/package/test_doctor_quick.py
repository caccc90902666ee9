import math

import pytest
import torch
from torch import nn

from tests.conftest import draw_at_random
from vit_doctor import (
    batch_effect,
    order_effect,
    overfit_one_batch,
    repeat_effect,
    shared_parameters,
    shuffle_patches,
    silent_parameters,
)
from vit_steps import VisionTransformer, ViTConfig

SMALL = ViTConfig(8, 4, 1, 3, 16, 2, 2)


@pytest.fixture
def model():
    return draw_at_random(VisionTransformer(SMALL)).train()


@pytest.fixture
def images():
    return torch.randn(6, 1, 8, 8)


def test_a_sound_model_has_no_symptom(model, images):
    labels = torch.arange(6) % 3
    fresh = VisionTransformer(SMALL)
    assert overfit_one_batch(fresh, images, labels, 200)[-1] < 0.1
    assert batch_effect(model, images) < 1e-5
    assert repeat_effect(model, images) == 0.0
    assert order_effect(model, images, 4) > 0.01
    assert silent_parameters(model, images) == []
    assert shared_parameters(model) == []


def test_the_model_is_left_as_it_was(model, images):
    before = {name: value.clone() for name, value in model.state_dict().items()}
    model.blocks[0].eval()
    overfit_one_batch(model, images, torch.zeros(6, dtype=torch.long), steps=2)
    batch_effect(model, images)
    order_effect(model, images, 4)
    silent_parameters(model, images)
    assert model.training and not model.blocks[0].training
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)
    assert all(p.grad is None for p in model.parameters())


def test_a_blind_model_does_not_overfit(images):
    class Blind(VisionTransformer):
        def forward(self, images):
            return self.head(self.embed(images)[:, 0])

    losses = overfit_one_batch(Blind(SMALL), images, torch.arange(6) % 3)
    assert len(losses) == 100
    assert losses[-1] > 0.99 * math.log(3)


def test_mixed_samples_are_seen(model, images):
    class Mixed(VisionTransformer):
        def forward(self, images):
            return super().forward(images - images.mean(0))

    mixed = Mixed(SMALL)
    mixed.load_state_dict(model.state_dict())
    assert batch_effect(mixed, images) > 0.01

    class OneTooFew(VisionTransformer):
        def forward(self, images):
            return super().forward(images).mean(0)

    assert batch_effect(OneTooFew(SMALL), images) == math.inf


def test_a_dropout_that_stays_on_is_seen(model, images):
    class Noisy(VisionTransformer):
        def forward(self, images):
            return nn.functional.dropout(super().forward(images), 0.5)

    noisy = Noisy(SMALL)
    noisy.load_state_dict(model.state_dict())
    assert repeat_effect(noisy, images) > 0.01


def test_missing_positions_are_seen(model, images):
    with torch.no_grad():
        model.pos_embed[:, 1:] = 0
    assert order_effect(model, images, 4) < 1e-5


def test_silent_and_shared_parameters_are_named(model, images):
    model.blocks[1] = model.blocks[0]
    model.unused = nn.Linear(2, 2)
    assert silent_parameters(model, images) == ["unused.weight", "unused.bias"]
    assert len(shared_parameters(model)) == 12
    first = shared_parameters(model)[0]
    assert first == ["blocks.0.norm1.weight", "blocks.1.norm1.weight"]
    fresh = VisionTransformer(SMALL)  # a head of zeros silences all other weights
    assert "blocks.0.attn.qkv.weight" in silent_parameters(fresh, images)


def test_shuffling_keeps_every_patch(images):
    shuffled = shuffle_patches(images, 4)
    assert shuffled.shape == images.shape and not torch.equal(shuffled, images)
    assert torch.equal(shuffled.flatten().sort()[0], images.flatten().sort()[0])
    assert torch.equal(shuffled, shuffle_patches(images, 4))
    assert not torch.equal(shuffled, shuffle_patches(images, 4, seed=1))
    wide = torch.randn(2, 3, 4, 8)
    assert shuffle_patches(wide, (2, 4)).shape == wide.shape


def test_parameters_without_memory_are_not_taken_for_shared(model):
    assert shared_parameters(model.to("meta")) == []
    model.blocks[1] = model.blocks[0]
    assert len(shared_parameters(model)) == 12


@pytest.mark.parametrize(
    "test",
    [
        batch_effect,
        repeat_effect,
        lambda model, images: order_effect(model, images, 4),
        silent_parameters,
        lambda model, images: overfit_one_batch(model, images, torch.arange(6) % 3, 2),
    ],
)
def test_wrong_inputs_and_outputs_are_refused(test, model, images):
    with pytest.raises(ValueError, match="images: got torch.float64, expected"):
        test(model, images.double())
    with pytest.raises(ValueError, match=r"images: got shape \(6, 1, 8\), expected"):
        test(model, images[:, :, 0])
    with pytest.raises(ValueError, match=r"images: got shape \(0, .* at least 1"):
        test(model, images[:0])

    class WithWeights(VisionTransformer):
        def forward(self, images):
            return self.encode(images, need_weights=True)

    with pytest.raises(ValueError, match="logits: got a tuple, .* returned alone"):
        test(WithWeights(SMALL), images)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (torch.zeros(1).long(), r"labels: got shape \(1,\), expected \(6,\)"),
        (torch.zeros(6), "labels: got 0.0 to 0.0 of torch.float32, .* torch.int64"),
        (torch.full((6,), 3), "labels: got 3 to 3 of torch.int64, expected 0 to 2"),
        ([0] * 6, "labels: got a list, expected a tensor"),
    ],
)
def test_labels_that_fit_no_logits_are_refused(model, images, labels, message):
    with pytest.raises(ValueError, match=message):
        overfit_one_batch(model, images, labels, 2)


def test_bad_input(model, images):
    labels = torch.arange(6) % 3
    with pytest.raises(ValueError, match="steps: got 1.5, expected a positive int"):
        overfit_one_batch(model, images, labels, steps=1.5)
    with pytest.raises(ValueError, match="model: got only frozen parameters"):
        overfit_one_batch(model.requires_grad_(False), images, labels)
    with pytest.raises(ValueError, match="images: got 1, expected two or more"):
        batch_effect(model, images[:1])
    with pytest.raises(ValueError, match="patch size 3×3"):
        shuffle_patches(images, 3)
