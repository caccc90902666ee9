"""Fork processes from one that has imported PyTorch and the like for all of them.

``process.py`` starts it as a script. It does nothing but import what a notebook or a
training imports anyway, so that a forked process behaves as one started by itself.
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

import vit_book
import vit_check
import vit_steps.data
import vit_steps.notebook
import vit_steps.training
from vit_steps import optional

optional.timm()  # imports PyTorch's compiler, as training does first
importlib.import_module("torchvision.transforms.v2")  # augments the training images
assert ipykernel and matplotlib and skimage and sklearn
assert vit_book and vit_check and vit_steps


def serve() -> dict:
    """Fork a process for each request and return the request in that process.

    Requests are lines on the standard input. The answer to each is a printed line: the
    number of the new process, or the exit code of a process that has ended.
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
    """Run a module in this process, as ``python -m module arguments`` does.

    Args:
        output: the file to which the process prints.
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
    if threads := environment.get("OMP_NUM_THREADS"):  # PyTorch has read it already
        torch.set_num_threads(int(threads))
    if environment.get("PYTHONFAULTHANDLER"):
        faulthandler.enable()
    numpy.random.seed()  # every process draws its own numbers; Python's do by itself
    torch.seed()
    sys.argv = [module, *(word.replace("{parent}", PARENT) for word in arguments)]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    gc.freeze()  # else a collection would copy the memory that forks share
    PARENT = str(os.getpid())
    run(**serve())
