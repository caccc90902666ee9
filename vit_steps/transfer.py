"""Trained models rebuilt: for other images than their own, or as another class."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import torch
from torch import Tensor, nn

from vit_steps.attention import MultiHeadAttention
from vit_steps.embedding import interpolate_position_embedding
from vit_steps.sizes import Size, patch_grid

if TYPE_CHECKING:
    from vit_steps.vision_transformer import VisionTransformer, ViTConfig

Model = TypeVar("Model", bound="VisionTransformer")


def check_model(model: Any) -> None:
    """Raise ValueError unless this is a VisionTransformer or a variant of it."""
    if not hasattr(model, "config_class"):
        got = f"got a {type(model).__name__}, expected a VisionTransformer"
        raise ValueError(f"model: {got}, as VisionTransformer.from_pretrained returns")


def transfer(model: Model, image_size: Size | None, in_channels: int | None) -> Model:
    """Return a trained model for images of another size or other channels.

    None keeps the model's own. Learned positions are interpolated (arXiv 2010.11929,
    section 3.2), patch weights changed by ``adapt_channels``; ``rebuilt`` keeps the
    rest. For other channels the ``preprocessing`` is kept only if its mean and std were
    the same for all channels.

    Raises: ValueError as ``ViTConfig`` does.
    """
    check_model(model)
    given: dict[str, Any] = {"image_size": image_size, "in_channels": in_channels}
    changes = {name: size for name, size in given.items() if size is not None}
    config = replace(model.config, **changes)
    C = config.in_channels
    weights = model.state_dict()
    positions = weights.pop("pos_embed")
    if isinstance(model.pos_embed, nn.Parameter):  # fixed ones are computed anew
        grid = patch_grid(config.image_size, config.patch_size)
        old_grid = model.patch_embed.grid_size
        k = positions.shape[1] - math.prod(old_grid)
        weights["pos_embed"] = interpolate_position_embedding(
            positions, grid, old_grid, k
        )
    proj = weights["patch_embed.proj.weight"]  # (D, C, P, P)
    weights["patch_embed.proj.weight"] = adapt_channels(proj, C)
    new = rebuilt(model, type(model), config, weights)
    known = model.preprocessing
    if known is not None and C != len(known.mean):
        alike = len(set(known.mean)) == len(set(known.std)) == 1
        mean, std = known.mean[:1] * C, known.std[:1] * C
        new.preprocessing = replace(known, mean=mean, std=std) if alike else None
    return new


def rebuilt(
    model: "VisionTransformer",
    model_class: type[Model],
    config: "ViTConfig",
    weights: dict[str, Tensor],
) -> Model:
    """Return a model with copies of these weights and all else as ``model`` has it.

    It keeps dtypes, devices, modes, which parameters are frozen, checkpointing, the
    path of attention and the preprocessing. Positions that are missing are the fixed
    ones of the new model. The caller's random state is left alone.
    """
    with torch.random.fork_rng(devices=[]):  # the constructor draws weights
        new = model_class(config)
    weights.setdefault("pos_embed", new.pos_embed.to(model.pos_embed))
    copies = {name: tensor.detach().clone() for name, tensor in weights.items()}
    new.load_state_dict(copies, assign=True)
    for name, parameter in new.named_parameters():
        parameter.requires_grad_(model.get_parameter(name).requires_grad)
    for name, module in new.named_modules():
        old: Any = model.get_submodule(name)
        module.training = old.training
        if isinstance(module, MultiHeadAttention):
            module.fused = old.fused
    new.grad_checkpointing = model.grad_checkpointing
    new.preprocessing = model.preprocessing
    return new


def start_anew(model: nn.Module) -> None:
    """Give a model, in place, the parameters and buffers of a new one."""
    new = type(model)(model.config)
    olds, values = ([*m.parameters(), *m.buffers()] for m in (model, new))
    for old, value in zip(olds, values, strict=True):
        old.data.copy_(value)


def adapt_channels(weight: Tensor, in_channels: int) -> Tensor:
    """Return patch weights for other channels, as timm's ``adapt_input_conv`` does.

    For one channel they are summed, for others repeated and scaled. From one channel or
    to one, an image with equal channels gives what it gave before.

    Shape: (D, C, P, P) -> (D, in_channels, P, P)
    """
    C = weight.shape[1]
    if in_channels == 1:
        return weight.sum(dim=1, keepdim=True)
    repeated = weight.repeat(1, math.ceil(in_channels / C), 1, 1)
    return repeated[:, :in_channels] * (C / in_channels)
