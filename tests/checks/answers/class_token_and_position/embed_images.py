import torch
from einops import repeat
from einops.layers.torch import Rearrange
from torch import nn

from tests.checks.answers import right, right_edits, wrong_edits
from tests.checks.answers.class_token_and_position.class_token import InFront
from tests.checks.answers.class_token_and_position.position_embedding import Learned
from vit_steps import PatchEmbedding, ViTEmbedding, patchify

right(ViTEmbedding)


@right_edits("""
positions of width one: many + 1, embed_dim) * 0.02 -> many + 1, embed_dim)
positions turned, and the class token a vector
  1, many + 1, embed_dim -> embed_dim, many + 1
  + self.pos -> + self.pos.T
  torch.randn(1, 1, embed_dim) -> torch.randn(embed_dim)
  expand(len(x), -1, -1) -> expand(len(x), 1, -1)
""")
@wrong_edits("""
built in: super().__init__() -> super().__init__(); in_channels = 3
built in: super().__init__() -> super().__init__(); image_size, patch_size = 20, 4
parameters
  super().__init__() -> super().__init__(); self.norm = nn.LayerNorm(embed_dim)
  [first, patches] -> [first, self.norm(patches)]
raises: embed_dim, patch_size, patch_size -> embed_dim, 1
view instead of transpose
  .flatten(2).transpose(1, 2) -> .view(len(x), -1, self.cls.shape[-1])
patches down the columns: self.conv(x) -> self.conv(x).mT
batch of one: self.cls.expand(len(x), -1, -1) -> self.cls
class token last: [first, patches] -> [patches, first]
one position too few: many + 1 -> many
  patches], dim=1) + self.pos -> patches + self.pos], dim=1)
one position too few: many + 1 -> many
    and raises
parameters: many + 1 -> 197
  + self.pos -> + self.pos[:, : 1 + patches.shape[1]]
positions before the class token
  patches], dim=1) + self.pos -> patches + self.pos[:, :-1]], dim=1)
""")
class Tokens(nn.Module):
    """The code of most tutorials."""

    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        many = (image_size // patch_size) ** 2
        self.conv = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)
        self.cls = nn.Parameter(torch.randn(1, 1, embed_dim) * 0.02)
        self.pos = nn.Parameter(torch.randn(1, many + 1, embed_dim) * 0.02)

    def forward(self, x):
        patches = self.conv(x).flatten(2).transpose(1, 2)
        first = self.cls.expand(len(x), -1, -1)
        return torch.cat([first, patches], dim=1) + self.pos


class RearrangedTokens(nn.Module):
    def __init__(self, size, p, channels, dim, drop=0.1):
        super().__init__()
        self.to_patches = nn.Sequential(
            Rearrange("b c (r p1) (s p2) -> b (r s) (p1 p2 c)", p1=p, p2=p),
            nn.Linear(channels * p * p, dim),
        )
        self.position = nn.Embedding((size // p) ** 2 + 1, dim)
        nn.init.normal_(self.position.weight, std=0.02)
        self.class_token = nn.Parameter(torch.zeros(dim))
        self.dropout = nn.Dropout(drop)

    def forward(self, images):
        tokens = self.to_patches(images)
        first = repeat(self.class_token, "d -> b 1 d", b=len(tokens))
        return self.dropout(torch.cat([first, tokens], 1) + self.position.weight)


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


class Embeddings(nn.Module):
    """The style of Hugging Face's models, with everything initialised by randn."""

    class PatchEmbeddings(nn.Module):
        def __init__(self, image_size, patch_size, num_channels, hidden_size):
            super().__init__()
            self.num_patches = (image_size // patch_size) ** 2
            self.projection = nn.Conv2d(
                num_channels, hidden_size, kernel_size=patch_size, stride=patch_size
            )

        def forward(self, x):
            return self.projection(x).flatten(2).transpose(1, 2)

    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.patch_embeddings = self.PatchEmbeddings(
            image_size, patch_size, in_channels, embed_dim
        )
        self.cls_token = nn.Parameter(torch.randn(1, 1, embed_dim))
        self.position_embeddings = nn.Parameter(
            torch.randn(1, self.patch_embeddings.num_patches + 1, embed_dim)
        )
        self.dropout = nn.Dropout(0.0)

    def forward(self, x):
        x = self.patch_embeddings(x)
        batch_size, _, _ = x.size()
        cls_tokens = self.cls_token.expand(batch_size, -1, -1)
        x = torch.cat((cls_tokens, x), dim=1)
        return self.dropout(x + self.position_embeddings)


class ByNameOfItsParts(nn.Module):
    """A tutorial with nn.Sequential and the layers of einops."""

    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        self.projection = nn.Sequential(
            nn.Conv2d(in_channels, embed_dim, patch_size, stride=patch_size),
            Rearrange("b e h w -> b (h w) e"),
        )
        self.cls_token = nn.Parameter(torch.randn(1, 1, embed_dim))
        number = (image_size // patch_size) ** 2 + 1
        self.positions = nn.Parameter(torch.randn(number, embed_dim))

    def forward(self, x):
        b, _, _, _ = x.shape
        x = self.projection(x)
        cls_tokens = repeat(self.cls_token, "() n e -> b n e", b=b)
        x = torch.cat([cls_tokens, x], dim=1)
        x += self.positions
        return x


@wrong_edits("class token without position: (self.cls + self.cls_pos) -> self.cls")
class PositionsAsAnImage(nn.Module):
    def __init__(self, image_size, patch_size, in_channels, embed_dim):
        super().__init__()
        side = image_size // patch_size
        self.conv = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)
        self.pos = nn.Parameter(torch.randn(1, embed_dim, side, side))
        self.cls = nn.Parameter(torch.randn(1, 1, embed_dim))
        self.cls_pos = nn.Parameter(torch.randn(1, 1, embed_dim))

    def forward(self, images):
        x = (self.conv(images) + self.pos).flatten(2).mT
        cls = (self.cls + self.cls_pos).expand(len(x), -1, -1)
        return torch.cat([cls, x], dim=1)
