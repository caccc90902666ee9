"""Packages that only parts of the book need: imported there, or asked for by name.

Each function raises ImportError, with the pip line, if its package is not installed.
"""

import warnings
from importlib import import_module
from types import ModuleType

# What is imported under another name than it is installed by.
INSTALLED_AS = {"PIL": "pillow", "skimage": "scikit-image", "sklearn": "scikit-learn"}


def torchvision() -> ModuleType:
    """torchvision, for its models, transforms and data sets."""
    return imported("torchvision", "pip install torchvision")


def timm() -> ModuleType:
    """timm, PyTorch Image Models."""
    pip_line = "pip install --no-deps timm huggingface_hub safetensors pyyaml"
    return imported("timm", pip_line)


def transformers() -> ModuleType:
    """Hugging Face's transformers, without its notes and progress bars."""
    module = imported("transformers", "pip install transformers")
    module.logging.set_verbosity_error()
    module.logging.disable_progress_bar()
    return module


def d2l() -> ModuleType:
    """The PyTorch half of d2l, Dive into Deep Learning's package. Figures stay PNG."""
    module = imported("d2l.torch", "pip install --no-deps d2l==1.0.3")
    vars(module)["use_svg_display"] = lambda: None
    return module


def pip_line(error: ModuleNotFoundError) -> str:
    """The line that installs what an import did not find."""
    package = (error.name or "").split(".")[0]
    return f"pip install {INSTALLED_AS.get(package, package)}"


def imported(name: str, pip_line: str) -> ModuleType:
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
            f"torchvision was built for another torch than the one beside it ({error}):"
            " install the two from one place, or see the README"
        ) from error
