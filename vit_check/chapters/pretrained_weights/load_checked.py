from typing import Any

import torch
from torch import Generator, Tensor, nn

from vit_check.engine.drawing import Answer, Cases, normal
from vit_check.engine.findings import Trouble
from vit_check.engine.functions import checked_by
from vit_steps.vision_transformer import VisionTransformer, ViTConfig

_TINY = ViTConfig(
    (4, 6), 2, num_classes=5, embed_dim=8, depth=2, num_heads=2, mlp_ratio=1.5
)
_REFUSALS = (RuntimeError, KeyError, AssertionError)


def _tiny_model() -> VisionTransformer:
    """Return a model with a buffer, which is in ``state_dict()`` but no parameter."""
    with torch.random.fork_rng(devices=[]):
        model = VisionTransformer(_TINY).double()
    model.register_buffer("pixel_mean", torch.zeros(3, dtype=torch.float64))
    return model


def _load_inputs(generator: Generator) -> Cases:
    state = _tiny_model().state_dict()
    for fault in ("none", "order", "all", "missing", "unexpected", "shape"):
        yield [fault, [normal(generator, *tensor.shape) for tensor in state.values()]]


def _with_fault(
    fault: str, state: dict[str, Tensor]
) -> tuple[dict[str, Tensor], list[str]]:
    """Return weights of which some do not fit, and the names of these."""
    state = dict(state)
    if fault == "order":
        names = list(state)
        one = names.index("blocks.0.norm1.weight")
        other = names.index("blocks.0.norm2.weight")
        names[one], names[other] = names[other], names[one]
        return {name: state[name] for name in names}, []
    wrong = []
    if fault in ("all", "missing"):
        wrong += ["blocks.1.norm1.bias", "cls_token", "pixel_mean"]
        for name in wrong:
            del state[name]
    if fault in ("all", "unexpected"):
        wrong += ["mask_token", "fc_norm.scale"]
        state |= {name: torch.zeros(8) for name in wrong[-2:]}
    if fault in ("all", "shape"):
        state["head.weight"] = torch.zeros(2, 8, dtype=torch.float64)
        state["norm.bias"] = torch.zeros(1, dtype=torch.float64)  # could be broadcast
        wrong += ["head.weight", "norm.bias"]
    if fault == "shape":
        state["blocks.0.mlp.fc2.weight"] = state["blocks.0.mlp.fc2.weight"].T
        wrong += ["blocks.0.mlp.fc2.weight"]
    return state, wrong


def _load_them(load: Answer, fault: str, tensors: list[Tensor]) -> Any:
    model = _tiny_model()
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.fill_(0.01 * number)
    names = list(model.state_dict())
    state, wrong = _with_fault(fault, dict(zip(names, tensors, strict=True)))
    before = list(state)
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
        raise Trouble(
            "changes its input",
            "changes the dictionary of weights, which its caller still needs",
        )
    told = [name for name in wrong if name in message]
    case = {
        "none": "weights that fit",
        "order": "weights that fit, in another order",
        "all": "weights with faults of all three kinds",
        "missing": "weights in which three are missing",
        "unexpected": "weights in which two are unexpected",
        "shape": "weights of which three have another shape",
    }[fault]
    output = {
        f"what is raised for {case}": raised,
        f"what its message tells by name, for {case},": ", ".join(told) or "nothing",
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
not loaded: model.load_state_dict(state) -> pass
    weights that fit do not arrive in the model
by place: (state) -> (dict(zip(own, state.values())))
    the tensors are loaded by their place in the dictionary; what says where a tensor
    belongs is its name
PyTorch's own error: if faults: -> if False:
    leaves the check to load_state_dict, which raises RuntimeError after it has copied
    the tensors that fit: compare names and shapes before
half loaded: = translated
    raises ValueError, but the tensors that fit have been copied by then: the model is
    part old, part new
strict=False: = lambda model, state: model.load_state_dict(state, strict=False)
    strict=False copies what fits before anything is told, and is silent about names
    that are missing or unexpected: compare before you load
missing ignored: missing + unexpected -> unexpected
    names that the model has and the weights have not are not told, at least not beside
    the other faults
unexpected ignored: missing + unexpected -> missing
    names that the weights have and the model has not are not told, at least not beside
    the other faults
shapes ignored: unexpected + shapes -> unexpected
    tensors with the right name and another shape are not told, at least not beside
    names that are missing or unexpected
one kind at a time: ", ".join(faults) -> ", ".join(missing or unexpected or shapes)
    tells one kind of fault and stops: missing, unexpected and misshapen tensors belong
    into one message
looked up too early: ValueError -> KeyError
    ends in KeyError, expected ValueError: is a tensor looked up under a name that one
    of the two does not have?
order matters: if faults: -> if faults or list(state) != list(own):
    weights that fit are refused because they come in another order; what says where a
    tensor belongs is its name
parameters alone: model.state_dict() -> dict(model.named_parameters())
    takes the model's parameters for all there is; its state dict has buffers too, such
    as a mean that is not trained
shapes by count
  own[name].shape != state[name].shape -> own[name].numel() != state[name].numel()
    compares how many numbers a tensor has, and a transposed matrix has as many
? Three lists: names of the model that are not among the weights, names of the weights
  that are not in the model, and names that both have with different shapes. Make all
  three before anything is loaded.
? model.state_dict() has the names and shapes that are expected. If any list is not
  empty, raise ValueError with all the names in its message; only after that, load.
? missing = [n for n in own if n not in state_dict], and so on; if missing or unexpected
  or misshapen: raise ValueError(f'missing {missing}, unexpected {unexpected}, shape
  {misshapen}'); then model.load_state_dict(state_dict).
"""


@checked_by(TABLE, inputs=_load_inputs, gradients=False, scenario=_load_them)
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
