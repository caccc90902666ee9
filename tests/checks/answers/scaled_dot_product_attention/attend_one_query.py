import math

import torch

from tests.checks.answers import right, wrong


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


@wrong("attend_one_query", "no scale")
def not_divided(query, keys, values):
    weights = (keys * query).sum(1).softmax(0)
    return weights @ values, weights


@wrong("attend_one_query", "scale by d")
def divided_by_d(query, keys, values):
    weights = (keys @ query / len(query)).softmax(0)
    return weights @ values, weights


@wrong("attend_one_query", "scale by keys")
def divided_by_the_keys(query, keys, values):
    weights = (keys @ query / math.sqrt(len(keys))).softmax(0)
    return weights @ values, weights


@wrong("attend_one_query", "no softmax")
def scores_as_weights(query, keys, values):
    weights = keys @ query / math.sqrt(len(query))
    return weights @ values, weights


@wrong("attend_one_query", "not normalised")
def no_sum(query, keys, values):
    weights = torch.exp(keys @ query / math.sqrt(len(query)))
    return weights @ values, weights


@wrong("attend_one_query", "hard")
def dictionary(query, keys, values):
    best = (keys @ query).argmax()
    weights = torch.zeros(len(keys), dtype=keys.dtype)
    weights[best] = 1
    return values[best], weights


@wrong("attend_one_query", "weights times keys")
def gives_back_keys(query, keys, values):
    weights = (keys @ query / math.sqrt(len(query))).softmax(0)
    return weights @ keys, weights


@wrong("attend_one_query", "not added up")
def one_by_one(query, keys, values):
    weights = (keys @ query / math.sqrt(len(query))).softmax(0)
    return weights.unsqueeze(1) * values, weights


@wrong("attend_one_query", "weights first")
def turned_round(query, keys, values):
    return with_matrices(query, keys, values)[::-1]


@wrong("attend_one_query", "scale late")
def scaled_weights(query, keys, values):
    weights = (keys @ query).softmax(dim=0) / math.sqrt(len(query))
    return weights @ values, weights


@wrong("attend_one_query", "averaged")
def mean_of_weighted(query, keys, values):
    _, weights = with_matrices(query, keys, values)
    return (weights[:, None] * values).mean(dim=0), weights


@wrong("attend_one_query", "weights along the numbers")
def without_an_axis(query, keys, values):
    _, weights = with_matrices(query, keys, values)
    return (weights * values).sum(dim=0), weights


@wrong("attend_one_query", "numbers added up")
def sum_over_the_wrong_axis(query, keys, values):
    _, weights = with_matrices(query, keys, values)
    return (weights.unsqueeze(1) * values).sum(dim=1), weights


@wrong("attend_one_query", "output alone")
def keeps_the_weights(query, keys, values):
    return with_matrices(query, keys, values)[0]


@wrong("attend_one_query", "keys and values swapped")
def values_asked(query, keys, values):
    return with_matrices(query, values, keys)


@wrong("attend_one_query", "plain mean")
def mean_of_values(query, keys, values):
    return values.mean(0), with_matrices(query, keys, values)[1]


@wrong("attend_one_query", "scores for weights")
def returns_the_scores(query, keys, values):
    scores = keys @ query / math.sqrt(len(query))
    return scores.softmax(0) @ values, scores


@wrong("attend_one_query", "exponentials for weights")
def returns_what_it_has_not_divided(query, keys, values):
    exps = (keys @ query / math.sqrt(len(query))).exp()
    return (exps / exps.sum()) @ values, exps


@wrong("attend_one_query", "softmax of single scores")
def softmax_down_a_single_row(query, keys, values):
    scores = query.unsqueeze(0) @ keys.T / math.sqrt(query.size(-1))  # (1, T)
    weights = torch.softmax(scores, dim=0).squeeze(0)
    return weights @ values, weights


@wrong("attend_one_query", "reshape")
def as_a_batch_of_one_query(query, keys, values):
    scores = query.unsqueeze(0) @ keys.T / math.sqrt(query.size(-1))  # (1, T)
    weights = scores.softmax(dim=-1)
    return weights @ values, weights


@wrong("attend_one_query", "scale by keys")
def takes_the_length_of_the_table(query, keys, values):
    scores = (keys * query).sum(-1) / keys.shape[0] ** 0.5
    weights = scores.softmax(0)
    return (weights[:, None] * values).sum(0), weights
