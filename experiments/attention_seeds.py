"""Measure where the models of three seeds look, for chapter 9.

    python -m experiments.attention_seeds --checkpoint-folder FOLDER

Seed 0 is the model that ships. Seeds 1 and 2 are trained by the same command, unless
FOLDER has them, and kept there; on one core each takes about a quarter of an hour.
Their attention on the test part, before and after training, is compared with the
digits' boxes, and tested by masking patches. The numbers are written to
vit_book/measured/attention-seeds.json.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from experiments.writing import write_results
from vit_steps import VisionTransformer, data
from vit_steps.attention_maps import (
    attention_rollout,
    class_token_attention,
    class_token_to_patches,
    deletion_curve,
    mass_inside,
    patch_brightness,
)
from vit_steps.data.sets import ImageSet
from vit_steps.recipes import RECIPES
from vit_steps.train import main as train_command

SEEDS = range(3)
COUNTS = (0, 2, 4, 8, 16, 32)  # patches masked, of 64
NAME = "cluttered-digits"


def trained(seed: int, folder: Path) -> VisionTransformer:
    if seed == RECIPES[NAME].train.seed:
        return VisionTransformer.from_pretrained(NAME)
    path = folder / f"{NAME}-seed-{seed}.safetensors"
    if not path.exists():
        options = ["--data", NAME, "--threads", "1", "--seed", str(seed)]
        state = folder / f"{NAME}-seed-{seed}-state.safetensors"
        options += ["--checkpoint", str(state), "--resume"]
        if train_command([*options, "--output", str(path)]):
            raise SystemExit(f"seed {seed}: the training stopped")
    return VisionTransformer.from_pretrained(path)


def untrained(seed: int) -> VisionTransformer:
    recipe = RECIPES[NAME]
    recipe = replace(recipe, train=replace(recipe.train, seed=seed))
    return recipe.build().eval()


@torch.no_grad()
def measure(model: VisionTransformer, test: ImageSet) -> dict[str, Any]:
    """Return the share of attention inside the boxes, and those of two baselines."""
    boxes = test.boxes
    assert boxes is not None
    images, labels = test.batch()
    tokens, weights = model.encode(images, need_weights=True)
    correct = model.head(tokens[:, 0]).argmax(dim=1) == labels
    attention = class_token_attention(weights)  # (B, L, h, N)
    rollout = class_token_to_patches(attention_rollout(weights))  # (B, N)
    brightness = patch_brightness(test.images, model.config.patch_size)  # (B, N)

    def mass(scored: Tensor) -> Tensor:
        config = model.config
        return mass_inside(scored, boxes, config.image_size, config.patch_size)

    return {
        "accuracy": rounded(correct.float().mean()),
        "mass": rounded(mass(attention).mean(dim=0)),  # (L, h)
        "rollout": rounded(mass(rollout).mean()),
        "brightness": rounded(mass(brightness).mean()),
        "maps": {
            # the mean of all blocks and heads: choosing some would use the test part
            "attention": attention.mean(dim=(1, 2)),
            "rollout": rollout,
            "brightness": brightness,
        },
    }


def take_away(
    model: VisionTransformer, test: ImageSet, maps: dict[str, Tensor], seed: int
) -> dict[str, dict[str, Any]]:
    """Return accuracy and loss of the true class's logit, as patches are masked.

    Masked patches have the training images' mean, which is 0 after normalisation.
    """
    images, labels = test.batch()
    generator = torch.Generator().manual_seed(seed)
    scores = maps | {
        "least": -maps["attention"],
        "random": torch.rand(maps["attention"].shape, generator=generator),
    }
    accuracy: dict[str, Any] = {"counts": COUNTS}
    lost: dict[str, Any] = {"counts": COUNTS}
    for name, score in scores.items():
        order = score.argsort(dim=1, descending=True, stable=True)
        curve = deletion_curve(model, images, labels, order, COUNTS)
        accuracy[name] = rounded(curve.accuracy)
        lost[name] = rounded((curve.logits[0] - curve.logits).mean(dim=1))
    return {"deletion": accuracy, "logits_lost": lost}


def rounded(numbers: Tensor) -> Any:
    return torch.round(numbers.double(), decimals=4).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint-folder", type=Path, required=True)
    folder = parser.parse_args().checkpoint_folder
    torch.set_num_threads(1)
    test = data.load(NAME).test
    assert isinstance(test, ImageSet)
    runs = []
    for seed in SEEDS:
        for is_trained in (False, True):
            model = trained(seed, folder) if is_trained else untrained(seed)
            measured = measure(model, test)
            maps = measured.pop("maps")
            run = {"seed": seed, "trained": is_trained} | measured
            if is_trained:  # an untrained head gives every image the same logits
                run |= take_away(model, test, maps, seed)
            runs.append(run)
            print(seed, is_trained, run["accuracy"], run["rollout"], flush=True)
    command = "python -m experiments.attention_seeds --checkpoint-folder FOLDER"
    write_results("attention-seeds", command, runs=runs)


if __name__ == "__main__":
    main()
