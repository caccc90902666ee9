"""Weights on disk: safetensors files that are written whole or not at all.

Such a file holds named tensors and a few lines of JSON. Unlike a pickle, it runs no
code when it is read, and every claim of its header is checked before it is used.
"""

import hashlib
import json
import os
from collections.abc import Container, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from vit_steps.preprocessing import Preprocessing

if TYPE_CHECKING:
    from vit_steps.vision_transformer import VisionTransformer

Model = TypeVar("Model", bound="VisionTransformer")

SHIPPED = Path(__file__).with_name("models")  # the trained models of the package
FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that a reader finds either the old one or the new one, whole.

    The content is written under a unique name beside ``path`` and then moved into
    place, so several processes may write at once. One that is killed leaves a .part.
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
    """Write tensors and metadata as ``write_whole`` does.

    Raises: TypeError if JSON cannot hold the metadata; and as ``check_writable`` does.
    """
    path = check_writable(path)
    held = {name: t.detach().cpu().contiguous() for name, t in tensors.items()}
    write_whole(path, save(held, {"vit_steps": json.dumps(metadata)}))


def check_writable(
    path: str | os.PathLike[str], name: str = "path", suffix: str = ".safetensors"
) -> Path:
    """Return the path if a file can be written there; its folder is made if missing.

    Raises: ValueError if it does not end in ``suffix`` or is a folder; OSError if not.
    """
    path = Path(path)
    if path.suffix != suffix or path.is_dir():
        got = f"{str(path)!r}{', a folder' if path.is_dir() else ''}"
        raise ValueError(f"{name}: got {got}, expected a name in {suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=path.parent).close()
    except OSError as error:
        why = f"{error.strerror or error}, in {str(path.parent)!r}"
        raise OSError(f"{name}: {str(path)!r} cannot be written: {why}") from error
    return path


def read_checkpoint(
    name: str | os.PathLike[str],
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors and the metadata of a shipped model or a written file.

    Raises: FileNotFoundError if there is none; ValueError if damaged, or not ours.
    """
    shipped = {path.stem: path for path in SHIPPED.glob("*.safetensors")}
    path = shipped.get(os.fspath(name), Path(name))
    if not path.is_file():
        known = ("VisionTransformer", "VariantVisionTransformer")
        ships = "; ".join(f"{', '.join(shipped_models(c))} ({c})" for c in known)
        got = f"name: got {os.fspath(name)!r}, expected a file"
        raise FileNotFoundError(f"{got}, or a model that ships: {ships}")
    content = path.read_bytes()  # at once, since another file may replace this one
    try:
        # sorted, since processes that handle the tensors together need the same order
        tensors = dict(sorted(load(content).items()))
        length = int.from_bytes(content[:8], "little")
        header = json.loads(content[8 : 8 + length])
        notes = header.get("__metadata__") or {}
        metadata = json.loads(notes.get("vit_steps", "null"))
    except (SafetensorError, KeyError, ValueError, RecursionError) as error:
        reason = f"damaged, or not a safetensors file ({error})"
        advice = "load_weights takes what torch.load reads from a pickle"
        raise ValueError(f"{path}: {reason}; {advice}") from error
    if not isinstance(metadata, dict):
        advice = "vit_steps.pretrained reads the weights of others"
        raise ValueError(f"{path}: not written by vit_steps; {advice}")
    return tensors, metadata


def class_of(metadata: Mapping[str, Any]) -> str | None:
    """Return the class of model in a checkpoint; None for a training run's state."""
    return metadata.get("class", "VisionTransformer") if "config" in metadata else None


def shipped_models(class_name: str = "VisionTransformer") -> tuple[str, ...]:
    """Return the names of the trained models of a class that ship with the package."""
    names = sorted(path.stem for path in SHIPPED.glob("*.safetensors"))
    return tuple(n for n in names if class_of(read_checkpoint(n)[1]) == class_name)


def load_model(model_class: type[Model], name: str | os.PathLike[str]) -> Model:
    """Load a model for ``from_pretrained``, which describes name and errors.

    The model is laid out on the meta device, where numbers take no room, and gets the
    tensors of the file once they are known to fit.
    """
    tensors, metadata = read_checkpoint(name)
    came = class_of(metadata)
    parents = {parent.__name__: parent for parent in model_class.__mro__}
    parent = parents.get(str(came))
    if getattr(parent, "config_class", None) is not model_class.config_class:
        holds = f"a model of class {came}" if came else "the state of a training"
        raise ValueError(
            f"name: got {os.fspath(name)!r}, which holds {holds}, expected a "
            f"{model_class.__name__} that save_pretrained wrote"
        )
    try:
        config = model_class.config_class(**metadata["config"])
        # An older file may lack fields that variants have added, with defaults.
        base: Any = parents["VisionTransformer"]
        needed = {field.name for field in fields(base.config_class)}
        missing = needed - metadata["config"].keys()
        if missing:
            raise ValueError(f"config: got no {', '.join(missing)}")
        if config.depth > len(tensors):
            raise ValueError(f"depth: got {config.depth} with {len(tensors)} tensors")
        stated = [metadata.get(name) or () for name in ("mean", "std", "classes")]
        preprocessing = Preprocessing(*stated) if stated[0] else None
        if preprocessing:
            preprocessing.check_fits(config.in_channels, config.num_classes)
        with torch.device("meta"):
            model = model_class(config)
    except (ValueError, TypeError, ArithmeticError, RuntimeError) as error:
        raise ValueError(f"{name}: its metadata fit no model: {error}") from error
    weights = fitted(name, tensors, model.state_dict())
    model.load_state_dict(weights, assign=True)
    model.preprocessing = preprocessing
    return model.eval()


def save_model(
    model: "VisionTransformer",
    path: str | os.PathLike[str],
    dtype: torch.dtype,
    card: Mapping[str, Any],
) -> None:
    """Write a model for ``save_pretrained``, which describes arguments and errors."""
    if dtype not in FLOATS:
        raise ValueError(f"dtype: got {dtype}, expected one of {FLOATS}")
    own = {"class": type(model).__name__, "config": asdict(model.config)}
    prepared = asdict(model.preprocessing) if model.preprocessing else {}
    for key in card.keys() & {*own, "mean", "std", "classes"}:
        raise ValueError(f"card: got {key!r}, expected other names than the model's")
    weights = {name: tensor.to(dtype) for name, tensor in model.state_dict().items()}
    check_finite(weights, f"model in {dtype}")
    write_checkpoint(path, weights, own | prepared | dict(card))


def check_finite(tensors: Mapping[str, Tensor], source: str) -> None:
    """Raise ValueError, with the name of the source, if a number is NaN or infinite."""
    for name, tensor in tensors.items():
        if tensor.is_meta or tensor.layout != torch.strided:
            got = f"{name!r} is sparse, or on the device meta"
            raise ValueError(f"{source}: {got}, expected a dense tensor of numbers")
        if not tensor.isfinite().all():
            raise ValueError(f"{source}: got numbers in {name!r} that are not finite")


def fitted(
    source: str | os.PathLike[str],
    tensors: Mapping[str, Tensor],
    expected: Mapping[str, Tensor],
    unlimited: Container[str] = (),
) -> dict[str, Tensor]:
    """Return the tensors in the dtypes of ``expected``, which may hold no numbers.

    Tensors whose names are in ``unlimited`` may hold infinite numbers.

    Raises: ValueError if a tensor is missing, unknown, misshapen, of another kind of
        number, or not finite.
    """

    def described(tensor: Tensor | None) -> str:
        if tensor is None:
            return "nothing"
        kind = "floats" if tensor.dtype in FLOATS else tensor.dtype
        return f"{kind} {tuple(tensor.shape)}"

    for name in sorted(tensors.keys() | expected.keys()):
        got, right = described(tensors.get(name)), described(expected.get(name))
        if got != right:
            raise ValueError(f"{source}: got {got} for {name!r}, expected {right}")
    converted = {name: t.to(expected[name].dtype) for name, t in tensors.items()}
    limited = {name: t for name, t in converted.items() if name not in unlimited}
    check_finite(limited, str(source))
    return converted


def check_digest(path: Path, expected: str, advice: str) -> None:
    """Raise ValueError with the advice unless the file has this sha256."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != expected:
        raise ValueError(
            f"{path.name}: got sha256 {digest}, expected {expected}; {advice}"
        )
