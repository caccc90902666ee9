"""A judge in another process than the one that runs the answer.

A grader does not trust a notebook, because its code shares a process with the check and
can change it. So the notebook's process only runs the answer, on inputs that the judge
sends, and sends back the outputs (``engine.asking``). They are judged here, where none
of its code runs, so the only way to pass is to send the right numbers. Inputs and
parameters are drawn anew for each question, so a sentence does not help with the next.
"""

import os
import secrets
import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import Any

from torch import Generator

import vit_check
from vit_check.chapters.questions import QUESTIONS
from vit_check.engine.check import Check, recorded
from vit_check.engine.verdict import Finding
from vit_check.engine.wire import receive, send

LONGEST_PATH = 103  # bytes; what macOS allows, Linux has room for four more
LONGEST_SENTENCE = 2000  # characters; part of it may be from the answer
MOST_QUESTIONS = 1000  # of one notebook, which asks fewer than ten for each task
MOST_SECONDS = 120.0  # of computing for one notebook, which takes a second or two
PATIENCE = 300.0  # seconds for a message to arrive


@dataclass(frozen=True)
class Judgement:
    """The verdict of a judge on one answer.

    Attributes:
        check: the check's name; for ``check.answer("x", ...)`` it is "answer:x".
        sentence: what is wrong; None if it is right.
        form: which of the check's forms it was judged in: "function" for a function
            where a class may be given too, else "itself".
        origin: the name of the library's function or class that the answer is, as far
            as the notebook's process says so; "" for one of the notebook's own.
    """

    check: str
    passed: bool
    sentence: str | None
    form: str = "itself"
    origin: str = ""


class Judge:
    """A service that judges answers of a notebook in another process.

    Set the variable ``engine.asking.JUDGE`` in the notebook's process to the socket's
    path, and every check there asks this judge.

    Args:
        path: of the Unix socket to make, at most 103 bytes.
        checks: the checks by name.
        seed: of all that is drawn; a secret one if it is not given.

    Raises:
        ValueError: if the path is too long for a socket.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        checks: Mapping[str, Check] | None = None,
        seed: int | None = None,
    ) -> None:
        self.path = os.fspath(path)
        if len(os.fsencode(self.path)) > LONGEST_PATH:
            raise ValueError(
                f"path: got {self.path!r}, {len(os.fsencode(self.path))} bytes; "
                f"a Unix socket's has at most {LONGEST_PATH}"
            )
        self.checks = all_checks() if checks is None else checks
        seed = secrets.randbits(63) if seed is None else seed
        self.generator = Generator().manual_seed(seed)
        self.questions, self.computed = 0, 0.0
        self.records: list[Judgement] = []

    def __enter__(self) -> "Judge":
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(self.path)
        self._socket.listen()
        self._socket.setblocking(False)
        self._end, self._ended = socket.socketpair()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.close()
        self._thread.join()
        self._ended.close()
        self._socket.close()
        os.unlink(self.path)

    def clear(self) -> None:
        """Forget the judgements so far, also of questions that are being judged."""
        self.records = []

    def _serve(self) -> None:
        while self._ended not in wait([self._socket, self._ended]):
            try:
                connection, _ = self._socket.accept()
            except OSError:  # the notebook has gone again
                continue
            with connection:
                connection.settimeout(PATIENCE)
                start = time.thread_time()
                try:
                    self._answer(connection)
                except Exception:  # whatever came, go on with the next question
                    continue
                finally:
                    self.computed += time.thread_time() - start

    def _answer(self, connection: socket.socket) -> None:
        records = self.records
        request = receive(connection, PATIENCE)
        check = self.checks[request["check"]]
        form = check.forms[request["form"]]
        origin = _text(request["origin"])[:200]
        self.questions += 1
        if self.questions > MOST_QUESTIONS or self.computed > MOST_SECONDS:
            send(connection, {"cases": []})
            receive(connection, PATIENCE)
            send(connection, {"finding": [_TOO_MUCH.mistake, _TOO_MUCH.sentence]})
            return  # without a judgement in the records
        cases = list(form.cases(self.generator, {}))
        send(connection, {"cases": cases})
        try:
            answered = receive(connection, PATIENCE)["records"]
            pairs = zip(cases, answered, strict=False)
            finding = form.verdict([(recorded(*pair), pair[1]) for pair in pairs])
            if finding is None and len(answered) != len(cases):
                finding = Finding("incomplete", "did not answer every case")
            if finding is not None:
                finding = Finding(_text(finding.mistake), _text(finding.sentence))
        except OSError:  # the notebook has gone, and waits for no verdict
            raise
        except Exception:
            finding = _UNREADABLE
        said = None if finding is None else [finding.mistake, finding.sentence]
        sentence = None if finding is None else finding.sentence
        how = finding is None, sentence, request["form"], origin
        records.append(Judgement(request["check"], *how))
        send(connection, {"finding": said})


_UNREADABLE = Finding("unreadable", "gave something that cannot be judged")
_TOO_MUCH = Finding(
    "too much",
    "was not judged, since this notebook has asked too much: it has "
    f"{MOST_QUESTIONS:,} questions and {MOST_SECONDS:g} s of judging",
)


def _text(given: Any) -> str:
    """Return a text that was sent, shortened, and without characters that do not print.

    Raises:
        TypeError: if it is none.
    """
    if not isinstance(given, str):
        raise TypeError(f"text: got {type(given).__name__}, expected a str")
    short = given[:LONGEST_SENTENCE]
    return "".join(letter if letter.isprintable() else " " for letter in short)


def all_checks() -> dict[str, Check]:
    """Return every check, by the name that a notebook asks for it by."""
    checks = [*vit_check.CHECKS.values(), *QUESTIONS.values()]
    return {check.asked_as: check for check in checks}
