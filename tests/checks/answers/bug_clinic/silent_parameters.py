import copy

import torch

from tests.checks.answers import right, wrong


@right("silent_parameters")
def with_a_random_pull(model, images):
    model.zero_grad()
    logits = model(images)
    (logits * torch.randn_like(logits)).sum().backward()
    return [
        name
        for name, p in model.named_parameters()
        if p.grad is None or not p.grad.any()
    ]


@right("silent_parameters")
def with_autograd(model, images):
    names, parameters = zip(*model.named_parameters(), strict=True)
    number = model(images).square().sum()
    gradients = torch.autograd.grad(number, parameters, allow_unused=True)
    return tuple(
        name
        for name, gradient in zip(names, gradients, strict=True)
        if gradient is None or gradient.abs().max() == 0
    )


@right("silent_parameters")
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


def pulled(model, images):
    logits = model(images)
    (logits * torch.randn_like(logits)).sum().backward()


@wrong("silent_parameters", "missing alone")
def only_none(model, images):
    model.zero_grad()
    pulled(model, images)
    return [name for name, p in model.named_parameters() if p.grad is None]


@wrong("silent_parameters", "zeros alone")
def only_zeros(model, images):
    model.zero_grad()
    pulled(model, images)
    return [
        name
        for name, p in model.named_parameters()
        if p.grad is not None and not p.grad.any()
    ]


@wrong("silent_parameters", "any zero")
def one_zero_is_enough(model, images):
    model.zero_grad()
    pulled(model, images)
    return [
        name
        for name, p in model.named_parameters()
        if p.grad is None or (p.grad == 0).any()
    ]


@wrong("silent_parameters", "sum of the logits")
def sums_the_logits(model, images):
    model.zero_grad()
    model(images).sum().backward()
    return [
        name
        for name, p in model.named_parameters()
        if p.grad is None or not p.grad.any()
    ]


@wrong("silent_parameters", "sum of the logits")
def takes_their_mean(model, images):
    model.zero_grad()
    model(images).mean().backward()
    return [
        name
        for name, p in model.named_parameters()
        if p.grad is None or p.grad.abs().sum() == 0
    ]


@wrong("silent_parameters", "old gradients")
def does_not_clear(model, images):
    pulled(model, images)
    return [
        name
        for name, p in model.named_parameters()
        if p.grad is None or not p.grad.any()
    ]


@wrong("silent_parameters", "the others")
def those_that_learn(model, images):
    model.zero_grad()
    pulled(model, images)
    return [
        name
        for name, p in model.named_parameters()
        if p.grad is not None and p.grad.any()
    ]


@wrong("silent_parameters", "layers")
def names_layers(model, images):
    silent = with_a_random_pull(model, images)
    names = [name.replace(".weight", "").replace(".bias", "") for name in silent]
    return sorted(set(names))


@wrong("silent_parameters", "weights alone")
def no_biases(model, images):
    silent = with_a_random_pull(model, images)
    return [name for name in silent if "bias" not in name]


def silent_for(number):
    def answer(model, images):
        model.zero_grad()
        number(model(images)).backward()
        return [
            name
            for name, p in model.named_parameters()
            if p.grad is None or not p.grad.any()
        ]

    return answer


for mistake, number in (
    ("one number", lambda logits: logits[0, 0]),
    ("one number", lambda logits: logits[0, 0] ** 2),
    ("one logit", lambda logits: logits[:, 0].sum()),
    ("one image", lambda logits: logits[0].square().sum()),
):
    wrong("silent_parameters", mistake)(silent_for(number))


@wrong("silent_parameters", "sum of the gradient")
def adds_the_gradient_up(model, images):
    model.zero_grad()
    pulled(model, images)
    return [
        name
        for name, p in model.named_parameters()
        if p.grad is None or p.grad.sum() == 0
    ]


@wrong("silent_parameters", "tensors")
def the_parameters_themselves(model, images):
    silent = with_a_random_pull(model, images)
    return [p for name, p in model.named_parameters() if name in silent]


@wrong("silent_parameters", "value")
def small_ones_too(model, images):
    model.zero_grad()
    pulled(model, images)
    return [
        name
        for name, p in model.named_parameters()
        if p.grad is None or p.grad.abs().max() < 1e-2
    ]
