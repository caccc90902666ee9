import math

import torch
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import right, wrong
from tests.checks.answers.class_token_and_position.shared import Learned


@right("position_embedding")
class FromATable(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.positions = nn.Embedding(n, d)
        nn.init.trunc_normal_(self.positions.weight, std=0.02)
        self.register_buffer("ids", torch.arange(n))

    def forward(self, x):
        return x + self.positions(self.ids)


@wrong("position_embedding", "built in")
class OfNineTokens(Learned):
    def __init__(self, num_tokens, embed_dim):
        super().__init__(9, embed_dim)


@wrong("position_embedding", "built in")
class OfThirtyTwoNumbers(Learned):
    def __init__(self, num_tokens, embed_dim):
        super().__init__(num_tokens, 32)


@right("position_embedding")
class RowByRow(nn.Module):
    def __init__(self, num_tokens, embed_dim):
        super().__init__()
        self.table = nn.Parameter(torch.randn(num_tokens, embed_dim) * 0.02)

    def forward(self, x):
        return torch.stack([x[:, i] + row for i, row in enumerate(self.table)], 1)


@right("position_embedding")
class ClassTokenApart(nn.Module):
    def __init__(self, num_tokens, embed_dim):
        super().__init__()
        self.patches = nn.Parameter(torch.zeros(1, num_tokens - 1, embed_dim))
        self.cls = nn.Parameter(torch.zeros(1, 1, embed_dim))

    def forward(self, x):
        return x + torch.cat([self.cls, self.patches], dim=1)


@right("position_embedding")
def add_positions(tokens, pos_embed):
    return torch.add(tokens, pos_embed)


@right("position_embedding")
def a_factory_of_positions(n, d):
    return Learned(n, d)


@wrong("position_embedding", "class token left out")
class PatchesOnly(Learned):
    def forward(self, x):
        return torch.cat([x[:, :1], x[:, 1:] + self.pos_embed[:, 1:]], dim=1)


@wrong("position_embedding", "one position too few")
class PatchesOnlyTable(Learned):
    def __init__(self, num_tokens, embed_dim):
        super().__init__(num_tokens - 1, embed_dim)

    def forward(self, x):
        return torch.cat([x[:, :1], x[:, 1:] + self.pos_embed], dim=1)


@wrong("position_embedding", "one position too many")
class OneMore(Learned):
    def __init__(self, num_tokens, embed_dim):
        super().__init__(num_tokens + 1, embed_dim)


@wrong("position_embedding", "concatenated")
class Beside(Learned):
    def forward(self, x):
        return torch.cat([x, self.pos_embed.expand(len(x), -1, -1)], dim=-1)


@wrong("position_embedding", "multiplied")
class Times(Learned):
    def forward(self, x):
        return x * self.pos_embed


@wrong("position_embedding", "same for all tokens")
class OneForAll(nn.Module):
    def __init__(self, num_tokens, embed_dim):
        super().__init__()
        self.pos_embed = nn.Parameter(torch.zeros(1, 1, embed_dim))

    def forward(self, x):
        return x + self.pos_embed


@wrong("position_embedding", "one number a token")
class AlongT(OneForAll):
    def __init__(self, num_tokens, embed_dim):
        super().__init__(num_tokens, embed_dim)
        self.pos_embed = nn.Parameter(torch.zeros(1, num_tokens, 1))


@wrong("position_embedding", "by the batch")
class SequenceFirst(nn.Module):
    """A tutorial's table for sequences whose second axis is the batch."""

    def __init__(self, num_tokens, embed_dim):
        super().__init__()
        self.pe = nn.Parameter(torch.randn(num_tokens, 1, embed_dim) * 0.02)

    def forward(self, x):
        return x + self.pe[: x.size(0)]


@wrong("position_embedding", "one for each image")
class PerSeat(nn.Module):
    def __init__(self, num_tokens, embed_dim):
        super().__init__()
        self.pe = nn.Parameter(torch.zeros(8, num_tokens, embed_dim))

    def forward(self, x):
        return x + self.pe[: len(x)]


@wrong("position_embedding", "another number")
class For197Tokens(Learned):
    def __init__(self, num_tokens, embed_dim):
        super().__init__(197, embed_dim)

    def forward(self, x):
        return x + self.pos_embed[:, : x.shape[1]]


@wrong("position_embedding", "wide start")
class StandardNormal(Learned):
    def __init__(self, num_tokens, embed_dim):
        super().__init__(num_tokens, embed_dim)
        self.pos_embed = nn.Parameter(torch.randn(1, num_tokens, embed_dim))


@wrong("position_embedding", "wide start")
class AsTheTableComes(FromATable):
    def __init__(self, num_tokens, embed_dim):
        super().__init__(num_tokens, embed_dim)
        self.positions.reset_parameters()


@wrong("position_embedding", "not a parameter")
class Sinusoidal(nn.Module):
    def __init__(self, num_tokens, embed_dim):
        super().__init__()
        place = torch.arange(num_tokens).unsqueeze(1)
        speed = torch.exp(
            torch.arange(0, embed_dim, 2) * (-math.log(10000) / embed_dim)
        )
        pe = torch.zeros(1, num_tokens, embed_dim)
        pe[0, :, 0::2], pe[0, :, 1::2] = (place * speed).sin(), (place * speed).cos()
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe


@wrong("position_embedding", "frozen")
class SinusoidalParameter(Sinusoidal):
    def __init__(self, num_tokens, embed_dim):
        super().__init__(num_tokens, embed_dim)
        pe = self.pe
        del self.pe
        self.pe = nn.Parameter(pe, requires_grad=False)


@wrong("position_embedding", "reversed")
class Backwards(FromATable):
    def forward(self, x):
        return x + self.positions(self.ids.flip(0))


@wrong("position_embedding", "tokens scaled")
class AsInTheFirstTransformer(Learned):
    def forward(self, x):
        return x * math.sqrt(x.size(-1)) + self.pos_embed


@wrong("position_embedding", "changes its input")
class InPlace(Learned):
    def forward(self, x):
        x += self.pos_embed
        return x


@wrong("position_embedding", "not repeatable")
class DropoutAlwaysOn(Learned):
    def forward(self, x):
        return F.dropout(x + self.pos_embed, 0.1)


@wrong("position_embedding", "unused")
class CutOff(Learned):
    def forward(self, x):
        return x + self.pos_embed.data


@wrong("position_embedding", "concatenated")
def function_beside(tokens, pos_embed):
    return torch.cat([tokens, pos_embed.repeat(len(tokens), 1, 1)], 2)


@wrong("position_embedding", "changes its input")
def function_in_place(tokens, pos_embed):
    with torch.no_grad():
        tokens += pos_embed
    return tokens


@wrong("position_embedding", "by the batch")
def function_sequence_first(tokens, pos_embed):
    return tokens + pos_embed.transpose(0, 1)[: tokens.size(0)]


@wrong("position_embedding", "wide start")
class OfTheRootOfTheWidth(Learned):
    def __init__(self, num_tokens, embed_dim):
        super().__init__(num_tokens, embed_dim)
        nn.init.normal_(self.pos_embed, std=0.02**0.5)


@wrong("position_embedding", "wide start")
class AsWideAsTheFaultyOne(Learned):
    def __init__(self, num_tokens, embed_dim):
        super().__init__(num_tokens, embed_dim)
        self.pos_embed = nn.Parameter(0.5 * torch.randn(1, num_tokens, embed_dim))


@right("position_embedding")
class BeginsWithZeros(Learned):
    def __init__(self, num_tokens, embed_dim):
        super().__init__(num_tokens, embed_dim)
        self.pos_embed = nn.Parameter(torch.zeros(1, num_tokens, embed_dim))


@right("position_embedding")
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


@wrong("position_embedding", "twice")
class AddsAndAddsOnceMore(Learned):
    def forward(self, x):
        y = x + self.pos_embed
        return y + self.pos_embed


@wrong("position_embedding", "changes its input")
class AddsInPlace(Learned):
    def forward(self, x):
        x += self.pos_embed
        return x
