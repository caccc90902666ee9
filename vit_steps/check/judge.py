"""Judging in another process than the one that runs the answer.

Who grades does not trust a notebook: its code shares a process with the check and can
change it. So the notebook's process only runs the answer, on inputs it is sent, and
sends back what came out. Right and wrong are told apart here, where none of its code
runs; the only way to pass is to send the right numbers.

What travels is tensors, numbers and strings, never pickled objects.
"""

import json
import os
import secrets
import socket
import struct
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from safetensors.torch import load, save
from torch import Generator, Tensor

from vit_steps.check.checking import Check
from vit_steps.check.value_check import ValueCheck
from vit_steps.check.verdict import CheckFailed, Finding

LARGEST_MESSAGE = 2**26  # bytes; a whole small model's record has a hundredth of it


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

    Set ``VIT_STEPS_JUDGE`` to the socket's path there, and every check asks it.

    Args:
        path: of the Unix socket to make, at most 100 characters.
        checks: the checks by name.
        seed: of the inputs; a secret one if it is not given.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        checks: Mapping[str, Check] | None = None,
        seed: int | None = None,
    ) -> None:
        self.path = os.fspath(path)
        self.checks = _all_checks() if checks is None else checks
        self.seed = secrets.randbits(31) if seed is None else seed
        self.records: list[Judgement] = []

    def __enter__(self) -> "Judge":
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(self.path)
        self._socket.listen()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()
        os.unlink(self.path)

    def clear(self) -> None:
        """Forget the judgements so far."""
        self.records.clear()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(60.0)
                try:
                    self._answer(connection)
                except Exception:  # whatever was sent, the next one is served
                    continue

    def _answer(self, connection: socket.socket) -> None:
        request = _receive(connection)
        check = self.checks[request["check"]]
        if request["form"] == "function" and hasattr(check, "function"):
            form: Check = check.function or check
        else:
            form = check
        cases = list(form.cases(Generator().manual_seed(self.seed), {}))
        _send(connection, {"cases": cases})
        records = _receive(connection)["records"]
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
        _send(connection, {"finding": said})


def ask(
    path: str, check: Check, answer: Any, sizes: Mapping[str, Any]
) -> Finding | None:
    """Run an answer on a judge's inputs, and return what the judge finds wrong."""
    if sizes:
        raise CheckFailed(
            check.name, "sizes", "is graded on the class, not on a module: give it that"
        )
    form = check.form_for(answer)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        kind = "function" if form is not check else "itself"
        asked = f"answer:{check.name}" if isinstance(check, ValueCheck) else check.name
        _send(connection, {"check": asked, "form": kind})
        records: list[Any] = []
        for case in _receive(connection)["cases"]:
            records.append(form.record(answer, case))
            if records[-1].get("trouble", [""])[0] == "endless":
                break
        _send(connection, {"records": records})
        said = _receive(connection)["finding"]
    return None if said is None else Finding(*said)


def _all_checks() -> dict[str, Check]:
    """Checks by name; those of values under ``answer:`` and theirs."""
    from vit_steps import check
    from vit_steps.check.questions import QUESTIONS

    found = {name: getattr(check, name) for name in check.__all__}
    checks = {name: thing for name, thing in found.items() if isinstance(thing, Check)}
    return checks | {f"answer:{name}": asked for name, asked in QUESTIONS.items()}


def _send(connection: socket.socket, message: Any) -> None:
    data = encode(message)
    connection.sendall(struct.pack("!Q", len(data)) + data)


def _receive(connection: socket.socket) -> Any:
    (length,) = struct.unpack("!Q", _exactly(connection, 8))
    if length > LARGEST_MESSAGE:
        raise ValueError(f"message: got {length} bytes, at most {LARGEST_MESSAGE}")
    return decode(_exactly(connection, length))


def _exactly(connection: socket.socket, length: int) -> bytes:
    parts = []
    while length:
        part = connection.recv(min(length, 2**20))
        if not part:
            raise ConnectionError("the other side has gone")
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def encode(message: Any) -> bytes:
    """Plain data as bytes: a safetensors file whose header tells the structure."""
    tensors: dict[str, Tensor] = {}

    def mark(value: Any) -> Any:
        if isinstance(value, Tensor):
            name = str(len(tensors))
            tensors[name] = value.detach().clone().contiguous()
            return {"tensor": name}
        if isinstance(value, tuple):
            return {"tuple": [mark(item) for item in value]}
        if isinstance(value, list):
            return {"list": [mark(item) for item in value]}
        if isinstance(value, Mapping):
            return {"dict": {key: mark(item) for key, item in value.items()}}
        return {"value": value}

    structure = json.dumps(mark(message))
    return save(tensors, {"structure": structure})


def decode(data: bytes) -> Any:
    """Bytes as plain data: the inverse of ``encode``."""
    tensors = load(data)
    (length,) = struct.unpack("<Q", data[:8])  # of safetensors' header
    header = json.loads(data[8 : 8 + length])
    structure = json.loads(header["__metadata__"]["structure"])

    def unmark(marked: dict[str, Any]) -> Any:
        ((kind, value),) = marked.items()
        if kind == "tensor":
            return tensors[value]
        if kind == "tuple":
            return tuple(unmark(item) for item in value)
        if kind == "list":
            return [unmark(item) for item in value]
        if kind == "dict":
            return {key: unmark(item) for key, item in value.items()}
        return value

    return unmark(structure)
