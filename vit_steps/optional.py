"""Packages that only parts of the book need: imported there, or asked for by name.

Each function raises ImportError, with the pip line, if its package is not installed.
"""

import warnings
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

# Brings whatever training, photographs, pictures and comparisons need, but d2l.
INSTALL = 'pip install "vit_steps[book] @ git+https://github.com/vit-steps/vit-steps"'
INSTALL_D2L = "pip install --no-deps d2l==1.0.3"


def torchvision() -> ModuleType:
    """torchvision, for its models, transforms and data sets."""
    return imported("torchvision")


def timm() -> ModuleType:
    """timm, PyTorch Image Models."""
    return imported("timm")


def transformers() -> ModuleType:
    """Hugging Face's transformers, without its notes and progress bars."""
    module = imported("transformers")
    module.logging.set_verbosity_error()
    module.logging.disable_progress_bar()
    return module


def d2l() -> ModuleType:
    """The PyTorch half of d2l, Dive into Deep Learning's package. Figures stay PNG."""
    module = imported("d2l.torch", INSTALL_D2L)
    vars(module)["use_svg_display"] = lambda: None
    return module


def not_installed(*names: str) -> str:
    """A sentence that names what is missing, with the line that brings it."""
    are = "is" if len(names) == 1 else "are"
    listed = ", ".join(name.partition(".")[0] for name in names)
    return f"{listed} {are} not installed: {INSTALL}"


def check_installed(*names: str) -> None:
    """Raise ImportError, which names all that are missing, if one cannot be found."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise ImportError(not_installed(*missing))


def imported(name: str, pip_line: str = INSTALL) -> ModuleType:
    """Any other package or module, with the line that installs it."""
    missing = name.split(".")[0]
    try:
        with warnings.catch_warnings():
            # tqdm's, in a notebook without widgets
            warnings.filterwarnings("ignore", "IProgress not found")
            return import_module(name)
    except ModuleNotFoundError as error:
        if error.name in (missing, name):
            raise ImportError(f"{missing} is not installed: {pip_line}") from error
        raise ImportError(
            f"{missing} needs {error.name}: pip install {error.name}"
        ) from error
    except RuntimeError as error:  # operator torchvision::nms does not exist
        if "torchvision" not in str(error):
            raise
        raise ImportError(
            f"torchvision was built for another PyTorch than the one beside it ({error}"
            "); take both from one place, without a GPU with pip install "
            "--force-reinstall torch torchvision --index-url "
            "https://download.pytorch.org/whl/cpu"
        ) from error
