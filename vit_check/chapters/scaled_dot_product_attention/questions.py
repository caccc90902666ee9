import math

import torch
from torch import Tensor

from vit_steps.attention import scaled_dot_product_attention

SPREADS = (0.5, 1.0, 2.0)  # standard deviations of the scores, in the order asked for


def pencil(query: list[float], scale: float = 1.0) -> Tensor:
    """Return the weights of the three keys on the page, (3,)."""
    keys = torch.tensor([[2.0, 0, 1, 0], [0, 0, 5, 1], [1, 1, 1, -1]])
    q = scale * torch.tensor([query])  # (1, d)
    return scaled_dot_product_attention(q, keys, keys)[1][0]


def third_when_doubled() -> str:
    query = [1.0, 1.0, 0.0, 2.0]
    before, after = pencil(query)[2], pencil(query, 2.0)[2]
    return "grows" if after > before else "shrinks" if after < before else "stays"


def about(spread: float) -> float:
    """Return the share of tokens that is attended to when scores have this spread."""
    return math.exp(-(spread**2) / 2)


QUESTIONS = """
pencil_weights: the three weights, in the order of the keys
  = tuple(pencil([1.0, 1.0, 0.0, 2.0]).tolist())
  rounding 0.04
  (0.468, 0.468, 0.063) or (0.47, 0.47, 0.06): those are the weights of the scores as
    they are: divide by √d first
  (0.212, 0.212, 0.576): the last number of key 3 has a minus
  (0.384, 0.384, 0.233): those are the weights of the scores divided by d, expected √d
  (0.5, 0.5, 0.0): those are the scores divided by their sum: the exponential is missing
  (1.0, 1.0, 0.0): those are scaled scores; the softmax is to come
  (2.0, 2.0, 0.0): those are scores; √d and the softmax are to come
  ? The scores are three dot products. How long are the vectors?
  ? d = 4, so the scores are halved. Then e to each of them.
  ? The exponentials are e, e and 1. Divide each by their sum.
third_weight_when_the_query_doubles: 'grows', 'stays' or 'shrinks'
  = third_when_doubled()
  "stays": its score stays 0, but the other two grow, and the three share one
  "grows": a longer query is choosier: the last one gets less
  ? What happens to each of the three scores?
  ? The third score stays; the other two become larger. The weights add up to 1.
  ? 1 / (2e + 1) becomes 1 / (2e² + 1).
output_of_equal_values: the output, two numbers
  = scaled_dot_product_attention(torch.tensor([[1.0, 1, 0, 2]]), torch.eye(4)[:3],
    torch.tensor([[3.0, 5.0]]).repeat(3, 1))[0][0]
  (9.0, 15.0): that is the sum of the values; their weights add up to 1
  (1.0, 5 / 3): that is a third of a value: three such parts are added up
  ? Write the output as a sum of three weights times the same value.
  ? Take the value out of the sum. What do the weights add up to?
  ? An average of equal things is that thing.
spread_of_raw_scores: the standard deviation of the scores before the division
  = 3 * 0.5 * math.sqrt(64)
  rounding 0.01
  1.5: that is the spread of one product, and of a score after the division by √d
  math.sqrt(64 * 3 * 0.5): 3 and 0.5 are standard deviations; square them
  28.0: a product's standard deviation is here the product of both
  math.sqrt(64 * (3**2 + 0.5**2)) or math.sqrt(64 * (3 + 0.5)): the variance of a
    product is the product of the variances, not a sum
  144.0: that is the variance; the standard deviation is its root
  8.0: that is for queries and keys of standard deviation 1; here it is 3 and 0.5
  96.0: it is the variances that add up over the d terms
  ? What is the variance of one product of a query's and a key's number?
  ? 9 times a quarter. Then 64 such variances add up.
  ? √(64 · 9 · ¼).
slope_of_the_first_weight: the first weight's change per unit of the third score
  = torch.func.jacrev(lambda scores: scores.softmax(dim=0))(
    torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64).log())[0, 2].item()
  rounding 0.01
  0.1: the size is right and the sign is not: a rival gains
  0.25: that is the slope for its own score
  -0.15: that is the slope for the second score
  0.0: its own exponential stays, but the sum that it is divided by does not
  0.16: that is the third weight's slope for its own score
  -0.06: that is how the second and third weight act on each other
  ? The first weight is its exponential over the sum. Which of the two moves?
  ? Take 0.5, 0.3 and 0.2 as the exponentials: 0.01 more makes their sum 1.002.
  ? Minus the first weight times the third.
line_that_leaks: the letter of the line: 'a', 'b', 'c' or 'd'
  = "b"
  "a": hidden keys may have scores, so long as they get no weight
  "c": the softmax runs over the keys, and each row adds up to 1
  "d": the values are gathered by the weights that they are given
  ? Print the weights of query 0. They should be 1 and then zeros.
  ? What score does a hidden key have before the softmax, and what is e to that score?
  ? 1e-9 is nearly 0, and e⁰ is 1.
share_of_tokens_looked_at: three numbers between 0 and 1, for s in (0.5, 1.0, 2.0)
  accept numbers(len(SPREADS))
  if min(given) <= 0: holds a number not above 0: an entropy has a minus in front
  if max(given) > 1: holds a number above 1: each row of weights is to add up to 1, the
    logarithm is that of base e, and the number of tokens is divided by T
  if sorted(given, reverse=True) != given: does not fall: a larger s looks at fewer
  if any(n > about(s) + 0.05 for n, s in zip(given, SPREADS)): is too large at one of
    the s: draw s times 1000 random scores, take the softmax, then the exponential of
    its entropy, over T
  if any(n < about(s) - 0.05 for n, s in zip(given, SPREADS)): is too small at one of
    the s: draw s times 1000 random scores, take the softmax, then the exponential of
    its entropy, over T
  ? The scores are s * torch.randn(...), with no queries and keys at all.
  ? The entropy of a row is minus the sum of w · log w over the row.
  ? (-(w * w.log()).sum(dim=-1)).exp().mean() / T, with w the softmax of s *
    torch.randn(200, T).
"""
