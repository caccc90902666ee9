"""Asking a judge in another process, instead of judging here.

Who grades does not trust a notebook: its code shares a process with the check and can
change it. So the notebook's process only runs the answer, on inputs it is sent, and
sends back what came out.
"""

import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from vit_check.engine.verdict import CheckFailed, Finding
from vit_check.engine.wire import receive, send

if TYPE_CHECKING:
    from vit_check.engine.check import Check

JUDGE = "VIT_CHECK_JUDGE"  # in the environment: the path of the judge's socket


def ask(
    path: str, check: "Check", answer: Any, sizes: Mapping[str, Any]
) -> Finding | None:
    """Run an answer on a judge's inputs, and return what the judge finds wrong."""
    if sizes:
        raise CheckFailed(
            check.name, "sizes", "is graded on the class, not on a module: give it that"
        )
    form = check.form_for(answer)
    (kind,) = [name for name, each in check.forms.items() if each is form]
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        send(connection, {"check": check.asked_as, "form": kind})
        records: list[Any] = []
        for case in receive(connection)["cases"]:
            records.append(form.record(answer, case))
            if records[-1].get("trouble", [""])[0] == "endless":
                break
        send(connection, {"records": records})
        said = receive(connection)["finding"]
    return None if said is None else Finding(*said)
