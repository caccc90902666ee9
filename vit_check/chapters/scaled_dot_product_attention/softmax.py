from torch import Tensor

from vit_check.engine.functions import checked_by

TABLE = """
softmax(scores) -> weights of the same shape, over the last axis
  1.5 * float32(2, 3, 5) + 3.0
  1.5 * float64(4, 4)
  1.5 * float64(7)
  1.5 * float64(1, 5)
  1.5 * float64(3, 6) + 1000
  1.5 * float64(3, 6) - 2000
  1.5 * float64(2, 5) + torch.tensor([[3000], [-2000]])
  1.5 * float64(3, 5) + torch.tensor([-500, 2500, -500, -500, -500])
one for all rows: scores.amax(dim=-1, keepdim=True) -> scores.max()
    gives NaN for a row far below another: one number is taken off the whole table, and
    each row should lose its own largest score
mean subtracted: amax -> mean
    gives NaN where one score towers over its row: what is taken off is smaller than
    that score, which stays too large for the exponential
overflow: - largest -> nothing
    gives NaN for scores far from 0: an exponential of 1000 is infinite, and those of a
    row around -1000 are all 0; take the row's largest score off first
clamped: scores - largest -> scores.clamp(min=-80, max=80)
    cuts large scores down to one number, so that they can no longer be told apart; take
    the row's largest off, which keeps their differences
sum over axis 1: exps.sum(dim=-1 -> exps.sum(dim=1
    adds up over axis 1, which is the last of two axes; dim=-1 is the last of any
over the first axis: dim=-1 -> dim=0
    adds up over the first axis; the weights are to add up to 1 over the last
over everything: - largest -> nothing
  exps.sum(dim=-1, keepdim=True) -> exps.sum()
    divides by the sum of all exponentials; each row has a sum of its own
sum of the table: exps.sum(dim=-1, keepdim=True) -> exps.sum()
    divides by the sum of all rows' exponentials; each row has a sum of its own
over axis 1: dim=-1 -> dim=1
    runs over axis 1, the last only where there are two; dim=-1 is always the last
keepdim missing: - largest -> nothing
  exps.sum(dim=-1, keepdim=True) -> exps.sum(dim=-1)
    divides column j by the sum of row j: without keepdim=True the sums lie along the
    last axis, and a square table takes them there without a word
not normalised: - largest -> nothing
  / exps.sum(dim=-1, keepdim=True) -> nothing
    the exponentials are not divided by their sum, so that no row adds up to 1
powers of two: .exp() -> .exp2()
    raises 2 to the scores, where it should be e
? Print the sum of each row for a small table, then try scores of 1000.
? Exponentials first, then each divided by the sum of its row, with keepdim. Taking one
  number off all scores of a row changes nothing and keeps the exponentials small.
? exps = (scores - scores.amax(dim=-1, keepdim=True)).exp(), then exps /
  exps.sum(dim=-1, keepdim=True).
"""


@checked_by(TABLE, shape="as the scores", without=["softm", "scaled_dot"])
def softmax(scores: Tensor) -> Tensor:
    largest = scores.amax(dim=-1, keepdim=True)
    exps = (scores - largest).exp()
    return exps / exps.sum(dim=-1, keepdim=True)
