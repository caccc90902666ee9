"""The command ``vit-steps doctor``: files and folders, and what it says of them."""

import re

import pytest
import torch
from PIL import Image
from torch import nn

from vit_steps import VisionTransformer, ViTConfig, data
from vit_steps.__main__ import main
from vit_steps.preprocessing import Preprocessing
from vit_steps.training import TrainConfig, train
from vit_steps.variants import VariantConfig, VariantVisionTransformer

CLASSES = ("zero", "one", "two")
KNOWN = Preprocessing((0.3,), (0.4,), CLASSES)


def write(folder, images, labels):
    for number, (image, label) in enumerate(zip(images, labels, strict=True)):
        file = folder / CLASSES[label] / f"{number}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray((255 * image[0]).byte().numpy()).save(file)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A model that reads three digits, and its images, 300 and 200."""
    root = tmp_path_factory.mktemp("doctor")
    images, labels = data.digits()
    images, labels = images[labels < 3][:500], labels[labels < 3][:500]
    write(root / "photos" / "train", images[:300], labels[:300])
    write(root / "photos" / "test", images[300:], labels[300:])
    torch.manual_seed(0)
    model = VisionTransformer(ViTConfig(8, 2, 1, 3, 32, 2, 4))
    nn.init.normal_(model.pos_embed, std=0.5)
    pairs = [*zip(KNOWN.normalize(images[:300]), labels[:300].tolist(), strict=True)]

    class Parts:
        train = validation = pairs

    train(model, Parts, TrainConfig(10, lr=3e-3, warmup_epochs=1), progress=False)
    model.preprocessing = KNOWN
    card = {"train_config": {"lr": 3e-3}}
    model.save_pretrained(root / "model.safetensors", **card)
    model.preprocessing = None
    model.save_pretrained(root / "unknown.safetensors")
    return root


def asked(place, capsys, *arguments, model="model", status=0):
    file = str(place / f"{model}.safetensors")
    assert main(["doctor", file, *map(str, arguments)]) == status
    return capsys.readouterr()


def test_a_sound_model_and_its_images(place, capsys):
    said = asked(place, capsys, place / "photos").out
    assert said.startswith("Suspicious (0)\n")
    assert "leak: 0 of 200 test images" in said and "rate 0.003" in said
    assert not re.search("^.{81}", said, re.MULTILINE) or "https" in said


def test_a_fault_comes_first(place, capsys):
    images, labels = data.digits()
    images, labels = images[labels < 3][300:500], labels[labels < 3][300:500]
    write(place / "leaky" / "test", images, labels)
    write(place / "leaky" / "train", images[:150], labels[:150])
    said = asked(place, capsys, place / "leaky").out
    assert said.startswith("Suspicious (1)\n  leak: 150 of 200 test images")


def test_a_folder_of_classes_is_what_the_model_was_trained_on(place, capsys):
    said = asked(place, capsys, place / "photos" / "train", "--lr", "0.002").out
    assert "leak: because there are no test images" in said and "rate 0.002" in said


def test_a_model_that_does_not_know_how_images_were_normalised(place, capsys):
    said = asked(place, capsys, place / "photos", model="unknown").out
    assert "learning rate: because no learning rate, lr, is known" in said
    numbers = ["--mean", "0.3", "--std", "0.4"]
    said = asked(place, capsys, place / "photos", *numbers, model="unknown").out
    # the file does not name its classes, so they are numbered by the alphabet
    assert " ".join(said.partition("https")[0].split()[4:]) == (
        "class names: 0% of the training images are right as they come, but 100% if "
        "classes are renamed: one to zero, two to one, zero to two."
    )


def test_a_model_of_another_class(place, capsys):
    sizes = dict(image_size=8, patch_size=2, in_channels=1, num_classes=3)
    config = VariantConfig(**sizes, embed_dim=16, depth=1, num_heads=2, num_registers=1)
    model = VariantVisionTransformer(config)
    model.preprocessing = KNOWN
    model.save_pretrained(place / "variant.safetensors")
    said = asked(place, capsys, place / "photos", model="variant").out
    assert "untrained layers: patch_embed.proj" in said.partition("\n\n")[0]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere"], "folder: got nowhere, expected a folder with a folder of images"),
        (["photos", "--lr", "-1"], "--lr: got -1.0, expected"),
        (["photos", "--mean", "0.4,0.4", "--std", "1,1"], "mean, std, classes: got 2"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(place, capsys, arguments, sentence):
    folder, *more = arguments
    folder = folder if folder == "nowhere" else place / folder
    said = asked(place, capsys, folder, *more, status=1).err
    assert said.startswith(f"Stopped: {sentence}")


def test_classes_of_others_are_refused(place, capsys):
    (place / "others" / "cat").mkdir(parents=True)
    said = asked(place, capsys, place / "others", status=1).err
    assert "folder: got cat in" in said and "expected folders with names of" in said
