"""The findings of an examination, and their form as text."""

from dataclasses import dataclass
from textwrap import fill

BOOK = "https://vit-steps.github.io/vit-steps/notebooks/"
VERDICTS = ("suspicious", "could not be looked at", "fine")


class Unseen(Exception):
    """Raised if something cannot be looked at; the message says why."""


@dataclass(frozen=True)
class Finding:
    """The finding of one test."""

    topic: str
    verdict: str  # one of VERDICTS
    said: str  # a sentence or two, with the numbers
    url: str  # of the section of the book that explains it

    def __str__(self) -> str:
        because = "because " * (self.verdict == VERDICTS[1])
        text = f"{self.topic}: {because}{self.said}"
        text = fill(text, 80, initial_indent="  ", subsequent_indent="    ")
        return text if self.verdict == "fine" else f"{text}\n    {self.url}"


@dataclass(frozen=True)
class Report:
    """All findings; prints as text for 80 columns, with suspicious ones first."""

    findings: tuple[Finding, ...]  # causes before what may follow from them

    @property
    def suspicious(self) -> tuple[str, ...]:
        """The topics of suspicious findings, causes before their possible effects."""
        return tuple(f.topic for f in self.findings if f.verdict == "suspicious")

    def __str__(self) -> str:
        lines = []
        for verdict in VERDICTS:
            told = [str(f) for f in self.findings if f.verdict == verdict]
            first = ", causes first" * (verdict == "suspicious" and len(told) > 1)
            lines += [f"{verdict.capitalize()} ({len(told)}{first})", *told, ""]
        return "\n".join(lines).rstrip()
