"""Measure the choices that readers ask about: shapes of a model, and rates.

    python -m experiments.choices shape
    python -m experiments.choices rates

``shape`` trains models with other patches, depths and heads on the 5,000 images of
Fashion-MNIST; the width makes up for it, so that an image costs about as many
multiplications in all of them. ``rates`` trains models of two widths on Fashion-MNIST,
then fine-tunes them to 300 handwritten digits at several rates, beside models that
start from random weights. An accuracy is of 2,000 images, or of 675 digits, that no
training saw. All is done from three seeds and written to
vit_book/measured/choices-*.json; the seconds are of the processor. A run that is in the
file is not repeated; on one core each takes less than three minutes. How many images
are needed is measured by experiments.ingredients.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from experiments.writing import write_results
from vit_book.results import FOLDER
from vit_steps import VisionTransformer, ViTConfig, data
from vit_steps.data.sets import ImageData, ImageSet
from vit_steps.predictions import predictions
from vit_steps.recipes import RECIPES
from vit_steps.training import train

Run = dict[str, Any]
SEEDS = range(3)
RECIPE = RECIPES["fashion-mnist"]  # patches of 4, 64 numbers, 4 blocks, 4 heads
MIDDLE = "the middle one"
SHAPES: dict[str, dict[str, Any]] = {
    MIDDLE: {},
    "patches of 7": {"patch_size": 7, "embed_dim": 116},
    "2 blocks": {"depth": 2, "embed_dim": 92},
    "8 blocks": {"depth": 8, "embed_dim": 44},
    "1 head": {"num_heads": 1},
    "8 heads": {"num_heads": 8},
    "patches of 14": {"patch_size": 14, "embed_dim": 220},
    "1 block": {"depth": 1, "embed_dim": 132},
    "2 heads": {"num_heads": 2},
    "patches of 2": {"patch_size": 2, "embed_dim": 20},
}
OTHER_RATES = (1e-3, 4e-3)  # half of the recipe's, and twice that
WITH_OTHER_RATES = (MIDDLE, "patches of 7")
WIDTHS = (32, 96)
RATES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)
DIGITS = 300


def build(config: ViTConfig, seed: int) -> VisionTransformer:
    """Return a new model with positions as Fashion-MNIST's recipe draws them."""
    settings = replace(RECIPE.train, seed=seed)
    return replace(RECIPE, model=config, train=settings).build()


def shape_runs() -> Iterator[Run]:
    usual = [(shape, RECIPE.train.lr) for shape in SHAPES]
    for shape, lr in [*usual, *product(WITH_OTHER_RATES, OTHER_RATES)]:
        for seed in SEEDS:
            yield {"shape": shape, "lr": lr, "seed": seed}


def shape_run(run: Run) -> Run:
    config = replace(RECIPE.model, **SHAPES[run["shape"]])
    model = build(config, run["seed"])
    size = {"width": config.embed_dim, "macs": config.cost().macs}
    return run | size | fashion_run(model, run["seed"], run["lr"])


def fashion_run(model: nn.Module, seed: int, lr: float = RECIPE.train.lr) -> Run:
    """Train on Fashion-MNIST's 5,000 images, class by class before they are mixed."""
    fashion = data.load("fashion-mnist")
    assert isinstance(fashion.train, ImageSet)
    places = fashion.train.labels.argsort(stable=True)
    fashion = replace(fashion, train=fashion.train.subset(places))
    config = replace(RECIPE.train, seed=seed, lr=lr)
    started = time.process_time()
    history = train(model, fashion, config, progress=False)
    seconds = time.process_time() - started
    return {
        "parameters": sum(p.numel() for p in model.parameters()),
        "train_loss": round(history.train_loss[-1], 4),
        "top1": judge(model, fashion)["top1"],
        "seconds": round(seconds),
    }


def judge(model: nn.Module, parts: ImageData) -> Run:
    """Return the accuracy on what no training saw, and the commonest answer's share."""
    found = [predictions(model, part) for part in (parts.validation, parts.test)]
    answers = torch.cat([part.logits.argmax(dim=1) for part in found])
    labels = torch.cat([part.labels for part in found])
    right = (answers == labels).float().mean().item()
    commonest = answers.bincount().max().item() / len(answers)
    return {"top1": round(right, 4), "commonest_answer": round(commonest, 4)}


def rate_runs() -> Iterator[Run]:
    for width, seed, pretrained, lr in product(WIDTHS, SEEDS, (True, False), RATES):
        yield {"width": width, "pretrained": pretrained, "lr": lr, "seed": seed}


def rate_run(run: Run) -> Run:
    config = replace(RECIPE.model, embed_dim=run["width"])
    model = build(config, run["seed"])
    if run["pretrained"]:
        model.load_state_dict(trained_on_fashion(run["width"], run["seed"]))
        model.reset_classifier(10)
    settings = {"seed": run["seed"], "epochs": 60, "warmup_epochs": 6}
    train_config = replace(RECIPE.train, lr=run["lr"], **settings)
    digits = large_digits()
    history = train(model, digits, train_config, progress=False)
    return run | {"train_loss": round(history.train_loss[-1], 4)} | judge(model, digits)


@cache
def trained_on_fashion(width: int, seed: int) -> dict[str, Tensor]:
    model = build(replace(RECIPE.model, embed_dim=width), seed)
    print(width, seed, "on Fashion-MNIST:", fashion_run(model, seed), flush=True)
    return model.state_dict()


@cache
def large_digits() -> ImageData:
    """Return handwritten digits, 300 to train on, in the size of Fashion-MNIST's."""
    digits = data.load("digits", augment=False)

    def enlarged(part: Any, count: int | None = None) -> ImageSet:
        images, labels = part.batch()  # (n, 1, 8, 8), (n,)
        images = F.interpolate(images[:count], size=28, mode="bilinear")
        return ImageSet(images, labels[:count])  # (n, 1, 28, 28)

    return replace(
        digits,
        train=enlarged(digits.train, DIGITS),
        validation=enlarged(digits.validation),
        test=enlarged(digits.test),
    )


RECORDS: dict[str, tuple[Callable[[], Iterator[Run]], Callable[[Run], Run]]] = {
    "shape": (shape_runs, shape_run),
    "rates": (rate_runs, rate_run),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("record", choices=RECORDS)
    name = parser.parse_args().record
    torch.set_num_threads(1)
    file = FOLDER / f"choices-{name}.json"
    done = json.loads(file.read_text("utf-8"))["runs"] if file.exists() else []
    runs, measure = RECORDS[name]
    for run in runs():
        if any(run.items() <= other.items() for other in done):
            continue
        try:
            done.append(measure(run))
        except FloatingPointError as error:
            done.append(run | {"diverged": str(error)})
        command = f"python -m experiments.choices {name}"
        write_results(f"choices-{name}", command, runs=done)
        print(done[-1], flush=True)


if __name__ == "__main__":
    main()
