"""Checks for what a student has built: one a piece, with a sentence when it is wrong.

from vit_steps import check

check.patchify(my_patchify)
check.multi_head_attention(MyAttention, hint=1)
"""

from vit_steps.check.answers import answer
from vit_steps.check.attention import (
    masked_attention,
    merge_heads,
    multi_head_attention,
    scaled_dot_product_attention,
    split_heads,
)
from vit_steps.check.verdict import CheckFailed

__all__ = [
    "CheckFailed",
    "answer",
    "masked_attention",
    "merge_heads",
    "multi_head_attention",
    "scaled_dot_product_attention",
    "split_heads",
]
