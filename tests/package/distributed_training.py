"""A training run that torchrun starts in each process, for the tests.

python -m tests.package.distributed_training FOLDER alone|spread|shard|again ...

Several kinds run one after the other; "again" continues from the file of "shard".
"""

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import torch
from safetensors.torch import save_file
from torch.utils.data import TensorDataset

from tests.package.small_training import QUICK, small_vit, stripes
from vit_steps.distributed import (
    process_rank,
    processes,
    shard,
    train_together,
    world_size,
)
from vit_steps.training_state import whole

SHARDED = ("shard", "again")
COUNT = 25  # the last batch of 8 has one image, fewer than there are processes


def doubled(data):
    """Return the images in float64, so that rounding does not hide a mistake."""
    images, labels = data.train.tensors
    data = TensorDataset(images.double(), labels)
    return SimpleNamespace(train=data, validation=data)


def first(data, count):
    """Return the first images of the training part, and the whole validation part."""
    train = TensorDataset(*data.train[:count])
    return SimpleNamespace(train=train, validation=data.validation)


def gradients(model, data, count):
    """Return the gradients of a run's only step, averaged over the processes."""
    config = replace(QUICK, epochs=1, clip_norm=None)
    train_together(model, first(data, count), config, progress=False)
    return {n: whole(p.grad).clone() for n, p in model.named_parameters()}


def is_refused(model, data):
    """Return whether all processes stop before a step that the last one cannot take.

    If only the last one stopped, the others would wait for its gradients for ever.
    """
    before = {n: whole(p.detach()).clone() for n, p in model.named_parameters()}
    few = first(data, 4)
    if process_rank() == world_size() - 1:
        images, labels = few.train.tensors
        few.train = TensorDataset(images * torch.inf, labels)
    try:
        train_together(model, few, QUICK, progress=False)
    except FloatingPointError:
        after = {n: whole(p.detach()) for n, p in model.named_parameters()}
        return all(torch.equal(after[name], before[name]) for name in before)
    return False


def write_results(folder, kind, data):
    """Write gradients, weights and losses, which the test compares."""
    found = {}
    for count in (8, 1):  # two processes get four images each, then one and none
        model = small_vit().double()
        torch.nn.init.normal_(model.head.weight)
        if kind in SHARDED:
            shard(model)
        found |= {
            f"gradient {count} {name}": gradient
            for name, gradient in gradients(model, data, count).items()
        }
    model = small_vit().double()
    if kind in SHARDED:
        shard(model)
    config = replace(QUICK, clip_norm=0.5)
    state = folder / f"{'shard' if kind == 'again' else kind}-state.safetensors"
    history = train_together(model, data, config, state, resume=True, progress=False)
    found |= {n: whole(tensor) for n, tensor in model.state_dict().items()}
    found["train loss"] = torch.tensor(history.train_loss, dtype=torch.float64)
    refused = torch.tensor(float(is_refused(model, data)))
    if world_size() > 1:
        torch.distributed.all_reduce(refused)
    found["share that refuses"] = (refused / world_size()).double()
    if process_rank() == 0:
        save_file(found, folder / f"{kind}.safetensors")


if __name__ == "__main__":
    torch.set_num_threads(1)
    data = doubled(stripes(COUNT))
    with processes():
        for kind in sys.argv[2:]:
            write_results(Path(sys.argv[1]), kind, data)
