"""Quick tests for a model that runs, has the right shapes, and may still be wrong.

Each takes any classifier, (B, C, H, W) -> (B, K), whoever wrote it, and leaves it as it
was. None says what is wrong; each halves the places where it can be.
"""

import copy
import math
from collections import defaultdict

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from vit_steps.patch_embedding import patchify, unpatchify
from vit_steps.sizes import Size


def overfit_one_batch(
    model: nn.Module, images: Tensor, labels: Tensor, steps: int = 100, lr: float = 1e-3
) -> list[float]:
    """Losses of a copy of the model that learns a single batch by heart.

    A sound model goes to nearly 0. One that stays at ln K, or at the loss of a constant
    answer, cannot tell the images apart: something is not connected.

    Raises: ValueError if images and labels are not equally many.
    """
    if len(images) != len(labels):
        raise ValueError(
            f"labels: got {len(labels)}, expected one for each of {len(images)} images"
        )
    model = copy.deepcopy(model).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.0)
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def batch_effect(model: nn.Module, images: Tensor) -> float:
    """How far an image's logits move when it comes alone instead of in the batch.

    The largest absolute difference, in eval mode. Rounding is about 1e-6; more says
    that samples are mixed, or that two axes are.

    Raises: ValueError if there are fewer than two images.
    """
    if len(images) < 2:
        raise ValueError(f"images: got {len(images)}, expected two or more")
    together = _logits(model, images)  # (B, K)
    alone = torch.cat([_logits(model, image[None]) for image in images])  # (B, K)
    if together.shape != alone.shape:
        return math.inf
    return (together - alone).abs().max().item()


def repeat_effect(model: nn.Module, images: Tensor) -> float:
    """How far the logits move when the same images come again, in eval mode.

    Anything but 0 says that something is still drawn at random, such as a dropout that
    does not listen to ``eval()``, or that the model keeps what it saw.
    """
    return (_logits(model, images) - _logits(model, images)).abs().max().item()


def order_effect(model: nn.Module, images: Tensor, patch_size: Size) -> float:
    """How far the logits move when the patches of every image change places.

    About 1e-6 says that the model does not know where a patch was: its positions are
    not added, or not to the patches.
    """
    shuffled = shuffle_patches(images, patch_size)  # (B, C, H, W)
    return (_logits(model, images) - _logits(model, shuffled)).abs().max().item()


def shuffle_patches(images: Tensor, patch_size: Size, seed: int = 0) -> Tensor:
    """The images with their patches in another order, the same for all.

    Shape: (B, C, H, W) -> (B, C, H, W)
    Raises: ValueError as ``patchify`` does.
    """
    patches = patchify(images, patch_size)  # (B, N, C·P·P)
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(patches.shape[1], generator=generator).to(images.device)
    height, width = images.shape[-2:]
    return unpatchify(patches[:, order], patch_size, (height, width))


def silent_parameters(model: nn.Module, images: Tensor) -> list[str]:
    """Names of the parameters whose gradient is missing or zero.

    Such a parameter learns nothing: its layer is made but not called, or the way to it
    is cut. Zeros that are meant, such as a head that starts at zero, silence everything
    before them; draw them at random first.
    """
    model = copy.deepcopy(model).eval().requires_grad_()
    logits = model(images)  # (B, K)
    generator = torch.Generator().manual_seed(0)
    pull = torch.randn(logits.shape, generator=generator).to(logits)  # (B, K)
    names, parameters = zip(*model.named_parameters(), strict=True)
    pulled = (logits * pull).sum()
    gradients = torch.autograd.grad(pulled, parameters, allow_unused=True)
    return [
        name
        for name, gradient in zip(names, gradients, strict=True)
        if gradient is None or not gradient.any()
    ]


def shared_parameters(model: nn.Module) -> list[list[str]]:
    """Names that stand for the same numbers, in groups of two or more.

    Blocks that were to have weights of their own share them where a list was made as
    ``[block] * depth``, or where a copy copied the reference alone.
    """
    names = defaultdict(list)
    for name, parameter in model.named_parameters(remove_duplicate=False):
        names[parameter.data_ptr()].append(name)
    return [group for group in names.values() if len(group) > 1]


def _logits(model: nn.Module, images: Tensor) -> Tensor:
    """In eval mode, without gradients; the model's own mode is put back."""
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            logits: Tensor = model(images)  # (B, K)
    finally:
        for module, mode in modes.items():
            module.training = mode
    return logits
