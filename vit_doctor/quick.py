"""Quick tests of a model that runs, returns the right shapes, and may still be wrong.

Each takes any classifier, (B, C, H, W) -> (B, K), and leaves it as it was. None names
the mistake, but each narrows down where it can be.
"""

import copy
import math
from collections import defaultdict
from collections.abc import Iterable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from vit_steps.evaluating import evaluating
from vit_steps.patch_embedding import patchify, unpatchify
from vit_steps.sizes import Size, check_count
from vit_steps.tensors import check_indices, check_tensor


def overfit_one_batch(
    model: nn.Module, images: Tensor, labels: Tensor, steps: int = 100, lr: float = 1e-3
) -> list[float]:
    """Return the losses of a copy of the model that learns a single batch by heart.

    The loss of a sound model goes to nearly 0. If it stays at ln K, or at the loss of a
    constant answer, the model does not tell the images apart: a part is not connected.

    Raises: ValueError if images or labels do not fit, or all parameters are frozen.
    """
    check_count(steps, "steps")
    model = copy.deepcopy(model).train()
    if not any(parameter.requires_grad for parameter in model.parameters()):
        raise ValueError("model: got only frozen parameters, expected some to train")
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.0)
    losses = []
    for _ in range(steps):
        logits = _logits(model, images)  # (B, K)
        check_tensor(logits, "logits", len(images), "K")
        check_indices(labels, "labels", len(images), count=logits.shape[1])
        loss = F.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def batch_effect(model: nn.Module, images: Tensor) -> float:
    """Return how far an image's logits move when it comes alone, not in the batch.

    It is the largest absolute difference, in evaluation mode. Rounding makes about
    1e-6; if it is larger, the model mixes samples, or two axes.

    Raises: ValueError if the images do not fit, or are fewer than two.
    """
    if len(images) == 1:
        raise ValueError("images: got 1, expected two or more")
    return _effect(model, images, (image[None] for image in images))


def repeat_effect(model: nn.Module, images: Tensor) -> float:
    """Return how far the logits move when the same images come again.

    Unless it is 0, something is still drawn at random in evaluation mode, such as a
    dropout that ignores ``eval()``, or the model keeps a part of what it was given.
    """
    return _effect(model, images, [images])


def order_effect(model: nn.Module, images: Tensor, patch_size: Size) -> float:
    """Return how far the logits move when the patches of every image change places.

    If it is about 1e-6, the model ignores where a patch is: its positions are not
    added, or not to the patches.
    """
    return _effect(model, images, [shuffle_patches(images, patch_size)])


def _effect(model: nn.Module, images: Tensor, batches: Iterable[Tensor]) -> float:
    """Return how far the logits of images move when other batches take their place.

    It is the largest absolute difference, in evaluation mode, and infinite if there are
    more or fewer logits than before.
    """
    with evaluating(model):
        before = _logits(model, images)  # (B, K)
        after = torch.cat([_logits(model, batch) for batch in batches])  # (B, K)
    if before.shape != after.shape:
        return math.inf
    return (before - after).abs().max().item()


def shuffle_patches(images: Tensor, patch_size: Size, seed: int = 0) -> Tensor:
    """Return images with their patches in another order, the same for all images.

    Shape: (B, C, H, W) -> (B, C, H, W)
    Raises: ValueError as ``patchify`` does.
    """
    patches = patchify(images, patch_size)  # (B, N, C·P·P)
    generator = torch.Generator().manual_seed(seed)
    order = torch.randperm(patches.shape[1], generator=generator).to(images.device)
    height, width = images.shape[-2:]
    return unpatchify(patches[:, order], patch_size, (height, width))


def silent_parameters(model: nn.Module, images: Tensor) -> list[str]:
    """Return the names of the parameters whose gradient is missing or zero.

    Such a parameter learns nothing: its layer is made but not called, or the path to it
    is cut. A head that starts at zero, as intended, silences everything before it; draw
    it at random first.

    Raises: ValueError if the images do not fit.
    """
    model = copy.deepcopy(model).eval().requires_grad_()
    logits = _logits(model, images)  # (B, K)
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
    """Return the names that stand for the same numbers, in groups of two or more.

    Blocks share their weights by mistake if their list was made as ``[block] * depth``,
    or if a copy copied only the reference.
    """
    names = defaultdict(list)
    for name, parameter in model.named_parameters(remove_duplicate=False):
        # Without memory, as on the meta device, there is no address to compare.
        names[parameter.data_ptr() or id(parameter)].append(name)
    return [group for group in names.values() if len(group) > 1]


def _logits(model: nn.Module, images: Tensor) -> Tensor:
    """Return a model's logits; ValueError if images do not fit, or it returns more."""
    check_tensor(images, "images", "B", "C", "H", "W")
    logits: Tensor = model(images)  # (B, K)
    check_tensor(logits, "logits", "...", "K", note=", returned alone")
    return logits
