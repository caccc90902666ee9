"""The command that trains a model by its data's recipe, changed by options.

python -m vit_steps.train --data cluttered-digits --output model.safetensors
"""

import argparse
import os
import shlex
import sys
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from vit_steps import distributed, training_options
from vit_steps.attention import use_fused_attention
from vit_steps.command import check_new, run_command
from vit_steps.optional import imported
from vit_steps.recipes import RECIPES, Recipe
from vit_steps.sizes import as_pair, check_count
from vit_steps.training import evaluate, tensorboard
from vit_steps.training_options import (
    DROP_OPTIONS,
    MODEL_OPTIONS,
    SOURCE_OPTIONS,
    TRAIN_OPTIONS,
    given,
    option_names,
)
from vit_steps.training_state import History, whole
from vit_steps.transfer import rebuilt
from vit_steps.vision_transformer import VisionTransformer, ViTConfig


def main(arguments: list[str] | None = None) -> int:
    """Run the command; ``python -m vit_steps.train --help`` lists its options."""
    arguments = sys.argv[1:] if arguments is None else arguments
    command = shlex.join(["python", "-m", "vit_steps.train", *arguments])
    options = training_options.parse(arguments)
    try:
        return run_command(lambda: _run(options, command), option_names(options))
    except KeyboardInterrupt:
        print(f"Stopped by Ctrl-C; {_way_on(options, command)}", file=sys.stderr)
        return 130


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
            _announce(options, recipe, images)
        model = model.to(device)
        callbacks: list[Any] = [partial(_print_epoch, recipe.train.epochs)]
        if options.tensorboard:
            callbacks.append(tensorboard(options.tensorboard))
        if recipe.train.autocast and device.type == "cpu":
            # in bfloat16 a CPU's fused kernel is the slower path for few tokens
            use_fused_attention(model, False)
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
            weights = {name: whole(t) for name, t in model.state_dict().items()}
            model = rebuilt(model, VisionTransformer, model.config, weights)
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
        dtype=torch.float16,
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
    output, checkpoint = options.output, options.checkpoint
    if checkpoint:
        others = [options.start, options.tensorboard]
        check_new(checkpoint, overwrite=True, inputs=others, name="checkpoint")
        if Path(checkpoint).exists() and not options.resume:
            raise FileExistsError(
                f"checkpoint: {checkpoint!r} is there already; go on from it with "
                "--resume, or choose another name"
            )
    elif options.resume:
        raise ValueError("resume: expected a --checkpoint to go on from")
    if output:
        check_new(output, options.overwrite, [checkpoint, options.tensorboard])
    if options.tensorboard:
        Path(options.tensorboard).mkdir(parents=True, exist_ok=True)
    if options.threads is not None:
        check_count(options.threads, "threads")
    usable = ["cpu", *["cuda"] * torch.cuda.is_available()]
    usable += ["mps"] * torch.backends.mps.is_available()
    if options.device.partition(":")[0] not in usable:
        raise ValueError(
            f"device: got {options.device!r}, expected {' or '.join(usable)}, which is "
            "all that PyTorch finds here"
        )
    if options.start:
        for name, value in given(options, [*MODEL_OPTIONS, "position_std"]).items():
            if name not in DROP_OPTIONS:
                own = "the model of --from has its own"
                raise ValueError(f"{name}: got {value}, expected none; {own}")


def load_start(options: argparse.Namespace) -> VisionTransformer:
    """Return the trained model of --from, with the images' size and channels."""
    is_folder = options.data == "folder"
    sizes: Any = options if is_folder else RECIPES[options.data].model
    model = VisionTransformer.from_pretrained(
        options.start, image_size=sizes.image_size, in_channels=sizes.in_channels
    )
    config = replace(model.config, **given(options, DROP_OPTIONS))
    return rebuilt(model, VisionTransformer, config, model.state_dict())


def load_images(options: argparse.Namespace, trained: VisionTransformer | None) -> Any:
    """Return the data, normalised as the trained model needs it, if there is one.

    The first process downloads what is missing; the others wait and then read.
    """
    from vit_steps import data
    from vit_steps.data.folder import check_files

    source = given(options, SOURCE_OPTIONS)
    if options.data == "folder":
        config = trained.config if trained else RECIPES["folder"].model
        source = {"image_size": config.image_size} | source
        if trained:
            source["in_channels"] = config.in_channels
    if trained and trained.preprocessing:
        source["preprocessing"] = replace(trained.preprocessing, classes=())
    is_first = distributed.process_rank() == 0
    if not is_first:
        distributed.wait_for_all()
    images: Any = data.load(
        options.data,
        augment=not options.no_augment,
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


def fitted_recipe(
    options: argparse.Namespace, images: Any, trained: VisionTransformer | None
) -> Recipe:
    """Return the data set's recipe, adapted to the images, the model and options."""
    recipe = RECIPES[options.data]
    channels, height, width = images.train[0][0].shape
    model = replace(
        trained.config if trained else recipe.model,
        image_size=height if height == width else (height, width),
        in_channels=channels,
        num_classes=images.num_classes,
        **given(options, MODEL_OPTIONS),
    )
    training = replace(recipe.train, **given(options, TRAIN_OPTIONS))
    position = given(options, ["position_std"])
    return replace(recipe, model=model, train=training, **position)


def start_from(model: VisionTransformer, images: Any) -> VisionTransformer:
    """Give a trained model a head for the images' classes, and return it.

    If the images have the model's own classes, its head is kept, in their order.
    """
    from vit_steps.data.sets import places

    known = model.preprocessing.classes if model.preprocessing else ()
    if order := places(images.classes, known):
        with torch.no_grad():
            for parameter in model.head.parameters():
                parameter.copy_(parameter[order])
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


def _announce(options: argparse.Namespace, recipe: Recipe, images: Any) -> None:
    """Print what is about to be trained, on which images, and how."""
    from vit_steps.data.folder import left_out
    from vit_steps.data.sets import listed

    config, epochs = recipe.model, recipe.train.epochs
    height, width = as_pair(config.image_size, "image_size")
    colour = "grey" if config.in_channels == 1 else "coloured"
    print(
        f"{config.cost().parameters:,} parameters, {len(images.train):,} {colour} "
        f"images of {height}×{width} pixels in {config.num_classes} classes "
        f"({listed(images.classes)}), "
        f"{len(images.validation):,} to validate, {len(images.test):,} to test; "
        f"epochs: {epochs}, warm-up: {min(recipe.train.warmup_epochs, epochs / 2):g}, "
        f"device: {options.device}, threads: {torch.get_num_threads()}",
        flush=True,
    )
    if options.data == "folder":
        others = left_out(options.root, images.train, images.validation, images.test)
        if others:
            print(f"Left out of {options.root}: {others}", flush=True)
    if not options.output:
        print("No --output: the trained model will not be kept", flush=True)


def _print_epoch(epochs: int, history: History) -> None:
    """Print the last epoch's numbers above the progress bar."""
    last = history.epochs[-1]
    imported("tqdm.auto").tqdm.write(
        f"epoch {last.epoch} of {epochs}: training loss {last.train_loss:.3f}, "
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
