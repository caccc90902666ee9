"""Judging in another process than the one that runs the answer.

Who grades does not trust a notebook: its code shares a process with the check and can
change it. So the notebook's process only runs the answer, on inputs it is sent, and
sends back what came out (``engine.asking``). Right and wrong are told apart here, where
none of its code runs; the only way to pass is to send the right numbers.
"""

import os
import secrets
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import wait

from torch import Generator

import vit_check
from vit_check.chapters.questions import QUESTIONS
from vit_check.engine.check import Check
from vit_check.engine.verdict import Finding
from vit_check.engine.wire import receive, send

LONGEST_PATH = 103  # bytes; what macOS allows, Linux has room for four more


@dataclass(frozen=True)
class Judgement:
    """What a judge found of one answer. ``sentence`` is None if it is right.

    ``check`` is the check's name; for ``check.answer("x", ...)`` it is "answer:x".
    """

    check: str
    passed: bool
    sentence: str | None


class Judge:
    """A service that judges answers of a notebook in another process.

    Set the variable ``engine.asking.JUDGE`` to the socket's path there, and every check
    asks it.

    Args:
        path: of the Unix socket to make, at most 103 bytes.
        checks: the checks by name.
        seed: of the inputs; a secret one if it is not given.

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
        self.seed = secrets.randbits(31) if seed is None else seed
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
        """Forget the judgements so far."""
        self.records.clear()

    def _serve(self) -> None:
        while self._ended not in wait([self._socket, self._ended]):
            try:
                connection, _ = self._socket.accept()
            except OSError:  # who asked has gone again
                continue
            with connection:
                connection.settimeout(60.0)
                try:
                    self._answer(connection)
                except Exception:  # whatever was sent, the next one is served
                    continue

    def _answer(self, connection: socket.socket) -> None:
        request = receive(connection)
        check = self.checks[request["check"]]
        form = check.forms[request["form"]]
        cases = list(form.cases(Generator().manual_seed(self.seed), {}))
        send(connection, {"cases": cases})
        records = receive(connection)["records"]
        try:
            finding = form.verdict(zip(cases, records, strict=False))
            if finding is None and len(records) != len(cases):
                finding = Finding("incomplete", "did not answer every case")
        except Exception:
            finding = Finding("unreadable", "gave something that cannot be judged")
        self.records.append(
            Judgement(
                request["check"],
                finding is None,
                None if finding is None else finding.sentence,
            )
        )
        said = None if finding is None else [finding.mistake, finding.sentence]
        send(connection, {"finding": said})


def all_checks() -> dict[str, Check]:
    """Every check, by the name that a notebook's process asks it by."""
    found = [getattr(vit_check, name) for name in vit_check.__all__]
    checks = [thing for thing in found if isinstance(thing, Check)]
    return {check.asked_as: check for check in [*checks, *QUESTIONS.values()]}
