import math

import torch
from torch.nn import functional as F

from tests.answers import right, wrong


@right("softmax")
def pytorchs(scores):
    return F.softmax(scores, dim=-1)


@right("softmax")
def largest_taken_off(scores):
    exps = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return exps / exps.sum(dim=-1, keepdim=True)


@wrong("softmax", "one for all rows")
def one_largest_for_all(scores):
    exps = (scores - scores.max()).exp()
    return exps / exps.sum(-1, keepdim=True)


@right("softmax")
def through_the_logarithm(scores):
    return (scores - torch.logsumexp(scores, dim=-1, keepdim=True)).exp()


@right("softmax")
def row_by_row(scores):
    rows = []
    for row in scores.reshape(-1, scores.shape[-1]):
        exps = (row - row.max().detach()).exp()
        rows.append(exps / exps.sum())
    return torch.stack(rows).reshape(scores.shape)


@wrong("softmax", "overflow")
def as_the_formula_says(scores):
    return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)


@wrong("softmax", "NaN covered")
def nan_to_zero(scores):
    exps = scores.exp()
    return torch.nan_to_num(exps / exps.sum(dim=-1, keepdim=True))


@wrong("softmax", "mean subtracted")
def centred(scores):
    exps = torch.exp(scores - scores.mean(-1, keepdim=True))
    return exps / exps.sum(-1, keepdim=True)


@wrong("softmax", "mean subtracted")
def smallest_taken_off(scores):
    exps = torch.exp(scores - scores.min(dim=-1, keepdim=True).values)
    return exps / exps.sum(-1, keepdim=True)


@wrong("softmax", "size subtracted")
def absolute_largest(scores):
    exps = torch.exp(scores - scores.abs().max(dim=-1, keepdim=True)[0])
    return exps / exps.sum(-1, keepdim=True)


@wrong("softmax", "over the first axis")
def axis_0(scores):
    return torch.softmax(scores, 0)


@wrong("softmax", "over the axis before the last")
def axis_minus_2(scores):
    exps = (scores - scores.amax(-2, keepdim=True)).exp()
    return exps / exps.sum(-2, keepdim=True)


@wrong("softmax", "over everything")
def flat(scores):
    return scores.flatten().softmax(0).reshape(scores.shape)


@wrong("softmax", "keepdim missing")
def without_keepdim(scores):
    exps = torch.exp(scores)
    return exps / exps.sum(dim=-1)


@wrong("softmax", "keepdim missing twice")
def largest_without_keepdim(scores):
    exps = (scores - scores.max(dim=-1).values).exp()
    return exps / exps.sum(dim=-1)


@wrong("softmax", "keepdim missing at the largest")
def largest_along_the_columns(scores):
    exps = (scores - scores.max(dim=-1).values).exp()
    return exps / exps.sum(dim=-1, keepdim=True)


@wrong("softmax", "one sum for all rows")
def sum_of_everything(scores):
    exps = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return exps / exps.sum()


@wrong("softmax", "divided by the largest score")
def scaled_to_one(scores):
    exps = (scores / scores.amax(dim=-1, keepdim=True)).exp()
    return exps / exps.sum(dim=-1, keepdim=True)


@wrong("softmax", "not normalised")
def exponentials(scores):
    return math.e**scores


@wrong("softmax", "divided by the largest")
def forgets_the_sum(scores):
    return torch.exp(scores - scores.amax(dim=-1, keepdim=True))


@wrong("softmax", "no exponential")
def shares_of_the_scores(scores):
    return scores / scores.sum(-1, keepdim=True)


@wrong("softmax", "largest of each column")
def wrong_largest(scores):
    exps = torch.exp(scores - scores.max(dim=-2, keepdim=True)[0])
    return exps / exps.sum(dim=-1, keepdim=True)


@wrong("softmax", "logarithm")
def log_weights(scores):
    return F.log_softmax(scores, dim=-1)


@wrong("softmax", "sigmoid")
def each_for_itself(scores):
    return 1 / (1 + torch.exp(-scores))


@wrong("softmax", "changes its input")
def in_place(scores):
    scores -= scores.max(dim=-1, keepdim=True).values
    return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)


@wrong("softmax", "dtype")
def always_double(scores):
    return scores.double().softmax(dim=-1)


@wrong("softmax", "no gradient")
def by_numpy(scores):
    exps = torch.from_numpy(scores.detach().numpy())
    return exps.softmax(-1)


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
