"""Imports of packages that only parts of vit_steps need.

Each function raises ImportError, with the pip line, if its package is not installed.
"""

import warnings
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

REPOSITORY = "git+https://github.com/vit-steps/vit-steps"
# Installs all that training, photographs, figures and comparisons need, except d2l.
INSTALL = f'pip install "vit_steps[book] @ {REPOSITORY}"'
# Installs what only the book needs: vit_check, vit_book, a part of Fashion-MNIST.
INSTALL_BOOK = f'pip install "{REPOSITORY}#subdirectory=book/distribution"'
INSTALL_D2L = "pip install --no-deps d2l==1.0.3"


def torchvision() -> ModuleType:
    """Import torchvision, for its models, transforms and data sets."""
    return imported("torchvision")


def timm() -> ModuleType:
    """Import timm, PyTorch Image Models."""
    return imported("timm")


def transformers() -> ModuleType:
    """Import Hugging Face's transformers, set to log errors alone and show no bars."""
    module = imported("transformers")
    module.logging.set_verbosity_error()
    module.logging.disable_progress_bar()
    return module


def d2l() -> ModuleType:
    """Import the PyTorch half of d2l, Dive into Deep Learning. Figures stay PNG."""
    module = imported("d2l.torch", INSTALL_D2L)
    vars(module)["use_svg_display"] = lambda: None
    return module


def check_installed(*names: str) -> None:
    """Raise ImportError, with the names of all that are missing, if there are any."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        are = "is" if len(missing) == 1 else "are"
        raise ImportError(f"{', '.join(missing)} {are} not installed: {INSTALL}")


def imported(name: str, pip_line: str = INSTALL) -> ModuleType:
    """Import a package or module that may be missing; ImportError has the pip line."""
    package = name.split(".")[0]
    try:
        with warnings.catch_warnings():
            # tqdm warns in a notebook without widgets, where its bar is plain text
            warnings.filterwarnings("ignore", "IProgress not found")
            return import_module(name)
    except ModuleNotFoundError as error:
        reason = f"{package} needs {error.name}: pip install {error.name}"
        if error.name in (package, name):
            reason = f"{package} is not installed: {pip_line}"
        raise ImportError(reason) from error
    except RuntimeError as error:  # "operator torchvision::nms does not exist"
        if "torchvision" not in str(error):
            raise
        reason = f"torchvision was built for another PyTorch ({error})"
        cure = "pip install --force-reinstall torch torchvision"
        raise ImportError(f"{reason}; {cure}") from error
