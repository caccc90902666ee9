import copy

import torch

from tests.checks.answers import wrong_edits


@wrong_edits("""
missing alone: or not p.grad.any() -> nothing
zeros alone: is None or -> is not None and
any zero: not p.grad.any() -> (p.grad == 0).any()
sum of the logits: (logits @ torch.randn(logits.shape[1])).sum() -> logits.sum()
old gradients: model.zero_grad() -> nothing
the others: is None or not -> is not None and
sum of the gradient: not p.grad.any() -> p.grad.sum() == 0
value: not p.grad.any() -> p.grad.abs().max() < 1e-2
tensors: return [name for -> return [p for
""")
def with_a_random_pull(model, images):
    model.zero_grad()
    logits = model(images)
    (logits @ torch.randn(logits.shape[1])).sum().backward()
    return [
        name
        for name, p in model.named_parameters()
        if p.grad is None or not p.grad.any()
    ]


@wrong_edits("squares: (number + 1).square() -> number.square()")
def with_autograd(model, images):
    names, parameters = zip(*model.named_parameters(), strict=True)
    number = model(images)
    gradients = torch.autograd.grad(
        (number + 1).square().sum(), parameters, allow_unused=True
    )
    return tuple(
        name
        for name, gradient in zip(names, gradients, strict=True)
        if gradient is None or gradient.abs().max() == 0
    )


def in_a_copy(model, images):
    model = copy.deepcopy(model)
    for parameter in model.parameters():
        parameter.grad = None
    labels = torch.arange(len(images))
    torch.nn.functional.cross_entropy(model(images), labels).backward()
    silent = set()
    for name, parameter in model.named_parameters():
        if parameter.grad is None or torch.count_nonzero(parameter.grad) == 0:
            silent.add(name)
    return silent
