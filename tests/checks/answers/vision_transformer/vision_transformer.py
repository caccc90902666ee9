import copy

import torch
from einops import rearrange
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import right, wrong
from tests.checks.answers.encoder_block.encoder_block import Block
from tests.checks.answers.multi_head_attention.multi_head_attention import AsInKeras
from vit_steps import EncoderBlock, VisionTransformer, ViTConfig, optional, patchify

TIMM, TORCHVISION = optional.timm(), optional.torchvision()


class Net(nn.Module):
    """The code most would write; the wrong answers below change a line of it."""

    block = EncoderBlock

    def __init__(
        self,
        image_size,
        patch_size,
        in_channels,
        num_classes,
        embed_dim,
        depth,
        num_heads,
        mlp_ratio=4.0,
    ):
        super().__init__()
        self.patch_size, self.embed_dim = patch_size, embed_dim
        num_patches = (image_size // patch_size) ** 2
        self.proj = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)
        self.cls = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos = nn.Parameter(torch.zeros(1, num_patches + 1, embed_dim))
        self.blocks = self.make_blocks(depth, embed_dim, num_heads, mlp_ratio)
        self.norm = nn.LayerNorm(embed_dim, eps=1e-6)
        self.head = nn.Linear(embed_dim, num_classes)

    def make_blocks(self, depth, *sizes):
        return nn.ModuleList([self.block(*sizes) for _ in range(depth)])

    def patches(self, images):
        return self.proj(images).flatten(2).transpose(1, 2)

    def embed(self, images):
        cls = self.cls.expand(images.shape[0], -1, -1)
        return torch.cat([cls, self.patches(images)], dim=1) + self.pos

    def encode(self, x):
        for block in self.blocks:
            x, _ = block(x)
        return x

    def forward(self, images):
        return self.head(self.norm(self.encode(self.embed(images)))[:, 0])


right("vision_transformer")(Net)


def built_in(**fixed):
    class Fixed(Net):
        def __init__(self, *sizes):
            names = "image_size patch_size in_channels num_classes embed_dim depth"
            names = [*names.split(), "num_heads", "mlp_ratio"]
            super().__init__(**dict(zip(names, sizes, strict=True)) | fixed)

    return Fixed


for name, number in (
    ("patch_size", 8),
    ("in_channels", 3),
    ("num_classes", 11),
    ("embed_dim", 14),
    ("depth", 3),
    ("num_heads", 2),
    ("num_heads", 4),
    ("mlp_ratio", 5),
):
    wrong("vision_transformer", "built in")(built_in(**{name: number}))


@wrong("vision_transformer", "built in")
def from_torchvision_unchanged(
    image_size, patch_size, in_channels, num_classes, embed_dim, depth, heads, ratio
):
    return TORCHVISION.models.VisionTransformer(
        image_size,
        patch_size,
        depth,
        heads,
        embed_dim,
        ratio * embed_dim,
        num_classes=num_classes,
    )


right("vision_transformer")(VisionTransformer)


@right("vision_transformer")
def from_the_package(**sizes):
    return VisionTransformer(ViTConfig(**sizes))


@right("vision_transformer")
def from_timm(**sizes):
    return TIMM.models.vision_transformer.VisionTransformer(
        img_size=sizes["image_size"],
        patch_size=sizes["patch_size"],
        in_chans=sizes["in_channels"],
        num_classes=sizes["num_classes"],
        embed_dim=sizes["embed_dim"],
        depth=sizes["depth"],
        num_heads=sizes["num_heads"],
        mlp_ratio=sizes["mlp_ratio"],
        drop_rate=0.1,
    )


@right("vision_transformer")
def from_torchvision(
    image_size, patch_size, in_channels, num_classes, embed_dim, depth, heads, ratio
):
    model = from_torchvision_unchanged(
        image_size, patch_size, in_channels, num_classes, embed_dim, depth, heads, ratio
    )
    model.conv_proj = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)
    return model


@right("vision_transformer")
class WithTorchsEncoder(nn.Module):
    """Flattened convolution, PyTorch's layers, and a norm inside the classifier."""

    def __init__(
        self,
        image_size,
        patch_size,
        in_channels,
        num_classes,
        embed_dim,
        depth,
        num_heads,
        mlp_ratio,
    ):
        super().__init__()
        number = (image_size * image_size) // patch_size**2
        self.classifier = nn.Sequential(
            nn.LayerNorm(normalized_shape=embed_dim, eps=1e-6),
            nn.Linear(embed_dim, num_classes),
        )
        self.class_embedding = nn.Parameter(torch.randn(1, 1, embed_dim))
        self.position_embedding = nn.Parameter(torch.randn(1, number + 1, embed_dim))
        self.embedding_dropout = nn.Dropout(p=0.1)
        self.patcher = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)
        self.flatten = nn.Flatten(start_dim=2, end_dim=3)
        layer = nn.TransformerEncoderLayer(
            d_model=embed_dim,
            nhead=num_heads,
            dim_feedforward=int(embed_dim * mlp_ratio),
            activation="gelu",
            batch_first=True,
            norm_first=True,
            layer_norm_eps=1e-6,
        )
        self.transformer_encoder = nn.TransformerEncoder(
            layer, num_layers=depth, enable_nested_tensor=False
        )

    def forward(self, x):
        class_token = self.class_embedding.expand(x.shape[0], -1, -1)
        x = self.flatten(self.patcher(x)).permute(0, 2, 1)
        x = torch.cat((class_token, x), dim=1)
        x = self.embedding_dropout(self.position_embedding + x)
        x = self.transformer_encoder(x)
        return self.classifier(x[:, 0])


@right("vision_transformer")
class WithPreNorms(nn.Module):
    """Patches by einops and a linear layer, and wrappers that norm and add."""

    class PreNorm(nn.Module):
        def __init__(self, dim, fn):
            super().__init__()
            self.norm = nn.LayerNorm(dim, eps=1e-6)
            self.fn = fn

        def forward(self, x):
            return self.fn(self.norm(x))

    class Attention(nn.Module):
        def __init__(self, dim, heads):
            super().__init__()
            self.heads, self.scale = heads, (dim // heads) ** -0.5
            self.to_qkv = nn.Linear(dim, dim * 3, bias=False)
            self.to_out = nn.Sequential(nn.Linear(dim, dim), nn.Dropout(0.1))

        def forward(self, x):
            qkv = self.to_qkv(x).chunk(3, dim=-1)
            q, k, v = (rearrange(t, "b n (h d) -> b h n d", h=self.heads) for t in qkv)
            attn = (torch.matmul(q, k.transpose(-1, -2)) * self.scale).softmax(dim=-1)
            return self.to_out(rearrange(attn @ v, "b h n d -> b n (h d)"))

    order = "b c (h p) (w q) -> b (h w) (p q c)"

    def __init__(self, **sizes):
        super().__init__()
        self.p = sizes["patch_size"]
        dim, depth = sizes["embed_dim"], sizes["depth"]
        number = (sizes["image_size"] // self.p) ** 2
        self.pos_embedding = nn.Parameter(torch.randn(1, number + 1, dim))
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim))
        self.to_patch = nn.Linear(sizes["in_channels"] * self.p**2, dim)
        self.layers = nn.ModuleList(
            nn.ModuleList(
                [
                    self.PreNorm(dim, self.Attention(dim, sizes["num_heads"])),
                    self.PreNorm(dim, self.feed(dim, sizes["mlp_ratio"] * dim)),
                ]
            )
            for _ in range(depth)
        )
        self.mlp_head = nn.Sequential(
            nn.LayerNorm(dim, eps=1e-6), nn.Linear(dim, sizes["num_classes"])
        )

    @staticmethod
    def feed(dim, hidden):
        return nn.Sequential(nn.Linear(dim, hidden), nn.GELU(), nn.Linear(hidden, dim))

    def forward(self, img):
        x = self.to_patch(rearrange(img, self.order, p=self.p, q=self.p))
        x = torch.cat((self.cls_token.repeat(len(x), 1, 1), x), dim=1)
        x = x + self.pos_embedding[:, : x.shape[1]]
        for attn, ff in self.layers:
            x = attn(x) + x
            x = ff(x) + x
        return self.mlp_head(x[:, 0])


@right("vision_transformer")
class TokensFirst(nn.Module):
    """T before B, nn.MultiheadAttention, and an embedding table for the positions."""

    class Block(nn.Module):
        def __init__(self, dim, heads, ratio):
            super().__init__()
            self.layer_norm_1 = nn.LayerNorm(dim, eps=1e-6)
            self.attn = nn.MultiheadAttention(dim, heads)
            self.layer_norm_2 = nn.LayerNorm(dim, eps=1e-6)
            self.linear = nn.Sequential(
                nn.Linear(dim, ratio * dim), nn.GELU(), nn.Linear(ratio * dim, dim)
            )

        def forward(self, x):
            inp_x = self.layer_norm_1(x)
            x = x + self.attn(inp_x, inp_x, inp_x)[0]
            return x + self.linear(self.layer_norm_2(x))

    def __init__(self, config):
        super().__init__()
        dim, self.p = config.embed_dim, config.patch_size
        number = (config.image_size // self.p) ** 2
        self.input_layer = nn.Linear(config.in_channels * self.p**2, dim)
        self.transformer = nn.Sequential(
            *(
                self.Block(dim, config.num_heads, config.mlp_ratio)
                for _ in range(config.depth)
            )
        )
        self.mlp_head = nn.Sequential(
            nn.LayerNorm(dim, eps=1e-6), nn.Linear(dim, config.num_classes)
        )
        self.cls_token = nn.Parameter(torch.randn(1, 1, dim))
        self.positions = nn.Embedding(number + 1, dim)

    def forward(self, x):
        B, C, H, W = x.shape
        p = self.p
        x = x.reshape(B, C, H // p, p, W // p, p).permute(0, 2, 4, 1, 3, 5)
        x = self.input_layer(x.flatten(1, 2).flatten(2, 4))
        x = torch.cat([self.cls_token.repeat(B, 1, 1), x], dim=1)
        x = x + self.positions(torch.arange(x.shape[1]))
        x = self.transformer(x.transpose(0, 1))
        return self.mlp_head(x[0])


@right("vision_transformer")
def as_callables(images, embed, blocks, norm, head):
    x = nn.Sequential(*map(Lambda, [embed, *blocks]))(images)
    return head(norm(x[:, 0]))


class Lambda(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


@wrong("vision_transformer", "head on every token")
class EveryToken(Net):
    def forward(self, images):
        return self.head(self.norm(self.encode(self.embed(images))))


@wrong("vision_transformer", "mean of the tokens")
class MeanOfTokens(Net):
    def forward(self, images):
        return self.head(self.norm(self.encode(self.embed(images))).mean(dim=1))


@wrong("vision_transformer", "mean of the patches")
def pooled_by_timm(**sizes):
    model = from_timm(**sizes)
    model.global_pool = "avg"
    return model


@wrong("vision_transformer", "last token")
class LastToken(Net):
    def forward(self, images):
        return self.head(self.norm(self.encode(self.embed(images)))[:, -1])


@wrong("vision_transformer", "first image")
class FirstImage(Net):
    def forward(self, images):
        return self.head(self.norm(self.encode(self.embed(images)))[0])


@wrong("vision_transformer", "no final norm")
class NormNotCalled(Net):
    def forward(self, images):
        return self.head(self.encode(self.embed(images))[:, 0])


@wrong("vision_transformer", "final norm missing")
class NormNotMade(NormNotCalled):
    def __init__(self, **sizes):
        super().__init__(**sizes)
        del self.norm


@wrong("vision_transformer", "softmax at the end")
class Softmax(Net):
    def forward(self, images):
        return F.softmax(super().forward(images), dim=-1)


@wrong("vision_transformer", "class token last")
class TokenLast(Net):
    def embed(self, images):
        cls = self.cls.expand(images.shape[0], -1, -1)
        return torch.cat([self.patches(images), cls], dim=1) + self.pos

    def forward(self, images):
        return self.head(self.norm(self.encode(self.embed(images)))[:, -1])


@wrong("vision_transformer", "class token last, first read")
class TokenLastFirstRead(TokenLast):
    forward = Net.forward


@wrong("vision_transformer", "no position for the class token")
class PositionTooEarly(Net):
    def embed(self, images):
        x = self.patches(images) + self.pos[:, 1:]
        return torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1)


@wrong("vision_transformer", "positions for the patches alone")
class PositionsForPatches(Net):
    def __init__(self, **sizes):
        super().__init__(**sizes)
        self.pos = nn.Parameter(self.pos[:, 1:].detach())

    def embed(self, images):
        x = self.patches(images) + self.pos
        return torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1)


@wrong("vision_transformer", "no positions")
class PositionsForgotten(Net):
    def embed(self, images):
        x = self.patches(images)
        return torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1)


@wrong("vision_transformer", "no class token")
class NoClassToken(Net):
    def __init__(self, **sizes):
        super().__init__(**sizes)
        del self.cls
        self.pos = nn.Parameter(self.pos[:, 1:].detach())

    def embed(self, images):
        return self.patches(images) + self.pos


@wrong("vision_transformer", "reshape instead of transpose")
class Reshaped(Net):
    def patches(self, images):
        return self.proj(images).reshape(len(images), -1, self.embed_dim)


@wrong("vision_transformer", "patches by columns")
class ByColumns(Net):
    def patches(self, images):
        return rearrange(self.proj(images), "b d h w -> b (w h) d")


@wrong("vision_transformer", "patches by view")
class ByView(Net):
    def patches(self, images):
        cut = images.reshape(len(images), -1, images.shape[1] * self.patch_size**2)
        return cut @ self.proj.weight.flatten(1).T + self.proj.bias


@wrong("vision_transformer", "patches by columns")
class EinopsByColumns(WithPreNorms):
    order = "b c (h p) (w q) -> b (w h) (p q c)"


@wrong("vision_transformer", "one block shared")
class OneBlock(Net):
    def make_blocks(self, depth, *sizes):
        return nn.ModuleList([EncoderBlock(*sizes)] * depth)


@wrong("vision_transformer", "one block shared")
class AShallowCopy(Net):
    def make_blocks(self, depth, *sizes):
        block = EncoderBlock(*sizes)
        return nn.Sequential(*(copy.copy(block) for _ in range(depth)))


@wrong("vision_transformer", "one block every time")
class FirstBlockOnly(Net):
    def encode(self, x):
        for _ in self.blocks:
            x, _ = self.blocks[0](x)
        return x


@wrong("vision_transformer", "first block left out")
class OneBlockFewer(Net):
    def encode(self, x):
        for block in self.blocks[:-1]:
            x, _ = block(x)
        return x


@wrong("vision_transformer", "number of blocks")
class OneBlockMore(Net):
    def make_blocks(self, depth, *sizes):
        return super().make_blocks(depth + 1, *sizes)


@wrong("vision_transformer", "blocks forget")
class Forgetful(Net):
    def encode(self, x):
        for block in self.blocks:
            encoded, _ = block(x)
        return encoded


@wrong("vision_transformer", "hidden")
class BlocksInAList(Net):
    def make_blocks(self, depth, *sizes):
        return [EncoderBlock(*sizes) for _ in range(depth)]


@wrong("vision_transformer", "residual around the blocks")
class AddsAgain(Net):
    def encode(self, x):
        for block in self.blocks:
            x = x + block(x)[0]
        return x


@wrong("vision_transformer", "read before the blocks")
class ReadsEarly(Net):
    def forward(self, images):
        x = self.embed(images)
        self.encode(x)
        return self.head(self.norm(x)[:, 0])


class PostNormBlock(EncoderBlock):
    def forward(self, x):
        x = self.norm1(x + self.attn(x)[0])
        return self.norm2(x + self.mlp(x)), None


class NormedBlock(EncoderBlock):
    def forward(self, x):
        x = self.norm1(x)
        x = self.norm2(x + self.attn(x)[0])
        return x + self.mlp(x), None


@wrong("vision_transformer", "post-norm")
class PostNorm(Net):
    block = PostNormBlock


@wrong("vision_transformer", "residual from the normed x")
class FromNormed(Net):
    block = NormedBlock


class Changed(Net):
    """PyTorch's layers with some of their defaults, named in ``settings``."""

    settings: dict = {}  # noqa: RUF012

    def make_blocks(self, depth, dim, heads, ratio):
        kept = {"batch_first": True, "norm_first": True, "activation": "gelu"}
        kept |= {"layer_norm_eps": 1e-6}
        kept = {k: v for k, v in kept.items() if k not in self.settings}
        make = lambda: nn.TransformerEncoderLayer(dim, heads, ratio * dim, **kept)  # noqa: E731
        return nn.ModuleList([make() for _ in range(depth)])

    def encode(self, x):
        for block in self.blocks:
            x = block(x)
        return x


@wrong("vision_transformer", "class token alone")
class BatchSecond(Changed):
    settings = {"batch_first"}  # noqa: RUF012


@wrong("vision_transformer", "post-norm")
class NormLast(Changed):
    settings = {"norm_first"}  # noqa: RUF012


@wrong("vision_transformer", "ReLU")
class WithRelu(Changed):
    settings = {"activation"}  # noqa: RUF012


@wrong("vision_transformer", "eps 1e-5 in the blocks")
class WithEps(Changed):
    settings = {"layer_norm_eps"}  # noqa: RUF012


@wrong("vision_transformer", "PyTorch's defaults")
class WithAllDefaults(Changed):
    settings = {"norm_first", "activation", "layer_norm_eps"}  # noqa: RUF012


@wrong("vision_transformer", "eps 1e-5")
class EpsOfOnce(Net):
    def __init__(self, **sizes):
        super().__init__(**sizes)
        for part in self.modules():
            if isinstance(part, nn.LayerNorm):
                part.eps = 1e-5


@wrong("vision_transformer", "eps 1e-5 in the final norm")
class FinalEps(Net):
    def __init__(self, **sizes):
        super().__init__(**sizes)
        self.norm = nn.LayerNorm(sizes["embed_dim"])


@wrong("vision_transformer", "unused")
class PartNotCalled(Net):
    def __init__(self, **sizes):
        super().__init__(**sizes)
        self.pre_logits = nn.Linear(5, 5)


@wrong("vision_transformer", "no super")
class ForgetsSuper(nn.Module):
    def __init__(self, **sizes):
        self.head = nn.Linear(sizes["embed_dim"], sizes["num_classes"])

    def forward(self, images):
        return self.head(images)


@wrong("vision_transformer", "no final norm")
def without_norm(images, embed, blocks, norm, head):
    x = embed(images)
    for block in blocks:
        x = block(x)
    return head(x[:, 0])


@wrong("vision_transformer", "blocks in reverse")
def backwards(images, embed, blocks, norm, head):
    return as_callables(images, embed, reversed(blocks), norm, head)


@wrong("vision_transformer", "mean of the tokens")
def pooled(images, embed, blocks, norm, head):
    x = embed(images)
    for block in blocks:
        x = block(x)
    return head(norm(x).mean(1))


# Parameters that belong to the model


class RawEnd(Net):
    """A model that holds the weights of the last norm itself."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        D = self.norm.normalized_shape
        del self.norm
        self.gamma = nn.Parameter(torch.ones(1, 1, *D))
        self.beta = nn.Parameter(torch.zeros(1, 1, *D))

    def norm_of(self, x):
        gamma, beta = self.gamma.flatten(), self.beta.flatten()
        return F.layer_norm(x, gamma.shape, gamma, beta, 1e-6)

    def forward(self, images):
        return self.head(self.norm_of(self.encode(self.embed(images)))[:, 0])


right("vision_transformer")(RawEnd)


@right("vision_transformer")
class RawPatches(Net):
    """A model that holds the patch embedding's weights and the class token itself."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        D, P, C = self.embed_dim, sizes[1], sizes[2]
        del self.proj, self.cls
        self.W_e = nn.Parameter(torch.randn(C * P * P, D) * 0.02)
        self.b_e = nn.Parameter(torch.zeros(D))
        self.cls = nn.Parameter(torch.zeros(D))

    def embed(self, images):
        x = patchify(images, self.patch_size) @ self.W_e + self.b_e
        cls = self.cls.expand(len(x), 1, self.embed_dim)
        return torch.cat([cls, x], dim=1) + self.pos


# Other models


@wrong("vision_transformer", "mean of the patches, then norm")
def averaged_by_timm(**sizes):
    return TIMM.models.vision_transformer.VisionTransformer(
        img_size=sizes["image_size"],
        patch_size=sizes["patch_size"],
        in_chans=sizes["in_channels"],
        num_classes=sizes["num_classes"],
        embed_dim=sizes["embed_dim"],
        depth=sizes["depth"],
        num_heads=sizes["num_heads"],
        mlp_ratio=sizes["mlp_ratio"],
        global_pool="avg",
    )


@wrong("vision_transformer", "mean of the tokens, then norm")
class MeanFirst(Net):
    def forward(self, images):
        return self.head(self.norm(self.encode(self.embed(images)).mean(dim=1)))


@wrong("vision_transformer", "more than asked for")
class WithLayerScale(Net):
    @staticmethod
    def block(*sizes):
        return EncoderBlock(*sizes, layer_scale=0.1)


@wrong("vision_transformer", "no residual with PyTorch's eps")
class NothingAddedAndEps(Net):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        for part in self.modules():
            if isinstance(part, nn.LayerNorm):
                part.eps = 1e-5

    def encode(self, x):
        for block in self.blocks:
            x = block.attn(block.norm1(x))[0]
            x = block.mlp(block.norm2(x))
        return x


class WithAnotherHead(Net):
    """A head with ten classes, whatever K is."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.head = nn.Linear(self.head.in_features, 10)


wrong("vision_transformer", "number of classes")(WithAnotherHead)


@wrong("vision_transformer", "another number of positions")
class WithPositionsOfBase(Net):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        D = self.head.in_features
        self.pos = nn.Parameter(torch.zeros(1, 197, D))


@right("vision_transformer")
class PositionsApart(Net):
    """The class token's position is a vector, those of the patches are an image."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        side = sizes[0] // sizes[1]
        self.cls = nn.Parameter(torch.zeros(self.embed_dim))
        self.cls_pos = nn.Parameter(torch.zeros(1, 1, self.embed_dim))
        self.pos = nn.Parameter(torch.zeros(1, self.embed_dim, side, side))

    def embed(self, images):
        patches = (self.proj(images) + self.pos).flatten(2).mT
        cls = (self.cls + self.cls_pos).expand(len(images), -1, -1)
        return torch.cat([cls, patches], dim=1)


@wrong("vision_transformer", "mean of the patches")
class PositionsApartAveraged(PositionsApart):
    def forward(self, images):
        x = self.norm(self.encode(self.embed(images)))
        return self.head(x[:, 1:].mean(dim=1))


@wrong("vision_transformer", "unused")
class PositionsApartOneForgotten(PositionsApart):
    def embed(self, images):
        patches = (self.proj(images) + self.pos).flatten(2).mT
        return torch.cat([self.cls.expand(len(images), 1, -1), patches], dim=1)


@right("vision_transformer")
class PositionsTurned(Net):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.pos = nn.Parameter(self.pos[0].detach().T.contiguous())

    def embed(self, images):
        cls = self.cls.expand(images.shape[0], -1, -1)
        return torch.cat([cls, self.patches(images)], dim=1) + self.pos.T


class KerasBlock(Block):
    def __init__(self, embed_dim, num_heads, mlp_ratio):
        super().__init__(embed_dim, num_heads, mlp_ratio)
        self.attention = AsInKeras(embed_dim, num_heads)

    def attn(self, x):
        return self.attention(x)

    def forward(self, x):
        return super().forward(x), None


@right("vision_transformer")
class TensorsOfItsOwn(Net):
    block = KerasBlock

    def __init__(self, *sizes):
        super().__init__(*sizes)
        kernel = self.proj.weight.flatten(1).T.contiguous()
        self.kernel, self.bias = nn.Parameter(kernel), nn.Parameter(self.proj.bias)
        del self.proj

    def patches(self, images):
        return patchify(images, self.patch_size) @ self.kernel + self.bias
