"""Decide from names and shapes of tensors which published models ours can be."""

import math
import re

import torch
from torch import Tensor
from torch.nn import functional as F

from vit_steps.sizes import Size, as_pair

SWIGLU = "a SwiGLU in place of the MLP, as in DINOv2's giant"
ROTARY = "rotary positions, inside attention, as in DINOv3"
# Patterns of names that our models have no part for, and what such a tensor shows.
OTHERS = {
    r"(norm_pre|pre_layrnorm|ln_pre)\.": "a norm in front of the blocks, as in CLIP",
    r"attn_pool\.|head\.probe": "pooling by attention, not by a token, as in SigLIP",
    r"layers\.\d+\.blocks\.": (
        "a Swin; variants.SwinTransformer has timm's names, but 'head' for 'head.fc'"
    ),
    r"rel_pos|relative_position|rope": "relative positions, as in BEiT and SAM",
    r"fc_norm\.": "a norm after the mean of the patches, not before it, as in EVA",
    r"mlp\.(w12|weights_in|gate_proj|fc1_g)\.": SWIGLU,
    r"embeddings\.patch_embeddings\.weight": ROTARY,
    r"^patch_embed\.backbone\.": "a ResNet in front of the patches, as in hybrids",
    r"^conv_proj\.conv": "several convolutions in front of the blocks, not one",
    r"attn\.[qk]_norm\.": "a norm of queries and keys, as in ViT-22B",
    r"^blocks\.\d+\.(attns|ffns)\.": "several attentions side by side in a block",
    r"^blocks\.\d+\.(?!norm[12]|attn\.(q|k|v|qkv|proj)\.|mlp\.fc[12]|ls[12]\.gamma)": (
        "another block than ours"
    ),
}
# Tensors that our models have, and what it means if a published model lacks one.
LACKS = {
    "pos_embed": ROTARY,
    "blocks.0.norm1.bias": "RMSNorm, as in AIMv2",
    "blocks.0.attn.proj.bias": "linear layers without biases",
    "norm.weight": "no norm after the blocks, as in RADIO",
}
RUN_IT = (
    "our models would give other outputs, so run this one in its own library, with "
    "timm.create_model or transformers' from_pretrained"
)


def check_family(state_dict: dict[str, Tensor]) -> None:
    """Raise ValueError if weights, in our names, are of a model that ours cannot be.

    The message names the tensor that shows it, and what to do.
    """
    shapes = {name: tuple(tensor.shape) for name, tensor in state_dict.items()}
    shown = [
        (f"{name!r} {shape}", what)
        for pattern, what in OTHERS.items()
        for name, shape in shapes.items()
        if re.search(pattern, name)
    ]
    layers = ("blocks.0.mlp.fc1", "blocks.0.mlp.fc2", "norm", "head")
    fc1, fc2, norm, head = (shapes.get(f"{n}.weight", (0,)) for n in layers)
    if fc1[0] == 2 * fc2[-1] > 0:
        twice = f"'blocks.0.mlp.fc1.weight' {fc1}, twice what fc2 {fc2} takes,"
        shown.append((twice, SWIGLU))
    if head[-1] == 2 * norm[0] > 0:
        advice = "drop='head' leaves it out, and the features come out"
        what = f"a head that reads more than the class token; {advice}"
        shown.append((f"'head.weight' {head}", what))
    if "blocks.0.norm1.weight" in shapes:
        lacking = [name for name in LACKS if name not in shapes]
        shown += [(f"the lack of {name!r}", LACKS[name]) for name in lacking]
    for evidence, what in shown[:1]:
        advice = "" if ";" in what else f"; {RUN_IT}"
        raise ValueError(f"state_dict: {evidence} shows {what}{advice}")


def prefix_tokens(state_dict: dict[str, Tensor]) -> tuple[int, int]:
    """Return how many tokens come before the patches, without and with registers."""
    read_by_a_head = sum(name in state_dict for name in ("cls_token", "dist_token"))
    registers = state_dict["reg_token"].shape[1] if "reg_token" in state_dict else 0
    return read_by_a_head, read_by_a_head + registers


def grid_of_positions(
    state_dict: dict[str, Tensor], known: Size | None
) -> tuple[int, int]:
    """Return the rows and columns of the positions: those known, or a square's.

    All tokens have a position, or all but the registers, or the patches alone, as in
    DeiT, DINOv2 with registers, DeiT III.

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


def at_our_places(state_dict: dict[str, Tensor], grid: Size) -> dict[str, Tensor]:
    """Return the same model with positions where ours have them: all but registers.

    A class token without a position gets zeros; a register's is added to it.
    """
    patches = math.prod(grid_of_positions(state_dict, grid))
    placed = dict(state_dict)
    ours, _ = prefix_tokens(state_dict)
    first, rest = state_dict["pos_embed"].tensor_split([-patches], dim=1)
    if first.shape[1] == 0:
        first = F.pad(first, (0, 0, ours, 0))  # (1, ours, D)
    placed["pos_embed"] = torch.cat([first[:, :ours], rest], dim=1)
    if first.shape[1] > ours:
        placed["reg_token"] = state_dict["reg_token"] + first[:, ours:]
    if "cls_token" not in placed:
        placed.setdefault("reg_token", rest[:, :0])
    return placed
