"""What the exercises of chapter 2 ask."""

from typing import Any

import torch

from vit_check.engine.values import Slip, ValueCheck
from vit_steps import ViTConfig, model_cost
from vit_steps.patch_embedding import PatchEmbedding, patchify

_SMALL = torch.arange(24).reshape(1, 1, 4, 6)  # (B, C, H, W)


def _embedding_macs(**sizes: Any) -> int:
    steps = model_cost(ViTConfig(**sizes)).steps
    return next(step.macs for step in steps if step.name == "patch_embed.proj")


def _vectors_touched() -> int:
    images = torch.zeros(2, 3, 224, 224)
    images[1, :, 80:96, 80:96] = 1.0
    first, second = PatchEmbedding(
        image_size=224, patch_size=16, in_channels=3, embed_dim=5
    )(images)
    return int((first != second).any(dim=1).sum())


def _spreads(given: Any) -> str | None:
    keys = ("randn", "pytorch", "package")
    if not isinstance(given, dict) or set(given) != set(keys):
        return 'is to be a dictionary with the keys "randn", "pytorch" and "package"'
    for key in keys:
        value = given[key]
        if isinstance(value, bool) or not isinstance(value, int | float):
            return f"has something for {key!r} that is not a number"
        if not value > 0:
            return f"has a spread for {key!r} that is not positive"
    fan = 3 * 16 * 16
    if abs(given["randn"] - 1) < 0.1:
        return (
            'has the spread of the weight itself for "randn"; the spread of what comes '
            "out of the layer is asked for"
        )
    if 0.3 < given["randn"] < 0.9:
        return (
            'has for "randn" about what nn.Conv2d gives as PyTorch starts it: draw its '
            "weight anew, with a spread of 1"
        )
    if not 0.6 < given["randn"] / fan**0.5 < 1.7:
        return (
            'has a different spread for "randn" than weights of spread 1 give at '
            "P = 16: have the images mean 0 and spread 1, and is it the output's "
            "standard deviation and not its variance?"
        )
    if not 0.6 < given["package"] < 1.7:
        return (
            'has a different spread for "package" than PatchEmbedding gives at P = 16'
        )
    if not 0.3 < given["pytorch"] < 0.9:
        return 'has a different spread for "pytorch" than nn.Conv2d gives at P = 16'
    return None


QUESTIONS = [
    ValueCheck(
        "second_patch_of_a_small_image",
        "the four numbers of patch 1, as a list",
        lambda: patchify(_SMALL, 2)[0, 1],
        [
            Slip(
                [4, 5, 6, 7],
                "those four are next to one another in a line, not in a square",
            ),
            Slip(
                [12, 13, 18, 19],
                "that is the patch below patch 0; patch 1 is the one to its right",
            ),
            Slip([0, 1, 6, 7], "that is patch 0; counting starts there"),
            Slip([2, 8, 3, 9], "a patch is flattened row by row, not column by column"),
            Slip([[2, 3], [8, 9]], "the patch is right; lay it out as one row of four"),
            Slip([4, 5, 10, 11], "that is patch 2; the patches are counted from 0"),
            Slip([1, 2, 7, 8], "patches do not overlap: each begins where one ended"),
            Slip([3, 4, 9, 10], "patch 0 takes two columns, 0 and 1"),
            Slip(
                [2, 3, 6, 7],
                "the row below begins 6 numbers later: the image is 6 wide, not 4",
            ),
        ],
        hints=(
            "Write the 24 numbers down in 4 rows of 6 and draw the squares of 2×2.",
            "Patch 1 is in the top row, in columns 2 and 3.",
            "Its first row is 2, 3; one row of the image further down it goes on.",
        ),
    ),
    ValueCheck(
        "shape_of_small_patches",
        "the shape of patchify(images, 7), for images of shape (5, 1, 28, 42)",
        lambda: tuple(patchify(torch.empty(5, 1, 28, 42), 7).shape),
        [
            Slip((5, 49, 24), "the two last numbers are exchanged: (B, N, C·P·P)"),
            Slip((5, 24, 147), "these images have one channel, not three"),
            Slip((5, 16, 49), "28 and 42 are different sides"),
            Slip((5, 25, 49), "the class token is not there yet"),
            Slip((24, 49), "the batch is missing"),
            Slip((120, 49), "the batch keeps its own axis"),
            Slip((5, 24, 7), "a patch has 7 rows of 7 pixels"),
            Slip((5, 24, 14), "a patch has 7 rows of 7 pixels: multiply the two"),
            Slip((5, 10, 49), "rows and columns of patches are multiplied, not added"),
            Slip((5, 4, 6, 49), "rows and columns of patches are one axis, N"),
            Slip((5, 24, 7, 7), "a patch is laid out as one row of numbers"),
            Slip((5, 24, 1, 7, 7), "a patch is laid out as one row of numbers"),
        ],
        hints=(
            "B stays. How many rows and columns of patches, and how long is a patch?",
            "4 rows of 6 patches; each has 1·7·7 numbers.",
            "(5, 4·6, 7·7).",
        ),
    ),
    ValueCheck(
        "patch_embedding_macs",
        "the multiply-accumulates of the patch embedding of ViT-B/16 for one image",
        _embedding_macs,
        [
            Slip(768 * 768, "that is one patch; the image has 196"),
            Slip(768 * 769, "those are the parameters; every patch goes through them"),
            Slip(196 * 768, "that is for one output of each patch; there are D"),
            Slip(2 * 196 * 768 * 768, "those are FLOPs; a MAC is two of them"),
            Slip(197 * 768 * 768, "the class token does not come from a patch"),
            Slip(196 * 768 * 768 + 768, "the bias is added, not multiplied"),
            Slip(196 * 256 * 768, "a patch has three channels"),
            Slip(196 * 769 * 768, "the bias is added, not multiplied"),
        ],
        hints=(
            "How many numbers go into one patch's sum, and how many sums are there?",
            "C·P·P products for each of D outputs, for each of N patches.",
            "196 × 768 × 768.",
        ),
    ),
    ValueCheck(
        "macs_of_larger_patches",
        "the factor by which they change when P goes from 16 to 32",
        lambda: _embedding_macs(patch_size=32) / _embedding_macs(),
        [
            Slip(0, "a factor of 0 would leave nothing; divide the new by the old"),
            Slip(4, "a patch has four times the numbers, and how many are there?"),
            Slip(1 / 4, "there are a quarter of the patches, and how long is each?"),
            Slip(2, "both the patches and their numbers change with P²"),
            Slip(1 / 2, "both the patches and their numbers change with P²"),
            Slip(16, "that would be attention's square, and in the other direction"),
            Slip(1 / 16, "that is attention's square"),
        ],
        hints=(
            "Write N with H, W and P.",
            "N·C·P²·D, with N = H·W / P².",
            "The P² cancels.",
        ),
    ),
    ValueCheck(
        "vectors_touched_by_one_patch",
        "how many of the 196 vectors may change when one patch is painted over",
        _vectors_touched,
        [
            Slip(196, "that would be all; a vector is made from one patch alone"),
            Slip(768, "that is the numbers of a patch; vectors are asked for"),
            Slip(0, "the vector of that patch itself should change"),
            Slip(9, "neighbours do not change: the windows do not overlap"),
            Slip(100, "that is what the faulty one does"),
        ],
        hints=(
            "From which pixels is a vector made?",
            "Each vector is one matrix times one patch.",
            "The painted patch's own, and no other.",
        ),
    ),
    ValueCheck(
        "faulty_line_of_the_embedding",
        "the letter of the faulty line",
        lambda: "d",
        [
            Slip("a", "a is right: window and stride are both P"),
            Slip("b", "b is right: it is the convolution, (B, D, rows, columns)"),
            Slip("c", "c is right: it counts the cells of the grid"),
        ],
        hints=(
            "Write down the shape after each line, and say what each axis holds.",
            "Which line puts D where N was, without moving anything?",
            "A reshape never swaps two axes.",
        ),
    ),
    ValueCheck(
        "spreads_at_the_start",
        "a dictionary of three spreads",
        None,
        [],
        hints=(
            "The spread of an output is output.std().item().",
            "Make the three layers with P = 16 and D = 100, give each the same images, "
            "and take the standard deviation of all its numbers.",
            "For the first: conv.weight.normal_(std=1.0) within torch.no_grad().",
        ),
        accept=_spreads,
    ),
    ValueCheck(
        "what_sets_the_spread",
        "one of the letters a, b, c and d, for what the spread is in proportion to",
        lambda: "c",
        [
            Slip(
                "a", "D says how many outputs there are, not how widely one is spread"
            ),
            Slip("b", "that would be so if all products had the same sign"),
            Slip("d", "each output is a sum over one patch; the others do not enter"),
        ],
        hints=(
            "An output is a sum of C·P·P products. What is the spread of a sum of n "
            "independent terms of spread 1?",
            "Compare the first spread you measured with 3·16·16 and with its root.",
            "√768 is 27.7.",
        ),
    ),
]
