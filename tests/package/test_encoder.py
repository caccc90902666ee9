from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from tests.conftest import draw_at_random
from vit_steps import MLP, DropPath, EncoderBlock, optional
from vit_steps.encoder import LayerScale

both_dtypes = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def block_and_tokens(dtype=torch.float32, **arguments):
    block = draw_at_random(EncoderBlock(12, 3, **arguments), std=0.5).to(dtype)
    return block, torch.randn(2, 5, 12, dtype=dtype, requires_grad=True)


@both_dtypes
def test_block_equals_pytorchs_with_gradients(dtype):
    block, x = block_and_tokens(dtype)
    theirs = nn.TransformerEncoderLayer(
        12,
        3,
        48,
        dropout=0.0,
        activation="gelu",
        layer_norm_eps=1e-6,
        batch_first=True,
        norm_first=True,
        dtype=dtype,
    )
    pairs = [
        (theirs.self_attn.in_proj_weight, block.attn.qkv.weight),
        (theirs.self_attn.in_proj_bias, block.attn.qkv.bias),
        (theirs.self_attn.out_proj.weight, block.attn.proj.weight),
        (theirs.self_attn.out_proj.bias, block.attn.proj.bias),
        (theirs.norm1.weight, block.norm1.weight),
        (theirs.norm1.bias, block.norm1.bias),
        (theirs.norm2.weight, block.norm2.weight),
        (theirs.norm2.bias, block.norm2.bias),
        (theirs.linear1.weight, block.mlp.fc1.weight),
        (theirs.linear1.bias, block.mlp.fc1.bias),
        (theirs.linear2.weight, block.mlp.fc2.weight),
        (theirs.linear2.bias, block.mlp.fc2.bias),
    ]
    assert len(pairs) == len(list(block.parameters()))
    with torch.no_grad():
        for other, mine in pairs:
            other.copy_(mine)
    ours, expected = block(x)[0], theirs(x)
    torch.testing.assert_close(ours, expected)
    goal = torch.randn_like(ours)
    torch.testing.assert_close(
        torch.autograd.grad((ours * goal).sum(), [x, *(m for _, m in pairs)]),
        torch.autograd.grad((expected * goal).sum(), [x, *(o for o, _ in pairs)]),
    )


@pytest.mark.parametrize("layer_scale", [None, 0.1])
def test_block_equals_timms_with_its_names(layer_scale):
    block, x = block_and_tokens(layer_scale=layer_scale)
    theirs = optional.timm().models.vision_transformer.Block(
        12,
        3,
        qkv_bias=True,
        init_values=layer_scale,
        norm_layer=partial(nn.LayerNorm, eps=1e-6),
    )
    theirs.load_state_dict(block.state_dict())
    torch.testing.assert_close(block(x)[0], theirs(x))


@both_dtypes
def test_block_with_weights_is_block_without(dtype):
    block, x = block_and_tokens(dtype)
    without, none = block(x)
    with_weights, weights = block(x, need_weights=True)
    assert none is None and weights.shape == (2, 3, 5, 5)
    torch.testing.assert_close(without, with_weights)


@given(order=st.permutations(range(5)))
def test_block_is_permutation_equivariant(order):
    block, x = block_and_tokens()
    torch.testing.assert_close(block(x[:, order])[0], block(x)[0][:, order])


def test_block_does_not_depend_on_the_batch():
    block, x = block_and_tokens()
    alone = torch.cat([block(x[i : i + 1])[0] for i in range(2)])
    torch.testing.assert_close(block(x)[0], alone)


def test_residual_is_the_unnormed_input():
    block, x = block_and_tokens()
    with torch.no_grad():
        block.attn.proj.weight.zero_(), block.attn.proj.bias.zero_()
        block.mlp.fc2.weight.zero_(), block.mlp.fc2.bias.zero_()
    assert torch.equal(block(x)[0], x)


def test_eps_is_the_papers():
    block = EncoderBlock(12, 3)
    assert block.norm1.eps == block.norm2.eps == 1e-6


@pytest.mark.parametrize("value", [2.0, -1.5, 0.3])
def test_gelu_is_the_exact_one(value):
    x = torch.tensor(value, dtype=torch.float64)
    exact = x * 0.5 * (1 + torch.erf(x / 2**0.5))
    torch.testing.assert_close(MLP(2, 3).act(x), exact, rtol=1e-12, atol=0)


def test_mlp_is_for_each_token_by_itself():
    mlp = draw_at_random(MLP(6, 11), std=0.5)
    x = torch.randn(2, 5, 6)
    one_by_one = torch.stack([mlp(x[:, t]) for t in range(5)], dim=1)
    torch.testing.assert_close(mlp(x), one_by_one)


def test_mlp_has_dropout_behind_both_layers():
    x = torch.randn(4, 300)
    mlp = MLP(300, 300, drop_rate=0.5)
    assert 0.4 < (mlp(x) == 0).float().mean() < 0.6
    with torch.no_grad():
        mlp.fc2.weight.copy_(torch.eye(300))
        mlp.fc2.bias.zero_()
    assert 0.7 < (mlp(x) == 0).float().mean() < 0.8
    assert (mlp.eval()(x) == 0).float().mean() < 0.1


def test_initialisation_of_the_mlp():
    mlp = MLP(64, 256)
    bound = (6 / 320) ** 0.5
    for linear in (mlp.fc1, mlp.fc2):
        assert 0.98 * bound < linear.weight.abs().max() <= bound
        assert 0 < linear.bias.abs().max() < 1e-5


def test_drop_path_drops_whole_samples_and_keeps_the_mean():
    drop = DropPath(0.25)
    x = torch.ones(20_000, 2, 3)
    output = drop(x)
    per_sample = output.flatten(1)
    assert torch.equal(per_sample.amin(1), per_sample.amax(1))
    torch.testing.assert_close(output.unique(), torch.tensor([0.0, 1 / 0.75]))
    assert abs(output.mean().item() - 1) < 0.02


def test_drop_path_is_off_in_evaluation_and_at_zero():
    x = torch.randn(8, 2)
    assert torch.equal(DropPath(0.9).eval()(x), x)
    assert torch.equal(DropPath(0.0)(x), x)


def test_both_branches_of_a_block_have_drop_path():
    block, _ = block_and_tokens(drop_path_rate=0.5)
    x = torch.randn(2000, 1, 12)
    unchanged = (block(x)[0] == x).all(dim=(1, 2)).float().mean()
    assert abs(unchanged - 0.25) < 0.05


@pytest.mark.parametrize("rate", [-0.1, 1.0, 2])
def test_drop_path_refuses(rate):
    with pytest.raises(ValueError, match=f"drop_prob: got {rate}, expected"):
        DropPath(rate)


def test_layer_scale_multiplies_each_number():
    scale = LayerScale(3, 0.1)
    with torch.no_grad():
        scale.gamma.copy_(torch.tensor([1.0, 2.0, 3.0]))
    assert torch.equal(scale(torch.ones(2, 3)), torch.tensor([[1.0, 2.0, 3.0]] * 2))
    assert torch.equal(LayerScale(3, 0.1).gamma, torch.full((3,), 0.1))


def test_dropout_rates_reach_where_they_belong():
    block = EncoderBlock(12, 3, drop_rate=0.1, attn_drop_rate=0.2, drop_path_rate=0.3)
    assert block.attn.proj_drop.p == block.mlp.drop.p == 0.1
    assert block.attn.attn_drop_rate == 0.2
    assert block.drop_path.drop_prob == 0.3
