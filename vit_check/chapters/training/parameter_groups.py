from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from vit_check.engine.drawing import Answer
from vit_check.engine.findings import Trouble
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.observing import as_number
from vit_steps.training import parameter_groups as right_groups
from vit_steps.vision_transformer import VisionTransformer, ViTConfig

_MODELS: dict[str, Callable[[], nn.Module]] = {
    "Vision Transformer": lambda: VisionTransformer(
        ViTConfig(8, 4, 2, 3, 8, 1, num_heads=2, mlp_ratio=2.0, layer_scale=0.1)
    ),
    "PyTorch's encoder": lambda: nn.TransformerEncoderLayer(8, 2, 16),
    "convolutions": lambda: nn.Sequential(
        nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(16, 3)
    ),
    "a layer used twice": lambda: nn.Sequential(layer := nn.Linear(4, 4), layer),
    # Tensors that are added to tokens, with unusual names and any number of axes.
    "other names": lambda: nn.ModuleDict(
        {
            "added": nn.ParameterList(map(torch.zeros, ((1, 1, 4), (1, 5, 4), (5, 4)))),
            "linear": nn.Linear(4, 3),
        }
    ),
}


def _decays(group: Answer, kind: str, weight_decay: float) -> dict[str, Any] | None:
    """Return the weight decay that each parameter gets, by name."""
    with torch.random.fork_rng([]):
        model = _MODELS[kind]()
    groups = group(model, weight_decay)
    if groups is None:
        return None
    if isinstance(groups, torch.optim.Optimizer):
        said = "returns an optimizer, expected the list of groups that one is made of"
        raise Trouble("an optimizer", said)
    seen: dict[str, Any] = {"what is returned": "a list of dicts with params"}
    several = isinstance(groups, (list, tuple)) and len(groups) > 0
    if not several or not all(isinstance(g, dict) and "params" in g for g in groups):
        of = f" of {type(groups[0]).__name__}" if several else ""
        return {"what is returned": f"a {type(groups).__name__}{of}"}
    for given in groups:
        if "weight_decay" not in given:
            said = f"has a group with {' and '.join(map(str, given))} and without "
            said += "weight_decay: AdamW's default is 0.01, not 0"
            raise Trouble("no decay of its own", said)
    optimizer = torch.optim.AdamW(list(groups), lr=1.0)
    listed = [
        (id(parameter), group["weight_decay"])
        for group in optimizer.param_groups
        for parameter in group["params"]
    ]
    found, times = dict(listed), Counter(place for place, _ in listed)
    named = dict(model.named_parameters())
    for name, parameter in named.items():
        if times[id(parameter)] > 1:
            said = f"lists {name} {times[id(parameter)]} times in one group: the "
            said += "optimizer then moves it as many times in each step"
            raise Trouble("listed twice", said)
    if not set(found) <= set(map(id, named.values())):
        said = "lists tensors that are not the model's parameters, such as those of "
        said += "state_dict(): they have its numbers and get no gradient"
        raise Trouble("other tensors", said)
    missing = [name for name, parameter in named.items() if id(parameter) not in found]
    seen["what is in no group"] = ", ".join(missing) or "nothing"
    for name, parameter in named.items():
        seen[f"the decay of {name}"] = as_number(found.get(id(parameter), -1.0))
    return seen


TABLE = """
parameter_groups(model, weight_decay) -> [{params, weight_decay}, ...]
  "Vision Transformer", 0.3
  "convolutions", 0.05
  "PyTorch's encoder", 0.2
  "other names", 0.1
  "a layer used twice", 0.1
norms by their name: parameter.ndim >= 2 -> "norm" not in name
    the norms are recognised by the word norm in their names, expected by their one axis
all decay: name.endswith("weight") and parameter.ndim >= 2 -> True
    everything decays: biases, norms, class token and positions as well
groups exchanged: matrices if is_matrix else rest -> rest if is_matrix else matrices
    the groups are exchanged: matrices are spared and the rest decays
told by their names: name.endswith("weight") -> name not in ("cls_token", "pos_embed")
    the class token and the positions are recognised by their names, cls_token and
    pos_embed: in another model they are called otherwise, and decay
class token and positions decay: name.endswith("weight") and -> nothing
    the class token and the positions decay: three axes do not make them matrices
biases alone spared: is_matrix = -> is_matrix = not name.endswith("bias") or
    only biases are spared: a norm's weight decays, and so do class token and positions
norms decay: and parameter.ndim >= 2 -> nothing
    the weights of the norms decay: they are called weight too, but are vectors
convolution spared: >= 2 -> == 2
    the weight of a convolution is spared, expected to decay as a matrix does
in_proj_weight spared: ndim >= 2 -> ndim >= 2 and "in_proj" not in name
    the matrix in_proj_weight of nn.MultiheadAttention is spared; it is in no nn.Linear
? Print name and shape of every parameter of a small model. Which of them are multiplied
  with a vector, and which are added or scale it number by number?
? A parameter decays if its name ends in weight and it has at least two axes; each group
  is a dict with params and weight_decay.
? for name, p in model.named_parameters(): to one list if name.endswith("weight") and
  p.ndim >= 2, to the other if not.
"""

parameter_groups = FunctionCheck(right_groups, TABLE, gradients=False, scenario=_decays)
