"""Load a state dict into a model: all of it, or nothing."""

import math
import re
from dataclasses import asdict
from typing import Any

import torch

from vit_steps import variants
from vit_steps.checkpoint import fitted
from vit_steps.embedding import interpolate_position_embedding
from vit_steps.pretrained import families
from vit_steps.pretrained.names import Names, StateDict, in_our_names, listing, without
from vit_steps.sizes import Size, as_pair
from vit_steps.vision_transformer import VisionTransformer, ViTConfig


class WeightsMismatch(ValueError):
    """Weights and model do not fit. Lists each tensor by name, with what to do."""

    def __init__(
        self,
        given: StateDict,
        wanted: StateDict,
        unexpected: list[str],
        missing: list[str],
        misshapen: list[str],
    ) -> None:
        self.unexpected = tuple(unexpected)  # in the file, with no place in the model
        self.missing = tuple(missing)  # in the model alone
        self.misshapen = tuple(misshapen)  # in both, with different shapes
        lines = ["the weights do not fit, and the model is as before."]
        # drop and keep together would exchange a trained head for a fresh one.
        other_head = any(re.search("head|classifier", name) for name in unexpected)
        drop = "" if other_head else " (drop=... leaves them out)"
        keep = "" if other_head else " (keep=... leaves the model's as they are)"
        if unexpected:
            advice = f"with no place in the model{drop}"
            lines.append(f"Unexpected, {advice}:{listing(unexpected, given)}")
        if missing:
            advice = f"not among the weights{keep}"
            lines.append(f"Missing, {advice}:{listing(missing, wanted)}")
        if misshapen:
            advice = "another configuration? config_of reads the sizes"
            if misshapen == ["pos_embed"]:
                advice = "another grid? old_grid_size=(rows, columns) interpolates them"
            if all(name.startswith("head") for name in misshapen):
                advice = "other classes? drop='head', keep='head' keeps the model's"
            lines.append(f"Misshapen ({advice}):{listing(misshapen, given, wanted)}")
        super().__init__("\n".join(lines))


def load_weights(
    model: VisionTransformer,
    state_dict: StateDict,
    drop: Names = (),
    keep: Names = (),
    old_grid_size: Size | None = None,
) -> VisionTransformer:
    """Load a state dict, all of it or nothing, and return the model.

    Names of timm, torchvision and Hugging Face are translated by ``in_our_names``.
    The number of heads, the norms' eps, the kind of GELU and what the head reads are in
    no tensor, so they are not checked here. ``first_difference`` checks them.

    Args:
        drop: names in the file to leave out; ``"head"`` is all of ``head.*``.
        keep: names in the model that stay as they are, such as a new ``"head"``.
        old_grid_size: rows and columns of patches that the positions were trained with.
            If the model has others, the positions are interpolated. Without it,
            positions that fit are taken to be of the model's own grid.

    Raises:
        WeightsMismatch: if a tensor is unexpected, missing or misshapen. All are
            listed, and the model is as before.
        ValueError: if a name in ``drop`` or ``keep`` is not there, ``old_grid_size``
            has to be known, or a tensor holds no finite numbers.
    """
    own = model.state_dict()
    given = without(in_our_names(state_dict), drop, "drop")
    wanted = without(own, keep, "keep")
    given = on_the_grid(given, wanted, model.patch_embed.grid_size, old_grid_size)
    unexpected = [name for name in given if name not in wanted]
    missing = [name for name in wanted if name not in given]
    shared = [name for name in given if name in wanted]
    misshapen = [name for name in shared if given[name].shape != wanted[name].shape]
    if unexpected or missing or misshapen:
        raise WeightsMismatch(given, wanted, unexpected, missing, misshapen)
    model.load_state_dict(own | fitted("the weights", given, wanted))
    return model


def on_the_grid(
    given: StateDict,
    wanted: StateDict,
    grid_size: tuple[int, int],
    old_grid_size: Size | None,
) -> StateDict:
    """Return weights whose positions are interpolated from their grid to the model's.

    Empty tensors, of no registers or positions, need not be given.

    Raises: ValueError if ``old_grid_size`` is not theirs, or has to be known, since
        positions of a square would have the same shape.
    """
    given = {name: t for name, t in wanted.items() if not t.numel()} | given
    if not families.has_positions(given) or "pos_embed" not in wanted:
        return given
    positions = given["pos_embed"]
    expected = wanted["pos_embed"].shape
    rows, columns = grid_size
    N = rows * columns
    if old_grid_size is not None:
        positions = interpolate_position_embedding(
            positions, grid_size, old_grid_size, expected[1] - N
        )
    elif positions.shape == expected and rows != columns and math.isqrt(N) ** 2 == N:
        raise ValueError(
            f"old_grid_size: got None, and {N} positions may be of a square of patches "
            f"or of {rows}×{columns}, as the model's are; expected the (rows, columns) "
            "of the images they were trained with"
        )
    return given | {"pos_embed": positions}


def model_of(
    state_dict: StateDict,
    num_heads: int | None = None,
    drop: Names = (),
    old_grid_size: Size | None = None,
    **overrides: Any,
) -> VisionTransformer:
    """Build the model that a state dict is of, in evaluation mode.

    With a distillation token it is a ``DistilledVisionTransformer``; with any change
    that ``VariantConfig`` names, a ``VariantVisionTransformer``. It is in float32, or
    in float64 if the weights are. ``num_classes`` makes a new head where there is none.

    Arguments and errors are those of ``config_of`` and ``load_weights``.
    """
    weights = without(in_our_names(state_dict), drop, "drop")
    config = config_of(weights, num_heads, old_grid_size, **overrides)
    classes: tuple[Any, ...] = (
        VisionTransformer,
        variants.VariantVisionTransformer,
        variants.DistilledVisionTransformer,
    )
    with torch.random.fork_rng(devices=[]):
        model = {c.config_class: c for c in classes}[type(config)](config)
    dtype = weights["patch_embed.proj.weight"].dtype
    model.to(torch.promote_types(dtype, torch.float32))
    weights = families.at_our_places(
        weights, old_grid_size or model.patch_embed.grid_size
    )
    new = () if "head.weight" in weights else ("head.", "head_dist.")
    keep = [name for name in model.state_dict() if name.startswith(new)]
    return load_weights(model, weights, (), keep, old_grid_size).eval()


def config_of(
    state_dict: StateDict,
    num_heads: int | None = None,
    old_grid_size: Size | None = None,
    **overrides: Any,
) -> ViTConfig:
    """Read the configuration, also a variant's, off a state dict.

    Args:
        num_heads: h, which is in no shape; left out, heads of d = 64 are assumed, as in
            common models up to ViT-L.
        old_grid_size: as in ``load_weights``. Without it and without an ``image_size``
            a square is assumed.
        overrides: any field of the config, also of ``VariantConfig``. What is in no
            tensor has to be given where it is different from the default:
            ``norm_eps`` (1e-6, but 1e-5 for CLIP's and DINOv3's tensors; Hugging Face's
            ViT has 1e-12), ``mlp`` ("quick_gelu" in OpenAI's CLIP, "gelu_tanh" in
            SigLIP's so400m), ``pooling``, and, but for DINOv3, ``rope``. EVA-02 is
            "indexed" with ``rope_base=10000, rope_reference=16``, RoPE-ViT "indexed",
            and the weights of both have to go through ``in_halves`` first. Norms
            without biases are taken for RMSNorm.

    Raises: ValueError if ours cannot be that model, a tensor that shows a size is
        missing or has another rank, or something has to be given.
    """
    weights = in_our_names(state_dict)
    families.check_family(weights)
    gated = "blocks.0.mlp.fc1_x.weight"
    fc1 = gated if gated in weights else "blocks.0.mlp.fc1.weight"
    ranks = {"patch_embed.proj.weight": 4, fc1: 2}
    if "pos_embed" in weights:
        ranks["pos_embed"] = 3
    for name, rank in ranks.items():
        if name not in weights or weights[name].ndim != rank:
            came = tuple(weights[name].shape) if name in weights else "nothing"
            got = f"state_dict: got {came} for {name!r}"
            raise ValueError(f"{got}, expected a tensor of rank {rank}")
    embed_dim, in_channels, *patch_size = weights["patch_embed.proj.weight"].shape
    hidden_dim = len(weights[fc1])
    mlp_ratio = hidden_dim / embed_dim
    if int(embed_dim * mlp_ratio) != hidden_dim:  # int() would round it down
        mlp_ratio = math.nextafter(mlp_ratio, math.inf)
    if num_heads is None and (embed_dim % 64 or embed_dim > 1024):
        raise ValueError(
            f"num_heads: got None, and {embed_dim = } is no multiple of 64, or so wide "
            "that models differ; the number of heads is in no shape, so give it"
        )
    fields: dict[str, Any] = {
        "patch_size": patch_size,
        "in_channels": in_channels,
        "num_classes": len(weights.get("head.weight", ())),
        "embed_dim": embed_dim,
        "depth": len({n.split(".")[1] for n in weights if n.startswith("blocks.")}),
        "num_heads": embed_dim // 64 if num_heads is None else num_heads,
        "mlp_ratio": mlp_ratio,
        "qkv_bias": "blocks.0.attn.qkv.bias" in weights,
    }
    grid = None if old_grid_size is None else as_pair(old_grid_size, "old_grid_size")
    if families.has_positions(weights) and "image_size" not in overrides:
        grid = families.grid_of_positions(weights, old_grid_size)
    if grid is not None:
        sides = zip(grid, patch_size, strict=True)
        fields["image_size"] = [n * P for n, P in sides]
    if "pre_logits.fc.weight" in weights:
        fields["representation_size"] = len(weights["pre_logits.fc.weight"])
    if "blocks.0.ls1.gamma" in weights:
        fields["layer_scale"] = 1.0  # any number; loading replaces it
    fields |= families.variant_fields(weights, overrides)
    # A field that is as in the paper needs no variant.
    papers = asdict(variants.VariantConfig())
    names = asdict(ViTConfig())
    fields = {n: x for n, x in fields.items() if n in names or x != papers.get(n)}
    if "dist_token" in weights:
        return variants.DistilledConfig(**fields)
    config = ViTConfig if fields.keys() <= names.keys() else variants.VariantConfig
    return config(**fields)
