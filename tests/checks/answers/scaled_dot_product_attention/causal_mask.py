import torch

from tests.checks.answers import wrong, wrong_edits


@wrong_edits("""
future seen: tril -> triu
one ahead: num_tokens)) -> num_tokens), diagonal=1)
dtype: .bool() -> nothing
reshape: bool() -> bool()[None, None]
reshape: torch.ones( -> torch.ones(1, 1,
""")
def lower_triangle(num_tokens):
    return torch.tril(torch.ones(num_tokens, num_tokens)).bool()


@wrong_edits("itself hidden: <= -> <")
def by_comparing_places(num_tokens):
    place = torch.arange(num_tokens)
    return place[None, :] <= place[:, None]


@wrong_edits("True forbids: ~ -> nothing")
def not_the_upper_triangle(n):
    return ~torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)


@wrong("type")
def nested_lists(num_tokens):
    return [[j <= i for j in range(num_tokens)] for i in range(num_tokens)]


@wrong_edits("to be added: == 0 -> nothing")
def where_the_added_mask_is_zero(n):
    return torch.nn.Transformer.generate_square_subsequent_mask(n) == 0


@wrong("no effect")
def cut_from_a_table(num_tokens):
    return torch.ones(128, 128, dtype=torch.bool).tril()[:num_tokens, :num_tokens]
