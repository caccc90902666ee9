"""Other people's implementations, to compare with, where they are installed."""

import sys
import warnings
from importlib import import_module
from types import ModuleType

import torch

_declared_operators = None  # torch forgets the operators when their Library object goes


def torchvision() -> ModuleType:
    """torchvision with its models, even where its compiled part does not load.

    That happens beside a CPU-only torch. All of torchvision that is Python works once
    the two operators it looks up at import are declared; ``torchvision.ops.nms`` and
    image decoding stay unavailable.

    Raises:
        ImportError: if torchvision is not installed; says the pip line.
    """
    global _declared_operators
    try:
        _import("torchvision", "pip install torchvision")
    except RuntimeError:  # operator torchvision::nms does not exist
        for name in list(sys.modules):
            if name.split(".")[0] == "torchvision":
                del sys.modules[name]
        _declared_operators = torch.library.Library("torchvision", "DEF")
        for operator in ("nms", "qnms"):
            _declared_operators.define(
                f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
            )
        _import("torchvision", "pip install torchvision")
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
