"""Two short comparisons of chapter 8, together less than a minute on one core.

    python -m experiments.short_trainings

The digits' recipe for twelve epochs, with positions that start narrow and wide; and
Fashion-MNIST's recipe for five epochs on the 5000 images that ship.
notebook/measured/short-trainings.json of the package gets the numbers.
"""

from dataclasses import asdict, replace
from typing import Any

import torch

from experiments.writing import write_results
from vit_steps import data
from vit_steps.recipes import RECIPES
from vit_steps.training import evaluate, train


def with_positions(width: float, epochs: int = 12) -> dict[str, Any]:
    """How wide the positions are before and after, beside the patches."""
    recipe = RECIPES["digits"]
    digits: Any = data.load("digits")
    config = replace(recipe.train, epochs=epochs, warmup_epochs=2)
    model = replace(recipe, train=config, position_std=width).build()
    with torch.no_grad():
        patches = model.patch_embed(digits.validation.batch()[0]).std().item()
    start = model.pos_embed.std().item()
    history = train(model, digits, config, progress=False)
    return {
        "epochs": epochs,
        "patches": round(patches, 4),
        "start": round(start, 4),
        "end": round(model.pos_embed.std().item(), 4),
        "validation_top1": round(history.top1[-1], 4),
    }


def fashion(epochs: int = 5) -> dict[str, Any]:
    """How good a short training is, and what it takes for what."""
    recipe = RECIPES["fashion-mnist"]
    images: Any = data.load("fashion-mnist", augment=False)
    model = recipe.build()
    config = replace(recipe.train, epochs=epochs)
    train(model, images, config, progress=False)
    pictures, labels = images.test.batch()
    with torch.no_grad():
        said = model(pictures).argmax(dim=1)
    confusions = torch.zeros(10, 10, dtype=torch.int64)
    confusions.index_put_((labels, said), torch.ones_like(said), accumulate=True)
    return {
        "images": len(images.train),
        "epochs": epochs,
        "test": asdict(evaluate(model, images.test)),
        "confusions": confusions.tolist(),  # of each class, what was said
    }


def main() -> None:
    torch.set_num_threads(1)
    positions = [with_positions(width) for width in (0.02, 0.5)]
    write_results(
        "short-trainings",
        "python -m experiments.short_trainings",
        positions=positions,
        fashion=[fashion()],
    )


if __name__ == "__main__":
    main()
