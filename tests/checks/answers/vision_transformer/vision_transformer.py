import torch
from einops import rearrange
from torch import nn

from tests.checks.answers import right, right_edits, wrong_edits
from tests.checks.answers.encoder_block.encoder_block import Block, PreNorms
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
unused: in self.blocks -> in self.blocks[::2]
    "… has a parameter blocks.1.norm1.weight that …"
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


@wrong_edits("mean of the patches: [:, 0] -> [:, 1:].mean(dim=1)")
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


def from_timm(image_size, in_channels, **sizes):
    model = TIMM.models.vision_transformer.VisionTransformer
    return model(img_size=image_size, in_chans=in_channels, **sizes)


def from_torchvision(
    image_size, patch_size, in_channels, num_classes, embed_dim, depth, heads, ratio
):
    model = TORCHVISION.models.VisionTransformer(
        image_size,
        patch_size,
        depth,
        heads,
        embed_dim,
        int(ratio * embed_dim),
        num_classes=num_classes,
    )
    model.conv_proj = nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)
    return model


@wrong_edits("""
class token alone: batch_first=True, -> nothing
ReLU: activation="gelu", -> nothing
dropout: dropout=p, -> nothing
""")
class WithTorchsEncoder(nn.Module):
    """Flattened convolution, PyTorch's layers, and a norm inside the classifier."""

    def __init__(self, size, patch, channels, classes, dim, depth, heads, ratio, p=0.1):
        super().__init__()
        number = (size * size) // patch**2
        self.classifier = nn.Sequential(
            nn.LayerNorm(normalized_shape=dim, eps=1e-6),
            nn.Linear(dim, classes),
        )
        self.class_embedding = nn.Parameter(torch.randn(1, 1, dim))
        self.position_embedding = nn.Parameter(torch.randn(1, number + 1, dim))
        self.embedding_dropout = nn.Dropout(p=p)
        self.patcher = nn.Conv2d(channels, dim, patch, patch)
        self.flatten = nn.Flatten(start_dim=2, end_dim=3)
        layer = nn.TransformerEncoderLayer(
            d_model=dim,
            nhead=heads,
            dim_feedforward=int(dim * ratio),
            dropout=p,
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


@wrong_edits("""
no final norm: norm(x[:, 0]) -> x[:, 0]
blocks in reverse: *blocks -> *reversed(blocks)
last block left out: *blocks -> *blocks[:-1]
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


class WithAConfig(Net):
    def __init__(self, config):
        names = (
            "image_size patch_size in_channels num_classes embed_dim depth num_heads"
        )
        sizes = {name: getattr(config, name) for name in names.split()}
        super().__init__(**sizes, mlp_ratio=config.mlp_ratio)


right_edits(
    """
patches by a linear layer, row, column and channel in turn, and positions in a table
  nn.Conv2d(in_channels, embed_dim, patch_size, patch_size)
  -> nn.Linear(in_channels * patch_size**2, embed_dim)
  nn.Parameter(torch.zeros(1, num_patches + 1, embed_dim))
  -> nn.Embedding(num_patches + 1, embed_dim)
  self.proj(images).flatten(2).transpose(1, 2)
  -> self.proj(rearrange(images, order, p=self.patch_size, q=self.patch_size))
  x + self.pos -> x + self.pos(torch.arange(x.shape[1]))
tokens before the batch, and PyTorch's layers
  EncoderBlock(*sizes) -> nn.TransformerEncoderLayer(embed_dim, num_heads, dim, **usual)
  self.blocks = -> dim = int(mlp_ratio * embed_dim); self.blocks =
  x = x + self.pos -> x = (x + self.pos).transpose(0, 1)
  x, _ = block(x) -> x = block(x)
  x[:, 0] -> x[0]
wrappers that norm and add, and no biases for q, k and v
  EncoderBlock -> PreNorms
  x, _ = block(x) -> x = block(x)
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
""",
    patchify=patchify,
    PreNorms=PreNorms,
    rearrange=rearrange,
    order="b c (h p) (w q) -> b (h w) (p q c)",
    usual=dict(dropout=0, activation="gelu", layer_norm_eps=1e-6, norm_first=True),
)(Net)
