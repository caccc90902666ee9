from typing import Any

from vit_check.engine.drawing import Answer
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.observing import as_number
from vit_steps.training import learning_rate as right_rate


def _rates(
    schedule: Answer, total_steps: int, warmup_steps: int, peak: float
) -> dict[str, Any]:
    """Return the learning rate at every step, and after the last."""
    rates = {}
    for step in range(total_steps + 1):
        where = "in" if step < warmup_steps else "after"
        what = f"the rate at step {step} of {total_steps}, {where} the {warmup_steps}"
        rate = schedule(step, total_steps, warmup_steps, peak)
        rates[f"{what} of warm-up,"] = as_number(rate)
    return rates


TABLE = """
learning_rate(step, total_steps, warmup_steps, peak) -> a float
  23, 5, 0.8
  17, 0, 0.3
  20, 12, 2.0  # the warm-up is longer than the fall
first step of 0: (step + 1) / (warmup_steps + 1) -> step / warmup_steps
    the warm-up starts at 0, expected at its first part, peak / (warmup_steps + 1)
a step behind: (step + 1) -> step
    the warm-up is a step behind: it starts at 0, expected at its first part
peak too soon: (warmup_steps + 1) -> warmup_steps
    the peak is reached in the last step of the warm-up, expected in the step after it
cosine since the start
  (step - warmup_steps) / max(1.0, total_steps - warmup_steps) -> step / total_steps
    the cosine counts from step 0, so that the rate drops when the warm-up ends
a step early: total_steps - warmup_steps -> total_steps - warmup_steps - 1
  min(1.0, progress) -> progress
    the rate is 0 in the last step already, expected when all steps are done
a straight line: (1 + math.cos(math.pi * min(1.0, progress))) / 2 -> (1 - progress)
    the rate falls along a straight line, expected half a cosine
a quarter of a cosine
  (1 + math.cos(math.pi * min(1.0, progress))) / 2 -> math.cos(math.pi * progress / 2)
    a quarter of a cosine is used, from 0 to π/2, expected half of one, from 0 to π
floor: peak * (1 + math.cos(math.pi * min(1.0, progress))) / 2
  -> peak * (0.01 + 0.99 * (1 + math.cos(math.pi * min(1.0, progress))) / 2)
    the rate ends at a hundredth of the peak, expected at 0
not halved: progress))) / 2 -> progress)))
    1 + cos runs from 2 down to 0: the rate jumps to twice its peak
? Look at four steps: the first, the last of the warm-up, the one after it, and the end.
  Which of them is not what the text says?
? The warm-up rises by peak/(warmup_steps + 1) in every step. Behind it the share of the
  fall that is done is (steps since the warm-up) / (steps that the fall has in all).
? peak * (step + 1) / (warmup_steps + 1), peak * (1 + math.cos(math.pi * progress)) / 2.
"""

learning_rate = FunctionCheck(right_rate, TABLE, scenario=_rates)
