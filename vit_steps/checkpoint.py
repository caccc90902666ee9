"""Weights on disk: safetensors files that are replaced whole, or not at all.

Such a file holds named tensors and a few lines of text. Reading one runs no code, which
cannot be said of a pickle.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

SHIPPED = Path(__file__).with_name("models")  # trained models that come along


def write_checkpoint(
    path: str | os.PathLike[str],
    tensors: Mapping[str, Tensor],
    metadata: Mapping[str, Any],
) -> None:
    """Write tensors and metadata beside ``path`` first, then move them into place.

    A process that is killed at any moment leaves the old file or the new one, whole.

    Args:
        path: a name that ends in .safetensors.
        tensors: by name.
        metadata: whatever JSON can hold.

    Raises:
        ValueError: if the name ends otherwise.
    """
    from safetensors.torch import save

    path = check_name(path)
    content = save(
        {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()},
        {"vit_steps": json.dumps(metadata)},
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    with open(unfinished, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(unfinished, path)


def check_name(path: str | os.PathLike[str]) -> Path:
    """A path to write to; raises ValueError if it does not end in .safetensors."""
    path = Path(path)
    if path.suffix != ".safetensors":
        raise ValueError(f"path: got {str(path)!r}, expected a name in .safetensors")
    return path


def read_checkpoint(
    name: str | os.PathLike[str],
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read the tensors and the metadata that ``write_checkpoint`` wrote.

    Args:
        name: of a model that ships with the package, or a path.

    Raises:
        FileNotFoundError: if there is no such model and no such file.
        ValueError: if the file is damaged, or somebody else's.
    """
    from safetensors import SafetensorError, safe_open

    path = SHIPPED / f"{name}.safetensors"
    if not path.exists():
        path = Path(name)
    if not path.is_file():
        shipped = ", ".join(sorted(file.stem for file in SHIPPED.glob("*.safetensors")))
        raise FileNotFoundError(
            f"name: got {os.fspath(name)!r}, expected a file, or one of {shipped}"
        )
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {key: file.get_tensor(key) for key in file.keys()}
            text = (file.metadata() or {}).get("vit_steps")
    except SafetensorError as error:
        raise ValueError(
            f"{path}: damaged, or not a safetensors file ({error})"
        ) from error
    if text is None:
        raise ValueError(
            f"{path}: not written by vit_steps; for the weights of others there is "
            "vit_steps.pretrained"
        )
    return tensors, json.loads(text)
