"""Check of chapter 11: a batch in parts."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F

from vit_check.engine.check import Case
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


def _accumulate(
    model: nn.Module,
    images: Tensor,
    labels: Tensor,
    optimizer: torch.optim.Optimizer,
    num_parts: int,
    weigh: str = "share",
    clear: str = "before",
    step: str = "once",
    evenly: bool = False,
    skip: str = "",
    backward: str = "each",
    by_size: bool = False,
) -> None:
    """A step in parts with a place for each usual mistake."""
    B = len(images)
    cut: Callable[..., Any] = torch.tensor_split if evenly else torch.chunk
    if skip == "rest":
        whole = B // num_parts * num_parts
        images, labels = images[:whole], labels[:whole]
    if by_size:
        cut = torch.split
    parts = list(zip(cut(images, num_parts), cut(labels, num_parts), strict=True))
    if skip == "short":
        parts = [part for part in parts if len(part[0]) == len(parts[0][0])]
    if skip == "all but the last":
        parts = parts[-1:]
    if clear == "before":
        optimizer.zero_grad()
    waiting: list[Tensor] = []
    for x, y in parts:
        if clear == "each":
            optimizer.zero_grad()
        share = {
            "share": len(x) / B,
            "none": 1.0,
            "parts": 1 / num_parts,
            "images": 1 / B,
            "sum": float(len(x)),
            "part": 1 / len(x),
            "sum by parts": len(x) / num_parts,
            "twice": len(x) / B / num_parts,
        }[weigh]
        loss = share * F.cross_entropy(model(x), y)
        if backward == "each":
            loss.backward()
        waiting.append(loss)
        if step == "each":
            optimizer.step()
    if backward == "once":
        torch.stack(waiting).sum().backward()
    if backward == "last":
        waiting[-1].backward()
    if step == "once":
        optimizer.step()
    if clear == "after":
        optimizer.zero_grad()


def _one_pass(
    model: nn.Module, images: Tensor, labels: Tensor, optimizer: Any, num_parts: int
) -> None:
    optimizer.zero_grad()
    F.cross_entropy(model(images), labels).backward()
    optimizer.step()


def _accumulate_inputs(generator: Generator) -> Iterator[Case]:
    C, H, W, K = 2, 3, 5, 4
    for B, num_parts in ((12, 2), (10, 4), (9, 4)):
        weight = 0.5 * torch.randn(
            K, C * H * W, generator=generator, dtype=torch.float64
        )
        images = torch.randn(2, B, C, H, W, generator=generator, dtype=torch.float64)
        labels = torch.randint(K, (2, B), generator=generator)
        yield [weight, images, labels, num_parts]


def _train_in_parts(
    accumulate: Callable[..., Any],
    weight: Tensor,
    images: Tensor,
    labels: Tensor,
    num_parts: int,
) -> dict[str, Any]:
    """Two steps; what an earlier one has left in the gradients is there before both."""
    K, numbers = weight.shape
    with torch.random.fork_rng(devices=[]):
        layer = nn.Linear(numbers, K, bias=False, dtype=weight.dtype)
    model = nn.Sequential(nn.Flatten(), layer)
    layer.weight.data = weight.clone()
    layer.weight.grad = weight.flip(0, 1)
    sizes: list[int] = []
    waiting = [0]  # forward passes that no backward pass has followed, after each

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
    many = len(sizes) > 2 * (num_parts + 1)  # one more, for a rest, in each step
    return found | {
        "the whole batch in one forward pass": "there" if whole else "no",
        "more parts than were asked for": "there" if many else "no",
        "parts that wait for one backward pass": "several" if max(waiting) > 1 else "1",
    }


accumulate_gradients = FunctionCheck(
    "accumulate_gradients",
    "accumulate_gradients(model, images, labels, optimizer, num_parts)",
    _accumulate,
    _accumulate_inputs,
    [
        Mistake(
            "no step",
            "the weights have not moved: there is no optimizer.step(), or no gradient "
            "when it is called",
            lambda *given: None,
        ),
        Mistake(
            "not divided",
            "the mean losses of the parts are added up, so the gradient is as many "
            "times too long as there are parts",
            partial(_accumulate, weigh="none"),
        ),
        Mistake(
            "weighed alike",
            "each part counts the same, but the last one is smaller: its images then "
            "count for more than the others",
            partial(_accumulate, weigh="parts"),
        ),
        Mistake(
            "two sizes weighed alike",
            "each part counts the same, but they are of two sizes: an image of a "
            "smaller part then counts for more than the others",
            partial(_accumulate, weigh="parts", evenly=True),
        ),
        Mistake(
            "divided by the images",
            "a part's mean loss is divided by the number of images: a mean has been "
            "divided once already",
            partial(_accumulate, weigh="images"),
        ),
        Mistake(
            "summed over images",
            "the losses of all images are summed and never divided: the gradient is B "
            "times too long",
            partial(_accumulate, weigh="sum"),
        ),
        Mistake(
            "summed, divided by parts",
            "the losses are summed over the images and divided by the number of parts; "
            "the whole batch divides by the number of images",
            partial(_accumulate, weigh="sum by parts"),
        ),
        Mistake(
            "divided by the part",
            "a part's mean loss is divided by the part's size once more",
            partial(_accumulate, weigh="part"),
        ),
        Mistake(
            "divided twice",
            "each part counts for its share of the images, and is divided by the "
            "number of parts besides",
            partial(_accumulate, weigh="twice"),
        ),
        Mistake(
            "step in each part",
            "the optimiser takes a step in each part: the later parts see weights that "
            "have moved",
            partial(_accumulate, step="each"),
        ),
        Mistake(
            "small steps",
            "zero_grad and step are called in each part: that is training with a "
            "smaller batch",
            partial(_accumulate, step="each", clear="each", weigh="none"),
        ),
        Mistake(
            "small steps, divided",
            "zero_grad and step are called in each part: that is training with a "
            "smaller batch, and a smaller learning rate",
            partial(_accumulate, step="each", clear="each"),
        ),
        Mistake(
            "cleared in each part",
            "zero_grad is called in each part, so that the gradient of the last part "
            "alone is left",
            partial(_accumulate, clear="each"),
        ),
        Mistake(
            "cleared, not divided",
            "zero_grad is called in each part, so that the last part's gradient alone "
            "is left",
            partial(_accumulate, clear="each", weigh="none"),
        ),
        Mistake(
            "never cleared",
            "the gradients of the step before are still there when the next one begins",
            partial(_accumulate, clear="never"),
        ),
        Mistake(
            "cleared at the end alone",
            "the gradients are only cleared after the step: those of an earlier step "
            "that are there when the function is called go into it",
            partial(_accumulate, clear="after"),
        ),
        Mistake(
            "short part dropped",
            "the images of the shorter part at the end are left out",
            partial(_accumulate, skip="short"),
        ),
        Mistake(
            "rest dropped",
            "the images at the end are left out when the batch does not divide",
            partial(_accumulate, skip="rest", weigh="parts"),
        ),
        Mistake(
            "rest dropped, weighed by share",
            "the images that are left over when all parts are of one size are left out",
            partial(_accumulate, skip="rest"),
        ),
        Mistake(
            "one backward pass",
            "one backward pass follows all the forward passes: what every part keeps "
            "for it is held at once, as if the batch had not been cut",
            partial(_accumulate, backward="once"),
        ),
        Mistake(
            "backward after the loop",
            "backward is called once, after the loop, where loss is that of the last "
            "part alone",
            partial(_accumulate, backward="last"),
        ),
        Mistake(
            "backward after the loop, not weighed",
            "backward is called once, after the loop, where loss is the last part's "
            "mean alone",
            partial(_accumulate, backward="last", weigh="none"),
        ),
        Mistake(
            "parts of num_parts",
            "there are more parts than were asked for: split takes the size of a part, "
            "chunk the number of parts",
            partial(_accumulate, by_size=True),
        ),
        Mistake(
            "whole batch at once",
            "the whole batch goes through the model in one forward pass, which is what "
            "the parts are to avoid",
            _one_pass,
        ),
    ],
    hints=(
        "Write the loss of the whole batch, a sum over B images divided by B, and cut "
        "the sum into parts. By what is each part's mean multiplied?",
        "Clear once, then a forward and a backward pass for each part, then one step. "
        "A part of n images counts for n / B of its mean loss.",
        "for x, y in zip(images.chunk(num_parts), labels.chunk(num_parts)): loss = "
        "F.cross_entropy(model(x), y) * len(x) / len(images); loss.backward()",
    ),
    gradients=False,
    scenario=_train_in_parts,
)
