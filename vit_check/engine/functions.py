"""Checks of functions."""

import contextlib
import functools
import inspect
import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import torch
from torch import Generator, Tensor

from vit_check.engine import observing
from vit_check.engine.check import Answered, Case, Check
from vit_check.engine.comparing import OF_ONE_OUTPUT, difference, is_telling, same
from vit_check.engine.drawing import Answer
from vit_check.engine.findings import found
from vit_check.engine.moved import misplaced
from vit_check.engine.observing import (
    Record,
    copies,
    plain,
    raises,
    shapes_in,
    tensors_in,
)
from vit_check.engine.table import hints_in, mistakes, parted
from vit_check.engine.telling import related
from vit_check.engine.verdict import Finding, Mistake, Misused
from vit_check.engine.watching import listed

NUMBERS = (bool, int, float)

# What may be taken for an argument, whose name comes in the place of {}.
TAKEN = "-{} ~{} {}+1 {}-1 2*{} {}/2 1/{} {}.mT {}.flip(-1,-2)".split()
CONSTANTS = (0, 1, 2, 3, 4, 12, 16, 100, 1000, 10_000, 1e-5, 1e-6)


@dataclass(eq=False, repr=False)
class FunctionCheck(Check):
    """Check of a function: it must equal the reference in values, shapes and gradients.

    It must also leave its inputs alone, give the same answer when it is called again,
    and give a sample in a batch what it gives that sample alone.

    Args:
        reference: a right answer.
        table: what ``table.py`` explains.
        inputs: from a generator to lists of arguments, where the table has no cases.
        parts: functions that the right answer calls and that may be edited too.
        more: known-wrong answers that are no edits of the reference.
        shape: the letters of the output's shape, where the signature has others.
        batched: places of the arguments whose first axis is the batch.
        gradients: compare them too.
        any_dtype: the task promises to work in any dtype, and to keep it.
        without: names, or parts of names, of functions that the task forbids.
        scenario: where an argument cannot be plain data (a model, an optimizer):
            ``scenario(function, *arguments)`` makes it, calls the function, and returns
            what is to be compared. Arguments that it passes on are named as they are in
            the signature, or ``*arguments``.
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
    any_dtype: bool = False
    without: Sequence[str] = ()
    scenario: Callable[..., Any] | None = None
    normalize: Callable[[Any], Any] | None = None

    def __post_init__(self) -> None:
        self.head, rest = parted(self.table)
        signature = self.head.signature
        name, _, _ = signature.partition("(")
        known = [*mistakes(self.reference, rest, self.parts), *self.more]
        super().__init__(name, signature, known, hints_in(rest))
        letters = re.search(r" -> (\([^()]+\))", signature)
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
        return record

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
        right = expected["output"]
        finding = difference(output, right, self.shape)
        if finding is not None:
            answered = [*answered] or [(case, record)]
            alike = shapes_in(output) == shapes_in(right)
            batch = len(tensors_in(case[self.batched[0]])[0]) if self.batched else 1
            if self.head.moves and finding.mistake in ("values", "order"):
                said = misplaced(output, right, self._given(case), self.head.moves)
                finding = Finding(finding.mistake, said or finding.sentence)
            return (
                self._default(case, record)
                or self._known(case, output, right, answered)
                or (alike and mixed_samples(output, record.get("alone")))
                or batch_built_in(output, record.get("alone"), batch)
                or self._as_if(case, output, answered)
                or related(finding, output, right, self._given(case))
            )

        pairs = zip(tensors_in(output), tensors_in(right), strict=False)
        for got, wanted in pairs if self.any_dtype else ():
            if got.dtype != wanted.dtype:
                what = "weights" if got is not tensors_in(output)[0] else "output"
                said = f"the dtype of the {what} is {got.dtype}, expected the input's, "
                return Finding("dtype", f"{said}{wanted.dtype}")

        def known() -> Finding | None:
            other = observing.other_numbers(case), record["other"], expected["other"]
            return self._known(*other, answered)

        names = [*self._names(), *["an argument"] * len(case)][: len(case)]
        return behind_output(record, expected, case, names, self.shape, known)

    def _names(self) -> list[str]:
        """Return the names of a case's arguments: the scenario's, if it has any."""
        own = [p.name for p in observing.parameters_of(self.scenario)[1:]]
        if own[-1:] in ([], ["arguments"]):
            own[-1:] = self._argument_names()[len(own[:-1]) :]
        return own

    def _given(self, case: Case) -> dict[str, Any]:
        """Return those of a case's arguments that the answer gets, by name."""
        own = self._argument_names()
        named = zip(self._names(), case, strict=False)
        return {name: value for name, value in named if name in own}

    def told(
        self, finding: Finding, case: Case, passed: list[Case], records: Answered
    ) -> Finding:
        """Add to what is said of one output for which arguments it came.

        What a scenario returns under another name than "the output" says that itself.
        """
        given = self._given(case)
        told = listed(given)
        said = self.scenario is None or finding.sentence.startswith("the output")
        if finding.mistake not in OF_ONE_OUTPUT or not (told and said):
            return finding
        others = [c for c, r in records if self._is_right(c, r) and _as_much(c, case)]
        passed = passed[-1:] or others[:1]
        right = listed(self._given(passed[0])) if passed else told
        there = _largest(self._given(passed[0])) if passed else {}
        here = _largest(given).items()
        far = [(n, v) for n, v in here if not v <= max(10, 4 * there.get(n, v))]
        with_ = [f"{n} up to {v:.4g}" if v == v else f"NaN in {n}" for n, v in far]
        told += f", with {' and '.join(with_)}" if with_ else ""
        all_told = all(listed({name: value}) for name, value in given.items())
        if right == told or len(given) < len(case) or not all_told:
            return Finding(finding.mistake, f"for {told}, {finding.sentence}")
        text = f"is right for {right}; for {told}, {finding.sentence}"
        return Finding(finding.mistake, text)

    def _is_right(self, case: Case, record: Record) -> bool:
        right = self._output(self.reference, case)
        return "output" in record and same(record["output"], right)

    def _default(self, case: Case, record: Record) -> Finding | None:
        """Return the argument whose default is wrong, if that explains everything."""
        right = {} if self.scenario else defaults_of(self.reference)
        for name in self._argument_names()[len(case) :]:
            value = record["defaults"].get(name, right.get(name))
            known = name in right and type(value) in NUMBERS
            if known and not same(value, right[name]):
                as_given = functools.partial(self.reference, **{name: value})
                with contextlib.suppress(Exception):  # it may refuse this number
                    if not same(record["output"], self._output(as_given, case)):
                        continue
                    return found("default", name=name, value=value, right=right[name])
        return None

    @functools.cached_property
    def _changes(self) -> dict[str, dict[str, str]]:
        """How arguments may be taken wrongly, in words: the code for each of them."""
        names = self._argument_names()
        found = {}
        for n, k in itertools.product(names, CONSTANTS):
            found[f"{n}={k}, whatever {n} is"] = {n: f"like({n}, {k})"}
        for name, code in itertools.product(names, TAKEN):
            found[code.format(name)] = {name: code.format(name)}
        for one, two in itertools.permutations(names, 2):
            found[f"{one}={two}, whatever {one} is"] = {one: two}
            if names.index(one) < names.index(two):
                found[f"{one} and {two} exchanged"] = {one: two, two: one}
        return found

    def _taken(self, changes: Mapping[str, str], *given: Any, **named: Any) -> Any:
        """Answer rightly, but for numbers and tensors that are changed."""
        values = {**dict(zip(self._argument_names(), given, strict=False)), **named}
        for value in (values[name] for name in changes):
            numbers = type(value) in NUMBERS or value.is_floating_point()
            if not numbers and value.dtype != torch.bool:
                raise TypeError
        scope = {"like": like, **values}
        values |= {name: eval(code, scope) for name, code in changes.items()}
        by_name = {name: values.pop(name) for name in named}
        return self.reference(*values.values(), **by_name)

    def _as_if(self, case: Case, output: Any, answered: Answered) -> Finding | None:
        """Return the argument that is taken wrongly, if that explains all cases.

        One number may be right for something else by chance, and words may be so often.
        """
        values = output.values() if isinstance(output, dict) else [output]
        if {str, bool} & {*map(type, values)}:
            return None
        pairs = sorted(answered, key=lambda pair: pair[0] is not case)  # case first
        for words, changes in self._changes.items():
            answer = functools.partial(self._taken, changes)
            if self._explains(answer, *pairs[0]):
                shown = [self._explains(answer, *pair) for pair in pairs]
                several = shown.count(True) > 1 or tensors_in(output)
                if several and False not in shown:
                    return found("as if", words=words)
        return None

    def _explains(self, answer: Answer, case: Case, record: Record) -> bool | None:
        """Return whether an answer puts out what is recorded; None if it is hidden."""
        with contextlib.suppress(Exception):
            wrong = self._output(answer, case)
            hidden = same(wrong, self._output(self.reference, case))
            return False if not same(record["output"], wrong) else not hidden or None
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


def _largest(given: Mapping[str, Any]) -> dict[str, float]:
    """Return for each argument of floats its largest number, without the sign."""
    found = {}
    for name, value in given.items():
        floats = [t.flatten() for t in tensors_in(value) if t.is_floating_point()]
        if floats:
            found[name] = torch.cat(floats).double().abs().max().item()
    return found


def like(value: Any, number: float) -> Any:
    """Return a number in the form of a value."""
    if isinstance(value, Tensor):
        return torch.full_like(value, number)
    return type(value)(number)


def _as_much(case: Case, other: Case) -> bool:
    """Return whether a case has tensors of the same dtypes that are no smaller."""
    one, two = tensors_in(case), tensors_in(other)
    enough = 2 * sum(map(Tensor.numel, one)) >= sum(map(Tensor.numel, two))
    return enough and [t.dtype for t in one] == [t.dtype for t in two]


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
    names: Sequence[str],
    shape: str,
    known: Callable[[], Finding | None] = lambda: None,
    changing: str = "not repeatable",
) -> Finding | None:
    """Return what else is wrong if the output is right: calls, batches, gradients.

    Args:
        expected: the record of the right answer.
        given: what both were called with.
        names: of what is given.
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
    for name, before, after in zip(names, given, record["after"], strict=True):
        if difference(after, plain(before)):
            return found("changes its input", name=name)
    if "alone" in expected:
        finding = alone_finding(record["alone"], expected["alone"], shape)
        if finding is not None:
            return finding
    if "gradient trouble" in record:
        return found("no gradient | raises", raises=record["gradient trouble"])
    gradients = record.get("gradients", []), expected.get("gradients", [])
    named = [(n, t) for n, v in zip(names, given, strict=True) for t in tensors_in(v)]
    floats = [name for name, tensor in named if tensor.is_floating_point()]
    pairs = zip(*gradients, strict=True)
    for name, (got, right) in zip(floats, pairs, strict=False):
        if right is not None and got is None:
            return found("no gradient", name=name)
        if right is not None and difference(got, right) is not None:
            return wrong_gradient(got)
    return None


def unrepeated(record: Record) -> bool:
    """Return whether the same input gave other numbers, in the same shapes."""
    output, again = record["output"], record["again"]
    return not same(output, again) and same(shapes_in(output), shapes_in(again))


def alone_finding(alone: Any, right: Any, shape: str) -> Finding | None:
    """Return what is wrong for one sample alone, if the batch's output was right."""
    finding = difference(alone, right, shape, "the output for one sample alone")
    axes, right_axes = ([*map(len, shapes_in(value))] for value in (alone, right))
    if finding is None or axes == right_axes:
        return finding and found("depends on the batch")
    said = finding.sentence if "alone" in finding.sentence else ""
    return Finding(finding.mistake, said or f"one sample alone: {finding.sentence}")


def mixed_samples(output: Any, alone: Any) -> Finding | None:
    """Return a finding if a sample has another output in the batch than alone."""
    for batch, one in zip(tensors_in(output), tensors_in(alone), strict=False):
        if batch.ndim and batch[:1].shape == one.shape and not same(batch[:1], one):
            return found("depends on the batch")
    return None


def batch_built_in(output: Any, alone: Any, batch: int) -> Finding | None:
    """Return a finding if one sample has as many outputs as a batch of several."""
    for several, one in zip(tensors_in(output), tensors_in(alone), strict=False):
        alike = several.ndim == one.ndim > 1 and len(several) == len(one)
        if alike and batch > 1 and (len(one) > 1 or several.numel() > one.numel()):
            shapes = {"shape": tuple(several.shape), "alone": tuple(one.shape)}
            return found("built in | batch", batch=batch, **shapes)
    return None


def wrong_gradient(gradient: Tensor) -> Finding:
    """Return what is wrong with a gradient that is not the right one."""
    finite = torch.isfinite(gradient).all()
    return found("gradient" if finite else "gradient not finite")
