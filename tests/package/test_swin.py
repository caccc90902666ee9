import pytest
import torch
import torch.fx

from tests.conftest import draw_at_random
from vit_steps import optional
from vit_steps.variants.swin import (
    PatchMerging,
    SwinConfig,
    SwinTransformer,
    WindowAttention,
    relative_position_index,
    shifted_window_mask,
    window_partition,
    window_reverse,
)

timm = optional.timm()
from timm.models import swin_transformer as timms  # noqa: E402


def test_windows_are_timms_and_go_back():
    x = torch.arange(2 * 6 * 4 * 3.0).reshape(2, 6, 4, 3)
    windows = window_partition(x, 2)
    expected = timms.window_partition(x, (2, 2)).flatten(1, 2)
    torch.testing.assert_close(windows, expected, rtol=0, atol=0)
    torch.testing.assert_close(window_reverse(windows, 6, 4), x, rtol=0, atol=0)


def test_windows_must_fill_the_map():
    with pytest.raises(ValueError, match="5×4"):
        window_partition(torch.zeros(1, 5, 4, 1), 2)
    with pytest.raises(ValueError, match="3×4"):
        PatchMerging(1)(torch.zeros(1, 3, 4, 1))


@pytest.mark.parametrize("window_size", [2, 3, 7])
def test_relative_positions_are_timms(window_size):
    expected = timms.get_relative_position_index(window_size, window_size)
    assert torch.equal(relative_position_index(window_size), expected)


def test_the_mask_of_a_shifted_map_by_loops():
    H, W, w, shift = 4, 6, 2, 1
    mask = shifted_window_mask(H, W, w, shift)
    places = [(row, column) for row in range(H) for column in range(W)]
    rolled = torch.arange(H * W).reshape(1, H, W, 1).roll((-shift, -shift), (1, 2))
    windows = window_partition(rolled, w).squeeze(-1).tolist()
    for window, allowed in zip(windows, mask, strict=True):
        for i, one in enumerate(window):
            for j, other in enumerate(window):
                apart = [
                    abs(a - b) for a, b in zip(places[one], places[other], strict=True)
                ]
                assert allowed[i, j] == (max(apart) < w)


@pytest.mark.parametrize("training", [False, True])
def test_a_tracer_goes_through(training):
    config = SwinConfig(32, 4, 3, 5, 12, (2, 2), (2, 4), 4, drop_path_rate=0.2)
    model = SwinTransformer(config).train(training)
    traced = torch.fx.symbolic_trace(model)
    images = torch.rand(2, 3, 32, 32)
    torch.manual_seed(0)
    expected = model(images)
    torch.manual_seed(0)
    torch.testing.assert_close(traced(images), expected)
    with pytest.raises(ValueError, match="images: got shape"):
        traced(images[:, :, 1:])


def small():
    config = SwinConfig(32, 4, 3, 5, 12, (2, 2), (2, 4), 4)
    torch.manual_seed(0)
    theirs = timms.SwinTransformer(
        img_size=32,
        patch_size=4,
        num_classes=5,
        embed_dim=12,
        depths=(2, 2),
        num_heads=(2, 4),
        window_size=4,
        drop_path_rate=0.0,
    )
    return SwinTransformer(config), draw_at_random(theirs)


def renamed(theirs):
    state = {n.replace("head.fc", "head"): t for n, t in theirs.state_dict().items()}
    return {n: t for n, t in state.items() if "attn_mask" not in n}


def test_a_small_swin_is_timms_forward_and_backward():
    ours, theirs = small()
    ours.load_state_dict(renamed(theirs))
    images = torch.randn(2, 3, 32, 32)
    expected = theirs.eval()(images)
    assert expected.abs().max() > 1e-2
    torch.testing.assert_close(ours.eval()(images), expected, rtol=1e-4, atol=1e-5)
    ours(images).square().sum().backward()
    theirs(images).square().sum().backward()
    gradients = {
        n.replace("head.fc", "head"): p.grad for n, p in theirs.named_parameters()
    }
    for name, parameter in ours.named_parameters():
        torch.testing.assert_close(
            parameter.grad, gradients[name], rtol=1e-3, atol=1e-4
        )


def test_swin_tiny_is_timms_with_its_weights():
    theirs = draw_at_random(timm.create_model("swin_tiny_patch4_window7_224"))
    ours = SwinTransformer(SwinConfig())
    ours.load_state_dict(renamed(theirs))
    assert sum(p.numel() for p in ours.parameters()) == 28_288_354
    images = torch.randn(1, 3, 224, 224)
    with torch.inference_mode():
        expected = theirs.eval()(images)
        assert expected.abs().max() > 1e-2
        torch.testing.assert_close(ours.eval()(images), expected, rtol=1e-3, atol=1e-4)


def test_the_comparison_tells_a_mask_from_none_and_a_bias_from_its_mirror_image():
    ours, theirs = small()
    ours.load_state_dict(renamed(theirs))
    images = torch.randn(2, 3, 32, 32)
    right = ours.eval()(images)
    block = ours.layers[0].blocks[1]
    mask = block.mask
    block.mask = None
    assert (ours(images) - right).abs().max() > 0.01 * right.abs().max()
    block.mask = mask
    block.attn.relative_position_index = block.attn.relative_position_index.T
    assert (ours(images) - right).abs().max() > 0.01 * right.abs().max()


def test_tokens_of_opposite_edges_do_not_meet():
    mask = shifted_window_mask(8, 8, 4, 2)
    attention = draw_at_random(WindowAttention(8, 4, 2)).eval()
    x = torch.randn(4, 16, 8)
    changed = x.clone()
    changed[-1, -1] += 1.0  # rolled in from the other end of the map
    with torch.inference_mode():
        moved = (
            (attention(x, mask) - attention(changed, mask)).abs().amax(dim=2)
        )  # (4, 16)
    reached = moved[-1] > 1e-6
    assert torch.equal(reached, mask[-1, :, -1]) and not reached.all()
    assert moved[:-1].max() == 0


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"image_size": 30}, "image_size"),
        ({"image_size": 64}, "window_size"),
        ({"num_heads": (3, 6)}, "num_heads"),
        ({"embed_dim": 0}, "embed_dim"),
        ({"drop_path_rate": 1.0}, "drop_path_rate"),
    ],
)
def test_a_wrong_config_is_refused(options, name):
    with pytest.raises(ValueError, match=f"^{name}: got"):
        SwinConfig(**options)


def test_images_of_another_size_are_refused():
    ours, _ = small()
    with pytest.raises(ValueError, match="32, 32"):
        ours(torch.zeros(1, 3, 28, 28))


def test_stochastic_depth_grows_from_the_first_block_to_the_last():
    config = SwinConfig(32, 4, 3, 5, 12, (2, 3), (2, 4), 4, drop_path_rate=0.4)
    blocks = [b for stage in SwinTransformer(config).layers for b in stage.blocks]
    rates = [block.drop_path.drop_prob for block in blocks]
    assert rates == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(num_heads=(5, 6, 12, 24)), "num_heads: got 5, expected a divisor of"),
        (dict(num_heads=3), "num_heads: got 3, expected one or more numbers"),
        (dict(depths=()), "depths: got .*, expected one or more numbers"),
        (dict(depths=(2, 2, 6, True)), "depths: got True, expected a positive int"),
        (dict(mlp_ratio=None), "mlp_ratio: got None, expected at least"),
        (dict(image_size="224"), "image_size: got '224', expected a positive int"),
        (dict(image_size=(224, 64)), "window_size: got 7, expected a divisor of"),
    ],
)
def test_a_config_is_refused_before_a_model_is_built(options, message):
    with pytest.raises(ValueError, match=message):
        SwinConfig(**options)


def test_images_may_be_wide_and_the_head_missing():
    config = SwinConfig((16, 32), 4, 3, 0, 12, [2, 2], [2, 4], 2)
    assert config.depths == (2, 2) and hash(config)
    model = draw_at_random(SwinTransformer(config)).eval()
    assert model(torch.rand(2, 3, 16, 32)).shape == (2, 24)
    with pytest.raises(ValueError, match=r"images: got .*, expected \(B, 3, 16, 32\)"):
        model(torch.rand(2, 3, 32, 16))
    with pytest.raises(ValueError, match="images: got torch.uint8, expected floating"):
        model(torch.zeros(2, 3, 16, 32, dtype=torch.uint8))


def test_reset_parameters_is_a_new_start():
    config = SwinConfig(32, 4, 3, 5, 12, (2, 2), (2, 4), 4)
    with torch.device("meta"):
        model = SwinTransformer(config)
    model.to_empty(device="cpu")
    for value in (*model.parameters(), *model.buffers()):
        value.data.fill_(1)
    model.reset_parameters()
    fresh = SwinTransformer(config)
    buffers = dict(model.named_buffers())
    for name, buffer in fresh.named_buffers():
        assert torch.equal(buffers[name], buffer), name
    for (name, new), old in zip(
        model.named_parameters(), fresh.parameters(), strict=True
    ):
        assert not (new == 1).all() or "norm" in name, name
        assert new.std(correction=0) < 2 * old.std(correction=0) + 0.001, name
