from vit_check.engine.functions import checked_by
from vit_check.engine.observing import as_float

TABLE = """
training_days(macs, num_images, peak_flops, num_devices, utilization) -> days
  whole(1000, 20_000) * 10**6, whole(30, 60) * 1e9, 312e12, 1, 1.0
  whole(1000, 20_000) * 10**6, whole(30, 60) * 1e9, 312e12, 1, 0.4
  whole(1000, 20_000) * 10**6, whole(30, 60) * 1e9, 312e12, 8, 0.35
MACs for FLOPs: 6 * macs -> 3 * macs
    a multiply-accumulate is counted as one operation, expected as two
forward alone: 6 * macs -> 2 * macs
    the forward pass alone is counted; the backward pass makes two products for each
backward once: 6 * macs -> 4 * macs
    two passes are counted; the backward pass makes two products for each of the forward
    pass, for the input's gradient and the weight's, so there are three
hours: 86_400 -> 3600
    the result is in hours, expected days
utilization multiplied: * utilization -> / utilization
    a lower utilization makes the training shorter, expected longer
? How many FLOPs does it take to learn from an image whose forward pass is so many MACs?
? Two FLOPs for a multiply-accumulate, three passes for a step. Divide what all images
  take by what all devices reach in a second, then by the seconds of a day.
? 6 * macs * num_images / (num_devices * peak_flops * utilization) / 86_400
"""


@checked_by(TABLE, normalize=as_float)
def training_days(
    macs: int, num_images: float, peak: float, num_devices: int, utilization: float
) -> float:
    speed = peak * num_devices * utilization
    return 6 * macs * num_images / speed / 86_400
