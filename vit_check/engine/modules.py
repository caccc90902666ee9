"""Checks of modules."""

import inspect
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Generator, Tensor, nn

from vit_check.engine.check import Case, Check
from vit_check.engine.comparing import difference, same
from vit_check.engine.functions import (
    BATCH_MIXED,
    FunctionCheck,
    batch_mixed,
    cannot_be_trained,
    wrong_gradient,
)
from vit_check.engine.observing import (
    Record,
    build,
    gradients_of,
    observe_module,
    plain,
    shapes_in,
    tensors_in,
)
from vit_check.engine.reading import Part, Weights, parts_of
from vit_check.engine.verdict import Finding, Mistake
from vit_check.engine.watching import Trouble, watch


class ModuleCheck(Check):
    """Check of a module whose parameters may have any names.

    Its parameters are drawn anew and read as those of the package's own module, in
    every way that their shapes allow. It is right if for one of the readings the
    package's module with these weights puts out the same.

    Args:
        sizes: what a class is built with, by name and in order.
        inputs: from a generator and the sizes, tensors with the batch first.
        reading: from the parts of a module and the sizes, each way to read its
            parameters, as weights under the package's names.
        reference: from weights, sizes and inputs to the right output.
        mistakes: as for ``reference``; ``wrong(weights, sizes, *inputs)``.
        lacking: from parts and sizes to a finding where there is no reading at all.
        initial: from the weights as they were when the module was built, and the sizes,
            to a finding about the initialisation.
        function: the check for an answer that is a function and gets the weights.
        normalise: brings an answer's output into the form of the reference's.
        tried: with how many of the readings each mistake is tried.
        widths: of what is drawn, where other than usual: ``vectors``, ``matrices``.
        coinciding: makes inputs with axes of the same length, on which an answer runs
            that raises elsewhere, so that its mistake can be told.
    """

    def __init__(
        self,
        name: str,
        signature: str,
        sizes: Mapping[str, Any],
        inputs: Callable[[Generator, Mapping[str, Any]], list[Tensor]],
        reading: Callable[[list[Part], Mapping[str, Any]], Iterator[Weights]],
        reference: Callable[..., Any],
        mistakes: Sequence[Mistake],
        hints: tuple[str, str, str],
        shape: str = "",
        lacking: Callable[[list[Part], Mapping[str, Any]], Finding | None]
        | None = None,
        initial: Callable[[Weights, Mapping[str, Any]], Finding | None] | None = None,
        function: FunctionCheck | None = None,
        normalise: Callable[[Any], Any] | None = None,
        coinciding: Callable[[Generator, Mapping[str, Any]], list[Tensor]]
        | None = None,
        tried: int = 48,
        widths: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(name, signature, mistakes, hints)
        self.sizes, self.inputs = sizes, inputs
        self.reading, self.reference = reading, reference
        self.shape, self.lacking, self.initial = shape, lacking, initial
        self.function, self.normalise = function, normalise
        self.coinciding, self.tried = coinciding, tried
        self.widths = {} if widths is None else widths

    @property
    def forms(self) -> Mapping[str, Check]:
        own = {"itself": self}
        return own if self.function is None else own | {"function": self.function}

    def form_for(self, answer: Any) -> Check:
        if self.function is None or isinstance(answer, (type, nn.Module)):
            return self
        try:
            parameters = inspect.signature(answer).parameters.values()
        except (TypeError, ValueError):
            return self
        any_number = [p for p in parameters if p.kind is p.VAR_POSITIONAL]
        needed = [
            p
            for p in parameters
            if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        if len(needed) > len(self.sizes):
            return self.function
        if {p.name for p in parameters} >= set(self.sizes):
            return self
        if len(needed) < len(self.sizes) and not any_number:
            return self
        try:  # it takes as many arguments as sizes: what it makes of them tells
            watch(lambda: build(answer, self.sizes))
        except Trouble:
            return self.function
        return self

    def cases(self, generator: Generator, sizes: Mapping[str, Any]) -> Iterable[Case]:
        for name in sizes:
            if name not in self.sizes:
                expected = ", ".join(self.sizes)
                raise ValueError(
                    f"{name}: got a size by this name, expected {expected}"
                )
        sizes = {**self.sizes, **sizes}
        for dtype in ("float64", "float32"):
            seed = int(torch.randint(2**31, (), generator=generator))
            yield [sizes, self.inputs(generator, sizes), seed, dtype]
        if self.coinciding is not None:
            yield [sizes, self.coinciding(generator, sizes), seed, dtype]

    def observe(self, answer: Any, case: Case) -> Record:
        sizes, inputs, seed, dtype = case
        record = observe_module(
            answer,
            sizes,
            inputs,
            seed,
            getattr(torch, dtype),
            self.normalise,
            **self.widths,
        )
        return record | {"built": isinstance(answer, nn.Module)}

    def judge(self, case: Case, record: Record) -> Finding | None:
        sizes, inputs, _, dtype = case
        if "trouble" in record:
            return self._trouble(record, sizes)
        floats = getattr(torch, dtype)
        inputs = [x.to(floats) if x.is_floating_point() else x for x in inputs]
        parts = parts_of(record)
        early = _finding_before_values(record)
        if early is not None:
            return early
        readings = list(self.reading(parts, sizes))
        if not readings:
            return self._lacking(parts, sizes, record)
        for place, weights in enumerate(readings):
            if same(record["output"], self._expected(weights, sizes, inputs)):
                finding = self._finding_behind_values(case, record, weights, inputs)
                return finding or self._initial_finding(parts, sizes, place)
        right = self._expected(readings[0], sizes, inputs)
        for mistake in self.mistakes:
            for weights in readings[: self.tried]:
                try:
                    with torch.no_grad():
                        wrong = plain(mistake.wrong(weights, sizes, *inputs))
                except Exception:  # a mistake may not fit every reading
                    continue
                if same(record["output"], wrong):
                    return Finding(mistake.name, mistake.sentence)
        finding = difference(record["output"], right, self.shape)
        finding = batch_mixed(record) or finding
        if record["unused"] and tensors_in(record["output"]):
            return _unused(record)
        assert finding is not None
        return self._with_sizes_said(finding, record, sizes)

    def _expected(
        self, weights: Weights, sizes: Mapping[str, Any], inputs: list[Tensor]
    ) -> Any:
        with torch.no_grad():
            return plain(self.reference(weights, sizes, *inputs))

    def _trouble(self, record: Record, sizes: Mapping[str, Any]) -> Finding:
        """What was raised; or what it lacks, which may be why."""
        trouble = Finding(*record["trouble"])
        if trouble.mistake in ("raises", "batch of one") and "values" in record:
            parts = parts_of(record)
            if self.lacking is not None and not any(self.reading(parts, sizes)):
                trouble = self.lacking(parts, sizes) or trouble
            return self._with_sizes_said(trouble, record, sizes)
        return trouble

    def _lacking(
        self, parts: list[Part], sizes: Mapping[str, Any], record: Record
    ) -> Finding:
        found = self.lacking(parts, sizes) if self.lacking is not None else None
        if found is None:
            shapes = ", ".join(f"{p.name} {tuple(p.value.shape)}" for p in parts)
            found = Finding(
                "parameters",
                f"has other parameters than expected: {shapes or 'none at all'}",
            )
        return self._with_sizes_said(found, record, sizes)

    def _with_sizes_said(
        self, finding: Finding, record: Record, sizes: Mapping[str, Any]
    ) -> Finding:
        """With a reminder for who gave a module and did not say its sizes."""
        if not record["built"] or dict(sizes) != dict(self.sizes):
            return finding
        said = ", ".join(f"{name}={value}" for name, value in sizes.items())
        return Finding(
            finding.mistake,
            f"{finding.sentence}; unless this module, which is built already, was "
            f"built with {said}, give the class, or say its sizes after it",
        )

    def _finding_behind_values(
        self,
        case: Case,
        record: Record,
        weights: Weights,
        inputs: list[Tensor],
    ) -> Finding | None:
        sizes = case[0]
        finding = difference(
            record["output"], self._expected(weights, sizes, inputs), self.shape
        )
        if finding is not None:  # dtype
            return finding
        for before, after in zip(inputs, record["after"], strict=True):
            if not same(after, before):
                return Finding(
                    "changes its input",
                    "changes the tensor it is given, which its caller still needs: "
                    "+= or an operation with a trailing underscore works in place",
                )
        if not same(record["values after"], record["values"]):
            return Finding(
                "changes its weights", "changes its own parameters when it is called"
            )
        first = [x[:1] for x in inputs]
        if not same(record["alone"], self._expected(weights, sizes, first)):
            return BATCH_MIXED
        if "gradient trouble" in record:
            return cannot_be_trained(record)
        if record["unused"]:
            return _unused(record)
        if record["frozen"]:
            return Finding(
                "frozen",
                f"has a parameter {record['frozen'][0]} that does not require a "
                "gradient, so that training leaves it as it is",
            )
        own = [x.clone().requires_grad_(x.is_floating_point()) for x in inputs]
        output = self.reference(weights, sizes, *own)
        right = gradients_of(output, [x for x in own if x.requires_grad])
        for got, expected in zip(record["gradients"], right, strict=True):
            if expected is not None and (got is None or not same(got, expected)):
                return wrong_gradient(torch.zeros(()) if got is None else got)
        return None

    def _initial_finding(
        self, parts: list[Part], sizes: Mapping[str, Any], place: int
    ) -> Finding | None:
        """What is wrong with the values that the module was built with.

        Args:
            place: of the reading that is the right one.
        """
        for part in parts:
            if not torch.isfinite(part.initial).all():
                return Finding(
                    "not initialised",
                    f"starts with NaN or infinity in {part.name}: torch.empty leaves "
                    "what happens to be in memory",
                )
        if self.initial is None:
            return None
        built = [part.as_built() for part in parts]
        reading = next(itertools.islice(self.reading(built, sizes), place, None))
        return self.initial(reading, sizes)


def _finding_before_values(record: Record) -> Finding | None:
    output, again = record["output"], record["again"]
    if not same(output, again) and same(shapes_in(output), shapes_in(again)):
        return Finding(
            "not repeatable",
            "answers differently when called twice in eval mode: a dropout that does "
            "not listen to eval(), a layer that is made anew in forward, or something "
            "kept from the first call",
        )
    return None


def _unused(record: Record) -> Finding:
    name = record["unused"][0]
    return Finding(
        "unused",
        f"has a parameter {name} that takes no part in the output: "
        "its layer is made but not called, or its gradient is cut off",
    )


def run_module(module: nn.Module, weights: Weights, *inputs: Tensor) -> Any:
    """Run a module of the package with weights that are given by its own names."""
    return torch.func.functional_call(module, weights, inputs)
