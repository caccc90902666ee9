import torch

from tests.checks.answers import right, wrong, wrong_edits


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


@wrong("causal_mask", "all seen")
def nothing_hidden(num_tokens):
    return torch.full((num_tokens, num_tokens), True)


@wrong("causal_mask", "type")
def nested_lists(num_tokens):
    return [[j <= i for j in range(num_tokens)] for i in range(num_tokens)]


@right("causal_mask")
def where_the_added_mask_is_zero(n):
    return torch.nn.Transformer.generate_square_subsequent_mask(n) == 0


OF_LOWER_TRIANGLE = """
future seen
  tril -> triu
one ahead
  num_tokens)) -> num_tokens), diagonal=1)
dtype
  .bool() -> nothing
reshape
  bool() -> bool()[None, None]
reshape
  torch.ones( -> torch.ones(1, 1,
"""

OF_PLACES = """
itself hidden
  <= -> <
"""

OF_UPPER_TRIANGLE = """
True forbids
  ~ -> nothing
"""

OF_ADDED_MASK = """
to be added
  == 0 -> nothing
"""

wrong_edits("causal_mask", lower_triangle, OF_LOWER_TRIANGLE)
wrong_edits("causal_mask", by_comparing_places, OF_PLACES)
wrong_edits("causal_mask", not_the_upper_triangle, OF_UPPER_TRIANGLE)
wrong_edits("causal_mask", where_the_added_mask_is_zero, OF_ADDED_MASK)


@wrong("causal_mask", "no effect")
def cut_from_a_table(num_tokens):
    return torch.ones(128, 128, dtype=torch.bool).tril()[:num_tokens, :num_tokens]
