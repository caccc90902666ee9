import torch
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import right, wrong


@right("clipped_train_step")
def clipped_step(model, optimizer, images, labels, clip_norm):
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
    optimizer.step()
    return loss.item()


@right("clipped_train_step")
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


@right("clipped_train_step")
def clipped_and_the_optimizer_last(model, images, labels, optimizer, clip_norm=None):
    return clipped_step(model, optimizer, images, labels, clip_norm)


@wrong("clipped_train_step", "not clipped")
def clips_too_late(model, optimizer, images, labels, clip_norm):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
    return loss.item()


@wrong("clipped_train_step", "not clipped")
def clips_nothing_yet(model, optimizer, images, labels, clip_norm):
    optimizer.zero_grad()
    nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong("clipped_train_step", "clipped by value")
def clips_values(model, optimizer, images, labels, clip_norm):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    for weight in model.parameters():
        weight.grad.clamp_(-clip_norm, clip_norm)
    optimizer.step()
    return loss.item()


@wrong("clipped_train_step", "each parameter alone")
def clips_one_by_one(model, optimizer, images, labels, clip_norm):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    for weight in model.parameters():
        nn.utils.clip_grad_norm_(weight, clip_norm)
    optimizer.step()
    return loss.item()


@wrong("clipped_train_step", "always at the limit")
def normalises(model, optimizer, images, labels, clip_norm):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    length = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
    for weight in model.parameters():
        weight.grad = weight.grad / length * clip_norm
    optimizer.step()
    return loss.item()


@wrong("clipped_train_step", "gradients pile up")
def clips_and_never_clears(model, optimizer, images, labels, clip_norm):
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
    optimizer.step()
    return loss.item()


@wrong("clipped_train_step", "cleared at the end alone")
def clips_and_clears_behind(model, optimizer, images, labels, clip_norm):
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


@wrong("clipped_train_step", "no step")
def clips_and_stops(model, optimizer, images, labels, clip_norm):
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
    return loss.item()


@wrong("clipped_train_step", "raises")
def clips_the_optimizer(model, optimizer, images, labels, clip_norm):
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(optimizer, clip_norm)
    optimizer.step()
    return loss.item()


@wrong("clipped_train_step", "loss with its graph")
def clips_and_keeps_the_graph(model, optimizer, images, labels, clip_norm):
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
    optimizer.step()
    return loss


@right("clipped_train_step")
def clips_in_a_closure(model, optimizer, images, labels, clip_norm):
    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
        return loss

    return optimizer.step(closure).item()


@right("clipped_train_step")
def clips_what_the_optimizer_has(model, optimizer, images, labels, clip_norm):
    weights = [p for group in optimizer.param_groups for p in group["params"]]
    for weight in weights:
        weight.grad = None
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(weights, clip_norm)
    optimizer.step()
    return loss.detach().item()


@wrong("clipped_train_step", "not clipped")
def clips_at_one(model, optimizer, images, labels, clip_norm):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1e3)
    optimizer.step()
    return loss.item()


@right("clipped_train_step")
def with_a_limit_of_another_name(model, optimizer, images, labels, max_norm):
    return clipped_step(model, optimizer, images, labels, max_norm)


@right("clipped_train_step")
def with_whatever_is_named(model, optimizer, images, labels, **named):
    return clipped_step(model, optimizer, images, labels, **named)
