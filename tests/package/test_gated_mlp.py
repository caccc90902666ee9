import pytest
import torch
from torch import nn

from tests.conftest import draw_at_random
from vit_steps import optional
from vit_steps.encoder import MLP
from vit_steps.variants.gated_mlp import GatedMLP

timm = optional.timm()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("norm", [None, nn.LayerNorm])
def test_is_timms_swiglu(bias, norm):
    theirs = timm.layers.SwiGLU(12, 20, bias=bias, norm_layer=norm)
    draw_at_random(theirs)
    ours = GatedMLP(12, 20, bias=bias, norm=norm and norm(20))
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(2, 5, 12, requires_grad=True)
    torch.testing.assert_close(ours(x), theirs(x))
    ours(x).square().sum().backward()
    ours_grad = x.grad
    x.grad = None
    theirs(x).square().sum().backward()
    torch.testing.assert_close(ours_grad, x.grad)


def test_two_thirds_of_the_width_are_as_many_parameters():
    def count(model):
        return sum(p.numel() for p in model.parameters() if p.ndim == 2)

    assert count(GatedMLP(12, 32)) == count(MLP(12, 48))
    assert count(GatedMLP(12, 48)) == 1.5 * count(MLP(12, 48))


def test_starts_as_the_mlp_and_drops_twice_in_training():
    gated = GatedMLP(400, 600, drop_rate=0.5)
    for name in ("fc1_g", "fc1_x", "fc2"):
        weight = gated.get_submodule(name).weight
        assert abs(weight.std() / (2 / 1000) ** 0.5 - 1) < 0.02
        assert 0 < gated.get_submodule(name).bias.abs().max() < 1e-5
    dropped = gated(torch.randn(50, 400)) == 0
    assert 0.4 < dropped.float().mean() < 0.6
    assert not (gated.eval()(torch.randn(50, 400)) == 0).any()
