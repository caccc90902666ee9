import pytest
import torch
from torch import nn

from vit_steps.evaluating import evaluating
from vit_steps.pretrained import first_difference
from vit_steps.training import train


def half_frozen():
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout(0.5))
    model[1].eval()  # a frozen norm inside a model that trains
    return model


def test_everything_evaluates_without_gradients():
    model = half_frozen()
    with evaluating(model):
        assert not any(module.training for module in model.modules())
        assert not model(torch.ones(2, 3)).requires_grad
    assert torch.is_grad_enabled()


def test_a_models_name_is_not_a_model():
    with pytest.raises(ValueError, match="model: got a str, expected an nn.Module"):
        with evaluating("cluttered-digits"):
            pass
    with pytest.raises(ValueError, match="model: got a str"):
        train("cluttered-digits", None)
    with pytest.raises(ValueError, match="model: got a str"):
        first_difference(torch.nn.Identity(), "cluttered-digits", torch.zeros(1))


@pytest.mark.parametrize("raises", [False, True])
def test_each_module_comes_back_in_its_own_mode(raises):
    model = half_frozen()
    before = [module.training for module in model.modules()]
    assert before == [True, True, False, True]
    try:
        with evaluating(model):
            if raises:
                raise RuntimeError
    except RuntimeError:
        pass
    assert [module.training for module in model.modules()] == before
