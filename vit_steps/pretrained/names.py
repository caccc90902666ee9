"""The names that weights have elsewhere, and how they become ours."""

import re
from collections.abc import Callable, Iterable

import torch
from torch import Tensor

StateDict = dict[str, Tensor]
Names = str | Iterable[str]

# -- Names: {i} is a block's number, {p} is weight or bias, {x} one letter or digit, and
# {layer} a block of Hugging Face's.

# timm's names are ours, and so are those of DINOv2's own code (arXiv 2304.07193).
_SAME = """
cls_token dist_token reg_token pos_embed patch_embed.proj.{p} norm_pre.{p} norm.{p}
attn_pool.{rest} fc_norm.{p} head.{p} head_dist.{p} blocks.{i}.norm{x}.{p}
blocks.{i}.attn.qkv.{p} blocks.{i}.attn.{x}_norm.{p} blocks.{i}.attn.proj.{p}
blocks.{i}.mlp.fc{x}.{p} blocks.{i}.mlp.fc1_{x}.{p} blocks.{i}.mlp.norm.{p}
blocks.{i}.ls{x}.gamma
"""

LAYER = "encoder.layers.encoder_layer_{i}"
TORCHVISION = {  # ours on the left, theirs on the right
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

# Hugging Face keeps queries, keys and values apart, and spells the parts of a block in
# several ways: in ViT, DINOv2, DINOv3, CLIP and SigLIP, in older files and in modules.
_PARTS = {
    "norm1": "norm1 layernorm_before layer_norm1",
    "norm2": "norm2 layernorm_after layer_norm2",
    "attn.q": "attention.q_proj attention.attention.query self_attn.q_proj",
    "attn.k": "attention.k_proj attention.attention.key self_attn.k_proj",
    "attn.v": "attention.v_proj attention.attention.value self_attn.v_proj",
    "attn.proj": "attention.o_proj attention.output.dense self_attn.out_proj",
    "mlp.fc1": "mlp.fc1 mlp.weights_in mlp.up_proj intermediate.dense",
    "mlp.fc1_g": "mlp.gate_proj",
    "mlp.fc2": "mlp.fc2 mlp.weights_out mlp.down_proj output.dense",
}
HUGGINGFACE = {  # theirs on the left, ours on the right; "flat" has no leading axes
    "embeddings.cls_token": "cls_token",
    "embeddings.class_embedding": "cls_token.flat",
    "embeddings.position_embeddings": "pos_embed",
    "embeddings.position_embedding.weight": "pos_embed.flat",
    "embeddings.register_tokens": "reg_token",
    "embeddings.distillation_token": "reg_token",  # in DeiT
    "embeddings.patch_embeddings.projection.{p}": "patch_embed.proj.{p}",
    "embeddings.patch_embeddings.{p}": "patch_embed.proj.{p}",
    "embeddings.patch_embedding.{p}": "patch_embed.proj.{p}",
    "pre_layrnorm.{p}": "norm_pre.{p}",
    "{layer}.layer_scale{x}.lambda1": "blocks.{i}.ls{x}.gamma",
    "layernorm.{p}": "norm.{p}",
    "post_layernorm.{p}": "norm.{p}",
    "pooler.dense.{p}": "pre_logits.fc.{p}",  # in ViTModel alone
    "classifier.{p}": "head.{p}",
    "cls_classifier.{p}": "head.{p}",
    "distillation_classifier.{p}": "head_dist.{p}",
    "visual_projection.{p}": "head.{p}",
    "head.probe": "attn_pool.latent",
    "head.attention.in_proj_{p}": "attn_pool.qkv.{p}",
    "head.attention.out_proj.{p}": "attn_pool.proj.{p}",
    "head.layernorm.{p}": "attn_pool.norm.{p}",
    "head.mlp.{rest}": "attn_pool.mlp.{rest}",
} | {
    f"{{layer}}.{theirs}.{{p}}": f"blocks.{{i}}.{ours}.{{p}}"
    for ours, spellings in _PARTS.items()
    for theirs in spellings.split()
}
OURS = {
    **{name: name for name in _SAME.split()},
    **{theirs: ours for ours, theirs in TORCHVISION.items()},
    **HUGGINGFACE,
    "register_tokens": "reg_token",  # in the files of DINOv2's authors
    "blocks.{i}.gamma_{x}": "blocks.{i}.ls{x}.gamma",  # of DeiT III's, in timm's Eva
    "blocks.{i}.attn.{x}_bias": "blocks.{i}.attn.{x}.bias",  # in timm's Eva
    "blocks.{i}.attn.{x}_proj.{p}": "blocks.{i}.attn.{x}.{p}",
    "blocks.{i}.mlp.w12.{p}": "blocks.{i}.mlp.fc1.{p}",  # in DINOv2's giant
    "blocks.{i}.mlp.w3.{p}": "blocks.{i}.mlp.fc2.{p}",
    "heads.{p}": "head.{p}",  # where torchvision's head was replaced
}

# Another number, which is left out, may come before {i}, as in DINOv2's chunks of
# blocks, and before {p}, where a dropout was put in front of a head for fine-tuning.
_NUMBER = r"(?:\d+\.)?(?P<i>\d+)"
_MEANINGS = {
    "i": _NUMBER,
    "layer": rf"(?:model\.)?(?:encoder\.)?layers?\.{_NUMBER}",
    "p": r"(?:\d+\.)?(?P<p>weight|bias)",
    "x": r"(?P<x>\w)",
    "rest": "(?P<rest>.+)",
}


def in_our_names(state_dict: StateDict) -> StateDict:
    """Return a state dict of ours, timm, torchvision or Hugging Face in our names.

    A prefix of every name is left out, such as ``module.`` or ``teacher.backbone.``. A
    name that no table has stays as it is, so that ``load_weights`` finds and lists it;
    drop the ``mask_token`` of DINOv2. A distillation token that no head reads is a
    register here, and the pooler of Hugging Face's ``ViTModel``, the paper's linear and
    tanh before the head, is ``pre_logits``. Layers are joined and split as ours are,
    and biases that only ours have, of CLIP's patches and of keys, are zeros.

    Raises: ValueError if it is not a dict from names to tensors, or holds two models.
    """
    weights = rename(_without_prefix(state_dict), OURS)
    if "head_dist.weight" in weights and "dist_token" not in weights:
        weights = rename(weights, {"reg_token": "dist_token"})
    return _arranged(weights)


def _arranged(weights: StateDict) -> StateDict:
    """Return weights in our names whose layers are joined and split as ours are."""
    weights = dict(weights)
    none = torch.empty(0)
    for name, tensor in list(weights.items()):
        if name.endswith(".flat"):
            del weights[name]
            whole = tensor.reshape(1, -1, tensor.shape[-1])  # (1, 1 or T, D)
            weights[name.removesuffix(".flat")] = whole
        elif ".attn.q." in name:
            names = [name.replace(".q.", f".{letter}.") for letter in "qkv"]
            no_keys = torch.zeros_like(tensor) if name.endswith("bias") else none
            k, v = weights.get(names[1], no_keys), weights.get(names[2], none)
            if tensor.shape == k.shape == v.shape:
                weights = {n: t for n, t in weights.items() if n not in names}
                weights[name.replace(".q.", ".qkv.")] = torch.cat([tensor, k, v])
        elif name.startswith("attn_pool.qkv."):
            q, k, v = weights.pop(name).chunk(3)
            weights[name.replace("qkv", "q")] = q
            weights[name.replace("qkv", "kv")] = torch.cat([k, v])
        elif ".mlp.fc1." in name:
            gate, gated = (name.replace("fc1", f"fc1_{letter}") for letter in "gx")
            fc2 = weights.get(re.sub(r"fc1\.\w+$", "fc2.weight", name), none)
            if gate in weights:
                weights[gated] = weights.pop(name)
            elif len(tensor) == 2 * fc2.shape[-1]:  # both layers in one
                weights[gate], weights[gated] = weights.pop(name).chunk(2)
    for layer in ("patch_embed.proj", "head"):
        weight = weights.get(f"{layer}.weight")
        if "norm_pre.weight" in weights and weight is not None:
            weights.setdefault(f"{layer}.bias", weight.new_zeros(len(weight)))
    return weights


def in_halves(
    state_dict: StateDict, num_heads: int, columns_first: bool = False
) -> StateDict:
    """Reorder weights whose rotary pairs are neighbours, so that pairs are as in ours.

    In EVA-02 and RoPE-ViT the numbers of a pair are side by side in a head; in our
    models, as in DINOv3, one is in the head's first half and one in its second. So the
    rows that make queries and keys change places, which leaves every score as it was.

    Args:
        state_dict: in our names.
        columns_first: whether the first pairs turn with the column, as in RoPE-ViT.
    """
    halved = dict(state_dict)
    for name, tensor in state_dict.items():
        if ".attn.qkv." in name:
            q, k, v = tensor.chunk(3)
            pairs = torch.arange(len(q)).reshape(num_heads, -1, 2)  # (h, d/2, 2)
            if columns_first:
                pairs = pairs.roll(pairs.shape[1] // 2, dims=1)
            rows = pairs.transpose(1, 2).flatten()  # (D,)
            halved[name] = torch.cat([q[rows], k[rows], v])
    return halved


def _without_prefix(state_dict: StateDict) -> StateDict:
    """Return a state dict without a prefix of all its names, such as ``module.``.

    The prefix is found at the patch embedding. A head may be outside the backbone, and
    have only the first part of it.
    """
    check_state_dict(state_dict)
    patches = "|".join(t for t in OURS if OURS[t] == "patch_embed.proj.{p}")
    ending = re.compile(rf"(|.*\.)(?:{patches.replace('.{p}', '')})\.weight")
    prefixes = [match[1] for match in map(ending.fullmatch, state_dict) if match]
    if len(prefixes) > 1:
        raise ValueError(
            f"state_dict: got several models, with the prefixes {prefixes}, expected "
            "one; take the tensors whose names start with one of them"
        )
    for part in "".join(prefixes).split(".")[:-1]:
        state_dict = rename(state_dict, {f"{part}.{{rest}}": "{rest}"})
    return state_dict


def without(state_dict: StateDict, names: Names, argument: str = "names") -> StateDict:
    """Return a state dict that leaves out a name or several, and all below them.

    ``"head"`` or ``"head."`` is the whole layer, but not ``head_dist``.

    Raises: ValueError, about the ``argument``, if a name is not there.
    """
    names = () if names is None else names
    several = isinstance(names, Iterable) and not isinstance(names, str)
    left = dict(state_dict)
    for name in names if several else [names]:
        found = [n for n in left if f"{n}.".startswith(f"{name}".rstrip(".") + ".")]
        if not found:
            raise ValueError(
                f"{argument}: got {name!r}, and no tensor has this name or is below it"
            )
        left = {n: tensor for n, tensor in left.items() if n not in found}
    return left


def check_state_dict(state_dict: StateDict) -> None:
    """Raise ValueError unless it is a dict from names to tensors."""
    if not isinstance(state_dict, dict):
        got = type(state_dict).__name__
        advice = "model.state_dict() returns one, and torch.load(path) reads one"
        raise ValueError(f"state_dict: got {got}, expected a dict of tensors; {advice}")
    others = {n: type(x) for n, x in state_dict.items() if not isinstance(x, Tensor)}
    nested = [name for name, kind in others.items() if issubclass(kind, dict)]
    for name in nested or others:
        advice = "leave it out, or use torch.from_numpy"
        advice = f"give state_dict[{name!r}]" if nested else advice
        got = f"{name!r} is a {others[name].__name__}"
        raise ValueError(f"state_dict: {got}, expected a tensor; {advice}")


def rename(state_dict: StateDict, table: dict[str, str]) -> StateDict:
    """Rename by a table. Names that it does not have stay."""
    translate = translator(table)
    renamed: StateDict = {}
    for name, tensor in state_dict.items():
        new_name = translate(name) or name
        if new_name in renamed:
            raise ValueError(f"state_dict: has {new_name!r} twice, once as {name!r}")
        renamed[new_name] = tensor
    return renamed


def translator(table: dict[str, str]) -> Callable[[str], str | None]:
    """Return a function that translates a name; it returns None if no row fits."""
    rows = []
    for old, new in table.items():
        pattern = re.escape(old)
        for key, meaning in _MEANINGS.items():
            pattern = pattern.replace(rf"\{{{key}\}}", meaning)
        rows.append((re.compile(pattern), new))

    def translate(name: str) -> str | None:
        for pattern, new in rows:
            if match := pattern.fullmatch(name):
                return new.format(**match.groupdict())
        return None

    return translate


def listing(
    names: Iterable[str], tensors: StateDict, expected: StateDict | None = None
) -> str:
    """Return names and shapes, one per line; blocks with equal lines are joined."""
    numbers_of: dict[str, list[str]] = {}
    for name in names:
        line = re.sub(
            r"\.\d+\.", ".#.", f"{name} {tuple(tensors[name].shape)}", count=1
        )
        if expected is not None:
            line += f", expected {tuple(expected[name].shape)}"
        numbers_of.setdefault(line, []).extend(re.findall(r"\.(\d+)\.", name)[:1])
    lines = ""
    for line, numbers in numbers_of.items():
        several = numbers[0] if len(numbers) == 1 else f"{{{','.join(numbers)}}}"
        lines += "\n  " + line.replace("#", several)
    return lines
