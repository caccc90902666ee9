import torch
from torch import Tensor

from vit_check.engine.functions import checked_by

TABLE = """
causal_mask(num_tokens) -> (T, T), True where a query may look
  5
  1
  130
future seen: tril -> triu
    is the wrong way round: query 0 sees all tokens; rows are queries, columns keys
True forbids: return -> return ~
    is True where a query must not look; here True says that it may
itself hidden: tril() -> tril(-1)
    hides each token from itself, so that the first one has nothing to look at
one ahead: tril() -> tril(1)
    lets each token see the next one, which is what it is to guess
to be added: tril() -> tril().log()
    holds 0 and minus infinity, to be added to the scores; expected True and False
? Draw it for three tokens, with a row for each query. What may token 0 see?
? Key j is allowed for query i if j is not larger than i: the diagonal and all below it.
? torch.ones(num_tokens, num_tokens, dtype=torch.bool).tril().
"""


@checked_by(TABLE)
def causal_mask(num_tokens: int) -> Tensor:
    return torch.ones(num_tokens, num_tokens, dtype=torch.bool).tril()
