import random

import numpy as np
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


@right("drop_path")
def with_bernoulli_of_the_keep_probability(x, drop_prob, training):
    if training:
        mask = torch.bernoulli(torch.full((len(x), 1, 1), 1 - drop_prob))
        return x / (1 - drop_prob) * mask
    return x


@right("drop_path")
def with_a_loop_and_pythons_random(x, drop_prob, training):
    if not training:
        return x
    kept = [float(random.random() >= drop_prob) for _ in x]
    return x * torch.tensor(kept).view(-1, 1, 1) / (1 - drop_prob)


@right("drop_path")
def with_numpy(x, drop_prob, training):
    if not training:
        return x
    kept = np.random.binomial(1, 1 - drop_prob, size=(x.shape[0], 1, 1))
    return x * torch.from_numpy(kept).to(x.dtype) / (1 - drop_prob)


@right("drop_path")
class WithAGeneratorOfItsOwn(nn.Module):
    def __init__(self, drop_prob):
        super().__init__()
        self.drop_prob = drop_prob
        self.coins = torch.Generator().manual_seed(3)

    def forward(self, x):
        if not self.training:
            return x
        coin = torch.rand(len(x), 1, 1, generator=self.coins) >= self.drop_prob
        return x * coin / (1 - self.drop_prob)


@wrong("drop_path", "same samples each time")
def drops_the_first_of_them(x, drop_prob, training):
    if not training:
        return x
    n = int(len(x) * drop_prob)
    return torch.cat([x[:n] * 0, x[n:] / (1 - drop_prob)])


@wrong("drop_path", "same samples each time")
def drops_every_kth(x, drop_prob, training):
    if not training:
        return x
    i = torch.arange(len(x))
    keep = ((i + 1) * drop_prob).floor() == (i * drop_prob).floor()
    return x * keep[:, None, None] / (1 - drop_prob)


@wrong("drop_path", "seeded")
def seeds_in_each_call(x, drop_prob, training):
    if not training:
        return x
    torch.manual_seed(0)
    return x * (torch.rand(len(x), 1, 1) >= drop_prob) / (1 - drop_prob)


@wrong("drop_path", "same samples each time")
def makes_its_generator_in_each_call(x, drop_prob, training):
    if not training:
        return x
    g = torch.Generator().manual_seed(0)
    return x * (torch.rand(len(x), 1, 1, generator=g) >= drop_prob) / (1 - drop_prob)


@wrong("drop_path", "same samples each time")
def seeds_numpy(x, drop_prob, training):
    if not training:
        return x
    np.random.seed(0)
    kept = np.random.rand(len(x), 1, 1) >= drop_prob
    return x * torch.from_numpy(kept) / (1 - drop_prob)


@wrong("drop_path", "same samples each time")
def coins_flipped_once_for_all(x, drop_prob, training):
    if not training:
        return x
    return x * (COINS[: len(x)] >= drop_prob) / (1 - drop_prob)


COINS = torch.rand(2000, 1, 1)


@wrong("drop_path", "always as many")
def draws_places_without_putting_back(x, drop_prob, training):
    if not training:
        return x
    scale = torch.full((len(x), 1, 1), 1 / (1 - drop_prob))
    scale[torch.randperm(len(x))[: int(len(x) * drop_prob)]] = 0
    return x * scale


@wrong("drop_path", "coin inverted")
def coin_inverted_and_nothing_said_of_zero(x, drop_prob, training):
    if not training:
        return x
    return x * (torch.rand(len(x), 1, 1) < drop_prob) / (1 - drop_prob)


@wrong("drop_path", "drop_prob as keep")
def bernoulli_of_the_drop_probability(x, drop_prob, training):
    if not training:
        return x
    mask = torch.bernoulli(torch.full((len(x), 1, 1), drop_prob))
    return x * mask / drop_prob


@wrong("drop_path", "shape")
def coin_of_four_axes(x, drop_prob, training):
    if not training or drop_prob == 0:
        return x
    return x * (torch.rand(len(x), 1, 1, 1) >= drop_prob) / (1 - drop_prob)


@wrong("drop_path", "dtype")
def coin_of_double_precision(x, drop_prob, training):
    if not training or drop_prob == 0:
        return x
    coin = torch.rand(len(x), 1, 1, dtype=torch.float64) >= drop_prob
    return x * coin.double() / (1 - drop_prob)


@right("drop_path")
def sample_by_sample(x, drop_prob, training):
    if not training:
        return x
    kept = [torch.bernoulli(torch.tensor(1 - drop_prob)) / (1 - drop_prob) for _ in x]
    return torch.stack([sample * keep for sample, keep in zip(x, kept, strict=True)])


@right("drop_path")
def with_dropout_of_channels(x, drop_prob, training):
    return F.dropout2d(x.unsqueeze(0), drop_prob, training).squeeze(0)


@wrong("drop_path", "each token")
def with_dropout_of_one_dimension(x, drop_prob, training):
    return F.dropout1d(x, drop_prob, training)


def one_coin_of_shape(shape):
    def answer(x, drop_prob, training):
        if not training or drop_prob == 0:
            return x
        coin = torch.rand(*shape(*x.shape[1:])) >= drop_prob
        return x * coin / (1 - drop_prob)

    return answer


for what, shape in (
    ("token", lambda T, D: (1, T, 1)),
    ("number of a token", lambda T, D: (1, 1, D)),
):
    mistake = f"same for all samples, each {what}"
    wrong("drop_path", mistake)(one_coin_of_shape(shape))


@wrong("drop_path", "value")
def kept_without_a_gradient(x, drop_prob, training):
    return as_in_timm(x.detach(), drop_prob, training) if training else x


@wrong("drop_path", "value")
def one_coin_for_two_neighbours(x, drop_prob, training):
    if not training or drop_prob == 0:
        return x
    coins = torch.rand((len(x) + 1) // 2) >= drop_prob
    return x * coins.repeat_interleave(2)[: len(x), None, None] / (1 - drop_prob)


@wrong("drop_path", "value")
def coins_of_half_a_batch(x, drop_prob, training):
    if not training or drop_prob == 0:
        return x
    coins = torch.rand(len(x) // 2) >= drop_prob
    return x * coins.repeat(2)[:, None, None] / (1 - drop_prob)
