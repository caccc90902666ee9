"""Check of chapter 9: attention followed through all blocks."""

from functools import partial

import torch
from torch import Tensor

from vit_check.chapters.attention_maps.drawn_maps import Weights, drawn_weights, shares
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps import attention_maps as right


def _rollout(
    weights: Weights,
    heads: str = "mean",
    residual: float = 0.5,
    mix: str = "rightly",
    product: str = "later on the left",
    result: str = "rightly",
) -> Tensor:
    """Attention rollout with a place for each usual mistake."""
    identity = torch.eye(weights[0].shape[-1]).to(weights[0])  # (T, T)
    passed = []
    for block in weights:
        merged = {
            "mean": lambda block=block: block.mean(dim=1),
            "apart": lambda block=block: block,
            "sum": lambda block=block: block.sum(dim=1),
            "largest": lambda block=block: block.amax(dim=1),
            "smallest": lambda block=block: block.amin(dim=1),
            "product": lambda block=block: block.prod(dim=1),
            "first": lambda block=block: block[:, 0],
        }[heads]()  # (B, T, T)
        merged = merged.mT if mix == "turned" else merged
        if mix in ("rightly", "turned"):
            merged = residual * identity + (1 - residual) * merged
        elif mix == "renormalised":
            merged = shares(merged + identity)
        elif mix == "by columns":
            merged = merged + identity
            merged = merged / merged.sum(dim=-2, keepdim=True)
        elif mix == "added":
            merged = merged + identity
        elif mix == "everywhere":
            merged = residual + (1 - residual) * merged
        passed.append(merged)
    if product == "last block":
        rollout = passed[-1]
    elif product == "all but the last":
        return _rollout(weights[:-1])
    elif product == "sum":
        rollout = torch.stack(passed).sum(dim=0)
    elif product == "mean":
        rollout = torch.stack(passed).mean(dim=0)
    else:
        rollout = passed[0]
        for block in passed[1:]:
            rollout = {
                "later on the left": lambda a, b: b @ a,
                "later on the right": lambda a, b: a @ b,
                "number by number": lambda a, b: a * b,
                "number by number from the identity": lambda a, b: a * b * identity,
            }[product](rollout, block)
    if result == "heads at the end":
        return rollout.mean(dim=1)
    if result == "mixed at the end":
        return residual * identity + (1 - residual) * rollout
    if result == "class token's row":
        return rollout[:, 0]
    if result == "map":
        return shares(rollout[:, 0, 1:])
    return rollout.mT if result == "turned" else rollout


attention_rollout = FunctionCheck(
    "attention_rollout",
    "attention_rollout(weights) -> (B, T, T)",
    right.attention_rollout,
    lambda g: iter(
        [
            [drawn_weights(g, 3, 2, 4, 5)],
            [drawn_weights(g, 2, 4, 3, 6, torch.float32)],
            [drawn_weights(g, 4, 3, 3, 3)],
        ]
    ),
    [
        Mistake(
            "order reversed",
            "the product runs the wrong way: a later block takes what the earlier ones "
            "have mixed, so it stands on the left",
            partial(_rollout, product="later on the right"),
        ),
        Mistake(
            "no residual",
            "attention alone is multiplied: what the residual connection carries past "
            "it, the identity, is left out",
            partial(_rollout, mix="none"),
        ),
        Mistake(
            "identity added",
            "the identity is added and nothing taken off: the rows of a block sum to "
            "2, and those of L blocks to 2 to the power of L",
            partial(_rollout, mix="added"),
        ),
        Mistake(
            "divided by columns",
            "each column is divided by its sum, expected each row: a row is what one "
            "token has, in shares",
            partial(_rollout, mix="by columns"),
        ),
        Mistake(
            "a half everywhere",
            "one half is added to every entry; the identity has it on the diagonal, "
            "where each token keeps itself",
            partial(_rollout, mix="everywhere"),
        ),
        Mistake(
            "residual once",
            "the identity is mixed in once, after the last block, expected in every "
            "one",
            partial(_rollout, mix="none", result="mixed at the end"),
        ),
        Mistake(
            "heads summed",
            "the heads are summed, expected averaged: their rows would sum to h",
            partial(_rollout, heads="sum"),
        ),
        Mistake(
            "heads summed and divided",
            "the heads are summed and the rows divided again: attention then counts h "
            "times as much as the residual, expected as much",
            partial(_rollout, heads="sum", mix="renormalised"),
        ),
        Mistake(
            "heads averaged at the end",
            "each head is followed by itself through all blocks, and the heads are "
            "averaged at the end, expected in every block: what one head wrote, every "
            "head of the next block reads",
            partial(_rollout, heads="apart", result="heads at the end"),
        ),
        Mistake(
            "heads multiplied",
            "the heads are multiplied with each other, expected averaged",
            partial(_rollout, heads="product"),
        ),
        Mistake(
            "largest head",
            "the largest weight of all heads is taken, expected their mean",
            partial(_rollout, heads="largest"),
        ),
        Mistake(
            "largest head, divided",
            "the largest weight of all heads is taken, expected their mean; dividing "
            "the rows afterwards does not make up for it",
            partial(_rollout, heads="largest", mix="renormalised"),
        ),
        Mistake(
            "smallest head",
            "the smallest weight of all heads is taken, expected their mean",
            partial(_rollout, heads="smallest"),
        ),
        Mistake(
            "first head alone",
            "only the first head is used, expected the mean of all",
            partial(_rollout, heads="first"),
        ),
        Mistake(
            "sum of blocks",
            "the blocks are added, expected multiplied: content that passes through "
            "two blocks takes a share of a share",
            partial(_rollout, product="sum"),
        ),
        Mistake(
            "mean of blocks",
            "the blocks are averaged, expected multiplied",
            partial(_rollout, product="mean"),
        ),
        Mistake(
            "number by number",
            "the blocks are multiplied number by number; summing over all paths is a "
            "matrix product",
            partial(_rollout, product="number by number"),
        ),
        Mistake(
            "number by number from the identity",
            "the blocks are multiplied number by number, so that the identity's zeros "
            "stay zeros; summing over all paths is a matrix product",
            partial(_rollout, product="number by number from the identity"),
        ),
        Mistake(
            "tables turned",
            "each table is transposed before it is multiplied: rows ask, columns are "
            "asked, and a row of each already sums to 1",
            partial(_rollout, mix="turned"),
        ),
        Mistake(
            "last block alone",
            "only the last block is in the result: what was gathered so far is "
            "overwritten",
            partial(_rollout, product="last block"),
        ),
        Mistake(
            "last block missing",
            "the last block is missing in the product",
            partial(_rollout, product="all but the last"),
        ),
        Mistake(
            "turned",
            "rows and columns are exchanged: a row should be an output token, and sum "
            "to 1",
            partial(_rollout, result="turned"),
        ),
        Mistake(
            "class token's row alone",
            "only the class token's row is returned, expected the whole table",
            partial(_rollout, result="class token's row"),
        ),
        Mistake(
            "map alone",
            "only the class token's map is returned, expected the whole table",
            partial(_rollout, result="map"),
        ),
    ],
    hints=(
        "Sum the rows of your result: if they are not 1, something is counted twice or "
        "left out. If they are, look at the order.",
        "Each block passes on half the identity and half its attention, averaged over "
        "the heads; the rollout so far is multiplied by it from the left.",
        "rollout = (0.5 * torch.eye(T) + 0.5 * block.mean(dim=1)) @ rollout.",
    ),
    shape="(B, T, T)",
    batched=(0,),
    gradients=False,
)
