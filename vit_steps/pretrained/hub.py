"""Models of timm's on huggingface.co, fetched once and run in ours."""

from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import nn

from vit_steps import optional
from vit_steps.preprocessing import Preprocessing
from vit_steps.pretrained.families import RUN_IT, check_family
from vit_steps.pretrained.first_difference import first_difference
from vit_steps.pretrained.loading import model_of
from vit_steps.pretrained.names import from_timm
from vit_steps.vision_transformer import VisionTransformer, ViTConfig


@dataclass(frozen=True)
class Published:
    """A published model, and how its images are to be prepared."""

    model: VisionTransformer  # ours with their weights, in eval mode
    mean: tuple[float, ...]  # images in [0, 1] become (image - mean) / std
    std: tuple[float, ...]
    image_size: tuple[int, int]  # (height, width) in pixels


def published(name: str = "timm/test_vit.r160_in1k") -> Published:
    """Fetch a ViT of timm's from huggingface.co, once, and load it into our model.

    The default is a toy of 1.5 MB. ``"timm/vit_base_patch16_224.augreg_in21k_ft_in1k"``
    is the paper's ViT-B/16, retrained as in arXiv 2106.10270, and takes 346 MB.

    Raises:
        ConnectionError: if it is not in huggingface_hub's cache and cannot be fetched.
        ImportError: if timm is not installed.
        ValueError: if our model cannot be that model; says where it is another.
    """
    timm = optional.timm()
    theirs = timm.create_model(f"local-dir:{_fetch(name)}", pretrained=True)
    expected, model = theirs.pretrained_cfg, copy_timm(theirs)
    mean, std = tuple(expected["mean"]), tuple(expected["std"])
    return Published(model, mean, std, tuple(expected["input_size"][1:]))


def copy_timm(theirs: nn.Module) -> VisionTransformer:
    """Our model with the configuration and the weights of one of timm's, in eval mode.

    The two are run against each other before this one is handed out. Its
    ``preprocessing`` is that of timm's ``pretrained_cfg``; classes without names get
    those of the version of ImageNet that has as many.

    Raises: ValueError if ours cannot be that model; says what differs, or where.
    """
    state_dict = from_timm(theirs.state_dict())
    check_family(state_dict)
    if not isinstance(theirs, optional.timm().models.VisionTransformer):
        raise ValueError(
            f"theirs: got {type(theirs).__name__}, expected timm's VisionTransformer"
        )
    ours = model_of(
        state_dict,
        num_heads=theirs.blocks[0].attn.num_heads,
        image_size=tuple(theirs.patch_embed.img_size),
        norm_eps=theirs.blocks[0].norm1.eps,
    )
    images = torch.rand(1, ours.config.in_channels, *theirs.patch_embed.img_size)
    was_training = theirs.training
    difference = first_difference(ours, theirs.eval(), images)
    theirs.train(was_training)
    if difference is not None:
        raise ValueError(f"theirs: is another architecture: {difference}; {RUN_IT}")
    ours.preprocessing = _preprocessing(theirs, ours.config)
    return ours


def _preprocessing(theirs: nn.Module, config: ViTConfig) -> Preprocessing | None:
    """How timm normalises the images of a model, and the names of its classes."""
    known: Any = getattr(theirs, "pretrained_cfg", None) or {}
    mean, std = tuple(known.get("mean") or ()), tuple(known.get("std") or ())
    if not len(mean) == len(std) == config.in_channels:
        return None
    names, K = known.get("label_names"), config.num_classes
    data = import_module("timm.data")
    if not isinstance(names, (list, tuple)) or len(names) != K:
        version = data.infer_imagenet_subset({"num_classes": K})
        names = data.ImageNetInfo(version).label_descriptions() if version else ()
    return Preprocessing(mean, std, tuple(names))


def _fetch(name: str) -> Path:
    """The folder with a model's files, downloaded if they are not in the cache."""
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
    except Exception as error:  # each version of huggingface_hub has others
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ConnectionError(
            f"{name} is not on this computer and could not be fetched from "
            f"huggingface.co. With a network, run the same line again; what has "
            f"arrived is kept. ({reason})"
        ) from error
    return Path(paths[0]).parent
