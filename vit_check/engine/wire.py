"""What travels between a notebook's process and its judge's.

Tensors, numbers and strings, never pickled objects.
"""

import json
import socket
import struct
from collections.abc import Mapping
from typing import Any

from safetensors.torch import load, save
from torch import Tensor

LARGEST_MESSAGE = 2**26  # bytes; a whole small model's record has a hundredth of it


def send(connection: socket.socket, message: Any) -> None:
    data = encode(message)
    connection.sendall(struct.pack("!Q", len(data)) + data)


def receive(connection: socket.socket) -> Any:
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
