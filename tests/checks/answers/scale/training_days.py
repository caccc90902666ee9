import torch

from tests.checks.answers import right, wrong


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


def days_with(flops=6, seconds=86_400, devices=1, share=1):
    def days(macs, num_images, peak_flops, num_devices, utilization):
        speed = peak_flops * num_devices**devices * utilization**share
        return flops * macs * num_images / speed / seconds

    return days


for mistake, answer in {
    "MACs for FLOPs": days_with(flops=3),
    "forward alone": days_with(flops=2),
    "forward MACs alone": days_with(flops=1),
    "backward once": days_with(flops=4),
    "forward twice": days_with(flops=8),
    "seconds": days_with(seconds=1),
    "hours": days_with(seconds=3600),
    "utilization ignored": days_with(share=0),
    "utilization multiplied": days_with(share=-1),
    "devices ignored": days_with(devices=0),
    "devices multiplied": days_with(devices=-1),
}.items():
    answer.__name__ = f"days_{mistake.replace(' ', '_')}"
    wrong("training_days", mistake)(answer)


@wrong("training_days", "type")
def days_in_words(macs, num_images, peak_flops, num_devices, utilization):
    days = 6 * macs * num_images / (peak_flops * num_devices * utilization) / 86_400
    return f"{days:.1f} days"
