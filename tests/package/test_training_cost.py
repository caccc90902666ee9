from dataclasses import replace
from functools import partial

import pytest
import torch
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

from vit_steps import VisionTransformer, ViTConfig
from vit_steps.training_cost import (
    ACCELERATORS,
    activation_bytes,
    training_flops,
    training_memory,
    training_seconds,
)

SMALL = ViTConfig(64, 8, num_classes=10, embed_dim=96, depth=4, num_heads=3)


def held_by_autograd(model, images, autocast):
    """Return the bytes that autograd keeps of a forward pass, without parameters."""
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = (storage.nbytes(), tensor)
        return tensor

    with (
        torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor),
        torch.autocast("cpu", torch.bfloat16, enabled=autocast),
    ):
        model(images)
    return sum(size for size, _ in kept.values())


@pytest.mark.parametrize("autocast", [False, True])
def test_activations_are_what_autograd_keeps(autocast):
    # with fewer tokens a CPU computes attention in bfloat16 without the fused kernel
    config = replace(SMALL, patch_size=2) if autocast else SMALL
    model = VisionTransformer(config)
    batch_size = 6
    held = held_by_autograd(model, torch.rand(batch_size, 3, 64, 64), autocast)
    memory = training_memory(config, batch_size, autocast=autocast)
    copies = memory.weights - 4 * config.cost().parameters
    # only matrices are copied, not biases, norms and positions
    expected = memory.activations + copies
    assert held == pytest.approx(expected, rel=5e-3 if autocast else 1e-9)


def test_with_checkpointing_a_block_keeps_its_input():
    model = VisionTransformer(SMALL)
    for block in model.blocks:
        block.forward = partial(checkpoint, block.forward, use_reentrant=False)
    held = held_by_autograd(model, torch.rand(6, 3, 64, 64), autocast=False)
    plain, of_one = (
        6 * activation_bytes(SMALL, checkpointing, autocast=False)
        for checkpointing in (False, True)
    )
    # while a block is computed again, it holds the memory of one more block
    block = 6 * (
        activation_bytes(replace(SMALL, depth=2), autocast=False)
        - activation_bytes(replace(SMALL, depth=1), autocast=False)
    )
    assert held == pytest.approx(of_one - block, rel=1e-9)
    assert of_one < plain / 2


def test_gradients_and_the_optimizers_averages():
    model = VisionTransformer(SMALL)
    optimizer = torch.optim.AdamW(model.parameters())
    F.cross_entropy(model(torch.rand(2, 3, 64, 64)), torch.tensor([1, 2])).backward()
    optimizer.step()
    memory = training_memory(SMALL, 2)
    gradients = sum(p.grad.nbytes for p in model.parameters())
    slots = [slot for state in optimizer.state.values() for slot in state.values()]
    averages = sum(slot.nbytes for slot in slots if slot.ndim)
    assert memory.gradients == gradients
    assert memory.optimizer == averages
    assert memory.total == sum(
        [memory.weights, gradients, averages, memory.activations]
    )


def test_sharding_splits_all_but_the_copies_and_activations():
    alone = training_memory(SMALL, 4, autocast=False)
    eight = training_memory(SMALL, 4, num_devices=8, sharded=True, autocast=False)
    assert eight.weights == alone.weights / 8
    assert eight.gradients == alone.gradients / 8
    assert eight.optimizer == alone.optimizer / 8
    assert eight.activations == alone.activations
    assert training_memory(SMALL, 4, num_devices=8, autocast=False) == alone


@pytest.mark.parametrize("checkpointing", [False, True])
def test_flops_are_what_a_counter_counts(checkpointing):
    model = VisionTransformer(SMALL)
    torch.nn.init.normal_(model.head.weight)
    if checkpointing:
        for block in model.blocks:
            block.forward = partial(checkpoint, block.forward, use_reentrant=False)
    with (
        FlopCounterMode(display=False) as counter,
        torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH),
    ):
        model(torch.rand(1, 3, 64, 64)).sum().backward()
    # images need no gradient, so one of the embedding's three products is left out
    assert counter.get_total_flops() == pytest.approx(
        training_flops(SMALL, checkpointing), rel=0.02
    )


def test_the_papers_arithmetic():
    """ExaFLOP of table 6 in arXiv 2010.11929: 303 million images, 7 or 14 epochs."""
    table = [
        (ViTConfig.base(patch_size=32), 7, 55),
        (ViTConfig.base(), 7, 224),
        (ViTConfig.large(patch_size=32), 7, 196),
        (ViTConfig.large(), 7, 783),
        (ViTConfig.large(), 14, 1567),
        (ViTConfig.huge(), 14, 4262),
    ]
    for config, epochs, exaflop in table:
        ours = epochs * 303e6 * training_flops(config) / 1e18
        assert ours == pytest.approx(exaflop, rel=0.025)


def test_seconds_are_flop_over_speed():
    config = ViTConfig.base()
    tpu = ACCELERATORS["TPU v3 core"]
    one = training_seconds(config, 1e6, tpu, utilization=0.5)
    assert one == pytest.approx(1e6 * training_flops(config) / (61.5e12 * 0.5))
    assert training_seconds(config, 1e6, tpu, 8, 0.5) == pytest.approx(one / 8)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"num_devices": 0}, "num_devices"),
        ({"utilization": 1.2}, "utilization"),
        ({"utilization": 0.0}, "utilization"),
        ({"num_images": 0}, "num_images"),
    ],
)
def test_wrong_numbers_are_refused(options, name):
    sizes = {"config": SMALL, "num_images": 10, "accelerator": ACCELERATORS["H100"]}
    with pytest.raises(ValueError, match=f"^{name}: got"):
        training_seconds(**sizes | options)
    with pytest.raises(ValueError, match="^batch_size: got"):
        training_memory(SMALL, 0)
