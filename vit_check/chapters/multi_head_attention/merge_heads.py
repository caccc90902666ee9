"""The check of ``merge_heads``, chapter 5."""

from collections.abc import Iterator

from torch import Generator, Tensor

from vit_check.chapters.multi_head_attention.split_heads import split, split_inputs
from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.moved import Axes
from vit_check.engine.table import mistakes


def merged(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


def _merge_inputs(generator: Generator) -> Iterator[Case]:
    for x, h in split_inputs(generator):
        yield [split(x, h).contiguous()]


MISTAKES = """
view instead of transpose
  transpose(1, 2).flatten(2) -> reshape(len(x), x.shape[2], -1)
    your heads are joined without moving them back beside d: tokens mix
averaged
  transpose(1, 2).flatten(2) -> mean(dim=1)
    the heads are averaged, (B, T, d): put them side by side, (B, T, h·d)
summed
  transpose(1, 2).flatten(2) -> sum(dim=1)
    the heads are summed, (B, T, d): put them side by side, (B, T, h·d)
d before h
  transpose(1, 2) -> permute(0, 2, 3, 1)
    the heads are interleaved: number 0 of all heads comes first, but the d numbers of a
    head should stay together
heads along the tokens
  transpose(1, 2).flatten(2) -> flatten(1, 2)
    the heads are put one below the other, (B, h·T, d), expected side by side
largest taken
  transpose(1, 2).flatten(2) -> amax(dim=1)
    the largest of the heads is taken, (B, T, d): put them side by side, (B, T, h·d)
not joined
  .flatten(2) -> nothing
    the heads are back beside d but not joined, (B, T, h, d), expected (B, T, D)
T and D swapped
  flatten(2) -> flatten(2).mT
    the output is (B, D, T), expected (B, T, D)
T and h mixed up
  flatten(2) -> reshape(*x.shape[:2], -1)
    the last reshape has h where T belongs: after the transpose the axes are (B, T, h,
    d)
batch and tokens mixed
  transpose(1, 2).flatten(2) -> permute(2, 0, 1, 3).reshape(len(x), x.shape[2], -1)
    tokens of different samples are mixed: swap axes 1 and 2, not the batch
first head alone
  x.transpose(1, 2).flatten(2) -> x[:, 0]
    only the first head is returned
"""

merge_heads = FunctionCheck(
    "merge_heads",
    "merge_heads(x) -> (B, T, D)",
    merged,
    _merge_inputs,
    mistakes(merged, MISTAKES),
    hints=(
        "It is split_heads backwards: merge_heads(split_heads(x, h)) should be x.",
        "h has to be beside d before the two can become one axis.",
        "x.transpose(1, 2), then .reshape(B, T, h * d).",
    ),
    shape="(B, T, D)",
    batched=(0,),
    moves=Axes("sample head token number", "sample token number"),
)
