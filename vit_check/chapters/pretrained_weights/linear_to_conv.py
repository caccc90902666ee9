"""The check of ``linear_to_conv``, chapter 10."""

from collections.abc import Iterator

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case
from vit_check.engine.drawing import normal
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


def _to_conv(weight: Tensor, P: int) -> Tensor:
    return weight.reshape(len(weight), P, P, -1).permute(0, 3, 1, 2)


def _conv_inputs(generator: Generator) -> Iterator[Case]:
    for D, P, C, dtype in (
        (5, 4, 3, torch.float32),
        (7, 3, 2, torch.float64),
        (4, 3, 3, torch.float64),
        (6, 2, 4, torch.bfloat16),
    ):
        yield [normal(generator, D, P * P * C, dtype=dtype), P]


linear_to_conv = FunctionCheck(
    "linear_to_conv",
    "linear_to_conv(weight, patch_size) -> (D, C, P, P)",
    _to_conv,
    _conv_inputs,
    [
        Mistake(
            "reshaped alone",
            "the shape is right and the order is not: the numbers come as row, column, "
            "channel, and a reshape to (D, C, P, P) reads them as channel, row, column",
            lambda w, P: w.reshape(len(w), -1, P, P),
        ),
        Mistake(
            "rows and columns swapped",
            "rows and columns of the patch are swapped",
            lambda w, P: _to_conv(w, P).mT,
        ),
        Mistake(
            "channels reshaped, then swapped",
            "the channels are read first and rows and columns swapped; in the vector "
            "the channels come last",
            lambda w, P: w.reshape(len(w), -1, P, P).mT,
        ),
        Mistake(
            "channels last",
            "the channels still come last, (D, P, P, C), expected (D, C, P, P)",
            lambda w, P: w.reshape(len(w), P, P, -1),
        ),
        Mistake(
            "channels in the middle",
            "the vector is read as row, channel, column; it is row, column, channel",
            lambda w, P: w.reshape(len(w), P, -1, P).transpose(1, 2),
        ),
        Mistake(
            "weight turned",
            "the weight is read as (P·P·C, D); nn.Linear keeps it as (out, in), so D "
            "comes first",
            lambda w, P: w.reshape(P, P, -1, len(w)).permute(3, 2, 0, 1),
        ),
        Mistake(
            "D last",
            "D comes last, expected (D, C, P, P)",
            lambda w, P: _to_conv(w, P).permute(1, 2, 3, 0),
        ),
        Mistake(
            "C before D",
            "the first two axes are (C, D); a convolution's weight is (out, in, rows, "
            "columns)",
            lambda w, P: _to_conv(w, P).transpose(0, 1),
        ),
        Mistake(
            "flipped",
            "the patch is flipped, as a convolution in mathematics has it; PyTorch's "
            "conv2d does not flip",
            lambda w, P: _to_conv(w, P).flip(2, 3),
        ),
        Mistake(
            "channels reversed",
            "the channels come in reverse order, blue first",
            lambda w, P: _to_conv(w, P).flip(1),
        ),
        Mistake(
            "flattened",
            "the channel comes first now, but the axes are not apart: (D, C·P·P), "
            "expected (D, C, P, P)",
            lambda w, P: _to_conv(w, P).flatten(1),
        ),
    ],
    hints=(
        "Take D = 1 and number the weights 0, 1, 2, ... Which three belong to the "
        "pixel in the upper left corner?",
        "Give the vector its three axes in the order in which it was flattened, and "
        "only then move the channels to the front.",
        "weight.reshape(D, P, P, C), then .permute(0, 3, 1, 2).",
    ),
    shape="(D, C, P, P)",
    gradients=False,
)
