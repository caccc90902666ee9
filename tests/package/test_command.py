import os
import subprocess
import sys

import pytest

from vit_steps.__main__ import COMMANDS, main
from vit_steps.command import check_new, run_command
from vit_steps.vision_transformer import PRESETS


def run(capsys, *arguments):
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_the_whole_of_vit_base_as_a_table(capsys):
    lines = run(capsys).splitlines()
    total = next(line for line in lines if line.startswith("total"))
    assert total.split()[1:] == ["86,567,656", "17,563,828,224"]
    qkv = next(line for line in lines if line.startswith("attn.qkv"))
    assert "x12" in qkv and "(1, 3, 12, 197, 64)" in qkv and "21,261,312" in qkv
    assert lines[-1].startswith("4.1%")
    assert max(map(len, lines)) <= 88


def test_preset_image_size_and_batch(capsys):
    out = run(capsys, "tiny", "--image-size", "224x320", "--batch-size", "2")
    assert "(2, 281, 192)" in out and "(2, 3, 224, 320)" in out
    one = run(capsys, "tiny", "--image-size", "224x320")
    macs = [int(o.split()[-1].replace(",", "")) for o in total_lines(out, one)]
    assert macs[0] == 2 * macs[1]


def total_lines(*outputs):
    for out in outputs:
        yield next(line for line in out.splitlines() if line.startswith("total"))


def test_patch_size_and_classes(capsys):
    out = run(capsys, "base", "--patch-size", "32", "--num-classes", "10")
    assert "(1, 50, 768)" in out and "(1, 10)" in out


def test_the_table_of_dinov3(capsys):
    out = run(capsys, "dinov3_small", "--num-classes", "0")
    # timm's vit_small_patch16_dinov3 has as many
    assert next(total_lines(out)).split()[1] == "21,586,944"
    assert "(1, 201, 384)" in out and "rope: angles" in out and "pos_embed" not in out


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset(capsys, preset):
    assert "total" in run(capsys, preset)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--image-size", "230"], "image_size: got 230×230, expected multiples"),
        (["--image-size", "big"], "argument --image-size: invalid size value: 'big'"),
        (["--image-size", "224x"], "total"),
        (["no-preset"], "invalid choice: 'no-preset'"),
        (["--batch-size", "0"], "error: batch_size: got 0, expected a positive int"),
    ],
)
def test_bad_arguments_are_refused_with_a_sentence(capsys, arguments, message):
    if message == "total":
        assert message in run(capsys, *arguments)
        return
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_a_command_is_called_by_its_name(capsys, monkeypatch):
    assert run(capsys, "cost", "tiny") == run(capsys, "tiny")
    for name in COMMANDS:
        with pytest.raises(SystemExit) as stop:
            main([name, "--help"])
        assert stop.value.code == 0
        usage = capsys.readouterr().out.partition("\n")[0]
        module = {"doctor": "vit_doctor", "train": "vit_steps.train"}.get(
            name, f"vit_steps {name}"
        )
        assert usage.startswith(f"usage: python -m {module}")
    monkeypatch.setattr(sys, "argv", ["vit-steps", "small", "--batch-size", "2"])
    assert main() == 0 and "(2, 197, 384)" in capsys.readouterr().out


def test_the_help_names_every_command(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    assert all(name in text for name in COMMANDS)


def test_from_a_shell():
    command = [sys.executable, "-m", "vit_steps", "small"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0 and "22,050,664" in done.stdout


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ValueError("lr: got -1, expected more than 0"), "--lr: got -1, expected more"),
        (ValueError("lr_x: got -1; lower lr"), "lr_x: got -1; lower lr"),
        (RuntimeError("no name here\nand more"), "no name here\n"),
        (FloatingPointError("the lr: too high"), "the lr: too high"),
    ],
)
def test_only_the_argument_that_an_error_begins_with_becomes_an_option(
    error, sentence, capsys
):
    def command():
        raise error

    assert run_command(command, {"lr": "--lr"}) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"Stopped: {sentence}") and said.count("\n") == 1


def test_errors_of_the_program_are_not_hidden():
    def command():
        raise TypeError("a mistake of ours")

    with pytest.raises(TypeError):
        run_command(command, {})
    assert run_command(lambda: None, {}) == 0


def test_an_output_that_is_an_input_is_refused_however_it_is_spelled(tmp_path):
    path = tmp_path / "a.png"
    path.touch()
    (tmp_path / "link.png").symlink_to(path)
    spellings = ("a.png", "x/../a.png", "link.png")
    for output in (tmp_path / spelling for spelling in spellings):
        with pytest.raises(ValueError, match="map: got .* that the same command uses"):
            check_new(output, True, [None, path], name="map", suffix=".png")
    relative = os.path.relpath(path)
    with pytest.raises(ValueError, match="output: got "):
        check_new(relative, True, [str(path)], suffix=".png")


def test_a_file_that_is_there_is_replaced_only_on_demand(tmp_path):
    path = tmp_path / "a.safetensors"
    assert check_new(str(path)) == path
    path.touch()
    with pytest.raises(FileExistsError, match="output: .*a.safetensors' is there alr"):
        check_new(path)
    check_new(path, overwrite=True, inputs=[tmp_path / "b.png"])
