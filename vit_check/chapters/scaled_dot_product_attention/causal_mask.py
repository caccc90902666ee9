"""The check of ``causal_mask``, chapter 4."""

import math

import torch
from torch import Tensor

from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake


def _causal(num_tokens: int) -> Tensor:
    return torch.ones(num_tokens, num_tokens, dtype=torch.bool).tril()


def _all(num_tokens: int) -> Tensor:
    return torch.ones(num_tokens, num_tokens, dtype=torch.bool)


causal_mask = FunctionCheck(
    "causal_mask",
    "causal_mask(num_tokens) -> (T, T), True where a query may look",
    _causal,
    lambda generator: iter([[5], [1], [130]]),
    [
        Mistake(
            "future seen",
            "is the wrong way round: query 0 sees all tokens and the last one only "
            "itself; rows are queries, columns are keys",
            lambda n: _all(n).triu(),
        ),
        Mistake(
            "True forbids",
            "is True where a query must not look; here True says that it may",
            lambda n: ~_causal(n),
        ),
        Mistake(
            "itself hidden",
            "hides each token from itself, so that the first one has nothing to look "
            "at",
            lambda n: _all(n).tril(-1),
        ),
        Mistake(
            "one ahead",
            "lets each token see the next one, which is what it is to guess",
            lambda n: _all(n).tril(1),
        ),
        Mistake(
            "itself alone",
            "lets each token see itself and no other",
            lambda n: torch.eye(n, dtype=torch.bool),
        ),
        Mistake(
            "all seen",
            "hides nothing: every query sees every key",
            _all,
        ),
        Mistake(
            "one before",
            "lets a token see itself and one before it; it may see all before it",
            lambda n: _all(n).tril() & _all(n).triu(-1),
        ),
        Mistake(
            "to be added",
            "holds 0 and minus infinity, to be added to the scores; expected True and "
            "False",
            lambda n: torch.zeros(n, n).masked_fill(~_causal(n), -math.inf),
        ),
        Mistake(
            "one row",
            "has one row, which would go for all queries; each query has a row of its "
            "own",
            lambda n: _all(n)[-1],
        ),
    ],
    hints=(
        "Draw it for three tokens: a row for each query, a column for each key. What "
        "may token 0 see?",
        "Key j is allowed for query i if j is not larger than i: the diagonal and all "
        "below it.",
        "torch.ones(num_tokens, num_tokens, dtype=torch.bool).tril().",
    ),
    shape="(T, T)",
    gradients=False,
)
