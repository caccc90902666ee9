"""Checks of modules."""

import contextlib
import copy
import inspect
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from vit_check.engine import functions, observing
from vit_check.engine.check import RAISED, Answered, Case, Check
from vit_check.engine.comparing import OF_ONE_OUTPUT, difference, same
from vit_check.engine.drawing import Answer
from vit_check.engine.findings import Trouble, found
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.observing import Record, drawn, parameters_of, plain, tensors_in
from vit_check.engine.reading import Part, Sizes, Weights, parts_of
from vit_check.engine.table import Row, hints_in, mistakes, parted, rows
from vit_check.engine.telling import related
from vit_check.engine.verdict import Finding, Mistake, Misused
from vit_check.engine.watching import listed, watch

# More than any answer has, so that the time for judging one is limited.
MOST_PARAMETERS = 256  # tensors
MOST_NUMBERS = 2**23  # in all parameters together
MOST_READINGS = 5_000
READ_AT_ONCE = 64
AT_ONCE = 16  # with this many readings or more it is quicker to compute them at once


@dataclass(eq=False, repr=False)
class ModuleCheck(Check):
    """Check of a module whose parameters may have any names.

    Its parameters are drawn anew and read as those of the package's own module, in
    every way that their shapes allow. It is right if for one of the readings the
    package's module with these weights puts out the same. A class is built twice, with
    sizes that differ in every number, so that none of them can be written into it.

    Args:
        right: an answer that the mistakes are edits of, ``right(weights, sizes, x)``.
        table: what ``table.py`` explains, with the arguments that a class is built
            with in place of cases: two lines that have no number in common.
        package: from sizes to the package's own module, whose parameters can be read.
        inputs: from a generator and the sizes, tensors with the batch first.
        reading: from the parts of a module and the sizes, each way to read its
            parameters, as weights under the package's names.
        parts: functions that the right answer calls and that may be edited too.
        borrowed: rows of other tables.
        more: known-wrong answers, ``wrong(weights, sizes, x)``, that are no rows.
        reference: from weights, sizes and inputs to the right output, where it is not
            what the package's module puts out, or the first part of that.
        lacking: from parts and sizes to what is known of parameters with no reading.
        initial: from the weights as they were when the module was built, and the sizes,
            to a finding about the initialisation.
        as_function: the check for an answer that is a function and gets the weights;
            or its signature, whose arguments are the input, weights and sizes.
        without: of PyTorch's functions, which such a function is to do without.
        normalize: brings an answer's output into the form of the reference's.
        output_alone: leave it as it is where ``forward`` takes the input and nothing
            that could ask for more, such as attention weights.
        tried: the number of readings with which each mistake is tried.
        widths: of what is drawn, where other than usual: ``vectors``, ``matrices``.
        asked: how a class that is derived from the package's is called once more, by
            arguments that only such a class has.
        more_inputs: makes other inputs for the first sizes: with axes of the same
            length, on which an answer runs that raises elsewhere, or larger ones.
    """

    name: str
    right: Answer
    table: str
    _: KW_ONLY
    package: Callable[[Sizes], nn.Module]
    inputs: Callable[[Generator, Sizes], list[Tensor]]
    reading: Callable[[list[Part], Sizes], Iterator[Weights]]
    parts: Sequence[Answer] = ()
    borrowed: Sequence[Row] = ()
    more: Sequence[Mistake] = ()
    reference: Any = None
    shape: str = ""
    lacking: Callable[[list[Part], Sizes], Finding | None] | None = None
    initial: Callable[[Weights, Sizes], Finding | None] | None = None
    as_function: FunctionCheck | str | None = None
    without: Sequence[str] = ()
    normalize: Callable[[Any], Any] | None = None
    output_alone: bool = False
    asked: Sequence[Mapping[str, Any]] = ()
    more_inputs: Callable[[Generator, Sizes], list[Tensor]] | None = None
    tried: int = 48
    widths: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        head, rest = parted(self.table)
        self.rows = [*rows(rest), *self.borrowed]
        known = [*mistakes(self.right, self.rows, self.parts), *self.more]
        super().__init__(self.name, head.signature, known, hints_in(rest))
        (arguments,) = re.findall(r"class \w+\((.*?)\)", head.signature)
        defaults = re.findall(r"(\w+)=([\d.]+)", arguments)
        self.defaults = {name: float(value) for name, value in defaults}
        names = re.sub("=[^,]*", "", arguments).split(", ")
        self.sizes, self.other_sizes = (
            dict(zip(names, case, strict=True)) for case in head.drawn(Generator(), {})
        )
        self.reference = self.reference or self._of_package

    @cached_property
    def function(self) -> FunctionCheck | None:
        """The check for an answer that is a function."""
        if not isinstance(self.as_function, str):
            return self.as_function
        names = re.findall(r"\w+(?=[,)])", self.as_function.partition(" -> ")[0])
        learned = self._shapes(self.sizes)
        keys = {  # of the arguments that are weights
            name: key
            for key in learned
            for name in names
            if key.replace(".", "_").endswith(name)
        }

        def given(wrong: Answer) -> Answer:
            def called(*arguments: Any) -> Any:
                values = dict(zip(names, arguments, strict=True))
                weights = {key: values[name] for name, key in keys.items()}
                weights |= {f"{self.name}.{key}": w for key, w in weights.items()}
                return wrong(weights, values, arguments[0])

            return called

        def cases(generator: Generator) -> Iterator[Case]:
            for sizes, (x, *_), seed, dtype in self.cases(generator, {}):
                shapes = [self._shapes(sizes)[key] for key in keys.values()]
                weights = drawn(shapes, [False] * len(keys), seed, **self.widths)
                values = {**sizes, names[0]: x, **dict(zip(keys, weights, strict=True))}
                given = [values[name] for name in names]
                floats = getattr(torch, dtype)
                yield [v.to(floats) if isinstance(v, Tensor) else v for v in given]

        return FunctionCheck(
            given(self.right),
            "\n? ".join([self.as_function, *self.hints]),
            inputs=cases,
            more=[Mistake(m.name, m.sentence, given(m.wrong)) for m in self.mistakes],
            batched=(0,),
            without=self.without,
        )

    def _shapes(self, sizes: Sizes) -> dict[str, torch.Size]:
        """Return the shapes of the package's parameters; the random state stays."""
        with torch.random.fork_rng(devices=[]):
            module = _built(self.package, tuple(sizes.items()))
        return {name: value.shape for name, value in module.named_parameters()}

    def _of_package(self, weights: Weights, sizes: Sizes, *inputs: Tensor) -> Any:
        """Run the package's module with weights by its names, and return the output.

        The check's own name may stand in front of a weight's name.
        """
        module = _built(self.package, tuple(sizes.items()))
        names = [name for name, _ in module.named_parameters()]
        own = {n: weights[n if n in weights else f"{self.name}.{n}"] for n in names}
        output = torch.func.functional_call(module, own, inputs)
        return output[0] if isinstance(output, tuple) else output

    @property
    def forms(self) -> Mapping[str, Check]:
        own: dict[str, Check] = {"itself": self}
        return own if self.function is None else own | {"function": self.function}

    @cached_property
    def _called_with(self) -> str:
        """The name of the module's input."""
        (name,) = re.findall(r"called with (\w+)", self.signature)
        return str(name)

    @cached_property
    def _of_one_size(self) -> "ModuleCheck":
        """The same check for a module that is built already, with sizes of its own."""
        own = copy.copy(self)
        own.other_sizes = self.sizes
        return own

    def form_for(self, answer: Any) -> Check:
        if isinstance(answer, nn.Module):
            return self._of_one_size
        if isinstance(answer, type) or self.function is None:
            return self
        parameters, needed = parameters_of(answer), needed_by(answer)
        any_number = [p for p in parameters if p.kind is p.VAR_POSITIONAL]
        if len(needed) > len(self.sizes):
            return self.function
        if {p.name for p in parameters} >= set(self.sizes):
            return self
        if len(needed) < len(self.sizes) and not any_number:
            return self
        try:  # it takes as many arguments as there are sizes: see what it makes of them
            watch(lambda: observing.build(answer, self.sizes))
        except Trouble:
            return self.function
        return self

    def cases(self, generator: Generator, sizes: Sizes) -> Iterable[Case]:
        for name in sizes:
            if name not in self.sizes:
                expected = ", ".join(self.sizes)
                raise Misused(f"{name}: got a size by this name, expected {expected}")
        first = {**self.sizes, **sizes}
        other = first if sizes else dict(self.other_sizes)
        for built_with, dtype in ((first, "float64"), (other, "float32")):
            seed = int(torch.randint(2**31, (), generator=generator))
            yield [built_with, self.inputs(generator, built_with), seed, dtype]
        if self.more_inputs is not None:
            yield [first, self.more_inputs(generator, first), seed, "float64"]

    def told(
        self, finding: Finding, case: Case, passed: list[Case], records: Answered
    ) -> Finding:
        """Add to a finding that the answer is right with other sizes, if it is."""
        right = [sizes for sizes, *_ in passed]
        if case[0] in right:  # the same sizes passed with another input
            given = f", for {listed({self._called_with: case[1][0]})}"
            more = "" if given in finding.sentence else given
            return Finding(finding.mistake, finding.sentence + more)
        if not right or finding.mistake not in _MAY_COME_OF_SIZES:
            return finding
        it = "it " if finding.mistake in RAISED else ""
        sizes = {"right": listed(right[0]), "sizes": listed(case[0])}
        return found("built in | other sizes", sentence=it + finding.sentence, **sizes)

    def observe(self, answer: Any, case: Case) -> Record:
        sizes, inputs, seed, dtype = case
        ours = type(_built(self.package, tuple(sizes.items())))
        how = self.normalize, self.output_alone, self.widths, ours, self.asked
        floats = getattr(torch, dtype)
        record = observing.observe_module(answer, sizes, inputs, seed, floats, *how)
        takes = {p.name: plain(p.default) for p in parameters_of(answer)}
        return record | {"built": isinstance(answer, nn.Module), "takes": takes}

    def judge(
        self, case: Case, record: Record, answered: Answered = ()
    ) -> Finding | None:
        sizes, inputs, _, dtype = case
        too_many = _too_many(record.get("initial", []))
        if too_many is not None:
            return too_many
        if "trouble" in record:
            return self._trouble(case, record)
        floats = getattr(torch, dtype)
        inputs = [x.to(floats) if x.is_floating_point() else x for x in inputs]
        parts = self._parts(case, record)
        if functions.unrepeated(record):
            return found(_CHANGING)
        output = record["output"]
        place = self._place_of_fitting(output, parts, sizes, *inputs)
        if place is not None:
            finding = self._finding_behind_values(record, parts, place, sizes, *inputs)
            finding = finding or self._initial_finding(parts, place, sizes)
            return finding or self._other_arguments(record["takes"])
        readings = list(itertools.islice(self._readings(parts, sizes), self.tried))
        if not readings:
            built_in = self._built_in(record, parts, sizes, *inputs)
            return built_in or self._lacking(parts, sizes, record)
        for mistake in self.mistakes:
            outputs = output, record["alone"]
            if _fitting(mistake.wrong, readings, outputs, sizes, *inputs) is not None:
                return Finding(mistake.name, mistake.sentence)
        built_in = self._built_in(record, parts, sizes, *inputs, fitting=True)
        if built_in is not None:
            return built_in
        if _unused(record) and tensors_in(output):
            if not same(record["other"], output):  # or it is a kept result
                return _unused(record)
        finding = _more_than_asked_for(parts, readings[0])
        if finding is not None and self._as_many_numbers(parts, sizes):
            finding = self._unreadable(parts, sizes)
        finding = (
            finding
            or functions.mixed_samples(output, record["alone"])
            or functions.batch_built_in(output, record["alone"], len(inputs[0]))
        )
        if finding is None:
            right = self._expected(readings[0], sizes, *inputs)
            unlike = difference(output, right, self.shape)
            assert unlike is not None
            given = {self._called_with: inputs[0], **readings[0]}
            finding = related(unlike, output, right, given)
        return self._with_sizes_said(finding, record, sizes)

    def _parts(self, case: Case, record: Record) -> list[Part]:
        """Return a module's parameters, with the values that the case draws for them.

        The values are drawn here again, so the record need not be believed.
        """
        _, _, seed, dtype = case
        shapes = [initial.shape for initial in record["initial"]]
        values = drawn(shapes, record["around one"], seed, **self.widths)
        return parts_of(record, [v.to(getattr(torch, dtype)) for v in values])

    def _readings(self, parts: list[Part], sizes: Sizes) -> Iterator[Weights]:
        return itertools.islice(self.reading(parts, sizes), MOST_READINGS)

    def _place_of_fitting(
        self, output: Any, parts: list[Part], sizes: Sizes, *inputs: Tensor
    ) -> int | None:
        """Return the index of the first reading with which the reference does this."""
        readings = self._readings(parts, sizes)
        first = output[:1] if isinstance(output, Tensor) and output.ndim else output
        before = 0
        for many in (1, 7, *itertools.repeat(READ_AT_ONCE, MOST_READINGS)):
            chunk = list(itertools.islice(readings, many))
            place = _fitting(self.reference, chunk, (output, first), sizes, *inputs)
            if place is not None:
                return before + place
            if len(chunk) < many:
                return None
            before += many
        return None

    def _expected(self, weights: Weights, sizes: Sizes, *inputs: Tensor) -> Any:
        with torch.no_grad():
            return plain(self.reference(weights, sizes, *inputs))

    def _built_in(
        self,
        record: Record,
        parts: list[Part],
        sizes: Sizes,
        *inputs: Tensor,
        fitting: bool = False,
    ) -> Finding | None:
        """Return a finding if a size that was not asked for explains everything.

        Args:
            fitting: whether its parameters can be read as they should be. Where not,
                or where an error was raised, it is only asked whether they fit a size
                that the class is built with at another time.
        """
        for changed in self._changed(sizes, fitting):
            believed = {**sizes, **changed}
            with contextlib.suppress(Exception):  # no module can be built with these
                for weights in itertools.islice(
                    self.reading(parts, believed), self.tried
                ):
                    if "output" not in record or same(
                        record["output"], self._expected(weights, believed, *inputs)
                    ):
                        cut = any(int(sizes[n]) == v for n, v in changed.items())
                        return found(
                            "built in | rounded" if cut else "built in | sizes",
                            names=" and ".join(changed),
                            are="is" if len(changed) == 1 else "are",
                            sizes=listed({name: sizes[name] for name in changed}),
                            built_in=listed(changed),
                        )
        return None

    def _changed(self, sizes: Sizes, any_number: bool) -> Iterator[dict[str, float]]:
        """Yield one or two sizes at a time that may be built in."""
        known = self.sizes, self.other_sizes, self.defaults
        numbers: dict[str, set[Any]] = {
            name: {int(value), *(k.get(name, value) for k in known)} - {value}
            for name, value in sizes.items()
            if type(value) in (int, float)
        }
        for name, likely in numbers.items():
            others = {*range(2, 13)} - {sizes[name]} if any_number else set()
            yield from ({name: number} for number in [*likely, *(others - likely)])
        for names in itertools.combinations(numbers, 2):
            for pair in itertools.product(*(numbers[name] for name in names)):
                yield dict(zip(names, pair, strict=True))

    def _trouble(self, case: Case, record: Record) -> Finding:
        """Return the error, or what the module lacks, which may be its cause."""
        sizes, inputs, *_ = case
        trouble = Finding(*record["trouble"])
        if trouble.mistake in RAISED and "initial" in record:
            parts = self._parts(case, record)
            if not any(self.reading(parts, sizes)):
                found = self._built_in(record, parts, sizes)
                found = found or self._lacks(parts, sizes)
                if found is not None:
                    return self._with_sizes_said(found, record, sizes)
            given = listed({self._called_with: inputs[0]})
            trouble = Finding(
                trouble.mistake,
                f"{trouble.sentence}, for {given} and built with {listed(sizes)}",
            )
            return self._with_sizes_said(trouble, record, sizes)
        return trouble

    def _lacking(self, parts: list[Part], sizes: Sizes, record: Record) -> Finding:
        lacks, shared = self._lacks(parts, sizes), record.get("shared")
        if lacks is None and shared:
            lacks = found("shared", one=shared[0], other=shared[1])
        if lacks is None and self._as_many_numbers(parts, sizes):
            lacks = self._unreadable(parts, sizes)
        lacks = lacks or _others(parts, self.package(sizes), listed(sizes))
        return self._with_sizes_said(lacks, record, sizes)

    def _lacks(self, parts: list[Part], sizes: Sizes) -> Finding | None:
        """Return what is wrong with the parameters, unless their number is right."""
        if not parts:
            return found("not a parameter")
        if self.lacking is None or self._as_many_numbers(parts, sizes):
            return None
        return self.lacking(parts, sizes)

    def _as_many_numbers(self, parts: list[Part], sizes: Sizes) -> bool:
        """Return whether the parameters may be right, in an unforeseen layout."""
        right = sum(p.numel() for p in self.package(sizes).parameters())
        return sum(part.value.numel() for part in parts) == right

    def _unreadable(self, parts: list[Part], sizes: Sizes) -> Finding:
        theirs = _shapes([(part.name, part.value) for part in parts])
        ours = _shapes([*self.package(sizes).named_parameters()])
        return found("parameters | unreadable", theirs=theirs, ours=ours)

    def _with_sizes_said(
        self, finding: Finding, record: Record, sizes: Sizes
    ) -> Finding:
        """Add a reminder for a module that was given without its sizes."""
        if not record["built"] or dict(sizes) != dict(self.sizes):
            return finding
        return Finding(
            finding.mistake,
            f"{finding.sentence}; unless this module, which is built already, was "
            f"built with {listed(sizes)}, give the class, or say its sizes after it",
        )

    def _finding_behind_values(
        self, record: Record, parts: list[Part], place: int, sizes: Sizes, *inputs: Any
    ) -> Finding | None:
        """Return what is wrong, apart from the values of the output.

        Args:
            place: of the reading that gives them.
        """
        for part in parts:
            part.value.requires_grad_()
        weights = next(itertools.islice(self.reading(parts, sizes), place, None))
        learned = [part.value for part in parts]

        def reference(*inputs: Tensor) -> Any:
            return self.reference(weights, sizes, *inputs)

        with torch.no_grad():
            expected = observing.observe_call(reference, inputs, range(len(inputs)))
        expected |= observing.observe_gradients(reference, inputs, learned)
        right = expected["output"]
        finding = difference(record["output"], right, self.shape)
        if finding is not None:  # dtype
            return finding
        if record["changes itself"]:
            return found("changes its weights")
        names = [self._called_with] * len(inputs)
        return (
            functions.behind_output(
                record, expected, inputs, names, self.shape, changing=_CHANGING
            )
            or _in_training(record, right)
            or _unused(record)
            or _frozen(record)
            or _other_gradient(record, parts, expected["gradients of parameters"])
            or self._unlike_ours(record, parts, weights, sizes, *inputs)
        )

    def _unlike_ours(
        self, record: Record, parts: list[Part], weights: Weights, sizes: Sizes, *x: Any
    ) -> Finding | None:
        """Return how a class differs from the package's, from which it is derived."""
        module = _built(self.package, tuple(sizes.items()))
        own = {part.name: part.value for part in parts}
        read = {n: weights.get(n, weights.get(f"{self.name}.{n}")) for n in own}
        if "more" in record and not same(own, read):
            return found("layout", name=type(module).__name__)
        for asked, output in zip(self.asked, record.get("more", ()), strict=False):
            right = plain(torch.func.functional_call(module, own, x, dict(asked)))
            finding = difference(output, right, "(output, weights)")
            if finding is not None:
                said = finding.sentence
                if observing.raises(output):
                    said = f"it {output['raises']}"
                return found("as ours", asked=listed(asked), sentence=said)
        return None

    def _initial_finding(
        self, parts: list[Part], place: int, sizes: Sizes
    ) -> Finding | None:
        """Return what is wrong with the values that the module was built with.

        Args:
            place: of the reading that is the right one.
        """
        for part in parts:
            if not torch.isfinite(part.initial).all():
                return found("not initialised", name=part.name)
        if self.initial is None:
            return None
        built = [replace(p, value=p.initial.to(p.value.dtype)) for p in parts]
        reading = next(itertools.islice(self.reading(built, sizes), place, None))
        return self.initial(reading, sizes)

    def _other_arguments(self, takes: Mapping[str, Any]) -> Finding | None:
        """Return what is wrong with the order or a default of a class's arguments."""
        order = ", ".join(name for name in takes if name in self.sizes)
        right = ", ".join(self.sizes)
        if len(order) == len(right) and order != right:
            return found("arguments", order=order, right=right)
        for name, default in self.defaults.items():
            given = takes.get(name)
            if isinstance(given, int | float) and given != default:
                return found("default", name=name, value=given, right=default)
        return None


def needed_by(answer: Any) -> list[str]:
    """The names of the arguments that have no default."""
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    own = [p for p in parameters_of(answer) if p.kind not in several]
    return [p.name for p in own if p.default is p.empty]


def _put_out(function: Answer, readings: list[Weights], *given: Any) -> list[Any]:
    """Return the outputs of a function with each reading, all at once if possible.

    A mistake may raise with some readings; its output then equals nothing.
    """
    numbers = sum(value.numel() for w in readings for value in w.values())
    if len(readings) >= AT_ONCE and numbers < MOST_NUMBERS:
        # The fused kernels of attention do not work under vmap.
        with contextlib.suppress(Exception), sdpa_kernel(SDPBackend.MATH):
            stacked = {
                name: torch.stack([weights[name] for weights in readings])
                for name in readings[0]
            }
            together = torch.vmap(lambda w: function(w, *given))(stacked)
            return [plain(output) for output in together.unbind()]
    return [_put_out_by(function, weights, *given) for weights in readings]


def _put_out_by(function: Answer, *given: Any) -> Any:
    try:
        return plain(function(*given))
    except Exception:
        return {"?": "an error"}


def _fitting(
    function: Answer,
    readings: list[Weights],
    outputs: tuple[Any, Any],
    sizes: Sizes,
    *inputs: Tensor,
) -> int | None:
    """Return the index of the first reading that gives a function these outputs.

    Args:
        outputs: for all samples, and for the first alone, which is asked for first.
    """
    output, first = outputs
    with torch.no_grad():
        alone = _put_out(function, readings, sizes, *(x[:1] for x in inputs))
        for place, (weights, one) in enumerate(zip(readings, alone, strict=True)):
            if same(first, one):
                if same(output, _put_out_by(function, weights, sizes, *inputs)):
                    return place
    return None


# What is found if the same input gives another output.
_CHANGING = "not repeatable | module"

# Findings that a size which is built in can cause.
_MAY_COME_OF_SIZES = {*RAISED, *OF_ONE_OUTPUT, "parameters", "unused"}


def _in_training(record: Record, right: Tensor) -> Finding | None:
    """Return what is wrong in training mode alone."""
    output = record["training"]
    if observing.raises(output):
        return found("raises | in training", raises=output["raises"])
    if difference(output, observing.repeated(right)) is None:
        return None
    if not same(output, record["training again"]):
        if record["drops"]:
            return found("dropout", rate=record["drops"][0])
        return found("random in training")
    mixed = functions.mixed_samples(output, record["training alone"])
    return found("wrong in training" if mixed is None else "batch in training")


def _too_many(parameters: list[Tensor]) -> Finding | None:
    numbers = sum(parameter.numel() for parameter in parameters)
    if len(parameters) <= MOST_PARAMETERS and numbers <= MOST_NUMBERS:
        return None
    return found("too many parameters", many=len(parameters), numbers=numbers)


def _unused(record: Record) -> Finding | None:
    gradients = record["gradients of parameters"]
    named = zip(record["names"], gradients, strict=True)
    return next((found("unused", name=name) for name, g in named if g is None), None)


def _frozen(record: Record) -> Finding | None:
    return found("frozen", name=record["frozen"][0]) if record["frozen"] else None


def _other_gradient(
    record: Record, parts: list[Part], expected: list[Tensor | None]
) -> Finding | None:
    """Return a finding if a parameter's gradient is not what it should be.

    A bias that only shifts a softmax has a gradient that is zero but for rounding, so
    all are compared relative to the largest number among them.
    """
    gradients = record["gradients of parameters"]
    by_name = dict(zip(record["names"], gradients, strict=True))
    given, right = [], []
    for part, gradient in zip(parts, expected, strict=True):
        got = by_name[part.name]
        if gradient is None:
            return found("unused", name=part.name)
        if got.shape != gradient.shape or got.dtype != gradient.dtype:
            return functions.wrong_gradient(got)
        given.append(got.flatten())
        right.append(gradient.flatten())
    together = torch.cat(given)
    return (
        None if same(together, torch.cat(right)) else functions.wrong_gradient(together)
    )


def _others(parts: list[Part], package: nn.Module, sizes: str) -> Finding:
    """Return a finding that names parameters too many and parameters that are missing.

    Those that are most alike are paired first: by name, by kind of layer, by shape.
    """
    more = [(part.name, part.value, part.kind) for part in parts]
    named, kinds = package.named_parameters(), observing.kinds_of(package)
    left = [(name, p, kind) for (name, p), kind in zip(named, kinds, strict=True)]
    for alike in (
        lambda name, value, kind: (name, value.shape),
        lambda name, value, kind: (name.rpartition(".")[2], kind, value.shape),
        lambda name, value, kind: (kind, value.shape),
        lambda name, value, kind: value.shape,
        lambda name, value, kind: value.numel(),
    ):
        for own in list(more):
            other = next((o for o in left if alike(*own) == alike(*o)), None)
            if other is not None:
                more = [one for one in more if one is not own]
                left = [one for one in left if one is not other]
    here, there = (_shapes([(n, v) for n, v, _ in some]) for some in (more, left))
    kind = "missing" if not more else "others" if left else "more"
    return found(f"parameters | {kind}", more=here, left=there, sizes=sizes)


def _shapes(parameters: Sequence[tuple[str, Tensor]]) -> str:
    """Return names and shapes as text, as many as a sentence has room for."""
    said = [f"{name} {tuple(value.shape)}" for name, value in parameters[:6]]
    return ", ".join(said + ["…"] * (len(parameters) > 6)) or "none at all"


def _more_than_asked_for(parts: list[Part], weights: Weights) -> Finding | None:
    """Return the parameters that a reading leaves out, recognised by their values."""
    read = torch.cat([value.flatten() for value in weights.values()])
    more = [p for p in parts if not torch.isin(p.value.flatten()[:1], read).all()]
    if not more:
        return None
    shapes = ", ".join(f"{p.name} {tuple(p.value.shape)}" for p in more[:2])
    return found("more than asked for", shapes=shapes)


@lru_cache(maxsize=8)
def _built(package: Answer, sizes: tuple[tuple[str, Any], ...]) -> nn.Module:
    """Return a module of the package, made once.

    If it were on the device meta, its initial numbers would load the compiler.
    """
    module: nn.Module = package(dict(sizes))
    return module.eval()
