from vit_check.engine.functions import checked_by
from vit_check.engine.observing import as_float, by_names

TABLE = """
training_bytes(num_parameters, num_devices, sharded, autocast) -> dict of weights,
    gradients, optimizer
  60 * whole(1000, 9000), 1, False, False
  60 * whole(1000, 9000), 1, False, True
  60 * whole(1000, 9000), 4, False, False
  60 * whole(1000, 9000), 4, True, False
  60 * whole(1000, 9000), 5, True, True
  60 * whole(1000, 9000), 3, False, True
one average: 8 * own -> 4 * own
    the optimizer's bytes are those of one average, expected of AdamW's two
bfloat16 instead: 4 * own + copy -> (2 if autocast else 4) * own
    under autocast the weights are counted in bfloat16 alone, expected in float32, too
gradients in bfloat16: copy, 4 * own -> copy, (2 if autocast else 4) * own
    under autocast the gradients are counted in bfloat16, expected in float32
copy sharded: 2 * num_parameters -> 2 * own
    the bfloat16 weights are split over the devices, expected whole on each
optimizer alone split: 4 * own -> 4 * num_parameters
    the optimizer's averages alone are split, expected weights and gradients too
? Which numbers are there for one parameter when a step ends, each of how many bytes?
? In float32: the weight 4, its gradient 4, AdamW's two averages 8. Autocast adds 2 for
  the weight in bfloat16 and changes nothing else. Sharding divides all but that one.
? own = num_parameters / num_devices if sharded else num_parameters; weights are 4 *
  own, and 2 * num_parameters more under autocast.
"""


@checked_by(
    TABLE, normalize=by_names("weights", "gradients", "optimizer", each=as_float)
)
def training_bytes(
    num_parameters: int, num_devices: int, sharded: bool, autocast: bool
) -> dict[str, float]:
    own = num_parameters / num_devices if sharded else num_parameters
    copy = 2 * num_parameters if autocast else 0
    weights, gradients, averages = 4 * own + copy, 4 * own, 8 * own
    return {"weights": weights, "gradients": gradients, "optimizer": averages}
