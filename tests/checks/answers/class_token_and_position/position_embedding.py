import torch
from torch import nn

from tests.checks.answers import right_edits, wrong, wrong_edits


@right_edits("""
made by a function: = lambda n, d: Learned(n, d)
truncated: torch.randn(1, num_tokens, embed_dim) * 0.02
  -> nn.init.trunc_normal_(torch.empty(1, num_tokens, embed_dim), 0, 0.02, -0.04, 0.04)
""")
@wrong_edits("""
built in: super().__init__() -> super().__init__(); num_tokens = 9
built in: super().__init__() -> super().__init__(); embed_dim = 32
class token left out: x + self.pos_embed
  -> torch.cat([x[:, :1], x[:, 1:] + self.pos_embed[:, 1:]], dim=1)
one position too few: 1, num_tokens -> 1, num_tokens - 1
  x + self.pos_embed -> torch.cat([x[:, :1], x[:, 1:] + self.pos_embed], dim=1)
raises: 1, num_tokens -> 1, num_tokens + 1
parameters: 1, num_tokens -> 1, 197
  x + self.pos_embed -> x + self.pos_embed[:, : x.shape[1]]
parameters: 1, num_tokens -> 8, num_tokens
  x + self.pos_embed -> x + self.pos_embed[: len(x)]
by the batch: 1, num_tokens -> num_tokens, 1
  x + self.pos_embed -> x + self.pos_embed[: x.size(0)]
    for sequences whose second axis is the batch
concatenated
  x + self.pos_embed -> torch.cat([x, self.pos_embed.expand(len(x), -1, -1)], dim=-1)
multiplied: x + self.pos_embed -> x * self.pos_embed
tokens scaled: x + self.pos_embed -> x * math.sqrt(x.size(-1)) + self.pos_embed
start: * 0.02 -> nothing
start: 0.02 -> 0.02**0.5
start: 0.02 -> 0.002
start: torch.randn -> torch.zeros
start: torch.randn -> torch.rand
start: * 0.02 -> * 0.02 + 0.05
    "… with a mean of about 0.05, expected 0"
changes its input: return self.drop(x + self.pos_embed) -> x += self.pos_embed; return x
not repeatable: self.drop(x + self.pos_embed) -> F.dropout(x + self.pos_embed, 0.1)
dropout: nn.Dropout(drop) -> nn.Dropout(0.1)
unused: x + self.pos_embed -> x + self.pos_embed.data
""")
class Learned(nn.Module):
    def __init__(self, num_tokens, embed_dim, drop=0.0):
        super().__init__()
        self.pos_embed = nn.Parameter(torch.randn(1, num_tokens, embed_dim) * 0.02)
        self.drop = nn.Dropout(drop)

    def forward(self, x):
        return self.drop(x + self.pos_embed)


class FromATable(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.positions = nn.Embedding(n, d)
        nn.init.trunc_normal_(self.positions.weight, std=0.02)
        self.register_buffer("ids", torch.arange(n))

    def forward(self, x):
        return x + self.positions(self.ids)


class RowByRow(nn.Module):
    def __init__(self, num_tokens, embed_dim):
        super().__init__()
        self.table = nn.Parameter(torch.randn(num_tokens, embed_dim) * 0.02)

    def forward(self, x):
        return torch.stack([x[:, i] + row for i, row in enumerate(self.table)], 1)


class ClassTokenApart(nn.Module):
    def __init__(self, num_tokens, embed_dim):
        super().__init__()
        self.patches = nn.Parameter(0.02 * torch.randn(1, num_tokens - 1, embed_dim))
        self.cls = nn.Parameter(0.02 * torch.randn(1, 1, embed_dim))

    def forward(self, x):
        return x + torch.cat([self.cls, self.patches], dim=1)


@wrong_edits("""
concatenated: torch.add(tokens, pos_embed)
  -> torch.cat([tokens, pos_embed.repeat(len(tokens), 1, 1)], 2)
by the batch: torch.add(tokens, pos_embed)
  -> tokens + pos_embed.transpose(0, 1)[: tokens.size(0)]
changes its input: torch.add(tokens, pos_embed) -> tokens.data.add_(pos_embed)
""")
def add_positions(tokens, pos_embed):
    return torch.add(tokens, pos_embed)


@wrong("start")
@wrong_edits("""
not a parameter: self.P = nn.Parameter(P) -> self.register_buffer("P", P)
frozen: nn.Parameter(P) -> nn.Parameter(P, requires_grad=False)
""")
class BeginsWithSinesThatLearn(nn.Module):
    """d2l's table of sines, made a parameter."""

    def __init__(self, num_tokens, embed_dim):
        super().__init__()
        P = torch.zeros((1, num_tokens, embed_dim))
        X = torch.arange(num_tokens, dtype=torch.float32).reshape(-1, 1) / torch.pow(
            10000, torch.arange(0, embed_dim, 2, dtype=torch.float32) / embed_dim
        )
        P[:, :, 0::2], P[:, :, 1::2] = torch.sin(X), torch.cos(X)
        self.P = nn.Parameter(P)

    def forward(self, X):
        return X + self.P[:, : X.shape[1], :]
