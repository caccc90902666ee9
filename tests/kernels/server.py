"""Forks kernels for notebooks from one process that has imported what all of them do.

Started as a script, by ``forked.py``. Only imports are made here, and they are those
that a notebook makes anyway: a kernel finds no name and no number that it would not
find if it had been started by Jupyter.
"""

import gc
import json
import os
import signal
import sys

import ipykernel.ipkernel
import ipykernel.kernelapp
import ipykernel.zmqshell
import matplotlib.backends.backend_agg
import matplotlib.pyplot
import numpy
import skimage.io
import sklearn.datasets
import torch

import vit_check
import vit_steps.data
import vit_steps.notebook
from vit_steps import optional

optional.timm()  # with torchvision, and the compiler that trainings begin with
assert ipykernel and matplotlib and skimage and sklearn and vit_check and vit_steps
gc.freeze()  # a collection in a kernel would copy what it shares with the others


def serve() -> dict:
    """Fork a kernel for each request; in the kernel's process, return the request."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them here
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            return json.loads(line)
        print(child, flush=True)
    sys.exit()


def become_kernel(connection: str, folder: str, environment: dict[str, str]) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    server = str(os.getppid())  # the kernel ends when it does
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    os.close(nothing)
    os.chdir(folder)
    del sys.path[0]  # the folder of this script
    os.environ.clear()
    os.environ.update(environment, JPY_PARENT_PID=server)
    numpy.random.seed()  # Python's own numbers are seeded anew in any fork
    torch.seed()
    sys.argv = ["ipykernel_launcher", "-f", connection]
    sys.argv += ["--IPKernelApp.parent_handle", server]
    ipykernel.kernelapp.launch_new_instance()


if __name__ == "__main__":
    become_kernel(**serve())
