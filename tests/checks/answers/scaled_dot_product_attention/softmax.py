import torch
from torch.nn import functional as F

from tests.checks.answers import wrong, wrong_edits


@wrong("forbidden")
@wrong_edits("""
forbidden: F.softmax(scores -> F.softmin(-scores
over everything
  F.softmax(scores, dim=-1) -> scores.flatten().softmax(0).reshape(scores.shape)
reshape: dim=-1) -> dim=-1).squeeze()
no gradient: F.softmax(scores -> F.softmax(torch.from_numpy(scores.detach().numpy())
""")
def pytorchs(scores):
    return F.softmax(scores, dim=-1)


@wrong_edits("""
one for all rows: scores.max(dim=-1, keepdim=True).values -> scores.max()
overflow: - scores.max(dim=-1, keepdim=True).values -> nothing
values: scores - scores.max(dim=-1, keepdim=True).values -> scores.clamp(max=80)
mean subtracted
  scores.max(dim=-1, keepdim=True).values -> scores.mean(-1, keepdim=True)
sum over axis 1: exps.sum(dim=-1 -> exps.sum(dim=min(1, scores.ndim - 1)
keepdim missing: - scores.max(dim=-1, keepdim=True).values -> nothing
  , keepdim=True -> nothing
not normalised: - scores.max(dim=-1, keepdim=True).values -> nothing
  / exps.sum(dim=-1, keepdim=True) -> nothing
changes its input: exps = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
  -> scores -= scores.max(dim=-1, keepdim=True).values; exps = scores.exp()
""")
def largest_taken_off(scores):
    exps = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return exps / exps.sum(dim=-1, keepdim=True)


def through_the_logarithm(scores):
    return (scores - torch.logsumexp(scores, dim=-1, keepdim=True)).exp()


def row_by_row(scores):
    rows = []
    for row in scores.reshape(-1, scores.shape[-1]):
        exps = (row - row.max().detach()).exp()
        rows.append(exps / exps.sum())
    return torch.stack(rows).reshape(scores.shape)


def with_the_largest_detached(x):
    e_x = torch.exp(x - torch.max(x, dim=-1, keepdim=True)[0].detach())
    return e_x / torch.einsum("...k->...", e_x)[..., None]
