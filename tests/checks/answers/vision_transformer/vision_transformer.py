import torch
from einops import rearrange
from torch import nn

from tests.checks.answers import right, right_edits, wrong_edits
from tests.checks.answers.encoder_block.encoder_block import Block
from tests.checks.answers.multi_head_attention.multi_head_attention import AsInKeras
from vit_steps import EncoderBlock, VisionTransformer, ViTConfig, optional, patchify

TIMM, TORCHVISION = optional.timm(), optional.torchvision()


@wrong_edits("""
built in: super().__init__() -> super().__init__(); patch_size = 8
built in: super().__init__() -> super().__init__(); in_channels = 3
parameters: self.head = -> num_classes = 10; self.head =
raises: num_patches + 1 -> 197
no super: super().__init__() -> pass
head on every token: [:, 0] -> nothing
mean of the tokens: [:, 0] -> .mean(dim=1)
last token: [:, 0] -> [:, -1]
first image: [:, 0] -> [0]
no final norm: self.norm(x) -> x
parameters: self.norm = nn.LayerNorm(embed_dim, eps=1e-6) -> pass
  self.norm(x) -> x
softmax at the end
  return self.head(x[:, 0]) -> return F.softmax(self.head(x[:, 0]), dim=-1)
class token last: [cls, patches] -> [patches, cls]
  [:, 0] -> [:, -1]
class token last, first read: [cls, patches] -> [patches, cls]
class token without position: [cls, patches] -> [cls, patches + self.pos[:, 1:]]
  x = x + self.pos -> pass
one position too few: num_patches + 1 -> num_patches
  [cls, patches] -> [cls, patches + self.pos]
  x = x + self.pos -> pass
one position too few: self.cls = nn.Parameter(torch.zeros(1, 1, embed_dim)) -> pass
  num_patches + 1 -> num_patches
  cls = self.cls.expand(len(images), 1, patches.shape[-1]) -> pass
  torch.cat([cls, patches], dim=1) -> patches
view instead of transpose: patches = self.proj(images).flatten(2).transpose(1, 2)
  -> x = self.proj(images); patches = x.reshape(len(x), -1, x.shape[1])
one block every time: block(x) -> self.blocks[0](x)
first block left out: in self.blocks -> in self.blocks[:-1]
blocks forget: x, _ = block(x) -> encoded, _ = block(x)
  self.norm(x) -> self.norm(encoded)
hidden: nn.ModuleList([EncoderBlock(*sizes) for _ in range(depth)])
  -> [EncoderBlock(*sizes) for _ in range(depth)]
residual around the blocks: x, _ = block(x) -> x = x + block(x)[0]
post-norm: x, _ = block(x)
  -> x = block.norm1(x + block.attn(x)[0]); x = block.norm2(x + block.mlp(x))
residual from the normed x: x, _ = block(x)
  -> x = block.norm1(x); x = block.norm2(x + block.attn(x)[0]); x = x + block.mlp(x)
eps 1e-5: EncoderBlock(*sizes) -> EncoderBlock(*sizes, norm_eps=1e-5)
  embed_dim, eps=1e-6 -> embed_dim
eps 1e-5 in the final norm: embed_dim, eps=1e-6 -> embed_dim
more than asked for: EncoderBlock(*sizes) -> EncoderBlock(*sizes, layer_scale=0.1)
unused: self.head = -> self.pre_logits = nn.Linear(5, 5); self.head =
""")
class Net(nn.Module):
    """The code most would write."""

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
        self.patch_size, sizes = patch_size, (embed_dim, num_heads, mlp_ratio)
        num_patches = (image_size // patch_size) ** 2
        self.proj = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)
        self.cls = nn.Parameter(torch.zeros(1, 1, embed_dim))
        self.pos = nn.Parameter(torch.zeros(1, num_patches + 1, embed_dim))
        self.blocks = nn.ModuleList([EncoderBlock(*sizes) for _ in range(depth)])
        self.norm = nn.LayerNorm(embed_dim, eps=1e-6)
        self.head = nn.Linear(embed_dim, num_classes)

    def forward(self, images):
        patches = self.proj(images).flatten(2).transpose(1, 2)
        cls = self.cls.expand(len(images), 1, patches.shape[-1])
        x = torch.cat([cls, patches], dim=1)
        x = x + self.pos
        for block in self.blocks:
            x, _ = block(x)
        x = self.norm(x)
        return self.head(x[:, 0])


@wrong_edits("""
mean of the patches: [:, 0] -> [:, 1:].mean(dim=1)
""")
class PositionsApart(Net):
    """The class token's position is a vector, those of the patches are an image."""

    def __init__(self, *sizes):
        super().__init__(*sizes)
        D, side = sizes[4], sizes[0] // sizes[1]
        self.cls = nn.Parameter(torch.zeros(D))
        self.cls_pos = nn.Parameter(torch.zeros(1, 1, D))
        self.pos = nn.Parameter(torch.zeros(1, D, side, side))

    def forward(self, images):
        patches = (self.proj(images) + self.pos).flatten(2).mT
        cls = self.cls + self.cls_pos
        x = torch.cat([cls.expand(len(images), 1, -1), patches], dim=1)
        for block in self.blocks:
            x, _ = block(x)
        return self.head(self.norm(x)[:, 0])


class _KerasBlock(Block):
    def __init__(self, embed_dim, num_heads, mlp_ratio):
        super().__init__(embed_dim, num_heads, mlp_ratio)
        self.attention = AsInKeras(embed_dim, num_heads)

    def attn(self, x):
        return self.attention(x)

    def forward(self, x):
        return super().forward(x), None


right(VisionTransformer)


def from_the_package(**sizes):
    return VisionTransformer(ViTConfig(**sizes))


def from_timm(**sizes):
    model = TIMM.models.vision_transformer.VisionTransformer(
        img_size=sizes["image_size"],
        patch_size=sizes["patch_size"],
        in_chans=sizes["in_channels"],
        num_classes=sizes["num_classes"],
        embed_dim=sizes["embed_dim"],
        depth=sizes["depth"],
        num_heads=sizes["num_heads"],
        mlp_ratio=sizes["mlp_ratio"],
    )
    return model


def from_torchvision(
    image_size, patch_size, in_channels, num_classes, embed_dim, depth, heads, ratio
):
    model = TORCHVISION.models.VisionTransformer(
        image_size,
        patch_size,
        depth,
        heads,
        embed_dim,
        ratio * embed_dim,
        num_classes=num_classes,
    )
    model.conv_proj = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)
    return model


@wrong_edits("""
class token alone: batch_first=True, -> nothing
ReLU: activation="gelu", -> nothing
dropout: dropout=dropout, -> nothing
PyTorch's defaults: activation="gelu", -> nothing
  norm_first=True, -> nothing
  layer_norm_eps=1e-6, -> nothing
""")
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
        dropout=0.1,
    ):
        super().__init__()
        number = (image_size * image_size) // patch_size**2
        self.classifier = nn.Sequential(
            nn.LayerNorm(normalized_shape=embed_dim, eps=1e-6),
            nn.Linear(embed_dim, num_classes),
        )
        self.class_embedding = nn.Parameter(torch.randn(1, 1, embed_dim))
        self.position_embedding = nn.Parameter(torch.randn(1, number + 1, embed_dim))
        self.embedding_dropout = nn.Dropout(p=dropout)
        self.patcher = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)
        self.flatten = nn.Flatten(start_dim=2, end_dim=3)
        layer = nn.TransformerEncoderLayer(
            d_model=embed_dim,
            nhead=num_heads,
            dim_feedforward=int(embed_dim * mlp_ratio),
            dropout=dropout,
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
            self.to_out = nn.Sequential(nn.Linear(dim, dim), nn.Dropout(0.0))

        def forward(self, x):
            qkv = self.to_qkv(x).chunk(3, dim=-1)
            q, k, v = (rearrange(t, "b n (h d) -> b h n d", h=self.heads) for t in qkv)
            attn = (torch.matmul(q, k.transpose(-1, -2)) * self.scale).softmax(dim=-1)
            return self.to_out(rearrange(attn @ v, "b h n d -> b n (h d)"))

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
        order = "b c (h p) (w q) -> b (h w) (p q c)"
        x = self.to_patch(rearrange(img, order, p=self.p, q=self.p))
        x = torch.cat((self.cls_token.repeat(len(x), 1, 1), x), dim=1)
        x = x + self.pos_embedding[:, : x.shape[1]]
        for attn, ff in self.layers:
            x = attn(x) + x
            x = ff(x) + x
        return self.mlp_head(x[:, 0])


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


@wrong_edits("""
no final norm: norm(x[:, 0]) -> x[:, 0]
blocks in reverse: *blocks -> *reversed(blocks)
mean of the tokens: norm(x[:, 0]) -> norm(x).mean(1)
""")
def as_callables(images, embed, blocks, norm, head):
    x = nn.Sequential(*map(_Lambda, [embed, *blocks]))(images)
    return head(norm(x[:, 0]))


class _Lambda(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


RIGHT_TOO = """
a norm on weights of the model's own: self.norm = nn.LayerNorm(embed_dim, eps=1e-6)
  -> self.gamma = nn.Parameter(torch.ones(1, 1, embed_dim)); self.beta = self.gamma
  self.beta = self.gamma -> self.beta = nn.Parameter(torch.zeros(1, 1, embed_dim))
  self.norm(x)
  -> F.layer_norm(x, x.shape[-1:], self.gamma.flatten(), self.beta.flatten(), 1e-6)
a matrix, its bias and the class token of the model's own
  self.proj = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)
  -> self.W_e = nn.Parameter(torch.randn(in_channels * patch_size**2, embed_dim))
  self.cls = -> self.b_e = nn.Parameter(torch.zeros(embed_dim)); self.cls =
  torch.zeros(1, 1, embed_dim) -> torch.zeros(embed_dim)
  self.proj(images).flatten(2).transpose(1, 2)
  -> patchify(images, self.patch_size) @ self.W_e + self.b_e
positions turned
  torch.zeros(1, num_patches + 1, embed_dim) -> torch.zeros(embed_dim, num_patches + 1)
  + self.pos -> + self.pos.T
tensors of its own
  self.proj = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)
  -> self.kernel = nn.Parameter(torch.randn(in_channels * patch_size**2, embed_dim))
  self.cls = -> self.bias = nn.Parameter(torch.zeros(embed_dim)); self.cls =
  self.proj(images).flatten(2).transpose(1, 2)
  -> patchify(images, self.patch_size) @ self.kernel + self.bias
  EncoderBlock -> _KerasBlock
"""

right_edits(RIGHT_TOO, patchify=patchify)(Net)
