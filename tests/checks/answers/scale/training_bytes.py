from tests.checks.answers import wrong_edits
from vit_steps import training_cost


@wrong_edits("""
one average: 8 * own -> 4 * own
bfloat16 instead: weights += 2 * num_parameters -> weights = 2 * own
gradients in bfloat16: "gradients": 4 * own -> "gradients": own * (2 if autocast else 4)
copy sharded: 2 * num_parameters -> 2 * own
as if: if sharded else num_parameters -> nothing
as if: // num_devices if sharded else num_parameters -> nothing
optimizer alone split: 4 * own -> 4 * num_parameters
missing: {"weights": weights, "gradients" -> {"weight": weights, "grads"
type: return -> return 16 * num_parameters; return
""")
def bytes_of_four_kinds(num_parameters, num_devices, sharded, autocast):
    own = num_parameters // num_devices if sharded else num_parameters
    weights = 4 * own
    if autocast:
        weights += 2 * num_parameters
    return {"weights": weights, "gradients": 4 * own, "optimizer": 8 * own}


def bytes_in_a_tuple(num_parameters, num_devices, sharded, autocast):
    own = num_parameters / (num_devices if sharded else 1)
    return 4 * own + 2 * num_parameters * autocast, 4 * own, 2 * 4 * own


def bytes_as_the_package(num_parameters, num_devices, sharded, autocast):
    own = num_parameters / num_devices**sharded
    return training_cost.TrainingMemory(
        4 * own + (2 * num_parameters if autocast else 0), 4 * own, 8 * own, 0.0
    )
