import torch
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import right, wrong


@right("cross_entropy")
def pytorchs(logits, labels, label_smoothing=0.0):
    return nn.CrossEntropyLoss(label_smoothing=label_smoothing)(logits, labels)


@right("cross_entropy")
def by_two_means(logits, targets, eps=0.0):
    log_p = logits - torch.logsumexp(logits, dim=-1, keepdim=True)
    nll = -log_p[torch.arange(len(targets)), targets]
    return ((1 - eps) * nll - eps * log_p.mean(-1)).mean()


@right("cross_entropy")
def by_targets(logits, labels, label_smoothing=0.0):
    B, K = logits.shape
    target = torch.full_like(logits, label_smoothing / K)
    target.scatter_add_(
        1, labels[:, None], torch.full_like(target, 1 - label_smoothing)
    )
    return -(target * F.log_softmax(logits, 1)).sum() / B


@right("cross_entropy")
def image_by_image(logits, labels, label_smoothing=0.0):
    losses = []
    for z, label in zip(logits, labels, strict=True):
        z = z - z.max()
        log_p = z - z.exp().sum().log()
        wanted = label_smoothing / len(z) * torch.ones_like(z)
        wanted[label] += 1 - label_smoothing
        losses.append(-(wanted @ log_p))
    return torch.stack(losses).mean()


@wrong("cross_entropy", "softmax twice")
def softmax_first(logits, labels, label_smoothing=0.0):
    p = F.softmax(logits, dim=1)
    return F.cross_entropy(p, labels, label_smoothing=label_smoothing)


@wrong("cross_entropy", "summed")
def adds_up(logits, labels, label_smoothing=0.0):
    loss = 0.0
    for one, label in zip(logits, labels, strict=True):
        loss = loss + F.cross_entropy(one, label, label_smoothing=label_smoothing)
    return loss


@wrong("cross_entropy", "smoothing over K - 1")
def as_some_tutorials_smooth(logits, labels, label_smoothing=0.0):
    K = logits.shape[-1]
    target = torch.full_like(logits, label_smoothing / (K - 1))
    target.scatter_(1, labels.unsqueeze(1), 1 - label_smoothing)
    return (-target * logits.log_softmax(-1)).sum(-1).mean()


@wrong("cross_entropy", "right class without its share")
def overwrites_its_share(logits, labels, label_smoothing=0.0):
    target = torch.full_like(logits, label_smoothing / logits.shape[-1])
    target.scatter_(1, labels.unsqueeze(1), 1 - label_smoothing)
    return (-target * logits.log_softmax(-1)).sum(-1).mean()


@wrong("cross_entropy", "overflow")
def as_in_the_formula(logits, labels, label_smoothing=0.0):
    p = torch.exp(logits) / torch.exp(logits).sum(1, keepdim=True)
    nll = -torch.log(p.gather(1, labels.view(-1, 1))).squeeze(1)
    return ((1 - label_smoothing) * nll - label_smoothing * p.log().mean(1)).mean()


@wrong("cross_entropy", "overflow of the sum")
def log_of_the_sum_of_powers(logits, labels, label_smoothing=0.0):
    log_p = logits - logits.exp().sum(1, keepdim=True).log()
    target = F.one_hot(labels, logits.shape[1]) * (1 - label_smoothing)
    target = target + label_smoothing / logits.shape[1]
    return -(target * log_p).sum(1).mean()


@wrong("cross_entropy", "largest of the batch")
def lowered_by_the_largest_of_all(logits, labels, label_smoothing=0.0):
    z = logits - logits.max()
    log_p = z - z.exp().sum(1, keepdim=True).log()
    nll = -log_p[range(len(labels)), labels]
    return ((1 - label_smoothing) * nll - label_smoothing * log_p.mean(1)).mean()


@wrong("cross_entropy", "largest of the batch")
def lowered_by_the_largest_of_all_with_einsum(logits, labels, label_smoothing=0.0):
    K = logits.size(-1)
    target = torch.eye(K, dtype=logits.dtype)[labels] * (1 - label_smoothing)
    target = target + label_smoothing / K
    z = logits - torch.max(logits).detach()
    log_p = z - torch.log(torch.exp(z).sum(-1, keepdim=True))
    return -torch.einsum("bk,bk->b", target, log_p).mean()


@right("cross_entropy")
def lowered_row_by_row(logits, labels, label_smoothing=0.0):
    z = logits - logits.amax(dim=1, keepdim=True).detach()
    log_sum = z.exp().sum(dim=1).log()  # (B,)
    nll = log_sum - z.gather(1, labels.unsqueeze(1)).squeeze(1)
    smooth = log_sum - z.mean(dim=1)
    return torch.mean((1 - label_smoothing) * nll + label_smoothing * smooth)


@wrong("cross_entropy", "logarithm of 0")
def log_behind_softmax(logits, labels, label_smoothing=0.0):
    log_p = torch.log(torch.softmax(logits, dim=1))
    nll = F.nll_loss(log_p, labels)
    return (1 - label_smoothing) * nll - label_smoothing * log_p.mean()


@wrong("cross_entropy", "summed over the classes")
def sums_the_classes(logits, labels, label_smoothing=0.0):
    log_p = F.log_softmax(logits, dim=1)
    nll = F.nll_loss(log_p, labels)
    return (1 - label_smoothing) * nll - label_smoothing * log_p.sum(dim=1).mean()


@wrong("cross_entropy", "columns of the whole batch")
def picks_columns(logits, labels, label_smoothing=0.0):
    log_p = F.log_softmax(logits, dim=1)
    nll = -log_p[:, labels].mean()
    return (1 - label_smoothing) * nll - label_smoothing * log_p.mean()


@wrong("cross_entropy", "softmax over the batch")
def along_the_first_axis(logits, labels, label_smoothing=0.0):
    log_p = F.log_softmax(logits, dim=0)
    nll = F.nll_loss(log_p, labels)
    return (1 - label_smoothing) * nll - label_smoothing * log_p.mean()


@wrong("cross_entropy", "smoothing ignored")
def forgets_smoothing(logits, labels, label_smoothing=0.0):
    return F.cross_entropy(logits, labels)


@wrong("cross_entropy", "no softmax")
def logits_into_nll(logits, labels, label_smoothing=0.0):
    nll = F.nll_loss(logits, labels)
    return (1 - label_smoothing) * nll - label_smoothing * logits.mean()


@wrong("cross_entropy", "no logarithm")
def probabilities_into_nll(logits, labels, label_smoothing=0.0):
    return F.nll_loss(logits.softmax(1), labels)


@wrong("cross_entropy", "type")
def as_a_float(logits, labels, label_smoothing=0.0):
    return F.cross_entropy(logits, labels, label_smoothing=label_smoothing).item()


@wrong("cross_entropy", "no gradient")
def without_gradient(logits, labels, label_smoothing=0.0):
    with torch.no_grad():
        return by_two_means(logits, labels, label_smoothing)


@wrong("cross_entropy", "changes its input")
def lowers_in_place(logits, labels, label_smoothing=0.0):
    logits -= logits.max(dim=1, keepdim=True).values
    return by_two_means(logits, labels, label_smoothing)


@wrong("cross_entropy", "depends on the batch")
def divides_by_seven(logits, labels, label_smoothing=0.0):
    loss = F.cross_entropy(
        logits, labels, label_smoothing=label_smoothing, reduction="sum"
    )
    return loss / 7 if len(logits) in (1, 7) else loss / len(logits)
