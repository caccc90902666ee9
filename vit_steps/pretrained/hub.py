"""Copy other libraries' models into ours and back, and compare the outputs."""

import copy
import re
from collections import Counter
from typing import Any

import torch
from torch import nn

from vit_steps import optional
from vit_steps.preprocessing import Preprocessing
from vit_steps.pretrained.comparing import ACTS, first_difference
from vit_steps.pretrained.families import RUN_IT, at_our_places, check_family
from vit_steps.pretrained.loading import model_of
from vit_steps.pretrained.names import StateDict, in_halves, in_our_names
from vit_steps.sizes import Size, patch_grid
from vit_steps.variants.modern_vit import ACTIVATIONS
from vit_steps.vision_transformer import VisionTransformer

POOLINGS = {"token": "class token", "avg": "mean", "map": "attention"}  # timm's, ours


def copy_of(theirs: nn.Module) -> VisionTransformer:
    """Return our model with the configuration and weights of another library's.

    That is timm, torchvision or transformers; the book's page on pretrained weights
    lists the families. What no tensor shows, such as the kind of GELU or of rotary
    positions, is read off their modules. The outputs of both are compared first.
    Theirs is left as it is; ours is in evaluation mode, and in the dtype and on the
    device of theirs. Its ``preprocessing`` is that of timm's ``pretrained_cfg``, which
    the others do not have; unnamed classes get the names of the ImageNet with as many.

    Raises: ValueError if ours cannot be that model, with what differs, or where.
    """
    ours = _compared_copy(theirs)
    known = getattr(theirs, "pretrained_cfg", None)
    if known is None:
        return ours
    K = ours.config.num_classes
    names = known.get("label_names") or ()
    if len(names) != K:
        data = optional.timm().data
        version = data.infer_imagenet_subset({"num_classes": K})
        names = data.ImageNetInfo(version).label_descriptions() if version else ()
    counts = Counter(names)  # ImageNet has two cranes, the bird and the machine
    names = [n if counts[n] == 1 else f"{n} ({k})" for k, n in enumerate(names)]
    mean, std = tuple(known.get("mean") or ()), tuple(known.get("std") or ())
    if len(mean) == len(std) == ours.config.in_channels:
        ours.preprocessing = Preprocessing(mean, std, tuple(names))
    return ours


def copy_into(theirs: nn.Module, ours: VisionTransformer) -> None:
    """Load our weights into another library's model: the way back of ``copy_of``.

    Each number of theirs is replaced by its index and read as a weight of ours, which
    shows where it belongs.

    Raises: ValueError if theirs has no place for one of ours, as where its registers
        have positions. It is then as before.
    """
    before, held = theirs.state_dict(), ours.state_dict()
    known = ours.config.num_heads, ours.patch_embed.grid_size
    places = {}
    count = 1  # 0 marks a number that theirs does not have
    for name, tensor in before.items():
        numbers = torch.arange(count, count + tensor.numel())
        places[name] = numbers.reshape(tensor.shape)
        count += tensor.numel()
    first = next(iter(before.values()))
    flat = torch.cat([first.new_zeros(1), *(t.flatten() for t in before.values())])
    for name, place in _read(theirs, places, *known).items():
        if name in held and held[name].shape == place.shape:
            flat[place.clamp(max=count - 1)] = held[name].to(flat)
    written = {name: flat[place] for name, place in places.items()}
    again = _read(theirs, written, *known)
    for name, tensor in held.items():
        if tensor.numel() and not torch.equal(again.get(name, flat), tensor.to(flat)):
            raise ValueError(
                f"theirs: {type(theirs).__name__} has no place for {name!r}"
            )
    theirs.load_state_dict(written)


def _read(
    theirs: nn.Module, tensors: StateDict, num_heads: int, grid: Size
) -> StateDict:
    """Convert their tensors to our weights, rotary pairs and positions included."""
    weights = in_our_names(tensors)
    rope = getattr(theirs, "rope", None)
    if rope is not None and not getattr(rope, "rotate_half", False):
        weights = in_halves(weights, num_heads, rope.grid_indexing == "xy")
    return at_our_places(weights, grid)


def _compared_copy(theirs: nn.Module) -> VisionTransformer:
    """Return ``model_of`` their weights, if both models give the same outputs.

    They are compared in float32 or better, since in 16 bits even right copies differ.
    """
    parts: list[Any] = [*theirs.modules()] if isinstance(theirs, nn.Module) else []
    parts.append(getattr(theirs, "config", None))  # transformers' have one

    def stated(*names: str) -> Any:
        values = (getattr(p, n) for p in parts for n in names if hasattr(p, n))
        return next(values, None)

    num_heads = stated("num_heads", "num_attention_heads")  # timm's, transformers'
    if num_heads is None:
        raise ValueError(
            f"theirs: got {type(theirs).__name__}, expected a Vision Transformer, as "
            "timm.create_model and from_pretrained make from a name"
        )
    state_dict = theirs.state_dict()
    check_family(in_our_names(state_dict))
    grid = patch_grid(stated("img_size", "image_size"), stated("patch_size"))
    weights = _read(theirs, state_dict, num_heads, grid)
    untold: dict[str, Any] = {"norm_eps": stated("eps")}
    # their kind of GELU is recognised by its outputs
    named = re.compile(rf".*\.mlp\.({'|'.join(ACTS)})")
    acts = [module for n, module in theirs.named_modules() if named.fullmatch(n)]
    if acts and "blocks.0.mlp.fc1_g.weight" not in weights:
        x = torch.linspace(-4, 4, 9)
        for kind, make in ACTIVATIONS.items():
            if torch.allclose(acts[0](x), make()(x), atol=1e-6):
                untold["mlp"] = kind
    pooled = getattr(theirs, "global_pool", None)
    if pooled in POOLINGS:
        untold["pooling"] = POOLINGS[pooled]
    rope: Any = getattr(theirs, "rope", None)
    if type(rope).__name__ == "RotaryEmbeddingCat":
        untold["rope_reference"] = rope.ref_feat_shape
        untold |= dict(rope="indexed", rope_base=rope.temperature)
    elif base := getattr(rope, "temperature", stated("rope_theta")):
        untold |= dict(rope="normalised", rope_base=base)
    ours = model_of(
        weights,
        num_heads,
        drop=[name for name in weights if name.endswith("mask_token")],
        old_grid_size=grid,
        **untold,
    )
    parameter = next(theirs.parameters())
    ours.to(parameter.device)
    exact = ours.pos_embed.dtype
    twin = copy.deepcopy(theirs).to(exact)
    sizes = (1, ours.config.in_channels, *ours.patch_embed.image_size)
    images = torch.rand(sizes, generator=torch.Generator().manual_seed(0))
    difference = first_difference(ours, twin, images.to(parameter.device, exact))
    if difference is not None:
        raise ValueError(f"theirs: is another architecture: {difference}; {RUN_IT}")
    return ours.to(parameter.dtype)
