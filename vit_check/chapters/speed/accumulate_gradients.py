import contextlib
import weakref
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.nn import functional as F

from vit_check.engine.drawing import Answer
from vit_check.engine.functions import checked_by


class _Held(list[Tensor]):
    """A tensor that is kept for a backward pass, of which weak references may tell."""


class _Model(nn.Module):
    """A linear layer that notes the sizes of its batches, and what it keeps of them."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight.clone())
        self.weight.grad = weight.flip(0, 1)
        self.sizes: list[int] = []
        self.kept: list[weakref.ref[_Held]] = []
        self.holds = False  # something of several parts, as soon as it does

    def forward(self, images: Tensor) -> Tensor:
        self.holds |= any(held() for held in self.kept)
        self.sizes.append(len(images))
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(RuntimeError):  # torch.func takes no hooks
                stack.enter_context(
                    saved_tensors_hooks(self.keep, lambda kept: kept[0])
                )
            return images.flatten(1) @ self.weight.T

    def keep(self, tensor: Tensor) -> _Held:
        held = _Held([tensor])
        self.kept.append(weakref.ref(held))
        return held


def _train_in_parts(
    accumulate: Answer, weight: Tensor, images: Tensor, labels: Tensor, num_parts: int
) -> dict[str, Any]:
    """Take two steps, each with gradients that an earlier step has left."""
    model = _Model(weight)
    steps: list[Any] = []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.25)
    optimizer.register_step_pre_hook(lambda *_: steps.append(None))
    found: dict[str, Any] = {}
    for which, x, y in zip(("first", "second"), images, labels, strict=True):
        before = model.weight.detach().clone()
        steps.clear()
        accumulate(model, x, y, optimizer, num_parts)
        moved = (before - model.weight.detach()) / 0.25
        found[f"the number of optimizer.step() in the {which} call"] = len(steps)
        found[f"the gradient that the {which} step followed"] = moved
    whole = max(model.sizes, default=0) == images.shape[1]
    many = len(model.sizes) > 2 * (num_parts + 1)  # the remainder is a part, too
    return found | {
        "the mode that the model is left in": "training" if model.training else "eval",
        "the whole batch in one forward pass": "there" if whole else "no",
        "more parts than were asked for": "there" if many else "no",
        "parts of which something is held at once": "several" if model.holds else "1",
    }


TABLE = """
accumulate_gradients(model, images, labels, optimizer, num_parts)
  0.5 * float64(4, 30), float64(2, 12, 2, 3, 5), below(4, 2, 12), 2
  0.5 * float64(4, 30), float64(2, 10, 2, 3, 5), below(4, 2, 10), 4
  0.5 * float64(4, 30), float64(2, 9, 2, 3, 5), below(4, 2, 9), 4
no step: optimizer.step() -> nothing
    the weights have not moved: there is no optimizer.step(), or no gradient for it
not divided: share * -> nothing
    the parts' mean losses are added up: each is to count for its share of the images
weighed alike: len(x) / len(images) -> 1 / num_parts
    each part counts the same, also the smaller last one, whose images then count more
step in each part: optimizer.step() -> nothing
  loss.backward() -> loss.backward(); optimizer.step()
    the optimizer takes a step in each part: the later parts see weights that have moved
cleared in each part: loss.backward() -> optimizer.zero_grad(); loss.backward()
    zero_grad is called in each part: only the gradient of the last part is left
never cleared: optimizer.zero_grad() -> nothing
    the gradients of the step before are still there when the next one begins
cleared at the end alone: optimizer.zero_grad() -> nothing
  optimizer.step() -> optimizer.step(); optimizer.zero_grad()
    the gradients are only cleared after the step: those that were there before go in
rest dropped: chunk(num_parts) -> split(len(images) // num_parts)[:num_parts]
  len(x) / len(images) -> 1 / num_parts
    the images at the end are left out when the batch does not divide
rest dropped, weighed by share
  chunk(num_parts) -> split(len(images) // num_parts)[:num_parts]
    the images that are left over when all parts are of one size are left out
one backward pass: optimizer.zero_grad() -> optimizer.zero_grad(); total = 0
  loss.backward() -> total = total + loss
  optimizer.step() -> total.backward(); optimizer.step()
    what several parts keep for backward() is held at once: call it inside the loop,
    once for each part, without retain_graph=True
parts of num_parts: chunk -> split
    num_parts is taken for the size of a part, as by split; chunk takes their number
? Write the loss of the whole batch, a sum over B images divided by B, and cut the sum
  into parts. By what is each part's mean multiplied?
? Clear once, then a forward and a backward pass for each part, then one step. A part of
  n images counts for n / B of its mean loss.
? for x, y in zip(images.chunk(num_parts), labels.chunk(num_parts)): loss =
  F.cross_entropy(model(x), y) * len(x) / len(images); loss.backward()
"""


@checked_by(TABLE, gradients=False, scenario=_train_in_parts)
def accumulate_gradients(
    model: nn.Module, images: Tensor, labels: Tensor, optimizer: Any, num_parts: int
) -> None:
    parts = zip(images.chunk(num_parts), labels.chunk(num_parts), strict=True)
    optimizer.zero_grad()
    for x, y in parts:
        share = len(x) / len(images)
        loss = share * F.cross_entropy(model(x), y)
        loss.backward()
    optimizer.step()
