from dataclasses import replace

import pytest
import torch

from vit_steps.data.loading import READERS
from vit_steps.recipes import RECIPES


def test_every_data_set_has_a_recipe():
    assert set(RECIPES) == set(READERS)


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_builds_the_same_model_again(name):
    torch.manual_seed(1)
    first, expected = RECIPES[name].build(), torch.get_rng_state()
    torch.manual_seed(2)
    torch.testing.assert_close(
        RECIPES[name].build().state_dict(), first.state_dict(), rtol=0, atol=0
    )
    torch.manual_seed(1)
    assert torch.equal(torch.get_rng_state(), expected)
    width = first.pos_embed.std().item()
    assert width == pytest.approx(RECIPES[name].position_std, rel=0.1)
    assert not first.head.weight.any()


@pytest.mark.parametrize("std", [0.0, -0.1, float("inf"), None, "0.02", True])
def test_a_wrong_spread_of_positions_is_refused(std):
    with pytest.raises(ValueError, match=f"position_std: got {std!r}, expected more"):
        replace(RECIPES["digits"], position_std=std)


def test_another_seed_draws_another_model():
    recipe = RECIPES["digits"]
    other = replace(recipe, train=replace(recipe.train, seed=1)).build()
    assert not torch.equal(other.pos_embed, recipe.build().pos_embed)
