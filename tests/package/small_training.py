"""A training run of a second; also a program, for the test that kills it."""

import sys
from dataclasses import replace
from types import SimpleNamespace

import torch
from torch.utils.data import TensorDataset

from vit_steps import VisionTransformer, ViTConfig
from vit_steps.training import TrainConfig, train

QUICK = TrainConfig(epochs=3, batch_size=8, warmup_epochs=1)


def small_vit(num_classes=3, **overrides):
    torch.manual_seed(5)
    config = ViTConfig(
        image_size=8,
        patch_size=4,
        in_channels=1,
        num_classes=num_classes,
        embed_dim=8,
        depth=2,
        num_heads=2,
        mlp_ratio=2.0,
        **overrides,
    )
    return VisionTransformer(config)


def stripes(count=24, num_classes=3, size=8):
    """Return images that a small model can learn: class k has a bright row at 2k."""
    generator = torch.Generator().manual_seed(3)
    labels = torch.arange(count) % num_classes
    images = torch.rand(count, 1, size, size, generator=generator)
    images[torch.arange(count), 0, 2 * labels] += 2.0
    data = TensorDataset(images, labels)
    return SimpleNamespace(train=data, validation=data)


if __name__ == "__main__":
    state, end = sys.argv[1:]
    torch.set_num_threads(1)
    config = replace(QUICK, epochs=25, ema_decay=0.9)
    model = small_vit(drop_rate=0.1)
    train(model, stripes(), config, state, resume=True, progress=False)
    model.save_pretrained(end)
