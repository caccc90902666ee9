from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from vit_check.engine.drawing import Answer
from vit_check.engine.functions import checked_by


def _train_in_parts(
    accumulate: Answer, weight: Tensor, images: Tensor, labels: Tensor, num_parts: int
) -> dict[str, Any]:
    """Take two steps, each with gradients that an earlier step has left."""
    K, numbers = weight.shape
    with torch.random.fork_rng(devices=[]):
        layer = nn.Linear(numbers, K, bias=False, dtype=weight.dtype)
    model = nn.Sequential(nn.Flatten(), layer)
    layer.weight.data = weight.clone()
    layer.weight.grad = weight.flip(0, 1)
    sizes: list[int] = []
    waiting = [0]  # number of forward passes without a backward pass, pass by pass

    def note_forward(_: nn.Module, given: tuple[Tensor, ...]) -> None:
        sizes.append(len(given[0]))
        waiting.append(waiting[-1] + torch.is_grad_enabled())

    model.register_forward_pre_hook(note_forward)
    layer.weight.register_hook(lambda _: waiting.append(0))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.25)
    found: dict[str, Any] = {}
    for which, x, y in zip(("first", "second"), images, labels, strict=True):
        before = layer.weight.detach().clone()
        waiting.append(0)
        accumulate(model, x, y, optimizer, num_parts)
        moved = (before - layer.weight.detach()) / 0.25
        found[f"the gradient that the {which} step followed"] = moved
    whole = max(sizes, default=0) == images.shape[1]
    many = len(sizes) > 2 * (num_parts + 1)  # the remainder is a part, too
    return found | {
        "the whole batch in one forward pass": "there" if whole else "no",
        "more parts than were asked for": "there" if many else "no",
        "parts that wait for one backward pass": "several" if max(waiting) > 1 else "1",
    }


TABLE = """
accumulate_gradients(model, images, labels, optimizer, num_parts)
  0.5 * float64(4, 30), float64(2, 12, 2, 3, 5), below(4, 2, 12), 2
  0.5 * float64(4, 30), float64(2, 10, 2, 3, 5), below(4, 2, 10), 4
  0.5 * float64(4, 30), float64(2, 9, 2, 3, 5), below(4, 2, 9), 4
no step: optimizer.step() -> nothing
    the weights have not moved: there is no optimizer.step(), or no gradient for it
not divided: share * -> nothing
    the mean losses of the parts are added up, so the gradient is as many times too long
    as there are parts
weighed alike: len(x) / len(images) -> 1 / num_parts
    each part counts the same, but the last one is smaller: its images then count for
    more than the others
step in each part: optimizer.step() -> nothing
  loss.backward() -> loss.backward(); optimizer.step()
    the optimiser takes a step in each part: the later parts see weights that have moved
cleared in each part: loss.backward() -> optimizer.zero_grad(); loss.backward()
    zero_grad is called in each part: only the gradient of the last part is left
never cleared: optimizer.zero_grad() -> nothing
    the gradients of the step before are still there when the next one begins
cleared at the end alone: optimizer.zero_grad() -> nothing
  optimizer.step() -> optimizer.step(); optimizer.zero_grad()
    the gradients are only cleared after the step: those of an earlier step that are
    there when the function is called go into it
rest dropped: chunk(num_parts) -> split(len(images) // num_parts)[:num_parts]
  len(x) / len(images) -> 1 / num_parts
    the images at the end are left out when the batch does not divide
rest dropped, weighed by share
  chunk(num_parts) -> split(len(images) // num_parts)[:num_parts]
    the images that are left over when all parts are of one size are left out
one backward pass: optimizer.zero_grad() -> optimizer.zero_grad(); total = 0
  loss.backward() -> total = total + loss
  optimizer.step() -> total.backward(); optimizer.step()
    one backward pass follows all the forward passes: what every part keeps for it is
    held at once, as if the batch had not been cut
parts of num_parts: chunk -> split
    there are more parts than were asked for: split takes the size of a part, chunk the
    number of parts
whole batch at once: chunk(num_parts) -> chunk(1)
    the whole batch goes through in one forward pass, which the parts are to avoid
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
