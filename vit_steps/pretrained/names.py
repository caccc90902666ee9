"""The names that weights have elsewhere, and how they become ours.

Other libraries' files hold the same tensors under other names. One table a library
says which is which; it is read from right to left to load their weights and from left
to right to give them ours.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping

import torch
from torch import Tensor

StateDict = dict[str, Tensor]

# -- Names: ours on the left, theirs on the right.
# {i} is a block's number, {p} is weight or bias, {rest} is what follows.

# timm's names are ours, and so are those of DINOv2's own code (arXiv 2304.07193).
TIMM = {
    name: name
    for name in (
        "cls_token",
        "pos_embed",
        "patch_embed.proj.{p}",
        "blocks.{i}.norm1.{p}",
        "blocks.{i}.attn.qkv.{p}",
        "blocks.{i}.attn.proj.{p}",
        "blocks.{i}.ls1.gamma",
        "blocks.{i}.norm2.{p}",
        "blocks.{i}.mlp.fc1.{p}",
        "blocks.{i}.mlp.fc2.{p}",
        "blocks.{i}.ls2.gamma",
        "norm.{p}",
        "head.{p}",
    )
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
# In its files, and in the modules of transformers 4.
_ATTENTION_SAVED = {
    "blocks.{i}.attn.q.{p}": "encoder.layer.{i}.attention.attention.query.{p}",
    "blocks.{i}.attn.k.{p}": "encoder.layer.{i}.attention.attention.key.{p}",
    "blocks.{i}.attn.v.{p}": "encoder.layer.{i}.attention.attention.value.{p}",
    "blocks.{i}.attn.proj.{p}": "encoder.layer.{i}.attention.output.dense.{p}",
}
HUGGINGFACE_SAVED = (
    _VIT_ENDS
    | _ATTENTION_SAVED
    | {
        "blocks.{i}.norm1.{p}": "encoder.layer.{i}.layernorm_before.{p}",
        "blocks.{i}.norm2.{p}": "encoder.layer.{i}.layernorm_after.{p}",
        "blocks.{i}.mlp.fc1.{p}": "encoder.layer.{i}.intermediate.dense.{p}",
        "blocks.{i}.mlp.fc2.{p}": "encoder.layer.{i}.output.dense.{p}",
    }
)
# In the modules of transformers 5.
HUGGINGFACE = _VIT_ENDS | {
    "blocks.{i}.norm1.{p}": "layers.{i}.layernorm_before.{p}",
    "blocks.{i}.attn.q.{p}": "layers.{i}.attention.q_proj.{p}",
    "blocks.{i}.attn.k.{p}": "layers.{i}.attention.k_proj.{p}",
    "blocks.{i}.attn.v.{p}": "layers.{i}.attention.v_proj.{p}",
    "blocks.{i}.attn.proj.{p}": "layers.{i}.attention.o_proj.{p}",
    "blocks.{i}.norm2.{p}": "layers.{i}.layernorm_after.{p}",
    "blocks.{i}.mlp.fc1.{p}": "layers.{i}.mlp.fc1.{p}",
    "blocks.{i}.mlp.fc2.{p}": "layers.{i}.mlp.fc2.{p}",
}
# No head: its classifier reads the class token and the mean of the patches together.
_DINOV2 = _OUTSIDE_THE_BLOCKS | {
    "blocks.{i}.norm1.{p}": "encoder.layer.{i}.norm1.{p}",
    "blocks.{i}.ls1.gamma": "encoder.layer.{i}.layer_scale1.lambda1",
    "blocks.{i}.norm2.{p}": "encoder.layer.{i}.norm2.{p}",
    "blocks.{i}.mlp.fc1.{p}": "encoder.layer.{i}.mlp.fc1.{p}",
    "blocks.{i}.mlp.fc2.{p}": "encoder.layer.{i}.mlp.fc2.{p}",
    "blocks.{i}.ls2.gamma": "encoder.layer.{i}.layer_scale2.lambda1",
}
DINOV2_SAVED = _DINOV2 | _ATTENTION_SAVED
DINOV2 = _DINOV2 | {
    "blocks.{i}.attn.q.{p}": "encoder.layer.{i}.attention.q_proj.{p}",
    "blocks.{i}.attn.k.{p}": "encoder.layer.{i}.attention.k_proj.{p}",
    "blocks.{i}.attn.v.{p}": "encoder.layer.{i}.attention.v_proj.{p}",
    "blocks.{i}.attn.proj.{p}": "encoder.layer.{i}.attention.o_proj.{p}",
}
TABLES = (TIMM, TORCHVISION, HUGGINGFACE_SAVED, HUGGINGFACE, DINOV2_SAVED, DINOV2)


# -- From their names to ours. A name that no table has stays as it is, so that
# ``load_weights`` finds it and lists it.


def from_timm(state_dict: Mapping[str, Tensor]) -> StateDict:
    """timm's state dict in our names, which are the same.

    DINOv2's own files (torch.hub) have these names too, and a ``mask_token``.

    Raises:
        ValueError: if a value is no tensor. So do the other three.
    """
    return rename(state_dict, TIMM)


def from_torchvision(state_dict: Mapping[str, Tensor]) -> StateDict:
    """torchvision's state dict in our names."""
    return rename(state_dict, _backwards(TORCHVISION))


def from_huggingface(state_dict: Mapping[str, Tensor]) -> StateDict:
    """The state dict of a Hugging Face ViT in our names; both spellings are read.

    ``ViTModel``'s pooler is the paper's linear and tanh before the head, here
    ``pre_logits``. These models have ``norm_eps`` 1e-12, which no tensor tells.
    """
    table = _backwards(HUGGINGFACE_SAVED) | _backwards(HUGGINGFACE)
    return _join_qkv(rename(rename(state_dict, {"vit.{rest}": "{rest}"}), table))


def from_dinov2(state_dict: Mapping[str, Tensor]) -> StateDict:
    """The state dict of a Hugging Face ``Dinov2Model`` in our names; both spellings."""
    table = _backwards(DINOV2_SAVED) | _backwards(DINOV2)
    return _join_qkv(rename(rename(state_dict, {"dinov2.{rest}": "{rest}"}), table))


# -- From our names to theirs. What they have no place for is an error.


def to_timm(state_dict: Mapping[str, Tensor]) -> StateDict:
    """Our state dict for timm's ``VisionTransformer``.

    Raises:
        WeightsMismatch: with the names that the other side has no place for; leave
            them out with ``without`` if that is meant. So do the other three.
    """
    return rename(state_dict, TIMM, "timm")


def to_torchvision(state_dict: Mapping[str, Tensor]) -> StateDict:
    """Our state dict for torchvision's ``VisionTransformer``."""
    return rename(state_dict, TORCHVISION, "torchvision")


def to_huggingface(state_dict: Mapping[str, Tensor], saved: bool = True) -> StateDict:
    """Our state dict for ``ViTForImageClassification``, or ``ViTModel`` if headless.

    Args:
        saved: the names in their files, which ``from_pretrained`` reads in every
            version; False for the names of transformers 5's modules.
    """
    table = HUGGINGFACE_SAVED if saved else HUGGINGFACE
    if "head.weight" not in state_dict:
        return rename(_split_qkv(state_dict), table, "ViTModel")
    table = {
        ours: theirs if theirs.startswith("classifier") else "vit." + theirs
        for ours, theirs in table.items()
        if not theirs.startswith("pooler")
    }
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

    Raises:
        ValueError: if a name is not there.
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
    """Apply a table. What it does not know stays, or is refused by a ``receiver``."""
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
        raise WeightsMismatch(
            f"{receiver} has no place for:" + listing(unknown), unexpected=unknown
        )
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
    split: StateDict = {}
    for name, tensor in state_dict.items():
        if ".attn.qkv." in name:
            for letter, part in zip("qkv", tensor.chunk(3), strict=True):
                split[name.replace(".qkv.", f".{letter}.")] = part  # (D, ...)
        else:
            split[name] = tensor
    return split


class WeightsMismatch(ValueError):
    """Weights and model do not fit. Says each tensor by name, and what to do.

    Attributes:
        unexpected: names in the file that the model has no place for.
        missing: names of the model that the file does not have.
        misshapen: names that both have, with different shapes.
    """

    def __init__(
        self,
        message: str,
        unexpected: Collection[str] = (),
        missing: Collection[str] = (),
        misshapen: Collection[str] = (),
    ) -> None:
        super().__init__(message)
        self.unexpected = tuple(unexpected)
        self.missing = tuple(missing)
        self.misshapen = tuple(misshapen)


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
        if expected is not None:
            line += f", expected {tuple(expected[name].shape)}"
        number = re.search(r"\.(\d+)\.", name)
        numbers_of.setdefault(line, []).append(number[1] if number else "")
    listing = ""
    for line, numbers in numbers_of.items():
        several = numbers[0] if len(numbers) == 1 else f"{{{','.join(numbers)}}}"
        listing += "\n  " + line.replace("#", several)
    return listing
