import torch

from tests.checks.answers import right_edits, wrong_edits


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
value: logits = model(images) -> n = torch.arange(len(images)); logits = model(images)
  logits @ torch.randn(logits.shape[1]) -> logits.log_softmax(1)[n, n % 4]
""")
@right_edits("""
in a copy: model.zero_grad()
  -> import copy; model = copy.deepcopy(model); model.zero_grad()
of one label: logits @ torch.randn(logits.shape[1]) -> logits.log_softmax(1)[:, 0]
as a set: return [name -> return {name
  p.grad.any()] -> p.grad.any()}
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
