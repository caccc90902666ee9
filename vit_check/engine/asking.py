"""Asking a judge in another process instead of judging here, as ``judge`` explains."""

import socket
from collections.abc import Callable, Mapping
from typing import Any

from vit_check.engine.observing import Record
from vit_check.engine.verdict import Finding
from vit_check.engine.wire import receive, send

JUDGE = "VIT_CHECK_JUDGE"  # in the environment: the path of the judge's socket


def ask(
    path: str, request: Mapping[str, str], record: Callable[[Any], Record]
) -> Finding | None:
    """Run an answer on a judge's inputs, and return what the judge finds wrong.

    Args:
        path: of the judge's socket.
        request: ``check`` and ``form``, what the judge knows the check by, and
            ``origin``, where the answer is from if it is not the asker's own.
        record: from a case to the answer's record on it.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        send(connection, request)
        records: list[Record] = []
        for case in receive(connection)["cases"]:
            records.append(record(case))
            if records[-1].get("trouble", [""])[0] == "endless":
                break
        send(connection, {"records": records})
        said = receive(connection)["finding"]
    return None if said is None else Finding(*said)
