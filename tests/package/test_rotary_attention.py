import pytest
import torch
from torch import nn

from tests.conftest import draw_at_random
from vit_steps import MultiHeadAttention, optional
from vit_steps.variants.attention import RotaryAttention
from vit_steps.variants.rotary import rope_angles

timm = optional.timm()


@pytest.mark.parametrize("norm", [nn.LayerNorm, nn.RMSNorm])
def test_normalised_queries_and_keys_are_timms(norm):
    theirs = timm.layers.Attention(24, 3, qkv_bias=True, qk_norm=True, norm_layer=norm)
    draw_at_random(theirs)
    ours = RotaryAttention(24, 3, q_norm=norm(8), k_norm=norm(8))
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(2, 5, 24)
    torch.testing.assert_close(ours(x)[0], theirs(x))


def test_with_angles_too_it_is_timms_rotary_attention():
    theirs = timm.layers.AttentionRope(
        24,
        3,
        qk_norm=True,
        norm_layer=nn.LayerNorm,
        num_prefix_tokens=2,
        rotate_half=True,
    )
    draw_at_random(theirs)
    ours = RotaryAttention(24, 3, q_norm=nn.LayerNorm(8), k_norm=nn.LayerNorm(8))
    ours.load_state_dict(theirs.state_dict())
    angles = rope_angles((2, 3), 8)
    rope = torch.cat([angles.sin().repeat(1, 2), angles.cos().repeat(1, 2)], dim=1)
    x = torch.randn(2, 2 + 6, 24)
    angles = nn.functional.pad(angles, (0, 0, 2, 0))  # class token and a register
    expected = theirs(x, rope=rope)
    torch.testing.assert_close(ours(x, angles=angles)[0], expected)
    assert (ours(x)[0] - expected).abs().max() > 1e-2


def test_without_norms_and_angles_it_is_multi_head_attention():
    ours = RotaryAttention(24, 3)
    plain = draw_at_random(MultiHeadAttention(24, 3))
    ours.load_state_dict(plain.state_dict())
    x = torch.randn(2, 5, 24)
    for need_weights in (True, False):
        torch.testing.assert_close(ours(x, need_weights), plain(x, need_weights))


def test_both_paths_agree_also_in_what_is_dropped():
    norms = dict(q_norm=nn.RMSNorm(8), k_norm=nn.RMSNorm(8))
    ours = RotaryAttention(24, 3, attn_drop_rate=0.3, proj_bias=False, **norms)
    draw_at_random(ours)
    assert ours.proj.bias is None
    x = torch.randn(2, 6, 24)
    angles = rope_angles((2, 3), 8)
    output, weights = ours.eval()(x, need_weights=True, angles=angles)
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(2, 3, 6))
    fused, none = ours(x, angles=angles)
    assert none is None
    torch.testing.assert_close(fused, output)
    ours.train().fused = False
    torch.manual_seed(1)
    dropped, none = ours(x, angles=angles)
    assert none is None and (dropped - output).abs().max() > 1e-2


def test_values_are_not_turned():
    """Where all queries are zero, the output is the mean of the values, unturned."""
    ours = draw_at_random(RotaryAttention(24, 3))
    ours.qkv.weight.data[:24] = 0
    ours.qkv.bias.data[:24] = 0
    x = torch.randn(2, 6, 24)
    angles = rope_angles((2, 3), 8)
    torch.testing.assert_close(ours(x, angles=angles), ours(x))


def test_norms_bound_the_scores_however_large_the_weights_grow():
    x = 100 * torch.randn(2, 6, 24)
    angles = rope_angles((2, 3), 8)
    ours = draw_at_random(
        RotaryAttention(24, 3, q_norm=nn.RMSNorm(8), k_norm=nn.RMSNorm(8))
    )
    ours.q_norm.weight.data.fill_(1)
    ours.k_norm.weight.data.fill_(1)
    _, weights = ours(x, need_weights=True, angles=angles)
    spread = weights.log().amax(dim=-1) - weights.log().amin(dim=-1)
    assert spread.max() <= 2 * 8**0.5  # scores lie between -√d and √d


def test_another_width_is_refused():
    with pytest.raises(ValueError, match="x: got shape"):
        RotaryAttention(24, 3)(torch.randn(2, 5, 23))
