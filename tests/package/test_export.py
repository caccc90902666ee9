import json
import re
import shutil
import sys

import pytest
import torch
from torch.testing import assert_close

from tests.conftest import draw_at_random
from vit_steps import VisionTransformer, ViTConfig, export
from vit_steps.export import exported, main, to_onnx
from vit_steps.preprocessing import Preprocessing
from vit_steps.transfer import transfer
from vit_steps.variants import (
    SwinConfig,
    SwinTransformer,
    VariantConfig,
    VariantVisionTransformer,
)
from vit_steps.variants.any_size import any_size

CLOSE = dict(atol=1e-5, rtol=1e-5)
KNOWN = Preprocessing((0.4, 0.5, 0.6), (0.2, 0.3, 0.2), ("cat", "dog"))
SIZES = [(12, 8), (6, 12), (21, 20)]  # patches are 3×4; the first is the model's size


def small():
    config = ViTConfig(
        image_size=(12, 8),
        patch_size=(3, 4),
        num_classes=2,
        embed_dim=16,
        depth=1,
        num_heads=2,
    )
    model = draw_at_random(VisionTransformer(config)).eval()
    model.preprocessing = KNOWN
    return model


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with the small model's file, and the files that the command writes."""
    folder = tmp_path_factory.mktemp("export")
    path = folder / "model.safetensors"
    small().save_pretrained(path)
    assert main([str(path), str(folder / "fixed.onnx")]) == 0
    assert main([str(path), str(folder / "any.onnx"), "--any-size"]) == 0
    return folder


def session(path):
    import onnxruntime

    return onnxruntime.InferenceSession(path)


def run(path, images):
    (logits,) = session(path).run(None, {"images": images.numpy()})
    return torch.from_numpy(logits)


@pytest.mark.parametrize("size", SIZES)
def test_positions_are_resized_as_for_a_model_of_that_size(size):
    right = transfer(small(), size, None)
    images = torch.rand(2, 3, *size)
    assert_close(any_size(small())(images), right(images))


def test_any_size_says_what_it_does_not_take():
    with pytest.raises(ValueError, match="images: got .*13, 8.* expected .* 3×4"):
        any_size(small())(torch.rand(1, 3, 13, 8))
    with pytest.raises(ValueError, match="images: got .*0, 8.* expected .* at least 1"):
        any_size(small())(torch.rand(1, 3, 0, 8))
    variant = VariantVisionTransformer(VariantConfig(image_size=16, embed_dim=12))
    with pytest.raises(
        ValueError, match="config: got a VariantConfig, expected a ViTConfig"
    ):
        any_size(variant)
    assert any_size(small()).preprocessing == KNOWN


def test_the_exported_program_takes_any_batch_and_size(tmp_path):
    model = any_size(small())
    torch.export.save(exported(model), tmp_path / "model.pt2")
    program = torch.export.load(tmp_path / "model.pt2").module()
    for batch, size in enumerate(SIZES, start=1):
        images = torch.rand(batch, 3, *size)
        assert_close(program(images), model(images))


@pytest.mark.parametrize("size", SIZES[:2])
@pytest.mark.parametrize(
    ("dtype", "far"), [(torch.float16, 2e-3), (torch.bfloat16, 5e-2)]
)
def test_sixteen_bits_change_the_logits_a_little(dtype, far, size):
    images = torch.randn(8, 3, *size)
    model = small()
    right = any_size(model)(images)
    got = any_size(model.to(dtype))(images.to(dtype))
    assert got.dtype == dtype
    assert_close(got.float(), right, atol=far, rtol=far)
    with pytest.raises(AssertionError):
        assert_close(got.float(), right, **CLOSE)


def test_any_size_compiles_whole_and_once():
    model = any_size(small())
    graphs = []

    def count(graph, _):
        graphs.append(graph)
        return graph

    compiled = torch.compile(model, fullgraph=True, dynamic=True, backend=count)
    for size in SIZES:
        images = torch.rand(2, 3, *size)
        assert_close(compiled(images), model(images))
    assert len(graphs) == 1


def test_a_model_in_training_mode_is_refused():
    with pytest.raises(ValueError, match="model: is in training mode, expected"):
        exported(small().train())


def test_models_of_other_classes_are_refused(tmp_path):
    swin = SwinTransformer(SwinConfig(image_size=32, patch_size=1, window_size=4))
    for model in (swin.eval(), "cluttered-digits"):
        got = f"got a {type(model).__name__}, expected a VisionTransformer"
        for write in (exported, lambda model: to_onnx(model, tmp_path / "no.onnx")):
            with pytest.raises(ValueError, match=f"model: {got}"):
                write(model)


def test_a_model_whose_logits_would_mean_nothing_is_refused(tmp_path):
    model = small()
    torch.nn.init.zeros_(model.head.weight)
    with pytest.raises(ValueError, match="model: got a head that is all zero"):
        to_onnx(model, tmp_path / "zero.onnx")
    model.head.weight.data[0, 0] = float("inf")
    with pytest.raises(ValueError, match="model: got numbers in 'head.weight' that"):
        to_onnx(model, tmp_path / "inf.onnx")
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_a_model_in_other_bits_gives_a_file_in_float32(dtype, tmp_path):
    model = small().to(dtype)
    to_onnx(torch.compile(model, backend="eager"), tmp_path / "m.onnx")
    assert next(model.parameters()).dtype == dtype
    images = torch.randn(2, 3, 12, 8)
    assert_close(run(tmp_path / "m.onnx", images), model.float()(images), **CLOSE)


def test_a_model_without_a_head_gives_features(tmp_path):
    model = small()
    model.reset_classifier(0)
    to_onnx(model, tmp_path / "m.onnx")
    assert [o.name for o in session(tmp_path / "m.onnx").get_outputs()] == ["features"]


@pytest.mark.parametrize("name", ["fixed", "any"])
def test_axes_have_names_and_partial_patches_are_refused(files, name):
    here = session(files / f"{name}.onnx")
    (images,) = here.get_inputs()
    (logits,) = here.get_outputs()
    sides = [12, 8] if name == "fixed" else ["height", "width"]
    assert images.shape == ["batch", 3, *sides] and logits.shape == ["batch", 2]
    for size in ((13, 8), (12, 9)):
        with pytest.raises(Exception, match="INVALID_ARGUMENT|cannot be reshaped"):
            run(files / f"{name}.onnx", torch.randn(1, 3, *size))


@pytest.mark.parametrize("batch", [1, 2, 5])
def test_onnx_runtime_gives_the_same_logits_for_any_batch(files, batch):
    images = torch.randn(batch, 3, 12, 8)
    assert_close(run(files / "fixed.onnx", images), small()(images), **CLOSE)


@pytest.mark.parametrize("size", SIZES)
def test_onnx_runtime_gives_the_same_logits_for_any_size(files, size):
    images = torch.randn(3, 3, *size)
    right = any_size(small())(images)
    assert_close(run(files / "any.onnx", images), right, **CLOSE)


def test_a_file_can_be_quantised_without_a_warning(files, tmp_path, caplog):
    """The side road Exporting and shrinking a model does this."""
    from onnxruntime.quantization import quantize_dynamic

    quantize_dynamic(files / "any.onnx", tmp_path / "int8.onnx")
    assert not caplog.records


def test_the_command_replaces_a_file_only_with_overwrite(files, monkeypatch, capsys):
    exporting = lambda _, path: shutil.copy(files / "any.onnx", path)  # noqa: E731
    monkeypatch.setattr(export, "to_onnx", exporting)
    arguments = [str(files / "model.safetensors"), str(files / "again.onnx")]
    assert main(arguments) == 0
    said = capsys.readouterr().out
    assert re.search(r"again.onnx: [\d,]+ bytes, logits equal to PyTorch's", said)
    assert main(arguments) == 1
    assert main([*arguments, "--overwrite"]) == 0


@pytest.mark.parametrize("name", ["fixed", "any"])
def test_a_file_knows_its_preprocessing_and_nothing_of_this_machine(files, name):
    path = files / f"{name}.onnx"
    facts = session(path).get_modelmeta().custom_metadata_map
    told = {key: json.loads(facts[key]) for key in ("mean", "std", "classes")}
    assert Preprocessing(**{k: tuple(v) for k, v in told.items()}) == KNOWN
    assert b".py" not in path.read_bytes()


def test_a_file_with_other_logits_is_refused(monkeypatch, tmp_path):
    import onnxruntime

    class Off(onnxruntime.InferenceSession):
        def run(self, *given):
            return [super().run(*given)[0] + 0.5]

    monkeypatch.setattr(onnxruntime, "InferenceSession", Off)
    with pytest.raises(ValueError, match="model: ONNX Runtime's logits are 0.5 off"):
        to_onnx(small(), tmp_path / "off.onnx")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("model.pt", "output: got .*model.pt', expected a name in .onnx"),
        ("fixed.onnx", "output: .*fixed.onnx' is there already; .* --overwrite"),
        ("new.onnx", "model: got 'none', expected a file, or a model that ships: c"),
    ],
)
def test_the_command_refuses_in_one_sentence(files, output, sentence, capsys):
    assert main(["none", str(files / output)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("Stopped: ") and error.count("\n") == 1
    assert re.search(sentence, error)


def test_a_missing_package_is_named_with_the_pip_line(monkeypatch, files, capsys):
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    path = files / "model.safetensors"
    assert main([str(path), str(files / "new.onnx")]) == 1
    assert "onnxscript is not installed: pip install" in capsys.readouterr().err
