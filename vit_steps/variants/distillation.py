"""DeiT: a second token that learns from a teacher (arXiv 2012.12877, section 4)."""

from dataclasses import asdict, dataclass, replace

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
        """How many tokens stand in front of the patches: class and distillation."""
        return 2

    def cost(self) -> ModelCost:
        """Shape, parameters and MACs of every step, without building the model."""
        cost = super().cost()
        head = cost.steps[-1]
        again = sum(s.macs for s in cost.steps if s.name in ("pre_logits", "head"))
        head_dist = replace(head, name="head_dist", macs=again)
        return replace(cost, steps=(*cost.steps, head_dist))


class DistilledVisionTransformer(VisionTransformer):
    """A Vision Transformer with a distillation token beside the class token.

    The class token's head learns the labels, the distillation token's what the teacher
    says. In use, the two answers are averaged. Parameters are named as in timm. The
    config may be any ``ViTConfig``; it is kept as a ``DistilledConfig``.

    Shape:
        (B, C, H, W) -> (B, K)
    """

    config_class = DistilledConfig

    def __init__(self, config: ViTConfig) -> None:
        super().__init__(DistilledConfig(**asdict(config)))
        rows, columns = self.patch_embed.grid_size
        self.dist_token = nn.Parameter(torch.zeros(1, 1, config.embed_dim))
        self.pos_embed = learned_position_embedding(
            self.num_prefix_tokens + rows * columns, config.embed_dim
        )
        self.head_dist = self.make_head()

    def reset_classifier(self, num_classes: int) -> None:
        """Give the model two new heads for K classes, or none if K is 0."""
        super().reset_classifier(num_classes)
        self.head_dist = self.make_head().to(self.pos_embed)

    def embed(self, images: Tensor) -> Tensor:
        """(B, C, H, W) -> (B, N + 2, D): class, distillation, patches."""
        patches = self.patch_embed(images)  # (B, N, D)
        tokens = prepend_tokens(patches, self.cls_token, self.dist_token)
        return self.pos_drop(tokens + self.pos_embed)

    def two_answers(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (B, K) of the class token and of the distillation token."""
        tokens, _ = self.encode(images)  # (B, N + 2, D)
        return (
            self.head(self.pre_logits(tokens[:, 0])),
            self.head_dist(self.pre_logits(tokens[:, 1])),
        )

    def forward(self, images: Tensor) -> Tensor:
        """(B, C, H, W) -> (B, K): the mean of both answers."""
        from_class, from_teacher = self.two_answers(images)
        return (from_class + from_teacher) / 2


def hard_distillation_loss(
    answers: tuple[Tensor, Tensor], labels: Tensor, teacher_logits: Tensor
) -> Tensor:
    """Half for the labels, half for the teacher's choice: equation 3.

    Shape:
        answers (B, K) twice, labels (B,), teacher_logits (B, K) -> one number, in nats
    """
    from_class, from_teacher = answers
    choice = teacher_logits.argmax(dim=1)  # (B,)
    return (
        F.cross_entropy(from_class, labels) + F.cross_entropy(from_teacher, choice)
    ) / 2


def soft_distillation_loss(
    answers: tuple[Tensor, Tensor],
    labels: Tensor,
    teacher_logits: Tensor,
    temperature: float = 3.0,
    share: float = 0.1,
) -> Tensor:
    """Labels for the class token, the teacher's shares for the other: equation 2.

    Args:
        temperature: τ, by which logits are divided; larger shows more of what the
            teacher thinks of the wrong classes.
        share: λ, the weight of the teacher's part.

    Shape:
        answers (B, K) twice, labels (B,), teacher_logits (B, K) -> one number, in nats
    """
    from_class, from_teacher = answers
    said = F.log_softmax(from_teacher / temperature, dim=1)  # (B, K)
    wanted = F.log_softmax(teacher_logits / temperature, dim=1)  # (B, K)
    divergence = F.kl_div(said, wanted, reduction="batchmean", log_target=True)
    labelled = F.cross_entropy(from_class, labels)
    return (1 - share) * labelled + share * temperature**2 * divergence
