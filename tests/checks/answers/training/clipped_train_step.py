from torch import nn
from torch.nn import functional as F

from tests.checks.answers import wrong_edits


@wrong_edits("""
not clipped: nn.utils.clip_grad_norm_(model.parameters(), clip_norm) -> nothing
  optimizer.step()
  -> optimizer.step(); nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
clipped by value: clip_grad_norm_ -> clip_grad_value_
each parameter alone: nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
  -> [nn.utils.clip_grad_norm_(weight, clip_norm) for weight in model.parameters()]
each group alone: model.parameters() -> group["params"]
  nn -> for group in optimizer.param_groups: nn
gradients pile up: optimizer.zero_grad() -> nothing
cleared at the end alone: optimizer.zero_grad() -> nothing
  optimizer.step() -> optimizer.step(); optimizer.zero_grad()
raises: model.parameters() -> optimizer
value: .item() -> nothing
""")
def clipped_step(model, optimizer, images, labels, clip_norm):
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
    optimizer.step()
    return loss.item()


@wrong_edits("always at the limit: length > clip_norm -> True")
def clipped_by_hand(model, optimizer, images, labels, clip_norm):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    gradients = [p.grad for p in model.parameters()]
    length = sum(g.square().sum() for g in gradients) ** 0.5
    if length > clip_norm:
        for gradient in gradients:
            gradient.mul_(clip_norm / length)
    optimizer.step()
    return loss.detach()


def clipped_and_the_optimizer_last(model, images, labels, optimizer, clip_norm=None):
    return clipped_step(model, optimizer, images, labels, clip_norm)


def clips_what_the_optimizer_has(model, optimizer, images, labels, clip_norm):
    weights = [p for group in optimizer.param_groups for p in group["params"]]
    for weight in weights:
        weight.grad = None
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(weights, clip_norm)
    optimizer.step()
    return loss.detach().item()


def with_a_limit_of_another_name(model, optimizer, images, labels, max_norm):
    return clipped_step(model, optimizer, images, labels, max_norm)


def with_whatever_is_named(model, optimizer, images, labels, **named):
    return clipped_step(model, optimizer, images, labels, **named)
