import math

import numpy as np
import torch
from einops import rearrange, repeat
from einops.layers.torch import Rearrange
from torch import nn
from torch.nn import functional as F

from tests.answers import right, wrong
from vit_steps import PatchEmbedding, ViTEmbedding, patchify

# The class token


@right("class_token")
class InFront(nn.Module):
    """As most tutorials have it; the wrong ones below change a line of it."""

    def __init__(self, embed_dim):
        super().__init__()
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))

    def token(self, x):
        return self.cls_token.expand(x.shape[0], -1, -1)

    def forward(self, x):
        return torch.cat([self.token(x), x], dim=1)


@right("class_token")
class WithEinops(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.token = nn.Parameter(torch.randn(dim) * 0.02)

    def forward(self, patches):
        tokens = repeat(self.token, "d -> b 1 d", b=len(patches))
        return torch.cat((tokens, patches), -2)


@right("class_token")
class AsATable(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.table = nn.Embedding(1, dim)
        nn.init.normal_(self.table.weight, std=0.5)

    def forward(self, patches):
        first = self.table(torch.zeros(len(patches), 1, dtype=torch.long))
        return torch.cat([first, patches], dim=1)


@right("class_token")
class WrittenIntoPlace(nn.Module):
    def __init__(self, embed_dim):
        super().__init__()
        self.parts = nn.ParameterDict({"cls": torch.zeros(1, embed_dim)})

    def forward(self, patches):
        tokens = F.pad(patches, (0, 0, 1, 0))
        tokens[:, 0] = self.parts["cls"]
        return tokens


@right("class_token")
def image_by_image(patches, cls_token):
    return torch.stack([torch.cat([cls_token[0], one]) for one in patches])


right("class_token")(lambda x, cls: torch.hstack([cls.repeat(len(x), 1, 1), x]))


@right("class_token")
def a_factory(embed_dim):
    return InFront(embed_dim)


@wrong("class_token", "last")
class Behind(InFront):
    def forward(self, x):
        return torch.cat([x, self.token(x)], dim=1)


@wrong("class_token", "batch of one")
class NotExpanded(InFront):
    def token(self, x):
        return self.cls_token


@wrong("class_token", "one for each image")
class ForABatchOf32(InFront):
    def __init__(self, embed_dim, batch_size=32):
        super().__init__(embed_dim)
        self.cls_token = nn.Parameter(torch.zeros(batch_size, 1, embed_dim))

    def token(self, x):
        return self.cls_token


@wrong("class_token", "one for each image")
class ForABatchOf32Cut(ForABatchOf32):
    def token(self, x):
        return self.cls_token[: len(x)]


@wrong("class_token", "not a parameter")
class PlainTensor(InFront):
    def __init__(self, embed_dim):
        super().__init__(1)
        del self.cls_token
        self.cls_token = torch.zeros(1, 1, embed_dim)


@wrong("class_token", "not a parameter")
class Buffered(nn.Module):
    def __init__(self, embed_dim):
        super().__init__()
        self.register_buffer("cls_token", torch.zeros(1, 1, embed_dim))

    def forward(self, x):
        return torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1)


@wrong("class_token", "hidden")
class RequiresGradAndNoMore(PlainTensor):
    def __init__(self, embed_dim):
        super().__init__(embed_dim)
        self.cls_token = torch.zeros(1, 1, embed_dim, requires_grad=True)


@wrong("class_token", "added")
class AddedToThePatches(InFront):
    def forward(self, x):
        return x + self.token(x)


@wrong("class_token", "along D")
class JoinedAlongD(InFront):
    def forward(self, x):
        return torch.cat([self.token(x).expand(-1, x.shape[1], -1), x], dim=-1)


@wrong("class_token", "along D")
class JoinedAlongDAndRaises(InFront):
    def forward(self, x):
        return torch.cat([self.token(x), x], dim=-1)


@wrong("class_token", "one image more")
class NoDim(InFront):
    def forward(self, x):
        return torch.cat([self.cls_token, x])


@wrong("class_token", "replaces the first patch")
class WritesOver(InFront):
    def forward(self, x):
        x = x.clone()
        x[:, 0] = self.cls_token[0]
        return x


@wrong("class_token", "one for every patch")
class ExpandedAs(InFront):
    def forward(self, x):
        return torch.cat([self.cls_token.expand_as(x), x], dim=1)


@wrong("class_token", "wide start")
class Randn(InFront):
    def __init__(self, embed_dim):
        super().__init__(embed_dim)
        self.cls_token = nn.Parameter(torch.randn(1, 1, embed_dim))


@wrong("class_token", "unused")
class Detached(InFront):
    def token(self, x):
        return self.cls_token.detach().expand(len(x), -1, -1)


@wrong("class_token", "zeros in front")
class ZerosInstead(InFront):
    def token(self, x):
        return torch.zeros(len(x), 1, x.shape[2])


@wrong("class_token", "frozen")
class Frozen(InFront):
    def __init__(self, embed_dim):
        super().__init__(embed_dim)
        self.cls_token.requires_grad = False


@wrong("class_token", "changes its input")
class WritesIntoThePatches(InFront):
    def forward(self, x):
        tokens = super().forward(x)
        x.zero_()
        return tokens


@wrong("class_token", "made in forward")
class MadeInForward(nn.Module):
    def __init__(self, embed_dim):
        super().__init__()

    def forward(self, x):
        self.cls_token = nn.Parameter(torch.zeros(1, 1, x.shape[2]))
        return torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1)


@wrong("class_token", "last")
def function_behind(patches, cls_token):
    return torch.cat([patches, cls_token.repeat(len(patches), 1, 1)], 1)


@wrong("class_token", "batch of one")
def function_not_expanded(patches, cls_token):
    return torch.cat([cls_token, patches], 1)


@wrong("class_token", "no gradient")
def function_by_data(patches, cls_token):
    first = cls_token.data.expand(len(patches), -1, -1)
    return torch.cat([first, patches], 1)


# Learned positions


@right("position_embedding")
class Learned(nn.Module):
    def __init__(self, num_tokens, embed_dim):
        super().__init__()
        self.pos_embed = nn.Parameter(torch.randn(1, num_tokens, embed_dim) * 0.02)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return self.drop(x + self.pos_embed)


@right("position_embedding")
class FromATable(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.positions = nn.Embedding(n, d)
        nn.init.trunc_normal_(self.positions.weight, std=0.02)
        self.register_buffer("ids", torch.arange(n))

    def forward(self, x):
        return x + self.positions(self.ids)


@right("position_embedding")
class Half(nn.Module):
    def __init__(self, num_tokens, embed_dim):
        super().__init__()
        self.table = nn.Parameter(torch.randn(num_tokens, embed_dim) * 0.5)

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
    """As in a tutorial whose batch is the second axis."""

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


# Sines and cosines in two dimensions


@right("sincos_position_embedding")
def in_numpy(embed_dim, grid_size, cls_token=True):
    def code(place, dim):
        omega = 1.0 / 10000 ** (np.arange(dim // 2, dtype=np.float64) / (dim / 2.0))
        out = np.einsum("m,d->md", place.reshape(-1), omega)
        return np.concatenate([np.sin(out), np.cos(out)], axis=1)

    rows, columns = np.meshgrid(*(np.arange(n) for n in grid_size), indexing="ij")
    half = embed_dim // 2
    found = np.concatenate([code(rows, half), code(columns, half)], axis=1)
    if cls_token:
        found = np.concatenate([np.zeros([1, embed_dim]), found], axis=0)
    return torch.from_numpy(found)[None]


@right("sincos_position_embedding")
def number_by_number(embed_dim, grid_size, cls_token=True):
    clocks = range(embed_dim // 4)
    table = [[0.0] * embed_dim] if cls_token else []
    for row in range(grid_size[0]):
        for column in range(grid_size[1]):
            numbers = []
            for place in (row, column):
                angles = [place / 10000 ** (4 * i / embed_dim) for i in clocks]
                numbers += [math.sin(a) for a in angles]
                numbers += [math.cos(a) for a in angles]
            table.append(numbers)
    return torch.tensor(table).unsqueeze(0)


@right("sincos_position_embedding")
def by_exponentials(D, grid, cls_token=True):
    speeds = torch.exp(-math.log(10000.0) * torch.arange(D // 4) / (D // 4))

    def code(length):
        angles = torch.outer(torch.arange(length).float(), speeds)
        return torch.cat((torch.sin(angles), torch.cos(angles)), -1)

    row = repeat(code(grid[0]), "r d -> (r c) d", c=grid[1])
    column = repeat(code(grid[1]), "c d -> (r c) d", r=grid[0])
    found = torch.cat((row, column), -1)
    if cls_token:
        found = torch.cat((torch.zeros(1, D), found))
    return found.view(1, -1, D)


def _tutorial(embed_dim, grid_size, cls_token=True, order="hw", ends=0, start=0):
    height, width = grid_size
    y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    omega = torch.arange(embed_dim // 4) / (embed_dim // 4 - ends)
    omega = 1.0 / (10000**omega)
    y = (y.flatten()[:, None] + start) * omega[None]
    x = (x.flatten()[:, None] + start) * omega[None]
    first, second = (y, x) if order == "hw" else (x, y)
    pe = torch.cat((first.sin(), first.cos(), second.sin(), second.cos()), dim=1)
    if cls_token:
        pe = torch.cat((torch.zeros(1, embed_dim), pe))
    return pe[None]


right("sincos_position_embedding")(_tutorial)


@wrong("sincos_position_embedding", "column first")
def width_goes_first(embed_dim, grid_size, cls_token=True):
    return _tutorial(embed_dim, grid_size, cls_token, order="wh")


@wrong("sincos_position_embedding", "end included")
def divided_by_one_less(embed_dim, grid_size, cls_token=True):
    return _tutorial(embed_dim, grid_size, cls_token, ends=1)


@wrong("sincos_position_embedding", "from 1")
def counted_from_one(embed_dim, grid_size, cls_token=True):
    return _tutorial(embed_dim, grid_size, cls_token, start=1)


@wrong("sincos_position_embedding", "rows and columns swapped")
def down_the_columns(embed_dim, grid_size, cls_token=True):
    found = _tutorial(embed_dim, grid_size, False)[0]
    found = rearrange(found, "(r c) d -> 1 (c r) d", r=grid_size[0])
    return F.pad(found, (0, 0, int(cls_token), 0))


@wrong("sincos_position_embedding", "sizes exchanged")
def divides_by_the_rows(embed_dim, grid_size, cls_token=True):
    return _tutorial(embed_dim, grid_size[::-1], cls_token)


@wrong("sincos_position_embedding", "no class token")
def forgets_the_class_token(embed_dim, grid_size, cls_token=True):
    return _tutorial(embed_dim, grid_size, False)


@wrong("sincos_position_embedding", "no batch axis")
def two_axes(embed_dim, grid_size, cls_token=True):
    return _tutorial(embed_dim, grid_size, cls_token)[0]


@wrong("sincos_position_embedding", "in turns")
def written_in_turns(embed_dim, grid_size, cls_token=True):
    found = _tutorial(embed_dim, grid_size, cls_token)
    turned = torch.zeros_like(found)
    half, quarter = embed_dim // 2, embed_dim // 4
    for start in (0, half):
        turned[..., start : start + half : 2] = found[..., start : start + quarter]
        turned[..., start + 1 : start + half : 2] = found[
            ..., start + quarter : start + half
        ]
    return turned


@wrong("sincos_position_embedding", "one dimension in turns")
def as_for_a_sentence(embed_dim, grid_size, cls_token=True):
    many = grid_size[0] * grid_size[1]
    place = torch.arange(many).unsqueeze(1)
    speed = torch.exp(torch.arange(0, embed_dim, 2) * (-math.log(1e4) / embed_dim))
    pe = torch.zeros(1, many, embed_dim)
    pe[0, :, 0::2], pe[0, :, 1::2] = (place * speed).sin(), (place * speed).cos()
    return F.pad(pe, (0, 0, int(cls_token), 0))


@wrong("sincos_position_embedding", "exponent of D")
def the_whole_width(embed_dim, grid_size, cls_token=True):
    speeds = 10000 ** (-2 * torch.arange(embed_dim // 4) / embed_dim)

    def code(length):
        angles = torch.arange(length)[:, None] * speeds
        return torch.cat([angles.sin(), angles.cos()], dim=1)

    row = code(grid_size[0]).repeat_interleave(grid_size[1], dim=0)
    column = code(grid_size[1]).repeat(grid_size[0], 1)
    return F.pad(torch.cat([row, column], 1), (0, 0, int(cls_token), 0))[None]


@wrong("sincos_position_embedding", "class token at place 0")
def the_class_token_is_number_0(embed_dim, grid_size, cls_token=True):
    found = _tutorial(embed_dim, grid_size, False)
    return torch.cat([found[:, :1], found], dim=1) if cls_token else found


# Positions for another grid


@right("interpolate_position_embedding")
def as_at_loading(pos_embed, grid_size):
    cls, grid = pos_embed[:, :1], pos_embed[0, 1:]
    side = int(math.sqrt(len(grid)))
    grid = grid.reshape(1, side, side, -1).permute(0, 3, 1, 2)
    grid = F.interpolate(grid, size=grid_size, mode="bicubic", antialias=True)
    grid = grid.permute(0, 2, 3, 1).reshape(1, grid_size[0] * grid_size[1], -1)
    return torch.cat([cls, grid], dim=1)


@right("interpolate_position_embedding")
def resized_with_einops(pos_embed, grid_size):
    image = rearrange(
        pos_embed[:, 1:], "1 (r c) d -> d 1 r c", r=int(pos_embed.shape[1] ** 0.5)
    )
    image = F.interpolate(image, grid_size, mode="bicubic", antialias=True)
    image = rearrange(image, "d 1 r c -> 1 (r c) d")
    return torch.cat([pos_embed[:, 0:1, :], image], dim=1)


def _cubic_matrix(old, new):
    def cubic(x):
        x = abs(x)
        if x < 1:
            return 1.5 * x**3 - 2.5 * x**2 + 1
        return -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2 if x < 2 else 0.0

    stretch = max(1.0, old / new)
    middles = [(i + 0.5) * old / new - 0.5 for i in range(new)]
    rows = [[cubic((j - m) / stretch) for j in range(old)] for m in middles]
    return torch.tensor([[w / sum(row) for w in row] for row in rows])


@right("interpolate_position_embedding")
def by_matrices(pos_embed, grid_size):
    side = math.isqrt(pos_embed.shape[1] - 1)
    down, across = (
        _cubic_matrix(side, n).to(torch.float64).to(pos_embed.dtype) for n in grid_size
    )
    grid = pos_embed[0, 1:].unflatten(0, (side, side))
    grid = torch.einsum("rs,sud,cu->rcd", down, grid, across).flatten(0, 1)
    return torch.cat([pos_embed[0, :1], grid])[None]


def _loaded(
    pos_embed,
    grid_size,
    put=lambda cls, grid: torch.cat([cls, grid], 1),
    resize=lambda image, size: F.interpolate(
        image, size, mode="bicubic", antialias=True
    ),
):
    side = math.isqrt(pos_embed.shape[1] - 1)
    image = rearrange(pos_embed[:, 1:], "1 (r c) d -> 1 d r c", r=side)
    image = resize(image, grid_size)
    return put(pos_embed[:, :1], rearrange(image, "1 d r c -> 1 (r c) d"))


@wrong("interpolate_position_embedding", "no antialias")
def as_in_many_loaders(pos_embed, grid_size):
    return _loaded(
        pos_embed,
        grid_size,
        resize=lambda image, size: F.interpolate(
            image, size, mode="bicubic", align_corners=False
        ),
    )


@wrong("interpolate_position_embedding", "nearest")
def without_a_mode(pos_embed, grid_size):
    return _loaded(pos_embed, grid_size, resize=F.interpolate)


@wrong("interpolate_position_embedding", "bilinear")
def bilinearly(pos_embed, grid_size):
    return _loaded(
        pos_embed, grid_size, resize=lambda i, s: F.interpolate(i, s, mode="bilinear")
    )


@wrong("interpolate_position_embedding", "corners aligned")
def with_corners_aligned(pos_embed, grid_size):
    return _loaded(
        pos_embed,
        grid_size,
        resize=lambda i, s: F.interpolate(i, s, mode="bicubic", align_corners=True),
    )


@wrong("interpolate_position_embedding", "class token lost")
def drops_the_class_token(pos_embed, grid_size):
    return _loaded(pos_embed, grid_size, put=lambda cls, grid: grid)


@wrong("interpolate_position_embedding", "class token last")
def appends_the_class_token(pos_embed, grid_size):
    return _loaded(
        pos_embed, grid_size, put=lambda cls, grid: torch.cat([grid, cls], 1)
    )


@wrong("interpolate_position_embedding", "class token resized")
def along_all_tokens(pos_embed, grid_size):
    many = grid_size[0] * grid_size[1] + 1
    return F.interpolate(pos_embed.permute(0, 2, 1), size=many, mode="linear").permute(
        0, 2, 1
    )


@wrong("interpolate_position_embedding", "raises")
def class_token_in_the_grid(pos_embed, grid_size):
    side = math.isqrt(pos_embed.shape[1])
    image = pos_embed.reshape(1, side, side, -1).permute(0, 3, 1, 2)
    return F.interpolate(image, grid_size, mode="bicubic").flatten(2).mT


@wrong("interpolate_position_embedding", "rows and columns swapped")
def width_by_height(pos_embed, grid_size):
    return _loaded(pos_embed, grid_size[::-1])


@wrong("interpolate_position_embedding", "view instead of permute")
def viewed_as_an_image(pos_embed, grid_size):
    side = math.isqrt(pos_embed.shape[1] - 1)
    image = pos_embed[:, 1:].reshape(1, -1, side, side)
    image = F.interpolate(image, grid_size, mode="bicubic", antialias=True)
    return torch.cat([pos_embed[:, :1], image.flatten(2).transpose(1, 2)], 1)


@wrong("interpolate_position_embedding", "not moved back")
def viewed_as_tokens(pos_embed, grid_size):
    return _loaded(
        pos_embed,
        grid_size,
        put=lambda cls, grid: torch.cat(
            [cls, grid.transpose(1, 2).reshape(grid.shape)], 1
        ),
    )


@wrong("interpolate_position_embedding", "numbers resized")
def as_a_table(pos_embed, grid_size):
    many, D = grid_size[0] * grid_size[1], pos_embed.shape[2]
    table = pos_embed[:, 1:].unsqueeze(1)
    table = F.interpolate(table, (many, D), mode="bicubic", antialias=True)
    return torch.cat([pos_embed[:, :1], table.squeeze(1)], 1)


@wrong("interpolate_position_embedding", "no gradient")
def from_data(pos_embed, grid_size):
    return as_at_loading(pos_embed.detach(), grid_size)


# Images to tokens

right("embed_images")(ViTEmbedding)


@right("embed_images")
class Tokens(nn.Module):
    """As most tutorials have it; the wrong ones below change a line of it."""

    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        many = (image_size // patch_size) ** 2
        self.patch_size = patch_size
        self.conv = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)
        self.cls = nn.Parameter(torch.randn(1, 1, embed_dim) * 0.02)
        self.pos = nn.Parameter(torch.randn(1, many + 1, embed_dim) * 0.02)

    def patches(self, x):
        return self.conv(x).flatten(2).transpose(1, 2)

    def token(self, x):
        return self.cls.expand(x.shape[0], -1, -1)

    def forward(self, x):
        return torch.cat([self.token(x), self.patches(x)], dim=1) + self.pos


@right("embed_images")
class RearrangedTokens(nn.Module):
    def __init__(self, size, p, channels, dim):
        super().__init__()
        self.to_patches = nn.Sequential(
            Rearrange("b c (r p1) (s p2) -> b (r s) (p1 p2 c)", p1=p, p2=p),
            nn.Linear(channels * p * p, dim),
        )
        self.position = nn.Embedding((size // p) ** 2 + 1, dim)
        nn.init.normal_(self.position.weight, std=0.02)
        self.class_token = nn.Parameter(torch.zeros(dim))
        self.dropout = nn.Dropout(0.1)

    def forward(self, images):
        tokens = self.to_patches(images)
        first = repeat(self.class_token, "d -> b 1 d", b=len(tokens))
        return self.dropout(torch.cat([first, tokens], 1) + self.position.weight)


@right("embed_images")
class BareParameters(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.p = patch_size
        self.W = nn.Parameter(torch.randn(in_channels * patch_size**2, embed_dim) / 10)
        self.b = nn.Parameter(torch.zeros(embed_dim))
        self.first = nn.Parameter(torch.zeros(embed_dim))
        self.where = nn.Parameter(
            torch.randn((image_size // patch_size) ** 2 + 1, embed_dim) * 0.2
        )

    def forward(self, images):
        patches = patchify(images, self.p) @ self.W + self.b + self.where[1:]
        first = (self.first + self.where[0]).expand(len(images), 1, -1)
        return torch.hstack([first, patches])


@right("embed_images")
class Unfolded(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.unfold = nn.Unfold(patch_size, stride=patch_size)
        self.linear = nn.Linear(in_channels * patch_size**2, embed_dim, bias=False)
        self.cls = nn.Parameter(torch.zeros(1, embed_dim, 1))
        self.cls_pos = nn.Parameter(torch.zeros(1, 1, embed_dim))
        many = (image_size // patch_size) ** 2
        self.pos = nn.Parameter(torch.zeros(1, many, embed_dim))

    def forward(self, images):
        patches = self.linear(self.unfold(images).transpose(1, 2)) + self.pos
        first = self.cls.transpose(1, 2) + self.cls_pos
        return torch.cat([first.repeat(len(images), 1, 1), patches], dim=1)


@right("embed_images")
class FromTheBook(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.patch_embed = PatchEmbedding(
            image_size, patch_size, in_channels, embed_dim
        )
        rows, columns = self.patch_embed.grid_size
        self.add_class_token = InFront(embed_dim)
        self.add_positions = Learned(rows * columns + 1, embed_dim)

    def forward(self, images):
        return self.add_positions(self.add_class_token(self.patch_embed(images)))


@wrong("embed_images", "class token last")
class TokenAtTheEnd(Tokens):
    def forward(self, x):
        return torch.cat([self.patches(x), self.token(x)], dim=1) + self.pos


@wrong("embed_images", "class token without position")
class TokenAfterPositions(Tokens):
    def forward(self, x):
        return torch.cat([self.token(x), self.patches(x) + self.pos[:, 1:]], dim=1)


@wrong("embed_images", "one position too few")
class PositionsOfPatches(Tokens):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__(image_size, patch_size, in_channels, embed_dim)
        self.pos = nn.Parameter(self.pos[:, 1:].detach().clone())

    def forward(self, x):
        return torch.cat([self.token(x), self.patches(x) + self.pos], dim=1)


@wrong("embed_images", "one position too few")
class PositionsOfPatchesRaise(PositionsOfPatches):
    def forward(self, x):
        return torch.cat([self.token(x), self.patches(x)], dim=1) + self.pos


@wrong("embed_images", "positions before the class token")
class PositionsEarly(Tokens):
    def forward(self, x):
        patches = self.patches(x)
        patches = patches + self.pos[:, : patches.shape[1]]
        return torch.cat([self.token(x), patches], dim=1)


@wrong("embed_images", "no positions")
class PositionsForgotten(Tokens):
    def forward(self, x):
        return torch.cat([self.token(x), self.patches(x)], dim=1)


@wrong("embed_images", "no class token")
class TokenForgotten(Tokens):
    def forward(self, x):
        return self.patches(x) + self.pos[:, 1:]


@wrong("embed_images", "positions concatenated")
class PositionsBeside(Tokens):
    def forward(self, x):
        tokens = torch.cat([self.token(x), self.patches(x)], dim=1)
        return torch.cat([tokens, self.pos.expand(len(x), -1, -1)], dim=2)


@wrong("embed_images", "view instead of transpose")
class ConvThenView(Tokens):
    def patches(self, x):
        return self.conv(x).view(len(x), -1, self.cls.shape[-1])


@wrong("embed_images", "patches down the columns")
class DownTheColumns(Tokens):
    def patches(self, x):
        return rearrange(self.conv(x), "b d r c -> b (c r) d")


@wrong("embed_images", "image viewed as patches")
class ImageViewed(Unfolded):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__(image_size, patch_size, in_channels, embed_dim)
        self.size = in_channels * patch_size**2

    def unfold(self, images):
        return images.reshape(len(images), -1, self.size).transpose(1, 2)


@wrong("embed_images", "batch of one")
class TokenNotExpanded(Tokens):
    def token(self, x):
        return self.cls


@wrong("embed_images", "wide start")
class PositionsOfWidthOne(Tokens):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__(image_size, patch_size, in_channels, embed_dim)
        nn.init.normal_(self.pos)


@wrong("embed_images", "no class token")
class NoTokenAtAll(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.conv = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)
        many = (image_size // patch_size) ** 2
        self.pos = nn.Parameter(torch.zeros(1, many + 1, embed_dim))

    def forward(self, x):
        patches = self.conv(x).flatten(2).transpose(1, 2)
        return F.pad(patches, (0, 0, 1, 0)) + self.pos


@wrong("embed_images", "norm")
class Normed(Tokens):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__(image_size, patch_size, in_channels, embed_dim)
        self.norm = nn.LayerNorm(embed_dim)

    def patches(self, x):
        return self.norm(super().patches(x))


@wrong("embed_images", "activation")
class Activated(Tokens):
    def patches(self, x):
        return F.relu(super().patches(x))


@wrong("embed_images", "no patch embedding")
class PixelsAsTokens(Tokens):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__(image_size, patch_size, in_channels, embed_dim)
        self.conv = nn.Conv2d(in_channels, embed_dim, 1)
