from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F

from vit_check.engine.drawing import Answer, normal
from vit_check.engine.findings import Trouble
from vit_check.engine.functions import checked_by
from vit_check.engine.observing import as_number, parameters_of


class _Network(nn.Module):
    """A model of two linear layers with a norm that depends on the mode.

    In training mode alone it subtracts the mean of the batch, as a batch norm does.
    PyTorch's own would start all processors for its few numbers.
    """

    def __init__(self, weights: list[Tensor]) -> None:
        super().__init__()
        own = (nn.Parameter(weight.clone()) for weight in weights)
        self.first, self.scale, self.shift, self.last = own

    def forward(self, images: Tensor) -> Tensor:
        hidden = images.flatten(1) @ self.first.T  # (B, hidden)
        if self.training:
            hidden = hidden - hidden.mean(dim=0)
        return (hidden * self.scale + self.shift).tanh() @ self.last.T  # (B, K)


def _steps(
    step: Answer,
    weights: list[Tensor],
    images: list[Tensor],
    labels: list[Tensor],
    kind: str,
    lr: float,
    clip_norm: float,
) -> dict[str, Any]:
    """Take steps on one batch after the other; return their outputs and the weights.

    Gradients of an earlier step are there when the first one begins.
    """
    model = _Network(weights)
    for parameter in model.parameters():
        parameter.grad = 0.3 * parameter.detach().flip(0)
    groups = [{"params": [w]} for w in model.parameters()]  # more than one, of several
    groups[0]["params"] += groups.pop(1)["params"]
    optimizer = getattr(torch.optim, kind)(groups, lr=lr)
    calls = _listen(model, optimizer)
    run = _as_it_takes_them(step, clip_norm)
    seen: dict[str, Any] = {}
    for number, (x, y) in enumerate(zip(images, labels, strict=True), start=1):
        calls.clear()
        before = [w.detach().clone() for w in model.parameters()]
        try:
            loss = run(model, optimizer, x, y)
        except RuntimeError as error:
            if "modified by an inplace operation" not in str(error):
                raise
            said = "the weights change between the forward pass and backward(), which "
            said += "then finds others than it needs: the step comes too soon"
            raise Trouble("weights changed too soon", said) from None
        attached = isinstance(loss, Tensor) and loss.requires_grad
        seen[f"the loss of step {number}"] = as_number(loss)
        seen["the loss returned"] = "with its graph" if attached else "a number alone"
        after = [w.detach().clone() for w in model.parameters()]
        moved = any(not torch.equal(a, b) for a, b in zip(after, before, strict=True))
        stepped = any(call.startswith("step") for call in calls)
        if not moved and not stepped:
            said = f"the weights do not change in step {number}: no step() is called"
            raise Trouble("no step", said)
        if not stepped:
            said = "the weights change, but not by the optimizer that is passed in: "
            said += "one made anew in each step forgets averages and learning rate"
            raise Trouble("another optimizer", said)
        done = "backward, step" if moved else f"nothing ({', '.join(calls)})"
        seen[f"what moved the weights in step {number}"] = done
        seen[f"weights after step {number}"] = after
    return seen


def _listen(model: nn.Module, optimizer: torch.optim.Optimizer) -> list[str]:
    """Return a list that fills up as gradients arrive and steps are taken."""
    calls: list[str] = []

    def arrived(_: Tensor) -> None:
        if calls[-1:] != ["backward"]:
            calls.append("backward")

    def stepping(*_: Any) -> None:
        there = any(w.grad is not None and w.grad.any() for w in model.parameters())
        calls.append("step" if there else "step without a gradient")

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(arrived)
    optimizer.register_step_pre_hook(stepping)
    return calls


def _as_it_takes_them(step: Answer, clip_norm: float) -> Answer:
    """Return the step as a function of model, optimizer, images and labels.

    It may take the optimizer last, and the limit by its name or as the fifth.
    """
    parameters = parameters_of(step)
    last = len(parameters) > 3 and parameters[3].name.startswith("opt")
    named = any(p.kind is p.VAR_KEYWORD or p.name == "clip_norm" for p in parameters)

    def run(model: Any, optimizer: Any, *batch: Tensor) -> Any:
        given = (model, *batch, optimizer) if last else (model, optimizer, *batch)
        by_name = named or not parameters
        return step(*given, clip_norm=clip_norm) if by_name else step(*given, clip_norm)

    return run


def _batches(generator: Generator) -> list[Any]:
    """Return a model's weights, and images and labels of three batches."""
    draw = partial(normal, generator, dtype=torch.float32)
    weights = [draw(5, 6), 1 + 0.3 * draw(5), 0.3 * draw(5), 0.7 * draw(4, 5)]
    sizes = (6, 9, 7)
    labels = [torch.randint(4, (B,), generator=generator) for B in sizes]
    return [weights, [draw(B, 1, 2, 3) for B in sizes], labels]


TABLE = """
clipped_train_step(model, optimizer, images, labels, clip_norm) -> the loss
  *_batches(generator), "SGD", 0.4, 0.05  # the gradient is longer
  *_batches(generator), "AdamW", 0.05, 0.05
  *_batches(generator), "SGD", 0.2, 20.0  # the gradient is shorter
not clipped: nn.utils.clip_grad_norm_(model.parameters(), clip_norm) -> nothing
    the optimizer takes its step with a gradient longer than clip_norm: clipping is
    missing, comes before backward() or after the step, or has another limit
clipped by value: clip_grad_norm_ -> clip_grad_value_
    each number is cut off at clip_norm, expected all shortened alike, as one arrow
another norm: clip_norm) -> clip_norm, norm_type=math.inf)
    the largest number of the gradient is held to clip_norm, expected its length
each parameter alone: nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
  -> [nn.utils.clip_grad_norm_(p, clip_norm) for p in model.parameters()]
    each parameter is clipped by itself, expected all as one long arrow
each group alone: nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
  -> [nn.utils.clip_grad_norm_(g["params"], clip_norm) for g in optimizer.param_groups]
    each group is clipped by itself, expected all as one long arrow
always at the limit: loss.backward() -> (1e6 * loss).backward()
    a gradient that is shorter than clip_norm is stretched to it, expected left alone
gradients pile up: optimizer.zero_grad() -> nothing
    the gradients of earlier batches are still there: PyTorch adds to what is there
cleared at the end alone: optimizer.zero_grad() -> nothing
  optimizer.step() -> optimizer.step(); optimizer.zero_grad()
    the gradients are cleared only after the step: those that were there before go in
no backward: loss.backward() -> nothing
    the weights do not change: the optimizer takes its step, but no gradient has
    arrived; backward() is missing, or the loss is cut off from the weights
step before backward: optimizer.step() -> nothing
  loss.backward() -> optimizer.step(); loss.backward()
    the step comes before backward(): there is no gradient yet for it to follow
softmax before the loss: logits, labels -> logits.softmax(dim=1), labels
    there is a softmax before the cross-entropy, which has one and expects logits
summed: logits, labels -> logits, labels, reduction="sum"
    the losses are summed, expected their mean: the step would grow with the batch
eval mode: logits = -> model.eval(); logits =
    the model is in eval mode for the step, where batch norm and dropout do not train
loss afterwards: loss.item() -> F.cross_entropy(model(images), labels).item()
    the loss returned is that of the new weights, expected that before the step
? At which moment is there a gradient to shorten, and when is it too late?
? Between backward() and the step; nn.utils.clip_grad_norm_ takes all parameters.
? nn.utils.clip_grad_norm_(model.parameters(), clip_norm) above optimizer.step().
"""


@checked_by(TABLE, gradients=False, scenario=_steps)
def clipped_train_step(
    model: nn.Module, optimizer: Any, images: Tensor, labels: Tensor, clip_norm: float
) -> float:
    logits = model(images)  # (B, K)
    loss = F.cross_entropy(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
    optimizer.step()
    return loss.item()
