"""The names that weights have elsewhere, and how they become ours.

One table a library says which is which; it is read from right to left to load their
weights and from left to right to give them ours.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping

import torch
from torch import Tensor

from vit_steps.pretrained.families import remark

StateDict = dict[str, Tensor]

# -- Names: ours on the left, theirs on the right.
# {i} is a block's number, {p} is weight or bias, {rest} is what follows.

# timm's names are ours, and so are those of DINOv2's own code (arXiv 2304.07193).
_OURS = """
cls_token dist_token pos_embed patch_embed.proj.{p} norm.{p} head.{p} head_dist.{p}
blocks.{i}.norm1.{p} blocks.{i}.attn.qkv.{p} blocks.{i}.attn.proj.{p}
blocks.{i}.norm2.{p} blocks.{i}.mlp.fc1.{p} blocks.{i}.mlp.fc2.{p}
blocks.{i}.ls1.gamma blocks.{i}.ls2.gamma
"""
TIMM = {name: name for name in _OURS.split()}
# Where DINOv2's and DeiT III's own files differ from timm's.
_FACEBOOK = {
    "register_tokens": "reg_token",
    "blocks.{i}.gamma_1": "blocks.{i}.ls1.gamma",
    "blocks.{i}.gamma_2": "blocks.{i}.ls2.gamma",
}

LAYER = "encoder.layers.encoder_layer_{i}"
TORCHVISION = {
    "cls_token": "class_token",
    "pos_embed": "encoder.pos_embedding",
    "patch_embed.proj.{p}": "conv_proj.{p}",
    "blocks.{i}.norm1.{p}": LAYER + ".ln_1.{p}",
    "blocks.{i}.attn.qkv.{p}": LAYER + ".self_attention.in_proj_{p}",
    "blocks.{i}.attn.proj.{p}": LAYER + ".self_attention.out_proj.{p}",
    "blocks.{i}.norm2.{p}": LAYER + ".ln_2.{p}",
    "blocks.{i}.mlp.fc1.{p}": LAYER + ".mlp.0.{p}",
    "blocks.{i}.mlp.fc2.{p}": LAYER + ".mlp.3.{p}",
    "norm.{p}": "encoder.ln.{p}",
    "pre_logits.fc.{p}": "heads.pre_logits.{p}",
    "head.{p}": "heads.head.{p}",
}

# Hugging Face keeps queries, keys and values apart.
_OUTSIDE_THE_BLOCKS = {
    "cls_token": "embeddings.cls_token",
    "pos_embed": "embeddings.position_embeddings",
    "patch_embed.proj.{p}": "embeddings.patch_embeddings.projection.{p}",
    "norm.{p}": "layernorm.{p}",
}
_VIT_ENDS = _OUTSIDE_THE_BLOCKS | {
    "pre_logits.fc.{p}": "pooler.dense.{p}",  # in ViTModel alone
    "head.{p}": "classifier.{p}",  # in ViTForImageClassification alone
}
# No head: its classifier reads the class token and the mean of the patches together.
_DINOV2_ENDS = _OUTSIDE_THE_BLOCKS | {
    f"blocks.{{i}}.ls{n}.gamma": f"encoder.layer.{{i}}.layer_scale{n}.lambda1"
    for n in (1, 2)
}
_DEIT = {  # read only
    "embeddings.distillation_token": "dist_token",
    "cls_classifier.{p}": "head.{p}",
    "distillation_classifier.{p}": "head_dist.{p}",
}


def _blocks(layer: str, *theirs: str) -> dict[str, str]:
    """The rows of a block: what theirs has for each part of ours, in this order."""
    ours = "norm1 norm2 attn.q attn.k attn.v attn.proj mlp.fc1 mlp.fc2".split()
    rows = zip(ours, theirs, strict=True)
    return {f"blocks.{{i}}.{a}.{{p}}": f"{layer}.{{i}}.{b}.{{p}}" for a, b in rows}


_VIT_NORMS, _DINOV2_NORMS = ("layernorm_before", "layernorm_after"), ("norm1", "norm2")
_MLP = ("mlp.fc1", "mlp.fc2")
# In its files, and in the modules of transformers 4.
_SAVED = ["attention.attention." + x for x in ("query", "key", "value")]
_SAVED += ["attention.output.dense"]
HUGGINGFACE_SAVED = _VIT_ENDS | _blocks(
    "encoder.layer", *_VIT_NORMS, *_SAVED, "intermediate.dense", "output.dense"
)
DINOV2_SAVED = _DINOV2_ENDS | _blocks("encoder.layer", *_DINOV2_NORMS, *_SAVED, *_MLP)
# In the modules of transformers 5.
_NOW = [f"attention.{x}_proj" for x in "qkvo"]
HUGGINGFACE = _VIT_ENDS | _blocks("layers", *_VIT_NORMS, *_NOW, *_MLP)
DINOV2 = _DINOV2_ENDS | _blocks("encoder.layer", *_DINOV2_NORMS, *_NOW, *_MLP)
BACKBONES = ("vit", "deit", "ijepa", "dinov2", "dinov2_with_registers")
TABLES = (TIMM, TORCHVISION, HUGGINGFACE_SAVED, HUGGINGFACE, DINOV2_SAVED, DINOV2)


# -- From their names to ours. A name that no table has stays as it is, so that
# ``load_weights`` finds it and lists it.


def from_timm(state_dict: Mapping[str, Tensor]) -> StateDict:
    """timm's state dict in our names, which are the same.

    DeiT's and DINOv2's own files (torch.hub) are read too; the ``mask_token`` of the
    latter is to be dropped.

    Raises: ValueError if a value is no tensor, as ``from_torchvision``,
        ``from_huggingface`` and ``from_dinov2`` do.
    """
    return rename(state_dict, TIMM | _FACEBOOK)


def from_torchvision(state_dict: Mapping[str, Tensor]) -> StateDict:
    """torchvision's state dict in our names."""
    return rename(state_dict, _backwards(TORCHVISION))


def from_huggingface(state_dict: Mapping[str, Tensor]) -> StateDict:
    """The state dict of a Hugging Face ViT, or DeiT, in our names; both spellings.

    A distillation token that no head reads is a register here, and ``ViTModel``'s
    pooler, the paper's linear and tanh before the head, is ``pre_logits``. These models
    have ``norm_eps`` 1e-12, which no tensor tells.
    """
    table = _backwards(HUGGINGFACE_SAVED) | _backwards(HUGGINGFACE) | _DEIT
    ours = _join_qkv(rename(_bare(state_dict), table))
    if "head_dist.weight" not in ours:
        ours = rename(ours, {"dist_token": "reg_token"})
    return ours


def from_dinov2(state_dict: Mapping[str, Tensor]) -> StateDict:
    """The state dict of a Hugging Face ``Dinov2Model`` in our names; both spellings.

    ``Dinov2WithRegistersModel`` is read too, and the ``mask_token`` is to be dropped.
    """
    table = _backwards(DINOV2_SAVED) | _backwards(DINOV2)
    table["embeddings.register_tokens"] = "reg_token"
    return _join_qkv(rename(_bare(state_dict), table))


# -- From our names to theirs. What they have no place for is an error.


def to_timm(state_dict: Mapping[str, Tensor]) -> StateDict:
    """Our state dict for timm's ``VisionTransformer``.

    Raises: WeightsMismatch with the names that the other side has no place for;
        ``without`` leaves them out. ``to_torchvision``, ``to_huggingface`` and
        ``to_dinov2`` do the same.
    """
    return rename(state_dict, TIMM, "timm")


def to_torchvision(state_dict: Mapping[str, Tensor]) -> StateDict:
    """Our state dict for torchvision's ``VisionTransformer``."""
    return rename(state_dict, TORCHVISION, "torchvision")


def to_huggingface(state_dict: Mapping[str, Tensor], saved: bool = True) -> StateDict:
    """Our state dict for ``ViTForImageClassification``, or ``ViTModel`` if headless.

    The ``saved`` names, those in files, are read by ``from_pretrained`` in every
    version; the others are those of transformers 5's modules.
    """
    table = HUGGINGFACE_SAVED if saved else HUGGINGFACE
    if "head.weight" not in state_dict:
        return rename(_split_qkv(state_dict), table, "ViTModel")
    table = {ours: f"vit.{theirs}" for ours, theirs in table.items()}
    table |= {"head.{p}": "classifier.{p}"}
    del table["pre_logits.fc.{p}"]  # it has no pooler
    return rename(_split_qkv(state_dict), table, "ViTForImageClassification")


def to_dinov2(state_dict: Mapping[str, Tensor], saved: bool = True) -> StateDict:
    """Our state dict, without its head, for ``Dinov2Model``; ``saved`` as above.

    Their ``mask_token`` is used in pre-training only, and none of ours.
    """
    table = DINOV2_SAVED if saved else DINOV2
    return rename(_split_qkv(state_dict), table, "Dinov2Model")


def without(state_dict: Mapping[str, Tensor], *names: str) -> StateDict:
    """A state dict that leaves out these names, and all below them.

    ``"head"`` or ``"head."`` is the whole layer, but not ``head_dist``.

    Raises: ValueError if a name is not there.
    """
    left = dict(state_dict)
    for name in names:
        found = [n for n in left if f"{n}.".startswith(f"{name.rstrip('.')}.")]
        if not found:
            raise ValueError(f"no tensor has the name {name!r} or is below it")
        for n in found:
            del left[n]
    return left


def rename(
    state_dict: Mapping[str, Tensor], table: Mapping[str, str], receiver: str = ""
) -> StateDict:
    """Rename by a table. What it does not know stays, or a ``receiver`` refuses it."""
    renamed: StateDict = {}
    unknown = []
    translate = translator(table)
    for name, tensor in state_dict.items():
        if not isinstance(tensor, Tensor):
            raise ValueError(
                f"state_dict: {name!r} is a {type(tensor).__name__}, expected a "
                f"tensor; many files keep the tensors one level down, under such a key"
            )
        new_name = translate(name)
        if new_name is None:
            unknown.append(name)
            new_name = name
        if new_name in renamed:
            raise ValueError(f"state_dict: has {new_name!r} twice, once as {name!r}")
        renamed[new_name] = tensor
    if receiver and unknown:
        message = f"{receiver} has no place for:{listing(unknown)}"
        raise WeightsMismatch(message, unexpected=unknown)
    return renamed


def translator(table: Mapping[str, str]) -> Callable[[str], str | None]:
    """A function that translates a name, and gives None for one that no row fits."""
    rows = []
    for old, new in table.items():
        pattern = re.escape(old)
        for key, meaning in (("i", r"\d+"), ("p", "weight|bias"), ("rest", ".+")):
            pattern = pattern.replace(rf"\{{{key}\}}", f"(?P<{key}>{meaning})")
        rows.append((re.compile(pattern), new))

    def translate(name: str) -> str | None:
        for pattern, new in rows:
            if match := pattern.fullmatch(name):
                return new.format(**match.groupdict())
        return None

    return translate


def _bare(state_dict: Mapping[str, Tensor]) -> StateDict:
    """Names without the backbone's, where a model of Hugging Face's has a head."""
    return rename(state_dict, {f"{name}.{{rest}}": "{rest}" for name in BACKBONES})


def _backwards(table: Mapping[str, str]) -> dict[str, str]:
    return {theirs: ours for ours, theirs in table.items()}


def _join_qkv(state_dict: Mapping[str, Tensor]) -> StateDict:
    """Stack queries, keys and values in this order, where all three are there."""
    joined = dict(state_dict)
    for q in state_dict:
        if ".attn.q." not in q:
            continue
        names = [q.replace(".attn.q.", f".attn.{letter}.") for letter in "qkv"]
        parts = [state_dict[name] for name in names if name in state_dict]
        if len(parts) == 3 and parts[0].shape == parts[1].shape == parts[2].shape:
            joined = without(joined, *names)
            qkv = torch.cat(parts)  # (3·D, ...)
            joined[q.replace(".attn.q.", ".attn.qkv.")] = qkv
    return joined


def _split_qkv(state_dict: Mapping[str, Tensor]) -> StateDict:
    split = dict(state_dict)
    for name in state_dict:
        if ".attn.qkv." in name:
            for letter, part in zip("qkv", split.pop(name).chunk(3), strict=True):
                split[name.replace(".qkv.", f".{letter}.")] = part  # (D, ...)
    return split


class WeightsMismatch(ValueError):
    """Weights and model do not fit. Says each tensor by name, and what to do."""

    def __init__(
        self,
        message: str,
        unexpected: Collection[str] = (),
        missing: Collection[str] = (),
        misshapen: Collection[str] = (),
    ) -> None:
        super().__init__(message)
        self.unexpected = tuple(unexpected)  # in the file, with no place in the model
        self.missing = tuple(missing)  # in the model alone
        self.misshapen = tuple(misshapen)  # in both, with different shapes


def listing(
    names: Iterable[str],
    tensors: Mapping[str, Tensor] | None = None,
    expected: Mapping[str, Tensor] | None = None,
) -> str:
    """Names and shapes, one a line; alike tensors of several blocks share a line."""
    numbers_of: dict[str, list[str]] = {}
    for name in names:
        line = re.sub(r"\.\d+\.", ".#.", name, count=1)
        if tensors is not None:
            line += f" {tuple(tensors[name].shape)}"
            wanted = None if expected is None else expected[name]
            line += "" if wanted is None else f", expected {tuple(wanted.shape)}"
            line += remark(name, tensors[name], wanted)
        number = re.search(r"\.(\d+)\.", name)
        numbers_of.setdefault(line, []).append(number[1] if number else "")
    listing = ""
    for line, numbers in numbers_of.items():
        several = numbers[0] if len(numbers) == 1 else f"{{{','.join(numbers)}}}"
        listing += "\n  " + line.replace("#", several)
    return listing
