"""The memory and the time of a training run, computed before it starts.

Both are counted from ``config.cost()``. Not counted are the memory of the libraries
themselves, and tensors that are freed during a step's backward pass.
"""

import math
from dataclasses import dataclass

from vit_steps.sizes import check_count, check_number
from vit_steps.vision_transformer import ViTConfig


@dataclass(frozen=True)
class Accelerator:
    """A device, as its data sheet describes it."""

    flops: float  # in a second at most, in bfloat16; a multiply-accumulate is two
    memory: float  # bytes


ACCELERATORS = {
    # half of a chip: a chip has two cores, 123 TFLOP/s and 32 GiB
    "TPU v3 core": Accelerator(61.5e12, 16 * 2**30),
    "A100": Accelerator(312e12, 80e9),
    "H100": Accelerator(989e12, 80e9),
}


@dataclass(frozen=True)
class TrainingMemory:
    """The bytes that one device holds in a step of training."""

    weights: float  # in float32, and in bfloat16 a second time under autocast
    gradients: float  # one number for each parameter, in float32
    optimizer: float  # AdamW's two averages for each parameter, in float32
    activations: float  # what the forward pass keeps for the backward pass

    @property
    def total(self) -> float:
        return self.weights + self.gradients + self.optimizer + self.activations


def activation_bytes(
    config: ViTConfig, checkpointing: bool = False, autocast: bool = True
) -> int:
    """Return the bytes of one image that the forward pass keeps for the backward pass.

    Each operation keeps what its gradient needs: a matrix product its input, a norm its
    input, attention q, k, v and its output, a GELU its input. Attention's T × T weights
    are not kept, since the fused kernel computes them again. Dropout, LayerScale and
    stochastic depth keep a little more, which is not counted.

    Under ``autocast`` matrices are multiplied in bfloat16. With ``checkpointing`` each
    block keeps only its input, and is computed again in the backward pass; at most,
    the inputs of all blocks and the activations of one block are held at a time.
    """
    steps = {step.name: step for step in config.cost().steps}
    T, D = steps["norm1"].shape
    M, L, h = steps["mlp.fc1"].shape[1], config.depth, config.num_heads
    low = 2 if autocast else 4  # bytes of a number in a matrix product
    norm = 4 * T * D + 2 * 4 * T  # input; mean and deviation of each token
    attention = low * T * D + low * 4 * T * D + 4 * h * T  # input; q k v out; row sums
    mlp = low * T * D + low * 2 * T * M  # input; GELU's input and output
    block = 2 * norm + attention + mlp
    images = low * math.prod(steps["image"].shape)
    # in float32 the head reads a view, which keeps the tokens of all patches alive
    head = low * D if autocast else 4 * T * D
    blocks = L * 4 * T * D + block if checkpointing else L * block
    return images + blocks + norm + head


def training_memory(
    config: ViTConfig,
    batch_size: int,
    num_devices: int = 1,
    sharded: bool = False,
    checkpointing: bool = False,
    autocast: bool = True,
) -> TrainingMemory:
    """Return the bytes on each of the devices that train a Vision Transformer together.

    Args:
        batch_size: B, images on one device, not on all.
        sharded: weights, gradients and the optimiser's averages are split over the
            devices (FSDP), instead of being the same on all.
        checkpointing, autocast: as in ``activation_bytes``.

    Raises: ValueError if a count is below 1.
    """
    check_count(batch_size, "batch_size")
    check_count(num_devices, "num_devices")
    parameters = config.cost().parameters
    own = parameters / (num_devices if sharded else 1)
    return TrainingMemory(
        weights=4 * own + (2 * parameters if autocast else 0),
        gradients=4 * own,
        optimizer=8 * own,
        activations=batch_size * activation_bytes(config, checkpointing, autocast),
    )


def training_flops(config: ViTConfig, checkpointing: bool = False) -> int:
    """Return the FLOPs of a forward and a backward pass for one image.

    For each product of the forward pass, the backward pass has two: one for the
    gradient of the input and one for that of the weights. With ``checkpointing`` the
    blocks compute their forward pass again, except for its last product, which no
    gradient needs.
    """
    macs = {step.name: step.total_macs for step in config.cost().steps}
    forward = sum(macs.values())
    again = forward - macs["patch_embed.proj"] - macs["mlp.fc2"] - macs["head"]
    return 2 * (3 * forward + (again if checkpointing else 0))


def training_seconds(
    config: ViTConfig,
    num_images: float,
    accelerator: Accelerator,
    num_devices: int = 1,
    utilization: float = 0.4,
    checkpointing: bool = False,
) -> float:
    """Return the seconds that it takes to train on ``num_images`` images.

    Args:
        num_images: counted once for each epoch.
        utilization: the share of ``accelerator.flops`` that is reached; 0.3 to 0.5 in
            good programs.

    Raises: ValueError if a number is out of range.
    """
    check_count(num_devices, "num_devices")
    check_number(num_images, "num_images", above=0)
    check_number(utilization, "utilization", above=0, most=1)
    speed = num_devices * accelerator.flops * utilization
    return num_images * training_flops(config, checkpointing) / speed
