import torch

from tests.checks.answers import wrong_edits


@wrong_edits("""
future seen: tril -> triu
one ahead: num_tokens)) -> num_tokens), diagonal=1)
dtype: .bool() -> nothing
reshape: bool() -> bool()[None, None]
reshape: torch.ones( -> torch.ones(1, 1,
type: .bool() -> .bool().tolist()
shape
  num_tokens, num_tokens)).bool() -> 128, 128)).bool()[:num_tokens, :num_tokens]
shape: num_tokens, num_tokens -> 5, 5
    "… right for num_tokens=5; for num_tokens=1, the output has shape (5, 5)…"
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


@wrong_edits("to be added: == 0 -> nothing")
def where_the_added_mask_is_zero(n):
    return torch.nn.Transformer.generate_square_subsequent_mask(n) == 0
