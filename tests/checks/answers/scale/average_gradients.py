import torch

from tests.checks.answers import right, wrong


@right("average_gradients")
def average_with_a_sum(gradients, counts):
    pairs = zip(gradients, counts, strict=True)
    return sum(g * n for g, n in pairs if n) / sum(counts)


@right("average_gradients")
def average_with_einsum(gradients, counts):
    weights = torch.tensor(counts).to(gradients[0])
    had_some = weights > 0
    stacked, weights = torch.stack(gradients)[had_some], weights[had_some]
    return torch.einsum("w,w...->...", weights / weights.sum(), stacked)


@right("average_gradients")
def average_as_ddp_does(gradients, counts):
    """Scale the loss in each process, then take the plain mean over the processes."""
    W, B = len(gradients), sum(counts)
    scaled = [
        g * (n * W / B) if n else torch.zeros_like(g)
        for g, n in zip(gradients, counts, strict=True)
    ]
    return torch.stack(scaled).mean(dim=0)


@right("average_gradients")
def average_in_a_loop(gradients, counts):
    total = torch.zeros_like(gradients[0])
    for gradient, count in zip(gradients, counts, strict=True):
        if count == 0:
            continue
        total += gradient * (count / sum(counts))
    return total


@wrong("average_gradients", "zero times NaN")
def average_multiplied_by_zero(gradients, counts):
    pairs = zip(gradients, counts, strict=True)
    return sum(g * n for g, n in pairs) / sum(counts)


@wrong("average_gradients", "zero times NaN")
def average_multiplied_at_once(gradients, counts):
    stacked = torch.stack(gradients)
    weights = torch.tensor(counts).to(stacked)
    return torch.einsum("w,w...->...", weights / weights.sum(), stacked)


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
