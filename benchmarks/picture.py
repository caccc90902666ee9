"""Draw the results of a run."""

from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from vit_book import COLOURS


def picture(results: dict[str, Any]) -> Figure:
    """Draw, for each job, each rival's time divided by ours.

    A dot is the median of the ratios, the line through it its 95 % interval. The
    diamond is the floor: the model's matrix products alone.

    Args:
        results: as ``python -m benchmarks`` writes them.
    """
    jobs = results["jobs"]
    names = [row["name"] for row in max((job["rows"] for job in jobs), key=len)][::-1]
    down = -(-len(jobs) // 2)
    height = 0.8 + 0.17 * len(names)
    figure, axes = plt.subplots(
        down, 2, figsize=(6.4, down * height), sharey=True, squeeze=False
    )
    for ax in axes.flat[len(jobs) :]:
        ax.set_visible(False)
    for ax, job in zip(axes.flat, jobs, strict=False):
        ax.axvline(1, color=COLOURS["grey"], linewidth=1)
        for row in job["rows"]:
            is_floor = "same_function" not in row
            place = names.index(row["name"])
            colour = COLOURS["vermilion" if is_floor else "blue"]
            ax.plot([row["low"], row["high"]], [place, place], color=colour)
            ax.plot(row["ratio"], place, "D" if is_floor else "o", color=colour, ms=5)
        ax.set_yticks(range(len(names)), names, fontsize=8)
        ax.tick_params(axis="x", labelsize=8)
        ax.set_title(job["name"].replace(", ViT", ",\nViT"), fontsize=9)
    for ax in axes.flat[: len(jobs)][-2:]:  # the lowest of each column
        ax.set_xlabel("time / time of vit_steps")
    return figure
