"""Fork processes from one that has already imported what each of them needs.

``process.py`` starts this file as a script. It only makes imports that a notebook or a
training makes anyway. So a process finds no name and no random number that it would not
find if it had been started by itself.
"""

import faulthandler
import gc
import importlib
import json
import os
import runpy
import sys

import ipykernel.ipkernel
import ipykernel.kernelapp
import ipykernel.zmqshell
import matplotlib.backends.backend_agg
import matplotlib.pyplot
import numpy
import skimage.io
import sklearn.datasets
import sklearn.model_selection
import torch
import torch.distributed.fsdp

import vit_check
import vit_steps.data
import vit_steps.notebook
import vit_steps.training
from vit_steps import optional

optional.timm()  # imports the compiler, which trainings import first
importlib.import_module("torchvision.transforms.v2")  # augments the training images
assert ipykernel and matplotlib and skimage and sklearn and vit_check and vit_steps


def serve() -> dict:
    """Fork a process for each request; in that process, return the request.

    Print the id of each new process, or the exit code of one that has ended.
    """
    for line in sys.stdin:
        request = json.loads(line)
        if "ended" in request:
            _, status = os.waitpid(request["ended"], 0)
            print(os.waitstatus_to_exitcode(status), flush=True)
        elif child := os.fork():
            print(child, flush=True)
        else:
            return request
    sys.exit()


def run(
    module: str,
    arguments: list[str],
    folder: str,
    environment: dict[str, str],
    output: str,
) -> None:
    """Run a module as ``python -m module arguments`` does.

    Args:
        output: the file for its output.
    """
    os.setsid()
    for stream, path in enumerate((os.devnull, output, output)):
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, stream)
        os.close(opened)
    os.chdir(folder)
    sys.path[0] = folder
    os.environ.clear()
    os.environ.update(
        {k: v.replace("{parent}", PARENT) for k, v in environment.items()}
    )
    # PyTorch and Python read these variables only when they start.
    if threads := environment.get("OMP_NUM_THREADS"):
        torch.set_num_threads(int(threads))
    if environment.get("PYTHONFAULTHANDLER"):
        faulthandler.enable()
    numpy.random.seed()  # Python's random module reseeds itself in a fork
    torch.seed()
    sys.argv = [module, *(word.replace("{parent}", PARENT) for word in arguments)]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    gc.freeze()  # a collection in a fork would copy the memory shared with the server
    PARENT = str(os.getpid())
    run(**serve())
