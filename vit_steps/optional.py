"""Packages that only parts of the book need: imported there, or asked for by name."""

import warnings
from importlib import import_module
from types import ModuleType


def torchvision() -> ModuleType:
    """torchvision, for its models, transforms and data sets.

    Raises:
        ImportError: if it is not installed, or was built for another torch; says what
            to do.
    """
    try:
        _import("torchvision", "pip install torchvision")
    except RuntimeError as error:  # operator torchvision::nms does not exist
        raise ImportError(
            "torchvision is there, but was built for another torch than the one beside "
            f"it ({error}): install the two from one place, or see the README"
        ) from error
    return import_module("torchvision")


def timm() -> ModuleType:
    """timm, PyTorch Image Models.

    Raises:
        ImportError: if it is not installed; says the pip line.
    """
    torchvision()
    _import("timm", "pip install --no-deps timm huggingface_hub safetensors pyyaml")
    return import_module("timm")


def transformers() -> ModuleType:
    """Hugging Face's transformers, without its notes and progress bars.

    Raises:
        ImportError: if it is not installed; says the pip line.
    """
    torchvision()
    _import("transformers", "pip install transformers")
    module = import_module("transformers")
    module.logging.set_verbosity_error()
    module.logging.disable_progress_bar()
    return module


def d2l() -> ModuleType:
    """The PyTorch half of d2l, Dive into Deep Learning's package. Figures stay PNG.

    Raises:
        ImportError: if it is not installed; says the pip line.
    """
    torchvision()
    _import("d2l.torch", "pip install --no-deps d2l==1.0.3")
    module = import_module("d2l.torch")
    vars(module)["use_svg_display"] = lambda: None
    return module


def _import(name: str, pip_line: str) -> None:
    try:
        with warnings.catch_warnings():
            # tqdm's, in a notebook without widgets
            warnings.filterwarnings("ignore", "IProgress not found")
            import_module(name)
    except ModuleNotFoundError as error:
        missing = name.split(".")[0]
        if error.name in (missing, name):
            raise ImportError(f"{missing} is not installed: {pip_line}") from error
        raise ImportError(
            f"{missing} needs {error.name}: pip install {error.name}"
        ) from error
