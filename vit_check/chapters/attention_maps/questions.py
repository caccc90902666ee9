import math

import torch

from vit_steps.attention_maps import attention_rollout, class_token_to_patches
from vit_steps.sizes import patch_grid

BLOCKS = ("block 0", "block 1", "block 2", "block 3")


def patches() -> int:
    return math.prod(patch_grid((48, 32), 8))


def rollout() -> torch.Tensor:
    first = [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.0, 0.0, 1.0]]
    second = [[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]]
    tables = [
        torch.tensor(table, dtype=torch.float64)[None, None]
        for table in (first, second)
    ]  # (1, 1, T, T)
    return attention_rollout(tables)[0]  # (T, T)


QUESTIONS = """
shape_of_a_table: four numbers, the shape of one block's table of weights
  = (5, 3, patches() + 1, patches() + 1)
  (5, 3, 24, 24): leaves the class token out; it looks and is looked at like any other
  (5, 6, 3, 25, 25): has all blocks in it; each has a table of its own
  (3, 5, 25, 25): has the heads before the batch
  (5, 6, 25, 25): has the blocks where the heads should be
  (5, 3, 25, 24): leaves the class token out of the columns
  (5, 3, 24, 25): leaves the class token out of the rows
  ? How many patches has an image, and how many tokens?
  ? A table is (B, h, T, T).
  ? N is 6 · 4, and T is one more.
shape_of_the_maps: four numbers, the shape of the class token's maps in all blocks
  = (5, 6, 3, patches())
  (5, 6, 3, 25): keeps the class token, which has no place in a map
  (6, 5, 3, 24): has the blocks before the batch
  (5, 3, 6, 24): has the heads before the blocks
  (5, 6, 24): has lost the heads; a map of each is kept
  (5, 6, 3, 24, 24): has a map for every patch; the class token alone has one
  (5, 3, 24): has lost the blocks
  ? One map for each image, each block and each head; how long is it?
  ? The maps are (B, L, h, N).
  ? N is 6 · 4.
place_of_a_pixel: the index of its patch in a row that begins with the class token
  = 1 + 20 // 8 * patch_grid((48, 32), 8)[1] + 30 // 8
  11: is its number among the patches; the class token comes before
  16: counts as many columns as there are rows
  15: takes row for column; the pixel's row is 20
  14: takes row for column, and forgets the class token
  20 * 32 + 30: counts pixels; the row of a table counts tokens
  ? In which row and column of patches is the pixel?
  ? Row 20 // 8 and column 30 // 8, in a grid of 4 columns.
  ? 1 + 2 · 4 + 3.
rollout_of_two_blocks: three shares that add up to 1: of tokens 0, 1 and 2
  = rollout()[0]
  rounding 2e-3
  [0.4375, 0.5, 0.0625]: has the blocks in the wrong order: the second takes what the
    first has mixed
  [0.0, 0.5, 0.5]: follows the attention alone: half of each stays
  [0.5, 0.5, 0.0]: is what the second block passes on, by itself
  [0.75, 0.25, 0.0]: is what the first block passes on, by itself
  [0.0, 1.0, 0.0]: is the second block's table, by itself
  [0.5, 0.25, 0.25]: mixes the identity in once, expected in each block
  [0.625, 0.375, 0.0]: averages the blocks, expected one after another
  [1.5, 2.0, 0.5]: adds the identity without halving: sum 4
  ? What does each block pass on, when half of each token stays?
  ? Row 0 of the second block says which rows of the first to mix.
  ? Half of (3/4, 1/4, 0) and half of (0, 3/4, 1/4).
map_of_the_rollout: two shares that add up to 1: of patches 1 and 2
  = class_token_to_patches(rollout())
  rounding 2e-3
  [0.5, 0.125]: does not add up to 1: divide by what is left
  [1.0, 0.0]: is the map of the last block
  [0.5, 0.5]: is the map of the attention alone: half of each stays
  [0.8888889, 0.1111111]: comes from the blocks in the wrong order
  [0.2, 0.8]: has the patches exchanged
  ? Leave the class token's own share out of the three.
  ? Divide the two that are left by their sum.
  ? 1/2 and 1/8, divided by 5/8.
part_of_the_distance: the faulty distance divided by the right one, on the square grid
  = 16 / 17
  rounding 2e-3
  17 / 16: is the other way round: the faulty one is too small
  1 / 17: is what is lost, expected what is left
  15 / 16: leaves a patch itself out; it is the class token that is gone
  16 / 15: is more than 1; the faulty distance is too small
  1.0: would mean that nothing is lost
  ? How many shares has a row, and how many are left in the faulty function?
  ? All 17 are equal, and the one for the class token is left out.
  ? 16 / 17.
shares_inside_by_block: a dict of five shares inside the box, from 0 to 1
  accept numbers(*BLOCKS, "all blocks", low=0, high=1)
  if max(given.values()) < 0.5: is too small throughout: do the maps, the boxes and the
    images belong together, and are the sizes height, width and 4?
  if abs(sum(given[b] for b in BLOCKS) / 4 - given["all blocks"]) > 0.02: does not fit
    together: the map of all blocks is the mean of the four, and so is its share inside
  if sorted(BLOCKS, key=given.get)[::3] != ["block 0", "block 2"]: has the blocks in
    another order than they come out
  ? mass_inside gives a number for each image; take the mean of them.
  ? The size of the images is (32, 32), of a patch 4.
  ? {n: mass_inside(one, boxes, (32, 32), 4).mean().item() for n, one in maps.items()}.
accuracies_with_8_covered: a dict of six accuracies, from 0 to 1
  accept numbers(*BLOCKS, "all blocks", "random", low=0, high=1)
  if given["random"] < 0.75: has too few right answers with random patches covered: are
    there eight of them, in every image another choice, and covered with 0?
  if sorted(given.values())[-2] > given["random"] - 0.2: has too many right answers
    without the attended patches: are they those with the largest shares, eight of them?
  if given["all blocks"] > 0.3 or min(given.values()) < 0.05: is not what eight covered
    patches leave: are the images normalised, and are they covered anew for every map?
  if given["all blocks"] != min(given.values()): has the maps in another order
  ? Sort each map, take the first eight, cover them, ask the model.
  ? argsort(dim=1, descending=True)[:, :8] of each map, and of random numbers.
  ? The mean of trained(mask_patches(inputs, 4, hidden)).argmax(dim=1) == labels.
map_that_scores_best: the name of the map with the largest share inside
  = "block 2"
  "all blocks": is a mean of four, and a mean is not above them all
  "block 0": has the smallest of the five
  "block 1": is close, and second
  "block 3": is below the two before it
  "random": is no map of the model's
  ? Look at your dict inside.
  ? max(inside, key=inside.get).
  ? It is one of the two blocks in the middle.
map_that_costs_most: the name of the map whose eight patches cost most accuracy
  = "all blocks"
  "random": costs least: nearly all answers stay right
  "block 0": costs least of the model's maps
  "block 1" or "block 3": is not the one: look for the smallest accuracy
  "block 2": costs most of the single blocks; there is one map more
  ? Look at your dict accuracy_left.
  ? min(accuracy_left, key=accuracy_left.get).
  ? It is not a single block.
"""
