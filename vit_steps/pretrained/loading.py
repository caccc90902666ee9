"""A state dict in our names, into a model, all of it or nothing."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor

from vit_steps import variants
from vit_steps.checkpoint import fitted
from vit_steps.embedding import interpolate_position_embedding
from vit_steps.pretrained import families
from vit_steps.pretrained.names import StateDict, WeightsMismatch, listing, without
from vit_steps.sizes import Size
from vit_steps.vision_transformer import VisionTransformer, ViTConfig


def load_weights(
    model: VisionTransformer,
    state_dict: Mapping[str, Tensor],
    drop: str | Iterable[str] = (),
    keep: str | Iterable[str] = (),
    resize_positions: bool = False,
) -> VisionTransformer:
    """Load a state dict in our names, all of it or nothing; returns the model.

    What no tensor tells cannot be checked here: the number of heads, the norms' eps,
    the kind of GELU, and what the head reads. ``first_difference`` checks that.

    Args:
        drop: names in the file to leave out; ``"head"`` is all of ``head.*``.
        keep: names in the model that stay as they are, such as a new ``"head"``.
        resize_positions: let positions of another (square) grid be interpolated.

    Raises:
        WeightsMismatch: if a tensor is unexpected, missing or misshapen. All are
            listed, and the model is as before.
        ValueError: if a name in ``drop`` or ``keep`` is not there.
    """
    own = model.state_dict()
    given = left_over("drop: in the weights", state_dict, drop)
    wanted = left_over("keep: in the model", own, keep)
    if resize_positions and positions_of_another_grid(given, wanted):
        given["pos_embed"] = interpolate_position_embedding(
            given["pos_embed"], model.patch_embed.grid_size
        )
    unexpected = [name for name in given if name not in wanted]
    missing = [name for name in wanted if name not in given]
    shared = [name for name in given if name in wanted]
    misshapen = [name for name in shared if given[name].shape != wanted[name].shape]
    if unexpected or missing or misshapen:
        raise mismatch(given, wanted, unexpected, missing, misshapen)
    model.load_state_dict(own | fitted("the weights", given, wanted))
    return model


def left_over(
    what: str, state_dict: Mapping[str, Tensor], names: str | Iterable[str]
) -> StateDict:
    """A state dict without some names; an error about one of them begins with what."""
    try:
        return without(state_dict, *((names,) if isinstance(names, str) else names))
    except ValueError as error:
        raise ValueError(f"{what}, {error}") from None


def mismatch(
    given: Mapping[str, Tensor],
    wanted: Mapping[str, Tensor],
    unexpected: list[str],
    missing: list[str],
    misshapen: list[str],
) -> WeightsMismatch:
    """The error that lists them all, and says what to do."""
    lines = ["the weights do not fit, and the model is as before."]
    if len(missing) == len(wanted):
        which = "which from_... function knows the library they are from?"
        lines.append(f"No name fits: {which}")
    if unexpected:
        advice = "with no place in the model (drop=... leaves them out)"
        lines.append(f"Unexpected, {advice}:{listing(unexpected, given)}")
    if missing:
        advice = "not among the weights (keep=... leaves the model's as they are)"
        lines.append(f"Missing, {advice}:{listing(missing, wanted)}")
    if misshapen:
        advice = "another configuration? config_of reads the sizes"
        if positions_of_another_grid(given, wanted):
            advice = "resize_positions=True interpolates positions of another grid"
        lines.append(f"Misshapen ({advice}):{listing(misshapen, given, wanted)}")
    return WeightsMismatch("\n".join(lines), unexpected, missing, misshapen)


def positions_of_another_grid(
    given: Mapping[str, Tensor], wanted: Mapping[str, Tensor]
) -> bool:
    """Whether the positions fit when they are interpolated: a square grid of others."""
    if "pos_embed" not in given or "pos_embed" not in wanted:
        return False
    old, new = given["pos_embed"].shape, wanted["pos_embed"].shape
    if len(old) != 3 or old[1] < 2 or old == new:
        return False
    square = math.isqrt(old[1] - 1) ** 2 == old[1] - 1
    return square and (old[0], old[2]) == (new[0], new[2])


def model_of(
    state_dict: Mapping[str, Tensor],
    num_heads: int | None = None,
    drop: str | Iterable[str] = (),
    **overrides: Any,
) -> VisionTransformer:
    """The model that a state dict in our names is of, with its weights, in eval mode.

    With a distillation token it is a ``DistilledVisionTransformer``; with registers, or
    without a class token, a ``VariantVisionTransformer``.

    The arguments are those of ``config_of``, and ``drop`` as in ``load_weights``. A
    ``num_classes`` makes a new head where there is none.

    Raises: ValueError as ``config_of`` and ``load_weights`` do.
    """
    weights = without(state_dict, *((drop,) if isinstance(drop, str) else drop))
    config = config_of(weights, num_heads, **overrides)
    if isinstance(config, variants.VariantConfig):
        model: VisionTransformer = variants.VariantVisionTransformer(config)
    elif isinstance(config, variants.DistilledConfig):
        model = variants.DistilledVisionTransformer(config)
    else:
        model = VisionTransformer(config)
    N = families.patches_of(weights, config.patch_size, config.image_size)
    new = () if "head.weight" in weights else ("head.", "head_dist.")
    keep = [name for name in model.state_dict() if name.startswith(new)]
    return load_weights(model, families.at_our_places(weights, N), keep=keep).eval()


def config_of(
    state_dict: Mapping[str, Tensor], num_heads: int | None = None, **overrides: Any
) -> ViTConfig:
    """Read the configuration, also a variant's, off a state dict in our names.

    Args:
        num_heads: h, which no shape tells; left out, heads of d = 64 are assumed, as in
            common models up to ViT-L.
        overrides: any field of the config. ``image_size`` must be said if it is not a
            square, ``norm_eps`` where it is not 1e-6, such as Hugging Face's 1e-12.

    Raises: ValueError if ours cannot be that model, a tensor that tells a size is
        missing or has another rank, or something must be said.
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

    families.check_family(state_dict)
    embed_dim, in_channels, *patch_size = shape("patch_embed.proj.weight", 4)
    shape("pos_embed", 3)
    hidden_dim = shape("blocks.0.mlp.fc1.weight", 2)[0]
    mlp_ratio = hidden_dim / embed_dim
    if int(embed_dim * mlp_ratio) != hidden_dim:  # rounded down by one bit
        mlp_ratio = math.nextafter(mlp_ratio, math.inf)
    fields: dict[str, Any] = {
        "patch_size": _size(patch_size),
        "in_channels": in_channels,
        "embed_dim": embed_dim,
        "depth": len({n.split(".")[1] for n in state_dict if n.startswith("blocks.")}),
        "mlp_ratio": mlp_ratio,
        "qkv_bias": "blocks.0.attn.qkv.bias" in state_dict,
    }
    if num_heads is None and (embed_dim % 64 or embed_dim > 1024):
        raise ValueError(
            f"num_heads: got None, and {embed_dim = } is no multiple of 64, or so wide "
            "that models differ; no shape tells the number of heads, so say it"
        )
    fields["num_heads"] = embed_dim // 64 if num_heads is None else num_heads
    if "image_size" not in overrides:
        side = math.isqrt(families.patches_of(state_dict, _size(patch_size), None))
        fields["image_size"] = _size([side * length for length in patch_size])
    has_head = "head.weight" in state_dict
    fields["num_classes"] = shape("head.weight", 2)[0] if has_head else 0
    if "pre_logits.fc.weight" in state_dict:
        fields["representation_size"] = shape("pre_logits.fc.weight", 2)[0]
    if "blocks.0.ls1.gamma" in state_dict:
        fields["layer_scale"] = 1.0  # where training began; loading replaces it
    if "dist_token" in state_dict:
        return variants.DistilledConfig(**fields | overrides)
    tokens, speak = families.in_front(state_dict)
    if (tokens, speak) == (1, 1):
        return ViTConfig(**fields | overrides)
    fields["pooling"] = "class token" if speak else "mean"
    fields["num_registers"] = tokens - speak
    return variants.VariantConfig(**fields | overrides)


def _size(pair: list[int]) -> Size:
    height, width = pair
    return height if height == width else (height, width)
