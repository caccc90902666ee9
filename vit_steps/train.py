"""The command that trains: a data set's recipe, with what its options change.

python -m vit_steps.train --data cluttered-digits --output model.safetensors
"""

import argparse
import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from vit_steps import distributed, training_options
from vit_steps.checkpoint import check_writable
from vit_steps.command import check_new, stopped
from vit_steps.optional import imported
from vit_steps.recipes import RECIPES, Recipe
from vit_steps.sizes import as_pair, check_count
from vit_steps.training import evaluate, tensorboard
from vit_steps.training_options import MODEL_OPTIONS, TRAIN_OPTIONS, given
from vit_steps.training_state import History, whole
from vit_steps.transfer import transfer
from vit_steps.vision_transformer import VisionTransformer, ViTConfig


def main(arguments: list[str] | None = None) -> int:
    """The command; see ``python -m vit_steps.train --help``."""
    arguments = sys.argv[1:] if arguments is None else arguments
    command = shlex.join(["python", "-m", "vit_steps.train", *arguments])
    options = training_options.parse(arguments)
    try:
        words = partial(training_options.in_options, options=options)
        return stopped(lambda: _run(options, command), words)
    except KeyboardInterrupt:
        print(f"Stopped by Ctrl-C; {_way_on(options, command)}", file=sys.stderr)
        return 130


def _run(options: argparse.Namespace, command: str) -> None:
    _check(options)
    start, config = vars(options)["from"], RECIPES[options.data].model
    if start:
        trained = VisionTransformer.from_pretrained(start)
        config = trained.config
    source = _source(options, config)
    with distributed.processes(options.device) as device:
        images = _load(options, source)
        recipe = _recipe(options, config, images)
        model = start_from(trained, recipe, images.classes) if start else recipe.build()
        torch.set_num_threads(options.threads or suitable_threads(recipe.model))
        if distributed.process_rank() == 0:
            _announce(options, recipe, images)
        model = model.to(device)
        callbacks = [_a_line(recipe.train.epochs)]
        if options.tensorboard:
            callbacks.append(tensorboard(options.tensorboard))
        history = distributed.train_together(
            distributed.shard(model) if options.shard else model,
            images,
            recipe.train,
            checkpoint=options.checkpoint,
            resume=options.resume,
            progress=sys.stderr.isatty(),
            callbacks=callbacks,
        )
        if options.shard:
            state = {name: whole(tensor) for name, tensor in model.state_dict().items()}
            model = VisionTransformer(recipe.model).to(device)
            model.load_state_dict(state)
            model.preprocessing = images.preprocessing
        if distributed.process_rank() > 0:
            return
    test = evaluate(model, images.test, num_workers=recipe.train.num_workers)
    told = f"loss {test.loss:.3f}, top-1 {test.top1:.2%}, top-5 {test.top5:.2%}"
    print(f"test, {len(images.test):,} images: {told}")
    if not options.output:
        way_on = _way_on(options, f"{command} --output model.safetensors")
        print(f"No model is written without --output; {way_on}")
        return
    try:
        model.save_pretrained(
            options.output,
            dtype=torch.float16,
            data=options.data,
            position_std=None if start else recipe.position_std,
            train_config=asdict(recipe.train),
            test=asdict(test),
            seconds=round(sum(epoch.seconds for epoch in history.epochs)),
            command=command,
            torch=torch.__version__,
            threads=torch.get_num_threads(),
        )
    except OSError as error:
        kept = options.checkpoint or "no file, for want of a --checkpoint"
        raise OSError(f"{error}; the training's state is in {kept}") from error
    print(f"The model is in {options.output}")


def _check(options: argparse.Namespace) -> None:
    """Refuse what cannot work before anything is read."""
    for name in ("output", "checkpoint"):
        if getattr(options, name):
            check_writable(getattr(options, name), name)
    if options.output:
        check_new(options.output, options.overwrite)
    if options.resume and not options.checkpoint:
        raise ValueError("resume: expected a --checkpoint to go on from")
    if options.threads is not None:
        check_count(options.threads, "threads")
    usable = ["cpu", *["cuda"] * torch.cuda.is_available()]
    usable += ["mps"] * torch.backends.mps.is_available()
    if options.device.partition(":")[0] not in usable:
        raise ValueError(
            f"device: got {options.device!r}, expected {' or '.join(usable)}, which is "
            "all that PyTorch finds here"
        )
    if vars(options)["from"]:
        for name in given(options, [*MODEL_OPTIONS, "position_std"]):
            raise ValueError(f"{name}: expected none, the model of --from has its own")


def _source(options: argparse.Namespace, config: ViTConfig) -> dict[str, Any]:
    """Where the images come from; refuses what the data set has no use for."""
    owners = training_options.SOURCE_OPTIONS
    source = given(options, owners)
    for name in source:
        if options.data not in owners[name]:
            reason = f"{options.data} has no such choice, expected it with"
            raise ValueError(f"{name}: {reason} {' and '.join(owners[name])} only")
    if options.data != "folder":
        return source
    if not options.root:
        folder = "the folder of your images, with one folder for each class in it"
        raise ValueError(f"root: got none, expected {folder}")
    channels = {"in_channels": config.in_channels} if vars(options)["from"] else {}
    return {"image_size": config.image_size} | channels | source


def _load(options: argparse.Namespace, source: dict[str, Any]) -> Any:
    """The data; the first process fetches what is not there, then the others read."""
    from vit_steps import data
    from vit_steps.data.folder import check_files

    is_first = distributed.process_rank() == 0
    if not is_first:
        distributed.wait_for_all()
    images: Any = data.load(
        options.data,
        not options.no_augment,
        merge_validation=bool(options.merge_validation),
        **source,
    )
    if is_first:
        if options.data == "folder":
            check_files(images.train, images.validation, images.test)
        distributed.wait_for_all()
    if options.batch_size and options.batch_size > len(images.train):
        raise ValueError(
            f"batch_size: got {options.batch_size}, expected at most the "
            f"{len(images.train)} images that are trained on"
        )
    return images


def _recipe(options: argparse.Namespace, config: ViTConfig, images: Any) -> Recipe:
    """The data set's recipe, with what the options and the data say."""
    channels, height, width = images.train[0][0].shape
    model = replace(
        config,
        image_size=height if height == width else (height, width),
        in_channels=channels,
        num_classes=images.num_classes,
        **given(options, MODEL_OPTIONS),
    )
    recipe = RECIPES[options.data]
    training = replace(recipe.train, **given(options, TRAIN_OPTIONS))
    position = given(options, ["position_std"])
    return replace(recipe, model=model, train=training, **position)


def start_from(
    trained: VisionTransformer, recipe: Recipe, classes: tuple[str, ...]
) -> VisionTransformer:
    """A trained model for other images; the head is new unless the classes are its own.

    It is changed as ``transfer`` does, to be trained on.
    """
    known = trained.preprocessing
    if known is None or known.classes != classes:
        trained.reset_classifier(len(classes))
    return transfer(trained, recipe.model.image_size, recipe.model.in_channels)


def suitable_threads(config: ViTConfig) -> int:
    """How many threads of the CPU train a model.

    One for a small model, of less than 50 million multiply-accumulates an image: its
    steps are so short that threads mostly wait for each other, on busy cores twenty
    times longer than they compute. For others as many as PyTorch takes. It depends on
    nothing else that runs, so that the same command gives the same bits.
    """
    if config.cost().macs < 50_000_000 and not os.environ.get("OMP_NUM_THREADS"):
        return 1
    return torch.get_num_threads()


def _announce(options: argparse.Namespace, recipe: Recipe, images: Any) -> None:
    """Say what is about to be trained, on what, and how."""
    config, epochs = recipe.model, recipe.train.epochs
    height, width = as_pair(config.image_size, "image_size")
    colour = "grey" if config.in_channels == 1 else "coloured"
    print(
        f"{config.cost().parameters:,} parameters, {len(images.train):,} {colour} "
        f"images of {height}×{width} pixels in {config.num_classes} classes, "
        f"{len(images.validation):,} to validate, {len(images.test):,} to test; "
        f"epochs: {epochs}, warm-up: {min(recipe.train.warmup_epochs, epochs / 2):g}, "
        f"device: {options.device}, threads: {torch.get_num_threads()}",
        flush=True,
    )
    if options.data == "folder":
        from vit_steps.data.folder import left_out

        parts = images.train, images.validation, images.test
        others = [f"{n} {t}" for t, n in left_out(options.root, parts).items()]
        if others:
            print(f"Left out of {options.root}: {', '.join(others)}", flush=True)
    if not options.output:
        print("No --output: the trained model will not be kept", flush=True)


def _a_line(epochs: int) -> Callable[[History], None]:
    """A callback that prints each epoch's numbers, above the bar if there is one."""
    tqdm = imported("tqdm.auto").tqdm

    def write(history: History) -> None:
        last = history.epochs[-1]
        tqdm.write(
            f"epoch {last.epoch} of {epochs}: training loss {last.train_loss:.3f}, "
            f"validation loss {last.validation.loss:.3f}, "
            f"top-1 {last.validation.top1:.2%}, {last.seconds:.1f} s"
        )
        sys.stdout.flush()

    return write


def _way_on(options: argparse.Namespace, command: str) -> str:
    """How to go on from what is kept of a training, if anything is."""
    if not options.checkpoint:
        return "nothing is kept, for want of a --checkpoint"
    if not Path(options.checkpoint).exists():
        return "nothing is kept, for no epoch was over"
    resume = "" if options.resume else " --resume"
    return f"this goes on after the last whole epoch: {command}{resume}"


if __name__ == "__main__":
    sys.exit(main())
