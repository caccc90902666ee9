"""Measure memory and import time, each in a process of its own.

    python -m benchmarks.footprint memory "timm" 1
    python -m benchmarks.footprint import timm

It prints one number: bytes, or seconds.
"""

import ctypes
import gc
import importlib
import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

ROUNDS = 5
IMPORTS = {
    "torch alone": "torch",
    "vit_steps": "vit_steps",
    "timm": "timm",
    "torchvision": "torchvision",
    "transformers": "transformers.models.vit.modeling_vit",
    "vit-pytorch": "vit_pytorch.vit",
    "d2l": "d2l.torch",
}


def import_seconds(name: str) -> float:
    """Return the seconds of an import in a fresh process, without those of torch."""
    started = time.perf_counter()
    importlib.import_module("torch")
    torch_seconds = time.perf_counter() - started
    if name == "torch alone":
        return torch_seconds
    if name != "vit_steps":
        from vit_steps.optional import torchvision

        started = time.perf_counter()
        torchvision()  # every rival imports it, so its time counts
    else:
        started = time.perf_counter()
    importlib.import_module(IMPORTS[name])
    return time.perf_counter() - started


def peak_bytes(rival: str, job_index: int) -> int:
    """Return a job's peak memory on the CPU, minus what the process held before."""
    from benchmarks.jobs import jobs
    from benchmarks.rivals import available

    job = jobs("cpu")[job_index]
    task = job.task(available([rival], job.config)[rival])
    gc.collect()
    # What building the model freed would be used again, and not be seen in the peak.
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
    held = _resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    for _ in range(3):
        task()
    return _resident("VmHWM") - held


def _resident(field: str) -> int:
    """Return a field of Linux's status of this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return 1024 * int(line.split()[1])
    raise RuntimeError(f"/proc/self/status has no {field}")


def in_a_process(*arguments: object) -> float | None:
    """Return the number that this file prints when run with the arguments.

    Return None if that run fails.
    """
    command = [sys.executable, "-m", "benchmarks.footprint", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"left out: {arguments}: {done.stderr.strip().splitlines()[-1]}")
        return None
    return float(json.loads(done.stdout.splitlines()[-1]))


def import_times() -> dict[str, float]:
    """Return the median seconds for each package, over rounds through all packages."""
    times: dict[str, list[float]] = {name: [] for name in IMPORTS}
    for _ in range(ROUNDS):
        for name in list(times):
            seconds = in_a_process("import", name)
            if seconds is None:
                del times[name]
            else:
                times[name].append(seconds)
    return {name: median(of_name) for name, of_name in times.items()}


if __name__ == "__main__":
    kind, name, *rest = sys.argv[1:]
    print(import_seconds(name) if kind == "import" else peak_bytes(name, int(rest[0])))
