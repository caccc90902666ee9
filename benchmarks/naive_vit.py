"""A Vision Transformer written in an evening, as a rival for comparison."""

import torch
from torch import Tensor, nn

from vit_steps import ViTConfig, token_count
from vit_steps.sizes import as_pair


class NaiveViT(nn.Module):
    """A model of thirty lines: a linear layer on cut-out patches, attention in full."""

    def __init__(self, config: ViTConfig) -> None:
        super().__init__()
        P, _ = as_pair(config.patch_size, "patch_size")
        D, L = config.embed_dim, config.depth
        N = token_count(config.image_size, P)
        M = int(D * config.mlp_ratio)
        self.P, self.h = P, config.num_heads
        self.embed = nn.Linear(config.in_channels * P * P, D)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, D))
        self.pos_embed = nn.Parameter(torch.zeros(1, N + 1, D))
        norms = [nn.LayerNorm(D, eps=config.norm_eps) for _ in range(2 * L + 1)]
        self.norms = nn.ModuleList(norms)
        self.qkv = nn.ModuleList(nn.Linear(D, 3 * D) for _ in range(L))
        self.proj = nn.ModuleList(nn.Linear(D, D) for _ in range(L))
        self.fc1 = nn.ModuleList(nn.Linear(D, M) for _ in range(L))
        self.fc2 = nn.ModuleList(nn.Linear(M, D) for _ in range(L))
        self.head = nn.Linear(D, config.num_classes)

    def forward(self, images: Tensor) -> Tensor:
        B, P = len(images), self.P
        cut = images.unfold(2, P, P).unfold(3, P, P)  # (B, C, rows, columns, P, P)
        x = self.embed(cut.permute(0, 2, 3, 1, 4, 5).flatten(3).flatten(1, 2))
        x = torch.cat([self.cls_token.expand(B, -1, -1), x], dim=1) + self.pos_embed
        for i in range(len(self.qkv)):
            q, k, v = self.qkv[i](self.norms[2 * i](x)).chunk(3, dim=-1)  # (B, T, D)
            q, k, v = (y.unflatten(2, (self.h, -1)).transpose(1, 2) for y in (q, k, v))
            scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5  # (B, h, T, T)
            x = x + self.proj[i]((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
            hidden = nn.functional.gelu(self.fc1[i](self.norms[2 * i + 1](x)))
            x = x + self.fc2[i](hidden)  # (B, T, D)
        return self.head(self.norms[-1](x)[:, 0])

    def take(self, state: dict[str, Tensor]) -> "NaiveViT":
        """Load the weights of a ``VisionTransformer``, and return this model."""
        mine = {n: state[n] for n in ("cls_token", "pos_embed")}
        for kind in ("weight", "bias"):
            mine[f"embed.{kind}"] = state[f"patch_embed.proj.{kind}"]
            mine[f"head.{kind}"] = state[f"head.{kind}"]
            mine[f"norms.{len(self.norms) - 1}.{kind}"] = state[f"norm.{kind}"]
            for i in range(len(self.qkv)):
                block = f"blocks.{i}"
                mine[f"norms.{2 * i}.{kind}"] = state[f"{block}.norm1.{kind}"]
                mine[f"norms.{2 * i + 1}.{kind}"] = state[f"{block}.norm2.{kind}"]
                for own, name in (("qkv", "attn.qkv"), ("proj", "attn.proj")):
                    mine[f"{own}.{i}.{kind}"] = state[f"{block}.{name}.{kind}"]
                for own in ("fc1", "fc2"):
                    mine[f"{own}.{i}.{kind}"] = state[f"{block}.mlp.{own}.{kind}"]
        mine["embed.weight"] = mine["embed.weight"].flatten(1)
        self.load_state_dict(mine)
        return self
