import math

import torch
from torch.nn import functional as F

from tests.checks.answers import right, wrong


@right("softmax")
def pytorchs(scores):
    return F.softmax(scores, dim=-1)


@right("softmax")
def largest_taken_off(scores):
    exps = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return exps / exps.sum(dim=-1, keepdim=True)


@wrong("softmax", "one for all rows")
def one_largest_for_all(scores):
    exps = (scores - scores.max()).exp()
    return exps / exps.sum(-1, keepdim=True)


@right("softmax")
def through_the_logarithm(scores):
    return (scores - torch.logsumexp(scores, dim=-1, keepdim=True)).exp()


@right("softmax")
def row_by_row(scores):
    rows = []
    for row in scores.reshape(-1, scores.shape[-1]):
        exps = (row - row.max().detach()).exp()
        rows.append(exps / exps.sum())
    return torch.stack(rows).reshape(scores.shape)


@wrong("softmax", "overflow")
def as_the_formula_says(scores):
    return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)


@wrong("softmax", "NaN covered")
def nan_to_zero(scores):
    exps = scores.exp()
    return torch.nan_to_num(exps / exps.sum(dim=-1, keepdim=True))


@wrong("softmax", "mean subtracted")
def centred(scores):
    exps = torch.exp(scores - scores.mean(-1, keepdim=True))
    return exps / exps.sum(-1, keepdim=True)


@wrong("softmax", "mean subtracted")
def smallest_taken_off(scores):
    exps = torch.exp(scores - scores.min(dim=-1, keepdim=True).values)
    return exps / exps.sum(-1, keepdim=True)


@wrong("softmax", "size subtracted")
def absolute_largest(scores):
    exps = torch.exp(scores - scores.abs().max(dim=-1, keepdim=True)[0])
    return exps / exps.sum(-1, keepdim=True)


@wrong("softmax", "over the first axis")
def axis_0(scores):
    return torch.softmax(scores, 0)


@wrong("softmax", "over the axis before the last")
def axis_minus_2(scores):
    exps = (scores - scores.amax(-2, keepdim=True)).exp()
    return exps / exps.sum(-2, keepdim=True)


@wrong("softmax", "over everything")
def flat(scores):
    return scores.flatten().softmax(0).reshape(scores.shape)


@wrong("softmax", "keepdim missing")
def without_keepdim(scores):
    exps = torch.exp(scores)
    return exps / exps.sum(dim=-1)


@wrong("softmax", "keepdim missing twice")
def largest_without_keepdim(scores):
    exps = (scores - scores.max(dim=-1).values).exp()
    return exps / exps.sum(dim=-1)


@wrong("softmax", "keepdim missing at the largest")
def largest_along_the_columns(scores):
    exps = (scores - scores.max(dim=-1).values).exp()
    return exps / exps.sum(dim=-1, keepdim=True)


@wrong("softmax", "one sum for all rows")
def sum_of_everything(scores):
    exps = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return exps / exps.sum()


@wrong("softmax", "divided by the largest score")
def scaled_to_one(scores):
    exps = (scores / scores.amax(dim=-1, keepdim=True)).exp()
    return exps / exps.sum(dim=-1, keepdim=True)


@wrong("softmax", "not normalised")
def exponentials(scores):
    return math.e**scores


@wrong("softmax", "divided by the largest")
def forgets_the_sum(scores):
    return torch.exp(scores - scores.amax(dim=-1, keepdim=True))


@wrong("softmax", "no exponential")
def shares_of_the_scores(scores):
    return scores / scores.sum(-1, keepdim=True)


@wrong("softmax", "largest of each column")
def wrong_largest(scores):
    exps = torch.exp(scores - scores.max(dim=-2, keepdim=True)[0])
    return exps / exps.sum(dim=-1, keepdim=True)


@wrong("softmax", "logarithm")
def log_weights(scores):
    return F.log_softmax(scores, dim=-1)


@wrong("softmax", "sigmoid")
def each_for_itself(scores):
    return 1 / (1 + torch.exp(-scores))


@wrong("softmax", "changes its input")
def in_place(scores):
    scores -= scores.max(dim=-1, keepdim=True).values
    return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)


@wrong("softmax", "dtype")
def always_double(scores):
    return scores.double().softmax(dim=-1)


@wrong("softmax", "no gradient")
def by_numpy(scores):
    exps = torch.from_numpy(scores.detach().numpy())
    return exps.softmax(-1)


@wrong("softmax", "one for all rows, covered")
def adds_a_little_to_the_sum(scores):
    exps = torch.exp(scores - scores.max())
    return exps / (exps.sum(dim=-1, keepdim=True) + 1e-9)


@wrong("softmax", "values")
def clamps_what_is_large(scores):
    exps = scores.clamp(max=80).exp()
    return exps / exps.sum(dim=-1, keepdim=True)


@wrong("softmax", "sum over axis 1")
def sums_over_axis_one(scores):
    exps = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return exps / exps.sum(dim=min(1, scores.ndim - 1), keepdim=True)


@right("softmax")
def by_logsumexp(scores):
    return torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))


@right("softmax")
def with_the_largest_detached(x):
    e_x = torch.exp(x - torch.max(x, dim=-1, keepdim=True)[0].detach())
    return e_x / torch.einsum("...k->...", e_x)[..., None]


@wrong("softmax", "size subtracted")
def largest_cut_off_at_0(scores):
    exps = (scores - scores.amax(dim=-1, keepdim=True).clamp(min=0)).exp()
    return exps / exps.sum(dim=-1, keepdim=True)
