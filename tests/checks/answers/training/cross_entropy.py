import torch
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import wrong, wrong_edits


@wrong("forbidden")
@wrong_edits("""
softmax twice: (logits, labels) -> (logits.softmax(1), labels)
summed
  label_smoothing=label_smoothing -> label_smoothing=label_smoothing, reduction="sum"
as if: label_smoothing=label_smoothing -> nothing
type: (logits, labels) -> (logits, labels).item()
depends on the batch
  (logits, labels) -> (logits, labels) / (7 if len(logits) == 1 else 1)
default: label_smoothing=0.0 -> label_smoothing=0.1
    "… label_smoothing is 0.1 where none is given…"
default: label_smoothing=0.0 -> label_smoothing=0.5
    "… is 0.5 where none is given, expected 0…"
values: label_smoothing=0.0 -> label_smoothing=0.1
  (logits, labels) -> (logits / 2, labels)
as if: (logits, labels) -> (logits / 2, labels)
""")
def pytorchs(logits, labels, label_smoothing=0.0):
    return nn.CrossEntropyLoss(label_smoothing=label_smoothing)(logits, labels)


@wrong_edits("""
logarithm of 0
  logits - torch.logsumexp(logits, dim=-1, keepdim=True) -> logits.softmax(1).log()
overflow: logits - torch.logsumexp(logits, dim=-1, keepdim=True)
  -> (logits.exp() / logits.exp().sum(1, keepdim=True)).log()
summed over the classes: log_p.mean(-1) -> log_p.sum(-1)
columns of the whole batch: torch.arange(len(targets)) -> :
softmax over the batch: dim=-1 -> dim=0
no gradient: log_p.mean(-1)).mean() -> log_p.mean(-1)).mean().detach()
changes its input: log_p = -> logits -= logits.max(dim=1, keepdim=True).values; log_p =
""")
def by_two_means(logits, targets, eps=0.0):
    log_p = logits - torch.logsumexp(logits, dim=-1, keepdim=True)
    nll = -log_p[torch.arange(len(targets)), targets]
    return ((1 - eps) * nll - eps * log_p.mean(-1)).mean()


@wrong_edits("""
smoothing over K - 1: label_smoothing / K -> label_smoothing / (K - 1)
  scatter_add_ -> scatter_
""")
def by_targets(logits, labels, label_smoothing=0.0):
    B, K = logits.shape
    target = torch.full_like(logits, label_smoothing / K)
    target.scatter_add_(
        1, labels[:, None], torch.full_like(target, 1 - label_smoothing)
    )
    return -(target * F.log_softmax(logits, 1)).sum() / B


def by_targets_of_float32(logits, labels, label_smoothing=0.0):
    K = logits.shape[1]
    target = F.one_hot(labels, K) * (1 - label_smoothing) + label_smoothing / K
    products = target.to(logits) * logits
    return (torch.logsumexp(logits, dim=1) - products.sum(dim=1)).mean()


def image_by_image(logits, labels, label_smoothing=0.0):
    losses = []
    for z, label in zip(logits, labels, strict=True):
        z = z - z.max()
        log_p = z - z.exp().sum().log()
        wanted = label_smoothing / len(z) * torch.ones_like(z)
        wanted[label] += 1 - label_smoothing
        losses.append(-(wanted @ log_p))
    return torch.stack(losses).mean()


def lowered_row_by_row(logits, labels, label_smoothing=0.0):
    z = logits - logits.amax(dim=1, keepdim=True).detach()
    log_sum = z.exp().sum(dim=1).log()  # (B,)
    nll = log_sum - z.gather(1, labels.unsqueeze(1)).squeeze(1)
    smooth = log_sum - z.mean(dim=1)
    return torch.mean((1 - label_smoothing) * nll + label_smoothing * smooth)
