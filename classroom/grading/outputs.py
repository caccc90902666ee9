"""Turn the messages of a kernel into outputs that are safe to keep.

A message out of a sandbox is not trusted to have the shape that Jupyter promises. Text,
errors and PNG or JPEG pictures are kept; anything that a browser could run is dropped.
"""

import base64
import binascii
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_output

PICTURES = {"image/png": b"\x89PNG\r\n", "image/jpeg": b"\xff\xd8\xff"}


def clean_output(kind: str, content: dict[str, Any], room: int) -> NotebookNode | None:
    """Return the output in one message, at most ``room`` characters long.

    Return None if the message holds no output, or one that does not fit.
    """
    if kind == "stream":
        name = "stderr" if content.get("name") == "stderr" else "stdout"
        return new_output("stream", name=name, text=_text(content.get("text"), room))
    if kind in ("display_data", "execute_result"):
        data = clean_data(content.get("data"), room)
        return new_output("display_data", data=data) if data else None
    if kind == "error":
        lines = content.get("traceback")
        lines = lines if isinstance(lines, list) else []
        return new_output(
            "error",
            ename=_text(content.get("ename"), 200),
            evalue=_text(content.get("evalue"), 2000),
            traceback=[_text(line, 4000) for line in lines[:60]],
        )
    return None


def clean_data(data: Any, room: int) -> dict[str, str]:
    if not isinstance(data, dict):
        return {}
    kept = {}
    if isinstance(data.get("text/plain"), str | list):
        text = data["text/plain"]
        kept["text/plain"] = _text("".join(map(str, text)), room)
    for mime, start in PICTURES.items():
        picture = data.get(mime)
        if isinstance(picture, str) and len(picture) <= room:
            try:
                known = base64.b64decode(picture, validate=False).startswith(start)
            except (binascii.Error, ValueError):
                continue
            if known:
                kept[mime] = "".join(picture.split())
    return kept


def size(output: NotebookNode) -> int:
    if output.output_type == "stream":
        return len(output.text)
    if output.output_type == "error":
        return sum(map(len, output.traceback))
    return sum(map(len, output.data.values()))


def error_output(name: str, sentence: str) -> NotebookNode:
    return new_output(
        "error", ename=name, evalue=sentence, traceback=[f"{name}: {sentence}"]
    )


def _text(value: Any, room: int) -> str:
    text = value if isinstance(value, str) else str(value)[:room]
    text = text[:room]
    # A lone surrogate could not be written to a file.
    return text.encode("utf-8", "replace").decode("utf-8")
