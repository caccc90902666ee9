"""Measure where the models of three seeds look, for chapter 9.

    python -m experiments.attention_seeds --checkpoint-folder FOLDER

Seed 0 is the model that ships. Seeds 1 and 2 are trained by the same command, unless
FOLDER has them, and kept there; on one core each takes about a quarter of an hour.
Their attention on the test part, before and after training, is compared with the
digits' boxes, tested by masking patches, and replaced by other rows. The numbers, and
the maps of a few pictures, are written to vit_book/measured/attention-seeds.json.
"""

import argparse
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from experiments.writing import write_results
from vit_steps import (
    VisionTransformer,
    data,
    patchify,
    scaled_dot_product_attention,
)
from vit_steps.attention_maps import (
    attention_rollout,
    class_token_attention,
    class_token_to_patches,
    deletion_curve,
    mass_inside,
    patch_brightness,
)
from vit_steps.data import cluttered_digits
from vit_steps.data.sets import ImageSet
from vit_steps.encoder import EncoderBlock
from vit_steps.recipes import RECIPES
from vit_steps.train import main as train_command

SEEDS = range(3)
COUNTS = (0, 2, 4, 8, 16, 32)  # patches masked, of 64
NAME = "cluttered-digits"
SHOWN = (17, 22)  # of the chapter's 500 pictures


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
            # averaged over all blocks and heads: to choose some would use the test part
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


@torch.no_grad()
def shown_maps(model: VisionTransformer, test: ImageSet) -> Any:
    """Return the class token's maps of the pictures in ``SHOWN``: (2, L, h, N)."""
    images = cluttered_digits.make(500, "test")[0][list(SHOWN)]
    assert test.transform is not None
    images = torch.stack([test.transform(image) for image in images])
    maps = class_token_attention(model.encode(images, need_weights=True)[1])
    return torch.round(maps.double(), decimals=3).tolist()


@torch.no_grad()
def on_ground(model: VisionTransformer, test: ImageSet) -> dict[str, Any]:
    """Return the share of attention on dark patches outside the box, for each head.

    Dark as in the chapter, with a mean brightness below 0.35. A uniform map's share is
    that of these patches.
    """
    _, weights = model.encode(test.batch()[0], need_weights=True)
    attention = class_token_attention(weights)  # (B, L, h, N)
    brightness = patchify(test.images, 4).mean(dim=2)  # (B, N)
    ground = ((brightness < 0.35) & (patches_in_box(test) == 0)).float()
    shares = torch.einsum("blhn, bn -> blh", attention, ground).mean(dim=0)  # (L, h)
    return {"heads": rounded(shares), "uniform": rounded(ground.mean())}


@torch.no_grad()
def patches_inside(model: VisionTransformer, test: ImageSet) -> Any:
    """Return how much of the patches' own attention is inside the box, (L,)."""
    _, weights = model.encode(test.batch()[0], need_weights=True)
    assert test.boxes is not None
    means = []
    for block in weights:
        rows = block.mean(dim=1)[:, 1:, 1:]  # (B, N, N), patches only
        rows = rows / rows.sum(dim=2, keepdim=True)
        means.append(mass_inside(rows, test.boxes, 32, 4).mean())
    return rounded(torch.stack(means))


@torch.no_grad()
def with_other_rows(model: VisionTransformer, test: ImageSet) -> dict[str, list[float]]:
    """Return the accuracy if the class token's row is replaced in one block, or in all.

    It is replaced by a uniform row and by another picture's, as in the chapter, and by
    one that takes evenly from the patches that lie outside the box.
    """
    images, labels = test.batch()
    outside = (patches_in_box(test) == 0).float()  # (B, N)
    outside = F.pad(outside, (1, 0))[:, None]  # (B, 1, T), 0 for the class token
    outside = outside / outside.sum(dim=2, keepdim=True)
    ways: dict[str, Callable[[Tensor], Tensor]] = {
        "uniform": lambda row: torch.full_like(row, 1 / row.shape[-1]),
        "another picture's": lambda row: row.roll(1, dims=0),
        "outside the box": lambda row: outside.expand_as(row),
    }
    every = range(len(model.blocks))

    def accuracy(replace: Callable[[Tensor], Tensor], places: Iterable[int]) -> float:
        x = model.embed(images)  # (B, T, D)
        for index, block in enumerate(model.blocks):
            assert isinstance(block, EncoderBlock)
            qkv = block.attn.qkv(block.norm1(x)).unflatten(2, (3, 4, 16))
            q, k, v = qkv.permute(2, 0, 3, 1, 4)  # (B, h, T, d) each
            _, table = scaled_dot_product_attention(q, k, v)  # (B, h, T, T)
            if index in places:
                table[:, :, 0] = replace(table[:, :, 0])  # (B, h, T)
            x = x + block.attn.proj((table @ v).transpose(1, 2).flatten(2))
            x = x + block.mlp(block.norm2(x))
        answers = model.head(model.norm(x)[:, 0]).argmax(dim=1)  # (B,)
        return round((answers == labels).double().mean().item(), 4)

    return {
        name: [accuracy(replace, places) for places in (*([b] for b in every), every)]
        for name, replace in ways.items()
    }


def patches_in_box(test: ImageSet) -> Tensor:
    """Return which part of each patch lies in the box, (B, N)."""
    assert test.boxes is not None
    return mass_inside(torch.eye(64).expand(len(test), 64, 64), test.boxes, 32, 4)


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
                run["shown"] = shown_maps(model, test)
                run["patches"] = patches_inside(model, test)
                run["on_ground"] = on_ground(model, test)
                run["other_rows"] = with_other_rows(model, test)
            runs.append(run)
            print(seed, is_trained, run["accuracy"], run["rollout"], flush=True)
    command = "python -m experiments.attention_seeds --checkpoint-folder FOLDER"
    write_results("attention-seeds", command, runs=runs)


if __name__ == "__main__":
    main()
