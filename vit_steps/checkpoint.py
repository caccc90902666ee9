"""Weights on disk: safetensors files that are replaced whole, or not at all.

Such a file holds named tensors and a few lines of text. Reading one runs no code, which
cannot be said of a pickle. What it says of itself is not believed before it is checked.
"""

import hashlib
import json
import math
import os
from collections.abc import Container, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, get_args, get_origin, get_type_hints
from uuid import uuid4

import torch
from torch import Tensor

from vit_steps.preprocessing import Preprocessing

SHIPPED = Path(__file__).with_name("models")  # trained models that come along
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that whoever reads it finds the old one or the new one, whole.

    The content goes to a name of its own beside ``path`` and is then moved into place,
    so several may write at once. A process that is killed leaves a file in .part.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{uuid4().hex}.part")
    try:
        with open(unfinished, "xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    finally:
        unfinished.unlink(missing_ok=True)


def write_checkpoint(
    path: str | os.PathLike[str],
    tensors: Mapping[str, Tensor],
    metadata: Mapping[str, Any],
) -> None:
    """Write tensors, and metadata that JSON can hold, as ``write_whole`` does.

    Raises: ValueError, OSError as ``check_writable`` does.
    """
    from safetensors.torch import save

    path = check_writable(path)
    held = {name: t.detach().cpu().contiguous() for name, t in tensors.items()}
    write_whole(path, save(held, {"vit_steps": json.dumps(metadata)}))


def check_writable(
    path: str | os.PathLike[str], name: str = "path", suffix: str = ".safetensors"
) -> Path:
    """A path to write a file to, tried; its folder is made if there is none.

    Raises:
        ValueError: if it does not end in ``suffix``, or is a folder.
        OSError: if nothing can be written beside it.
    """
    path = Path(path)
    if path.suffix != suffix or path.is_dir():
        got = f"{str(path)!r}{', a folder' if path.is_dir() else ''}"
        raise ValueError(f"{name}: got {got}, expected a name in {suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=path.parent):
            return path
    except OSError as error:
        why = f"{error.strerror or error}, in {str(path.parent)!r}"
        raise OSError(f"{name}: {str(path)!r} cannot be written: {why}") from error


def read_checkpoint(
    name: str | os.PathLike[str],
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the metadata of a model that ships with the package, or a file.

    Raises:
        FileNotFoundError: if there is no such model and no such file.
        ValueError: if the file is damaged, or somebody else's.
    """
    from safetensors import SafetensorError, safe_open

    path = SHIPPED / f"{name}.safetensors"
    if not path.exists():
        path = Path(name)
    if not path.exists():
        shipped = ", ".join(sorted(file.stem for file in SHIPPED.glob("*.safetensors")))
        raise FileNotFoundError(
            f"name: got {os.fspath(name)!r}, expected a file, or one of {shipped}"
        )
    if not path.is_file():
        raise ValueError(f"{path}: a folder or a device, expected a file")
    try:
        # safe_open opens a name twice, and another file may take it in between
        with open(path, "rb") as held:
            same = f"/dev/fd/{held.fileno()}" if os.path.isdir("/dev/fd") else path
            with safe_open(same, framework="pt") as file:
                tensors = {key: file.get_tensor(key) for key in file.keys()}
                text = (file.metadata() or {}).get("vit_steps")
        metadata = None if text is None else json.loads(text)
    except (SafetensorError, ValueError, RecursionError) as error:
        what = f"damaged, or not a safetensors file ({error})"
        raise ValueError(f"{path}: {what}") from error
    if not isinstance(metadata, dict):
        raise ValueError(
            f"{path}: not written by vit_steps; for the weights of others there is "
            "vit_steps.pretrained"
        )
    return tensors, metadata


def shipped_models(class_name: str = "VisionTransformer") -> tuple[str, ...]:
    """Return the names of the trained models of a class that ship with the package."""
    from safetensors import safe_open

    names = []
    for path in sorted(SHIPPED.glob("*.safetensors")):
        with safe_open(path, framework="pt") as file:
            metadata = json.loads(file.metadata()["vit_steps"])
        if metadata.get("class", "VisionTransformer") == class_name:
            names.append(path.stem)
    return tuple(names)


def load_model(model_class: Any, name: str | os.PathLike[str]) -> Any:
    """What ``model_class.from_pretrained`` gives; it says more.

    The model is built once the file is known to hold what its config promises. A block
    on the meta device, where numbers take no room, tells what that is.
    """
    tensors, metadata = read_checkpoint(name)
    holds = "the state of a training"
    if "config" in metadata:
        holds = f"a {metadata.get('class', 'VisionTransformer')}"
    if holds != f"a {model_class.__name__}":
        raise ValueError(
            f"name: got {os.fspath(name)!r}, which holds {holds}, expected a "
            f"{model_class.__name__} that save_pretrained wrote"
        )
    try:
        config = read_config(model_class.config_class, metadata["config"])
        preprocessing = Preprocessing.read(metadata)
        if preprocessing is not None:
            preprocessing.check_fits(config.in_channels, config.num_classes)
        with torch.device("meta"):
            expected = model_class(replace(config, depth=1)).state_dict()
    except (ValueError, TypeError, ArithmeticError, RuntimeError) as error:
        raise ValueError(f"{name}: what it says makes no model: {error}") from error
    block = [name for name in expected if name.startswith("blocks.0.")]
    for index in range(1, min(config.depth, len(tensors))):  # a block has several
        expected |= {name.replace("0", str(index), 1): expected[name] for name in block}
    weights = fitted(name, tensors, expected)
    model = model_class(config)
    model.load_state_dict(weights)
    model.preprocessing = preprocessing
    return model.eval()


def read_config(config_class: type, stated: Any) -> Any:
    """A config from what JSON has of it; raises ValueError if a field is no such."""
    types = get_type_hints(config_class)
    if not isinstance(stated, dict) or stated.keys() != types.keys():
        raise ValueError(f"got {stated}, expected the fields {', '.join(types)}")
    fields = {  # a list is how JSON has a (height, width)
        name: tuple(value) if isinstance(value, list) else value
        for name, value in stated.items()
    }
    for name, value in fields.items():
        kinds = {get_origin(k) or k for k in get_args(types[name]) or (types[name],)}
        if type(value) not in kinds | ({int} if float in kinds else set()) or (
            isinstance(value, float) and not math.isfinite(value)
        ):
            raise ValueError(f"{name}: got {value!r}, expected {types[name]}")
    return config_class(**fields)


def fitted(
    source: str | os.PathLike[str],
    tensors: Mapping[str, Tensor],
    expected: Mapping[str, Tensor],
    unlimited: Container[str] = (),
) -> dict[str, Tensor]:
    """The tensors in the dtypes expected; those may be on the meta device.

    Raises: ValueError, with the ``source``, if a tensor is missing, unknown, misshapen,
        of another kind of number, or not finite, which an ``unlimited`` one may be.
    """

    def described(tensors: Mapping[str, Tensor]) -> dict[str, str]:
        return {
            name: f"{'floats' if t.dtype in FLOATS else t.dtype} {tuple(t.shape)}"
            for name, t in tensors.items()
        }

    came, wanted = described(tensors), described(expected)
    for name in sorted(came.keys() | wanted.keys()):
        got, right = came.get(name), wanted.get(name)
        if got != right:
            raise ValueError(f"{source}: got {got} for {name!r}, expected {right}")
    converted = {name: t.to(expected[name].dtype) for name, t in tensors.items()}
    for name, tensor in converted.items():
        if name not in unlimited and not tensor.isfinite().all():
            raise ValueError(f"{source}: got numbers in {name!r} that are not finite")
    return converted


def check_digest(path: Path, expected: str, advice: str) -> None:
    """Raise ValueError, with the advice, if the file is not that of the sha256."""
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != expected:
        raise ValueError(
            f"{path.name}: got sha256 {digest}, expected {expected}; {advice}"
        )
