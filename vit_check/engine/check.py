"""A check: it makes inputs, observes an answer on them, and judges the record.

The three steps are separate, and only plain data pass between them, so that the judging
can happen in another process than the one that runs the answer.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Generator

from vit_check.engine.asking import JUDGE, ask
from vit_check.engine.findings import Trouble
from vit_check.engine.observing import Record, in_32_bits
from vit_check.engine.origin import origin_of
from vit_check.engine.said import note
from vit_check.engine.verdict import CheckFailed, Finding, Mistake, Misused
from vit_check.engine.watching import one_thread, watch

SEED = 20101192

Case = list[Any]
Answered = Iterable[tuple[Case, Record]]

# Findings that any mistake can cause; another case may show which mistake it is.
RAISED = ("raises", "raises alone", "batch of one")


def recorded(case: Case, record: Record) -> Case:
    """Return a case as the answer was given it."""
    return in_32_bits(case) if "in 32 bits" in record else case


class Check:
    """A callable that refuses wrong answers: base of checks of functions and modules.

    Args:
        name: of the check, and of what the answer is to be.
        signature: what an answer looks like, for a student who gave something else.
        mistakes: known-wrong answers, the likeliest first.
        hints: three sentences, each saying more than the one before.
    """

    any_dtype = False  # whether the task promises more than float32

    def __init__(
        self,
        name: str,
        signature: str,
        mistakes: Sequence[Mistake],
        hints: tuple[str, str, str],
    ) -> None:
        self.name = self.__name__ = name
        self.signature = signature
        self.mistakes = mistakes
        self.hints = hints
        self.__doc__ = f"Check an answer for ``{signature}``."

    def __call__(self, answer: Any, hint: int = 0, **sizes: Any) -> None:
        """Print that the answer is right, or raise ``CheckFailed`` with the reason.

        Args:
            answer: a function, a class, or a module.
            hint: 1, 2 or 3 to add a hint to what is wrong.
            **sizes: what a module that is built already was built with.
        """
        if type(hint) is not int or hint not in (0, 1, 2, 3):
            raise Misused(f"hint: got {hint!r}, expected 0, 1, 2 or 3")
        if JUDGE in os.environ:
            finding = self._asked(answer, sizes)
        else:
            finding = self.examine(answer, sizes)
        note(self.asked_as, answer, finding, hint)
        if finding is not None:
            more = f"Hint {hint} of 3: {self.hints[hint - 1]}" if hint else None
            said = finding.mistake, finding.sentence
            raise CheckFailed(self.name, *said, more) from None
        print(f"{self.name}: right")

    def examine(
        self, answer: Any, sizes: Mapping[str, Any], seed: int = SEED
    ) -> Finding | None:
        """Return what is wrong with an answer; None if nothing is.

        Raises:
            Misused: if ``sizes`` are not those the check can use.
        """
        if torch.get_default_device().type != "cpu":  # or cases would be made there
            with torch.device("cpu"):
                return self.examine(answer, sizes, seed)
        check = self.form_for(answer)
        cases = check.cases(Generator().manual_seed(seed), sizes)
        records = check.records(answer, cases)
        with torch.random.fork_rng(devices=[]):  # references may draw weights too
            return check.verdict(records)

    def records(self, answer: Any, cases: Iterable[Case]) -> Answered:
        """Yield each case with the answer's record; stop after one that did not end."""
        for case in cases:
            record = self.record(answer, case)
            yield recorded(case, record), record
            if record.get("trouble", [""])[0] == "endless":
                return

    def _asked(self, answer: Any, sizes: Mapping[str, Any]) -> Finding | None:
        """Return what a judge in another process finds wrong with the answer."""
        form = self.form_for(answer)
        kinds = [name for name, each in self.forms.items() if each is form]
        if sizes or not kinds:
            said = "is graded on the class, not on a module: give it that"
            raise CheckFailed(self.name, "sizes", said)
        return ask(
            os.environ[JUDGE],
            {"check": self.asked_as, "form": kinds[0], "origin": origin_of(answer)},
            partial(form.record, answer),
        )

    def verdict(self, records: Answered) -> Finding | None:
        """Return what is wrong with an answer, given its record on each case.

        An error can have any cause, so if one was raised, the other cases are looked at
        for the mistake behind it.
        """
        known = {mistake.name for mistake in self.mistakes} | {"built in"}
        raised: tuple[Finding, Case] | None = None
        passed: list[Case] = []
        for case, record in records:
            with one_thread(), torch.enable_grad():
                finding = self.judge(case, record, records)
            if finding is None:
                passed.append(case)
            elif finding.mistake in RAISED:
                raised = finding, case
            elif raised is None or finding.mistake in known:
                return self.told(finding, case, passed, records)
        return None if raised is None else self.told(*raised, passed, records)

    def told(
        self, finding: Finding, case: Case, passed: list[Case], records: Answered
    ) -> Finding:
        """Return a finding in its final words, to which other cases may add."""
        return finding

    @property
    def asked_as(self) -> str:
        """The name by which a judge knows this check."""
        return self.name

    @property
    def forms(self) -> Mapping[str, "Check"]:
        """The checks that a judge may be asked for, by the kind of answer they take."""
        return {"itself": self}

    def form_for(self, answer: Any) -> "Check":
        """Return the check for this kind of answer."""
        return self

    def record(self, answer: Any, case: Case) -> Record:
        """Return the record of an answer, or the trouble that prevented one.

        Students call their functions with float32, PyTorch's own. So one that stops at
        another dtype is given float32, if the task does not promise any dtype.
        """
        if not callable(answer):
            said = f"got {type(answer).__name__}, expected {self.signature}"
            return {"trouble": ["not callable", said]}
        record = self._observed(answer, case)
        _, said = record.get("trouble", ["", ""])
        if self.any_dtype or not re.search("dtype|scalar type", said):
            return record
        return self._observed(answer, in_32_bits(case)) | {"in 32 bits": True}

    def _observed(self, answer: Any, case: Case) -> Record:
        try:
            return watch(lambda: self.observe(answer, case))
        except Trouble as trouble:
            return {"trouble": [trouble.mistake, self.about(answer) + trouble.sentence]}

    def about(self, answer: Any) -> str:
        """Return the words that go in front of an error that this answer raised."""
        return ""

    def cases(self, generator: Generator, sizes: Mapping[str, Any]) -> Iterable[Case]:
        """Yield inputs, as plain data."""
        raise NotImplementedError

    def observe(self, answer: Any, case: Case) -> Record:
        """Run the answer on a case, without knowing what is right."""
        raise NotImplementedError

    def judge(
        self, case: Case, record: Record, answered: Answered = ()
    ) -> Finding | None:
        """Return what is wrong with a record, or None, without running the answer.

        Args:
            answered: all cases with their records, where a check looks at them at once.
        """
        raise NotImplementedError
