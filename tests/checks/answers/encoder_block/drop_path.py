import torch
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import right, wrong


@right("drop_path")
def as_in_timm(x, drop_prob, training):
    if drop_prob == 0.0 or not training:
        return x
    keep_prob = 1 - drop_prob
    shape = (x.shape[0],) + (1,) * (x.ndim - 1)
    random_tensor = x.new_empty(shape).bernoulli_(keep_prob)
    random_tensor.div_(keep_prob)
    return x * random_tensor


@right("drop_path")
def with_the_floor(x, drop_prob=0.0, training=False):
    if drop_prob == 0.0 or not training:
        return x
    keep_prob = 1 - drop_prob
    random_tensor = keep_prob + torch.rand((len(x), 1, 1), dtype=x.dtype)
    return x.div(keep_prob) * random_tensor.floor()


@right("drop_path")
def with_dropout_of_ones(x, drop_prob, training):
    return x * F.dropout(torch.ones(len(x), 1, 1), drop_prob, training)


@right("drop_path")
def with_where(x, drop_prob, training):
    if training and drop_prob:
        falls = torch.rand(len(x)) < drop_prob
        x = torch.where(falls[:, None, None], 0.0, x / (1 - drop_prob))
    return x


@right("drop_path")
class AsAModule(nn.Module):
    def __init__(self, drop_prob=0.0):
        super().__init__()
        self.drop_prob = drop_prob

    def forward(self, x):
        return as_in_timm(x, self.drop_prob, self.training)


@wrong("drop_path", "each number")
def plain_dropout(x, drop_prob, training):
    return F.dropout(x, drop_prob, training)


@wrong("drop_path", "each token")
def coin_of_two_axes(x, drop_prob, training):
    return x * F.dropout(torch.ones(*x.shape[:2], 1), drop_prob, training)


@wrong("drop_path", "whole batch")
def coin_of_python(x, drop_prob, training):
    if not training or drop_prob == 0:
        return x
    return torch.zeros_like(x) if torch.rand(()) < drop_prob else x / (1 - drop_prob)


@wrong("drop_path", "same for all samples")
def coin_without_the_batch(x, drop_prob, training):
    return x * F.dropout(torch.ones(x.shape[1:]), drop_prob, training)


@wrong("drop_path", "not scaled")
def forgets_to_divide(x, drop_prob, training):
    if not training:
        return x
    return x * (torch.rand(len(x), 1, 1) >= drop_prob)


@wrong("drop_path", "scaled by keep")
def multiplies(x, drop_prob, training):
    if not training:
        return x
    keep = 1 - drop_prob
    return x * (torch.rand(len(x), 1, 1) < keep) * keep


@wrong("drop_path", "drop_prob as keep")
def takes_it_for_keep(x, drop_prob, training):
    if not training or drop_prob == 0:
        return x
    return x * torch.bernoulli(torch.full((len(x), 1, 1), drop_prob)) / drop_prob


@wrong("drop_path", "coin inverted")
def compares_wrongly(x, drop_prob, training):
    if not training or drop_prob == 0:
        return x
    return x * (torch.rand(len(x), 1, 1) < drop_prob) / (1 - drop_prob)


@wrong("drop_path", "active in eval")
def does_not_ask(x, drop_prob, training):
    return F.dropout(torch.ones(len(x), 1, 1), drop_prob) * x


@wrong("drop_path", "training inverted")
def asks_wrongly(x, drop_prob, training):
    return F.dropout(torch.ones(len(x), 1, 1), drop_prob, not training) * x


@wrong("drop_path", "scaled in eval")
def as_in_2016(x, drop_prob, training):
    if training:
        return forgets_to_divide(x, drop_prob, training) / (1 - drop_prob)
    return x * (1 - drop_prob)


@wrong("drop_path", "scaled in eval alone")
def leaves_it_to_evaluation(x, drop_prob, training):
    if training:
        return forgets_to_divide(x, drop_prob, training)
    return x * (1 - drop_prob)


@wrong("drop_path", "removed")
def indexes_with_the_coin(x, drop_prob, training):
    if not training or drop_prob == 0:
        return x
    return x[torch.rand(len(x)) < 1 - drop_prob] / (1 - drop_prob)


@wrong("drop_path", "enlarged in eval")
def divides_always(x, drop_prob, training):
    keep = 1 - drop_prob
    coin = torch.rand(len(x), 1, 1) < keep if training else 1
    return x * coin / keep


@wrong("drop_path", "nothing drawn")
def on_average(x, drop_prob, training):
    return x * (1 - drop_prob) if training else x


@wrong("drop_path", "never dropped")
def nothing_at_all(x, drop_prob, training):
    return F.dropout(x, drop_prob, False)


@wrong("drop_path", "changes its input")
def drops_in_place(x, drop_prob, training):
    if training and drop_prob:
        x *= F.dropout(torch.ones(len(x), 1, 1), drop_prob)
    return x


@wrong("drop_path", "none")
def returns_nothing(x, drop_prob, training):
    as_in_timm(x, drop_prob, training)
