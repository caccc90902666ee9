"""DeiT: a second token that learns from a teacher (arXiv 2012.12877, section 4)."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from vit_steps.cost import ModelCost
from vit_steps.embedding import learned_position_embedding, prepend_tokens
from vit_steps.vision_transformer import VisionTransformer, ViTConfig


@dataclass(frozen=True)
class DistilledConfig(ViTConfig):
    """A ``ViTConfig`` that counts the second token and the second head."""

    @property
    def num_prefix_tokens(self) -> int:
        """The number of tokens before the patches: class and distillation."""
        return 2

    def cost(self) -> ModelCost:
        """Return shape, parameters and MACs of every step, without building a model."""
        cost = super().cost()
        head = cost.steps[-1]
        again = sum(s.macs for s in cost.steps if s.name in ("pre_logits", "head"))
        head_dist = replace(head, name="head_dist", macs=again)
        return replace(cost, steps=(*cost.steps, head_dist))


class DistilledVisionTransformer(VisionTransformer):
    """A Vision Transformer with a distillation token beside the class token.

    The class token's head learns the labels, the distillation token's head the answers
    of a teacher. In use, the logits of both are averaged. Parameters are named as in
    timm.

    Shape: (B, C, H, W) -> (B, K)
    """

    config: DistilledConfig
    config_class = DistilledConfig
    heads = ("head", "head_dist")

    def __init__(self, config: DistilledConfig) -> None:
        super().__init__(config)
        rows, columns = self.patch_embed.grid_size
        self.dist_token = nn.Parameter(torch.zeros(1, 1, config.embed_dim))
        T = self.num_prefix_tokens + rows * columns
        self.pos_embed = learned_position_embedding(T, config.embed_dim)
        self.head_dist = self.make_head()

    def embed(self, images: Tensor) -> Tensor:
        """Embed the images: (B, C, H, W) -> (B, 2 + N, D), class token first."""
        patches = self.patch_embed(images)  # (B, N, D)
        tokens = prepend_tokens(patches, self.cls_token, self.dist_token)
        return self.pos_drop(tokens + self.pos_embed)

    def two_answers(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits (B, K) of the class token and of the distillation token."""
        tokens, _ = self.encode(images)  # (B, N + 2, D)
        from_class, from_teacher = self.pre_logits(tokens[:, :2]).unbind(dim=1)
        return self.head(from_class), self.head_dist(from_teacher)

    def forward(self, images: Tensor) -> Tensor:
        """Return the mean of both answers: (B, C, H, W) -> (B, K)."""
        from_class, from_teacher = self.two_answers(images)
        return (from_class + from_teacher) / 2


def hard_distillation_loss(
    answers: tuple[Tensor, Tensor], labels: Tensor, teacher_logits: Tensor
) -> Tensor:
    """Return the mean of the losses for the labels and the teacher's class: equation 3.

    Shape: answers (B, K) twice, labels (B,), teacher_logits (B, K) -> one number, in
        nats
    """
    from_class, from_teacher = answers
    choice = teacher_logits.argmax(dim=1)  # (B,)
    labelled = F.cross_entropy(from_class, labels)
    return (labelled + F.cross_entropy(from_teacher, choice)) / 2


def soft_distillation_loss(
    answers: tuple[Tensor, Tensor],
    labels: Tensor,
    teacher_logits: Tensor,
    temperature: float = 3.0,
    share: float = 0.1,
) -> Tensor:
    """Return the loss for the labels and the teacher's shares: equation 2.

    Args:
        temperature: τ, by which logits are divided; a larger one gives the wrong
            classes larger shares.
        share: λ, the weight of the teacher's part.

    Shape: answers (B, K) twice, labels (B,), teacher_logits (B, K) -> one number, in
        nats
    """
    from_class, from_teacher = answers
    ours = F.log_softmax(from_teacher / temperature, dim=1)  # (B, K)
    wanted = F.log_softmax(teacher_logits / temperature, dim=1)  # (B, K)
    divergence = F.kl_div(ours, wanted, reduction="batchmean", log_target=True)
    labelled = F.cross_entropy(from_class, labels)
    return (1 - share) * labelled + share * temperature**2 * divergence
