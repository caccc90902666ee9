"""Check of chapter 10: weights of others, renamed."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case
from vit_check.engine.drawing import normal
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.observing import tensors_in
from vit_check.engine.verdict import Mistake
from vit_check.engine.watching import Trouble
from vit_steps.pretrained.names import TORCHVISION
from vit_steps.pretrained.names import rename as rename_by_table


def _ours(generator: Generator, depth: int, D: int, dtype: torch.dtype) -> list[Any]:
    """Our model's names, and tensors in shapes that all differ."""
    shapes: dict[str, tuple[int, ...]] = {
        "cls_token": (1, 1, D),
        "pos_embed": (1, 7, D),
        "patch_embed.proj.weight": (D, 3, 2, 2),
        "patch_embed.proj.bias": (D,),
    }
    M = 2 * D - 1
    for block in range(depth):
        layers = {
            "norm1": (D,),
            "attn.qkv": (3 * D, D),
            "attn.proj": (D, D),
            "norm2": (D,),
            "mlp.fc1": (M, D),
            "mlp.fc2": (D, M),
        }
        for layer, shape in layers.items():
            shapes[f"blocks.{block}.{layer}.weight"] = shape
            shapes[f"blocks.{block}.{layer}.bias"] = shape[:1]
    shapes |= {
        "norm.weight": (D,),
        "norm.bias": (D,),
        "head.weight": (4, D),
        "head.bias": (4,),
    }
    tensors = [normal(generator, *shape, dtype=dtype) for shape in shapes.values()]
    return [list(shapes), tensors]


def _rename_inputs(generator: Generator) -> Iterator[Case]:
    yield _ours(generator, 2, 6, torch.float32)
    yield _ours(generator, 32, 3, torch.bfloat16)
    for other in ("mask_token", *_HOLDS_A_NAME):
        names, tensors = _ours(generator, 1, 5, torch.float64)
        yield [[*names, other], [*tensors, normal(generator, 1, 5)]]


# Layers of timm that our model has not, each with a name of ours in its own.
_HOLDS_A_NAME = {
    "head_dist.weight": "heads.head_dist.weight",
    "aux_head.weight": "aux_heads.head.weight",
    "fc_norm.weight": "fc_encoder.ln.weight",
}


def _rename_them(
    rename: Callable[..., Any], names: list[str], tensors: list[Tensor]
) -> Any:
    given = dict(zip(names, tensors, strict=True))
    output = rename(given)
    if list(given) != names or any(
        given[name] is not tensor for name, tensor in zip(names, tensors, strict=True)
    ):
        raise Trouble(
            "changes its input",
            "changes the dictionary it is given, which its caller still needs: put "
            "what you rename into a new one",
        )
    if isinstance(output, (list, tuple)):
        raise Trouble(
            "not a dictionary",
            f"returns a {type(output).__name__}, expected a dictionary, name to tensor",
        )
    if not isinstance(output, Mapping):
        return output
    own = {tensor.data_ptr() for tensor in tensors}
    same = all(tensor.data_ptr() in own for tensor in tensors_in(output))
    return {
        # The order says nothing.
        "the output": dict(sorted(output.items(), key=lambda pair: str(pair[0]))),
        "what its tensors are": "those that were given" if same else "copies",
    }


def _to_torchvision(given: dict[str, Tensor]) -> dict[str, Tensor]:
    return rename_by_table(given, TORCHVISION)


def _renamed(
    name: Callable[[str], str] = lambda name: name,
    keep: Callable[[str], bool] = lambda name: True,
    tensor: Callable[[str, Tensor], Tensor] = lambda name, tensor: tensor,
) -> Callable[[dict[str, Tensor]], dict[str, Tensor]]:
    """Renaming that goes on to change the names, drop some, or change tensors."""

    def rename(given: dict[str, Tensor]) -> dict[str, Tensor]:
        right = _to_torchvision(given)
        return {name(n): tensor(n, t) for n, t in right.items() if keep(n)}

    return rename


def _swapped(one: str, other: str) -> Callable[[str], str]:
    def swap(name: str) -> str:
        name = name.replace(one, "\0").replace(other, one)
        return name.replace("\0", other)

    return swap


def _numbered(number: Callable[[str], Any]) -> Callable[[str], str]:
    """A block's number replaced."""
    return lambda name: re.sub(
        r"(?<=encoder_layer_)\d+", lambda found: str(number(found[0])), name
    )


def _text_order(given: dict[str, Tensor]) -> dict[str, Tensor]:
    numbers = {n.split(".")[1] for n in given if n.startswith("blocks.")}
    places = {number: place for place, number in enumerate(sorted(numbers))}
    return _renamed(_numbered(places.__getitem__))(given)


def _taken_apart(given: dict[str, Tensor]) -> dict[str, Tensor]:
    apart = {}
    for name, tensor in _to_torchvision(given).items():
        if ".in_proj_" in name:
            for letter, part in zip("qkv", tensor.chunk(3), strict=True):
                apart[name.replace(".in_proj_", f".{letter}_proj_")] = part
        else:
            apart[name] = tensor
    return apart


rename_weights = FunctionCheck(
    "rename_weights",
    "rename_weights(state_dict) -> dict of the same tensors under torchvision's names",
    _to_torchvision,
    _rename_inputs,
    [
        Mistake(
            "unchanged",
            "the names are still ours",
            lambda given: dict(given),
        ),
        Mistake(
            "old names kept",
            "every tensor is there twice, under its old name and its new one: start "
            "with an empty dictionary",
            lambda given: {**given, **_to_torchvision(given)},
        ),
        Mistake(
            "norm inside norm1",
            "the norms of the blocks are named after the last norm: norm is a piece of "
            "norm1 as well, so what replaces norm reaches into the blocks",
            _renamed(lambda name: name.replace("ln_", "encoder.ln")),
        ),
        Mistake(
            "blocks from 1",
            "the blocks are numbered from 1; blocks.0 is encoder_layer_0",
            _renamed(_numbered(lambda number: int(number) + 1)),
        ),
        Mistake(
            "first digit",
            "of a block's number only the first digit is read: blocks 10 to 19 land on "
            "block 1",
            _renamed(_numbered(lambda number: number[0])),
        ),
        Mistake(
            "blocks in text order",
            "the blocks are counted in the order of the alphabet, where 10 comes "
            "before 2: take the number that the name has",
            _text_order,
        ),
        Mistake(
            "norms swapped",
            "ln_1 and ln_2 are swapped: norm1 comes before the attention, as ln_1",
            _renamed(_swapped("ln_1", "ln_2")),
        ),
        Mistake(
            "MLP swapped",
            "mlp.0 and mlp.3 are swapped: 0 is the first layer, from D to M",
            _renamed(_swapped("mlp.0", "mlp.3")),
        ),
        Mistake(
            "MLP by number",
            "fc2 has become mlp.1; a GELU and a dropout stand between the two layers "
            "and are counted too, so it is mlp.3",
            _renamed(lambda name: name.replace("mlp.3", "mlp.1")),
        ),
        Mistake(
            "MLP numbers kept",
            "fc1 and fc2 have become mlp.1 and mlp.2; their numbers are the places 0 "
            "and 3 in a row that has a GELU and a dropout as well",
            _renamed(lambda name: name.replace("mlp.0", "mlp.1").replace("p.3", "p.2")),
        ),
        Mistake(
            "dot left",
            "in_proj has a dot before weight and bias; theirs has an underscore there "
            "and nowhere else",
            _renamed(lambda name: name.replace("in_proj_", "in_proj.")),
        ),
        Mistake(
            "biases of qkv forgotten",
            "attn.qkv.bias has no place: in_proj_bias is missing in every block",
            _renamed(keep=lambda name: not name.endswith("in_proj_bias")),
        ),
        Mistake(
            "biases forgotten",
            "only the weights are there; every layer has a bias as well",
            _renamed(keep=lambda name: not name.endswith("bias")),
        ),
        Mistake(
            "class token dropped",
            "the class token is missing: its name does not end in weight or bias",
            _renamed(keep=lambda name: name != "class_token"),
        ),
        Mistake(
            "positions dropped",
            "the positions are missing: their name does not end in weight or bias",
            _renamed(keep=lambda name: name != "encoder.pos_embedding"),
        ),
        Mistake(
            "token and positions dropped",
            "class token and positions are missing: they belong to no layer, and their "
            "names end in neither weight nor bias",
            _renamed(
                keep=lambda name: name not in ("class_token", "encoder.pos_embedding")
            ),
        ),
        Mistake(
            "head dropped",
            "the head is missing; loading can still leave it out",
            _renamed(keep=lambda name: not name.startswith("head")),
        ),
        Mistake(
            "head left",
            "the head is still called head; theirs has a longer name",
            _renamed(lambda name: name.replace("heads.head", "head")),
        ),
        Mistake(
            "heads alone",
            "the head has become heads; theirs is called head within heads, with a dot",
            _renamed(lambda name: name.replace("heads.head", "heads")),
        ),
        Mistake(
            "encoder forgotten",
            "encoder. is missing: it comes before positions, blocks and last norm",
            _renamed(lambda name: name.removeprefix("encoder.")),
        ),
        Mistake(
            "weights transposed",
            "the matrices are transposed; both keep a linear layer's weight as "
            "(out, in)",
            _renamed(tensor=lambda name, t: t.T if t.ndim == 2 else t),
        ),
        Mistake(
            "qkv taken apart",
            "attn.qkv is cut into q, k and v; theirs is one matrix too, in_proj, in "
            "the same order",
            _taken_apart,
        ),
        Mistake(
            "unknown names vanish",
            "a name that is not in the table vanishes: leave it as it is, so that "
            "loading the weights finds it and complains",
            _renamed(keep=lambda name: name != "mask_token"),
        ),
        Mistake(
            "piece of another name",
            "a name that is not in the table is changed, because a name of ours is a "
            "piece of it: head of head_dist and aux_head, norm of fc_norm",
            _renamed(lambda name: _HOLDS_A_NAME.get(name, name)),
        ),
        Mistake(
            "copied",
            "the tensors are copies of those that are given, and need their memory a "
            "second time; only the names are to be new",
            _renamed(tensor=lambda name, t: t.clone()),
        ),
    ],
    hints=(
        "Print the names of both models side by side and go through them line by line. "
        "Which of our names are pieces of others, such as norm1 and fc_norm?",
        "replace finds a piece wherever it stands. A dictionary from whole names to "
        "whole names finds nothing else; loops over the blocks and over weight and "
        "bias write it.",
        "table[f'blocks.{i}.norm1.{p}'] = f'encoder.layers.encoder_layer_{i}.ln_1.{p}' "
        "and so on, then {table.get(name, name): tensor for name, tensor in "
        "state_dict.items()}.",
    ),
    gradients=False,
    scenario=_rename_them,
)
