import pytest
import torch
from torch import nn

from tests.conftest import draw_at_random
from vit_steps import MLP, optional
from vit_steps.variants.attention import AttentionPool

timm = optional.timm()


def pool(embed_dim=12, num_heads=3):
    norm, mlp = nn.LayerNorm(embed_dim), MLP(embed_dim, 4 * embed_dim)
    return AttentionPool(embed_dim, num_heads, norm, mlp)


def test_is_timms_with_its_gradients():
    theirs = timm.layers.AttentionPoolLatent(12, num_heads=3, norm_layer=nn.LayerNorm)
    draw_at_random(theirs)
    ours = pool()
    ours.load_state_dict(theirs.state_dict())
    tokens = torch.randn(4, 7, 12)
    torch.testing.assert_close(ours(tokens), theirs(tokens))
    ours(tokens).square().sum().backward()
    theirs(tokens).square().sum().backward()
    expected = {name: p.grad for name, p in theirs.named_parameters()}
    for name, parameter in ours.named_parameters():
        assert expected[name].abs().max() > 1e-3, name
        torch.testing.assert_close(parameter.grad, expected[name], rtol=1e-4, atol=1e-4)


def test_the_order_of_the_tokens_does_not_matter():
    ours = draw_at_random(pool())
    tokens = torch.randn(2, 7, 12)
    torch.testing.assert_close(ours(tokens), ours(tokens[:, torch.randperm(7)]))


def test_starts_with_a_query_and_xavier_weights():
    ours = pool(embed_dim=240, num_heads=4)
    assert abs(ours.latent.std() * 240**0.5 - 1) < 0.2
    for weight in (ours.q.weight, *ours.kv.weight.chunk(2), ours.proj.weight):
        assert abs(weight.std() * 240**0.5 - 1) < 0.02
    assert not ours.kv.bias.any()


def test_heads_have_to_divide_the_width():
    with pytest.raises(ValueError, match="num_heads: got 5, expected a divisor"):
        pool(num_heads=5)
