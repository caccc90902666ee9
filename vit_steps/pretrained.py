"""Weights that others trained, in the model of this book, and back in theirs."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from vit_steps import oracles
from vit_steps.embedding import interpolate_position_embedding
from vit_steps.first_difference import Difference, first_difference
from vit_steps.sizes import Size
from vit_steps.vision_transformer import VisionTransformer, ViTConfig
from vit_steps.weight_names import (
    StateDict,
    WeightsMismatch,
    from_dinov2,
    from_huggingface,
    from_timm,
    from_torchvision,
    listing,
    to_dinov2,
    to_huggingface,
    to_timm,
    to_torchvision,
    without,
)

__all__ = [
    "Difference",
    "Published",
    "StateDict",
    "WeightsMismatch",
    "config_of",
    "copy_timm",
    "extract_features",
    "first_difference",
    "from_dinov2",
    "from_huggingface",
    "from_timm",
    "from_torchvision",
    "load_weights",
    "published",
    "to_dinov2",
    "to_huggingface",
    "to_timm",
    "to_torchvision",
    "without",
]


def load_weights(
    model: VisionTransformer,
    state_dict: Mapping[str, Tensor],
    drop: str | Iterable[str] = (),
    keep: str | Iterable[str] = (),
    resize_positions: bool = False,
) -> VisionTransformer:
    """Load a state dict in our names, all of it or nothing.

    What no tensor tells cannot be checked here: the number of heads, the norms' eps,
    the kind of GELU, whether the head reads the class token. ``first_difference``
    checks that.

    Args:
        state_dict: from a ``from_...`` function.
        drop: names in the file to leave out; ``"head"`` is all of ``head.*``.
        keep: names in the model that stay as they are, such as a new ``"head"``.
        resize_positions: let positions of another (square) grid be interpolated.

    Returns:
        The model.

    Raises:
        WeightsMismatch: if a tensor is unexpected, missing or misshapen. All are
            listed, and the model is as before.
        ValueError: if a name in ``drop`` or ``keep`` is not there.
    """
    drop = (drop,) if isinstance(drop, str) else tuple(drop)
    keep = (keep,) if isinstance(keep, str) else tuple(keep)
    own = model.state_dict()
    try:
        given = without(state_dict, *drop)
    except ValueError as error:
        raise ValueError(f"drop: in the weights, {error}") from None
    try:
        wanted = without(own, *keep)
    except ValueError as error:
        raise ValueError(f"keep: in the model, {error}") from None

    advice = "another configuration? config_of reads the sizes"
    if _positions_of_another_grid(given, wanted):
        if resize_positions:
            given["pos_embed"] = interpolate_position_embedding(
                given["pos_embed"], model.patch_embed.grid_size
            )
        else:
            advice = "resize_positions=True interpolates positions of another grid"

    unexpected = [name for name in given if name not in wanted]
    missing = [name for name in wanted if name not in given]
    misshapen = [
        name
        for name, tensor in given.items()
        if name in wanted and tensor.shape != wanted[name].shape
    ]
    if unexpected or missing or misshapen:
        lines = ["the weights do not fit, and the model is as before."]
        if len(missing) == len(wanted):
            lines.append(
                "No name fits: which from_... function knows the library they are from?"
            )
        if unexpected:
            lines.append(
                "Unexpected, with no place in the model (drop=... leaves them out):"
                + listing(unexpected, given)
            )
        if missing:
            lines.append(
                "Missing, not among the weights (keep=... leaves the model's as they "
                "are):" + listing(missing, wanted)
            )
        if misshapen:
            lines.append(f"Misshapen ({advice}):" + listing(misshapen, given, wanted))
        raise WeightsMismatch("\n".join(lines), unexpected, missing, misshapen)

    model.load_state_dict(own | given)
    return model


def _positions_of_another_grid(
    given: Mapping[str, Tensor], wanted: Mapping[str, Tensor]
) -> bool:
    if "pos_embed" not in given or "pos_embed" not in wanted:
        return False
    old, new = given["pos_embed"].shape, wanted["pos_embed"].shape
    if len(old) != 3 or old[1] < 2 or old == new:
        return False
    square = math.isqrt(old[1] - 1) ** 2 == old[1] - 1
    return square and (old[0], old[2]) == (new[0], new[2])


def config_of(
    state_dict: Mapping[str, Tensor], num_heads: int | None = None, **overrides: Any
) -> ViTConfig:
    """Read the configuration off the shapes of a state dict in our names.

    Args:
        num_heads: h, which no shape tells; left out, heads of d = 64 are assumed, as in
            the paper's and DeiT's models.
        overrides: any field of ``ViTConfig``. ``image_size`` must be said if it is not
            a square, ``num_classes`` if there is no head, ``norm_eps`` where it is not
            1e-6.

    Raises:
        ValueError: if a tensor that tells a size is missing or has another rank, or
            something must be said.
    """

    def shape(name: str, rank: int) -> torch.Size:
        tensor = state_dict.get(name)
        if tensor is None or tensor.ndim != rank:
            came = "nothing" if tensor is None else f"shape {tuple(tensor.shape)}"
            raise ValueError(
                f"state_dict: got {came} for {name!r}, expected a tensor of rank "
                f"{rank}; the from_... functions translate the names of others"
            )
        return tensor.shape

    embed_dim, in_channels, *patch_size = shape("patch_embed.proj.weight", 4)
    places = shape("pos_embed", 3)[1] - 1
    hidden_dim = shape("blocks.0.mlp.fc1.weight", 2)[0]
    mlp_ratio = hidden_dim / embed_dim
    if int(embed_dim * mlp_ratio) != hidden_dim:  # rounded down by one bit
        mlp_ratio = math.nextafter(mlp_ratio, math.inf)
    fields: dict[str, Any] = {
        "patch_size": _size(patch_size),
        "in_channels": in_channels,
        "embed_dim": embed_dim,
        "depth": len({name.split(".")[1] for name in state_dict if _in_block(name)}),
        "mlp_ratio": mlp_ratio,
        "qkv_bias": "blocks.0.attn.qkv.bias" in state_dict,
    }
    if num_heads is None and embed_dim % 64:
        raise ValueError(
            f"num_heads: got None, and {embed_dim = } is no multiple of 64; no shape "
            "tells the number of heads, so say it"
        )
    fields["num_heads"] = embed_dim // 64 if num_heads is None else num_heads
    if "image_size" not in overrides:
        side = math.isqrt(max(places, 0))
        if places < 1 or side**2 != places:
            raise ValueError(
                f"image_size: got none, and {places} positions behind the class "
                "token's make no square; say image_size=(height, width)"
            )
        fields["image_size"] = _size([side * length for length in patch_size])
    if "num_classes" not in overrides:
        fields["num_classes"] = shape("head.weight", 2)[0]
    if "pre_logits.fc.weight" in state_dict:
        fields["representation_size"] = shape("pre_logits.fc.weight", 2)[0]
    if "blocks.0.ls1.gamma" in state_dict:
        fields["layer_scale"] = 1.0  # where training began; loading replaces it
    return ViTConfig(**fields | overrides)


def _in_block(name: str) -> bool:
    return re.match(r"blocks\.\d+\.", name) is not None


def _size(pair: list[int]) -> Size:
    height, width = pair
    return height if height == width else (height, width)


def extract_features(
    model: VisionTransformer, images: Tensor, pool: str = "cls", batch_size: int = 64
) -> Tensor:
    """One vector an image, after the final norm, for k-NN or a linear probe.

    Args:
        pool: ``"cls"`` takes the class token, ``"mean"`` the mean of the patches.
        batch_size: how many images go through the model at once.

    Shape:
        (B, C, H, W) -> (B, D), on the images' device

    Raises:
        ValueError: if ``pool`` is something else, the model is in training mode, or
            there are no images.
    """
    if pool not in ("cls", "mean"):
        raise ValueError(f"pool: got {pool!r}, expected 'cls' or 'mean'")
    if model.training:
        raise ValueError("model: is in training mode, expected model.eval()")
    if len(images) == 0:
        raise ValueError("images: got none, expected at least one")
    features = []
    with torch.no_grad():
        for start in range(0, len(images), batch_size):
            batch = images[start : start + batch_size]
            tokens, _ = model.encode(batch.to(model.pos_embed.device))  # (B, T, D)
            pooled = tokens[:, 0] if pool == "cls" else tokens[:, 1:].mean(dim=1)
            features.append(pooled.to(images.device))  # (B, D)
    return torch.cat(features)  # (B, D)


@dataclass(frozen=True)
class Published:
    """A published model, and how its images are to be prepared.

    Args:
        model: ours with their weights, in eval mode.
        mean, std: one number a channel; images in [0, 1] become (image - mean) / std.
        image_size: (height, width) in pixels.
    """

    model: VisionTransformer
    mean: tuple[float, ...]
    std: tuple[float, ...]
    image_size: tuple[int, int]


def published(name: str = "timm/test_vit.r160_in1k") -> Published:
    """Fetch a ViT of timm's from huggingface.co, once, and load it into our model.

    The default is a toy of 1.5 MB. ``"timm/vit_base_patch16_224.augreg_in21k_ft_in1k"``
    is the paper's ViT-B/16, retrained as in arXiv 2106.10270, and takes 346 MB.

    Raises:
        ConnectionError: if it is not in huggingface_hub's cache and cannot be fetched.
        ImportError: if timm is not installed.
        ValueError: if our model cannot be that model; says where it is another.
    """
    timm = oracles.timm()
    theirs = timm.create_model(f"local-dir:{_fetch(name)}", pretrained=True)
    expected = theirs.pretrained_cfg
    return Published(
        copy_timm(theirs),
        tuple(expected["mean"]),
        tuple(expected["std"]),
        tuple(expected["input_size"][1:]),
    )


def copy_timm(theirs: nn.Module) -> VisionTransformer:
    """Our model with the configuration and the weights of one of timm's, in eval mode.

    The two are run against each other before this one is handed out.

    Raises:
        ValueError: if ours cannot be that model; says what differs, or where.
    """
    if not isinstance(theirs, oracles.timm().models.VisionTransformer):
        raise ValueError(
            f"theirs: got {type(theirs).__name__}, expected timm's VisionTransformer"
        )
    state_dict = from_timm(theirs.state_dict())
    config = config_of(
        state_dict,
        num_heads=theirs.blocks[0].attn.num_heads,
        image_size=tuple(theirs.patch_embed.img_size),
        norm_eps=theirs.blocks[0].norm1.eps,
    )
    ours = load_weights(VisionTransformer(config), state_dict).eval()
    images = torch.rand(1, config.in_channels, *theirs.patch_embed.img_size)
    was_training = theirs.training
    difference = first_difference(ours, theirs.eval(), images)
    theirs.train(was_training)
    if difference is not None:
        raise ValueError(f"theirs: is another architecture: {difference}")
    return ours


def _fetch(name: str) -> Path:
    """The folder with a model's files, downloaded if they are not in the cache."""
    hub = import_module("huggingface_hub")
    files = ("config.json", "model.safetensors")
    try:
        paths = [hub.hf_hub_download(name, f, local_files_only=True) for f in files]
        return Path(paths[0]).parent
    except hub.errors.LocalEntryNotFoundError:
        pass
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
