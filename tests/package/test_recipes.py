import subprocess
import sys
from dataclasses import asdict, fields, replace

import pytest
import torch

from tests.conftest import ROOT
from vit_steps import VisionTransformer, ViTConfig, data
from vit_steps.checkpoint import read_checkpoint
from vit_steps.recipes import MODEL_OPTIONS, RECIPES, TRAIN_OPTIONS, main
from vit_steps.training import TrainConfig, evaluate


def run(*arguments):
    return main(
        ["--data", "digits", "--epochs", "1", "--warmup-epochs", "0", *arguments]
    )


def test_every_data_set_has_a_recipe():
    assert set(RECIPES) == set(data.NAMES)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_builds_the_same_model_again(name):
    torch.manual_seed(1)
    first, expected = RECIPES[name].build(), torch.get_rng_state()
    torch.manual_seed(2)
    torch.testing.assert_close(
        RECIPES[name].build().state_dict(), first.state_dict(), rtol=0, atol=0
    )
    torch.manual_seed(1)
    assert torch.equal(torch.get_rng_state(), expected)
    width = first.pos_embed.std().item()
    assert width == pytest.approx(RECIPES[name].position_std, rel=0.1)
    assert not first.head.weight.any()


def test_another_seed_draws_another_model():
    recipe = RECIPES["digits"]
    other = replace(recipe, train=replace(recipe.train, seed=1)).build()
    assert not torch.equal(other.pos_embed, recipe.build().pos_embed)


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
    assert card["command"].startswith("python -m vit_steps.training --data digits")
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
def test_the_command_says_what_is_wrong(arguments, sentence, capsys, tmp_path):
    assert run(*arguments) == 1
    assert sentence in capsys.readouterr().err


def test_it_runs_as_a_module():
    command = [sys.executable, "-W", "error", "-m", "vit_steps.training", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "--position-std" in done.stdout and "fields of TrainConfig" in done.stdout
