"""Run two models on the same images and find the first place where they differ."""

import math
import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch import Tensor, nn

from vit_steps.evaluating import as_module, evaluating
from vit_steps.pretrained.names import LAYER, OURS, StateDict, translator


@dataclass(frozen=True)
class Difference:
    """The first place at which two models differ.

    The cause is between ``after``, the last place where they agree, and this place.
    """

    place: str  # a module's name in our model, or "logits" for the end
    largest: float  # absolute difference there; inf if the shapes differ
    after: str | None

    def __str__(self) -> str:
        agree = f"equal up to {self.after}" if self.after else "the first place of all"
        return f"{self.place} differs by up to {self.largest:.2g} ({agree})"


ACTS = ("act", "1", "activation_fn", "act_fn")  # names of a GELU in an MLP
# Modules without parameters, or with other modules inside: their names, and ours.
_MODULES = {
    name: "pos_drop" for name in ("pos_drop", "encoder.dropout", "embeddings.dropout")
}
for _block in ("blocks.{i}", LAYER, "{layer}"):
    _MODULES |= {_block: "blocks.{i}", f"{_block}.mlp": "blocks.{i}.mlp"}
    for _attention in ("attn", "self_attention", "self_attn", "attention"):
        _MODULES[f"{_block}.{_attention}"] = "blocks.{i}.attn"
    for _act in ACTS:
        _MODULES[f"{_block}.mlp.{_act}"] = "blocks.{i}.mlp.act"


def first_difference(
    a: nn.Module, b: nn.Module, images: Tensor, atol: float = 1e-5
) -> Difference | None:
    """Run two models layer by layer and return the first place where they differ.

    Either may be ours, timm's, torchvision's or Hugging Face's. Places that both have
    are compared in the order in which ``a`` runs, queries, keys and values each by
    itself. B must not be T: tokens (T, B, D) are recognised by shape.

    Args:
        atol: the largest difference that counts as equal: absolute, or relative to the
            largest number at that place where this is above 1.

    Both run in evaluation mode, and are left in the mode in which they were.

    Raises: ValueError if they have no place in common.
    """
    outputs_a = named_outputs(a, images)
    outputs_b = named_outputs(b, images)
    places = [place for place in outputs_a if place in outputs_b]
    if not set(places) - {"logits"}:
        raise ValueError(
            "b: no module in it has a known name that a has too; "
            "expected Vision Transformers of ours, timm, torchvision or transformers"
        )
    after = None
    for place in places:
        x, y = outputs_a[place], outputs_b[place]
        if x.shape != y.shape and x.shape == y.transpose(0, 1).shape:
            y = y.transpose(0, 1)  # (T, B, D) -> (B, T, D)
        if x.shape != y.shape:
            return Difference(place, math.inf, after)
        largest = (x - y).abs().max().item()
        if not largest <= atol * max(1.0, x.abs().max().item()):  # NaN is a difference
            return Difference(place, largest, after)
        after = place
    return None


def named_outputs(model: nn.Module, images: Tensor) -> StateDict:
    """Run a model and return what its modules return, by our names, in running order.

    They are the places of ``first_difference``, such as ``blocks.3``, and "logits".
    Queries, keys and values are separate; queries and keys are left out if their
    rotary pairs may be in another order.
    """
    table = dict(_MODULES)
    for theirs, ours in OURS.items():
        module, _, parameter = theirs.rpartition(".")
        if parameter in ("{p}", "gamma", "lambda1"):
            table[module] = ours.rpartition(".")[0]
    del table["embeddings.patch_embeddings"]  # mostly a module around the convolution
    translate = translator(table)
    outputs: StateDict = {}

    def keep(place: str, module: nn.Module, inputs: Any, output: Any) -> None:
        output = output[0] if isinstance(output, tuple) else output
        output = getattr(output, "logits", output)
        if place.endswith("attn.qkv"):
            for letter, part in zip("qkv", output.chunk(3, dim=-1), strict=True):
                outputs[place.replace("qkv", letter)] = part  # (B, T, D)
        elif isinstance(output, Tensor):
            if place == "norm" and output.ndim == 2:
                place = "fc_norm"  # transformers' CLIP has it after the pooling
            outputs[place] = output

    hooks = [as_module(model).register_forward_hook(partial(keep, "logits"))]
    # Hugging Face has such a prefix before the names of a model with a head.
    prefix = f"{getattr(model, 'base_model_prefix', '')}."
    # timm adds the registers before pos_drop, ours adds them after it.
    skipped = "pos_drop" if getattr(model, "reg_token", None) is not None else ""
    for name, module in model.named_modules():
        place = translate(name.removeprefix(prefix))
        if place and place != skipped:
            hooks.append(module.register_forward_hook(partial(keep, place)))
    try:
        with evaluating(model):
            model(images)
    finally:
        for hook in hooks:
            hook.remove()
    if getattr(getattr(model, "config", None), "rope", None) == "indexed":
        turned = re.compile(r".*attn\.[qk](_norm)?")
        return {p: x for p, x in outputs.items() if not turned.fullmatch(p)}
    return outputs
