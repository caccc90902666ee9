"""Which published models ours can be, told by the names and shapes of their tensors."""

import math
import re
from collections.abc import Iterator, Mapping

import torch
from torch import Tensor
from torch.nn import functional as F

from vit_steps.sizes import Size, patch_grid

SWIGLU = "a SwiGLU in place of the MLP, as in DINOv2's giant"
ROTARY = "rotary positions, inside attention, as in DINOv3"
# What our models do not have, by the name of a tensor that shows it.
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
    r"^classifier\.weight": (
        "a head that reads more than the class token; drop='classifier' leaves it out"
    ),
    r"^blocks\.\d+\.(?!norm[12]|attn\.(q|k|v|qkv|proj)\.|mlp\.fc[12]|ls[12]\.gamma)": (
        "another block, as in CaiT"
    ),
}
# And by the name of one that is not there.
LACKS = {
    "pos_embed": ROTARY,
    "blocks.0.norm1.bias": "RMSNorm, as in AIMv2",
    "norm.weight": "no norm after the blocks, as in RADIO",
}
RUN_IT = (
    "our models would give other outputs, so run this one in its own library, with "
    "timm.create_model or transformers' from_pretrained"
)


def check_family(state_dict: Mapping[str, Tensor]) -> None:
    """Refuse weights, in our names, of a model that ours cannot be.

    Raises: ValueError: names the tensor that shows it, and says what to do.
    """
    for evidence, what in _not_ours({n: tuple(t.shape) for n, t in state_dict.items()}):
        advice = "" if ";" in what else f"; {RUN_IT}"
        raise ValueError(f"state_dict: {evidence} shows {what}{advice}")


def _not_ours(shapes: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[str, str]]:
    for pattern, what in OTHERS.items():
        for name, shape in shapes.items():
            if re.search(pattern, name):
                yield f"{name!r} {shape}", what
    fc1, fc2 = (shapes.get(f"blocks.0.mlp.fc{i}.weight", (1,)) for i in (1, 2))
    if fc1[0] == 2 * fc2[-1]:
        yield f"'blocks.0.mlp.fc1.weight' {fc1}, twice what fc2 {fc2} takes,", SWIGLU
    if "blocks.0.norm1.weight" in shapes:
        for name in LACKS.keys() - shapes.keys():
            yield f"the lack of {name!r}", LACKS[name]


def in_front(state_dict: Mapping[str, Tensor]) -> tuple[int, int]:
    """How many tokens are before the patches, and how many of them are no registers."""
    speak = sum(name in state_dict for name in ("cls_token", "dist_token"))
    registers = state_dict["reg_token"].shape[1] if "reg_token" in state_dict else 0
    return speak + registers, speak


def patches_of(
    state_dict: Mapping[str, Tensor], patch_size: Size, image_size: Size | None
) -> int:
    """N, the patches that have a position, in a square or in an image of this size.

    Elsewhere all tokens have a position, or all but the registers, or the patches
    alone, as in DeiT, DINOv2 with registers, DeiT III.

    Raises: ValueError if the number of positions is none of these.
    """
    rows, tokens = state_dict["pos_embed"].shape[1], in_front(state_dict)
    possible = {rows - n for n in (*tokens, 0)}
    if image_size is None:
        possible = {N for N in possible if N > 0 and math.isqrt(N) ** 2 == N}
    else:
        possible &= {math.prod(patch_grid(image_size, patch_size))}
    if len(possible) != 1:
        raise ValueError(
            f"image_size: got {image_size}, and {rows} positions, with {tokens[0]} "
            "tokens in front of the patches; expected the weights' own (height, width) "
            "or, for a square, none; vit_steps.transfer makes another size"
        )
    return possible.pop()


def at_our_places(state_dict: Mapping[str, Tensor], patches: int) -> dict[str, Tensor]:
    """The same model with positions where ours have them: all but registers.

    A class token without a position gets zeros; a register's is added to it.
    """
    placed, (_, ours) = dict(state_dict), in_front(state_dict)
    first, rest = state_dict["pos_embed"].tensor_split([-patches], dim=1)
    if first.shape[1] == 0:
        first = F.pad(first, (0, 0, ours, 0))  # (1, ours, D)
    placed["pos_embed"] = torch.cat([first[:, :ours], rest], dim=1)
    if first.shape[1] > ours:
        placed["reg_token"] = state_dict["reg_token"] + first[:, ours:]
    if "cls_token" not in placed:
        placed.setdefault("reg_token", rest[:, :0])
    return placed


def remark(name: str, tensor: Tensor, expected: Tensor | None) -> str:
    """What a tensor that does not fit tells of its model; mostly nothing."""
    shown = [what for pattern, what in OTHERS.items() if re.search(pattern, name)]
    if name in ("reg_token", "dist_token"):
        shown = ["another class has it, and model_of builds that"]
    if expected is not None and tensor.shape[1:2] != expected.shape[1:2]:
        count = expected.shape[1]
        alike_otherwise = tensor[:, :1].shape == expected[:, :1].shape
        if name == "patch_embed.proj.weight" and alike_otherwise:
            channels = f"transfer(model, None, {count})"
            shown = [f"{channels} of a model that has theirs changes them"]
        if name == "pos_embed" and tensor.shape[1] + 1 == count:
            shown = ["none for the class token? model_of puts zeros there"]
    return "".join(f": {what}" for what in shown[:1])
