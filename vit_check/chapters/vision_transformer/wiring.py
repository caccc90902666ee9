"""The steps of a Vision Transformer, and what goes wrong between them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from vit_check.engine.verdict import Mistake

Step = Callable[[Tensor], Tensor]


def classify(
    images: Tensor,
    embed: Step,
    blocks: Sequence[Step],
    norm: Step,
    head: Step,
    pick: str = "first token",
) -> Tensor:
    """The model's steps with a place for the usual mistakes."""
    x = embed(images)  # (B, T, D)
    for block in blocks:
        x = block(x)
    x = norm(x)
    return head(_PICKED[pick](x))


_PICKED: dict[str, Callable[[Tensor], Tensor]] = {
    "first token": lambda x: x[:, 0],
    "second token": lambda x: x[:, 1],
    "last token": lambda x: x[:, -1],
    "all tokens": lambda x: x,
    "mean": lambda x: x.mean(dim=1),
    "mean of patches": lambda x: x[:, 1:].mean(dim=1),
    "first image": lambda x: x[0],
    "largest": lambda x: x.amax(dim=1),
    "sum": lambda x: x.sum(dim=1),
}


def _no_norm(
    images: Tensor, embed: Step, blocks: Sequence[Step], norm: Step, head: Step
) -> Tensor:
    return classify(images, embed, blocks, lambda x: x, head)


def _norm_early(
    images: Tensor, embed: Step, blocks: Sequence[Step], norm: Step, head: Step
) -> Tensor:
    return classify(
        images, lambda images: norm(embed(images)), blocks, lambda x: x, head
    )


def _norm_often(
    images: Tensor, embed: Step, blocks: Sequence[Step], norm: Step, head: Step
) -> Tensor:
    x = embed(images)  # (B, T, D)
    for block in blocks:
        x = norm(block(x))
    return head(x[:, 0])


def _read_early(
    images: Tensor, embed: Step, blocks: Sequence[Step], norm: Step, head: Step
) -> Tensor:
    return classify(images, embed, [], norm, head)


def _forgetful(
    images: Tensor, embed: Step, blocks: Sequence[Step], norm: Step, head: Step
) -> Tensor:
    return classify(images, embed, blocks[-1:], norm, head)


def _averaged_logits(
    images: Tensor, embed: Step, blocks: Sequence[Step], norm: Step, head: Step
) -> Tensor:
    return classify(images, embed, blocks, norm, head, "all tokens").mean(dim=1)


def _pooled_first(
    images: Tensor,
    embed: Step,
    blocks: Sequence[Step],
    norm: Step,
    head: Step,
    pick: str,
) -> Tensor:
    x = classify(images, embed, blocks, lambda x: x, lambda x: x, "all tokens")
    return head(norm(_PICKED[pick](x)))


def _residual_around(
    images: Tensor, embed: Step, blocks: Sequence[Step], norm: Step, head: Step
) -> Tensor:
    x = embed(images)  # (B, T, D)
    for block in blocks:
        x = x + block(x)
    return head(norm(x)[:, 0])


def with_blocks(choose: Callable[[Sequence[Step]], Sequence[Step]]) -> Any:
    def wrong(
        images: Tensor, embed: Step, blocks: Sequence[Step], norm: Step, head: Step
    ) -> Tensor:
        return classify(images, embed, choose(blocks), norm, head)

    return wrong


def _then(function: Callable[[Tensor], Tensor]) -> Any:
    return lambda *steps: function(classify(*steps))


OF_WIRING = [
    Mistake(
        "head on every token",
        "the head reads every token, so that each image gets T answers; it reads the "
        "class token alone",
        partial(classify, pick="all tokens"),
    ),
    Mistake(
        "mean of the tokens",
        "the head reads the mean of all tokens, which is a different model; here it "
        "reads the class token",
        partial(classify, pick="mean"),
    ),
    Mistake(
        "mean of the patches",
        "the head reads the mean of the patches' tokens, which is a different model; "
        "here it reads the class token",
        partial(classify, pick="mean of patches"),
    ),
    Mistake(
        "mean of the tokens, then norm",
        "the mean of all tokens is normed and read, which is a different model; here "
        "the norm comes first, and the head reads the class token",
        partial(_pooled_first, pick="mean"),
    ),
    Mistake(
        "mean of the patches, then norm",
        "the mean of the patches' tokens is normed and read, which is a different "
        "model; here the norm comes first, and the head reads the class token",
        partial(_pooled_first, pick="mean of patches"),
    ),
    Mistake(
        "mean of the logits",
        "the logits of all tokens are averaged; the head reads the class token alone",
        _averaged_logits,
    ),
    Mistake(
        "largest of the tokens",
        "the head reads the largest number over the tokens; it reads the class token",
        partial(classify, pick="largest"),
    ),
    Mistake(
        "last token",
        "the head reads the last token, which is a patch; the class token is the "
        "first, at index 0",
        partial(classify, pick="last token"),
    ),
    Mistake(
        "second token",
        "the head reads the token at index 1, which is a patch; the class token "
        "is at index 0",
        partial(classify, pick="second token"),
    ),
    Mistake(
        "first image",
        "x[0] takes the first image with all its tokens; the class token of every "
        "image is x[:, 0]",
        partial(classify, pick="first image"),
    ),
    Mistake(
        "no final norm",
        "there is no norm after the last block",
        _no_norm,
    ),
    Mistake(
        "norm before the blocks",
        "the norm comes before the blocks; it belongs after the last one",
        _norm_early,
    ),
    Mistake(
        "norm after every block",
        "the final norm is used after every block; it belongs after the last one only",
        _norm_often,
    ),
    Mistake(
        "read before the blocks",
        "the class token is read before the blocks, when it is the same for every "
        "image",
        _read_early,
    ),
    Mistake(
        "blocks forget",
        "only one block takes part in the result, as if every block read the tokens of "
        "the embedding; each should read what the block before it returned",
        _forgetful,
    ),
    Mistake(
        "first block left out",
        "one block does not run, the first of those that are there",
        with_blocks(lambda blocks: blocks[1:]),
    ),
    Mistake(
        "last block left out",
        "one block does not run, the last of those that are there",
        with_blocks(lambda blocks: blocks[:-1]),
    ),
    Mistake(
        "first block alone",
        "only the first block runs",
        with_blocks(lambda blocks: blocks[:1]),
    ),
    Mistake(
        "first block every time",
        "the same block runs every time, and the others never do",
        with_blocks(lambda blocks: [blocks[0] for _ in blocks]),
    ),
    Mistake(
        "one block every time",
        "the same block runs every time, and the others never do",
        with_blocks(lambda blocks: [blocks[-1] for _ in blocks]),
    ),
    Mistake(
        "blocks twice",
        "the blocks run twice",
        with_blocks(lambda blocks: [*blocks, *blocks]),
    ),
    Mistake(
        "residual around the blocks",
        "x is added around each block once more; the residuals are inside the block",
        _residual_around,
    ),
    Mistake(
        "softmax at the end",
        "there is a softmax after the head; the logits are returned as they are, "
        "because the loss takes the softmax itself",
        _then(lambda logits: logits.softmax(dim=-1)),
    ),
    Mistake(
        "log-softmax at the end",
        "there is a log-softmax after the head; the logits are returned as they are",
        _then(lambda logits: logits.log_softmax(dim=-1)),
    ),
    Mistake(
        "sigmoid at the end",
        "there is a sigmoid after the head; the logits are returned as they are",
        _then(torch.sigmoid),
    ),
    Mistake(
        "argmax at the end",
        "the number of the best class is returned, expected the logits of all K",
        _then(lambda logits: logits.argmax(dim=-1)),
    ),
]
