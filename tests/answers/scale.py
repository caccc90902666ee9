import math

import numpy as np
import torch
from torch.nn import functional as F

from tests.answers import right, wrong
from vit_check.chapters.speed_and_scale.attention_in_blocks import in_blocks
from vit_steps import scale


@right("attention_in_blocks")
def attend_with_split(q, k, v, block):
    m = torch.full((len(q),), float("-inf"), dtype=q.dtype)
    total = torch.zeros(len(q), dtype=q.dtype)
    mixed = torch.zeros(len(q), v.shape[1], dtype=q.dtype)
    for keys, values in zip(k.split(block), v.split(block), strict=True):
        scores = q @ keys.mT / math.sqrt(q.shape[-1])
        new = torch.maximum(m, scores.max(dim=1).values)
        p = torch.exp(scores - new[:, None])
        mend = torch.exp(m - new)
        total = total * mend + p.sum(1)
        mixed = mixed * mend[:, None] + p @ values
        m = new
    return mixed / total[:, None]


@right("attention_in_blocks")
def attend_divided_on_the_way(q, k, v, block):
    """Keeps the result so far and the log of the sum, as FlashAttention-2's does."""
    output, log_sum = None, None
    for start in range(0, k.size(0), block):
        scores = (q * q.size(1) ** -0.5) @ k[start : start + block].t()
        here = torch.logsumexp(scores, dim=1, keepdim=True)
        part = torch.softmax(scores, dim=1) @ v[start : start + block]
        if output is None:
            output, log_sum = part, here
        else:
            both = torch.logaddexp(log_sum, here)
            output = (log_sum - both).exp() * output + (here - both).exp() * part
            log_sum = both
    return output


@right("attention_in_blocks")
def attend_in_place(q, k, v, block):
    T, d = q.shape
    largest = torch.empty(T, 1).fill_(-torch.inf).to(q)
    total = torch.zeros_like(largest)
    mixed = torch.zeros(T, v.shape[1]).to(q)
    for i in range(math.ceil(k.shape[0] / block)):
        rows = slice(i * block, (i + 1) * block)
        scores = torch.einsum("td,sd->ts", q, k[rows]).div_(d**0.5)
        new = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        scores.sub_(new).exp_()
        factor = (largest - new).exp_()
        total.mul_(factor).add_(scores.sum(-1, keepdim=True))
        mixed.mul_(factor).add_(scores @ v[rows])
        largest = new
    return mixed.div_(total)


@wrong("attention_in_blocks", "whole rows")
def attend_with_torch(q, k, v, block):
    return F.scaled_dot_product_attention(q[None], k[None], v[None])[0]


@wrong("attention_in_blocks", "whole rows")
def attend_cutting_the_weights(q, k, v, block):
    weights = torch.softmax(q @ k.T / math.sqrt(q.shape[1]), dim=-1)
    pairs = zip(weights.split(block, dim=1), v.split(block), strict=True)
    return sum(w @ values for w, values in pairs)


def changed(line, **replaced):
    """The usual loop with one of its lines written otherwise."""

    def attend(q, k, v, block):
        largest = q.new_full((len(q), 1), -math.inf)
        total, mixed = q.new_zeros(len(q), 1), q.new_zeros(len(q), v.shape[1])
        for start in range(0, len(k), block):
            keys, values = k[start : start + block], v[start : start + block]
            if line == "last" and len(keys) < block:
                break
            scores = q @ keys.T
            if line != "scale":
                scores = scores / math.sqrt(q.shape[1])
            new = torch.maximum(largest, scores.amax(dim=1, keepdim=True))
            shares = (scores - new).exp()
            factor = (largest - new).exp()
            if line == "factor":
                factor = (new - largest).exp()
            total = total * (1 if line in ("total", "both") else factor)
            total = total + shares.sum(1, keepdim=True)
            mixed = mixed * (1 if line in ("mixed", "both") else factor)
            mixed = mixed + shares @ values
            largest = new
        return mixed if line == "divide" else mixed / total

    attend.__name__ = f"attend_without_{line}"
    return attend


for line, mistake in {
    "mixed": "mixed not mended",
    "total": "sum not mended",
    "both": "nothing mended",
    "factor": "factor inverted",
    "scale": "no scale",
    "last": "last block dropped",
    "divide": "not divided",
}.items():
    wrong("attention_in_blocks", mistake)(changed(line))


@wrong("attention_in_blocks", "no maximum")
def attend_with_bare_exponentials(q, k, v, block):
    total, mixed = 0, 0
    for keys, values in zip(k.split(block), v.split(block), strict=True):
        powers = torch.exp(q @ keys.T / math.sqrt(q.shape[1]))
        total = total + powers.sum(dim=1, keepdim=True)
        mixed = mixed + powers @ values
    return mixed / total


@wrong("attention_in_blocks", "softmax of each block averaged")
def attend_block_for_block(q, k, v, block):
    found = [
        F.softmax(q @ keys.T / math.sqrt(q.shape[1]), dim=1) @ values
        for keys, values in zip(k.split(block), v.split(block), strict=True)
    ]
    return torch.stack(found).mean(dim=0)


@wrong("attention_in_blocks", "reshape")
def attend_with_flat_results(q, k, v, block):
    return in_blocks(q, k, v, block).flatten()


@right("accumulate_gradients")
def accumulate_by_share(model, images, labels, optimizer, num_parts):
    optimizer.zero_grad()
    for x, y in zip(images.chunk(num_parts), labels.chunk(num_parts), strict=True):
        loss = F.cross_entropy(model(x), y) * len(x) / len(images)
        loss.backward()
    optimizer.step()


@right("accumulate_gradients")
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


@wrong("accumulate_gradients", "backward behind the loop")
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


@right("average_gradients")
def average_with_a_sum(gradients, counts):
    pairs = zip(gradients, counts, strict=True)
    return sum(g * n for g, n in pairs) / sum(counts)


@right("average_gradients")
def average_with_einsum(gradients, counts):
    stacked = torch.stack(gradients)
    weights = torch.tensor(counts).to(stacked)
    return torch.einsum("w,w...->...", weights / weights.sum(), stacked)


@right("average_gradients")
def average_as_ddp_does(gradients, counts):
    """Each process scales its loss, then the plain mean over the processes is taken."""
    W, B = len(gradients), sum(counts)
    scaled = [g * (n * W / B) for g, n in zip(gradients, counts, strict=True)]
    return torch.stack(scaled).mean(dim=0)


@wrong("average_gradients", "mean of means")
def average_plainly(gradients, counts):
    return torch.stack(gradients).mean(0)


@wrong("average_gradients", "summed")
def average_by_all_reduce(gradients, counts):
    return torch.stack(gradients).sum(0)


@wrong("average_gradients", "weighed, not divided")
def average_by_counts(gradients, counts):
    return sum(g * n for g, n in zip(gradients, counts, strict=True))


@wrong("average_gradients", "divided by processes")
def average_counts_over_processes(gradients, counts):
    return torch.stack([g * n for g, n in zip(gradients, counts, strict=True)]).mean(0)


@wrong("average_gradients", "divided twice")
def average_shares(gradients, counts):
    shares = [n / sum(counts) for n in counts]
    return torch.stack([g * s for g, s in zip(gradients, shares, strict=True)]).mean(0)


@wrong("average_gradients", "sums over images")
def average_over_images(gradients, counts):
    return torch.stack(gradients).sum(0) / sum(counts)


@wrong("average_gradients", "first process alone")
def average_of_rank_0(gradients, counts):
    return gradients[0]


@wrong("average_gradients", "changes its input")
def average_in_place(gradients, counts):
    for g, n in zip(gradients, counts, strict=True):
        g.mul_(n / sum(counts))
    return torch.stack(gradients).sum(0)


@wrong("average_gradients", "not summed")
def average_apart(gradients, counts):
    weights = torch.tensor(counts).to(gradients[0]) / sum(counts)
    stacked = torch.stack(gradients)
    return stacked * weights.reshape(-1, *[1] * (stacked.ndim - 1))


@right("batch_shares")
def deal_with_a_slice(count, num_processes, rank):
    return torch.arange(count)[rank::num_processes]


@right("batch_shares")
def deal_with_a_range(count, num_processes, rank):
    return range(rank, count, num_processes)


@right("batch_shares")
def deal_with_modulo(count, num_processes, rank):
    return [image for image in range(count) if image % num_processes == rank]


@right("batch_shares")
def deal_with_numpy(count, num_processes, rank):
    return np.arange(rank, count, num_processes)


@wrong("batch_shares", "not shared")
def deal_all_to_all(count, num_processes, rank):
    return list(range(count))


@wrong("batch_shares", "blocks")
def deal_chunks(count, num_processes, rank):
    parts = torch.arange(count).chunk(num_processes)
    return parts[rank].tolist() if rank < len(parts) else []


@wrong("batch_shares", "even blocks")
def deal_with_array_split(count, num_processes, rank):
    return np.array_split(np.arange(count), num_processes)[rank].tolist()


@wrong("batch_shares", "blocks, rest dropped")
def deal_whole_blocks(count, num_processes, rank):
    size = count // num_processes
    return list(range(count))[rank * size : rank * size + size]


@wrong("batch_shares", "rest dropped")
def deal_full_rounds(count, num_processes, rank):
    rounds = count // num_processes
    return [rank + i * num_processes for i in range(rounds)]


@wrong("batch_shares", "padded")
def deal_as_distributed_sampler(count, num_processes, rank):
    cards = list(range(count))
    while len(cards) % num_processes:
        cards.append(cards[len(cards) % count])
    return cards[rank::num_processes]


@wrong("batch_shares", "ranks from 1")
def deal_from_one(count, num_processes, rank):
    return list(range(count))[rank - 1 :: num_processes] if rank else []


@wrong("batch_shares", "starts behind the rank")
def deal_one_late(count, num_processes, rank):
    return [i for i in range(rank + 1, count, num_processes)]


@wrong("batch_shares", "how many")
def deal_numbers(count, num_processes, rank):
    return count // num_processes + (rank < count % num_processes)


@wrong("batch_shares", "never none")
def deal_something(count, num_processes, rank):
    return list(range(count))[rank::num_processes] or [0]


@right("training_bytes")
def bytes_of_four_kinds(num_parameters, num_devices, sharded, autocast):
    own = num_parameters // num_devices if sharded else num_parameters
    weights = 4 * own
    if autocast:
        weights += 2 * num_parameters
    return {"weights": weights, "gradients": 4 * own, "optimizer": 8 * own}


@right("training_bytes")
def bytes_in_a_tuple(num_parameters, num_devices, sharded, autocast):
    own = num_parameters / (num_devices if sharded else 1)
    return 4 * own + 2 * num_parameters * autocast, 4 * own, 2 * 4 * own


@right("training_bytes")
def bytes_as_the_package(num_parameters, num_devices, sharded, autocast):
    own = num_parameters / num_devices**sharded
    return scale.TrainingMemory(
        4 * own + (2 * num_parameters if autocast else 0), 4 * own, 8 * own, 0.0
    )


def bytes_with(weights=None, gradients=None, optimizer=None, own=None):
    """The right bytes but for what is given, as f(parameters, own, autocast)."""

    def count(num_parameters, num_devices, sharded, autocast):
        mine = num_parameters / (num_devices if sharded else 1)
        if own is not None:
            mine = own(num_parameters, num_devices, sharded)
        given = num_parameters, mine, autocast
        return {
            "weights": weights(*given)
            if weights
            else 4 * mine + 2 * num_parameters * autocast,
            "gradients": gradients(*given) if gradients else 4 * mine,
            "optimizer": optimizer(*given) if optimizer else 8 * mine,
        }

    return count


for mistake, answer in {
    "one average": bytes_with(optimizer=lambda P, own, low: 4 * own),
    "averages and weights": bytes_with(optimizer=lambda P, own, low: 12 * own),
    "bfloat16 instead": bytes_with(weights=lambda P, own, low: (2 if low else 4) * own),
    "gradients in bfloat16": bytes_with(
        gradients=lambda P, own, low: own * (2 if low else 4)
    ),
    "no copy": bytes_with(weights=lambda P, own, low: own * 4),
    "copy sharded": bytes_with(weights=lambda P, own, low: own * (6 if low else 4)),
    "always split": bytes_with(own=lambda P, n, sharded: P / n),
    "never split": bytes_with(own=lambda P, n, sharded: P),
    "optimiser alone split": bytes_with(
        weights=lambda P, own, low: P * (6 if low else 4),
        gradients=lambda P, own, low: 4 * P,
    ),
    "always a copy": bytes_with(weights=lambda P, own, low: 4 * own + 2 * P),
}.items():
    answer.__name__ = f"bytes_{mistake.replace(' ', '_')}"
    wrong("training_bytes", mistake)(answer)


@wrong("training_bytes", "missing")
def bytes_under_other_names(num_parameters, num_devices, sharded, autocast):
    return {"weight": 4 * num_parameters, "grads": 0, "optimizer": 0}


@wrong("training_bytes", "type")
def bytes_in_one_number(num_parameters, num_devices, sharded, autocast):
    return 16 * num_parameters


@right("training_days")
def days_step_by_step(macs, num_images, peak_flops, num_devices, utilisation):
    forward = 2 * macs
    backward = 2 * forward
    speed = peak_flops * utilisation * num_devices
    return (forward + backward) * num_images / speed / (24 * 60 * 60)


@right("training_days")
def days_as_a_fraction(macs, num_images, peak_flops, num_devices, utilisation):
    return macs / 14_400 * num_images / peak_flops / num_devices / utilisation


@right("training_days")
def days_in_a_tensor(macs, num_images, peak_flops, num_devices, utilisation):
    flops = torch.tensor(6.0 * macs * num_images, dtype=torch.float64)
    return (flops / (num_devices * peak_flops * utilisation) / 86400).item()


def days_with(flops=6, seconds=86_400, devices=1, share=1):
    def days(macs, num_images, peak_flops, num_devices, utilisation):
        speed = peak_flops * num_devices**devices * utilisation**share
        return flops * macs * num_images / speed / seconds

    return days


for mistake, answer in {
    "MACs for FLOPs": days_with(flops=3),
    "forward alone": days_with(flops=2),
    "forward MACs alone": days_with(flops=1),
    "backward once": days_with(flops=4),
    "forward twice": days_with(flops=8),
    "seconds": days_with(seconds=1),
    "hours": days_with(seconds=3600),
    "utilisation ignored": days_with(share=0),
    "utilisation multiplied": days_with(share=-1),
    "devices ignored": days_with(devices=0),
    "devices multiplied": days_with(devices=-1),
}.items():
    answer.__name__ = f"days_{mistake.replace(' ', '_')}"
    wrong("training_days", mistake)(answer)


@wrong("training_days", "type")
def days_in_words(macs, num_images, peak_flops, num_devices, utilisation):
    days = 6 * macs * num_images / (peak_flops * num_devices * utilisation) / 86_400
    return f"{days:.1f} days"


def attend_with_running(q, k, v, block, begin=-math.inf, per_query=True, keep=True):
    top = torch.full((len(q), 1), begin, dtype=q.dtype)
    total, mixed = torch.zeros_like(top), q.new_zeros(len(q), v.shape[1])
    for keys, values in zip(k.split(block), v.split(block), strict=True):
        scores = q @ keys.mT / q.shape[1] ** 0.5
        new = scores.max(1, keepdim=True).values if per_query else scores.max()
        new = torch.maximum(top, new) if keep else new
        shares, factor = torch.exp(scores - new), torch.exp(top - new)
        total = total * factor + shares.sum(1, keepdim=True)
        mixed = mixed * factor + shares @ values
        top = new
    return mixed / total


@wrong("attention_in_blocks", "begins at 0")
def attend_from_zero(q, k, v, block):
    return attend_with_running(q, k, v, block, begin=0.0)


@wrong("attention_in_blocks", "largest of the block")
def attend_with_the_last_maximum(q, k, v, block):
    return attend_with_running(q, k, v, block, keep=False)


@wrong("attention_in_blocks", "one largest for all queries")
def attend_with_one_maximum(q, k, v, block):
    return attend_with_running(q, k, v, block, per_query=False)


@wrong("batch_shares", "behind the end")
def deal_by_rounds(count, num_processes, rank):
    rounds = math.ceil(count / num_processes)
    return [rank + num_processes * turn for turn in range(rounds)]
