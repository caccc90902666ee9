"""Checks that a model can answer: its class, its mode, its weights and its head."""

from typing import Any

from vit_steps.checkpoint import check_finite
from vit_steps.vision_transformer import VisionTransformer


def evaluated(model: Any) -> VisionTransformer:
    """Return a model in evaluation mode, without the wrapper of ``torch.compile``.

    Raises: ValueError if it is not a VisionTransformer, is in training mode, or holds
        numbers that are not finite.
    """
    model = getattr(model, "_orig_mod", model)
    if not isinstance(model, VisionTransformer):
        raise ValueError(
            f"model: got a {type(model).__name__}, expected a VisionTransformer, as "
            "VisionTransformer.from_pretrained returns"
        )
    if model.training:
        raise ValueError("model: is in training mode, expected model.eval()")
    check_finite(model.state_dict(), "model")
    return model


def check_head(model: VisionTransformer) -> None:
    """Raise ValueError if a model's head is still zero: all logits are equal."""
    weight: Any = getattr(model.head, "weight", None)  # None without a head
    if weight is not None and not weight.any():
        raise ValueError(
            "model: got a head that is all zero, as that of a new model is, expected a "
            "trained one; train the model first"
        )
