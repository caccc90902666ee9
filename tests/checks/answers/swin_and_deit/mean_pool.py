import torch
from einops import reduce

from tests.checks.answers import wrong_edits


@wrong_edits("""
class token too: [:, 1:] -> nothing
last token left out: 1: -> :-1
divided by T: .mean(dim=1) -> .sum(dim=1) / tokens.shape[1]
first image left out: [:, 1:] -> [1:]
factor: .mean -> .sum
values: 1: -> 5 if tokens.shape[1] > 64 else 1 :
    leaves out registers too, of which a large model has four
changes its input: return -> tokens[:, 0] = 0; return
""")
def mean_with_a_slice(tokens):
    return tokens[:, 1:].mean(dim=1)


def mean_with_einops(tokens):
    return reduce(tokens[:, 1:], "b n d -> b d", "mean")


def mean_by_subtraction(tokens):
    total = tokens.double().sum(1) - tokens[:, 0]
    return (total / (tokens.shape[1] - 1)).to(tokens.dtype)


def mean_with_loops(tokens):
    means = []
    for sample in tokens:
        total = torch.zeros_like(sample[0])
        for token in sample[1:]:
            total = total + token
        means.append(total / (len(sample) - 1))
    return torch.stack(means)
