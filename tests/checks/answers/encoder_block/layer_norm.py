import math

import torch
from einops import reduce
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import right, wrong


@right("layer_norm")
def with_torchs_variance(x, weight, bias, eps=1e-6):
    var, mean = torch.var_mean(x, dim=-1, unbiased=False, keepdim=True)
    return (x - mean) * torch.rsqrt(var + eps) * weight + bias


@right("layer_norm")
def with_torchs_own(x, weight, bias, eps=1e-6):
    return F.layer_norm(x, (x.shape[-1],), weight, bias, eps)


@right("layer_norm")
def token_by_token(x, weight, bias, eps=1e-6):
    samples = []
    for sample in x:
        rows = []
        for token in sample:
            centred = token - token.sum() / len(token)
            rows.append(
                centred
                / math.e ** (0.5 * torch.log(centred @ centred / len(token) + eps))
            )
        samples.append(torch.stack(rows))
    return torch.stack(samples) * weight + bias


@wrong("layer_norm", "unbiased")
def annotated(x, weight, bias, eps=1e-6):
    return (
        weight * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + bias
    )


@wrong("layer_norm", "unbiased")
def with_var_as_it_is(x, weight, bias, eps=1e-6):
    mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True)
    return (x - mean) / (var + eps).sqrt() * weight + bias


@wrong("layer_norm", "eps 1e-5")
def with_the_default_eps(x, weight, bias, eps=1e-6):
    return F.layer_norm(x, x.shape[-1:], weight, bias)


@wrong("layer_norm", "eps 1e-5")
def with_another_default(x, weight, bias, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], weight, bias, eps)


@wrong("layer_norm", "eps ignored")
def with_a_fixed_eps(x, weight, bias, eps=1e-6):
    return F.layer_norm(x, x.shape[-1:], weight, bias, 1e-6)


@wrong("layer_norm", "eps outside the root")
def adds_eps_to_the_std(x, weight, bias, eps=1e-6):
    std = x.std(-1, keepdim=True, unbiased=False)
    return weight * (x - x.mean(-1, keepdim=True)) / (std + eps) + bias


@wrong("layer_norm", "no eps")
def without_eps(x, weight, bias, eps=1e-6):
    std = x.std(-1, keepdim=True, correction=0)
    return weight * (x - x.mean(-1, keepdim=True)) / std + bias


@wrong("layer_norm", "over tokens")
def over_axis_one(x, weight, bias, eps=1e-6):
    var, mean = torch.var_mean(x, dim=1, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias


@wrong("layer_norm", "over batch and tokens")
def as_a_batch_norm(x, weight, bias, eps=1e-6):
    flat = F.batch_norm(x.flatten(0, 1), None, None, weight, bias, True, eps=eps)
    return flat.reshape(x.shape)


@wrong("layer_norm", "over tokens and numbers")
def over_the_image(x, weight, bias, eps=1e-6):
    return F.layer_norm(x, x.shape[1:], eps=eps) * weight + bias


@wrong("layer_norm", "over everything")
def over_all(x, weight, bias, eps=1e-6):
    return (x - x.mean()) / torch.sqrt(x.var(correction=0) + eps) * weight + bias


@wrong("layer_norm", "no root")
def divides_by_the_variance(x, weight, bias, eps=1e-6):
    var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return (x - mean) / (var + eps) * weight + bias


@wrong("layer_norm", "no shift")
def only_divides(x, weight, bias, eps=1e-6):
    return x / torch.sqrt(x.var(-1, keepdim=True, correction=0) + eps) * weight + bias


@wrong("layer_norm", "RMS")
def as_in_llama(x, weight, bias, eps=1e-6):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight + bias


@wrong("layer_norm", "squares not centred")
def squares_of_x(x, weight, bias, eps=1e-6):
    mean = x.mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt((x**2).mean(-1, keepdim=True) + eps) * weight + bias


@wrong("layer_norm", "no bias")
def forgets_the_bias(x, weight, bias, eps=1e-6):
    return F.layer_norm(x, x.shape[-1:], weight, eps=eps)


@wrong("layer_norm", "neither weight nor bias")
def forgets_both(x, weight, bias, eps=1e-6):
    return F.layer_norm(x, x.shape[-1:], eps=eps)


@wrong("layer_norm", "no keepdim")
def loses_the_axis(x, weight, bias, eps=1e-6):
    mean, var = x.mean(-1), x.var(-1, correction=0)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias


@wrong("layer_norm", "changes its input")
def centres_in_place(x, weight, bias, eps=1e-6):
    x -= x.mean(-1, keepdim=True)
    return x / torch.sqrt((x**2).mean(-1, keepdim=True) + eps) * weight + bias


@wrong("layer_norm", "gradient")
def with_statistics_detached(x, weight, bias, eps=1e-6):
    var, mean = torch.var_mean(x.detach(), dim=-1, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias


@wrong("layer_norm", "difference of squares")
def squares_less_the_square(x, weight, bias, eps=1e-6):
    mean = x.mean(-1, keepdim=True)
    var = (x**2).mean(-1, keepdim=True) - mean**2
    return (x - mean) / (var + eps).sqrt() * weight + bias


@wrong("layer_norm", "difference of squares")
def squares_less_the_square_by_einops(x, weight, bias, eps=1e-6):
    mean = reduce(x, "b t d -> b t 1", "mean")
    var = reduce(x * x, "b t d -> b t 1", "sum") / x.shape[-1] - mean * mean
    return weight * (x - mean) * torch.rsqrt(var.clamp(min=0) + eps) + bias


@right("layer_norm")
def with_pythons_loops(x, weight, bias, eps=1e-6):
    tokens = []
    for token in x.reshape(-1, x.shape[-1]):
        mean = sum(token) / len(token)
        var = sum((number - mean) ** 2 for number in token) / len(token)
        tokens.append((token - mean) / (var + eps) ** 0.5 * weight + bias)
    return torch.stack(tokens).reshape(x.shape)


@right("layer_norm")
def with_std_squared(x, weight, bias, eps=1e-6):
    std = x.std(dim=-1, keepdim=True, unbiased=False)
    return weight * (x - x.mean(dim=-1, keepdim=True)) / (std**2 + eps).sqrt() + bias


@right("layer_norm")
def as_labml_does_it_centred(x, weight, bias, eps=1e-6):
    dims = [-(i + 1) for i in range(len(weight.shape))]
    mean = x.mean(dim=dims, keepdim=True)
    var = ((x - mean) ** 2).mean(dim=dims, keepdim=True)
    return weight * ((x - mean) / torch.sqrt(var + eps)) + bias


@right("layer_norm")
def by_the_module(x, weight, bias, eps=1e-6):
    norm = nn.LayerNorm(x.shape[-1], eps=eps, dtype=x.dtype)
    return torch.func.functional_call(norm, {"weight": weight, "bias": bias}, x)


@wrong("layer_norm", "eps outside the root")
def as_in_the_annotated_transformer(x, weight, bias, eps=1e-6):
    mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True, correction=0)
    return weight * (x - mean) / (std + eps) + bias


@wrong("layer_norm", "over tokens and numbers")
def with_a_shape_of_tokens_and_numbers(x, weight, bias, eps=1e-6):
    return F.layer_norm(x, x.shape[1:], eps=eps) * weight + bias


@wrong("layer_norm", "over everything")
def with_the_mean_of_all(x, weight, bias, eps=1e-6):
    return (x - x.mean()) / torch.sqrt(x.var(correction=0) + eps) * weight + bias


@wrong("layer_norm", "no eps")
def variance_cut_off_at_eps(x, weight, bias, eps=1e-6):
    variance = x.var(dim=-1, unbiased=False, keepdim=True).clamp(min=eps)
    return (x - x.mean(dim=-1, keepdim=True)) / variance.sqrt() * weight + bias
