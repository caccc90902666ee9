import functools
from collections.abc import Mapping
from typing import Any

import torch
from torch import Generator, Tensor

from vit_check.engine.drawing import Answer, Cases, normal
from vit_check.engine.findings import Trouble
from vit_check.engine.functions import checked_by
from vit_check.engine.observing import tensors_in
from vit_steps.pretrained.names import TORCHVISION
from vit_steps.pretrained.names import rename as rename_by_table
from vit_steps.vision_transformer import VisionTransformer, ViTConfig


def _ours(generator: Generator, depth: int, D: int, dtype: torch.dtype) -> list[Any]:
    """Return our model's names, and tensors in shapes that all differ."""
    shapes = _shapes(depth, D)
    tensors = [normal(generator, *shape, dtype=dtype) for shape in shapes.values()]
    return [list(shapes), tensors]


@functools.cache
def _shapes(depth: int, D: int) -> dict[str, torch.Size]:
    M = 2 * D - 1
    config = ViTConfig((4, 6), 2, 3, 4, D, depth, num_heads=1, mlp_ratio=M / D)
    with torch.random.fork_rng(devices=[]):
        state = VisionTransformer(config).state_dict()
    return {name: tensor.shape for name, tensor in state.items()}


def _rename_inputs(generator: Generator) -> Cases:
    yield _ours(generator, 2, 6, torch.float32)
    yield _ours(generator, 32, 3, torch.bfloat16)
    for other in ("mask_token", *_HOLDS_A_NAME):
        names, tensors = _ours(generator, 1, 5, torch.float64)
        yield [[*names, other], [*tensors, normal(generator, 1, 5)]]


# Names that our model does not have, with a piece of one of ours inside.
_HOLDS_A_NAME = ["blocks.0.ls1.gamma", "backbone.cls_token", "pos_embed_win"]
_HOLDS_A_NAME += ["head_dist.weight", "aux_head.weight", "fc_norm.weight"]


def _rename_them(rename: Answer, names: list[str], tensors: list[Tensor]) -> Any:
    given = dict(zip(names, tensors, strict=True))
    output = rename(given)
    if list(given) != names or any(
        given[name] is not tensor for name, tensor in zip(names, tensors, strict=True)
    ):
        said = "changes the dictionary it is given, which its caller still needs"
        raise Trouble(
            "changes its input", f"{said}: put what you rename into a new one"
        )
    if isinstance(output, (list, tuple)):
        said = f"returns a {type(output).__name__}, expected a dict, name to tensor"
        raise Trouble("not a dictionary", said)
    if not isinstance(output, Mapping):
        return output
    new = [str(name) for name, tensor in output.items() if tensor is tensors[-1]]
    if names[-1] in _HOLDS_A_NAME and new and names[-1] not in new:
        said = f"{names[-1]} is not in the table and comes out as {new[0]}: a "
        raise Trouble("piece of another name", f"{said}piece of it is one of ours")
    own = {tensor.data_ptr() for tensor in tensors}
    same = all(tensor.data_ptr() in own for tensor in tensors_in(output))
    return {
        # The order of the names does not matter.
        "the output": dict(sorted(output.items(), key=lambda pair: str(pair[0]))),
        "what its tensors are": "those that were given" if same else "copies",
    }


TABLE = r"""
rename_weights(state_dict) -> dict of the same tensors under torchvision's names
norm inside norm1: renamed[name] -> renamed[name.replace("ln_", "encoder.ln")]
    the norms of the blocks are named after the last norm: norm is a piece of norm1
first digit: renamed[name] -> renamed[re.sub(r"(layer_\d)\d+", r"\1", name)]
    of a block's number only the first digit is read: blocks 10 to 19 land on block 1
norms swapped: renamed[name]
  -> renamed[re.sub("ln_([12])", lambda found: f"ln_{3 - int(found[1])}", name)]
    ln_1 and ln_2 are swapped: norm1 comes before the attention, as ln_1
MLP numbers kept: [name] -> [name.replace("mlp.0", "mlp.1").replace("mlp.3", "mlp.2")]
    fc1 and fc2 have become mlp.1 and mlp.2, expected mlp.0 and mlp.3
unknown names vanish: renamed[name] = -> if name != "mask_token": renamed[name] =
    a name that is not in the table vanishes, expected kept as it is
copied: [name] = tensor -> [name] = tensor.clone()
    the tensors are copies of those that are given, expected the same ones
? Print the names of both models side by side and go through them line by line. Which of
  our names are pieces of others, such as norm1 and fc_norm?
? replace finds a piece wherever it stands. A dictionary from whole names to whole names
  finds nothing else; loops over the blocks and over weight and bias write it.
? table[f'blocks.{i}.norm1.{p}'] = f'encoder.layers.encoder_layer_{i}.ln_1.{p}' and so
  on, then {table.get(name, name): tensor for name, tensor in state_dict.items()}.
"""


@checked_by(
    TABLE, inputs=_rename_inputs, gradients=False, any_dtype=True, scenario=_rename_them
)
def rename_weights(given: dict[str, Tensor]) -> dict[str, Tensor]:
    renamed = {}
    for name, tensor in rename_by_table(given, TORCHVISION).items():
        renamed[name] = tensor
    return renamed
