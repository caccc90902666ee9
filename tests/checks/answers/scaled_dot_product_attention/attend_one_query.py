import math

import torch

from tests.checks.answers import wrong_edits


@wrong_edits("""
no scale: / math.sqrt(query.numel()) -> nothing
scale by d: math.sqrt(query.numel()) -> query.numel()
scale by tokens: query.numel() -> len(keys)
no softmax: torch.softmax -> nothing
  , dim=0 -> nothing
weights times keys: weights @ values -> weights @ keys
scores for weights: torch.softmax -> nothing
  , dim=0 -> nothing
  weights @ values -> weights.softmax(0) @ values
""")
def with_matrices(query, keys, values):
    weights = torch.softmax(keys @ query / math.sqrt(query.numel()), dim=0)
    return weights @ values, weights


def with_lists(query, keys, values):
    scores = [sum(a * b for a, b in zip(query, key, strict=True)) for key in keys]
    exps = [math.exp(score / math.sqrt(len(query))) for score in scores]
    weights = [e / sum(exps) for e in exps]
    output = [
        sum(w * value[i] for w, value in zip(weights, values, strict=True))
        for i in range(len(values[0]))
    ]
    return output, weights


def key_by_key(query, keys, values):
    scores = torch.zeros(len(keys))
    for j, key in enumerate(keys):
        scores[j] = torch.dot(query, key) / len(query) ** 0.5
    weights = scores.exp() / scores.exp().sum()
    output = torch.zeros(values.shape[1])
    for weight, value in zip(weights, values, strict=True):
        output += weight * value
    return output, weights


@wrong_edits("reshape: (weights @ values)[0], weights[0] -> weights @ values, weights")
def as_a_batch_of_one(query, keys, values):
    scores = query[None] @ keys.T * query.shape[0] ** -0.5
    weights = scores.softmax(dim=1)
    return (weights @ values)[0], weights[0]
