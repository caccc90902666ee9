"""Checks of functions."""

import contextlib
import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import Generator, Tensor

from vit_check.engine.check import Case, Check
from vit_check.engine.comparing import difference, same
from vit_check.engine.moved import Axes, misplaced
from vit_check.engine.observing import (
    Record,
    observe_call,
    plain,
    shapes_in,
    tensors_in,
)
from vit_check.engine.verdict import Finding, Mistake, Misused
from vit_check.engine.watching import listed


class FunctionCheck(Check):
    """Check of a function: equal to the reference in values, shapes and gradients.

    It is also to leave its inputs alone, to answer alike when called again, and to give
    a sample in a batch what it gives that sample alone.

    Args:
        reference: a right answer.
        inputs: from a generator, the lists of arguments it is called with.
        shape: the letters of the output's shape.
        batched: places of the arguments whose first axis is the batch.
        gradients: compare them too.
        scenario: where an argument cannot be plain data (a model, an optimizer):
            ``scenario(function, *arguments)`` makes it, calls the function, and returns
            what is to be compared.
        normalize: brings an answer's output into the form of the reference's.
        moves: the names of the axes, where an answer only moves numbers about: then it
            is said where a number came from.
    """

    def __init__(
        self,
        name: str,
        signature: str,
        reference: Callable[..., Any],
        inputs: Callable[[Generator], Iterable[Case]],
        mistakes: Sequence[Mistake],
        hints: tuple[str, str, str],
        shape: str = "",
        batched: Sequence[int] = (),
        gradients: bool = True,
        scenario: Callable[..., Any] | None = None,
        normalize: Callable[[Any], Any] | None = None,
        moves: Axes | None = None,
    ) -> None:
        super().__init__(name, signature, mistakes, hints)
        self.reference, self.inputs = reference, inputs
        self.moves = moves
        self.shape, self.batched, self.gradients = shape, batched, gradients
        self.scenario, self.normalize = scenario, normalize

    def cases(self, generator: Generator, sizes: Mapping[str, Any]) -> Iterable[Case]:
        if sizes:
            raise Misused(f"{next(iter(sizes))}: {self.name} takes no such argument")
        return self.inputs(generator)

    def about(self, answer: Any) -> str:
        if not isinstance(answer, type):
            return ""
        kind = f"got the class {answer.__name__}, expected {self.signature}"
        return f"{kind}; called with these arguments, it "

    def observe(self, answer: Any, case: Case) -> Record:
        return observe_call(self._call(answer), case, self.batched, self.gradients)

    def judge(self, case: Case, record: Record) -> Finding | None:
        if "trouble" in record:
            return Finding(*record["trouble"])
        expected = self.observe(self.reference, case)
        output, again = record["output"], record["again"]
        if not same(output, again) and same(shapes_in(output), shapes_in(again)):
            return NOT_REPEATABLE
        finding = difference(output, expected["output"], self.shape)
        if finding is not None:
            return (
                self._known(case, output, expected["output"])
                or batch_mixed(record)
                or batch_built_in(record)
                or self._misplaced(case, output, expected["output"], finding)
                or finding
            )
        if difference(again, expected["output"]) is not None:
            return NOT_REPEATABLE
        for before, after in zip(case, record["after"], strict=True):
            if difference(after, plain(before)) is not None:
                return Finding(
                    "changes its input",
                    "changes the tensor it is given, which its caller still needs: "
                    "an operation with a trailing underscore, += or an assignment to "
                    "a slice works in place",
                )
        if "alone" in expected and difference(record["alone"], expected["alone"]):
            return BATCH_MIXED
        return self._gradient_finding(record, expected)

    def _gradient_finding(self, record: Record, expected: Record) -> Finding | None:
        if "gradient trouble" in record:
            return cannot_be_trained(record)
        for got, right in zip(
            record.get("gradients", []), expected.get("gradients", []), strict=True
        ):
            if right is None:
                continue
            if got is None:
                return Finding(
                    "no gradient",
                    "lets no gradient through: .detach(), .data, .item(), no_grad() "
                    "or a detour through numpy or torch.tensor() cuts it off",
                )
            if difference(got, right) is not None:
                return wrong_gradient(got)
        return None

    def _misplaced(
        self, case: Case, output: Any, right: Any, finding: Finding
    ) -> Finding | None:
        if self.moves is None or finding.mistake not in ("values", "order", "axes"):
            return None
        names = self._argument_names()
        given = dict(zip(names, map(plain, case), strict=False))
        return misplaced(output, right, given, self.moves)

    def _argument_names(self) -> list[str]:
        inside = re.search(r"\((.*?)\)", self.signature)
        return [n.split("=")[0].strip() for n in inside[1].split(",")] if inside else []

    def _known(self, case: Case, output: Any, right: Any) -> Finding | None:
        for mistake in self.mistakes:
            try:
                wrong = observe_call(self._call(mistake.wrong), case, gradients=False)
            except Exception:  # a mistake may not work on every case
                continue
            made = same(output, wrong["output"])
            if made and difference(wrong["output"], right):  # it shows on this case
                return Finding(mistake.name, mistake.sentence)
        return None

    def _call(self, answer: Callable[..., Any]) -> Callable[..., Any]:
        answer = self._noting_arguments(answer)

        def call(*arguments: Any) -> Any:
            if self.scenario is not None:
                output = self.scenario(answer, *arguments)
            else:
                output = answer(*arguments)
            return output if self.normalize is None else self.normalize(output)

        return call

    def _noting_arguments(self, answer: Callable[..., Any]) -> Callable[..., Any]:
        """The same answer; what it raises knows the arguments it was raised for."""
        if isinstance(answer, type):  # what it is may matter to the scenario
            return answer
        names = self._argument_names()

        @functools.wraps(answer)
        def noting(*arguments: Any, **named: Any) -> Any:
            try:
                return answer(*arguments, **named)
            except Exception as error:
                given = {**dict(zip(names, arguments, strict=False)), **named}
                with contextlib.suppress(Exception):
                    vars(error)["raised_for"] = listed(given)
                raise

        return noting


NOT_REPEATABLE = Finding(
    "not repeatable",
    "answers differently when called twice with the same input: something is drawn at "
    "random, or kept from the first call",
)

BATCH_MIXED = Finding(
    "depends on the batch",
    "gives a sample something else in a batch than alone: the samples of the batch are "
    "mixed, or a size of the batch is built in",
)


def batch_mixed(record: Record) -> Finding | None:
    """Whether the first sample of the batch came out otherwise than alone."""
    together, alone = tensors_in(record["output"]), tensors_in(record.get("alone"))
    for output, one in zip(together, alone, strict=False):
        if output.ndim and output[:1].shape == one.shape and not same(output[:1], one):
            return BATCH_MIXED
    return None


def batch_built_in(record: Record) -> Finding | None:
    """Whether as many samples come out of one sample as of the whole batch."""
    together, alone = tensors_in(record["output"]), tensors_in(record.get("alone"))
    for output, one in zip(together, alone, strict=False):
        if output.ndim != one.ndim or one.ndim < 2 or len(output) != len(one):
            continue
        if len(one) > 1 or output.numel() > one.numel():
            return Finding(
                "built in",
                f"gives {tuple(output.shape)} for the whole batch and "
                f"{tuple(one.shape)} for one sample alone: the size of the batch, "
                f"{len(one)}, is built in",
            )
    return None


def cannot_be_trained(record: Record) -> Finding:
    """What is wrong with an answer that raises as soon as gradients are asked for."""
    return Finding(
        "no gradient",
        "gives the right output but cannot be trained: with inputs that require a "
        f"gradient it {record['gradient trouble']}",
    )


def wrong_gradient(gradient: Tensor) -> Finding:
    """What is wrong with a gradient that is there and is not the right one."""
    if not torch.isfinite(gradient).all():
        return Finding(
            "gradient not finite",
            "has the right output but NaN or infinity in its gradient: it computes one "
            "on the way and covers it up, and zero times NaN is NaN again",
        )
    return Finding(
        "gradient",
        "has the right output but another gradient than it should: "
        "part of the way is cut off by .detach(), .data or no_grad()",
    )
