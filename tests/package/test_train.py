import errno
import os
import subprocess
import sys
from dataclasses import asdict, fields, replace

import pytest
import torch
from PIL import Image

from tests.conftest import ROOT
from vit_steps import VisionTransformer, ViTConfig, checkpoint, data
from vit_steps.checkpoint import read_checkpoint
from vit_steps.recipes import RECIPES
from vit_steps.train import MODEL_OPTIONS, TRAIN_OPTIONS, main
from vit_steps.training import TrainConfig, evaluate


def run(*arguments):
    return main(
        ["--data", "digits", "--epochs", "1", "--warmup-epochs", "0", *arguments]
    )


def test_every_field_has_an_option():
    settled_by_the_data = {"image_size", "in_channels", "num_classes"}
    rare = {"qkv_bias", "representation_size", "norm_eps"}
    model_fields = {field.name for field in fields(ViTConfig)}
    assert set(MODEL_OPTIONS) == model_fields - settled_by_the_data - rare
    assert set(TRAIN_OPTIONS) == {field.name for field in fields(TrainConfig)}


def test_the_command_trains_writes_and_says_what_it_did(tmp_path, capsys):
    path = tmp_path / "model.safetensors"
    assert run("--depth", "1", "--lr", "0.003", "--output", str(path)) == 0
    said = capsys.readouterr().out
    model = VisionTransformer.from_pretrained(path)
    _, card = read_checkpoint(path)
    assert model.config == replace(RECIPES["digits"].model, depth=1)
    assert card["train_config"] == asdict(
        replace(RECIPES["digits"].train, epochs=1, warmup_epochs=0.0, lr=0.003)
    )
    digits = data.load("digits")
    test = evaluate(model, digits.test)
    assert card["test"]["top1"] == pytest.approx(test.top1, abs=0.01)  # float16
    assert f"top-1 {card['test']['top1']:.2%}" in said
    assert card["command"].startswith("python -m vit_steps.train --data digits")
    assert (card["data"], card["threads"]) == ("digits", torch.get_num_threads())
    assert card["classes"] == list(digits.classes) and card["mean"] == [*digits.mean]


def test_the_command_goes_on_from_its_checkpoint(tmp_path, capsys):
    state = str(tmp_path / "state.safetensors")
    assert run("--depth", "1", "--checkpoint", state) == 0
    assert run("--depth", "1", "--checkpoint", state) == 1
    assert "is there already; go on from it" in capsys.readouterr().err
    assert run("--depth", "1", "--checkpoint", state, "--resume") == 0


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--lr", "-1"], "Stopped: lr: got -1.0, expected more than 0"),
        (["--num-heads", "5"], "num_heads: got 5, expected a divisor of"),
        (["--patch-size", "3"], "Stopped: "),
        (["--output", "model.pt"], "Stopped: path: got 'model.pt', expected a name in"),
        (["--checkpoint", "x.pt"], "Stopped: path: got 'x.pt', expected a name in"),
    ],
)
def test_the_command_says_what_is_wrong(arguments, sentence, capsys):
    assert run(*arguments) == 1
    assert sentence in capsys.readouterr().err


def test_it_runs_as_a_module():
    command = [sys.executable, "-W", "error", "-m", "vit_steps.train", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "--position-std" in done.stdout and "fields of TrainConfig" in done.stdout


@pytest.fixture
def pictures(tmp_path):
    """A folder of two classes, ten small pictures in each."""
    for name, colour in (("red", (200, 30, 30)), ("blue", (30, 30, 200))):
        (tmp_path / "pictures" / name).mkdir(parents=True)
        for number in range(10):
            image = Image.new("RGB", (70 + number, 66), colour)
            image.save(tmp_path / "pictures" / name / f"{number}.png")
    return tmp_path / "pictures"


FOLDER = "--data folder --epochs 1 --embed-dim 24 --depth 1 --num-heads 2".split()


@pytest.mark.parametrize(
    "options, tokens", [([], 65), (["--image-size", "32"], 17)], ids=["recipe", "own"]
)
def test_a_folder_is_trained_on_at_the_recipes_size_or_the_one_given(
    pictures, tmp_path, options, tokens
):
    path = tmp_path / "model.safetensors"
    given = ["--root", str(pictures), *options, "--output", str(path)]
    assert main([*FOLDER, *given]) == 0
    model = VisionTransformer.from_pretrained(path)
    assert model.pos_embed.shape[1] == tokens
    assert model.config.patch_size == RECIPES["folder"].model.patch_size


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--data", "folder"], "--root: got none, expected the folder of your images"),
        (
            ["--data", "digits", "--root", "pictures"],
            "--root: digits has no such choice, expected it with fashion-mnist and "
            "cifar-10 and folder only",
        ),
        (
            ["--data", "cifar-10", "--full"],
            "--full: cifar-10 has no such choice, expected it with fashion-mnist only",
        ),
        (["--data", "cluttered-digits", "--download"], "--download: cluttered-digits"),
        (["--data", "digits", "--image-size", "16"], "--image-size: digits has no"),
    ],
    ids=["folder", "root", "full", "download", "image-size"],
)
def test_a_source_that_does_not_fit_the_data_is_refused(arguments, sentence, capsys):
    assert main(arguments) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"Stopped: {sentence}") and said.count("\n") == 1


def test_a_package_that_is_missing_is_named_with_the_line_that_brings_it():
    code = "import sys\nsys.modules['sklearn'] = None\n"
    code += "from vit_steps.train import main\nsys.exit(main(['--data', 'digits']))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert "sklearn" in done.stderr
    assert done.stderr.rstrip().endswith("; pip install scikit-learn")


@pytest.mark.parametrize("name", [name for name in RECIPES if name != "folder"])
def test_one_epoch_is_trained_whatever_the_recipes_warm_up(name):
    assert replace(RECIPES[name].train, epochs=1).epochs == 1
    if name == "digits":
        assert main(["--data", name, "--epochs", "1", "--depth", "1"]) == 0


@pytest.fixture
def no_step(monkeypatch):
    """Fails if a step of training is taken."""
    monkeypatch.setattr("vit_steps.training.train_step", None)


@pytest.mark.parametrize("option", ["--output", "--checkpoint"])
def test_what_cannot_be_written_is_said_before_the_first_step(
    tmp_path, capsys, monkeypatch, no_step, option
):
    (tmp_path / "file").touch()
    (tmp_path / "folder.safetensors").mkdir()
    before = sorted(os.listdir(tmp_path))

    def said(name):
        assert run("--depth", "1", option, str(tmp_path / name)) == 1
        sentence = capsys.readouterr().err.splitlines()[-1]
        assert sentence.startswith("Stopped: path: ") and name in sentence
        return sentence

    assert "a folder, expected a name in .saf" in said("folder.safetensors")
    assert "cannot be written" in said("file/model.safetensors")

    def read_only(dir):
        raise PermissionError(errno.EACCES, "Permission denied", str(dir))

    monkeypatch.setattr(checkpoint, "TemporaryFile", read_only)
    assert "cannot be written: [Errno 13] Permission" in said("model.safetensors")
    assert sorted(os.listdir(tmp_path)) == before


def test_a_folder_that_is_not_there_is_made(tmp_path):
    path = tmp_path / "new" / "model.safetensors"
    assert run("--depth", "1", "--output", str(path)) == 0
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("state", [True, False], ids=["checkpoint", "none"])
def test_a_full_disk_at_the_end_is_said_with_where_the_state_is(
    tmp_path, capsys, monkeypatch, state
):
    output, checkpoint = tmp_path / "m.safetensors", tmp_path / "state.safetensors"
    move = os.replace

    def full(source, target):
        if target == output:
            raise OSError(errno.ENOSPC, "No space left on device")
        move(source, target)

    options = ["--checkpoint", str(checkpoint)] if state else []
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        assert run("--depth", "1", "--output", str(output), *options) == 1
    sentence = capsys.readouterr().err.splitlines()[-1]
    kept = str(checkpoint) if state else "no file, for want of a --checkpoint"
    assert sentence == (
        f"Stopped: [Errno 28] No space left on device: '{output}'; the training's "
        f"state is in {kept}"
    )
    assert os.listdir(tmp_path) == [checkpoint.name] * state
    if state:  # with room, the same command again makes the model
        assert run("--depth", "1", "--output", str(output), *options, "--resume") == 0
        assert VisionTransformer.from_pretrained(output)
