"""Time several tasks in turn, and give an interval for the ratio of their times.

A machine's speed drifts: it warms up, and other programs come and go. So the rivals run
one after the other within a round (A B C, B C A, C A B, ...), and a ratio is taken
within each round, in which both met the same conditions. The rounds go on until the
interval of the median ratio is narrow or the time is up.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

LEAST_ROUNDS = 7


@dataclass(frozen=True)
class Ratio:
    """The median of the ratios within rounds, and its 95 % interval."""

    median: float
    low: float
    high: float


def measure(
    tasks: Mapping[str, Callable[[], object]],
    reference: str,
    seconds: float,
    narrow: float = 0.03,
) -> dict[str, list[float]]:
    """Return the seconds of each task in each round.

    Args:
        tasks: the functions to time, by name; each is run once before, to warm up.
        reference: the task by whose time the others are divided.
        seconds: the time after which no round begins.
        narrow: the width of the ratios' intervals at which the rounds end.
    """
    for task in tasks.values():
        task()
    times: dict[str, list[float]] = {name: [] for name in tasks}
    names = list(tasks)
    started = time.perf_counter()
    rounds = 0
    while rounds < LEAST_ROUNDS or time.perf_counter() - started < seconds:
        first = rounds % len(names)
        for name in names[first:] + names[:first]:
            before = time.perf_counter()
            tasks[name]()
            times[name].append(time.perf_counter() - before)
        rounds += 1
        if rounds >= LEAST_ROUNDS:
            ratios = [ratio(times[name], times[reference]) for name in names]
            if all(one.high - one.low < narrow for one in ratios):
                break
    return times


def ratio(times: list[float], reference: list[float]) -> Ratio:
    """Return the median of times / reference over the rounds, with its interval.

    The interval is that of the sign test: the two ratios, counted from both ends,
    between which the true median lies with 95 % probability. It assumes nothing about
    the distribution of the ratios.
    """
    ratios = np.sort(np.divide(times, reference))
    n = len(ratios)
    outside = max(int(binom.ppf(0.025, n, 0.5)) - 1, 0)
    median = float(np.median(ratios))
    return Ratio(median, float(ratios[outside]), float(ratios[n - 1 - outside]))
