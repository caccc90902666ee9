"""Recipes: a model and a training for each data set, and the command that runs them.

python -m vit_steps.training --data cluttered-digits --output model.safetensors
"""

import argparse
import sys
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import nn

from vit_steps.checkpoint import check_name
from vit_steps.distributed import process_rank, processes, shard, wait_for_all, whole
from vit_steps.training import TrainConfig, evaluate, tensorboard, train
from vit_steps.vision_transformer import VisionTransformer, ViTConfig


@dataclass(frozen=True)
class Recipe:
    """A model and its training that were found to work on a data set.

    Args:
        position_std: width of the bell curve that positions are drawn from. On few and
            small images a wide one learns much faster than the paper's 0.02; chapter 8
            measures it.
    """

    model: ViTConfig
    train: TrainConfig
    position_std: float = 0.02

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


# The fields that have an option of the same name, and the type of their value.
TRAIN_OPTIONS = {
    "epochs": int,
    "batch_size": int,
    "lr": float,
    "weight_decay": float,
    "warmup_epochs": float,
    "label_smoothing": float,
    "clip_norm": float,
    "mixup": float,
    "cutmix": float,
    "ema_decay": float,
    "autocast": bool,
    "seed": int,
    "num_workers": int,
}
MODEL_OPTIONS = {
    "patch_size": int,
    "embed_dim": int,
    "depth": int,
    "num_heads": int,
    "mlp_ratio": float,
    "drop_rate": float,
    "attn_drop_rate": float,
    "drop_path_rate": float,
    "layer_scale": float,
}


def main(arguments: list[str] | None = None) -> int:
    """The command; see ``python -m vit_steps.training --help``."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = _parser().parse_args(arguments)
    try:
        _run(options, "python -m vit_steps.training " + " ".join(arguments))
    except (ValueError, OSError, ImportError, FloatingPointError) as error:
        print(f"Stopped: {error}", file=sys.stderr)
        return 1
    return 0


def _run(options: argparse.Namespace, command: str) -> None:
    if options.output:
        check_name(options.output)  # now, not when the training is done
    if options.threads:
        torch.set_num_threads(options.threads)
    with processes(options.device) as device:
        images = _load(options)
        recipe = _recipe(options, images)
        model = recipe.build().to(device)
        history = train(
            shard(model) if options.shard else model,
            images,
            recipe.train,
            options.checkpoint,
            options.resume,
            callbacks=[tensorboard(options.tensorboard)] if options.tensorboard else [],
        )
        if options.shard:
            state = {name: whole(tensor) for name, tensor in model.state_dict().items()}
            model = recipe.build().to(device)
            model.load_state_dict(state)
        if process_rank() > 0:
            return
    test = evaluate(model, images.test)
    print(f"test: loss {test.loss:.3f}, top-1 {test.top1:.2%}, top-5 {test.top5:.2%}")
    if options.output:
        model.save_pretrained(
            options.output,
            dtype=torch.float16,
            data=options.data,
            classes=images.classes,
            mean=images.mean,
            std=images.std,
            position_std=recipe.position_std,
            train_config=asdict(recipe.train),
            test=asdict(test),
            seconds=round(sum(epoch.seconds for epoch in history.epochs)),
            command=command,
            torch=torch.__version__,
            threads=torch.get_num_threads(),
        )
        print(f"The model is in {options.output}")


def _load(options: argparse.Namespace) -> Any:
    """The data; the first process fetches what is not there, then the others read."""
    from vit_steps import data

    source = {
        name: getattr(options, name)
        for name in ("root", "full", "download")
        if getattr(options, name)
    }
    if process_rank() > 0:
        wait_for_all()
    images = data.load(
        options.data,
        options.augment,
        merge_validation=options.merge_validation,
        **source,
    )
    if process_rank() == 0:
        wait_for_all()
    return images


def _recipe(options: argparse.Namespace, images: Any) -> Recipe:
    """The data set's recipe, with what the options and the data say."""

    def given(names: dict[str, type]) -> dict[str, Any]:
        chosen = {name: getattr(options, name) for name in names}
        return {name: value for name, value in chosen.items() if value is not None}

    recipe, (image, _) = RECIPES[options.data], images.train[0]
    channels, height, width = image.shape
    model = replace(
        recipe.model,
        image_size=height if height == width else (height, width),
        in_channels=channels,
        num_classes=images.num_classes,
        **given(MODEL_OPTIONS),
    )
    training = replace(recipe.train, **given(TRAIN_OPTIONS))
    return replace(
        recipe, model=model, train=training, **given({"position_std": float})
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m vit_steps.training",
        description="Train a Vision Transformer. What is not said is taken from the "
        "recipe of the data set.",
    )
    say = parser.add_argument
    say("--data", choices=RECIPES, required=True, help="what to train on")
    say("--root", help="the folder of cifar-10, or of your images")
    say("--full", action="store_true", help="all of Fashion-MNIST, not a tenth")
    say("--download", action="store_true", help="fetch what is not there")
    say(
        "--no-augment",
        dest="augment",
        action="store_false",
        help="show every image as it is, every time",
    )
    say(
        "--merge-validation",
        action="store_true",
        help="train on the validation part too, once the recipe is settled",
    )
    say("--output", help="where to write the trained model, in float16")
    say("--checkpoint", help="where to keep the state after each epoch")
    say("--resume", action="store_true", help="go on from --checkpoint, if it is there")
    say("--tensorboard", metavar="FOLDER", help="write curves there")
    say("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    say(
        "--shard",
        action="store_true",
        help="split the model over torchrun's processes (FSDP2), not only the images",
    )
    say("--threads", type=int, help="of PyTorch; another number, other last bits")
    say("--position-std", type=float, help="width of the initial positions")
    for owner, names in ((TrainConfig, TRAIN_OPTIONS), (ViTConfig, MODEL_OPTIONS)):
        group = parser.add_argument_group(f"fields of {owner.__name__}")
        for name, kind in names.items():
            option = "--" + name.replace("_", "-")
            if kind is bool:
                group.add_argument(option, action=argparse.BooleanOptionalAction)
            else:
                group.add_argument(option, type=kind)
    return parser
