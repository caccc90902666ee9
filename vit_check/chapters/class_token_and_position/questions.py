import math
from typing import Any

import torch
from torch import Tensor

from vit_steps.cost import token_count

BANNER, PATCH, BATCH, D = (96, 160), 16, 10, 48
N = token_count(BANNER, PATCH)
SEATS = 8  # images in each batch that the faulty positions are trained with
SPEEDS = torch.tensor([1.0, 0.01], dtype=torch.float64)


def turned(angles: Tensor, order: tuple[int, ...] = (0, 1, 2, 3)) -> Tensor:
    blocks = []
    for angle in angles.tolist():
        c, s = math.cos(angle), math.sin(angle)
        blocks.append(torch.tensor([[c, s], [-s, c]], dtype=torch.float64))
    return torch.block_diag(*blocks)[list(order)][:, list(order)]


def near(given: Any, matrix: Tensor) -> bool:
    return torch.allclose(torch.tensor(given).double(), matrix, atol=1e-4)


def no_matrix(given: Any) -> str | None:
    try:
        matrix = torch.tensor(given, dtype=torch.float64)
    except (TypeError, ValueError, RuntimeError):
        return "is no matrix: expected four rows of four numbers"
    right = tuple(matrix.shape) == (4, 4)
    return None if right else f"has shape {tuple(matrix.shape)}, expected (4, 4)"


ANGLES = torch.arange(40).double()[:, None] * SPEEDS  # (40, 2), of both clocks
CLOCKS = torch.stack([ANGLES.sin(), ANGLES.cos()], dim=2).flatten(1)  # (40, 4)


def misses(given: Any, before: Tensor, after: Tensor) -> bool:
    """Return whether a matrix takes clocks elsewhere than where they are due."""
    moved = before @ torch.tensor(given).double().T
    return not torch.allclose(moved, after, atol=1e-4)


QUESTIONS = """
banner_tokens_shape: the shape of the tokens of 10 images of 96×160, patches of 16, D =
    48
  = (BATCH, 1 + N, D)
  (BATCH, N, D): the class token is a token too
  (BATCH, 2 + N, D): one class token an image, no more
  (1 + N, BATCH, D): the batch comes first
  (BATCH, D, 1 + N): the tokens come before their numbers
  (BATCH, 1 + N, 2 * D): positions are added to the tokens, which stay as long
  (1, 1 + N, D): that is the shape of the positions, without a batch
  (BATCH, 1 + 96 * 160 // 16, D): a patch is 16 pixels high and 16 wide
  ? How many patches lie down the image, how many across?
  ? 6 rows of 10 patches, and one token more.
  ? (B, T, D) with B = 10, T = 6·10 + 1, D = 48.
banner_parameters: how many numbers are learned in class token and positions together
  = D + (1 + N) * D
  (1 + N) * D: one vector is missing: class token and its position have D numbers each
  N * D: neither the class token nor its position is counted
  BATCH * D + (1 + N) * D: the images of a batch share one class token
  BATCH * (D + (1 + N) * D): the images of a batch share class token and positions
  2 + N: each of these vectors has D numbers
  D + (1 + N) * D + (3 * PATCH**2 + 1) * D: the patch embedding is counted too; only
    class token and positions are asked for
  ? Write down the shapes of the two parameters.
  ? (1, 1, D) and (1, T, D).
  ? 48 + 61·48.
class_token_gradients: each number of the class token's gradient, for sum and for mean
  = (BATCH, 1)
  (1, 1): there is one class token for all ten images, and the pulls add up
  (BATCH, BATCH): a mean over the batch divides each pull by B
  (1, BATCH): the two are the wrong way round
  (1, 1 / BATCH): each is what one image pulls; all of them pull
  (BATCH * D, D): that is the sum of the gradient's D numbers; one of them is asked for
  (BATCH * (1 + N), 1 + N): the class token is one of an image's T tokens, not all
  ? If one number of the class token grows by 1, which of the tokens' numbers grow?
  ? One in each image, by 1.
  ? The sum grows by B; the mean over the batch is the sum divided by B.
row_that_is_added: the row that the faulty code adds to token 5 of image 1
  = 1
  5: that is the row it should be; see what x.size(0) counts
  6: no token is counted here; see what x.size(0) counts
  0: row 0 goes to image 0
  13: rows are not counted on from image to image
  ? What are the shapes of x and of self.positions[: x.size(0)]?
  ? (B, T, D) + (B, 1, D): which axis is matched with which?
  ? The first axis is the image's place in the batch.
rows_that_learn: how many rows of the positions get a gradient in batches of 8
  = SEATS
  17: that is all of them; see how many are added to anything
  16: see how many of them are added to anything at all
  1: one row for each image of the batch, not one in all
  0: some are added to tokens, and so they learn
  ? Which rows does the slice take?
  ? x.size(0) is 8 now.
  ? Rows 0 to 7; the others are never added to anything.
three_steps_on: a 4×4 matrix that takes every position p to position p + 3
  accept no_matrix
  if near(given, turned(-3 * SPEEDS)): turns the clocks back by three: see which of sine
    and cosine comes first, and which of the two sines in a block has the minus
  if near(given, turned(SPEEDS)): turns the clocks on by one step, expected three
  if near(given, turned(torch.tensor([3.0, 0.01]))): turns the first clock on by three
    steps and the second by one
  if near(given, turned(torch.tensor([3.0, 3.0]))): turns both clocks alike; the second
    is a hundred times slower
  if near(given, turned(3 * SPEEDS, (0, 2, 1, 3))): takes both sines to come before both
    cosines; here they take turns
  if near(given, torch.eye(4).double()): leaves every position where it is
  if misses(given, CLOCKS[:-3], CLOCKS[3:]) and not misses(given, CLOCKS[0], CLOCKS[3]):
    takes position 0 to 3, and others elsewhere: it is to serve them all
  if misses(given, CLOCKS[:-3], CLOCKS[3:]): does not take position p to position p + 3:
    try it on p = 0, then on p = 1
  ? Each clock has a block of its own, 2×2; between clocks there are zeros.
  ? sin(a + b) = sin a cos b + cos a sin b, and cos(a + b) = cos a cos b - sin a sin b.
    The angle b is 3 for the first clock.
  ? A block is [[cos b, sin b], [-sin b, cos b]] with b = 3, then b = 0.03.
slowest_clock: the steps in which the slowest clock of the two-dimensional code for D =
    768 goes round once
  = 2 * math.pi * 10000 ** (191 / 192)
  rounding 1e-3
  2 * math.pi * 10000: that limit is not reached: the last exponent is below 1
  2 * math.pi * 10000 ** (383 / 384): so it is in one dimension, with D/2 clocks; here
    there are D/4 for the row
  10000 ** (191 / 192): so far it has turned by 1 radian, no more
  2 * math.pi * 10000 ** (191 / 384): the exponent runs from 0 to 1 over the D/4 clocks
  360 * 10000 ** (191 / 192): the angle is in radians, of which a whole turn has 2π
  ? How many clocks does the row have? Number them from 0.
  ? D/4 = 192 clocks; clock i turns by 10000 to the power -i/192 a step.
  ? 2π divided by what clock 191 turns in one step.
positions_for_larger_images: four shares of images that are classified rightly
  accept numbers("as trained", "interpolated", "along the line", "none", low=0, high=1)
  if given["as trained"] < 0.8: has too low a share for images as the model was trained
    on: are they left at 28×28, and the positions as they are?
  if given["interpolated"] > given["as trained"]: has the larger images do better than
    those the model was trained on
  if given["interpolated"] < 0.6: has too low a share for interpolated positions: are
    images and positions both resized, the positions as a grid?
  if given["along the line"] > 0.6: has too high a share under 'along the line': do the
    positions of that model come from where they should?
  if given["none"] > 0.6: has too high a share under 'none': do the positions of that
    model come from where they should?
  ? Call accuracy four times, once with the images of 28×28.
  ? model_with(positions, 40) is the model for 10×10 patches.
  ? For interpolated: accuracy(model_with(interpolate_position_embedding(trained, 10),
    40), larger).
left_edge_reads_from: the old (row, column) whose position new patch (5, 0) gets
  = divmod(round((50 + 0.5) * 49 / 100 - 0.5), 7)
  (3, 0): that would be right for a picture; along the line it comes elsewhere
  (5, 0): that is its place in the new grid
  (7, 0): the line is shrunk: place 50 of 100 is in the middle of 49
  (2, 4): the grid that was trained has 7 columns, not 10
  (3, 4): that is one place too far: half a place is taken away at the end, and the
    result is rounded to the nearest
  ? Which number does new patch (5, 0) have, reading row by row?
  ? New place i of 100 has its middle at (i + 0.5)·49/100 - 0.5 of the old line.
  ? 24.2, so old number 24, in rows of 7.
"""
