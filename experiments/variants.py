"""Measure three small changes to the model on cluttered digits, for chapter 13.

    python -m experiments.variants --checkpoint-folder FOLDER --processes 2

Each variant is trained by the shipped model's recipe from three seeds, a quarter of an
hour each on one core; the unchanged recipe was already trained for chapter 9. A
training that was stopped goes on from its checkpoint in FOLDER. The accuracy on the
test part, and the shares of the class token's attention in the digit's box and on
registers, are written to vit_book/measured/variants.json.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch import nn

from experiments.writing import write_results
from vit_book.results import read_results
from vit_steps import data
from vit_steps.attention_maps import class_token_attention, mass_inside
from vit_steps.data.sets import ImageSet
from vit_steps.recipes import RECIPES
from vit_steps.training import evaluate, train
from vit_steps.variants import VariantConfig, VariantVisionTransformer

NAME = "cluttered-digits"
PLAIN = "as in the paper"
CHANGES: dict[str, dict[str, Any]] = {
    PLAIN: {},
    "mean of the patches": {"pooling": "mean"},
    "4 registers": {"num_registers": 4},
    "sin/cos positions": {"positions": "sincos"},
    "mean and sin/cos (SimpleViT)": {"pooling": "mean", "positions": "sincos"},
}
SEEDS = range(3)


def build(variant: str, seed: int) -> VariantVisionTransformer:
    recipe = RECIPES[NAME]
    torch.manual_seed(seed)
    config = VariantConfig(**asdict(recipe.model) | CHANGES[variant])
    model = VariantVisionTransformer(config)
    if config.positions == "learned":
        nn.init.trunc_normal_(model.pos_embed, std=recipe.position_std)
    return model


def run(variant: str, seed: int, folder: Path) -> dict[str, Any]:
    torch.set_num_threads(1)
    model = build(variant, seed)
    images = data.load(NAME)
    assert isinstance(images.test, ImageSet)
    config = replace(RECIPES[NAME].train, seed=seed)
    file = "".join(letter if letter.isalnum() else "-" for letter in variant)
    state = folder / f"{file}-{seed}.safetensors"
    train(model, images, config, state, resume=True, progress=False)
    measured = {"accuracy": evaluate(model, images.test).top1}
    if model.config.has_cls_token:
        measured |= attention(model, images.test)
    rounded = {name: round(value, 4) for name, value in measured.items()}
    print(variant, seed, rounded, flush=True)
    parameters = sum(p.numel() for p in model.parameters())
    return {"variant": variant, "seed": seed, "parameters": parameters} | rounded


@torch.no_grad()
def attention(model: VariantVisionTransformer, test: ImageSet) -> dict[str, float]:
    """Return the class token's attention, averaged over blocks, heads and images."""
    _, weights = model.encode(test.batch()[0], need_weights=True)
    config = model.config
    registers = config.num_registers
    shares = class_token_attention(weights, model.num_prefix_tokens)  # (B, L, h, N)
    assert test.boxes is not None
    inside = mass_inside(shares, test.boxes, config.image_size, config.patch_size)
    found = {"attention_inside": inside.mean().item()}
    if registers:
        from_class = torch.stack(weights, dim=1)[:, :, :, 0]  # (B, L, h, T)
        on_registers = from_class[..., 1 : 1 + registers].sum(dim=-1)
        found["attention_on_registers"] = on_registers.mean().item()
    return found


def plain_runs() -> list[dict[str, Any]]:
    """Return the runs of the unchanged model, which chapter 9 measured."""
    runs = []
    for of_seed in read_results("attention-seeds")["runs"]:
        if of_seed["trained"]:
            model = build(PLAIN, of_seed["seed"])
            runs.append(
                {
                    "variant": PLAIN,
                    "seed": of_seed["seed"],
                    "parameters": sum(p.numel() for p in model.parameters()),
                    "accuracy": of_seed["accuracy"],
                    "attention_inside": round(
                        torch.tensor(of_seed["mass"]).mean().item(), 4
                    ),
                }
            )
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--checkpoint-folder", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    options.checkpoint_folder.mkdir(parents=True, exist_ok=True)
    tasks = list(product(list(CHANGES)[1:], SEEDS))
    with ProcessPoolExecutor(options.processes) as pool:
        started = [pool.submit(run, *task, options.checkpoint_folder) for task in tasks]
        runs = plain_runs() + [one.result() for one in started]
    command = "python -m experiments.variants --checkpoint-folder FOLDER"
    write_results("variants", command, runs=runs)


if __name__ == "__main__":
    main()
