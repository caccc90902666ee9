import torch
from torch import nn


class InFront(nn.Module):
    """The code of most tutorials."""

    def __init__(self, embed_dim):
        super().__init__()
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))

    def forward(self, x):
        return torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1)


class Learned(nn.Module):
    def __init__(self, num_tokens, embed_dim, drop=0.0):
        super().__init__()
        self.pos_embed = nn.Parameter(torch.randn(1, num_tokens, embed_dim) * 0.02)
        self.drop = nn.Dropout(drop)

    def forward(self, x):
        return self.drop(x + self.pos_embed)
