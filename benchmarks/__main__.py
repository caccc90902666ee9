"""Measure all rivals, write the numbers and draw them.

    make bench                                   everything; about half an hour
    python -m benchmarks --seconds 20 --only "batch 1"
    python -m benchmarks --device cuda           the jobs of a GPU; ten minutes

The numbers are written to vit_book/measured/benchmarks.json, those of a GPU to
benchmarks-gpu.json beside it, which the book reads, and a picture of them to
_build/benchmarks.png.
"""

import argparse
import json
import os
import platform
import subprocess
from datetime import date
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import matplotlib
import torch

import vit_book
from benchmarks.floor import matrix_products
from benchmarks.footprint import import_times, in_a_process
from benchmarks.jobs import Job, jobs
from benchmarks.picture import picture
from benchmarks.rivals import (
    BUILDERS,
    OURS,
    available,
    gives_our_logits,
    versions,
)
from benchmarks.roof import roof
from benchmarks.rounds import measure, ratio
from vit_book.results import FOLDER
from vit_steps.sizes import as_pair

PICTURE = Path("_build/benchmarks.png")
FLOOR = "matrix products alone"
FEW = [OURS, "timm", "torchvision"]  # the rivals of a compiled job, which takes long


def machine() -> dict[str, Any]:
    """Return a description of the machine on which the numbers were measured."""
    described: dict[str, Any] = {
        "system": platform.system(),
        "cpu": _cpu_name(),
        "threads": torch.get_num_threads(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "instructions": torch.backends.cpu.get_cpu_capability(),
    }
    return described


def _cpu_name() -> str:
    if platform.system() == "Linux":
        listed = subprocess.run(["lscpu"], capture_output=True, text=True).stdout
        for line in listed.splitlines():
            if line.startswith("Model name"):
                return " ".join(line.split(":", 1)[1].split())
    return platform.processor() or platform.machine()


def run_job(job: Job, names: list[str], seconds: float) -> dict[str, Any]:
    """Time all rivals in one setting, and the floor below them."""
    models = available(names, job.config)
    with torch.no_grad():
        size = as_pair(job.config.image_size, "image_size")
        images = torch.rand(2, 3, *size)
    same = {
        name: gives_our_logits(model, models[OURS], images)
        for name, model in models.items()
    }
    tasks = {name: job.task(model) for name, model in models.items()}
    if not job.training:
        dtype = torch.bfloat16 if job.autocast else torch.float32
        products = matrix_products(job.config, job.batch_size, job.device, dtype)
        tasks[FLOOR] = partial(job.to_the_end, products)
    times = measure(tasks, OURS, seconds)
    rows = []
    for name, of_name in times.items():
        row: dict[str, Any] = {"name": name, "median_ms": 1e3 * median(of_name)}
        quarter = quantiles(of_name, n=4)
        row["spread_ms"] = 1e3 * (quarter[2] - quarter[0])
        one = ratio(of_name, times[OURS])
        row |= {"ratio": one.median, "low": one.low, "high": one.high}
        if name in models:
            row["same_function"] = same[name]
            if job.device == "cuda":
                row["peak_mib"] = job.peak_gpu_bytes(tasks[name]) / 2**20
            row["parameters"] = sum(p.numel() for p in models[name].parameters())
        if FLOOR in times:
            row["over_floor"] = ratio(of_name, times[FLOOR]).median
        rows.append(
            {k: round(v, 4) if isinstance(v, float) else v for k, v in row.items()}
        )
    rounds = len(times[OURS])
    print(f"\n{job.name}: {rounds} rounds")
    for row in sorted(rows, key=lambda row: row["median_ms"]):
        line = f"  {row['name']:<24}{row['median_ms']:>9.1f} ms   x {row['ratio']:.3f}"
        line += f"  ({row['low']:.3f} to {row['high']:.3f})"
        print(line + (f"  floor x {row['over_floor']:.2f}" if FLOOR in times else ""))
    return {"name": job.name, "rounds": rounds, "rows": rows}


def memory_of(job_index: int, names: list[str]) -> dict[str, Any]:
    """Return the peak memory of each rival in one job, each in a process of its own."""
    measured = {n: in_a_process("memory", n, job_index) for n in names}
    mebibytes = {n: round(b / 2**20, 1) for n, b in measured.items() if b is not None}
    job = jobs("cpu")[job_index]
    print(f"\npeak memory beyond the model, {job.name}")
    for name, size in sorted(mebibytes.items(), key=lambda item: item[1]):
        print(f"  {name:<24}{size:>9.1f} MiB")
    return {"name": job.name, "mebibytes": mebibytes}


def results_of(device: str, only: str, seconds: float) -> dict[str, Any]:
    """Run the jobs of a device whose names contain a text."""
    on_gpu = device == "cuda"
    chosen = [(i, job) for i, job in enumerate(jobs(device)) if only in job.name]
    results: dict[str, Any] = {
        "made": {
            "command": "make bench",
            "seconds": seconds,
            "date": date.today().isoformat(),
            "machine": machine(),
            "versions": versions(),
        }
    }
    if on_gpu:
        results["roof"] = roof()
    names = list(BUILDERS)
    results["jobs"] = [
        run_job(job, FEW if job.compiled else names, seconds) for _, job in chosen
    ]
    if not only and not on_gpu:
        results["memory"] = [memory_of(i, names) for i, _ in chosen]
        results["import_seconds"] = import_times()
        for name, duration in results["import_seconds"].items():
            print(f"import {name:<16}{duration:.2f} s")
    return results


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("--seconds", type=float, default=240, help="at most, a job")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--only", default="", help="jobs whose name contains this")
    options = parser.parse_args()
    results = results_of(options.device, options.only, options.seconds)
    if not options.only:
        name = "benchmarks-gpu" if options.device == "cuda" else "benchmarks"
        path = FOLDER / f"{name}.json"
        path.write_text(json.dumps(results, indent=1) + os.linesep, encoding="utf-8")
        print(f"written: {path}")
    PICTURE.parent.mkdir(exist_ok=True)
    matplotlib.use("Agg")
    vit_book.use_book_style()
    picture(results).savefig(PICTURE)
    print(f"drawn: {PICTURE}")


if __name__ == "__main__":
    main()
