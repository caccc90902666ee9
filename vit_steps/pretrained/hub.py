"""Copies of other libraries' models, compared with them, and timm's on the hub."""

import copy
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from vit_steps import optional
from vit_steps.preprocessing import Preprocessing
from vit_steps.pretrained.comparing import BACKBONES, first_difference
from vit_steps.pretrained.families import RUN_IT, check_family
from vit_steps.pretrained.loading import model_of
from vit_steps.pretrained.names import (
    StateDict,
    from_dinov2,
    from_huggingface,
    from_timm,
)
from vit_steps.sizes import patch_grid
from vit_steps.vision_transformer import VisionTransformer, ViTConfig


def published(name: str = "timm/test_vit.r160_in1k") -> VisionTransformer:
    """Fetch a ViT of timm's from huggingface.co, once, and copy it as ``copy_timm``.

    The default is a toy of 1.5 MB. ``"timm/vit_base_patch16_224.augreg_in21k_ft_in1k"``
    is the paper's ViT-B/16, retrained as in arXiv 2106.10270, and takes 346 MB.

    Raises:
        ConnectionError: if it is not in huggingface_hub's cache and cannot be fetched.
        ImportError: if timm is not installed.
        ValueError: if our model cannot be that model, with the place that differs.
    """
    timm = optional.timm()
    return copy_timm(timm.create_model(f"local-dir:{_fetch(name)}", pretrained=True))


def copy_timm(theirs: nn.Module) -> VisionTransformer:
    """Return our model with the configuration and weights of one of timm's.

    The two are run against each other first. Theirs is left as it is; ours is in
    evaluation mode, and in the dtype and on the device of theirs. Its ``preprocessing``
    is that of timm's ``pretrained_cfg``; classes without names get those of the version
    of ImageNet that has as many.

    Raises: ValueError if ours cannot be that model, with what differs, or where.
    """
    known = isinstance(theirs, optional.timm().models.VisionTransformer)
    _check_theirs(theirs, from_timm, known, "timm's VisionTransformer")
    module: Any = theirs
    ours = _compared_copy(
        theirs,
        from_timm,
        num_heads=module.blocks[0].attn.num_heads,
        image_size=tuple(module.patch_embed.img_size),
        old_grid_size=tuple(module.patch_embed.grid_size),
        norm_eps=module.blocks[0].norm1.eps,
    )
    ours.preprocessing = _preprocessing(theirs, ours.config)
    return ours


def copy_huggingface(theirs: nn.Module) -> VisionTransformer:
    """Return our model with the configuration and weights of one of transformers'.

    As ``copy_timm``, for ViT, MSN, DeiT, I-JEPA and DINOv2. Their models hold no mean
    and standard deviation of the images, so ``preprocessing`` is None.

    Raises: ValueError if ours cannot be that model, with what differs, or where.
    """
    config: Any = getattr(theirs, "config", None)
    kind = getattr(config, "model_type", "")
    read = from_dinov2 if kind.startswith("dinov2") else from_huggingface
    known = kind in BACKBONES
    _check_theirs(theirs, read, known, "transformers' ViT, DeiT, I-JEPA or DINOv2")
    size = config.image_size
    size = size if isinstance(size, int) else tuple(size)
    return _compared_copy(
        theirs,
        read,
        num_heads=config.num_attention_heads,
        drop=[n for n in read(theirs.state_dict()) if n.endswith("mask_token")],
        image_size=size,
        old_grid_size=patch_grid(size, config.patch_size),
        norm_eps=config.layer_norm_eps,
    )


Reader = Callable[[Mapping[str, Tensor]], StateDict]


def _check_theirs(theirs: nn.Module, read: Reader, known: bool, expected: str) -> None:
    """Raise ValueError if theirs is no model, or none of a known kind."""
    if not isinstance(theirs, nn.Module):
        raise ValueError(
            f"theirs: got {theirs!r}, expected a model; timm.create_model or "
            "from_pretrained makes one from a name"
        )
    check_family(read(theirs.state_dict()))
    if not known:
        raise ValueError(f"theirs: got {type(theirs).__name__}, expected {expected}")


def _compared_copy(
    theirs: nn.Module, read: Reader, **settings: Any
) -> VisionTransformer:
    """Return ``model_of`` their weights, if both models give the same outputs.

    They are compared in float32 or better, since in 16 bits right models differ, too.
    """
    parameter = next(theirs.parameters())
    exact = torch.promote_types(parameter.dtype, torch.float32)
    twin = copy.deepcopy(theirs).to(exact)
    ours = model_of(read(twin.state_dict()), **settings).to(parameter.device)
    sizes = (1, ours.config.in_channels, *ours.patch_embed.image_size)
    images = torch.rand(sizes, generator=torch.Generator().manual_seed(0))
    difference = first_difference(ours, twin, images.to(parameter.device, exact))
    if difference is not None:
        raise ValueError(f"theirs: is another architecture: {difference}; {RUN_IT}")
    return ours.to(parameter.dtype)


def _preprocessing(theirs: nn.Module, config: ViTConfig) -> Preprocessing | None:
    """Return how timm normalises the images of a model, and the classes' names."""
    known: Any = getattr(theirs, "pretrained_cfg", None) or {}
    mean, std = tuple(known.get("mean") or ()), tuple(known.get("std") or ())
    if not len(mean) == len(std) == config.in_channels:
        return None
    names, K = known.get("label_names"), config.num_classes
    data = import_module("timm.data")
    if not isinstance(names, (list, tuple)) or len(names) != K:
        version = data.infer_imagenet_subset({"num_classes": K})
        names = data.ImageNetInfo(version).label_descriptions() if version else ()
    # ImageNet has two cranes, the bird and the machine
    twice = {name for name in names if list(names).count(name) > 1}
    names = [f"{n} ({i})" if n in twice else n for i, n in enumerate(names)]
    return Preprocessing(mean, std, tuple(names))


def _fetch(name: str) -> Path:
    """Return the folder with a model's files; download what is not in the cache."""
    hub = import_module("huggingface_hub")
    files = ("config.json", "model.safetensors")
    with suppress(hub.errors.LocalEntryNotFoundError):
        paths = [hub.hf_hub_download(name, f, local_files_only=True) for f in files]
        return Path(paths[0]).parent
    try:
        info = hub.HfApi().model_info(name, files_metadata=True, timeout=10)
        size = sum(f.size for f in info.siblings if f.rfilename in files)
        print(f"{name}: downloading {size / 1e6:.1f} MB from huggingface.co")
        paths = [hub.hf_hub_download(name, f) for f in files]
    except Exception as error:  # the types differ between versions
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ConnectionError(
            f"{name} is not on this computer and could not be fetched from "
            f"huggingface.co. With a network, run the same line again; what has "
            f"arrived is kept. ({reason})"
        ) from error
    return Path(paths[0]).parent
