"""Checks that a model can answer: its class, its mode, its weights and its head."""

from typing import Any

from vit_steps.checkpoint import check_finite
from vit_steps.vision_transformer import VisionTransformer


def evaluated(model: Any, by_head: bool = False) -> VisionTransformer:
    """Return a model in evaluation mode, without the wrapper of ``torch.compile``.

    Raises: ValueError if it is not a VisionTransformer, is in training mode, holds
        numbers that are not finite, or is to answer ``by_head`` and this is still zero.
    """
    model = getattr(model, "_orig_mod", model)
    if not isinstance(model, VisionTransformer):
        got = f"got a {type(model).__name__}, expected a VisionTransformer"
        raise ValueError(f"model: {got}, as VisionTransformer.from_pretrained returns")
    if model.training:
        raise ValueError("model: is in training mode, expected model.eval()")
    check_finite(model.state_dict(), "model")
    weight: Any = getattr(model.head, "weight", None)  # None without a head
    if by_head and weight is not None and not weight.any():
        raise ValueError("model: got a head that is all zero, expected a trained one")
    return model
