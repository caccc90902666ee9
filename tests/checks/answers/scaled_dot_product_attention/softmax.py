import torch
from torch.nn import functional as F

from tests.checks.answers import right, wrong, wrong_edits


@right("softmax")
def pytorchs(scores):
    return F.softmax(scores, dim=-1)


@right("softmax")
def largest_taken_off(scores):
    exps = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return exps / exps.sum(dim=-1, keepdim=True)


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


@wrong("softmax", "no gradient")
def by_numpy(scores):
    exps = torch.from_numpy(scores.detach().numpy())
    return exps.softmax(-1)


@right("softmax")
def with_the_largest_detached(x):
    e_x = torch.exp(x - torch.max(x, dim=-1, keepdim=True)[0].detach())
    return e_x / torch.einsum("...k->...", e_x)[..., None]


OF_PYTORCHS = """
over everything
  F.softmax(scores, dim=-1) -> scores.flatten().softmax(0).reshape(scores.shape)
logarithm
  F.softmax -> F.log_softmax
sigmoid
  F.softmax(scores, dim=-1) -> 1 / (1 + torch.exp(-scores))
dtype
  F.softmax(scores -> F.softmax(scores.double()
"""

OF_LARGEST = """
one for all rows
  scores.max(dim=-1, keepdim=True).values -> scores.max()
overflow
  - scores.max(dim=-1, keepdim=True).values -> nothing
NaN covered
  - scores.max(dim=-1, keepdim=True).values -> nothing
  exps / exps.sum(dim=-1, keepdim=True)
  -> torch.nan_to_num(exps / exps.sum(dim=-1, keepdim=True))
values
  scores - scores.max(dim=-1, keepdim=True).values -> scores.clamp(max=80)
mean subtracted
  scores.max(dim=-1, keepdim=True).values -> scores.mean(-1, keepdim=True)
mean subtracted
  scores.max -> scores.min
size subtracted
  scores.max -> scores.abs().max
largest of each column
  scores.max(dim=-1 -> scores.max(dim=-2
over the first axis
  dim=-1 -> dim=0
over the axis before the last
  dim=-1 -> dim=-2
sum over axis 1
  exps.sum(dim=-1 -> exps.sum(dim=min(1, scores.ndim - 1)
one sum for all rows
  exps.sum(dim=-1, keepdim=True) -> exps.sum()
keepdim missing
  - scores.max(dim=-1, keepdim=True).values -> nothing
  , keepdim=True -> nothing
keepdim missing at the largest
  scores.max(dim=-1, keepdim=True) -> scores.max(dim=-1)
not normalised
  - scores.max(dim=-1, keepdim=True).values -> nothing
  / exps.sum(dim=-1, keepdim=True) -> nothing
divided by the largest
  / exps.sum(dim=-1, keepdim=True) -> nothing
no exponential
  torch.exp(scores - scores.max(dim=-1, keepdim=True).values) -> scores
changes its input
  exps = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
  -> scores -= scores.max(dim=-1, keepdim=True).values; exps = scores.exp()
"""

wrong_edits("softmax", pytorchs, OF_PYTORCHS)
wrong_edits("softmax", largest_taken_off, OF_LARGEST)


@wrong("softmax", "size subtracted")
def largest_cut_off_at_0(scores):
    exps = (scores - scores.amax(dim=-1, keepdim=True).clamp(min=0)).exp()
    return exps / exps.sum(dim=-1, keepdim=True)


@wrong("softmax", "reshape")
def squeezed(scores):
    return F.softmax(scores, dim=-1).squeeze()
