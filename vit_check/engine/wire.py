"""Messages between a notebook's process and its judge's.

They hold tensors, numbers and strings, and never pickled objects.
"""

import json
import math
import socket
import struct
import time
from collections.abc import Mapping
from typing import Any

from safetensors.torch import load, save
from torch import Tensor

LARGEST_MESSAGE = 2**25  # bytes; a small model's record has a sixtieth of it
LARGEST_HEADER = 2**22  # bytes of a message that are not numbers of tensors


def send(connection: socket.socket, message: Any) -> None:
    data = encode(message)
    _refuse_too_long(len(data))
    connection.sendall(struct.pack("!Q", len(data)) + data)


def receive(connection: socket.socket, seconds: float = math.inf) -> Any:
    """Return the next message, as plain data.

    Args:
        seconds: for the whole of it, until it has arrived.

    Raises:
        OSError: if the other side has gone, or was too slow.
        ValueError: or another error, if it is no message or too long.
    """
    until, usual = time.monotonic() + seconds, connection.gettimeout()
    (length,) = struct.unpack("!Q", _exactly(connection, 8, until))
    _refuse_too_long(length)
    data = _exactly(connection, length, until)
    connection.settimeout(usual)
    return decode(data)


def _refuse_too_long(length: int) -> None:
    if length > LARGEST_MESSAGE:
        raise ValueError(f"message: got {length:,} bytes, at most {LARGEST_MESSAGE:,}")


def _exactly(connection: socket.socket, length: int, until: float) -> bytes:
    parts = []
    while length:
        if until < math.inf:
            connection.settimeout(max(0.001, until - time.monotonic()))
        part = connection.recv(min(length, 2**20))
        if not part:
            raise ConnectionError("the other side has gone")
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def encode(message: Any) -> bytes:
    """Return plain data as bytes: a safetensors file, the structure in its header."""
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
    """Return bytes as plain data: the inverse of ``encode``.

    Raises:
        Exception: of some kind, if they are not what ``encode`` makes.
    """
    (length,) = struct.unpack("<Q", data[:8])  # the length of safetensors' header
    if length > LARGEST_HEADER:
        raise ValueError(f"header: got {length} bytes, at most {LARGEST_HEADER}")
    tensors = load(data)
    header = json.loads(data[8 : 8 + length])
    structure = json.loads(header["__metadata__"]["structure"])

    def unmark(marked: dict[str, Any]) -> Any:
        ((kind, value),) = marked.items()
        if kind == "tensor":
            return tensors.pop(value)  # each tensor once, so that a message cannot grow
        if kind == "tuple":
            return tuple(unmark(item) for item in value)
        if kind == "list":
            return [unmark(item) for item in value]
        if kind == "dict":
            return {key: unmark(item) for key, item in value.items()}
        return value

    return unmark(structure)
