"""The check of ``training_bytes``, chapter 12."""

from collections.abc import Iterator
from dataclasses import asdict, is_dataclass
from functools import partial
from typing import Any

from torch import Generator

from vit_check.engine.check import Case
from vit_check.engine.drawing import whole_number
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


def _bytes(
    parameters: int,
    devices: int,
    sharded: bool,
    autocast: bool,
    copy: str = "beside",
    gradient: float = 4,
    averages: float = 8,
    parts: str = "weights gradients optimizer",
    by: str = "sharded",
) -> dict[str, float]:
    """Bytes of a training with a place for each usual mistake."""
    many = {
        "sharded": devices if sharded else 1,
        "always": devices,
        "never": 1,
        "times": 1 / devices,
    }[by]
    own = parameters / many
    half = {
        "beside": 4 * own + (2 * parameters if autocast else 0),
        "instead": (2 if autocast else 4) * own,
        "split": (6 if autocast else 4) * own,
        "never": 4 * own,
        "always": 4 * own + 2 * parameters,
    }[copy]
    low = 2 if autocast and gradient == 2 else 4
    low_averages = 4 if autocast and averages == 2 else averages
    low_averages = 8 if low_averages == 2 else low_averages
    found = {
        "weights": half,
        "gradients": low * own,
        "optimizer": low_averages * own,
    }
    whole = {
        "weights": 4 * parameters + (2 * parameters if autocast else 0),
        "gradients": 4 * parameters,
        "optimizer": 8 * parameters,
    }
    chosen = {name: found[name] if name in parts else whole[name] for name in found}
    return {name: float(value) for name, value in chosen.items()}


def _bytes_inputs(generator: Generator) -> Iterator[Case]:
    for devices, sharded, autocast in (
        (1, False, False),
        (1, False, True),
        (4, False, False),
        (4, True, False),
        (5, True, True),
        (3, False, True),
    ):
        count = 60 * whole_number(generator, 1000, 9000)
        yield [count, devices, sharded, autocast]


def _as_dict(output: Any) -> Any:
    """Bytes by name, from a dict, a tuple in this order, or a dataclass."""
    names = ("weights", "gradients", "optimizer")
    if is_dataclass(output) and not isinstance(output, type):
        output = asdict(output)
    if isinstance(output, dict):
        known = {name: output[name] for name in names if name in output}
        output = known if len(known) == 3 else output
    elif isinstance(output, tuple | list) and len(output) == 3:
        output = dict(zip(names, output, strict=True))
    if isinstance(output, dict):
        return {name: as_float(value) for name, value in output.items()}
    return output


def as_float(value: Any) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number else value


training_bytes = FunctionCheck(
    "training_bytes",
    "training_bytes(num_parameters, num_devices, sharded, autocast) -> "
    "dict of weights, gradients, optimizer",
    _bytes,
    _bytes_inputs,
    [
        Mistake(
            "averages in bfloat16",
            "under autocast the optimiser's averages are counted in bfloat16, where "
            "small additions would be lost; they stay in float32",
            partial(_bytes, averages=2),
        ),
        Mistake(
            "one average",
            "the optimiser's bytes are those of one average; AdamW keeps two for each "
            "parameter, of the gradient and of its square",
            partial(_bytes, averages=4),
        ),
        Mistake(
            "averages and weights",
            "the optimiser's bytes are three numbers a parameter; AdamW keeps two, and "
            "the weights are counted already",
            partial(_bytes, averages=12),
        ),
        Mistake(
            "bfloat16 instead",
            "under autocast the weights are counted in bfloat16 alone; they stay in "
            "float32, and the bfloat16 ones come on top",
            partial(_bytes, copy="instead"),
        ),
        Mistake(
            "everything in bfloat16",
            "under autocast weights and gradients are counted in bfloat16; what sums "
            "up over many steps stays in float32",
            partial(_bytes, copy="instead", gradient=2),
        ),
        Mistake(
            "averages in bfloat16 too",
            "under autocast everything is counted in bfloat16; autocast rounds what "
            "goes into matrix products, and what is held stays in float32",
            partial(_bytes, copy="instead", gradient=2, averages=2),
        ),
        Mistake(
            "gradients in bfloat16",
            "under autocast the gradients are counted in bfloat16; they have the dtype "
            "of the weights, float32",
            partial(_bytes, gradient=2),
        ),
        Mistake(
            "no copy",
            "under autocast nothing is added for the weights in bfloat16",
            partial(_bytes, copy="never"),
        ),
        Mistake(
            "always a copy",
            "the weights in bfloat16 are counted without autocast too",
            partial(_bytes, copy="always"),
        ),
        Mistake(
            "copy sharded",
            "the bfloat16 weights are split over the devices; we count them whole on "
            "each, for a block needs them whole when it computes",
            partial(_bytes, copy="split"),
        ),
        Mistake(
            "always split",
            "everything is split over the devices, sharded or not; without sharding "
            "each device holds all of it",
            partial(_bytes, by="always"),
        ),
        Mistake(
            "never split",
            "sharding has no effect: each device holds its part alone",
            partial(_bytes, by="never"),
        ),
        Mistake(
            "weights not split",
            "gradients and averages are split and the weights are not; FSDP splits the "
            "float32 weights as well",
            partial(_bytes, parts="gradients optimizer"),
        ),
        Mistake(
            "optimiser alone split",
            "the optimiser's averages alone are split; FSDP splits weights and "
            "gradients too",
            partial(_bytes, parts="optimizer"),
        ),
        Mistake(
            "over all devices",
            "the bytes of all devices are added up, expected those of one",
            partial(_bytes, by="times"),
        ),
        Mistake(
            "numbers for bytes",
            "how many numbers there are is given, expected bytes: a float32 has four",
            lambda *given: {n: b / 4 for n, b in _bytes(*given).items()},
        ),
        Mistake(
            "bits",
            "the result is in bits; a byte has eight of them",
            lambda *given: {n: 8 * b for n, b in _bytes(*given).items()},
        ),
    ],
    hints=(
        "Take one parameter. Which numbers are there for its sake when a step ends, "
        "and how many bytes has each?",
        "In float32: the weight 4, its gradient 4, AdamW's two averages 8. Autocast "
        "adds 2 for the weight in bfloat16 and changes nothing else. Sharding divides "
        "all but that one.",
        "own = num_parameters / num_devices if sharded else num_parameters; weights "
        "are 4 * own, and 2 * num_parameters more under autocast.",
    ),
    gradients=False,
    normalize=_as_dict,
)
