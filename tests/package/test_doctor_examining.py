"""Test that each planted fault is named, and that a sound model is not accused."""

import copy
import io
import re
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Subset, TensorDataset

from tests.conftest import ROOT, read
from vit_doctor import examine
from vit_doctor.examining import TESTS, admitted, found_by
from vit_doctor.report import BOOK
from vit_steps import VisionTransformer, ViTConfig, data, optional
from vit_steps.preprocessing import Preprocessing
from vit_steps.training import TrainConfig, train
from vit_steps.variants import VariantConfig, VariantVisionTransformer

SMALL = ViTConfig(8, 2, 1, 10, 32, 3, 4)
KNOWN = Preprocessing((0.4, 0.4, 0.3), (0.25, 0.25, 0.25))
NAMES = [row.split()[0] for row in TESTS.strip().splitlines()]


class CNN(nn.Module):
    def __init__(self, channels=1, num_classes=10):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1),
            nn.ReLU(),
            nn.AdaptiveAvgPool2d(2),
            nn.Flatten(),
            nn.Dropout(0.2),
        )
        self.fc = nn.Linear(128, num_classes)

    def forward(self, images):
        return self.fc(self.body(images))


def fit(model, parts, epochs=8, lr=3e-3, seed=0):
    """Train a model on parts, with positions that start as in the recipe of digits.

    Few images are looked at after each epoch, since no test asks how it went.
    """
    few = Subset(parts.validation, range(8))
    normalised = getattr(parts, "preprocessing", None)
    parts = SimpleNamespace(train=parts.train, validation=few, preprocessing=normalised)
    if isinstance(getattr(model, "pos_embed", None), nn.Parameter):
        nn.init.normal_(model.pos_embed, std=0.5)
    choices = dict(warmup_epochs=min(1, epochs / 2), label_smoothing=0.0, seed=seed)
    train(model, parts, TrainConfig(epochs, lr=lr, **choices), progress=False)
    return model


def pair(images, labels, unseen, unseen_labels):
    sets = TensorDataset(images, labels), TensorDataset(unseen, unseen_labels)
    return SimpleNamespace(train=sets[0], validation=sets[1])


@cache
def digits():
    return data.load("digits", augment=False)


@cache
def tensors():
    return *digits().train.batch(), *digits().test.batch()


@cache
def drawn():
    """Digits, 0 to 4 in red and in blue: (900, 3, 16, 16) from 0 to 1, and classes."""
    generator = torch.Generator().manual_seed(0)
    images, labels = data.digits()
    images, labels = images[labels < 5][:900], labels[labels < 5][:900]
    images = F.interpolate(images, size=16, mode="bilinear")  # (n, 1, 16, 16)
    n = len(images)
    blue = torch.randint(2, (n,), generator=generator)
    hues = torch.tensor([[0.9, 0.4, 0.2], [0.2, 0.5, 0.9]])[blue][:, :, None, None]
    ground = 0.1 + 0.2 * torch.rand(n, 3, 1, 1, generator=generator)
    noise = 0.03 * torch.randn(n, 3, 16, 16, generator=generator)
    mixed = images * hues + (1 - images) * ground + noise
    return mixed.clamp(0, 1), labels + 5 * blue


def coloured(change=lambda images: images):
    images, labels = drawn()
    images = change(images)
    return pair(images[:600], labels[:600], images[600:], labels[600:])


@cache
def vit():
    torch.manual_seed(0)
    return fit(VisionTransformer(SMALL), digits())


@cache
def of_colours(kind):
    torch.manual_seed(0)
    model = CNN(3)
    if kind == "vit":
        model = VisionTransformer(ViTConfig(16, 4, 3, 10, 32, 3, 4))
    return fit(model, coloured(KNOWN.normalize), 25)


def named(model, parts, *names, lr=None, loader=None):
    """Return which of these tests, by default of all, find something suspicious."""
    torch.manual_seed(0)
    with torch.no_grad():
        test = getattr(parts, "test", parts.validation)
        patient = admitted(model, loader or parts.train, test, lr)
        found = [found_by(patient, name) for name in names or NAMES]
    wrong = [f for f in found if f.verdict == "suspicious"]
    return {f.topic.replace(" ", "_"): f.said for f in wrong}


def hardly_trained():
    model = VisionTransformer(SMALL)
    nn.init.normal_(model.pos_embed, std=0.5)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    images, labels, *_ = tensors()
    for _ in range(20):
        chosen = torch.randint(len(images), (64,))
        loss = F.cross_entropy(model(images[chosen]), labels[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return model, digits()


def variant():
    clothes = data.load("fashion-mnist", augment=False)
    parts = SimpleNamespace(
        train=clothes.train.subset(range(1500)), validation=clothes.validation
    )
    sizes = dict(image_size=28, patch_size=7, in_channels=1, num_classes=10)
    sizes |= dict(embed_dim=32, depth=3, num_heads=4)
    config = VariantConfig.dinov3_small(**sizes)
    return fit(VariantVisionTransformer(config), parts, 2), parts


def cnn_of_unequal_classes():
    images, labels, *unseen = tensors()
    kept = [(labels == k).nonzero()[: 120 if k < 3 else 30, 0] for k in range(10)]
    parts = pair(images[torch.cat(kept)], labels[torch.cat(kept)], *unseen)
    return fit(CNN(), parts, 15), parts


@cache
def of_torchvision():
    parts = coloured(KNOWN.normalize)
    model = optional.torchvision().models.VisionTransformer
    return fit(model(16, 4, 3, 4, 32, 64, num_classes=10), parts, 8, 1e-3), parts


@cache
def of_timm_after_two_epochs():
    parts = coloured(KNOWN.normalize)
    model = optional.timm().models.VisionTransformer
    sizes = dict(num_classes=10, embed_dim=32, depth=3, num_heads=4)
    return fit(model(16, 4, 3, **sizes), parts, 2, 1e-3), parts


def of_few_images():
    images, labels, *unseen = tensors()
    parts = pair(images[:100], labels[:100], *unseen)
    return fit(VisionTransformer(SMALL), parts, 60), parts


@pytest.mark.slow
@pytest.mark.parametrize(
    "sound",
    [
        lambda: (vit(), digits()),
        hardly_trained,
        variant,
        cnn_of_unequal_classes,
        of_torchvision,
        of_timm_after_two_epochs,
        of_few_images,
        lambda: (of_colours("cnn"), coloured(KNOWN.normalize)),
        lambda: (of_colours("vit"), coloured(KNOWN.normalize)),
    ],
)
def test_a_sound_model_is_not_accused(sound):
    model, parts = sound()
    loader = DataLoader(parts.train, 64, shuffle=True)
    assert named(model, parts, lr=1e-3, loader=loader) == {}


def test_the_model_and_random_numbers_are_left_as_they_were():
    model = copy.deepcopy(vit()).train()
    model.blocks[0].eval()
    before = copy.deepcopy(model.state_dict())
    state = torch.get_rng_state()
    report = examine(model, digits().train, digits().test, lr=3e-3)
    assert torch.equal(torch.get_rng_state(), state)
    assert model.training and not model.blocks[0].training
    assert all(p.grad is None and p.requires_grad for p in model.parameters())
    assert not any(m._forward_hooks for m in model.modules())
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)
    assert report.suspicious == () and torch.is_grad_enabled()


def with_change(change):
    """Return the trained model of digits after a change of its parameters."""
    model = copy.deepcopy(vit())
    with torch.no_grad():
        change(model)
    return model


def as_another(kind, epochs=8):
    """Train a small Vision Transformer of another class on the digits."""
    torch.manual_seed(0)
    return fit(kind(SMALL), digits(), epochs)


# Faults in the data


@pytest.mark.parametrize(
    "copied", [lambda x: x, lambda x: 1.1 * x.flip(-1) + 0.03 * torch.randn_like(x)]
)
def test_a_leak(copied):
    images, labels, unseen, new = tensors()
    both = torch.cat([images, copied(unseen[:60])]), torch.cat([labels, new[:60]])
    found = named(vit(), pair(*both, unseen, new), "leak", "labels_in_conflict")
    assert found.keys() == {"leak"}
    many = int(re.match(r"(\d+) of 450 test images", found["leak"])[1])
    assert 55 <= many <= 60


def test_copies_that_are_scaled_or_saved_anew_are_a_leak():
    clothes = data.load("fashion-mnist", augment=False)
    images, labels = clothes.train.subset(range(1500)).batch()
    unseen, new = clothes.test.subset(range(200)).batch()
    copies = []
    for picture in clothes.test.images[:60, 0]:
        file = io.BytesIO()
        saved = Image.fromarray(picture.numpy()).resize((40, 40))
        saved.save(file, "JPEG", quality=70)
        small = np.array(Image.open(file).resize((28, 28)))
        copies.append(clothes.train.transform(torch.from_numpy(small)[None]))
    both = torch.cat([images, torch.stack(copies)]), torch.cat([labels, new[:60]])
    found = named(CNN(), pair(*both, unseen, new), "leak")
    assert 50 <= int(found["leak"].split()[0]) <= 60


def test_many_copies_of_one_image_are_seen():
    images, labels, unseen, new = tensors()
    both = torch.cat([images, *[unseen[:15]] * 7]), torch.cat([labels, *[new[:15]] * 7])
    found = named(vit(), pair(*both, unseen, new), "leak")
    assert found["leak"].startswith("15 of 450")


def test_one_image_of_two_classes():
    images, labels, *unseen = tensors()
    both = torch.cat([images, images[:40]]), torch.cat([labels, (labels[:40] + 1) % 10])
    found = named(vit(), pair(*both, *unseen), "labels_in_conflict", "leak")
    assert found.keys() == {"labels_in_conflict"}
    assert found["labels_in_conflict"].startswith("80 of 1,162")


def test_a_loader_that_gives_one_class_after_the_other():
    images, labels, *unseen = tensors()
    order = labels.argsort()
    parts = pair(images[order], labels[order], *unseen)
    loader = DataLoader(parts.train, 64)
    found = named(vit(), parts, "order", loader=loader)["order"]
    assert found == (
        "99% of 448 images are of the class of the one before; in a random order 25% "
        "would be."
    )


def test_labels_that_have_nothing_to_do_with_the_images():
    images, labels, *unseen = tensors()
    shuffled = labels[torch.randperm(len(labels))]
    parts = pair(images[:150], shuffled[:150], *unseen)
    torch.manual_seed(0)
    model = fit(VisionTransformer(SMALL), parts, 100)
    found = named(model, parts, "labels_and_images", "new_images", "gradients")
    assert found.keys() == {"labels_and_images", "new_images"}


def test_a_model_that_learned_shuffled_labels():
    images, labels, *unseen = tensors()
    shuffled = labels[torch.randperm(len(labels))]
    torch.manual_seed(0)
    model = fit(VisionTransformer(SMALL), pair(images, shuffled, *unseen))
    found = named(model, digits())
    assert found.keys() == {"constant_answer"}
    assert "look at the training: its labels" in found["constant_answer"]


@pytest.mark.parametrize(
    ("kind", "given", "better"),
    [
        ("cnn", lambda x: x, "with their own"),
        ("vit", lambda x: x, "with ImageNet's"),
        ("cnn", lambda x: 255 * x, "with their own"),
        ("vit", lambda x: 255 * x, "with ImageNet's"),
        ("vit", lambda x: KNOWN.normalize(KNOWN.normalize(x)), "with ImageNet's"),
    ],
)
def test_images_that_are_normalised_in_another_way(kind, given, better):
    found = named(of_colours(kind), coloured(given), "normalisation", "gradients")
    assert found.keys() == {"normalisation"}
    assert found["normalisation"].endswith(f"{better}.")
    model = copy.deepcopy(of_colours(kind))
    model.preprocessing = KNOWN
    assert named(model, coloured(given), "normalisation")


def test_a_training_without_the_normalisation_on_the_card():
    torch.manual_seed(0)
    model = fit(VisionTransformer(ViTConfig(16, 4, 3, 10, 32, 3, 4)), coloured(), 25)
    model.preprocessing = KNOWN
    found = named(model, coloured(KNOWN.normalize), "normalisation")["normalisation"]
    assert found.endswith("in 0..1.")


def test_test_images_that_are_not_normalised():
    (images, labels), (unseen, new) = (
        part.tensors for part in vars(coloured(KNOWN.normalize)).values()
    )
    raw = KNOWN.mean[0] + KNOWN.std[0] * unseen
    parts = pair(images, labels, raw, new)
    found = named(of_colours("vit"), parts, "normalisation")
    assert "but in test images" in found["normalisation"]


@pytest.mark.parametrize("kind", ["cnn", "vit"])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda x: x.flip(1), "blue for red"),
        (lambda x: 1 - x, "black for white"),
    ],
)
def test_images_given_with_channels_or_sides_exchanged(kind, change, said):
    parts = coloured(lambda images: KNOWN.normalize(change(images)))
    found = named(of_colours(kind), parts, "channels_and_sides")
    assert found["channels_and_sides"].endswith(f"{said}.")
    of_tests = coloured(KNOWN.normalize)
    of_tests.validation = parts.validation
    found = named(of_colours(kind), of_tests, "channels_and_sides")
    assert "of the test images" in found["channels_and_sides"]


def test_rows_for_columns():
    images, labels, unseen, new = tensors()
    found = named(vit(), pair(images.mT, labels, unseen.mT, new), "channels_and_sides")
    assert found["channels_and_sides"].endswith("rows for columns.")


def test_classes_in_another_order():
    images, labels, unseen, new = tensors()
    parts = pair(images, (labels + 1) % 10, unseen, (new + 1) % 10)
    found = named(vit(), parts, "class_names", "normalisation", "channels_and_sides")
    assert found.keys() == {"class_names"} and "0 to 1, 1 to 2" in found["class_names"]
    swapped = labels.clone()
    swapped[labels == 3], swapped[labels == 5] = 5, 3
    found = named(vit(), pair(images, swapped, unseen, new), "class_names")
    assert found["class_names"].endswith("renamed: 3 to 5, 5 to 3.")


def test_classes_that_the_model_gives_up():
    images, labels, unseen, new = tensors()
    few = (labels == 8).nonzero()[:8, 0]
    two = (new == 3) | (new == 8)
    kept = torch.cat([(labels == 3).nonzero()[:, 0], few])
    of_two = unseen[two], (new[two] == 8).long()
    parts = pair(images[kept], (labels[kept] == 8).long(), *of_two)
    torch.manual_seed(0)
    model = fit(VisionTransformer(ViTConfig(8, 2, 1, 2, 32, 3, 4)), parts, 3)
    found = named(model, parts, "balance", "class_names", "untrained_layers")
    assert found.keys() == {"balance"}
    assert "50% of the test images are right, and 9" in found["balance"]


# Faults in the model


def test_a_head_that_never_moved():
    new = VisionTransformer(SMALL)
    found = named(new, digits())
    assert found.keys() == {"untrained_layers", "constant_answer"}
    frozen = VisionTransformer(SMALL)
    nn.init.normal_(frozen.head.weight)
    frozen.head.requires_grad_(False)
    found = named(fit(frozen, digits(), 3), digits(), "untrained_layers", "gradients")
    assert found.keys() == {"untrained_layers"} and found[
        "untrained_layers"
    ].startswith("head: ")
    cnn = CNN()
    cnn.fc.requires_grad_(False)
    found = named(fit(cnn, digits(), 2), digits(), "untrained_layers", "balance")
    assert found.keys() == {"untrained_layers"} and found[
        "untrained_layers"
    ].startswith("fc: ")


def test_parts_that_no_gradient_reaches():
    class Cut(VisionTransformer):
        def embed(self, images):
            return super().embed(images).detach()

    found = named(as_another(Cut), digits(), "gradients", "untrained_layers", "tokens")
    assert found.keys() == {"gradients", "untrained_layers"}
    first = "cls_token, pos_embed, patch_embed.proj.weight and 1 more"
    assert first in found["gradients"]


def test_frozen_parameters_are_named_and_no_fault():
    model = copy.deepcopy(vit())
    model.blocks.requires_grad_(False)
    with torch.no_grad():
        patient = admitted(model, digits().train, None, None)
        found = found_by(patient, "gradients")
    assert found.verdict == "fine" and "blocks.0.norm1.weight, " in found.said


def test_a_head_that_sees_no_image():
    class Blind(VisionTransformer):
        def forward(self, images):
            return self.head(self.norm(self.embed(images))[:, 0])

    found = named(as_another(Blind, 2), digits())
    assert {"what_the_head_sees", "gradients", "one_batch"} <= found.keys()
    model = with_change(lambda model: model.patch_embed.proj.weight.zero_())
    assert "what_the_head_sees" in named(model, digits(), "what_the_head_sees")


def test_positions_that_are_missing_or_all_the_same():
    model = with_change(lambda model: model.pos_embed[:, 1:].zero_())
    assert named(model, digits(), "positions", "asked_alone").keys() == {"positions"}


def test_patches_that_were_mixed_before():
    class Mixed(VisionTransformer):
        def embed(self, images):
            return super().embed(images + images.flip(2) ** 2)

    assert "with all positions zero" in str(
        named(as_another(Mixed, 2), digits(), "positions")
    )


def test_tokens_that_are_all_alike():
    def alike(model):
        model.norm.weight.zero_()

    found = named(with_change(alike), digits(), "tokens", "positions", "attention")
    assert found.keys() == {"tokens"}


@pytest.mark.parametrize("factor", [0.0, 30.0])
def test_scores_that_are_nothing_or_too_large(factor):
    def queries(model):
        for block in model.blocks:
            block.attn.qkv.weight[:32] *= factor
            block.attn.qkv.bias[:32] *= factor

    found = named(with_change(queries), digits(), "attention", "tokens", "asked_alone")
    assert found.keys() == {"attention"}
    assert ("the same weight" in found["attention"]) == (factor == 0)


def test_attention_of_other_libraries_is_looked_at():
    for sound, part in (
        (of_torchvision, "self_attention.in_proj_weight"),
        (of_timm_after_two_epochs, "attn.qkv.weight"),
    ):
        module = copy.deepcopy(sound()[0])
        with torch.no_grad():
            for name, parameter in module.named_parameters():
                if name.endswith(part):
                    parameter[: len(parameter) // 3] *= 1e5
        assert "attention" in named(module, coloured(KNOWN.normalize), "attention")


def test_logits_that_are_huge_or_probabilities():
    class Soft(VisionTransformer):
        def forward(self, images):
            return super().forward(images).softmax(dim=-1)

    found = named(as_another(Soft, 2), digits(), "logits", "finite_numbers")
    assert found.keys() == {"logits"} and "below 1.46" in found["logits"]
    huge = with_change(lambda model: model.head.weight.mul_(100))
    assert named(huge, digits(), "logits", "attention").keys() == {"logits"}


def test_numbers_that_are_not_finite_and_where_they_begin():
    def spoil(model):
        model.blocks[1].mlp.fc1.weight[0, 0] = torch.nan

    found = named(with_change(spoil), digits())
    assert next(iter(found)) == "finite_numbers"
    assert "is blocks.1.mlp.fc1.weight." in found["finite_numbers"]

    class Overflow(nn.GELU):
        def forward(self, x):
            return 1e38 * super().forward(x) * 1e38

    def overflow(model):
        model.blocks[1].mlp.act = Overflow()

    found = named(with_change(overflow), digits(), "finite_numbers")
    assert "the output of blocks.1.mlp.act." in found["finite_numbers"]


def test_shared_parameters_are_named():
    def share(model):
        model.blocks[1] = model.blocks[0]

    found = named(with_change(share), digits(), "shared_parameters", "asked_again")
    assert found.keys() == {"shared_parameters"}


def test_a_dropout_that_stays_on():
    class Noisy(VisionTransformer):
        def forward(self, images):
            return F.dropout(super().forward(images), 0.2)

    found = named(as_another(Noisy, 2), digits(), "asked_again", "both_modes")
    assert found.keys() == {"asked_again"}


def test_a_model_that_mixes_images():
    class Mixed(VisionTransformer):
        def forward(self, images):
            return super().forward(images - images.mean(dim=0))

    found = named(as_another(Mixed, 2), digits(), "asked_again", "asked_alone")
    assert found.keys() == {"asked_alone"}


def test_averages_of_a_batch_norm_that_do_not_fit():
    model = copy.deepcopy(of_colours("cnn"))
    model.body[1].running_var.mul_(1000)
    found = named(model, coloured(KNOWN.normalize), "both_modes", "gradients")
    assert found.keys() == {"both_modes"}


# Faults in the training


@pytest.mark.slow
@pytest.mark.parametrize("lr", [0.03, 0.1])
def test_a_rate_that_is_ten_times_too_high(lr):
    torch.manual_seed(0)
    model = fit(VisionTransformer(SMALL), digits(), 8, lr)
    assert "learning_rate" in named(model, digits(), "learning_rate", lr=lr)
    assert named(vit(), digits(), "learning_rate", lr=0.1)
    assert not named(vit(), digits(), "learning_rate", lr=0.01)


def test_one_answer_for_all():
    def lean(model):
        model.head.weight.zero_()
        model.head.bias[7] = 1

    found = named(with_change(lean), digits())
    assert list(found)[-1] == "constant_answer"
    assert "Of the answers 100% are 7." in found["constant_answer"]


def test_a_test_far_below_training():
    images, labels, *unseen = tensors()
    parts = pair(images[:20], labels[:20], *unseen)
    torch.manual_seed(0)
    model = fit(VisionTransformer(SMALL), parts, 100)
    assert named(model, parts).keys() == {"new_images"}


# The report


def test_what_cannot_be_looked_at_says_why():
    report = examine(CNN(), digits().train)
    said = {f.topic: f.said for f in report.findings if "could not" in f.verdict}
    assert said["leak"] == "there are no test images"
    assert said["learning rate"] == "no learning rate, lr, is known"
    assert {"order", "tokens", "positions", "attention"} <= said.keys()


def test_the_report_begins_with_what_is_suspicious():
    images, labels, unseen, new = tensors()
    both = torch.cat([images, unseen[:60]]), torch.cat([labels, new[:60]])
    parts = pair(*both, unseen, new)
    report = examine(vit(), parts.train, parts.validation)
    assert report.suspicious == ("leak",)
    lines = str(report).splitlines()
    assert lines[0] == "Suspicious (1)" and lines[1].startswith("  leak: 60 of 450")
    assert lines[3].strip() == next(f.url for f in report.findings if f.topic == "leak")
    heads = [line for line in lines if line and line[0] != " "]
    assert [head.partition(" (")[0] for head in heads[1:]] == [
        "Could not be looked at",
        "Fine",
    ]
    assert max(len(line) for line in lines if "https" not in line) <= 80


def test_every_section_is_in_the_book():
    headings = {}
    for finding in examine(CNN(), digits().train).findings:
        page, _, anchor = finding.url.removeprefix(BOOK).partition(".html#")
        if page not in headings:
            notebook = read(ROOT / "notebooks" / f"{page}.ipynb")
            text = "\n".join(c.source for c in notebook.cells if "#" in c.source)
            found = re.findall(r"^#+ (.+)$", text.lower(), re.MULTILINE)
            headings[page] = {re.sub(r"[^a-z0-9]+", "-", each) for each in found}
        assert anchor in headings[page], finding.url


class Pair(VisionTransformer):
    def forward(self, images):
        return super().forward(images), images


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (lambda d: (vit(), [], None), "train: got no image, expected at least one"),
        (lambda d: (vit(), None), "train: got NoneType, expected a data set"),
        (lambda d: (vit(), d.train, 3), "test: got int, expected a data set"),
        (lambda d: (vit(), d.train, None, -1), "lr: got -1, expected"),
        (
            lambda d: (vit(), [(torch.zeros(8, 8), 1)]),
            r"train, image 0: got shape \(8,",
        ),
        (lambda d: (vit(), [(torch.zeros(1, 8, 8), 10)] * 2), "labels: got 10 to 10"),
        (lambda d: (Pair(SMALL), d.train), "model's output: got a tuple"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        examine(*arguments(digits()))
