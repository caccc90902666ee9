import math

import torch

from vit_steps.variants import SwinConfig, hard_distillation_loss
from vit_steps.variants.swin import relative_position_index

LARGER = SwinConfig(image_size=384, window_size=12)
SIDE = LARGER.grid_size(0)[0]  # of the first stage's map, in tokens
WINDOW = LARGER.window_size


def windows(stage: int) -> int:
    return (SIDE // 2**stage // WINDOW) ** 2


# The logits of an answer that gives label and teacher half each.
HALVES = torch.tensor([[0.0, 0.0, -math.inf]], dtype=torch.float64)

QUESTIONS = """
swin_384_windows_in_first_stage: the number of windows of one image in the first stage
  = windows(0)
  SIDE // WINDOW: that is the windows along one side; a map has two
  SIDE**2: that is the tokens; a window holds 12 × 12 of them
  WINDOW**2: that is the tokens in one window
  (384 // WINDOW) ** 2: a window is 12 tokens wide, and a token 4 pixels
  ? How many tokens of 4 × 4 pixels lie along a side of 384 pixels?
  ? Windows along a side: those tokens divided by 12. Then the square.
  ? (384 // 4 // 12) ** 2.
swin_384_windows_in_last_stage: the number of windows of one image in the last stage
  = windows(3)
  windows(0): that is how many the first stage has; the map halves three times, and the
    window stays 12 tokens wide
  WINDOW**2: that is the tokens in one window
  0: the map is not smaller than a window
  ? How many tokens lie along a side after three halvings?
  ? 384 pixels in tokens of 32 × 32 pixels. Compare with the window.
  ? (384 // 32 // 12) ** 2.
swin_384_bias_rows: the number of rows of the relative position bias table
  = int(relative_position_index(WINDOW).max()) + 1
  WINDOW**2: that is the tokens of a window; differences are counted
  WINDOW**4: that is the pairs of tokens; many have one difference
  (2 * WINDOW) ** 2: a difference of rows runs from -11 to 11, which is one value less
  2 * WINDOW - 1: that is the differences along one axis; rows and columns both count
  (2 * 7 - 1) ** 2: that is for windows of 7; these are 12 tokens wide
  ? Which differences of rows occur between two tokens of a window of 12?
  ? From -11 to 11, and as many for columns.
  ? (2 * 12 - 1) ** 2.
swin_384_times_fewer_pairs: how many times fewer pairs there are than without windows
  = SIDE**4 // (SIDE**2 * WINDOW**2)
  SIDE // WINDOW: that is along one side; a window is cut from both sides
  windows(0) ** 2: one window has so many fewer pairs, but there are many windows
  WINDOW**2: that is how many tokens each is compared with
  ? With how many tokens is one compared, in a window and without windows?
  ? N without windows, w² in one. Divide.
  ? (384 // 4) ** 2 // 12 ** 2.
line_of_the_index_bug: the line that is wrong, "a", "b", "c" or "d"
  = "d"
  "a": line a is right: token 0 is row 0, column 0, token 1 is column 1
  "b": line b is right: query minus key, shifted so that it begins at 0
  "c": line c is right: query minus key, shifted so that it begins at 0
  ? Print down and across for a window of 2: from where to where do they run?
  ? Each of them is as it should be. Two of them become one number.
  ? Look for two different pairs (down, across) that give the same number.
least_hard_loss_with_two_tokens: the smallest hard loss that two tokens can reach
  = 0.0
  math.log(2): each of the two heads has shares of its own, and both may be sure
  1.0: what is -ln of a share of 1?
  ? May p(y) and q(t) both be 1?
  ? They are shares of two different softmaxes, so one does not take from the other.
  ? -ln 1, twice, halved.
least_hard_loss_with_one_token: the smallest hard loss that one token can reach
  = hard_distillation_loss((HALVES, HALVES), torch.tensor([0]),
    torch.tensor([[0.0, 1.0, 0.0]])).item()
  rounding 6e-3
  0.0: p(y) and p(t) are shares of one softmax: they cannot both be 1
  2 * math.log(2): that is the sum of both parts; the loss has half of it
  math.log(2) / 2: both parts count, and each is halved once
  0.5: that is the best share; the loss is minus its logarithm
  -math.log(2): a loss of this kind is not negative: mind the sign
  1.0: that takes logarithms to the base 2; here they are natural ones
  ? Which shares should label and teacher's choice get, if they must sum to 1?
  ? The product a·(1 - a) should be as large as possible.
  ? (-math.log(0.5) - math.log(0.5)) / 2.
heads_as_labels_get_worse: a dictionary with three accuracies for each head
  accept numbers("class", "teacher", "mean", each=3, low=0, high=1)
  if given["class"][2] > given["class"][0] - 0.1: has a class token that is about as
    good with careless labels as with true ones: are the students told the careless
    labels, in the order of the shares?
  if min(given["teacher"][2], given["mean"][2]) < given["class"][2] + 0.1: has nothing
    that is much better than the class token with the worst labels: is the teacher
    asked, and is each head measured by itself?
  if min(given["class"][0], *given["teacher"]) < 0.35: has a head with good targets that
    learned next to nothing: 200 steps, each on 64 images, take it much further
  ? Train with distillation_step, then ask two_answers(unseen) in eval mode.
  ? A fresh student for each share, and careless(true_labels, share) as labels.
  ? measured['class'].append(accuracy(from_class)), and the same for the other.
why_the_mean_of_two_heads_holds: why the mean holds, "a", "b", "c" or "d"
  = "b"
  "a": a mean does not know who is right
  "c": the blocks are the same, and yet the accuracies are far apart
  "d": the class token's head sees the same digits, and fails on them
  ? How do the logits of a head look if its labels were drawn at random?
  ? Take the softmax of each head and compare the largest shares.
  ? In a sum, ten numbers that are nearly equal change no order.
"""
