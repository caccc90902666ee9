import random

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import right, wrong, wrong_edits


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
class AsAModule(nn.Module):
    def __init__(self, drop_prob=0.0):
        super().__init__()
        self.drop_prob = drop_prob

    def forward(self, x):
        return as_in_timm(x, self.drop_prob, self.training)


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


@right("drop_path")
def with_dropout_of_channels(x, drop_prob, training):
    return F.dropout2d(x.unsqueeze(0), drop_prob, training).squeeze(0)


@right("drop_path")
def with_rand(x, drop_prob, training):
    if not training:
        return x
    coin = torch.rand(len(x), 1, 1) >= drop_prob
    return x * coin / (1 - drop_prob)


COINS = torch.rand(2000, 1, 1)

OF_RAND = """
not scaled
  / (1 - drop_prob) -> nothing
scaled by keep
  / (1 - drop_prob) -> * (1 - drop_prob)
coin inverted
  >= drop_prob -> < drop_prob
coin inverted
  not training -> not training or drop_prob == 0
  >= drop_prob -> < drop_prob
scaled in eval
  if not training: return x -> if not training: return x * (1 - drop_prob)
scaled in eval alone
  / (1 - drop_prob) -> nothing
  if not training: return x -> if not training: return x * (1 - drop_prob)
removed
  x * coin -> x[coin.flatten()]
seeded
  coin = -> torch.manual_seed(0); coin =
same samples each time
  len(x), 1, 1 -> len(x), 1, 1, generator=torch.Generator().manual_seed(0)
same samples each time
  torch.rand(len(x), 1, 1) -> COINS[: len(x)]
value
  x * coin -> x.detach() * coin
    the kept samples without a gradient
value
  len(x), 1, 1 -> (len(x) + 1) // 2, 1, 1
  x * coin -> x * coin.repeat_interleave(2, 0)[: len(x)]
    one coin for two neighbours
whole batch
  len(x), 1, 1 -> 1, 1, 1
shape
  len(x), 1, 1 -> len(x), 1, 1, 1
dtype
  x * coin -> x * coin.double()
"""


@wrong("drop_path", "filled")
def filled_with_the_mean(x, drop_prob, training):
    if not training or drop_prob == 0.0:
        return x
    kept = torch.rand(len(x), 1, 1) >= drop_prob
    return torch.where(kept, x / (1 - drop_prob), x.mean())


OF_DROPOUT = """
each number
  x * F.dropout(torch.ones(len(x), 1, 1) -> F.dropout(x
each token
  len(x), 1, 1 -> *x.shape[:2], 1
same for all samples
  len(x), 1, 1 -> x.shape[1:]
never dropped
  x * F.dropout(torch.ones(len(x), 1, 1), drop_prob, training)
  -> F.dropout(x, drop_prob, False)
active in eval
  1), drop_prob, training -> 1), drop_prob
training inverted
  1), drop_prob, training -> 1), drop_prob, not training
changes its input
  return x * -> x *=
  1), drop_prob, training) -> 1), drop_prob, training); return x
"""

OF_CHANNELS = """
each token
  F.dropout2d(x.unsqueeze(0), drop_prob, training).squeeze(0)
  -> F.dropout1d(x, drop_prob, training)
"""

OF_BERNOULLI = """
drop_prob as keep
  1 - drop_prob -> drop_prob
drop_prob as keep
  if training -> if training and drop_prob
  1 - drop_prob -> drop_prob
"""

OF_NUMPY = """
"""

OF_TIMM = """
none
  return x * random_tensor -> x * random_tensor
"""

wrong_edits("drop_path", with_rand, OF_RAND)
wrong_edits("drop_path", with_dropout_of_ones, OF_DROPOUT)
wrong_edits("drop_path", with_dropout_of_channels, OF_CHANNELS)
wrong_edits("drop_path", with_bernoulli_of_the_keep_probability, OF_BERNOULLI)
wrong_edits("drop_path", with_numpy, OF_NUMPY)
wrong_edits("drop_path", as_in_timm, OF_TIMM)
