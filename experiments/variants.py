"""Measure what changes to the model do on cluttered digits, from three seeds each.

    python -m experiments.variants --checkpoint-folder FOLDER --processes 2
    python -m experiments.variants modern --checkpoint-folder FOLDER --processes 2

The first are three small changes, trained by the shipped model's recipe, a quarter
of an hour each on one core; the unchanged recipe was already trained for chapter 9.
``modern`` are the changes of chapter 15, for half as many epochs. A training that was
stopped goes on from its checkpoint in FOLDER. The accuracy on the test part, and the
shares of the class token's attention in the digit's box and on registers, are written
to vit_book/measured/, to the file of that name.
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
ROTARY: dict[str, Any] = {"positions": "none", "rope": "normalised"}
RMS_NORM: dict[str, Any] = {"norm": "rms"}
QK_NORM: dict[str, Any] = {"qk_norm": True}
GATED: dict[str, Any] = {"mlp": "swiglu", "mlp_ratio": 4 / 3}  # parameters as before
SCALED: dict[str, Any] = {"layer_scale": 0.1}  # CaiT's value for so few blocks
REGISTERS: dict[str, Any] = {"num_registers": 4}
NO_BIASES: dict[str, Any] = {"qkv_bias": False, "proj_bias": False}
VIT_5 = {"rope": "normalised"} | RMS_NORM | QK_NORM | SCALED | REGISTERS | NO_BIASES
MODERN: dict[str, dict[str, Any]] = {
    PLAIN: {},
    "rotary positions": ROTARY,
    "all together": VIT_5 | ROTARY | GATED,
    "queries and keys normalised": QK_NORM,
    "gated MLP": GATED,
    "LayerScale": SCALED,
    "gated MLP and LayerScale": GATED | SCALED,
    "RMSNorm": RMS_NORM,
    "no biases": NO_BIASES,
}
EPOCHS = {"variants": 8, "modern": 4}
SEEDS = range(3)


def build(variant: str, seed: int) -> VariantVisionTransformer:
    recipe = RECIPES[NAME]
    torch.manual_seed(seed)
    changes = (CHANGES | MODERN)[variant]
    config = VariantConfig(**asdict(recipe.model) | changes)
    model = VariantVisionTransformer(config)
    if config.positions == "learned":
        nn.init.trunc_normal_(model.pos_embed, std=recipe.position_std)
    return model


def run(variant: str, seed: int, epochs: int, folder: Path) -> dict[str, Any]:
    torch.set_num_threads(1)
    model = build(variant, seed)
    images = data.load(NAME)
    assert isinstance(images.test, ImageSet)
    config = replace(RECIPES[NAME].train, seed=seed, epochs=epochs)
    file = "".join(letter if letter.isalnum() else "-" for letter in variant)
    state = folder / f"{file}-{epochs}-{seed}.safetensors"
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
    parser.add_argument("record", nargs="?", default="variants", choices=EPOCHS)
    parser.add_argument("--checkpoint-folder", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    options.checkpoint_folder.mkdir(parents=True, exist_ok=True)
    name = options.record
    epochs = EPOCHS[options.record]
    tasks = list(product(list(CHANGES)[1:] if name == "variants" else MODERN, SEEDS))
    with ProcessPoolExecutor(options.processes) as pool:
        started = [
            pool.submit(run, variant, seed, epochs, options.checkpoint_folder)
            for variant, seed in tasks
        ]
        runs = [one.result() for one in started]
    if name == "variants":
        runs = plain_runs() + runs
    command = f"python -m experiments.variants {name} --checkpoint-folder FOLDER"
    write_results(name, command, runs=runs)


if __name__ == "__main__":
    main()
