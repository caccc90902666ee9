"""Train the models that ship with the package again, and compare the results.

    make retrain                                  all, and compare with what ships
    python -m experiments.retrain --replace       put the new ones in their place
    python -m experiments.retrain --cards         measure, and write the cards again

Each is trained by the command on its card. Fashion-MNIST needs all 60,000 images, from
PyTorch's cache or downloaded (--download). Two models are made for the lab, where
visitors draw digits, and are trained further on drawn ones: the model of chapter 9, and
one that averages its patches, the first variant of chapter 13.
"""

import argparse
import sys
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

import torch

from experiments.drawn_digits import drawn_digits
from experiments.variants import build
from vit_steps import VisionTransformer, data
from vit_steps.attention_maps import class_token_attention, mass_inside
from vit_steps.checkpoint import SHIPPED, read_checkpoint, write_checkpoint
from vit_steps.data.cluttered_digits import cluttered_digits, textures
from vit_steps.data.sets import ImageSet
from vit_steps.recipes import RECIPES
from vit_steps.train import main as train_command
from vit_steps.training import evaluate, train
from vit_steps.variants import VariantVisionTransformer

COMMANDS = {
    "cluttered-digits": "--data cluttered-digits --threads 1".split(),
    "fashion-mnist": "--data fashion-mnist --full --no-augment --threads 1".split(),
}
DRAWN = "cluttered-digits-drawn"
AVERAGING = "cluttered-digits-mean"
FIRST = "cluttered-digits"
DRAWINGS = 1000  # of each digit
SCENES = 40_000  # images, with a drawing in each
SEED = 99  # of the drawings and of the clutter around them
FURTHER = replace(
    RECIPES["cluttered-digits"].train, epochs=2, lr=8e-4, warmup_epochs=0.25
)
CLUTTERED = """\
scikit-learn's handwritten digits (Alpaydin and Kaynak, UCI, CC BY 4.0), put on crops of
scikit-image's textures brick, grass and gravel (CC0) among scraps of other digits:
`vit_steps.data.cluttered_digits`. 40,000 images to train on, 1,000 for validation and
1,000 to test; no part shares a handwritten digit with another."""
DRAWN_TOO = """\
Then it is trained for two more epochs, in which every second digit is drawn as on the
lab's pad: a few curves through a few points, which each drawing varies
(`experiments/drawn_digits.py`). So it can read what visitors of the lab draw, too."""
ABOUT = {
    FIRST: CLUTTERED,
    DRAWN: f"""\
The model of "cluttered-digits", for the lab, where visitors draw digits of their own.

{CLUTTERED}

{DRAWN_TOO}""",
    AVERAGING: f"""\
The model of "cluttered-digits" with one change: it has no class token, and its head
reads the mean of the patches. Because the head is linear, it can also be put on each
patch alone, and the mean of the logits that it gives is the model's answer.

{CLUTTERED}

{DRAWN_TOO}""",
    "fashion-mnist": """\
Fashion-MNIST (Xiao, Rasul and Vollgraf 2017, arXiv 1708.07747; MIT, Zalando SE), all of
it: 55,000 images to train on, 5,000 for validation, 10,000 to test.""",
}
TOLERANCE = 0.015  # between the accuracies of two runs, on different machines


def class_of(name: str) -> type[VisionTransformer]:
    return VariantVisionTransformer if name == AVERAGING else VisionTransformer


def go_on_with_drawings(model: VisionTransformer) -> float:
    """Train a model further, on as many drawn digits as handwritten; return seconds."""
    images = data.load("cluttered-digits")
    written = images.train
    assert isinstance(written, ImageSet)
    grounds = textures()
    grounds = grounds[..., : grounds.shape[-1] * 3 // 4]  # the rest is the test's
    drawings = drawn_digits(DRAWINGS, seed=SEED)
    scenes, labels, _ = cluttered_digits(*drawings, grounds, SCENES, seed=SEED)
    both = ImageSet(
        torch.cat([written.images, scenes]),
        torch.cat([written.labels, labels]),
        transform=written.transform,
    )
    history = train(model, replace(images, train=both), FURTHER, progress=False)
    return sum(epoch.seconds for epoch in history.epochs)


def train_drawn(path: Path) -> None:
    """Train the model of chapter 9 further."""
    torch.set_num_threads(1)
    model = class_of(DRAWN).from_pretrained(FIRST)
    _, made = read_checkpoint(FIRST)
    save(model, path, DRAWN, made["seconds"] + go_on_with_drawings(model))


def train_averaging(path: Path) -> None:
    """Train a model that averages its patches by the recipe of cluttered-digits."""
    torch.set_num_threads(1)
    recipe = RECIPES["cluttered-digits"]
    images = data.load("cluttered-digits")
    model = build("mean of the patches", recipe.train.seed)
    history = train(model, images, recipe.train, progress=False)
    # The drawings are learned from the model as it ships, in float16.
    model.half().float()
    seconds = sum(epoch.seconds for epoch in history.epochs)
    save(model, path, AVERAGING, seconds + go_on_with_drawings(model))


def save(model: VisionTransformer, path: Path, name: str, seconds: float) -> None:
    recipe = RECIPES[FIRST]
    model.save_pretrained(
        path,
        dtype=torch.float16,
        data=FIRST,
        position_std=recipe.position_std,
        train_config=asdict(recipe.train),
        test=asdict(evaluate(model, data.load(FIRST).test)),
        seconds=round(seconds),
        command=f"python -m experiments.retrain {name}",
        torch=torch.__version__,
        threads=torch.get_num_threads(),
    )


BY_HAND = {DRAWN: train_drawn, AVERAGING: train_averaging}


def measure(name: str, path: Path) -> dict[str, float]:
    model = class_of(name).from_pretrained(path)
    name = read_checkpoint(path)[1]["data"]
    options = {"full": True} if name == "fashion-mnist" else {}
    images = data.load(name, preprocessing=model.preprocessing, **options)
    measured = {"test accuracy": evaluate(model, images.test).top1}
    if type(model) is VisionTransformer and name == "cluttered-digits":
        test = images.test
        assert isinstance(test, ImageSet) and test.boxes is not None
        pictures, _ = test.batch(range(250))
        _, weights = model.encode(pictures, need_weights=True)
        attention = class_token_attention(weights).mean(dim=2)  # (B, L, N)
        config = model.config
        mass = mass_inside(
            attention, test.boxes[:250], config.image_size, config.patch_size
        )
        for block, share in enumerate(mass.mean(dim=0).tolist(), start=1):
            measured[f"class token's attention in the box, block {block}"] = share
    return measured


def write_card(name: str) -> None:
    """Measure a model that ships, and write its card beside it."""
    path = SHIPPED / f"{name}.safetensors"
    measured = measure(name, path)
    _, made = read_checkpoint(path)
    rows = [f"| {what} | {value:.1%} |" for what, value in measured.items()]
    settings = "\n".join(f"{name} = {value}" for name, value in made["config"].items())
    torch_version = made["torch"].split("+")[0]
    text = f"""# {name}

`{class_of(name).__name__}.from_pretrained("{name}")`

{ABOUT[name]}

| measured | |
|---|---|
{chr(10).join(rows)}

Trained by

```
{made["command"]}
```

with seed {made["train_config"]["seed"]}, torch {torch_version}
and {made["threads"]} thread of a CPU, in about {made["seconds"] / 60:.0f} minutes.
`make retrain` makes it again and compares; on the same machine and versions it comes
out the same. The model is

```
{settings}
```

Its positions were drawn {made["position_std"]} wide. The file holds float16. Images are
brought to mean 0 and spread 1 by `data.load("{made["data"]}")`, with
mean {made["mean"]} and std {made["std"]}.

For teaching: it knows these images and no others. Licence: MIT, as the code.
"""
    path.with_suffix(".md").write_text(text, encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(ABOUT))
    parser.add_argument("--replace", action="store_true")
    parser.add_argument("--cards", action="store_true")
    parser.add_argument("--download", action="store_true")
    options = parser.parse_args()
    if options.cards:
        for name in options.names:
            write_card(name)
        return 0
    wrong = False
    for name in options.names:
        with tempfile.TemporaryDirectory() as folder:
            new = Path(folder) / "new.safetensors"
            old = SHIPPED / f"{name}.safetensors"
            download = ["--download"] if options.download else []
            if name in BY_HAND:
                BY_HAND[name](new)
            elif train_command([*COMMANDS[name], *download, "--output", str(new)]):
                return 1
            measured = measure(name, new)
            before = measure(name, old) if old.exists() else {}
            for what, value in measured.items():
                print(f"{name}: {what}: {value:.2%}, before {before.get(what, 0):.2%}")
            difference = abs(measured["test accuracy"] - before.get("test accuracy", 0))
            if before and difference > TOLERANCE:
                print(f"{name}: the accuracies are {difference:.2%} apart")
                wrong = True
            if options.replace:
                tensors, made = read_checkpoint(new)
                made["command"] = made["command"].split(" --output")[0]
                write_checkpoint(old, tensors, made)
                write_card(name)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
