import torch
from einops import reduce

from tests.checks.answers import right, wrong


@right("mean_pool")
def mean_with_a_slice(tokens):
    return tokens[:, 1:].mean(dim=1)


@right("mean_pool")
def mean_with_einops(tokens):
    return reduce(tokens[:, 1:], "b n d -> b d", "mean")


@right("mean_pool")
def mean_by_subtraction(tokens):
    total = tokens.double().sum(1) - tokens[:, 0]
    return (total / (tokens.shape[1] - 1)).to(tokens.dtype)


@right("mean_pool")
def mean_with_loops(tokens):
    means = []
    for sample in tokens:
        total = torch.zeros_like(sample[0])
        for token in sample[1:]:
            total = total + token
        means.append(total / (len(sample) - 1))
    return torch.stack(means)


@wrong("mean_pool", "class token too")
def mean_of_all(tokens):
    return torch.mean(tokens, 1)


@wrong("mean_pool", "class token alone")
def first_token(tokens):
    return tokens[:, 0, :]


@wrong("mean_pool", "last token left out")
def mean_of_the_first(tokens):
    return tokens[:, :-1].mean(1)


@wrong("mean_pool", "divided by T")
def sum_over_the_wrong_number(tokens):
    T = tokens.shape[1]
    return tokens[:, 1:].sum(1) / T


@wrong("mean_pool", "over D")
def mean_over_the_last_axis(tokens):
    return tokens[:, 1:].mean(-1)


@wrong("mean_pool", "over the batch")
def mean_over_images(tokens):
    return tokens[:, 1:].mean(0)


@wrong("mean_pool", "first image left out")
def slices_the_batch(tokens):
    return tokens[1:].mean(1)


@wrong("mean_pool", "axis kept")
def keeps_an_axis(tokens):
    return tokens[:, 1:].mean(1, keepdim=True)


@wrong("mean_pool", "largest")
def pools_as_a_cnn_does(tokens):
    return tokens[:, 1:].max(dim=1).values


@wrong("mean_pool", "sum")
def adds_the_patches(tokens):
    return torch.einsum("bnd->bd", tokens[:, 1:])


@wrong("mean_pool", "changes its input")
def clears_the_class_token(tokens):
    tokens[:, 0] = 0
    return tokens.sum(1) / (tokens.shape[1] - 1)


@wrong("mean_pool", "dtype")
def mean_in_float32(tokens):
    return tokens[:, 1:].float().mean(1)


@wrong("mean_pool", "values")
def registers_of_large_models(tokens):
    return tokens[:, 5 if tokens.shape[1] > 64 else 1 :].mean(dim=1)
