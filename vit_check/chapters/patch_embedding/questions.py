from typing import Any

import torch

from vit_steps import ViTConfig, model_cost
from vit_steps.patch_embedding import PatchEmbedding, patchify

SMALL = torch.arange(24).reshape(1, 1, 4, 6)  # (B, C, H, W)


def embedding_macs(**sizes: Any) -> int:
    steps = model_cost(ViTConfig(**sizes)).steps
    return next(step.macs for step in steps if step.name == "patch_embed.proj")


def vectors_touched() -> int:
    images = torch.zeros(2, 3, 224, 224)
    images[1, :, 80:96, 80:96] = 1.0
    first, second = PatchEmbedding(
        image_size=224, patch_size=16, in_channels=3, embed_dim=5
    )(images)
    return int((first != second).any(dim=1).sum())


QUESTIONS = """
second_patch_of_a_small_image: the four numbers of patch 1, as a list
  = patchify(SMALL, 2)[0, 1]
  [4, 5, 6, 7]: those four are next to one another in a line, not in a square
  [12, 13, 18, 19]: that is the patch below patch 0; patch 1 is the one to its right
  [0, 1, 6, 7]: that is patch 0; counting starts there
  [2, 8, 3, 9]: a patch is flattened row by row, not column by column
  [[2, 3], [8, 9]]: the patch is right; lay it out as one row of four
  [4, 5, 10, 11]: that is patch 2; the patches are counted from 0
  [1, 2, 7, 8]: patches do not overlap: each begins where one ended
  [3, 4, 9, 10]: patch 0 takes two columns, 0 and 1
  [2, 3, 6, 7]: the row below begins 6 numbers later: the image is 6 wide, not 4
  ? Write the 24 numbers down in 4 rows of 6 and draw the squares of 2×2.
  ? Patch 1 is in the top row, in columns 2 and 3.
  ? Its first row is 2, 3; one row of the image further down it goes on.
shape_of_small_patches: the shape of patchify(images, 7), for images of shape (5, 1, 28,
    42)
  = tuple(patchify(torch.empty(5, 1, 28, 42), 7).shape)
  (5, 49, 24): the two last numbers are exchanged: (B, N, C·P·P)
  (5, 24, 147): these images have one channel, not three
  (5, 16, 49): 28 and 42 are different sides
  (5, 25, 49): the class token is not there yet
  (24, 49): the batch is missing
  (120, 49): the batch keeps its own axis
  (5, 24, 7): a patch has 7 rows of 7 pixels
  (5, 24, 14): a patch has 7 rows of 7 pixels: multiply the two
  (5, 10, 49): rows and columns of patches are multiplied, not added
  (5, 4, 6, 49): rows and columns of patches are one axis, N
  (5, 24, 7, 7) or (5, 24, 1, 7, 7): a patch is laid out as one row of numbers
  ? B stays. How many rows and columns of patches, and how long is a patch?
  ? 4 rows of 6 patches; each has 1·7·7 numbers.
  ? (5, 4·6, 7·7).
patch_embedding_macs: multiply-accumulates of ViT-B/16's patch embedding for an image
  = embedding_macs()
  768 * 768: that is one patch; the image has 196
  768 * 769: those are the parameters; every patch goes through them
  196 * 768: that is for one output of each patch; there are D
  2 * 196 * 768 * 768: those are FLOPs; a MAC is two of them
  197 * 768 * 768: the class token does not come from a patch
  196 * 768 * 768 + 768 or 196 * 769 * 768: the bias is added, not multiplied
  196 * 256 * 768: a patch has three channels
  ? How many numbers go into one patch's sum, and how many sums are there?
  ? C·P·P products for each of D outputs, for each of N patches.
  ? 196 × 768 × 768.
macs_of_larger_patches: the factor by which they change when P goes from 16 to 32
  = embedding_macs(patch_size=32) / embedding_macs()
  0: a factor of 0 would leave nothing; divide the new by the old
  4: a patch has four times the numbers, and how many are there?
  1 / 4: there are a quarter of the patches, and how long is each?
  2 or 1 / 2: both the patches and their numbers change with P²
  16: that would be attention's square, and in the other direction
  1 / 16: that is attention's square
  ? Write N with H, W and P.
  ? N·C·P²·D, with N = H·W / P².
  ? The P² cancels.
vectors_touched_by_one_patch: how many of the 196 vectors may change with one patch
  = vectors_touched()
  196: that would be all; a vector is made from one patch alone
  768: that is the numbers of a patch; vectors are asked for
  0: the vector of that patch itself should change
  9: neighbours do not change: the windows do not overlap
  100: that is what the faulty one does
  ? From which pixels is a vector made?
  ? Each vector is one matrix times one patch.
  ? The painted patch's own, and no other.
faulty_line_of_the_embedding: the letter of the faulty line
  = "d"
  "a": a is right: window and stride are both P
  "b": b is right: it is the convolution, (B, D, rows, columns)
  "c": c is right: it counts the cells of the grid
  ? Write down the shape after each line, and say what each axis holds.
  ? Which line puts D where N was, without moving anything?
  ? A reshape never swaps two axes.
spreads_at_the_start: a dictionary of three spreads
  accept numbers("randn", "pytorch", "package")
  if not min(given.values()) > 0: has a spread that is not positive
  if abs(given["randn"] - 1) < 0.1: has the spread of the weight itself for "randn"; the
    spread of what comes out of the layer is asked for
  if 0.3 < given["randn"] < 0.9: has for "randn" about what nn.Conv2d gives as PyTorch
    starts it: draw its weight anew, with a spread of 1
  if not 0.6 < given["randn"] / (3 * 16 * 16) ** 0.5 < 1.7: has a different spread for
    "randn" than weights of spread 1 give at P = 16: have the images mean 0 and spread
    1, and is it the output's standard deviation and not its variance?
  if not 0.6 < given["package"] < 1.7: has a different spread for "package" than
    PatchEmbedding gives at P = 16
  if not 0.3 < given["pytorch"] < 0.9: has a different spread for "pytorch" than
    nn.Conv2d gives at P = 16
  ? The spread of an output is output.std().item().
  ? Make the three layers with P = 16 and D = 100, give each the same images, and take
    the standard deviation of all its numbers.
  ? For the first: conv.weight.normal_(std=1.0) within torch.no_grad().
what_sets_the_spread: a, b, c or d, for what the spread is in proportion to
  = "c"
  "a": D says how many outputs there are, not how widely one is spread
  "b": that would be so if all products had the same sign
  "d": each output is a sum over one patch; the others do not enter
  ? An output is a sum of C·P·P products. How does a sum's spread grow?
  ? Compare the first spread you measured with 3·16·16 and with its root.
  ? √768 is 27.7.
"""
