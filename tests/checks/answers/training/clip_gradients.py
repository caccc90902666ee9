import math

import torch
from torch import nn

from tests.checks.answers import right, wrong


@right("clip_gradients")
def pytorch_clips(gradients, max_norm):
    parameters = [nn.Parameter(torch.zeros_like(g)) for g in gradients]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient.clone()
    nn.utils.clip_grad_norm_(parameters, max_norm)
    return [parameter.grad for parameter in parameters]


@right("clip_gradients")
def as_one_arrow(gradients, max_norm):
    length = torch.cat([g.flatten() for g in gradients]).norm()
    if length <= max_norm:
        return gradients
    return [g * (max_norm / length) for g in gradients]


@right("clip_gradients")
def with_python_numbers(grads, limit):
    total = math.sqrt(sum(float((g**2).sum()) for g in grads))
    return tuple(g * min(1.0, limit / (total + 1e-9)) for g in grads)


@wrong("clip_gradients", "each alone")
def one_by_one(gradients, max_norm):
    return [g * min(1.0, max_norm / (g.norm().item() + 1e-9)) for g in gradients]


@wrong("clip_gradients", "by value")
def cut_off(gradients, max_norm):
    return [torch.clip(g, min=-max_norm, max=max_norm) for g in gradients]


@wrong("clip_gradients", "root forgotten")
def sum_of_squares(gradients, max_norm):
    total = sum((g**2).sum() for g in gradients)
    return [g * max_norm / total if total > max_norm else g for g in gradients]


@wrong("clip_gradients", "lengths added")
def sum_of_lengths(gradients, max_norm):
    total = sum(g.norm() for g in gradients)
    return [g * max_norm / total if total > max_norm else g for g in gradients]


@wrong("clip_gradients", "always at the limit")
def always_so_long(gradients, max_norm):
    length = sum((g**2).sum() for g in gradients).sqrt()
    return [max_norm * g / length for g in gradients]


@wrong("clip_gradients", "factor")
def unit_length(gradients, max_norm):
    length = sum((g**2).sum() for g in gradients).sqrt()
    return [g / length if length > max_norm else g for g in gradients]


@wrong("clip_gradients", "the length is returned")
def returns_what_pytorch_returns(gradients, max_norm):
    parameters = [nn.Parameter(torch.zeros_like(g)) for g in gradients]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient.clone()
    return nn.utils.clip_grad_norm_(parameters, max_norm)


@wrong("clip_gradients", "changes its input")
def in_place(gradients, max_norm):
    length = torch.stack([g.norm() for g in gradients]).norm().item()
    for gradient in gradients:
        gradient.mul_(min(1.0, max_norm / max(length, 1e-9)))
    return gradients


@wrong("clip_gradients", "not clipped")
def the_wrong_way_round(gradients, max_norm):
    length = torch.stack([g.norm() for g in gradients]).norm()
    if length < max_norm and length > 0:
        return [g * max_norm / length for g in gradients]
    return gradients


@wrong("clip_gradients", "0 divided by 0")
def without_care_for_0(gradients, max_norm):
    length = torch.stack([g.norm() for g in gradients]).norm()
    return [g * (length.clamp(max=max_norm) / length) for g in gradients]


@wrong("clip_gradients", "mean of the squares")
def by_the_mean_square(gradients, max_norm):
    numbers = torch.cat([g.flatten() for g in gradients])
    length = numbers.square().mean().sqrt()
    return [g * min(1.0, float(max_norm / length)) if length else g for g in gradients]


@right("clip_gradients")
def with_a_small_number(gradients, max_norm):
    length = sum(g.pow(2).sum() for g in gradients).sqrt()
    factor = max_norm / (length + 1e-6)
    return [g * factor if factor < 1 else g for g in gradients]
