import torch

from tests.checks.answers import wrong_edits


@wrong_edits("""
MACs for FLOPs: 2 * macs -> macs
forward alone: forward + backward -> forward
backward once: 2 * forward -> forward
hours: 24 * 60 * 60 -> 60 * 60
as if: * utilization -> nothing
utilization multiplied: * utilization -> / utilization
as if: * num_devices -> nothing
type: return (forward -> return f"{(forward
  60 * 60) -> 60 * 60):.1f} days"
""")
def days_step_by_step(macs, num_images, peak_flops, num_devices, utilization):
    forward = 2 * macs
    backward = 2 * forward
    speed = peak_flops * utilization * num_devices
    return (forward + backward) * num_images / speed / (24 * 60 * 60)


@wrong_edits("""
value: macs / 14_400 -> macs
  / utilization -> nothing
value: macs / 14_400 -> macs
  / utilization -> / utilization**3
""")
def days_as_a_fraction(macs, num_images, peak_flops, num_devices, utilization):
    return macs / 14_400 * num_images / peak_flops / num_devices / utilization


def days_in_a_tensor(macs, num_images, peak_flops, num_devices, utilization):
    flops = torch.tensor(6.0 * macs * num_images, dtype=torch.float64)
    return (flops / (num_devices * peak_flops * utilization) / 86400).item()
