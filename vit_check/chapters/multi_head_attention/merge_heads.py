"""The check of ``merge_heads``, chapter 5."""

from collections.abc import Iterator

from torch import Generator, Tensor

from vit_check.chapters.multi_head_attention.split_heads import split, split_inputs
from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


def merged(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


def _merge_inputs(generator: Generator) -> Iterator[Case]:
    for x, h in split_inputs(generator):
        yield [split(x, h).contiguous()]


merge_heads = FunctionCheck(
    "merge_heads",
    "merge_heads(x) -> (B, T, D)",
    merged,
    _merge_inputs,
    [
        Mistake(
            "view instead of transpose",
            "your heads are joined without moving them back beside d: tokens mix",
            lambda x: x.reshape(len(x), x.shape[2], -1),
        ),
        Mistake(
            "averaged",
            "the heads are averaged, (B, T, d): put them side by side, (B, T, h·d)",
            lambda x: x.mean(dim=1),
        ),
        Mistake(
            "summed",
            "the heads are summed, (B, T, d): put them side by side, (B, T, h·d)",
            lambda x: x.sum(dim=1),
        ),
        Mistake(
            "d before h",
            "the heads are interleaved: number 0 of all heads comes first, but the d "
            "numbers of a head should stay together",
            lambda x: x.permute(0, 2, 3, 1).flatten(2),
        ),
        Mistake(
            "heads along the tokens",
            "the heads are put one below the other, (B, h·T, d), expected side by side",
            lambda x: x.flatten(1, 2),
        ),
        Mistake(
            "largest taken",
            "the largest of the heads is taken, (B, T, d): put them side by side, "
            "(B, T, h·d)",
            lambda x: x.amax(dim=1),
        ),
        Mistake(
            "not joined",
            "the heads are back beside d but not joined, (B, T, h, d), expected "
            "(B, T, D)",
            lambda x: x.transpose(1, 2),
        ),
        Mistake(
            "T and D swapped",
            "the output is (B, D, T), expected (B, T, D)",
            lambda x: merged(x).mT,
        ),
        Mistake(
            "T and h mixed up",
            "the last reshape has h where T belongs: after the transpose the axes are "
            "(B, T, h, d)",
            lambda x: merged(x).reshape(len(x), x.shape[1], -1),
        ),
        Mistake(
            "heads reversed",
            "the heads come in reverse order",
            lambda x: merged(x.flip(1)),
        ),
        Mistake(
            "batch and tokens mixed",
            "tokens of different samples are mixed: swap axes 1 and 2, not the batch",
            lambda x: x.permute(2, 0, 1, 3).reshape(len(x), x.shape[2], -1),
        ),
        Mistake(
            "first head alone",
            "only the first head is returned",
            lambda x: x[:, 0],
        ),
    ],
    hints=(
        "It is split_heads backwards: merge_heads(split_heads(x, h)) should be x.",
        "h has to be beside d before the two can become one axis.",
        "x.transpose(1, 2), then .reshape(B, T, h * d).",
    ),
    shape="(B, T, D)",
    batched=(0,),
)
