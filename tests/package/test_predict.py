import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from PIL import Image

from tests.conftest import ROOT, draw_at_random
from tests.package.small_training import QUICK, small_vit, stripes
from vit_steps import VisionTransformer, data
from vit_steps.attention_maps import (
    attention_rollout,
    class_token_to_patches,
    mass_inside,
)
from vit_steps.checkpoint import read_checkpoint, shipped_models, write_checkpoint
from vit_steps.data import cluttered_digits
from vit_steps.optional import INSTALL
from vit_steps.predict import Answer, main, predict, show_attention
from vit_steps.preprocessing import Preprocessing
from vit_steps.training import train
from vit_steps.variants import (
    SwinConfig,
    SwinTransformer,
    VariantConfig,
    VariantVisionTransformer,
)

KNOWN = Preprocessing((0.4,), (0.2,), ("low", "middle", "high"))


@pytest.fixture(scope="module")
def digits():
    return cluttered_digits.make(40, "test")


@pytest.fixture
def photo(tmp_path, digits):
    """A file with the second digit, larger, in colour and not square."""
    image = Image.fromarray((digits[0][1, 0] * 255).byte().numpy())
    path = tmp_path / "photo.png"
    image.resize((90, 80)).convert("RGB").save(path)
    return str(path)


def test_the_shipped_model_names_images_as_they_come(digits):
    images, labels, _ = digits
    model = VisionTransformer.from_pretrained("cluttered-digits")
    known = data.load("cluttered-digits", counts=(1000, 20, 20))
    assert model.preprocessing.classes == known.classes
    answers = [predict(model, image, top=1) for image in images]
    right = [a.classes == (str(int(k)),) for a, k in zip(answers, labels, strict=True)]
    assert sum(right) >= 36
    expected = model(model.preprocessing.normalize(images)).softmax(dim=1).amax(dim=1)
    got = torch.tensor([answer.probabilities[0] for answer in answers])
    torch.testing.assert_close(got, expected.detach())


def test_an_answer_reads_as_a_line():
    answer = Answer(("cat", "dog"), (0.9832, 0.0168))
    assert str(answer) == "cat (98.3%), dog (1.7%)"


def test_classes_are_in_the_order_of_their_probabilities():
    model = draw_at_random(small_vit()).eval()
    model.preprocessing = KNOWN
    image = torch.rand(1, 8, 8)
    answer = predict(model, image, top=9)
    logits = model((image[None] - 0.4) / 0.2)[0]
    order = logits.argsort(descending=True).tolist()
    assert answer.classes == tuple(KNOWN.classes[i] for i in order)
    assert sum(answer.probabilities) == pytest.approx(1.0)
    assert predict(model, image, top=1).classes == answer.classes[:1]
    assert predict(model.bfloat16(), image).probabilities[0] > 0.33
    model.float().preprocessing = Preprocessing((0.4,), (0.2,))
    assert predict(model, image).classes == tuple(str(i) for i in order)


def test_models_that_cannot_answer_are_refused():
    model = draw_at_random(small_vit()).eval()
    image = torch.rand(1, 8, 8)
    with pytest.raises(ValueError, match="model.preprocessing: got None, expected the"):
        predict(model, image)
    model.preprocessing = KNOWN
    with pytest.raises(ValueError, match="top: got 0, expected a positive int"):
        predict(model, image, top=0)
    with pytest.raises(ValueError, match="model: is in training mode"):
        predict(model.train(), image)
    model.eval().preprocessing = Preprocessing((0.4,) * 3, (0.2,) * 3)
    with pytest.raises(ValueError, match="got 3, 3 and 0, expected 1 for the channels"):
        predict(model, image)
    model.reset_classifier(0)
    with pytest.raises(ValueError, match="model: got 0 classes, expected two or more"):
        predict(model, image)


def test_a_model_whose_answer_would_mean_nothing_is_refused():
    model = small_vit().eval()
    image = torch.rand(1, 8, 8)
    model.preprocessing = KNOWN
    with pytest.raises(ValueError, match="model: got a head that is all zero"):
        predict(model, image)
    one = draw_at_random(small_vit(num_classes=1)).eval()
    with pytest.raises(ValueError, match="model: got 1 classes, expected two or mor"):
        predict(one, image)
    draw_at_random(model).head.bias.data[1] = float("nan")
    for ask in (predict, show_attention):
        with pytest.raises(ValueError, match="model: got numbers in 'head.bias' that"):
            ask(model, image)


@pytest.mark.parametrize("ask", [predict, show_attention])
def test_models_of_other_classes_are_refused(ask):
    name = "got a str, expected .* as VisionTransformer.from_pretrained"
    with pytest.raises(ValueError, match=f"model: {name}"):
        ask("fashion-mnist", torch.rand(1, 8, 8))
    swin = SwinTransformer(SwinConfig(image_size=32, patch_size=1, window_size=4))
    swin.preprocessing = KNOWN
    with pytest.raises(
        ValueError, match="model: got a SwinTransformer, expected a Vis"
    ):
        ask(swin.eval(), torch.rand(3, 32, 32))


def test_a_model_is_given_back_as_it_was():
    model = draw_at_random(small_vit(drop_rate=0.5)).eval()
    model.preprocessing = KNOWN
    image = torch.rand(1, 8, 8)
    expected = predict(model, image)
    model.blocks.train()  # parts can be in training mode inside a model that is not
    assert predict(model, image) == expected
    assert model.blocks.training and not model.training
    assert predict(torch.compile(model, backend="eager"), image) == expected


def test_a_model_keeps_what_its_data_says(tmp_path):
    images = stripes()
    path = tmp_path / "model.safetensors"
    train(model := small_vit(), images, QUICK, progress=False)
    assert model.preprocessing is None
    model.save_pretrained(path)
    assert VisionTransformer.from_pretrained(path).preprocessing is None
    images.preprocessing = KNOWN
    train(model := small_vit(), images, QUICK, progress=False)
    assert model.preprocessing == KNOWN
    model.save_pretrained(path, dtype=torch.float16)
    back = VisionTransformer.from_pretrained(path)
    assert back.preprocessing == KNOWN
    assert predict(back, torch.rand(1, 8, 8)).classes[0] in KNOWN.classes


@pytest.mark.parametrize(
    "card",
    [
        {"mean": [0.1, 0.2]},
        {"std": [0]},
        {"classes": ["a"]},
        {"mean": 3},
        {"std": None},
    ],
)
def test_a_file_that_contradicts_itself_is_refused(tmp_path, card):
    path = tmp_path / "model.safetensors"
    model = small_vit()
    model.preprocessing = KNOWN
    model.save_pretrained(path)
    tensors, metadata = read_checkpoint(path)
    write_checkpoint(path, tensors, metadata | card)
    with pytest.raises(ValueError, match="its metadata fit no model: "):
        VisionTransformer.from_pretrained(path)


def test_the_map_is_drawn_over_the_picture(digits):
    images, boxes = digits[0][:8], digits[2][:8]
    model = VisionTransformer.from_pretrained("cluttered-digits")
    _, weights = model.encode(model.preprocessing.normalize(images), need_weights=True)
    expected = class_token_to_patches(attention_rollout(weights))  # (8, 64)
    assert mass_inside(expected, boxes, 32, 4).mean() > 0.5
    for image, attention in zip(images, expected, strict=True):
        drawn = torch.tensor(show_attention(model, image).images[-1].get_array())
        light = drawn / image[0]  # 0.15 where nothing is attended, 1 at most
        shares = 0.15 + 0.85 * (attention / attention.quantile(0.99)).clamp(max=1.0)
        torch.testing.assert_close(light[::4, ::4], shares.detach().reshape(8, 8))


def python_blocks(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.S)


@pytest.mark.slow
def test_the_examples_run_and_print_what_they_say(tmp_path):
    examples = python_blocks("book/package/in_use.md")
    assert len(examples) == 4 and examples[0] == python_blocks("README.md")[0]
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "\n".join(examples) + "print(logits.shape, *logits.unique())",
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    *answers, logits = done.stdout.splitlines()
    assert answers == re.findall(r"print\(.*  # (.*)", "\n".join(examples))
    assert logits == "torch.Size([8, 10]) tensor(0., grad_fn=<UnbindBackward0>)"
    assert (tmp_path / "map.png").stat().st_size > 1000


def test_without_a_class_token_there_is_no_map():
    config = VariantConfig(8, 4, 1, 3, 8, 1, 2, pooling="mean")
    model = draw_at_random(VariantVisionTransformer(config)).eval()
    model.preprocessing = KNOWN
    with pytest.raises(ValueError, match="model: has no class token, expected one"):
        show_attention(model, torch.rand(1, 8, 8))
    assert len(predict(model, torch.rand(1, 8, 8)).classes) == 3


def test_the_command_prints_a_line_an_image(photo, capsys):
    assert main(["cluttered-digits", photo, photo, "--top", "2"]) == 0
    model = VisionTransformer.from_pretrained("cluttered-digits")
    line = f"{photo}: {predict(model, photo, top=2)}\n"
    assert capsys.readouterr().out == 2 * line and line.count("%") == 2


def test_the_command_runs_as_a_module_and_draws_a_map(photo, tmp_path):
    command = [sys.executable, "-m", "vit_steps", "predict", "cluttered-digits", photo]
    command += ["--map", str(tmp_path / "map.png")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    with Image.open(tmp_path / "map.png") as drawn:
        assert drawn.size == (600, 600) and len(drawn.getcolors(10**6)) > 50


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["nix", "x.png"], "model: got 'nix', expected a file, or a model that sh"),
        (["cluttered-digits", "x.png"], "image: x.png is not there, expected a file"),
        (
            ["fashion-mnist", "a", "b", "--map", "m.png"],
            "--map: got 2 images, expected",
        ),
        (["fashion-mnist", "a", "--top", "0"], "top: got 0, expected a positive int"),
        (
            ["fashion-mnist", "a", "--mean", "0.1,0.2,0.3"],
            "std: got (), expected one or more numbers",
        ),
        (["fashion-mnist", "a", "--mean", "0", "--std", "0"], "std: got 0.0, expected"),
        (
            ["fashion-mnist", "a", "--map", "m.txt"],
            "--map: got 'm.txt', expected a name in .png",
        ),
    ],
)
def test_the_command_says_what_is_wrong(arguments, sentence, capsys):
    assert main(arguments) == 1
    assert capsys.readouterr().err.startswith(f"Stopped: {sentence}")


def test_a_model_that_does_not_know_is_told_by_the_command(tmp_path, capsys):
    model = draw_at_random(small_vit()).eval()
    path = str(tmp_path / "m.safetensors")
    model.save_pretrained(path)
    image = str(tmp_path / "image.png")
    Image.new("L", (9, 9), 77).save(image)
    assert main([path, image]) == 1
    said = capsys.readouterr().err
    assert "got None, expected the mean" in said and "--mean and --std" in said
    assert main([path, image, "--mean", "0.4", "--std", "0.2"]) == 0
    model.preprocessing = Preprocessing((0.4,), (0.2,))
    assert capsys.readouterr().out == f"{image}: {predict(model, image)}\n"


@pytest.fixture
def folder(tmp_path, digits):
    """A folder of five digits, one of them deeper, and a text."""
    place = tmp_path / "pictures"
    (place / "more").mkdir(parents=True)
    for index, image in enumerate(digits[0][:5]):
        name = f"more/{index}.png" if index == 4 else f"{index}.png"
        Image.fromarray((image[0] * 255).byte().numpy()).save(place / name)
    (place / "note.txt").write_text("not an image")
    return place


def test_all_images_of_a_folder_are_named_in_batches(folder, capsys, monkeypatch):
    monkeypatch.setattr("vit_steps.predict.BATCH", 2)
    assert main(["cluttered-digits", str(folder), "--top", "1"]) == 0
    model = VisionTransformer.from_pretrained("cluttered-digits")
    paths = [str(path) for path in sorted(folder.rglob("*.png"))]
    expected = [f"{path}: {predict(model, path, top=1)}" for path in paths]
    assert capsys.readouterr().out.splitlines() == expected and len(expected) == 5


def test_unreadable_files_are_listed_at_the_end(folder, tmp_path, capsys):
    (folder / "1.png").write_bytes(b"no image")
    Image.new("RGBA", (9, 9)).save(folder / "2.png")
    table = tmp_path / "answers.csv"
    assert main(["cluttered-digits", str(folder), "x.png", "--csv", str(table)]) == 1
    out, error = capsys.readouterr()
    named = [line.partition(":")[0] for line in out.splitlines()]
    assert named == [str(folder / name) for name in ("0.png", "3.png", "more/4.png")]
    assert error.startswith("Left out: 3 of 6 files cannot be read: ")
    assert "Stopped" not in error, "it went on"
    assert all(
        name in error for name in ("1.png cannot be", "2.png is", "x.png is not")
    )
    rows = table.read_text().splitlines()
    assert rows[0] == "image,answer,0,1,2,3,4,5,6,7,8,9"
    assert [row.split(",")[0] for row in rows[1:]] == named
    table.unlink()
    assert main(["cluttered-digits", "x.png", "y.png", "--csv", str(table)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("Stopped: image: 2 of 2 files cannot be read: ")
    assert not table.exists(), "there is no answer"


def test_a_map_of_a_folder_of_many_is_refused(folder, tmp_path, capsys):
    command = ["cluttered-digits", str(folder), "--map", str(tmp_path / "map.png")]
    assert main(command) == 1
    assert capsys.readouterr().err.startswith("Stopped: --map: got 5 images, expected")
    assert not (tmp_path / "map.png").exists()
    assert main([command[0], str(folder / "more"), *command[2:]]) == 0
    assert (tmp_path / "map.png").stat().st_size > 1000


def test_an_empty_folder_and_a_table_that_is_there_are_refused(
    folder, tmp_path, capsys
):
    (tmp_path / "empty").mkdir()
    assert main(["cluttered-digits", str(tmp_path / "empty")]) == 1
    said = capsys.readouterr().err
    assert said.startswith("Stopped: image: got nothing in ")
    table = tmp_path / "answers.csv"
    table.write_text("years of work")
    command = ["cluttered-digits", str(folder), "--csv", str(table)]
    assert main(command) == 1
    assert capsys.readouterr().err.startswith("Stopped: --csv: ")
    assert table.read_text() == "years of work"
    assert main([*command, "--overwrite"]) == 0
    assert len(table.read_text().splitlines()) == 6


def test_wrong_numbers_are_refused_with_the_option(capsys):
    with pytest.raises(SystemExit):
        main(["fashion-mnist", "a", "--mean", "x"])
    assert "argument --mean: invalid numbers value: 'x'" in capsys.readouterr().err


def test_a_map_replaces_no_photograph_and_nothing_unasked(photo, tmp_path, capsys):
    photo_before = Path(photo).read_bytes()
    for more in ([], ["--overwrite"]):
        assert main(["cluttered-digits", photo, "--map", photo, *more]) == 1
    assert Path(photo).read_bytes() == photo_before
    drawn = tmp_path / "maps" / "map.png"  # the folder is made
    command = ["cluttered-digits", photo, "--map", str(drawn)]
    assert main(command) == 0
    drawn.write_bytes(b"something else")
    assert main(command) == 1 and "is there already" in capsys.readouterr().err
    assert drawn.read_bytes() == b"something else"
    assert main([*command, "--overwrite"]) == 0 and drawn.stat().st_size > 1000


def test_the_help_lists_the_models_that_ship(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    assert all(name in text for name in shipped_models())
    assert "cluttered-digits-mean" not in text  # predict does not take its class


@pytest.mark.parametrize("missing", ["PIL", "matplotlib"])
def test_a_missing_package_is_named_with_the_pip_line(missing, photo):
    code = f"""
import sys
sys.modules[{missing!r}] = None
from vit_steps.predict import main
sys.exit(main(["cluttered-digits", {photo!r}, "--map", "never.png"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == f"Stopped: {missing} is not installed: {INSTALL}\n"
