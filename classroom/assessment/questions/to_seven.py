"""Questions on chapters 0 to 7: the model."""

import math
from typing import Any

import torch

from classroom.assessment.quiz import Ask, about
from vit_steps import (
    MultiHeadAttention,
    ViTConfig,
    attention_cost,
    patchify,
    scaled_dot_product_attention,
    token_count,
)


@about(
    0,
    "Shapes have to be equal, or broadcasting appends axes",
    ((4, 1, 3), (5, 3)),
    ((1, 6, 2), (4, 1, 2)),
    ((7, 1), (2, 1, 5)),
)
def broadcast(left: tuple[int, ...], right: tuple[int, ...]) -> Ask:
    shape = tuple(torch.broadcast_shapes(left, right))
    return Ask(
        f"`x` has the shape `{left}`, and `y` has the shape `{right}`. What is the "
        "shape of `x + y`?",
        right=f"`{shape}`",
        why="Shapes are compared from the right, and an axis of length 1, or one that "
        "is missing, is repeated until it fits.",
        wrong={
            "There is none: an error": "only equal shapes are thought to fit",
            f"`{left + right}`": "the axes are appended instead of compared",
            f"`({math.prod(shape[:-1])}, {shape[-1]})`": "repeated axes are thought to "
            "be joined into one",
        },
    )


@about(
    0,
    "Reshaping and transposing do the same, since the shapes are equal",
    "x.reshape(3, 2)",
    "x.T",
)
def reshape_or_transpose(code: str) -> Ask:
    x = torch.tensor([[1, 2, 3], [4, 5, 6]])
    reshaped, transposed = x.reshape(3, 2)[0].tolist(), x.T[0].tolist()
    reshapes = "reshape" in code
    right, other = (reshaped, transposed) if reshapes else (transposed, reshaped)
    return Ask(
        f"`x` is `{x.tolist()}`, so it has 2 rows of 3 numbers. What is the first row "
        f"of `{code}`?",
        right=f"`{right}`",
        why="`reshape` keeps the order of all numbers and cuts it anew into rows."
        if reshapes
        else "Transposing turns columns into rows, and the first column is the first "
        "row now.",
        wrong={
            f"`{other}`": "it is taken for a transpose"
            if reshapes
            else "it is taken for a reshape, which has the same shape",
            f"`{x[0].tolist()}`": "the shape is thought to stay",
            f"`{x.flatten()[[0, 5]].tolist()}`": "the first and the last number are "
            "thought to meet",
        },
    )


def _per_cent(share: float) -> str:
    return f"about {100 * share:.0f} %"


@about(
    1,
    "Attention dominates the cost of a ViT",
    224,
    384,
    512,
)
def quadratic_share(size: int) -> Ask:
    config = ViTConfig.base(image_size=size)
    T, D = token_count(size, 16) + 1, config.embed_dim
    cost = attention_cost(T, D)
    square, projections = cost.matmul_macs, cost.projection_macs
    mlp = 2 * T * D * 4 * D
    share = square / (square + projections + mlp)
    return Ask(
        f"ViT-B/16 gets images of {size}×{size} pixels, so it has T = {T} tokens of "
        f"D = {D} numbers. Attention compares all pairs of tokens. What share of the "
        "multiply-accumulates in its blocks is quadratic in T?",
        right=_per_cent(share),
        why="It is T / (T + 6·D). The projections and the MLP are linear in T, and "
        "they are most of the work.",
        wrong={
            _per_cent(square / (square + projections)): "the MLP is forgotten",
            _per_cent((square + projections) / (square + projections + mlp)): "all of "
            "attention is counted, with its projections, which are linear in T",
            _per_cent(1 - share): "the quadratic part is taken for the larger one",
        },
    )


@about(
    1,
    "What happens to the side happens to the number of tokens",
    ("the side of a patch is halved", 2),
    ("the image becomes three times as wide and three times as high", 3),
    ("the image becomes twice as wide and twice as high", 2),
)
def growth(change: str, side: int) -> Ask:
    before, after = token_count(48, 16), token_count(48 * side, 16)
    factor = after / before
    return Ask(
        f"In a model without a class token, {change}. By what factor does the number "
        "of entries in one table of attention weights grow?",
        right=f"{factor**2:.0f}",
        why=f"There are {side}·{side} = {factor:.0f} times as many tokens, and the "
        f"table has a row and a column for each: {factor:.0f}·{factor:.0f}.",
        wrong={
            f"{side}": "the side is taken for the number of tokens, and the table is "
            "thought to be linear",
            f"{factor:.0f}": "the tokens are counted and not their pairs",
            f"{side**3}": "only one of the table's two sides is thought to grow with "
            "the area",
        },
    )


@about(
    2,
    "D is what a patch holds",
    (16, 32),
    (16, 14),
    (16, 8),
)
def width(before: int, after: int) -> Ask:
    config = ViTConfig.base(patch_size=after)
    numbers = 3 * after**2
    return Ask(
        f"In ViT-B/{before} a patch of {before}×{before} pixels in three colours has "
        f"{3 * before**2} numbers, and a token has {ViTConfig.base().embed_dim}. The "
        f"same model is now built with patches of {after}×{after}, and no other "
        "setting is changed. How many numbers does a token have?",
        right=f"{config.embed_dim}",
        why="D is chosen and not given by the patch. The linear layer takes whatever a "
        f"patch holds, here {numbers:,} numbers, and puts out D.",
        wrong={
            f"{numbers:,}": "D is thought to be what a patch holds",
            f"{after**2:,}": "D is thought to be the number of pixels of a patch",
            f"{token_count(224, after)}": "D is thought to be the number of patches",
        },
    )


@about(
    2,
    "If the shape is right, the reshape was right",
    (224, 16),
    (96, 8),
    (384, 32),
)
def bare_view(size: int, patch: int) -> Ask:
    image = torch.arange(3 * size * size).reshape(1, 3, size, size)
    row = image.reshape(1, -1, 3 * patch**2)[0, 0]
    lines = len(row) / size
    assert row[-1] == len(row) - 1 < size**2 and not torch.equal(
        row, patchify(image, patch)[0, 0]
    ), "the question says what the first row holds"
    return Ask(
        f"An image has the shape (3, {size}, {size}), red first. It is cut into "
        f"patches of {patch}×{patch} by `image.reshape({token_count(size, patch)}, "
        f"{3 * patch**2})` and nothing else. What is in the first row?",
        right=f"The first {lines:.2g} lines of the image, in red alone",
        why="A reshape cuts the numbers where they lie in memory: colour by colour, "
        "line by line. The shape is right, and the rows are no squares.",
        wrong={
            f"The top left square of {patch}×{patch} pixels, in three colours": "the "
            "shape is taken as evidence that patches were cut",
            f"The top left square of {patch}×{patch} pixels, in red alone": "only the "
            "colours are thought to be out of place",
            f"The first {patch} columns of the image": "memory is thought to run "
            "column by column",
        },
    )


@about(
    3,
    "The class token is forgotten, or something else than patches is counted",
    (224, 16),
    (384, 32),
    (96, 8),
)
def tokens(size: int, patch: int) -> Ask:
    N = token_count(size, patch)
    return Ask(
        f"A ViT with a class token gets an image of {size}×{size} pixels in patches of "
        f"{patch}×{patch}. How many tokens go into its first block?",
        right=f"{N + 1}",
        why=f"{size // patch}·{size // patch} = {N} patches, and the class token.",
        wrong={
            f"{N}": "the class token is forgotten",
            f"{patch**2 + 1:,}": "the pixels of a patch are counted",
            f"{size // patch + 1}": "only one row of patches is counted",
        },
    )


@about(
    4,
    "The sum of d products is as large as one of them, or d times as large",
    256,
    100,
    64,
)
def spread_of_a_score(d: int) -> Ask:
    return Ask(
        f"The {d} numbers in a query and the {d} numbers in a key are independent, "
        "with mean 0 and standard deviation 1. What is the standard deviation of "
        "their dot product, before it is divided by anything?",
        right=f"{math.isqrt(d)}",
        why=f"The variances of {d} independent products add up to {d}, and the "
        f"standard deviation is the root of that. Dividing by √d makes it 1 again.",
        wrong={
            f"{d}": "that is the variance",
            "1": "the sum is thought to be as large as one of its terms",
            f"{2 * d}": "the numbers of both vectors are counted",
        },
    )


@about(
    4,
    "A column of attention weights adds up to 1",
    "meaning",
    "code",
)
def rows_add_up(asked: str) -> Ask:
    if asked == "meaning":
        return Ask(
            "A table of attention weights has a row for each query and a column for "
            "each key. What adds up to 1?",
            right="Each row",
            why="A row says how much one query takes from each of the tokens. A column "
            "says how much all queries take from one token, and that can be anything "
            "from 0 to T.",
            wrong={
                "Each column": "the keys are thought to divide themselves among the "
                "queries",
                "Each row and each column": "the table is thought to be symmetric",
                "The table as a whole": "the softmax is thought to run over all pairs",
            },
        )
    weights = scaled_dot_product_attention(*torch.randn(3, 2, 3, 5, 4))[1]
    sums = [weights.sum(dim=axis) for axis in range(4)]
    (right,) = (n for n, s in enumerate(sums) if torch.allclose(s, torch.ones(())))
    mistakes = {
        0: "the images of a batch are made to share",
        1: "the heads are made to share",
        2: "the queries are made to share, so columns add up to 1",
    }
    return Ask(
        "`scores = q @ k.transpose(-2, -1)` has the shape `(B, h, T, T)`. Over which "
        "axis does the softmax run?",
        right=f"`dim={right}`, the last one",
        why="The last axis counts the keys, and each query divides its attention among "
        "them.",
        wrong={f"`dim={axis}`": text for axis, text in mistakes.items()},
    )


@about(
    4,
    "The best key takes all, or every key takes as much",
    (3, 4.0, 8.0),
    (4, 10.0, 20.0),
    (9, 0.0, 50.0),
)
def by_hand(ratio: int, first: float, second: float) -> Ask:
    q, k = torch.tensor([[math.log(ratio)]]), torch.tensor([[1.0], [0.0]])
    v = torch.tensor([[first], [second]])
    right = scaled_dot_product_attention(q[None], k[None], v[None])[0].item()
    share = ratio / (ratio + 1)
    swapped = (1 - share) * first + share * second
    mean = (first + second) / 2
    return Ask(
        f"A query has the score ln {ratio} with one key and 0 with another. (The "
        f"scores are divided by √d already.) The values of these keys are {first:g} "
        f"and {second:g}. What does attention return?",
        right=f"{right:g}",
        why=f"exp(ln {ratio}) = {ratio} and exp(0) = 1, so the weights are "
        f"{ratio}/{ratio + 1} and 1/{ratio + 1}: {share:g}·{first:g} + "
        f"{1 - share:g}·{second:g}.",
        wrong={
            f"{mean:g}": "the scores are not used, and every key gets as much",
            f"{swapped:g}": "the weights are exchanged",
            f"{first:g}": "the best key is thought to take all",
        },
    )


@about(
    5,
    "Several heads cost several times as much",
    (768, 12, 24),
    (384, 6, 1),
    (768, 12, 1),
)
def cost_of_heads(D: int, heads: int, other: int) -> Ask:
    def parameters(count: int) -> int:
        return sum(p.numel() for p in MultiHeadAttention(D, count).parameters())

    count, right = parameters(heads), parameters(other)
    more = other > heads
    mistaken = count * other // heads
    heads_said = "one head" if other == 1 else f"{other} heads"
    return Ask(
        f"Multi-head attention with D = {D} and {heads} heads has {count:,} "
        f"parameters. How many does it have with {heads_said}, and the same D?",
        right=f"{right:,}",
        why="The matrices are D×D, however their outputs are shared out. Each head has "
        "D/h numbers for queries, keys and values, and there are h heads.",
        wrong={
            f"{mistaken:,}": "each head is thought to have matrices of its own, "
            "as large as before",
            f"{count * heads // other:,}": "the parameters are thought to go with the "
            "size of a head",
            f"{3 * count // 4 + (count // 4) * other // heads:,}": "only the output "
            f"projection is thought to {'grow' if more else 'shrink'}",
        },
    )


@about(
    5,
    "If the shape is right, the heads were joined in the right way",
    (2, 4, 3),
    (3, 6, 2),
    (4, 8, 5),
)
def bare_merge(h: int, T: int, d: int) -> Ask:
    marks = torch.cartesian_prod(torch.arange(h), torch.arange(T))  # (h·T, 2)
    heads = marks.reshape(h, T, 1, 2).expand(-1, -1, d, -1)  # (h, T, d, 2)
    first = heads.reshape(T, h * d, 2)[0]
    assert first[:, 0].unique().tolist() == [0], "the question says: of head 0"
    assert first[:, 1].unique().tolist() == list(range(h)), "and of h tokens"
    return Ask(
        f"The outputs of {h} heads for {T} tokens have the shape `({h}, {T}, {d})`, "
        f"with {d} numbers for each head and token. They are joined by "
        f"`.reshape({T}, {h * d})`, without a transpose. What is in the first row?",
        right=f"What head 0 computed for the first {h} tokens",
        why="The numbers lie in memory head by head, and within a head token by token, "
        "so a row takes several tokens of one head. The heads have to be moved beside "
        "d before they are joined.",
        wrong={
            "What each of the heads computed for token 0": "that is what it should be, "
            "and the shape is taken as evidence",
            f"What head 0 computed for token 0, {h} times": "the numbers are thought "
            "to be repeated",
            "In turns what each head computed, for several tokens": "memory is thought "
            "to run along the heads first",
        },
    )


@about(
    7,
    "Equal parameter counts mean equal models",
    ("patches of 32×32 instead of 16×16", {"patch_size": 32}),
    ("no biases for queries, keys and values", {"qkv_bias": False}),
    ("11 blocks instead of 12", {"depth": 11}),
)
def count_notices(text: str, change: dict[str, Any]) -> Ask:
    def parameters(**changes: Any) -> int:
        return ViTConfig.base(**changes).cost().parameters

    assert parameters(**change) != parameters() == parameters(num_heads=8), (
        "the question says which change the count notices"
    )
    return Ask(
        "Each of these models differs from ViT-B/16 in one thing. Which of them has "
        "another number of parameters?",
        right=f"One with {text}",
        why=f"It has {parameters(**change):,} instead of {parameters():,}. The other "
        "three change how numbers are used, and not how many there are.",
        wrong={
            "One with 8 heads instead of 12": "heads are thought to cost parameters",
            "One with post-norm blocks instead of pre-norm blocks, and the last norm "
            "kept": "a norm in another place is thought to be another norm",
            "One that reads the mean of its tokens, but still has the class token": "a "
            "mean is thought to need a layer",
        },
    )


@about(
    7,
    "A model that knows nothing has the loss 0, or the share of wrong answers",
    10,
    100,
    1000,
)
def first_loss(classes: int) -> Ask:
    logits, label = torch.zeros(1, classes), torch.zeros(1, dtype=torch.long)
    loss = torch.nn.functional.cross_entropy(logits, label).item()
    return Ask(
        f"The head of a fresh ViT for {classes} classes starts at zero, so all logits "
        "are 0. What is the cross-entropy of its first batch?",
        right=f"{loss:.2f}",
        why=f"Each class gets the probability 1/{classes}, and −ln(1/{classes}) = "
        f"ln {classes}. Another number tells you that head or loss are not connected "
        "as you think.",
        wrong={
            f"{1 - 1 / classes:.2f}": "the share of wrong answers is taken for it",
            f"{math.log10(classes):.2f}": "the logarithm is taken to base 10",
            f"{0:.2f}": "logits of 0 are taken for a loss of 0",
        },
    )
