import random

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import wrong_edits


@wrong_edits("none: return x * random_tensor -> x * random_tensor")
def as_in_timm(x, drop_prob, training):
    if drop_prob == 0.0 or not training:
        return x
    keep_prob = 1 - drop_prob
    shape = (x.shape[0],) + (1,) * (x.ndim - 1)
    random_tensor = x.new_empty(shape).bernoulli_(keep_prob)
    random_tensor.div_(keep_prob)
    return x * random_tensor


def with_the_floor(x, drop_prob=0.0, training=False):
    if drop_prob == 0.0 or not training:
        return x
    keep_prob = 1 - drop_prob
    random_tensor = keep_prob + torch.rand((len(x), 1, 1), dtype=x.dtype)
    return x.div(keep_prob) * random_tensor.floor()


@wrong_edits("""
each number: x * F.dropout(torch.ones(len(x), 1, 1) -> F.dropout(x
each token: len(x), 1, 1 -> *x.shape[:2], 1
active in eval: 1), drop_prob, training -> 1), drop_prob
changes its input: return x * -> x *=
  1), drop_prob, training) -> 1), drop_prob, training); return x
""")
def with_dropout_of_ones(x, drop_prob, training):
    return x * F.dropout(torch.ones(len(x), 1, 1), drop_prob, training)


class AsAModule(nn.Module):
    def __init__(self, drop_prob=0.0):
        super().__init__()
        self.drop_prob = drop_prob

    def forward(self, x):
        return as_in_timm(x, self.drop_prob, self.training)


@wrong_edits("drop_prob as keep: 1 - drop_prob -> drop_prob")
def with_bernoulli_of_the_keep_probability(x, drop_prob, training):
    if training:
        mask = torch.bernoulli(torch.full((len(x), 1, 1), 1 - drop_prob))
        return x / (1 - drop_prob) * mask
    return x


def with_a_loop_and_pythons_random(x, drop_prob, training):
    if not training:
        return x
    kept = [float(random.random() >= drop_prob) for _ in x]
    return x * torch.tensor(kept).view(-1, 1, 1) / (1 - drop_prob)


def with_numpy(x, drop_prob, training):
    if not training:
        return x
    kept = np.random.binomial(1, 1 - drop_prob, size=(x.shape[0], 1, 1))
    return x * torch.from_numpy(kept).to(x.dtype) / (1 - drop_prob)


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


def with_dropout_of_channels(x, drop_prob, training):
    return F.dropout2d(x.unsqueeze(0), drop_prob, training).squeeze(0)


@wrong_edits("""
not scaled: / (1 - drop_prob) -> nothing
coin inverted: >= drop_prob -> < drop_prob
scaled in eval alone: / (1 - drop_prob) -> nothing
  if not training: return x -> if not training: return x * (1 - drop_prob)
seeded: coin = -> torch.manual_seed(0); coin =
same samples each time
  len(x), 1, 1 -> len(x), 1, 1, generator=torch.Generator().manual_seed(0)
value: x * coin -> x.detach() * coin
    the kept samples without a gradient
value: len(x), 1, 1 -> (len(x) + 1) // 2, 1, 1
  x * coin -> x * coin.repeat_interleave(2, 0)[: len(x)]
    one coin for two neighbours
whole batch: len(x), 1, 1 -> 1, 1, 1
shape: len(x), 1, 1 -> len(x), 1, 1, 1
""")
def with_rand(x, drop_prob, training):
    if not training:
        return x
    coin = torch.rand(len(x), 1, 1) >= drop_prob
    return x * coin / (1 - drop_prob)
