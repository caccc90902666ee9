from typing import Any

import torch
from torch import Generator, Tensor, nn

from vit_check.engine.drawing import Answer, normal
from vit_check.engine.findings import Trouble
from vit_check.engine.functions import checked_by
from vit_steps.vision_transformer import VisionTransformer, ViTConfig

_TINY = ViTConfig(
    (4, 6), 2, num_classes=5, embed_dim=8, depth=2, num_heads=2, mlp_ratio=1.5
)
_REFUSALS = (RuntimeError, KeyError, AssertionError)


def _tiny_model() -> VisionTransformer:
    """Return a model with buffers, which are in ``state_dict()`` but no parameters."""
    with torch.random.fork_rng(devices=[]):
        model = VisionTransformer(_TINY).double()
    model.register_buffer("pixel_mean", torch.zeros(3, dtype=torch.float64))
    model.register_module("bn", nn.BatchNorm2d(3, affine=False).double())
    return model


def _state(generator: Generator, dtype: torch.dtype = torch.float64) -> list[Tensor]:
    state = _tiny_model().to(dtype).state_dict().values()
    return [normal(generator, *tensor.shape).to(tensor.dtype) for tensor in state]


_MISSING = ["blocks.1.norm1.bias", "cls_token", "pixel_mean", "bn.num_batches_tracked"]
_UNEXPECTED = {"mask_token": (8,), "fc_norm.scale": (8,)}
_SHAPED = {"head.weight": (2, 8), "norm.bias": (1,)}  # which could be broadcast
_TURNED = {"blocks.0.mlp.fc2.weight": (12, 8)}
_NORMS = ["blocks.0.norm1.weight", "blocks.0.norm2.weight"]


def _load_them(
    load: Answer, case: str, missing: list[str], shapes: dict[str, Any], tensors: Any
) -> Any:
    """Load weights of which some are missing, and some unexpected or misshapen."""
    model = _tiny_model()
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.fill_(0.01 * number)
    state = dict(zip(model.state_dict(), tensors, strict=True))
    if case.endswith("order"):
        exchanged = dict(zip(_NORMS, reversed(_NORMS), strict=True))
        state = {name: state[name] for name in (exchanged.get(n, n) for n in state)}
    state |= {name: torch.zeros(shape).double() for name, shape in shapes.items()}
    state = {name: state[name] for name in state if name not in missing}
    wrong = [*missing, *shapes]
    before, own = list(state), model.head.weight
    raised, message = "nothing", ""
    try:
        load(model, state)
    except ValueError as error:
        raised, message = "ValueError", str(error)
    except _REFUSALS as error:
        if type(error) not in _REFUSALS or not wrong:  # such as NotImplementedError
            raise
        raised = type(error).__name__
        message = str(error) if raised == "RuntimeError" else ""
    if list(state) != before:
        said = "changes the dictionary of weights, which its caller still needs"
        raise Trouble("changes its input", said)
    untold = [name for name in wrong if name not in message]
    output = {
        f"what is raised for {case}": raised,
        f"what its message leaves out, for {case},": ", ".join(untold) or "nothing",
        f"whether the model keeps its tensors, after {case},": model.head.weight is own,
    }
    return output | {
        f"{name} of the model, after {case},": tensor
        for name, tensor in model.state_dict().items()
    }


def translated(model: nn.Module, state: dict[str, Tensor]) -> None:
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        raise ValueError(str(error)) from None


TABLE = """
load_checked(model, state_dict)
  "weights that fit", [], {}, _state(generator)
  "weights that fit, in another order", [], {}, _state(generator)
  "weights that fit, in float32", [], {}, _state(generator, torch.float32)
  "weights with faults of all three kinds", _MISSING, _UNEXPECTED | _SHAPED,
    _state(generator)
  "weights in which four are missing", _MISSING, {}, _state(generator)
  "weights in which two are unexpected", [], _UNEXPECTED, _state(generator)
  "weights of which three have another shape", [], _SHAPED | _TURNED, _state(generator)
not loaded: model.load_state_dict(state) -> pass
    weights that fit do not arrive in the model
assigned: (state) -> (state, assign=True)
    the model gets other tensors, as with assign=True, expected new numbers in its own
by place: (state) -> (dict(zip(own, state.values())))
    the tensors are loaded by their place in the dictionary, expected by their names
PyTorch's own error: if faults: -> if False:
    leaves the check to load_state_dict, which raises RuntimeError after it has copied
    the tensors that fit: compare names and shapes before
half loaded: = translated
    raises ValueError after the tensors that fit were copied: the model is half new
strict=False: = lambda model, state: model.load_state_dict(state, strict=False)
    strict=False copies what fits before anything is told, and is silent about names
    that are missing or unexpected: compare before you load
missing ignored: missing + unexpected -> unexpected
    the message leaves out names that the weights lack, at least beside other faults
unexpected ignored: missing + unexpected -> missing
    the message leaves out names that the model lacks, at least beside other faults
shapes ignored: unexpected + shapes -> unexpected
    the message leaves out tensors of another shape, at least beside other faults
one kind at a time: ", ".join(faults) -> ", ".join(missing or unexpected or shapes)
    tells one kind of fault and stops, expected all three kinds in one message
looked up too early: ValueError -> KeyError
    ends in KeyError, expected ValueError: is a tensor looked up that is not there?
order matters: if faults: -> if faults or list(state) != list(own):
    weights that fit are refused because of their order, expected to be loaded
dtype matters: if faults:
  -> if faults or any(own[n].dtype != state[n].dtype for n in own):
    weights that fit are refused because of their dtype, expected to be loaded
parameters alone: model.state_dict() -> dict(model.named_parameters())
    the model's buffers are left out, expected with its parameters, as in state_dict()
shapes by count: [name].shape -> [name].numel()
    compares how many numbers a tensor has, and a transposed matrix has as many
? Three lists: names of the model that are not among the weights, names of the weights
  that are not in the model, and names with two shapes. Make all before loading.
? model.state_dict() has the names and shapes that are expected. If any list is not
  empty, raise ValueError with all the names in its message; only after that, load.
? missing = [n for n in own if n not in state_dict], and so on; if missing or unexpected
  or misshapen: raise ValueError(f'missing {missing}, unexpected {unexpected}, shape
  {misshapen}'); then model.load_state_dict(state_dict).
"""


@checked_by(TABLE, gradients=False, any_dtype=True, scenario=_load_them)
def load_checked(model: nn.Module, state: dict[str, Tensor]) -> None:
    own = model.state_dict()
    missing = [name for name in own if name not in state]
    unexpected = [name for name in state if name not in own]
    both = [name for name in own if name in state]
    shapes = [name for name in both if own[name].shape != state[name].shape]
    faults = missing + unexpected + shapes
    if faults:
        raise ValueError(", ".join(faults))
    model.load_state_dict(state)
