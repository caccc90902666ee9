"""Recipes: a model and its training for each data set."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from vit_steps.training import TrainConfig
from vit_steps.vision_transformer import VisionTransformer, ViTConfig


@dataclass(frozen=True)
class Recipe:
    """A model and its training that were found to work on a data set.

    On few and small images, positions that are drawn far apart learn much faster than
    the paper's; chapter 8 measures it.
    """

    model: ViTConfig
    train: TrainConfig
    position_std: float = 0.02  # of the bell curve that positions are drawn from

    def build(self) -> VisionTransformer:
        """A new model, drawn with the training's seed."""
        with torch.random.fork_rng([]):
            torch.manual_seed(self.train.seed)
            model = VisionTransformer(self.model)
            nn.init.trunc_normal_(model.pos_embed, std=self.position_std)
        return model


def _small(image_size: int, patch_size: int, **overrides: Any) -> ViTConfig:
    small = dict(in_channels=1, num_classes=10, embed_dim=64, depth=4, num_heads=4)
    return ViTConfig(image_size, patch_size, **small | {"mlp_ratio": 2.0} | overrides)


# The first three are measured, in chapter 8 and on the models' cards. The others are
# where to start: they need a GPU and were not run to the end.
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
