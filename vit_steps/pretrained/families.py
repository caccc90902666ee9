"""Decide by names and shapes of tensors whether ours can be a published model."""

import math
import re
from typing import Any

import torch
from torch.nn import functional as F

from vit_steps.pretrained.names import OURS, StateDict, translator
from vit_steps.sizes import Size, as_pair

RUN_IT = (
    "our models would give other outputs, so run this one in its own library, with "
    "timm.create_model or transformers' from_pretrained"
)
# The names of layers between the images and the head begin like this.
BODY = re.compile(r"(blocks|layers|patch_embed|embeds|rope|conv_proj)\.")


def check_family(state_dict: StateDict) -> None:
    """Raise ValueError if weights, in our names, are of a model that ours cannot be.

    The message names the tensor that shows it, and what to do.
    """
    known = translator({name: name for name in OURS.values()})
    shown = [name for name in state_dict if BODY.match(name) and not known(name)]
    if {"norm_pre.weight", "attn_pool.latent"} <= state_dict.keys():
        shown.append("attn_pool.latent")  # the Perception Encoder's, with other heads
    for name in shown[:1]:
        shape = tuple(state_dict[name].shape)
        raise ValueError(f"state_dict: {name!r} {shape} is of another model; {RUN_IT}")


def prefix_tokens(state_dict: StateDict) -> tuple[int, int]:
    """Return how many tokens come before the patches, without and with registers."""
    read_by_a_head = sum(name in state_dict for name in ("cls_token", "dist_token"))
    registers = state_dict["reg_token"].shape[1] if "reg_token" in state_dict else 0
    return read_by_a_head, read_by_a_head + registers


def variant_fields(state_dict: StateDict, chosen: dict[str, Any]) -> dict[str, Any]:
    """Return a config's ``chosen`` fields and a variant's, which the names show.

    Raises: ValueError if the model must have rotary positions and no kind is chosen.
    """
    prefix, with_registers = prefix_tokens(state_dict)
    learned = has_positions(state_dict)
    gated = "blocks.0.mlp.fc1_x.weight" in state_dict
    fc_norm = "fc_norm.weight" in state_dict
    pooling = "class token" if prefix and not fc_norm else "mean"
    fields: dict[str, Any] = {
        "pooling": "attention" if "attn_pool.latent" in state_dict else pooling,
        "num_registers": with_registers - prefix,
        "positions": "learned" if learned else "none",
        "norm": "layer" if "blocks.0.norm1.bias" in state_dict else "rms",
        "norm_pre": "norm_pre.weight" in state_dict,
        "fc_norm": fc_norm,
        "qk_norm": "blocks.0.attn.q_norm.weight" in state_dict,
        "mlp": "swiglu" if gated else "gelu",
        "mlp_norm": "blocks.0.mlp.norm.weight" in state_dict,
        "proj_bias": "blocks.0.attn.proj.bias" in state_dict,
    }
    if fields["norm_pre"]:
        fields["norm_eps"] = 1e-5
    if not learned and prefix and with_registers > prefix:
        fields |= dict(rope="normalised", norm_eps=1e-5)
    elif "rope" not in chosen and (not learned or (gated and fc_norm)):
        raise ValueError(
            "rope: got nothing, and these weights may be of a model with rotary "
            "positions, whose kind no tensor shows; expected 'normalised' or "
            "'indexed', with what else config_of names, or None if it has none"
        )
    fields |= chosen
    if prefix and fields["pooling"] != "class token":
        fields["class_token"] = True
    return fields


def has_positions(state_dict: StateDict) -> bool:
    """Return whether there are positions that are added to the tokens."""
    return "pos_embed" in state_dict and state_dict["pos_embed"].numel() > 0


def grid_of_positions(state_dict: StateDict, known: Size | None) -> tuple[int, int]:
    """Return the rows and columns of the positions: the known ones, or a square's.

    All tokens have a position (as in DeiT), or all but the registers (DINOv2 with
    registers), or the patches alone (DeiT III).

    Raises: ValueError if the number of positions is none of these.
    """
    count = state_dict["pos_embed"].shape[1]
    in_front = prefix_tokens(state_dict)
    numbers = {count - n for n in (0, *in_front)}
    grids = {(math.isqrt(N),) * 2 for N in numbers if N > 0}
    if known is not None:
        grids = {as_pair(known, "old_grid_size")}
    fitting = [grid for grid in grids if math.prod(grid) in numbers]
    if len(fitting) != 1:
        raise ValueError(
            f"pos_embed: got {count} positions, with {in_front[1]} tokens in front of "
            f"the patches, expected a grid of {known or 'as many rows as columns'}; "
            "give the weights' image_size or, if the model's is another, old_grid_size"
        )
    return fitting[0]


def at_our_places(state_dict: StateDict, grid: Size) -> StateDict:
    """Return weights with positions for all tokens but the registers, as ours have.

    A class token without a position gets zeros; a register's position is added to it.
    """
    if not has_positions(state_dict):
        return state_dict
    patches = math.prod(grid_of_positions(state_dict, grid))
    placed = dict(state_dict)
    ours, _ = prefix_tokens(state_dict)
    first, rest = state_dict["pos_embed"].tensor_split([-patches], dim=1)
    if first.shape[1] == 0:
        first = F.pad(first, (0, 0, ours, 0))  # (1, ours, D)
    placed["pos_embed"] = torch.cat([first[:, :ours], rest], dim=1)
    if first.shape[1] > ours:
        placed["reg_token"] = state_dict["reg_token"] + first[:, ours:]
    return placed
