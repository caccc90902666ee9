import torch
from torch.nn import functional as F

from tests.checks.answers import wrong_edits


@wrong_edits("""
parts of num_parts: chunk -> split
rest dropped: chunk(num_parts) -> split(len(images) // num_parts)[:num_parts]
  * len(x) / len(images) -> / num_parts
not divided: * len(x) / len(images) -> nothing
weighed alike: * len(x) / len(images) -> / num_parts
step in each part: optimizer.step() -> nothing
  loss.backward() -> loss.backward(); optimizer.step()
cleared in each part: loss.backward() -> optimizer.zero_grad(); loss.backward()
never cleared: optimizer.zero_grad() -> nothing
value: chunk(num_parts) -> chunk(1)
no step: optimizer.step() -> nothing
one backward pass: optimizer.zero_grad() -> optimizer.zero_grad(); total = 0
  loss.backward() -> total = total + loss
  optimizer.step() -> total.backward(); optimizer.step()
one backward pass: .backward() -> .backward(retain_graph=True)
value: optimizer.step() -> optimizer.step(); optimizer.step()
    "… in the first call is 2, expected 1"
cleared at the end alone: optimizer.zero_grad() -> nothing
  optimizer.step() -> optimizer.step(); optimizer.zero_grad()
""")
def accumulate_by_share(model, images, labels, optimizer, num_parts):
    optimizer.zero_grad()
    for x, y in zip(images.chunk(num_parts), labels.chunk(num_parts), strict=True):
        loss = F.cross_entropy(model(x), y) * len(x) / len(images)
        loss.backward()
    optimizer.step()


def accumulate_and_divide_last(model, images, labels, optimizer, num_parts):
    size = -(-len(images) // num_parts)
    model.zero_grad()
    for start in range(0, len(images), size):
        rows = slice(start, start + size)
        F.cross_entropy(model(images[rows]), labels[rows], reduction="sum").backward()
    for parameter in model.parameters():
        parameter.grad /= len(images)
    optimizer.step()


def accumulate_by_hand(model, images, labels, optimizer, num_parts):
    weights = list(model.parameters())
    sums = [torch.zeros_like(weight) for weight in weights]
    for part in range(num_parts):  # every num_parts-th image
        logits = model(images[part::num_parts])
        loss = F.cross_entropy(logits, labels[part::num_parts], reduction="sum")
        for total, gradient in zip(
            sums, torch.autograd.grad(loss, weights), strict=True
        ):
            total += gradient
    for weight, total in zip(weights, sums, strict=True):
        weight.grad = total / len(images)
    optimizer.step()


def accumulate_evenly(model, images, labels, optimizer, num_parts):
    model.zero_grad(set_to_none=False)
    images, labels = images.tensor_split(num_parts), labels.tensor_split(num_parts)
    total = sum(map(len, labels))
    for x, y in zip(images, labels, strict=True):
        loss = F.cross_entropy(model(x), y, reduction="sum") / total
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.item()


def accumulate_dealt_like_cards(model, images, labels, optimizer, num_parts):
    optimizer.zero_grad()
    for rank in range(num_parts):
        x, y = images[rank::num_parts], labels[rank::num_parts]
        loss = F.cross_entropy(model(x), y, reduction="sum") / len(images)
        loss.backward()
    optimizer.step()
