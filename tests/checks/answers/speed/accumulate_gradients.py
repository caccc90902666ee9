import math

import torch
from torch.nn import functional as F

from tests.checks.answers import right, wrong


@right("accumulate_gradients")
def accumulate_by_share(model, images, labels, optimizer, num_parts):
    optimizer.zero_grad()
    for x, y in zip(images.chunk(num_parts), labels.chunk(num_parts), strict=True):
        loss = F.cross_entropy(model(x), y) * len(x) / len(images)
        loss.backward()
    optimizer.step()


@wrong("accumulate_gradients", "cleared at the end alone")
def accumulate_sums(model, images, labels, optimizer, num_parts):
    model.train()
    for x, y in zip(
        torch.tensor_split(images, num_parts),
        torch.tensor_split(labels, num_parts),
        strict=True,
    ):
        loss = F.cross_entropy(model(x), y, reduction="sum") / labels.numel()
        loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss.item()


@right("accumulate_gradients")
def accumulate_and_divide_last(model, images, labels, optimizer, num_parts):
    size = -(-len(images) // num_parts)
    model.zero_grad()
    for start in range(0, len(images), size):
        rows = slice(start, start + size)
        F.cross_entropy(model(images[rows]), labels[rows], reduction="sum").backward()
    for parameter in model.parameters():
        parameter.grad /= len(images)
    optimizer.step()


@right("accumulate_gradients")
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


@wrong("accumulate_gradients", "one backward pass")
def accumulate_losses(model, images, labels, optimizer, num_parts):
    total = torch.zeros((), dtype=images.dtype)
    for rows in torch.arange(len(images)).chunk(num_parts):
        logits = model(images[rows])
        total = total + F.cross_entropy(logits, labels[rows], reduction="sum")
    optimizer.zero_grad()
    (total / len(images)).backward()
    optimizer.step()


@wrong("accumulate_gradients", "backward after the loop")
def accumulate_the_last_loss(model, images, labels, optimizer, num_parts):
    optimizer.zero_grad()
    for x, y in zip(images.chunk(num_parts), labels.chunk(num_parts), strict=True):
        loss = F.cross_entropy(model(x), y) * len(x) / len(images)
    loss.backward()
    optimizer.step()


@wrong("accumulate_gradients", "parts of num_parts")
def accumulate_with_split(model, images, labels, optimizer, num_parts):
    optimizer.zero_grad()
    for x, y in zip(images.split(num_parts), labels.split(num_parts), strict=True):
        (F.cross_entropy(model(x), y, reduction="sum") / len(images)).backward()
    optimizer.step()


@wrong("accumulate_gradients", "rest dropped")
def accumulate_whole_sizes(model, images, labels, optimizer, num_parts):
    optimizer.zero_grad()
    size = len(images) // num_parts
    for i in range(num_parts):
        rows = slice(i * size, (i + 1) * size)
        (F.cross_entropy(model(images[rows]), labels[rows]) / num_parts).backward()
    optimizer.step()


@wrong("accumulate_gradients", "not divided")
def accumulate_as_in_many_blogs(model, images, labels, optimizer, num_parts):
    optimizer.zero_grad()
    for x, y in zip(images.chunk(num_parts), labels.chunk(num_parts), strict=True):
        F.cross_entropy(model(x), y).backward()
    optimizer.step()


@wrong("accumulate_gradients", "weighed alike")
def accumulate_by_parts(model, images, labels, optimizer, num_parts):
    optimizer.zero_grad()
    for x, y in zip(images.chunk(num_parts), labels.chunk(num_parts), strict=True):
        (F.cross_entropy(model(x), y) / num_parts).backward()
    optimizer.step()


@wrong("accumulate_gradients", "two sizes weighed alike")
def accumulate_mean_of_losses(model, images, labels, optimizer, num_parts):
    optimizer.zero_grad()
    for rows in torch.arange(len(images)).tensor_split(num_parts):
        (F.cross_entropy(model(images[rows]), labels[rows]) / num_parts).backward()
    optimizer.step()


@wrong("accumulate_gradients", "summed over images")
def accumulate_sums_undivided(model, images, labels, optimizer, num_parts):
    optimizer.zero_grad()
    for x, y in zip(images.chunk(num_parts), labels.chunk(num_parts), strict=True):
        F.cross_entropy(model(x), y, reduction="sum").backward()
    optimizer.step()


@wrong("accumulate_gradients", "summed, divided by parts")
def accumulate_sums_by_parts(model, images, labels, optimizer, num_parts):
    optimizer.zero_grad()
    for x, y in zip(images.chunk(num_parts), labels.chunk(num_parts), strict=True):
        (F.cross_entropy(model(x), y, reduction="sum") / num_parts).backward()
    optimizer.step()


@wrong("accumulate_gradients", "step in each part")
def accumulate_steps(model, images, labels, optimizer, num_parts):
    optimizer.zero_grad()
    for x, y in zip(images.chunk(num_parts), labels.chunk(num_parts), strict=True):
        (F.cross_entropy(model(x), y) * len(x) / len(images)).backward()
        optimizer.step()


@wrong("accumulate_gradients", "small steps")
def accumulate_nothing(model, images, labels, optimizer, num_parts):
    for x, y in zip(images.chunk(num_parts), labels.chunk(num_parts), strict=True):
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        optimizer.step()


@wrong("accumulate_gradients", "cleared in each part")
def accumulate_and_clear(model, images, labels, optimizer, num_parts):
    for x, y in zip(images.chunk(num_parts), labels.chunk(num_parts), strict=True):
        optimizer.zero_grad()
        (F.cross_entropy(model(x), y) * len(x) / len(images)).backward()
    optimizer.step()


@wrong("accumulate_gradients", "never cleared")
def accumulate_for_ever(model, images, labels, optimizer, num_parts):
    for x, y in zip(images.chunk(num_parts), labels.chunk(num_parts), strict=True):
        (F.cross_entropy(model(x), y) * (len(x) / len(images))).backward()
    optimizer.step()


@wrong("accumulate_gradients", "cleared at the end alone")
def accumulate_and_clear_behind(model, images, labels, optimizer, num_parts):
    for i in torch.arange(len(images)).chunk(num_parts):
        (
            F.cross_entropy(model(images[i]), labels[i], reduction="sum") / len(images)
        ).backward()
    optimizer.step()
    optimizer.zero_grad()


@right("accumulate_gradients")
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


@wrong("accumulate_gradients", "whole batch at once")
def accumulate_all_at_once(model, images, labels, optimizer, num_parts):
    optimizer.zero_grad()
    F.cross_entropy(model(images), labels).backward()
    optimizer.step()


@wrong("accumulate_gradients", "short part dropped")
def accumulate_whole_parts(model, images, labels, optimizer, num_parts):
    size = math.ceil(len(images) / num_parts)
    optimizer.zero_grad()
    for i in range(len(images) // size):
        x, y = images[i * size : (i + 1) * size], labels[i * size : (i + 1) * size]
        (F.cross_entropy(model(x), y) * size / len(images)).backward()
    optimizer.step()


@wrong("accumulate_gradients", "no step")
def accumulate_and_wait(model, images, labels, optimizer, num_parts):
    optimizer.zero_grad()
    for x, y in zip(images.chunk(num_parts), labels.chunk(num_parts), strict=True):
        (F.cross_entropy(model(x), y) * len(x) / len(images)).backward()


@wrong("accumulate_gradients", "cleared at the end alone")
def accumulate_as_trainers_do(model, images, labels, optimizer, num_parts):
    parts = zip(images.chunk(num_parts), labels.chunk(num_parts), strict=True)
    for number, (x, y) in enumerate(parts, start=1):
        (F.cross_entropy(model(x), y) * len(x) / len(images)).backward()
        if number % num_parts == 0:
            optimizer.step()
            optimizer.zero_grad()


@right("accumulate_gradients")
def accumulate_dealt_like_cards(model, images, labels, optimizer, num_parts):
    optimizer.zero_grad()
    for rank in range(num_parts):
        x, y = images[rank::num_parts], labels[rank::num_parts]
        loss = F.cross_entropy(model(x), y, reduction="sum") / len(images)
        loss.backward()
    optimizer.step()
