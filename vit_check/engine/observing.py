"""Observe an answer from outside, and record it as plain data: numbers and tensors.

Nothing here knows what is right. The record of an answer is compared with that of the
reference, which the same function makes.
"""

import contextlib
import copy
import inspect
import math
import numbers
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from decimal import Decimal
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter
from torch.overrides import TorchFunctionMode

from vit_check.engine.comparing import TOLERANCE, same
from vit_check.engine.findings import Trouble, trouble
from vit_check.engine.watching import in_words

Record = dict[str, Any]

DEEPEST = 4  # levels of nested lists that are converted


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as tensors, numbers, strings, None, and lists and dicts of them.

    A tensor of a subclass becomes a plain tensor, a dataclass a dict, and anything else
    ``{"?": what it is}``.
    """
    if isinstance(value, Tensor):
        kind = _of_no_plain_numbers(value)
        if kind is not None:
            return {"?": kind}
        return Tensor.as_subclass(value, Tensor).detach().cpu().clone()
    if value is None or type(value) in (bool, float, str):
        return value
    if isinstance(value, numbers.Integral):
        return _within_floats(int(value))
    if isinstance(value, numbers.Real | Decimal):
        return float(value)
    if type(value).__module__ == "numpy" and type(value).__name__.startswith("bool"):
        return bool(value)
    if depth < DEEPEST:
        if is_dataclass(value) and not isinstance(value, type):
            value = {f.name: getattr(value, f.name, None) for f in fields(value)}
        if isinstance(value, Mapping):
            return {str(k): plain(v, depth + 1) for k, v in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(v, depth + 1) for v in list(value)[:100]]
    return {"?": type(value).__name__}


def _of_no_plain_numbers(tensor: Tensor) -> str | None:
    """Return the kind of a tensor that cannot be compared number by number."""
    if tensor.is_meta:
        return "Tensor on the device meta, which holds no numbers"
    if tensor.is_nested:
        return "nested tensor"
    if tensor.layout is not torch.strided:
        return "sparse tensor"
    if tensor.is_quantized:
        return "quantized tensor"
    small = tensor.is_floating_point() and tensor.dtype not in TOLERANCE
    return f"{str(tensor.dtype).removeprefix('torch.')} tensor" if small else None


def _within_floats(value: int) -> int | float:
    """Return a whole number, or infinity if no float is as large."""
    try:
        float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return value


def as_number(value: Any) -> Any:
    """Return a tensor of one number as that number, and anything else as it is."""
    if isinstance(value, Tensor) and value.ndim == 0:
        return value.item()
    return value


def as_float(value: Any) -> Any:
    """A number as a float; anything else as it is."""
    return float(value) if type(value) in (int, float) else value


def by_names(
    *names: str, each: Callable[[Any], Any] = lambda value: value
) -> Callable[[Any], Any]:
    """Return what finds values by these names in a dict, a tuple or another object."""

    def found(output: Any) -> Any:
        known = {n: getattr(output, n) for n in names if hasattr(output, n)}
        if isinstance(output, Mapping):
            known = {n: output[n] for n in names if n in output}
        elif isinstance(output, (tuple, list)) and len(output) == len(names):
            known = known or dict(zip(names, output, strict=True))
        return {n: each(value) for n, value in known.items()} or output

    return found


def tensors_in(value: Any) -> list[Tensor]:
    """Return the tensors of a value, from left to right."""
    if type(value) is Tensor:
        return [value]
    if isinstance(value, Tensor):
        return [Tensor.as_subclass(value, Tensor)]
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_in(item)]
    return []


def shapes_in(value: Any) -> list[list[int]]:
    """Return the shapes of a value's tensors, from left to right."""
    return [list(tensor.shape) for tensor in tensors_in(value)]


def _mapped(change: Callable[[Tensor], Tensor], value: Any) -> Any:
    """Return a value with its tensors changed, also those in lists and tuples."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_mapped(change, item) for item in value)
    return value


def copies(value: Any, gradients: bool = False) -> Any:
    """Return copies of arguments."""

    def own(tensor: Tensor) -> Tensor:
        wanted = gradients and tensor.is_floating_point()
        return tensor.detach().clone().requires_grad_(wanted)

    return _mapped(own, value)


def in_32_bits(case: list[Any]) -> list[Any]:
    """Return a case with its fractions, and the name of their dtype, in float32."""

    def rounded(tensor: Tensor) -> Tensor:
        return tensor.float() if tensor.is_floating_point() else tensor

    parts = _mapped(rounded, list(case))
    return ["float32" if part == "float64" else part for part in parts]


def other_numbers(value: Any) -> Any:
    """Return arguments with other numbers: each tensor is reversed.

    Probabilities remain probabilities, and so do masks, labels, and the corners of a
    box, since of these only the first axis is reversed.
    """

    def backwards(tensor: Tensor) -> Tensor:
        axes = tensor.ndim if tensor.is_floating_point() else min(1, tensor.ndim)
        return tensor.flip(tuple(range(axes)))

    return _mapped(backwards, value)


def _pull(outputs: Sequence[Tensor]) -> Tensor:
    terms = []
    for number, output in enumerate(outputs):
        if output.requires_grad:
            steps = torch.arange(1, output.numel() + 1, dtype=torch.float64)
            weights = (1.7 * steps + number).sin().reshape(output.shape)
            terms.append((output * weights.to(output)).sum().cpu())
    return torch.stack(terms).sum() if terms else torch.zeros(())


def gradients_of(outputs: Any, leaves: Sequence[Tensor]) -> list[Tensor | None]:
    """Return gradients of a sum over the outputs, each with a weight of its own."""
    pull = _pull(tensors_in(outputs))
    if not pull.requires_grad or not leaves:
        return [None for _ in leaves]
    found = torch.autograd.grad(pull, leaves, allow_unused=True)
    return [None if g is None else g.detach().to_dense().cpu().clone() for g in found]


def observe_call(
    function: Callable[..., Any], arguments: Sequence[Any], batched: Sequence[int] = ()
) -> Record:
    """Call a function several times and write down what comes out.

    Args:
        arguments: numbers, tuples, tensors, lists of tensors.
        batched: which of the arguments have the batch as their first axis; they are
            given once more with the first sample alone.

    Raises:
        Trouble: if it raises an error.
    """
    first = copies(list(arguments))
    alone = [
        _mapped(lambda x: x[:1], argument) if place in batched else argument
        for place, argument in enumerate(arguments)
    ]
    try:
        output = plain(function(*first))
    except Exception as error:
        said = in_words(error)
        if batched and said.mistake == "raises":
            if not raises(_output_or_error(lambda: function(*copies(alone)))):
                said = trouble("batch of one", raises=said.sentence)
        raise said from None
    record: Record = {"output": output, "after": plain(first)}
    if tensors_in(first):
        record["other"] = _output_or_error(
            lambda: function(*copies(other_numbers(list(arguments))))
        )
    record["again"] = plain(function(*copies(list(arguments))))
    if batched:
        try:
            record["alone"] = plain(function(*copies(alone)))
        except Exception as error:
            said = in_words(error)
            if said.mistake == "raises":
                said = trouble("raises alone", raises=said.sentence)
            raise said from None
    return record


def observe_gradients(
    function: Callable[..., Any],
    arguments: Sequence[Any],
    learned: Sequence[Tensor] = (),
) -> Record:
    """Write down the gradients of what comes out.

    Args:
        learned: with respect to what, besides the tensors among the arguments.
    """
    own = copies(list(arguments), gradients=True)
    leaves = [t for t in tensors_in(own) if t.requires_grad]
    record: Record = {}
    try:
        found = gradients_of(function(*own), [*leaves, *learned])
    except Exception as error:
        record["gradient trouble"] = in_words(error).sentence
        found = [torch.zeros(()) for _ in [*leaves, *learned]]
    record["gradients"] = found[: len(leaves)]
    record["gradients of parameters"] = found[len(leaves) :]
    return record


class Calls(TorchFunctionMode):
    """A mode that notes the names of PyTorch's functions that are called in it."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self.names.append(getattr(func, "__name__", ""))
        return func(*args, **(kwargs or {}))


def _output_or_error(run: Callable[[], Any]) -> Any:
    """Return the output of a call, or ``{"raises": the error in words}``."""
    try:
        return plain(run())
    except Exception as error:
        return {"raises": in_words(error).sentence}


def raises(output: Any) -> bool:
    """Return whether a recorded output is an error."""
    return isinstance(output, dict) and [*output] == ["raises"]


def build(answer: Any, sizes: Mapping[str, Any]) -> nn.Module:
    """Return a module from a class or a function that makes one; of a module, a copy.

    Sizes are given by name if the names are known, and otherwise in their order.
    Dropout rates that can be chosen are 0.

    Raises:
        Trouble: if no ``nn.Module`` comes out.
    """
    if isinstance(answer, nn.Module):
        try:
            module = copy.deepcopy(answer)
        except Exception as error:
            raise trouble("no copy", error=type(error).__name__) from None
        _drops_of(module, kept=True)
        return module
    if isinstance(answer, type) and not issubclass(answer, nn.Module):
        raise trouble("no module", name=answer.__name__)
    if isinstance(answer, type):
        _refuse_misspelt(answer)
    try:
        module = _with_sizes(answer, sizes)
    except AttributeError as error:
        if "Module.__init__() call" in str(error):
            raise trouble("no super") from None
        raise
    if not isinstance(module, nn.Module):
        raise trouble("no module | made", name=type(module).__name__)
    return module


def parameters_of(answer: Any) -> list[inspect.Parameter]:
    """The arguments that it takes; none where it does not say."""
    with contextlib.suppress(TypeError, ValueError):
        return [*inspect.signature(answer).parameters.values()]
    return []


def _with_sizes(answer: Callable[..., Any], sizes: Mapping[str, Any]) -> Any:
    rates = dict.fromkeys(_rates_of(answer), 0.0)
    others = [p for p in parameters_of(answer) if p.name not in rates]
    named = {p.name for p in others if p.kind is not p.VAR_KEYWORD}
    takes_others = len(named) < len(others)  # by **
    if named.issuperset(sizes) or (takes_others and named.issubset(sizes)):
        return answer(**sizes, **rates)
    if named and named.issubset(sizes):
        return answer(**{name: sizes[name] for name in named}, **rates)
    return answer(*sizes.values(), **rates)


def _rates_of(answer: Any) -> Iterator[str]:
    """Yield the names of an answer's dropout rates, also those handed on by **."""
    for one in getattr(answer, "__mro__", [answer]):
        parameters = parameters_of(one)
        yield from (p.name for p in parameters if _is_rate(p.name, p.default))
        if not any(p.kind is p.VAR_KEYWORD for p in parameters):
            return


def _is_rate(name: str, value: Any) -> bool:
    """Whether a number by this name says how much is dropped."""
    return type(value) in (int, float) and ("drop" in name or name == "p")


def _drops_of(module: nn.Module, kept: bool = False) -> list[str]:
    """The rates at which something is dropped, such as ``"block.drop.p = 0.1"``.

    Args:
        kept: whether everything is kept from now on.
    """
    found = []
    for path, part in module.named_modules():
        for name, value in list(vars(part).items()):
            if _is_rate(name, value) and value > 0:
                found.append(f"{f'{path}.{name}'.lstrip('.')} = {value:g}")
                if kept:
                    setattr(part, name, 0.0)
    return found


_MISSPELT = {
    "__init__": "init int inti intit",
    "forward": "foward forwrad fwd forwards forword",
}


def _refuse_misspelt(answer: type[nn.Module]) -> None:
    """Refuse a class with a misspelt ``__init__`` or ``forward``, or with none."""
    own = vars(answer)
    for name in own:
        letters = name.replace("_", "").lower()
        for due, misspelt in _MISSPELT.items():
            if letters in misspelt.split() and due not in own and callable(own[name]):
                raise trouble(f"misspelt {due}", name=name)
    if answer.forward is nn.Module.forward and "__call__" not in own:
        raise trouble("no forward")


def observe_module(
    answer: Any,
    sizes: Mapping[str, Any],
    inputs: Sequence[Tensor],
    seed: int,
    dtype: torch.dtype,
    normalize: Callable[[Any], Any] | None,
    output_alone: bool,
    widths: Mapping[str, float],
    ours: type,
    asked: Sequence[Mapping[str, Any]],
) -> Record:
    """Build a module, draw its parameters, run it, and write down what comes out.

    The numbers that are drawn are not in the record: the judge draws them again, from
    the seed and the shapes. How the module starts, what is frozen and whether it
    changes itself cannot be checked from outside, but a notebook that lies about these
    still has to send the right numbers.

    Args:
        sizes: what the class is built with.
        inputs: tensors with the batch as their first axis.
        seed: of the parameters that are drawn.
        dtype: that module and inputs are run in.
        normalize: brings what it returns into the form that is compared.
        output_alone: see ``ModuleCheck``.
        widths: of the parameters that are drawn, see ``drawn``.
        ours, asked: with what it is called once more if it is derived from this class.
    """

    def call(*inputs: Tensor) -> Any:
        output = module(*inputs)
        return output if normalize is None else normalize(output)

    module = build(answer, sizes)
    if output_alone and not _takes_more(module, len(inputs)):
        normalize = None
    _refuse_hidden(module)
    if any(isinstance(p, UninitializedParameter) for p in module.parameters()):
        module.to("cpu")  # where the inputs are
        with torch.no_grad():  # nn.LazyLinear and its like take their sizes from it
            call(*(x.float() if x.is_floating_point() else x.clone() for x in inputs))
    if any(p.is_meta for p in module.parameters()):
        raise trouble("no numbers")
    names = [name for name, _ in module.named_parameters()]
    record: Record = {
        "names": names,
        "kinds": kinds_of(module),
        "around one": _norm_weights(module),
        "initial": [plain(p) for p in module.parameters()],
        "frozen": [n for n, p in module.named_parameters() if not p.requires_grad],
        "drops": _drops_of(module),
        "shared": _shared_in(module),
        "order": list(range(len(names))),
    }
    places = _places_of(module)
    module.to("cpu", dtype)
    module.eval()
    inputs = [x.to(dtype) if x.is_floating_point() else x for x in inputs]
    values = [v.to(dtype) for v in draw(module, seed, **widths)]
    _refuse_other_numbers(module, values)
    for place in places:
        module.to(place)
        inputs = [x.to(place) for x in inputs]
        try:
            with torch.no_grad(), _noting_order(module, record):
                record |= observe_call(call, inputs, range(len(inputs)))
            break
        except Trouble as error:
            raised = [error.mistake, error.sentence]
    else:
        return record | {"trouble": raised}
    _refuse_made_in_forward(module, names)
    if isinstance(module, ours):
        calls = [partial(module, *inputs, **more) for more in asked]
        record["more"] = [_output_or_error(call) for call in calls]
    weights = list(module.parameters())
    record["changes itself"] = not same([*map(plain, weights)], values)
    for weight in weights:
        weight.requires_grad_()
    record |= observe_gradients(call, inputs, weights)
    module.train()
    torch.manual_seed(seed)  # dropout is the same each time
    return record | _in_training(call, inputs, record["output"])


def _shared_in(module: nn.Module) -> list[str]:
    """Return the names of two places that hold the same layer; none if none do."""
    first: dict[int, str] = {}
    for name, part in module.named_modules(remove_duplicate=False):
        if first.setdefault(id(part), name) != name and [*part.parameters()]:
            return [first[id(part)], name]
    return []


def _takes_more(module: nn.Module, inputs: int) -> bool:
    """Return whether ``forward`` has arguments besides the inputs."""
    parameters = parameters_of(module.forward)  # what is compiled may have none
    return not parameters or len(parameters) > inputs


def _in_training(
    call: Callable[..., Any], inputs: Sequence[Tensor], in_eval: Any
) -> Record:
    """Return the output in training mode and, if it differs, that of one sample alone.

    There are so many samples that a rate of 1 in 10 shows, too.
    """

    def run(*tensors: Tensor) -> Any:
        return _output_or_error(lambda: call(*copies(list(tensors))))

    many = [repeated(x) for x in inputs]
    with torch.no_grad():
        record = {"training": run(*many)}
        if not (isinstance(in_eval, Tensor) and in_eval.ndim):
            return record
        if not same(record["training"], repeated(in_eval)):
            record["training again"] = run(*many)
            record["training alone"] = run(*(x[:1] for x in inputs))
    return record


def repeated(batch: Tensor) -> Tensor:
    """Return a batch repeated until it has 32 samples or a few more."""
    return torch.cat([batch] * -(-32 // len(batch)))


def draw(module: nn.Module, seed: int, **widths: float) -> list[Tensor]:
    """Give every parameter drawn values, and return these in 64 bits."""
    parameters = list(module.parameters())
    shapes = [parameter.shape for parameter in parameters]
    values = drawn(shapes, _norm_weights(module), seed, **widths)
    with torch.no_grad():
        for parameter, value in zip(parameters, values, strict=True):
            parameter.copy_(value)
    return values


def drawn(
    shapes: Sequence[Sequence[int]],
    around_one: Sequence[bool],
    seed: int,
    vectors: float = 0.5,
    matrices: float = 1.2,
) -> list[Tensor]:
    """Return values for parameters of these shapes, about as wide as after training.

    No value is zero or one, and attention is neither uniform nor on one token alone.

    Args:
        around_one: for each whether it is the weight of a norm.
        vectors: how wide biases, tokens and positions are drawn.
        matrices: how wide the numbers are that a matrix makes of numbers one wide.
    """
    generator = torch.Generator().manual_seed(seed)
    values = []
    for shape, is_norm in zip(shapes, around_one, strict=True):
        noise = torch.randn(tuple(shape), generator=generator, dtype=torch.float64)
        if len(shape) >= 2 and shape[0] > 1:
            fan = max(1, math.prod(shape[1:]))
            noise = matrices * noise / min(fan, shape[0]) ** 0.5
        elif is_norm:
            noise = 1 + 0.3 * noise
        else:
            noise = vectors * noise
        values.append(noise)
    return values


def _norm_weights(module: nn.Module) -> list[bool]:
    """Return for each parameter whether it is the weight of a norm."""
    weights = {
        id(part.weight)
        for part in module.modules()
        if isinstance(part, nn.LayerNorm) and part.weight is not None
    }
    return [id(parameter) in weights for parameter in module.parameters()]


def _refuse_other_numbers(module: nn.Module, values: Sequence[Tensor]) -> None:
    for (name, parameter), value in zip(module.named_parameters(), values, strict=True):
        if parameter.dtype != value.dtype or not torch.equal(parameter.cpu(), value):
            raise trouble("other numbers", name=name)


def _places_of(module: nn.Module) -> list[str]:
    """Return the devices to try: the CPU, then the one where the module was built."""
    built = {p.device.type for p in module.parameters()} & {"cuda"}
    return ["cpu", *built]  # other devices may lack float64


def kinds_of(module: nn.Module) -> list[str]:
    """Return for each parameter the kind of layer that it belongs to."""
    kinds: dict[int, str] = {}
    for part in module.modules():
        for kind, layer in (
            ("linear", nn.Linear),
            ("convolution", (nn.Conv1d, nn.Conv2d)),
            ("norm", nn.LayerNorm),
            ("table", nn.Embedding),
        ):
            if isinstance(part, layer):
                kinds.update({id(p): kind for p in part.parameters(recurse=False)})
    return [kinds.get(id(p), "own") for p in module.parameters()]


@contextlib.contextmanager
def _noting_order(module: nn.Module, record: Record) -> Iterator[None]:
    """Write down for each parameter when its layer was first called."""
    called: dict[int, int] = {}

    def note(part: nn.Module, _: Any) -> None:
        called.setdefault(id(part), len(called))

    hooks = [part.register_forward_pre_hook(note) for part in module.modules()]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
    owner_calls: dict[str, int] = {}
    for name, part in module.named_modules():
        inherited = owner_calls.get(name.rpartition(".")[0], len(called))
        owner_calls[name] = called.get(id(part), inherited)
    names = [name for name, _ in module.named_parameters()]
    record["order"] = [owner_calls[name.rpartition(".")[0]] for name in names]


def _refuse_hidden(module: nn.Module) -> None:
    """Refuse a module that keeps parameters where nobody finds them."""
    found = {id(parameter) for parameter in module.parameters()}
    for path, part in module.named_modules():
        for name in (*part._modules, *part._parameters):
            if callable(getattr(nn.Module, name, None)):
                raise trouble("shadowed", name=name)
        for name, value in vars(part).items():
            if name in _OF_EVERY_MODULE:
                continue
            if any(id(learned) not in found for learned in _learned_in(value)):
                raise trouble("hidden", place=f"{path}.{name}".lstrip("."))


_OF_EVERY_MODULE = frozenset(vars(nn.Module()))


def _refuse_made_in_forward(module: nn.Module, names: Sequence[str]) -> None:
    for name, _ in module.named_parameters():
        if name not in names:
            raise trouble("made in forward", name=name)


def _learned_in(value: Any, depth: int = 0) -> Iterator[Tensor]:
    """Yield the tensors that require a gradient in a value, its layers and lists."""
    if isinstance(value, nn.Module):
        yield from value.parameters()
    elif isinstance(value, Tensor):
        if value.requires_grad:
            yield value
    elif depth < 4:
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, (list, tuple, set)):
            for item in value:
                yield from _learned_in(item, depth + 1)
