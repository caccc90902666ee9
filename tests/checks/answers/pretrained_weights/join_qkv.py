import torch
from einops import rearrange
from torch import nn

from tests.checks.answers import right, wrong


@right("join_qkv")
def join_with_cat(q_weight, q_bias, k_weight, k_bias, v_weight, v_bias):
    weight = torch.cat([q_weight, k_weight, v_weight], dim=0)
    return weight, torch.cat([q_bias, k_bias, v_bias], dim=0)


@right("join_qkv")
def join_into_an_empty_one(qw, qb, kw, kb, vw, vb):
    D = qb.numel()
    weight, bias = qw.new_empty(3 * D, D), qb.new_empty(3 * D)
    for i, (w, b) in enumerate([(qw, qb), (kw, kb), (vw, vb)]):
        weight[i * D : (i + 1) * D] = w
        bias[i * D : (i + 1) * D] = b
    return weight, bias


@right("join_qkv")
def join_with_einops(*parts):
    weight = rearrange(list(parts[::2]), "three out col -> (three out) col")
    return [weight, rearrange(list(parts[1::2]), "three out -> (three out)")]


@right("join_qkv")
def join_in_a_linear_layer(qw, qb, kw, kb, vw, vb):
    layer = nn.Linear(qw.shape[1], 3 * qw.shape[0], dtype=qw.dtype)
    layer.weight.data = torch.vstack([qw, kw, vw])
    layer.bias.data = torch.hstack([qb, kb, vb])
    return layer.weight, layer.bias


@wrong("join_qkv", "q and k swapped")
def join_keys_first(qw, qb, kw, kb, vw, vb):
    return torch.cat([kw, qw, vw]), torch.cat([kb, qb, vb])


@wrong("join_qkv", "k and v swapped")
def join_by_the_alphabet_backwards(qw, qb, kw, kb, vw, vb):
    return torch.vstack((qw, vw, kw)), torch.hstack((qb, vb, kb))


@wrong("join_qkv", "k first")
def join_as_key_value_query(qw, qb, kw, kb, vw, vb):
    return torch.cat([kw, vw, qw]), torch.cat([kb, vb, qb])


@wrong("join_qkv", "biases in another order")
def join_biases_otherwise(qw, qb, kw, kb, vw, vb):
    return torch.cat([qw, kw, vw]), torch.cat([kb, qb, vb])


@wrong("join_qkv", "rows interleaved")
def join_row_by_row(qw, qb, kw, kb, vw, vb):
    weight = rearrange([qw, kw, vw], "three out col -> (out three) col")
    return weight, rearrange([qb, kb, vb], "three out -> (out three)")


@wrong("join_qkv", "side by side")
def join_along_the_last_axis(qw, qb, kw, kb, vw, vb):
    return torch.cat([qw, kw, vw], dim=-1), torch.cat([qb, kb, vb], dim=-1)


@wrong("join_qkv", "each transposed")
def join_as_in_tensorflow(qw, qb, kw, kb, vw, vb):
    return torch.cat([qw.t(), kw.t(), vw.t()]), torch.cat([qb, kb, vb])


@wrong("join_qkv", "biases forgotten")
def join_weights_alone(qw, qb, kw, kb, vw, vb):
    return torch.cat([qw, kw, vw])


@wrong("join_qkv", "biases of zero")
def join_with_a_new_layer(qw, qb, kw, kb, vw, vb):
    layer = nn.Linear(qw.shape[1], 3 * len(qw)).to(qw.dtype)
    nn.init.zeros_(layer.bias)
    layer.weight.data = torch.cat([qw, kw, vw])
    return layer.weight, layer.bias


@wrong("join_qkv", "stacked")
def join_with_stack(*parts):
    return torch.stack(parts[::2]), torch.stack(parts[1::2])


@wrong("join_qkv", "dtype")
def join_in_float32(qw, qb, kw, kb, vw, vb):
    D = len(qw)
    weight, bias = torch.zeros(3 * D, D), torch.zeros(3 * D)
    weight[:D], weight[D : 2 * D], weight[2 * D :] = qw, kw, vw
    bias[:D], bias[D : 2 * D], bias[2 * D :] = qb, kb, vb
    return weight, bias
