import torch

from tests.checks.answers import right, wrong, wrong_edits


@right("training_days")
def days_step_by_step(macs, num_images, peak_flops, num_devices, utilization):
    forward = 2 * macs
    backward = 2 * forward
    speed = peak_flops * utilization * num_devices
    return (forward + backward) * num_images / speed / (24 * 60 * 60)


@right("training_days")
def days_as_a_fraction(macs, num_images, peak_flops, num_devices, utilization):
    return macs / 14_400 * num_images / peak_flops / num_devices / utilization


@right("training_days")
def days_in_a_tensor(macs, num_images, peak_flops, num_devices, utilization):
    flops = torch.tensor(6.0 * macs * num_images, dtype=torch.float64)
    return (flops / (num_devices * peak_flops * utilization) / 86400).item()


@wrong("training_days", "type")
def days_in_words(macs, num_images, peak_flops, num_devices, utilization):
    days = 6 * macs * num_images / (peak_flops * num_devices * utilization) / 86_400
    return f"{days:.1f} days"


OF_DAYS_STEP_BY_STEP = """
MACs for FLOPs
  2 * macs -> macs
forward alone
  forward + backward -> forward
forward MACs alone
  2 * macs -> macs
  forward + backward -> forward
backward once
  2 * forward -> forward
forward twice
  forward + backward -> 2 * forward + backward
seconds
  / (24 * 60 * 60) -> nothing
hours
  24 * 60 * 60 -> 60 * 60
no effect
  * utilization -> nothing
utilization multiplied
  * utilization -> / utilization
no effect
  * num_devices -> nothing
devices multiplied
  * num_devices -> / num_devices
"""

wrong_edits("training_days", days_step_by_step, OF_DAYS_STEP_BY_STEP)
