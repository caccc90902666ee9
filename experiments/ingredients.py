"""Measure the effect of each ingredient of chapter 8's recipe, and of fewer images.

    python -m experiments.ingredients

Trains by the digits' recipe again and again, with one change each time, from several
seeds, and writes the results on the validation part to
vit_book/measured/ingredients.json. At the end the unchanged recipe is trained
several times on training and validation images and tested on the test part, which shows
how much luck changes a result. A run that is in the file is not repeated; on one core
each takes a minute or less.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from experiments.writing import write_results
from vit_book.results import FOLDER
from vit_steps import EncoderBlock, data
from vit_steps.data.sets import ImageData, ImageSet
from vit_steps.recipes import RECIPES
from vit_steps.training import evaluate, train

SEEDS = range(3)
SIZES = (1122, 561, 280, 140)  # images to train on: all, a half, a quarter, an eighth
RECIPE = RECIPES["digits"]
FINALS = [(seed, 0) for seed in range(5)] + [(seed, 1) for seed in range(3)]
FILE = FOLDER / "ingredients.json"


class PostNormBlock(EncoderBlock):
    """A block in the order of the original Transformer: norm(x + f(x))."""

    def forward(
        self, x: Tensor, need_weights: bool = False
    ) -> tuple[Tensor, Tensor | None]:
        attended, weights = self.attn(x, need_weights)
        x = self.norm1(x + attended)  # (B, T, D)
        return self.norm2(x + self.mlp(x)), weights  # (B, T, D)


def small_cnn() -> nn.Module:
    """Return a convolutional network of about the model's size, to compare with."""

    def stage(channels_in: int, channels_out: int) -> list[nn.Module]:
        conv = nn.Conv2d(channels_in, channels_out, 3, padding=1)
        return [conv, nn.BatchNorm2d(channels_out), nn.ReLU()]

    return nn.Sequential(
        *stage(1, 32),
        *stage(32, 64),
        nn.MaxPool2d(2),
        *stage(64, 128),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(128 * 2 * 2, 10),
    )


CHANGES: dict[str, dict[str, Any]] = {
    "the recipe": {},
    "no warm-up": {"warmup_epochs": 0.0},
    "no augmentation": {"augment": False},
    "no clipping": {"clip_norm": None},
    "no weight decay": {"weight_decay": 0.0},
    "no smoothing": {"label_smoothing": 0.0},
    "lr 0.0003": {"lr": 3e-4},
    "lr 0.03": {"lr": 3e-2},
    "post-norm": {"block": PostNormBlock},
    "positions 0.02": {"position_std": 0.02},
    "positions 0.1": {"position_std": 0.1},
    "positions 0.2": {"position_std": 0.2},
    "positions 1": {"position_std": 1.0},
}


def runs() -> Iterator[dict[str, Any]]:
    for seed in SEEDS:
        for change in CHANGES:
            yield {"model": "ViT", "change": change, "images": SIZES[0], "seed": seed}
    for seed in SEEDS:
        for images in SIZES:
            for model in ("ViT", "CNN"):
                run = {"model": model, "change": "the recipe", "images": images}
                yield run | {"seed": seed}


def run_once(run: dict[str, Any]) -> dict[str, Any]:
    change = dict(CHANGES[run["change"]])
    digits = data.load("digits", augment=change.pop("augment", True))
    digits = first_images(digits, run["images"])
    block = change.pop("block", EncoderBlock)
    width = change.pop("position_std", RECIPE.position_std)
    # more epochs for fewer images, so that all runs take the same number of steps
    epochs = RECIPE.train.epochs * SIZES[0] // run["images"]
    config = replace(RECIPE.train, seed=run["seed"], epochs=epochs, **change)
    recipe = replace(RECIPE, train=config, position_std=width)
    if run["model"] == "CNN":
        torch.manual_seed(run["seed"])
        model = small_cnn()
    else:
        model = recipe.build()
        for part in model.blocks:
            part.__class__ = block
    history = train(model, digits, config, progress=False)
    curves = {"train_loss": history.train_loss, "loss": history.loss}
    curves |= {"top1": history.top1}
    rounded = {n: [round(v, 4) for v in values] for n, values in curves.items()}
    return run | rounded | {"seconds": round(sum(e.seconds for e in history.epochs))}


def final_run(seed: int, num_workers: int) -> dict[str, Any]:
    """Train by the unchanged recipe; a worker process draws other augmentations."""
    digits = data.load("digits", merge_validation=True)
    config = replace(RECIPE.train, seed=seed, num_workers=num_workers)
    model = replace(RECIPE, train=config).build()
    train(model, digits, config, progress=False)
    top1 = round(evaluate(model, digits.test).top1, 4)
    return {"seed": seed, "num_workers": num_workers, "test_top1": top1}


def first_images(digits: ImageData, count: int) -> ImageData:
    assert isinstance(digits.train, ImageSet)
    return replace(digits, train=digits.train.subset(range(count)))


def write(done: list[dict[str, Any]], finals: list[dict[str, Any]]) -> None:
    command = "python -m experiments.ingredients"
    write_results("ingredients", command, runs=done, finals=finals)


def main() -> None:
    torch.set_num_threads(1)
    content = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    done, finals = content.get("runs", []), content.get("finals", [])
    for run in runs():
        if any(run.items() <= other.items() for other in done):
            continue
        try:
            done.append(run_once(run))
        except FloatingPointError as error:
            done.append(run | {"diverged": str(error)})
        write(done, finals)
        print(run, done[-1].get("top1", [0])[-1], done[-1].get("seconds"), flush=True)
    for seed, num_workers in FINALS[len(finals) :]:
        finals.append(final_run(seed, num_workers))
        write(done, finals)
        print(finals[-1], flush=True)


if __name__ == "__main__":
    main()
