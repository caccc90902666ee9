"""Checks of functions."""

import contextlib
import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import torch
from torch import Generator, Tensor

from vit_check.engine import observing
from vit_check.engine.check import Answered, Case, Check
from vit_check.engine.comparing import difference, is_telling, same
from vit_check.engine.drawing import Answer
from vit_check.engine.findings import found
from vit_check.engine.moved import misplaced
from vit_check.engine.observing import Record, copies, plain, shapes_in, tensors_in
from vit_check.engine.table import hints_in, mistakes, parted
from vit_check.engine.verdict import Finding, Mistake, Misused
from vit_check.engine.watching import listed

NUMBERS = (bool, int, float)


@dataclass(eq=False, repr=False)
class FunctionCheck(Check):
    """Check of a function: it must equal the reference in values, shapes and gradients.

    It must also leave its inputs alone, give the same answer when it is called again,
    and give a sample in a batch what it gives that sample alone.

    Args:
        reference: a right answer.
        table: what ``table.py`` explains.
        inputs: from a generator to the lists of arguments it is called with, where the
            table has no cases.
        parts: functions that the right answer calls and that may be edited too.
        more: known-wrong answers that are no edits of the reference.
        shape: the letters of the output's shape, where the signature has others.
        batched: places of the arguments whose first axis is the batch.
        gradients: compare them too.
        without: names, or parts of names, of functions that the task forbids.
        scenario: where an argument cannot be plain data (a model, an optimizer):
            ``scenario(function, *arguments)`` makes it, calls the function, and returns
            what is to be compared.
        normalize: brings an answer's output into the form of the reference's.
    """

    reference: Answer
    table: str
    _: KW_ONLY
    inputs: Callable[[Generator], Iterable[Case]] | None = None
    parts: Sequence[Answer] = ()
    more: Sequence[Mistake] = ()
    shape: str = ""
    batched: Sequence[int] = ()
    gradients: bool = True
    without: Sequence[str] = ()
    scenario: Callable[..., Any] | None = None
    normalize: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        self.head, rest = parted(self.table)
        signature = self.head.signature
        name, _, _ = signature.partition("(")
        known = [*mistakes(self.reference, rest, self.parts), *self.more]
        super().__init__(name, signature, known, hints_in(rest))
        letters = re.search(r" -> (\([^()]*[A-Z²][^()]*\))", signature)
        self.shape = self.shape or (letters[1] if letters else "")

    def cases(self, generator: Generator, sizes: Mapping[str, Any]) -> Iterable[Case]:
        if sizes:
            raise Misused(f"{next(iter(sizes))}: {self.name} takes no such argument")
        if self.inputs is not None:
            return self.inputs(generator)
        names = vars(inspect.getmodule(self.reference))
        return self.head.drawn(generator, names)

    def about(self, answer: Any) -> str:
        if not isinstance(answer, type):
            return ""
        got = f"got the class {answer.__name__}, expected {self.signature}"
        return f"{got}; called with these arguments, it "

    def observe(self, answer: Any, case: Case) -> Record:
        call = self._call(answer)
        record = observing.observe_call(call, case, self.batched)
        if self.gradients:
            record |= observing.observe_gradients(call, case)
        if self.without:
            with observing.Calls() as calls:
                call(*copies(case))
            record["calls"] = sorted({*calls.names})
        record["defaults"] = defaults_of(answer)
        return record | {"changed": with_other_numbers(call, case)}

    def verdict(self, records: Answered) -> Finding | None:
        answered = [*records]  # one case may explain another
        calls = {call for _, record in answered for call in record.get("calls", ())}
        theirs = [c for c in sorted(calls) if any(n in c for n in self.without)]
        last = found("forbidden", name=theirs[0]) if theirs else None
        return super().verdict(answered) or last

    def judge(
        self, case: Case, record: Record, answered: Answered = ()
    ) -> Finding | None:
        if "trouble" in record:
            return Finding(*record["trouble"])
        expected = self.observe(self.reference, case)
        if unrepeated(record):
            return found("not repeatable")
        output = record["output"]
        finding = difference(output, expected["output"], self.shape)
        if finding is not None:
            return (
                self._known(case, output, expected["output"], answered)
                or batch_finding(output, record.get("alone"), self._batch(case))
                or self._default(case, record)
                or self._no_effect(case, record, finding)
                or self._misplaced(case, output, expected["output"], finding)
                or finding
            )

        def known() -> Finding | None:
            other = record["other"], expected["other"]
            return self._known(observing.other_numbers(case), *other, answered)

        return behind_output(record, expected, case, self.shape, known)

    def _batch(self, case: Case) -> int:
        return len(tensors_in(case[self.batched[0]])[0]) if self.batched else 1

    def _misplaced(
        self, case: Case, output: Any, right: Any, finding: Finding
    ) -> Finding | None:
        axes = self.head.moves
        if axes is None or finding.mistake not in ("values", "order", "axes"):
            return None
        names = self._argument_names()
        given = dict(zip(names, map(plain, case), strict=False))
        return misplaced(output, right, given, axes)

    def _names(self) -> list[str]:
        """Return the names of a case's arguments: the scenario's, if it names them."""
        own = observing.parameters_of(self.scenario)[1:]
        named = own and own[0].kind is not inspect.Parameter.VAR_POSITIONAL
        return [p.name for p in own] if named else self._argument_names()

    def _default(self, case: Case, record: Record) -> Finding | None:
        """Return the argument whose default is wrong, if that explains everything."""
        right = {} if self.scenario else defaults_of(self.reference)
        for name in self._argument_names()[len(case) :]:
            value = record["defaults"].get(name, right.get(name))
            known = name in right and type(value) in NUMBERS
            if known and not same(value, right[name]):
                as_given = functools.partial(self.reference, **{name: value})
                if same(record["output"], self._output(as_given, case)):
                    said = f"is {value} where none is given, expected {right[name]}"
                    return Finding("default", f"{name} {said}")
        return None

    def _no_effect(
        self, case: Case, record: Record, finding: Finding
    ) -> Finding | None:
        """Return a number that may be changed without any effect on the output."""
        output, right = record["output"], self._output(self.reference, case)
        both = type(output) is type(right) is dict  # a record may be faked
        other_names = both and [*output] != [*right]
        if finding.mistake not in ("values", "value", "factor", "shape") or other_names:
            return None
        rights = with_other_numbers(self._call(self.reference), case)
        for place, (value, name) in enumerate(zip(case, self._names(), strict=False)):
            other = rights.get(str(place), right)
            if name not in self._argument_names() or same(other, right):
                continue
            got = record["changed"].get(str(place))
            exact = map(torch.equal, tensors_in(got), tensors_in(output))
            if same(got, output) and all(exact):  # rounding may hide it
                said = f"{name}={value} as for {name}={_other(value)}"
                return Finding("no effect", f"puts out the same for {said}")
        return None

    def _argument_names(self) -> list[str]:
        inside = re.search(r"\((.*?)\)", self.signature)
        return [n.split("=")[0].strip() for n in inside[1].split(",")] if inside else []

    def _known(
        self, case: Case, output: Any, right: Any, answered: Answered
    ) -> Finding | None:
        """Return the mistake that has this output, unless other cases contradict it."""
        everywhere = not is_telling(output, right)
        for mistake in self.mistakes:
            with contextlib.suppress(Exception):  # it may not work on every case
                wrong = self._output(mistake.wrong, case)
                if same(output, wrong) and difference(wrong, right):  # it shows here
                    if self._may_be(mistake, case, answered, everywhere):
                        return Finding(mistake.name, mistake.sentence)
        return None

    def _may_be(
        self, mistake: Mistake, case: Case, answered: Answered, everywhere: bool
    ) -> bool:
        """Return whether no case of this kind is right where the mistake shows.

        Args:
            everywhere: whether the answer is to put out the same wherever it shows,
                since what came out in this case may come of many mistakes.
        """
        for other, record in answered:
            if "output" in record and (everywhere or _alike(case, other)):
                with contextlib.suppress(Exception):
                    wrong = self._output(mistake.wrong, other)
                    right = self._output(self.reference, other)
                    output = record["output"]
                    shows = not (same(output, wrong) or same(wrong, right))
                    if shows and (everywhere or same(output, right)):
                        return False
        return True

    def _output(self, answer: Callable[..., Any], case: Case) -> Any:
        return plain(self._call(answer)(*copies(case)))

    def _call(self, answer: Callable[..., Any]) -> Callable[..., Any]:
        answer = self._noting_arguments(answer)

        run = answer
        if self.scenario is not None:
            run = functools.partial(self.scenario, answer)

        def call(*arguments: Any) -> Any:
            output = run(*arguments)
            return output if self.normalize is None else self.normalize(output)

        return call

    def _noting_arguments(self, answer: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap an answer so that the errors it raises know its arguments."""
        if isinstance(answer, type):  # the scenario may use the class
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


def checked_by(table: str, **options: Any) -> Callable[[Answer], FunctionCheck]:
    """Make a right answer the check of its name.

    Args:
        **options: of ``FunctionCheck``.
    """
    return lambda right: FunctionCheck(right, table, **options)


def defaults_of(answer: Any) -> dict[str, float]:
    """Return a function's defaults that are numbers, True or False, by name."""
    parameters = observing.parameters_of(answer)
    return {p.name: p.default for p in parameters if type(p.default) in NUMBERS}


def with_other_numbers(call: Callable[..., Any], case: Case) -> dict[str, Any]:
    """Return the outputs for one changed number of a case, by its place."""
    outputs = {}
    for place, value in enumerate(case):
        if type(value) in NUMBERS:
            arguments = [*case[:place], _other(value), *case[place + 1 :]]
            with contextlib.suppress(Exception):
                outputs[str(place)] = plain(call(*copies(arguments)))
    return outputs


def _other(number: float) -> float:
    return not number if type(number) is bool else 2 * number


def _alike(value: Any, other: Any) -> bool:
    """Return whether cases differ in numbers alone, none of which is 0."""
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return len(value) == len(other) and all(map(_alike, value, other))
    if isinstance(value, str):
        return value == other
    if type(other) in (int, float) and not other:
        return False
    return type(value) is type(other)


def behind_output(
    record: Record,
    expected: Record,
    given: Sequence[Any],
    shape: str,
    known: Callable[[], Finding | None] = lambda: None,
    changing: str = "not repeatable",
) -> Finding | None:
    """Return what else is wrong if the output is right: calls, batches, gradients.

    Args:
        expected: the record of the right answer.
        given: what both were called with.
        known: finds the mistake that explains the output for other numbers.
        changing: what is found if the same input gives another output.
    """
    if difference(record["again"], expected["output"]) is not None:
        return found(changing)
    right = expected.get("other")
    if right is not None and not raises(right):  # other numbers are allowed
        other = record["other"]
        if raises(other):
            return known() or found("raises | other input", raises=other["raises"])
        finding = difference(other, right, shape)
        if finding is not None:
            kept = same(other, record["output"])
            return found("result kept") if kept else known() or finding
    before_and_after = zip(map(plain, given), record["after"], strict=True)
    if any(difference(after, before) for before, after in before_and_after):
        return found("changes its input")
    if "alone" in expected:
        finding = alone_finding(record["alone"], expected["alone"], shape)
        if finding is not None:
            return finding
    if "gradient trouble" in record:
        return found("no gradient | raises", raises=record["gradient trouble"])
    gradients = record.get("gradients", []), expected.get("gradients", [])
    for got, right in zip(*gradients, strict=True):
        if right is not None and got is None:
            return found("no gradient")
        if right is not None and difference(got, right) is not None:
            return wrong_gradient(got)
    return None


def unrepeated(record: Record) -> bool:
    """Return whether the same input gave other numbers, in the same shapes."""
    output, again = record["output"], record["again"]
    return not same(output, again) and same(shapes_in(output), shapes_in(again))


def raises(output: Any) -> bool:
    """Return whether a recorded output is an error."""
    return isinstance(output, dict) and [*output] == ["raises"]


def alone_finding(alone: Any, right: Any, shape: str) -> Finding | None:
    """Return what is wrong for one sample alone, if the batch's output was right."""
    finding = difference(alone, right, shape, "the output for one sample alone")
    axes, right_axes = ([*map(len, shapes_in(value))] for value in (alone, right))
    mixed = finding is not None and axes == right_axes
    return found("depends on the batch") if mixed else finding


def batch_finding(output: Any, alone: Any, batch: int = 1) -> Finding | None:
    """Return a finding if a sample has another output in the batch than alone.

    Args:
        batch: the number of samples; if it is above 1, it is also asked whether one
            sample has as many outputs as the whole batch.
    """
    pairs = [*zip(tensors_in(output), tensors_in(alone), strict=False)]
    for output, one in pairs:
        if output.ndim and output[:1].shape == one.shape and not same(output[:1], one):
            return found("depends on the batch")
    for output, one in pairs if batch > 1 else ():
        if output.ndim != one.ndim or one.ndim < 2 or len(output) != len(one):
            continue
        if len(one) > 1 or output.numel() > one.numel():
            why = f"the size of the batch, {len(one)}, is built in"
            axes = zip(output.shape[1:], one.shape[1:], strict=True)
            if (batch, 1) in axes:  # the batch has become another axis
                why = f"axis 0 is to be the batch, of {batch} and of 1"
            shapes = {"shape": tuple(output.shape), "alone": tuple(one.shape)}
            return found("built in | batch", why=why, **shapes)
    return None


def wrong_gradient(gradient: Tensor) -> Finding:
    """Return what is wrong with a gradient that is not the right one."""
    finite = torch.isfinite(gradient).all()
    return found("gradient" if finite else "gradient not finite")
