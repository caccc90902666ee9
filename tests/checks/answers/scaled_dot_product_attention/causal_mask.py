import torch
from torch import nn

from tests.checks.answers import right, wrong


@right("causal_mask")
def lower_triangle(num_tokens):
    return torch.tril(torch.ones(num_tokens, num_tokens)).bool()


@right("causal_mask")
def by_comparing_places(num_tokens):
    place = torch.arange(num_tokens)
    return place[None, :] <= place[:, None]


@right("causal_mask")
def cell_by_cell(num_tokens):
    mask = torch.zeros(num_tokens, num_tokens, dtype=torch.bool)
    for i in range(num_tokens):
        for j in range(i + 1):
            mask[i, j] = True
    return mask


@right("causal_mask")
def not_the_upper_triangle(n):
    return ~torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)


@wrong("causal_mask", "True forbids")
def as_the_layer_wants_it(num_tokens):
    return torch.triu(torch.ones(num_tokens, num_tokens), diagonal=1).bool()


@wrong("causal_mask", "future seen")
def upper_triangle(num_tokens):
    return torch.triu(torch.ones(num_tokens, num_tokens)).bool()


@wrong("causal_mask", "itself hidden")
def strictly_before(num_tokens):
    place = torch.arange(num_tokens)
    return place[None, :] < place[:, None]


@wrong("causal_mask", "one ahead")
def diagonal_of_one(num_tokens):
    return torch.ones(num_tokens, num_tokens).tril(diagonal=1) == 1


@wrong("causal_mask", "dtype")
def ones_and_zeros(num_tokens):
    return torch.tril(torch.ones(num_tokens, num_tokens))


@wrong("causal_mask", "to be added")
def for_adding(num_tokens):
    return nn.Transformer.generate_square_subsequent_mask(num_tokens)


@wrong("causal_mask", "itself alone")
def the_diagonal(num_tokens):
    return torch.eye(num_tokens) > 0


@wrong("causal_mask", "all seen")
def nothing_hidden(num_tokens):
    return torch.full((num_tokens, num_tokens), True)


@wrong("causal_mask", "reshape")
def with_axes_for_the_heads(num_tokens):
    return lower_triangle(num_tokens)[None, None]


@wrong("causal_mask", "type")
def nested_lists(num_tokens):
    return [[j <= i for j in range(num_tokens)] for i in range(num_tokens)]


@right("causal_mask")
def where_the_added_mask_is_zero(n):
    return torch.nn.Transformer.generate_square_subsequent_mask(n) == 0


@wrong("causal_mask", "reshape")
def with_axes_for_batch_and_heads(n):
    return torch.tril(torch.ones(1, 1, n, n)).bool()


@wrong("causal_mask", "shape")
def cut_from_a_table(num_tokens):
    return torch.ones(128, 128, dtype=torch.bool).tril()[:num_tokens, :num_tokens]
