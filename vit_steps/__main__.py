"""The command ``vit-steps``: train, test, ask, export, examine a model; count its cost.

``python -m vit_steps`` is the same. Without a command's name it is ``cost``.
"""

import argparse
import sys
from importlib import import_module

from vit_steps import __version__
from vit_steps.command import size
from vit_steps.cost import ModelCost
from vit_steps.sizes import check_count
from vit_steps.variants import VariantConfig
from vit_steps.vision_transformer import PRESETS

# Modules, which are imported when they are needed; vit_doctor needs this package.
COMMANDS = ("train", "evaluate", "predict", "export", "doctor")


def main(arguments: list[str] | None = None) -> int:
    """Run one of the commands; ``vit-steps --help`` lists them."""
    arguments = sys.argv[1:] if arguments is None else arguments
    name = arguments[0] if arguments else "cost"
    if name in COMMANDS:
        module = "vit_doctor.__main__" if name == "doctor" else f"vit_steps.{name}"
        return import_module(module).main(arguments[1:])
    return cost(arguments[name == "cost" :])


def cost(arguments: list[str]) -> int:
    """Print a preset's shapes, parameters and multiply-accumulates (MACs)."""
    parser = argparse.ArgumentParser(
        prog="python -m vit_steps",
        description="Print the whole model as a table of shapes, parameters and MACs.",
        epilog="vit-steps is short for python -m vit_steps. Its other commands: "
        f"{', '.join(COMMANDS)}; each has a --help of its own.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    add = parser.add_argument
    presets = (*PRESETS, "dinov3_small")
    add("preset", nargs="?", default="base", choices=presets, help="default: base")
    pixels = "pixels: 224, the default, or 224x320 (height x width)"
    add("--image-size", type=size, default=224, help=pixels)
    own = "pixels; default: the preset's own"
    add("--patch-size", type=size, default=argparse.SUPPRESS, help=own)
    add("--num-classes", type=int, default=1000, help="default: 1000")
    add("--batch-size", type=int, default=1, help="default: 1")
    sizes = vars(parser.parse_args(arguments))
    preset = getattr(VariantConfig, sizes.pop("preset"))
    try:
        batch_size = check_count(sizes.pop("batch_size"), "batch_size")
        steps = preset(**sizes).cost()
    except ValueError as error:
        parser.error(str(error))
    print(table(steps, batch_size))
    share = steps.attention_macs / steps.macs
    print(f"\n{share:.1%} of the MACs grow with the square of the number of tokens.")
    return 0


def table(cost: ModelCost, batch_size: int = 1) -> str:
    """Return a table of all steps, a block's only once, with the number of blocks."""
    line = "{:<25}{:>5}  {:<20}{:>13}{:>20}".format
    rows = [
        line(
            step.name,
            f"x{step.repeat}" if step.repeat > 1 else "",
            str((batch_size, *step.shape)),
            f"{step.total_parameters:,}" if step.parameters else "",
            f"{batch_size * step.total_macs:,}" if step.macs else "",
        ).rstrip()
        for step in cost.steps
    ]
    head = line("step", "", "shape", "parameters", "MACs")
    total = line("total", "", "", f"{cost.parameters:,}", f"{batch_size * cost.macs:,}")
    rule = "-" * len(total)
    return "\n".join([head, rule, *rows, rule, total])


if __name__ == "__main__":
    sys.exit(main())
