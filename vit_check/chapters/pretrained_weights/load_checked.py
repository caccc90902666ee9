"""Check of chapter 10: weights loaded, all or nothing."""

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn

from vit_check.engine.check import Case
from vit_check.engine.drawing import normal
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_check.engine.watching import Trouble
from vit_steps.pretrained import load_weights
from vit_steps.vision_transformer import VisionTransformer, ViTConfig

_TINY = ViTConfig(
    (4, 6), 2, num_classes=5, embed_dim=8, depth=2, num_heads=2, mlp_ratio=1.5
)
_REFUSALS = (RuntimeError, KeyError, AssertionError)


def _tiny_model() -> VisionTransformer:
    """With a buffer as well, which a state dict has and ``parameters()`` has not."""
    with torch.random.fork_rng(devices=[]):
        model = VisionTransformer(_TINY).double()
    model.register_buffer("pixel_mean", torch.zeros(3, dtype=torch.float64))
    return model


def _load_inputs(generator: Generator) -> Iterator[Case]:
    state = _tiny_model().state_dict()
    for fault in ("none", "order", "all", "missing", "unexpected", "shape"):
        yield [fault, [normal(generator, *tensor.shape) for tensor in state.values()]]


def _with_fault(
    fault: str, state: dict[str, Tensor]
) -> tuple[dict[str, Tensor], list[str]]:
    """Weights in which something does not fit, and the names that say so."""
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
        state["norm.bias"] = torch.zeros(1, dtype=torch.float64)  # broadcasts
        wrong += ["head.weight", "norm.bias"]
    if fault == "shape":
        state["blocks.0.mlp.fc2.weight"] = state["blocks.0.mlp.fc2.weight"].T
        wrong += ["blocks.0.mlp.fc2.weight"]
    return state, wrong


def _load_them(load: Callable[..., Any], fault: str, tensors: list[Tensor]) -> Any:
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


def _load(
    model: nn.Module,
    state: dict[str, Tensor],
    kinds: str = "missing unexpected shape",
    at_once: bool = True,
    first: bool = False,
    by_count: bool = False,
    named: bool = True,
    error: type[Exception] = ValueError,
    load: bool = True,
    no_buffers: bool = False,
) -> None:
    """Loading with a place for each usual mistake."""
    own = dict(model.named_parameters()) if no_buffers else model.state_dict()
    found = {
        "missing": [name for name in own if name not in state],
        "unexpected": [name for name in state if name not in own],
        "shape": [
            name
            for name in own
            if name in state
            and (
                own[name].numel() != state[name].numel()
                if by_count
                else own[name].shape != state[name].shape
            )
        ],
    }
    groups = [found[kind] for kind in kinds.split() if found[kind]]
    if groups:
        names = [name for group in groups for name in group]
        names = groups[0] if not at_once else names[:1] if first else names
        raise error(", ".join(names) if named else "the weights do not fit")
    if load:
        with torch.no_grad():
            for name, tensor in own.items():
                if name in state:
                    tensor.copy_(state[name].reshape(tensor.shape))


def _load_parameters(model: nn.Module, state: dict[str, Tensor]) -> None:
    buffers = {name: tensor.clone() for name, tensor in model.named_buffers()}
    _load(model, state)
    model.load_state_dict(buffers, strict=False)


def _load_and_translate(model: nn.Module, state: dict[str, Tensor]) -> None:
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        raise ValueError(str(error)) from None


def _load_what_fits(model: nn.Module, state: dict[str, Tensor]) -> None:
    own = model.state_dict()
    fits = {n: t for n, t in state.items() if n in own and t.shape == own[n].shape}
    model.load_state_dict(fits, strict=False)


def _load_by_place(model: nn.Module, state: dict[str, Tensor]) -> None:
    with torch.no_grad():
        for parameter, tensor in zip(
            model.state_dict().values(), state.values(), strict=True
        ):
            parameter.copy_(tensor)


def _load_in_this_order(model: nn.Module, state: dict[str, Tensor]) -> None:
    own = model.state_dict()
    if set(state) == set(own) and list(state) != list(own):
        raise ValueError("another order")
    _load(model, state)


def _load_without_raising(model: nn.Module, state: dict[str, Tensor]) -> None:
    with contextlib.suppress(ValueError):  # and print it
        _load(model, state)


load_checked = FunctionCheck(
    "load_checked",
    "load_checked(model, state_dict)",
    load_weights,
    _load_inputs,
    [
        Mistake(
            "not loaded",
            "weights that fit do not arrive in the model",
            partial(_load, load=False),
        ),
        Mistake(
            "by place",
            "the tensors are loaded by their place in the dictionary; what says where "
            "a tensor belongs is its name",
            _load_by_place,
        ),
        Mistake(
            "PyTorch's own error",
            "leaves the check to load_state_dict, which raises RuntimeError after it "
            "has copied the tensors that fit: compare names and shapes before",
            lambda model, state: model.load_state_dict(state),
        ),
        Mistake(
            "half loaded",
            "raises ValueError, but the tensors that fit have been copied by then: the "
            "model is part old, part new",
            _load_and_translate,
        ),
        Mistake(
            "strict=False",
            "strict=False copies what fits before anything is told, and is silent "
            "about names that are missing or unexpected: compare before you load",
            lambda model, state: model.load_state_dict(state, strict=False),
        ),
        Mistake(
            "what fits",
            "what fits is loaded, and the rest is dropped without a word",
            _load_what_fits,
        ),
        Mistake(
            "printed",
            "the fault is printed and nothing is raised: a program that goes on does "
            "not read what it prints",
            _load_without_raising,
        ),
        Mistake(
            "missing ignored",
            "names that the model has and the weights have not are not told, at least "
            "not beside the other faults",
            partial(_load, kinds="unexpected shape"),
        ),
        Mistake(
            "unexpected ignored",
            "names that the weights have and the model has not are not told, at least "
            "not beside the other faults",
            partial(_load, kinds="missing shape"),
        ),
        Mistake(
            "shapes ignored",
            "tensors with the right name and another shape are not told, at least not "
            "beside names that are missing or unexpected",
            partial(_load, kinds="missing unexpected"),
        ),
        Mistake(
            "first alone",
            "stops at the first tensor that does not fit, so that the reader of the "
            "message has to try again for each of the others",
            partial(_load, first=True),
        ),
        Mistake(
            "one kind at a time",
            "tells one kind of fault and stops: missing, unexpected and misshapen "
            "tensors belong into one message",
            partial(_load, at_once=False),
        ),
        Mistake(
            "no names",
            "the message does not say which tensors do not fit",
            partial(_load, named=False),
        ),
        Mistake(
            "assert",
            "refuses with assert, which raises AssertionError and is left out by "
            "python -O: raise ValueError",
            partial(_load, error=AssertionError),
        ),
        Mistake(
            "looked up too early",
            "ends in KeyError, expected ValueError: is a tensor looked up under a name "
            "that one of the two does not have?",
            partial(_load, error=KeyError),
        ),
        Mistake(
            "order matters",
            "weights that fit are refused because they come in another order; what "
            "says where a tensor belongs is its name",
            _load_in_this_order,
        ),
        Mistake(
            "parameters alone",
            "takes the model's parameters for all there is; its state dict has buffers "
            "too, such as a mean that is not trained",
            partial(_load, no_buffers=True),
        ),
        Mistake(
            "buffers not loaded",
            "the parameters arrive and the buffers do not: model.state_dict() has both",
            _load_parameters,
        ),
        Mistake(
            "shapes by count",
            "compares how many numbers a tensor has: a transposed matrix has as many, "
            "so compare the shapes",
            partial(_load, by_count=True),
        ),
    ],
    hints=(
        "Three lists: names of the model that are not among the weights, names of the "
        "weights that are not in the model, and names that both have with different "
        "shapes. Make all three before anything is loaded.",
        "model.state_dict() has the names and shapes that are expected. If any list is "
        "not empty, raise ValueError with all the names in its message; only after "
        "that, load.",
        "missing = [n for n in own if n not in state_dict], and so on; if missing or "
        "unexpected or misshapen: raise ValueError(f'missing {missing}, unexpected "
        "{unexpected}, shape {misshapen}'); then model.load_state_dict(state_dict).",
    ),
    gradients=False,
    scenario=_load_them,
)
