from tests.checks.answers import right, wrong
from vit_steps import training_cost


@right("training_bytes")
def bytes_of_four_kinds(num_parameters, num_devices, sharded, autocast):
    own = num_parameters // num_devices if sharded else num_parameters
    weights = 4 * own
    if autocast:
        weights += 2 * num_parameters
    return {"weights": weights, "gradients": 4 * own, "optimizer": 8 * own}


@right("training_bytes")
def bytes_in_a_tuple(num_parameters, num_devices, sharded, autocast):
    own = num_parameters / (num_devices if sharded else 1)
    return 4 * own + 2 * num_parameters * autocast, 4 * own, 2 * 4 * own


@right("training_bytes")
def bytes_as_the_package(num_parameters, num_devices, sharded, autocast):
    own = num_parameters / num_devices**sharded
    return training_cost.TrainingMemory(
        4 * own + (2 * num_parameters if autocast else 0), 4 * own, 8 * own, 0.0
    )


def bytes_with(weights=None, gradients=None, optimizer=None, own=None):
    """Return an answer that is right except for the parts given here.

    Each of these parts is a function of (parameters, own, autocast).
    """

    def count(num_parameters, num_devices, sharded, autocast):
        mine = num_parameters / (num_devices if sharded else 1)
        if own is not None:
            mine = own(num_parameters, num_devices, sharded)
        given = num_parameters, mine, autocast
        return {
            "weights": weights(*given)
            if weights
            else 4 * mine + 2 * num_parameters * autocast,
            "gradients": gradients(*given) if gradients else 4 * mine,
            "optimizer": optimizer(*given) if optimizer else 8 * mine,
        }

    return count


for mistake, answer in {
    "one average": bytes_with(optimizer=lambda P, own, low: 4 * own),
    "averages and weights": bytes_with(optimizer=lambda P, own, low: 12 * own),
    "bfloat16 instead": bytes_with(weights=lambda P, own, low: (2 if low else 4) * own),
    "gradients in bfloat16": bytes_with(
        gradients=lambda P, own, low: own * (2 if low else 4)
    ),
    "no copy": bytes_with(weights=lambda P, own, low: own * 4),
    "copy sharded": bytes_with(weights=lambda P, own, low: own * (6 if low else 4)),
    "always split": bytes_with(own=lambda P, n, sharded: P / n),
    "never split": bytes_with(own=lambda P, n, sharded: P),
    "optimiser alone split": bytes_with(
        weights=lambda P, own, low: P * (6 if low else 4),
        gradients=lambda P, own, low: 4 * P,
    ),
    "always a copy": bytes_with(weights=lambda P, own, low: 4 * own + 2 * P),
}.items():
    answer.__name__ = f"bytes_{mistake.replace(' ', '_')}"
    wrong("training_bytes", mistake)(answer)


@wrong("training_bytes", "missing")
def bytes_under_other_names(num_parameters, num_devices, sharded, autocast):
    return {"weight": 4 * num_parameters, "grads": 0, "optimizer": 0}


@wrong("training_bytes", "type")
def bytes_in_one_number(num_parameters, num_devices, sharded, autocast):
    return 16 * num_parameters
