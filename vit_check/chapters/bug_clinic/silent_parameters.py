from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from vit_check.engine.drawing import Answer
from vit_check.engine.findings import Trouble
from vit_check.engine.functions import checked_by

_K = 4  # a power of 2, so that opposite terms cancel to the last bit


class _Wired(nn.Module):
    """A model with parameters that are reached, cut off, or not used at all."""

    def __init__(self, centred: bool, image: Tensor) -> None:
        super().__init__()
        self.fc = nn.Linear(6, _K)
        self.table = nn.Parameter(torch.ones(5, _K))  # two rows in its middle are used
        self.spare = nn.Linear(_K, _K)  # made and not called
        self.cut = nn.Parameter(torch.ones(_K))
        self.off = nn.Parameter(torch.ones(_K))
        self.of_one_logit = nn.Parameter(torch.ones(1))
        self.of_first_logit = nn.Parameter(torch.ones(1))
        self.against_it = nn.Parameter(torch.ones(1))  # a gradient of the other sign
        self.of_one_image = nn.Parameter(torch.ones(_K))
        self.gradient_sums_to_0 = nn.Parameter(torch.ones(2))
        self.faint = nn.Parameter(torch.ones(_K))  # its gradient is small
        self.centred, self.image = centred, image

    def forward(self, images: Tensor) -> Tensor:
        logits = self.fc(images.flatten(1)) + self.table[2:4].sum(dim=0)  # (B, K)
        logits = logits + self.cut.detach() + 0.0 * self.off + 1e-5 * self.faint
        of_one_image = (images == self.image).flatten(1).all(dim=1)[:, None]  # (B, 1)
        of_one = self.of_one_logit - self.against_it  # (1,)
        of_one = of_one + self.gradient_sums_to_0[:1] - self.gradient_sums_to_0[1:]
        logits = logits + of_one_image * self.of_one_image  # (B, K)
        logits = logits + F.pad(of_one, (_K - 1, 0))
        logits = logits + F.pad(self.of_first_logit, (0, _K - 1))
        if self.centred:  # so that the sum of the logits is 0, whatever they are
            logits = logits - logits.mean(dim=1, keepdim=True)
        return logits


def _named(
    function: Answer, weight: Tensor, images: Tensor, kind: str
) -> dict[str, Any]:
    with torch.random.fork_rng(devices=[]):
        model = _Wired(kind == "logits that add up to 0", images[-1]).to(images.dtype)
    with torch.no_grad():
        model.fc.weight.copy_(weight)
        for parameter in model.parameters() if "all 0" in kind else ():
            parameter.zero_()
    if kind == "old gradients":
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
    names = function(model, images)
    if isinstance(names, list | tuple | set) and nn.Parameter in map(type, names):
        raise Trouble("tensors", "returns the parameters, expected their names")
    if not isinstance(names, Iterable) or isinstance(names, str):
        return {f"what is named, for a model with {kind},": names}
    names = [*map(str, names)]
    own = {name: parameter.numel() for name, parameter in model.named_parameters()}
    least = _K if "all 0" in kind else 1  # fewer numbers may all be 0 by chance
    others = ", ".join(name for name in names if name not in own)
    seen = {"what is named and is no parameter": others or "nothing"}
    return seen | {
        f"{name}, for a model with {kind},": "named" if name in names else "not named"
        for name, numbers in own.items()
        if numbers >= least
    }


TABLE = """
silent_parameters(model, images) -> a list of names
  float64(4, 6), float64(3, 1, 2, 3), "parts that are not connected"
  float64(4, 6), float64(3, 1, 2, 3), "logits that add up to 0"
  float64(4, 6), float64(3, 1, 2, 3), "old gradients"
  float64(4, 6), float64(32, 1, 2, 3), "logits that are all 0"
missing alone: or (parameter.grad == 0).all() -> nothing
    only gradients that are None are found, expected also those that are all zeros
zeros alone: is None or -> is not None and
    only gradients of zeros are found; a layer that is never called has None
any zero: .all() -> .any()
    a parameter is called silent if any number of its gradient is 0, expected if all are
sum of the logits: (logits * factors).sum() -> logits.sum()
    the logits are added up, which may give the same always: give each a factor
squares: (logits * factors) -> logits.square()
    everything is called silent where all logits are 0, as with a fresh head: there the
    slope of their squares is 0; give each logit a factor instead
a factor of 0: torch.arange(1.0, logits.numel() + 1).sin().reshape(logits.shape)
  -> torch.arange(logits.shape[1])
    a logit's factor is 0: parameters that reach no other logit are called silent
sum of the gradient: (parameter.grad == 0).all() -> parameter.grad.sum() == 0
    a parameter is called silent if its gradient adds up to 0, expected if all are 0
old gradients: model.zero_grad(set_to_none=True) -> nothing
    the gradients of an earlier step are still there: clear them before backward()
the others: is None or -> is not None and not
    the parameters that do get a gradient are named, expected those that do not
? Make one number of the logits, call backward() on it, and look at each gradient.
? A gradient may be None, or there and all zeros. And take care which number you make of
  the logits, and that no old gradients are left.
? model.zero_grad(); logits = model(images); (logits *
  torch.randn_like(logits)).sum().backward(); then name for name, p in
  model.named_parameters() if p.grad is None or not p.grad.any()
"""


@checked_by(TABLE, gradients=False, scenario=_named)
def silent_parameters(model: nn.Module, images: Tensor) -> list[str]:
    model.zero_grad(set_to_none=True)
    logits = model(images)  # (B, K)
    factors = torch.arange(1.0, logits.numel() + 1).sin().reshape(logits.shape)
    (logits * factors).sum().backward()
    found = []
    for name, parameter in model.named_parameters():
        if parameter.grad is None or (parameter.grad == 0).all():
            found.append(name)
    return found
