from collections.abc import Sequence
from typing import Any

from torch import Tensor

from vit_check.engine.functions import checked_by

TABLE = """
average_gradients(gradients, counts) -> the gradient of the whole batch
  [*float64(3, 4, 5)], [3, 5, 2]
  [*float64(3, 4, 5)], [6, 6, 6]
  [*float32(2, 7)], [24, 23]
  [*float64(4, 2, 3)], [3, 4, 0, 1]
  [math.nan * float64(3, 2), *float64(3, 3, 2)], [0, 2, 3, 1]
  [*float64(2, 3, 2), float64(3, 2).log()], [2, 3, 1]  # half of them are NaN
zero times NaN: if n > 0 -> nothing
    a process without an image sends NaN, and zero times NaN is NaN: leave it out
mean of means: n / total -> 1 / len(counts)
    the processes count alike, expected each by its number of images
weighed, not divided: n / total -> n
    each gradient is multiplied by its number of images, and nothing divides the sum
divided by processes: n / total -> n / len(counts)
    the weighed sum is divided by the number of processes, expected by that of images
sums over images: n / total -> 1 / total
    the gradients are taken for those of sums, expected for those of means
? One process had 24 images and the other 16. Which share of the whole mean is one
  image, and which share of its own process's mean was it?
? Multiply each by its number of images, add up those that had any, divide by all.
? sum(count * gradient for gradient, count in ... if count) / sum(counts).
"""


@checked_by(TABLE, gradients=False)
def average_gradients(gradients: Sequence[Tensor], counts: Sequence[int]) -> Any:
    there = [(g, n) for g, n in zip(gradients, counts, strict=True) if n > 0]
    total = sum(counts)
    return sum(n / total * g for g, n in there)
