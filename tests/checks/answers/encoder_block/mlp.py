import math

import torch
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import right, wrong_edits
from vit_steps import MLP, optional

right(MLP)


@wrong_edits("""
built in: super().__init__() -> super().__init__(); hidden_dim = 10
built in: super().__init__() -> super().__init__(); embed_dim = 8
parameters: super().__init__() -> super().__init__(); hidden_dim = 4 * embed_dim
parameters: super().__init__() -> super().__init__(); hidden_dim = embed_dim // 2
tanh GELU: nn.GELU() -> nn.GELU(approximate="tanh")
no activation: nn.GELU(), -> nothing
activation at the end
  nn.Linear(hidden_dim, embed_dim) -> nn.Linear(hidden_dim, embed_dim), nn.GELU()
unused: self.net(x) -> self.net[:2](x)[..., : x.shape[-1]]
residual inside: self.net(x) -> x + self.net(x)
norm inside: super().__init__()
  -> super().__init__(); self.norm = nn.LayerNorm(embed_dim, eps=1e-6)
  self.net(x) -> self.net(self.norm(x))
batch in training: super().__init__()
  -> super().__init__(); self.norm = nn.BatchNorm1d(embed_dim, affine=False)
  return self.net(x) -> x = self.net(x); return x
  return x -> return self.norm(x.mT).mT if self.training else x
reshape: self.net(x) -> self.net(x).squeeze()
not repeatable: self.net(x) -> F.dropout(self.net(x), 0.5)
dropout: nn.Dropout(drop) -> nn.Dropout(0.1)
random in training: self.net(x) -> F.dropout(self.net(x), 0.1, self.training)
""")
class TwoLayers(nn.Module):
    def __init__(self, embed_dim, hidden_dim, drop=0.1):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(embed_dim, hidden_dim),
            nn.GELU(),
            nn.Dropout(drop),
            nn.Linear(hidden_dim, embed_dim),
            nn.Dropout(drop),
        )

    def forward(self, x):
        return self.net(x)


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


class WithConvolutions(nn.Module):
    def __init__(self, embed_dim, hidden_dim):
        super().__init__()
        self.second = nn.Conv2d(hidden_dim, embed_dim, 1)
        self.first = nn.Conv2d(embed_dim, hidden_dim, 1)

    def forward(self, x):
        x = x.transpose(1, 2).unsqueeze(-1)
        return self.second(F.gelu(self.first(x))).squeeze(-1).transpose(1, 2)


def timms(embed_dim, hidden_dim):
    return optional.timm().layers.Mlp(embed_dim, hidden_dim)


def mlp_with_weights(x, fc1_weight, fc1_bias, fc2_weight, fc2_bias):
    hidden = torch.einsum("btd,md->btm", x, fc1_weight) + fc1_bias
    hidden = hidden * (1 + torch.erf(hidden / math.sqrt(2))) / 2
    return F.linear(hidden, fc2_weight, fc2_bias)


@wrong_edits("ReLU: F.gelu -> F.relu")
class WithTensorsOfItsOwn(nn.Module):
    def __init__(self, D, M):
        super().__init__()
        shapes = ((M, D), (1, 1, M), (D, M), (1, 1, D))
        made = (nn.Parameter(torch.randn(shape)) for shape in shapes)
        self.a, self.b, self.c, self.d = made

    def forward(self, x):
        return F.gelu(x @ self.a.T + self.b) @ self.c.T + self.d
