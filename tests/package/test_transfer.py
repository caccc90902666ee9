import pytest
import torch
from torch.testing import assert_close

from tests.conftest import draw_at_random
from tests.package.small_training import QUICK, small_vit, stripes
from tests.package.test_variants import every_model
from vit_steps import VisionTransformer, interpolate_position_embedding, optional
from vit_steps.attention import use_fused_attention
from vit_steps.export import exported
from vit_steps.predict import predict
from vit_steps.preprocessing import Preprocessing
from vit_steps.pretrained import extract_features
from vit_steps.training import train
from vit_steps.transfer import adapt_channels, transfer
from vit_steps.variants import SwinConfig, SwinTransformer
from vit_steps.variants.any_size import any_size

KNOWN = Preprocessing((0.4,), (0.2,), ("low", "middle", "high"))


@pytest.mark.parametrize(
    "use",
    [
        lambda model: transfer(model, 8, None),
        any_size,
        lambda model: extract_features(model, torch.zeros(1, 3, 8, 8)),
        lambda model: predict(model, torch.zeros(3, 8, 8)),
        exported,
    ],
    ids=["transfer", "any_size", "extract_features", "predict", "exported"],
)
@pytest.mark.parametrize("kind", ["str", "SwinTransformer"])
def test_anything_but_a_vision_transformer_is_refused(use, kind):
    model = "cluttered-digits"
    if kind == "SwinTransformer":
        sizes = dict(image_size=8, depths=(1,), num_heads=(1,), window_size=2)
        model = SwinTransformer(SwinConfig(**sizes))
    with pytest.raises(ValueError, match=f"model: got a {kind}, expected a VisionTr"):
        use(model)


@pytest.fixture
def path(tmp_path):
    model = draw_at_random(small_vit()).eval()
    model.preprocessing = KNOWN
    model.save_pretrained(tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


@pytest.mark.parametrize("came, wanted", [(3, 1), (3, 4), (3, 2), (3, 3), (1, 3)])
def test_channels_are_adapted_as_timm_does(came, wanted):
    weight = torch.randn(5, came, 2, 2)
    theirs = optional.timm().models.adapt_input_conv(wanted, weight, base_chans=came)
    assert_close(adapt_channels(weight, wanted), theirs)


def test_an_image_alike_in_all_channels_gives_what_it_gave(path):
    model = VisionTransformer.from_pretrained(path)
    colour = VisionTransformer.from_pretrained(path, in_channels=3)
    assert colour.config.in_channels == 3 and not colour.training
    assert colour.preprocessing == Preprocessing((0.4,) * 3, (0.2,) * 3, KNOWN.classes)
    images = torch.rand(2, 1, 8, 8)
    assert_close(colour(images.expand(-1, 3, -1, -1)), model(images))
    assert_close(transfer(colour, None, 1)(images), model(images))
    colour.preprocessing = Preprocessing((0.4, 0.5, 0.6), (0.2,) * 3)
    assert transfer(colour, None, 1).preprocessing is None
    assert transfer(colour, 12, None).preprocessing == colour.preprocessing


def test_another_size_has_its_positions_interpolated(path):
    model = VisionTransformer.from_pretrained(path)
    larger = VisionTransformer.from_pretrained(path, image_size=(12, 16))
    expected = interpolate_position_embedding(model.pos_embed, (3, 4))
    assert_close(larger.pos_embed, expected, rtol=0, atol=0)
    assert larger.config.image_size == (12, 16) and larger.preprocessing == KNOWN
    assert larger(torch.rand(2, 1, 12, 16)).shape == (2, 3)
    same = VisionTransformer.from_pretrained(path, image_size=8)
    images = torch.rand(2, 1, 8, 8)
    assert_close(same(images), model(images), rtol=0, atol=0)


@every_model
def test_every_models_tokens_keep_their_place(build, prefix, speaks):
    model = draw_at_random(build()).eval()
    same = transfer(model, (12, 8), None)
    images = torch.rand(2, 3, 12, 8)
    assert_close(same(images), model(images), rtol=0, atol=0)
    larger = transfer(model, (15, 12), 1)
    assert larger(torch.rand(2, 1, 15, 12)).shape == (2, 7)
    in_front = model.pos_embed.shape[1] - 8
    assert_close(larger.pos_embed[:, :in_front], model.pos_embed[:, :in_front])


def test_sizes_that_do_not_fit_are_refused(path):
    with pytest.raises(ValueError, match="image_size: got 9×9, expected multiples"):
        VisionTransformer.from_pretrained(path, image_size=9)
    with pytest.raises(ValueError, match="in_channels: got 0, expected a positive int"):
        VisionTransformer.from_pretrained(path, in_channels=0)
    with pytest.raises(ValueError, match="num_classes: got -1, expected an int of at "):
        VisionTransformer.from_pretrained(path, num_classes=-1)


def test_another_head_is_zero_and_learns(path):
    model = VisionTransformer.from_pretrained(path, num_classes=2)
    images = torch.rand(4, 1, 8, 8)
    assert not model(images).any() and model(images).shape == (4, 2)
    assert model.preprocessing == Preprocessing((0.4,), (0.2,))
    assert model.config.num_classes == 2
    before = model.head.weight.clone()
    train(model, stripes(num_classes=2), QUICK, progress=False)
    assert (model.head.weight != before).all()


@every_model
def test_a_head_is_left_out_or_replaced(build, prefix, speaks, tmp_path):
    model = draw_at_random(build(representation_size=10)).eval().double()
    images = torch.rand(2, 3, 12, 8, dtype=torch.float64)
    model.reset_classifier(0)
    assert model(images).shape == (2, 10)
    assert sum(p.numel() for p in model.parameters()) == model.config.cost().parameters
    assert type(model)(model.config)(images.float()).shape == (2, 10)
    model.save_pretrained(tmp_path / "headless.safetensors")
    back = type(model).from_pretrained(tmp_path / "headless.safetensors")
    assert_close(back(images.float()), model(images).float())
    model.reset_classifier(5)
    assert model(images).shape == (2, 5) and not model(images).any()
    assert (
        model.state_dict().keys()
        == build(num_classes=5, representation_size=10).state_dict().keys()
    )


def test_without_a_head_come_the_features():
    model = draw_at_random(small_vit()).eval()
    images = torch.rand(2, 1, 8, 8)
    features = extract_features(model, images)
    model.reset_classifier(0)
    assert_close(model(images), features, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
@pytest.mark.parametrize(
    "change",
    [
        lambda model: transfer(model, 12, None),
        lambda model: transfer(model, None, 3),
        any_size,
    ],
    ids=["size", "channels", "any size"],
)
def test_all_else_is_kept(dtype, change):
    model = draw_at_random(small_vit()).to(dtype).train()
    model.blocks[0].eval().requires_grad_(False)
    model.norm.float()  # mixed precision
    use_fused_attention(model, False)
    model.grad_checkpointing = True
    torch.manual_seed(0)
    expected = torch.rand(2)
    torch.manual_seed(0)
    new = change(model)
    assert torch.equal(torch.rand(2), expected)
    assert new.grad_checkpointing
    assert not any(block.attn.fused for block in new.blocks)
    old = dict(model.named_parameters())
    for name, parameter in new.named_parameters():
        assert parameter.dtype == old[name].dtype, name
        assert parameter.requires_grad == old[name].requires_grad, name
        assert parameter.data_ptr() != old[name].data_ptr(), name
    modes = {name: module.training for name, module in model.named_modules()}
    assert {name: module.training for name, module in new.named_modules()} == modes


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_model_on_a_gpu_stays_there():
    model = small_vit().cuda()
    assert transfer(model, 12, 3).pos_embed.is_cuda
    assert any_size(model).pos_embed.is_cuda
