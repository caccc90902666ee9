import math

import torch
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import right, wrong
from tests.checks.answers.encoder_block.shared import TIMM


@right("mlp")
class TwoLayers(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(embed_dim, hidden_dim),
            nn.GELU(),
            nn.Dropout(0.1),
            nn.Linear(hidden_dim, embed_dim),
            nn.Dropout(0.1),
        )

    def forward(self, x):
        return self.net(x)


@wrong("mlp", "built in")
class OfTenHidden(TwoLayers):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__(embed_dim, 10)


@wrong("mlp", "built in")
class OfEightNumbers(TwoLayers):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__(8, hidden_dim)


@right("mlp")
class WithMatricesOfItsOwn(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.W1 = nn.Parameter(torch.randn(d_model, d_ff) * 0.02)
        self.b1 = nn.Parameter(torch.zeros(d_ff))
        self.W2 = nn.Parameter(torch.randn(d_ff, d_model) * 0.02)
        self.b2 = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        hidden = x @ self.W1 + self.b1
        return hidden * torch.distributions.Normal(0, 1).cdf(hidden) @ self.W2 + self.b2


@right("mlp")
class WithConvolutions(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.second = nn.Conv2d(hidden_dim, embed_dim, 1)
        self.first = nn.Conv2d(embed_dim, hidden_dim, 1)

    def forward(self, x):
        x = x.transpose(1, 2).unsqueeze(-1)
        return self.second(F.gelu(self.first(x))).squeeze(-1).transpose(1, 2)


@right("mlp")
def timms(embed_dim, hidden_dim):
    return TIMM.layers.Mlp(embed_dim, hidden_dim)


@right("mlp")
def mlp_with_weights(x, fc1_weight, fc1_bias, fc2_weight, fc2_bias):
    hidden = torch.einsum("btd,md->btm", x, fc1_weight) + fc1_bias
    hidden = hidden * (1 + torch.erf(hidden / math.sqrt(2))) / 2
    return F.linear(hidden, fc2_weight, fc2_bias)


def two_layers(*between, behind=()):
    def make(embed_dim, hidden_dim):
        first, second = (
            nn.Linear(embed_dim, hidden_dim),
            nn.Linear(hidden_dim, embed_dim),
        )
        return nn.Sequential(first, *between, second, *behind)

    return make


@wrong("mlp", "ReLU")
def with_relu(embed_dim, hidden_dim):
    return two_layers(nn.ReLU())(embed_dim, hidden_dim)


@wrong("mlp", "tanh GELU")
class WithTanh(TwoLayers):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__(embed_dim, hidden_dim)
        self.net[1] = nn.GELU(approximate="tanh")


@wrong("mlp", "SiLU")
def with_silu(embed_dim, hidden_dim):
    return two_layers(nn.SiLU(), nn.Dropout(0.1))(embed_dim, hidden_dim)


@wrong("mlp", "no activation")
def with_dropout_alone(embed_dim, hidden_dim):
    return two_layers(nn.Dropout(0.1))(embed_dim, hidden_dim)


@wrong("mlp", "activation at the end")
def bent_twice(embed_dim, hidden_dim):
    return two_layers(nn.GELU(), behind=[nn.GELU()])(embed_dim, hidden_dim)


@wrong("mlp", "activation only at the end")
def bent_late(embed_dim, hidden_dim):
    return two_layers(behind=[nn.GELU()])(embed_dim, hidden_dim)


@wrong("mlp", "residual inside")
class AddsX(TwoLayers):
    def forward(self, x):
        return x + self.net(x)


@wrong("mlp", "norm inside")
class WithANorm(TwoLayers):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__(embed_dim, hidden_dim)
        self.layer_norm = nn.LayerNorm(embed_dim, eps=1e-6)

    def forward(self, x):
        return self.net(self.layer_norm(x))


@wrong("mlp", "norm inside, eps 1e-5")
class AsInATutorial(TwoLayers):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__(embed_dim, hidden_dim)
        self.layer_norm = nn.LayerNorm(normalized_shape=embed_dim)

    def forward(self, x):
        return self.net(self.layer_norm(x))


@wrong("mlp", "not repeatable")
class DropsInEval(TwoLayers):
    def forward(self, x):
        return F.dropout(self.net(x), 0.5)


@wrong("mlp", "one layer")
class OneLayer(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.layer = nn.Linear(embed_dim, hidden_dim)

    def forward(self, x):
        return F.gelu(self.layer(x))


@wrong("mlp", "layer too many")
class ThreeLayers(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.a = nn.Linear(embed_dim, hidden_dim)
        self.b = nn.Linear(hidden_dim, hidden_dim)
        self.c = nn.Linear(hidden_dim, embed_dim)

    def forward(self, x):
        return self.c(F.gelu(self.b(F.gelu(self.a(x)))))


@wrong("mlp", "wrong width")
class FourTimes(TwoLayers):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__(embed_dim, 4 * embed_dim)


def as_wide_as(times):
    class Fixed(TwoLayers):
        def __init__(self, embed_dim, hidden_dim):
            super().__init__(embed_dim, int(times * embed_dim))

    return Fixed


for times in (0.5, 1, 2, 3):  # in a block, attention has the widths D and 3·D
    wrong("mlp", "wrong width")(as_wide_as(times))


@wrong("mlp", "no bias in the MLP")
class WithoutBias(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.fc1 = nn.Linear(embed_dim, hidden_dim, bias=False)
        self.fc2 = nn.Linear(hidden_dim, embed_dim, bias=False)

    def forward(self, x):
        return self.fc2(F.gelu(self.fc1(x)))


@wrong("mlp", "unused")
class OneLayerNotCalled(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.fc1 = nn.Linear(embed_dim, hidden_dim)
        self.fc2 = nn.Linear(hidden_dim, embed_dim)

    def forward(self, x):
        return F.gelu(self.fc1(x))[..., : x.shape[-1]]


@wrong("mlp", "ReLU")
def relu_with_weights(x, fc1_weight, fc1_bias, fc2_weight, fc2_bias):
    return F.linear(F.linear(x, fc1_weight, fc1_bias).relu(), fc2_weight, fc2_bias)


@right("mlp")
class DropsNumbersInTraining(TwoLayers):
    def forward(self, x):
        return F.dropout(super().forward(x), 0.1, self.training)


@wrong("mlp", "batch in training")
class NormedInTraining(TwoLayers):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__(embed_dim, hidden_dim)
        self.norm = nn.BatchNorm1d(embed_dim, affine=False)

    def forward(self, x):
        y = super().forward(x)
        return self.norm(y.mT).mT if self.training else y
