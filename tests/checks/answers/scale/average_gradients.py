import torch

from tests.checks.answers import wrong_edits


@wrong_edits("""
zero times NaN: if n -> nothing
mean of means: g * n for -> g for
  sum(counts) -> len(counts)
weighed, not divided: / sum(counts) -> nothing
divided by processes: sum(counts) -> len(counts)
sums over images: g * n for -> g for
values: = lambda gradients, counts: gradients[counts.index(max(counts))]
changes its input: g * n for -> g.mul_(n) for
""")
def average_with_a_sum(gradients, counts):
    pairs = zip(gradients, counts, strict=True)
    return sum(g * n for g, n in pairs if n) / sum(counts)


@wrong_edits("zero times NaN: > 0 -> >= 0")
def average_with_einsum(gradients, counts):
    weights = torch.tensor(counts).to(gradients[0])
    had_some = weights > 0
    stacked, weights = torch.stack(gradients)[had_some], weights[had_some]
    return torch.einsum("w,w...->...", weights / weights.sum(), stacked)


def average_as_ddp_does(gradients, counts):
    """Scale the loss in each process, then take the plain mean over the processes."""
    W, B = len(gradients), sum(counts)
    scaled = [
        g * (n * W / B) if n else torch.zeros_like(g)
        for g, n in zip(gradients, counts, strict=True)
    ]
    return torch.stack(scaled).mean(dim=0)


def average_in_a_loop(gradients, counts):
    total = torch.zeros_like(gradients[0])
    for gradient, count in zip(gradients, counts, strict=True):
        if count == 0:
            continue
        total += gradient * (count / sum(counts))
    return total
