"""Recipes: a model and its training for each data set."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from vit_steps.sizes import check_fields, check_number
from vit_steps.training import TrainConfig
from vit_steps.vision_transformer import VisionTransformer, ViTConfig


@dataclass(frozen=True)
class Recipe:
    """A model and its training that work well on a data set.

    On few and small images a model learns much faster if its positions are drawn
    further apart than the paper's; chapter 8 measures it.
    """

    model: ViTConfig
    train: TrainConfig
    position_std: float = 0.02  # standard deviation of the initial positions

    def __post_init__(self) -> None:
        check_fields(self, check_number, "position_std", above=0)

    def build(self) -> VisionTransformer:
        """Return a new model, whose weights are drawn with the training's seed."""
        with torch.random.fork_rng([]):
            torch.manual_seed(self.train.seed)
            model = VisionTransformer(self.model)
            nn.init.trunc_normal_(model.pos_embed, std=self.position_std)
        return model


def _small(image_size: int, patch_size: int, **overrides: Any) -> ViTConfig:
    defaults: dict[str, Any] = dict(in_channels=1, num_classes=10)
    defaults |= dict(embed_dim=64, depth=4, num_heads=4, mlp_ratio=2.0)
    return ViTConfig(image_size, patch_size, **defaults | overrides)


# The first three are measured, in chapter 8 and on the models' cards. The others need a
# GPU and were never trained to the end: they are only a place to start from.
RECIPES = {
    "digits": Recipe(
        _small(8, 2),
        TrainConfig(epochs=48, lr=3e-3, weight_decay=0.3),
        position_std=0.5,
    ),
    "cluttered-digits": Recipe(
        _small(32, 4), TrainConfig(epochs=8, warmup_epochs=0.5), position_std=0.2
    ),
    "fashion-mnist": Recipe(
        _small(28, 4), TrainConfig(epochs=6, warmup_epochs=0.5), position_std=0.2
    ),
    "cifar-10": Recipe(
        _small(32, 4, in_channels=3, embed_dim=192, depth=9, drop_path_rate=0.1),
        TrainConfig(epochs=200, batch_size=128, lr=1e-3, mixup=0.8, cutmix=1.0),
        position_std=0.5,
    ),
    "folder": Recipe(
        ViTConfig.tiny(image_size=64, patch_size=8, drop_path_rate=0.1),
        TrainConfig(epochs=100, lr=1e-3, mixup=0.8, cutmix=1.0),
        position_std=0.5,
    ),
}
