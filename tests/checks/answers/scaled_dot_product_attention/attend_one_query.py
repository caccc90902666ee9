import math

import torch

from tests.checks.answers import right, wrong, wrong_edits


@right("attend_one_query")
def with_matrices(query, keys, values):
    weights = torch.softmax(keys @ query / math.sqrt(query.numel()), dim=0)
    return weights @ values, weights


@right("attend_one_query")
def with_lists(query, keys, values):
    scores = [sum(a * b for a, b in zip(query, key, strict=True)) for key in keys]
    exps = [math.exp(score / math.sqrt(len(query))) for score in scores]
    weights = [e / sum(exps) for e in exps]
    output = [
        sum(w * value[i] for w, value in zip(weights, values, strict=True))
        for i in range(len(values[0]))
    ]
    return output, weights


@right("attend_one_query")
def key_by_key(query, keys, values):
    scores = torch.zeros(len(keys))
    for j, key in enumerate(keys):
        scores[j] = torch.dot(query, key) / len(query) ** 0.5
    weights = scores.exp() / scores.exp().sum()
    output = torch.zeros(values.shape[1])
    for weight, value in zip(weights, values, strict=True):
        output += weight * value
    return output, weights


@right("attend_one_query")
def as_a_batch_of_one(query, keys, values):
    scores = query[None] @ keys.T * query.shape[0] ** -0.5
    weights = scores.softmax(dim=1)
    return (weights @ values)[0], weights[0]


@wrong("attend_one_query", "hard")
def dictionary(query, keys, values):
    best = (keys @ query).argmax()
    weights = torch.zeros(len(keys), dtype=keys.dtype)
    weights[best] = 1
    return values[best], weights


OF_MATRICES = """
no scale
  / math.sqrt(query.numel()) -> nothing
scale by d
  math.sqrt(query.numel()) -> query.numel()
scale by keys
  query.numel() -> len(keys)
scale by keys
  keys @ query / math.sqrt(query.numel())
  -> (keys * query).sum(-1) / keys.shape[0] ** 0.5
scale late
  / math.sqrt(query.numel()) -> nothing
  dim=0) -> dim=0) / math.sqrt(query.numel())
no softmax
  torch.softmax -> nothing
  , dim=0 -> nothing
not normalised
  torch.softmax -> torch.exp
  , dim=0 -> nothing
weights times keys
  weights @ values -> weights @ keys
averaged
  weights @ values -> (weights[:, None] * values).mean(dim=0)
weights along the numbers
  weights @ values -> (weights * values).sum(dim=0)
keys and values swapped
  query, keys, values -> query, values, keys
scores for weights
  torch.softmax -> nothing
  , dim=0 -> nothing
  weights @ values -> weights.softmax(0) @ values
"""

OF_A_BATCH = """
softmax of single scores
  dim=1 -> dim=0
reshape
  (weights @ values)[0], weights[0] -> weights @ values, weights
"""

wrong_edits("attend_one_query", with_matrices, OF_MATRICES)
wrong_edits("attend_one_query", as_a_batch_of_one, OF_A_BATCH)
