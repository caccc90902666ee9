"""Check of chapter 7: the parameters of a Vision Transformer, counted."""

from collections.abc import Iterator
from functools import partial

from torch import Generator

from vit_check.engine.check import Case
from vit_check.engine.drawing import whole_number
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_steps import ViTConfig, model_cost


def _count(
    image_size: int,
    patch_size: int,
    in_channels: int,
    num_classes: int,
    embed_dim: int,
    depth: int,
    hidden_dim: int,
    wrong: str = "",
) -> int:
    """Parameters, with a place for each usual mistake."""
    D, M, C, K = embed_dim, hidden_dim, in_channels, num_classes
    side = image_size // patch_size
    N, P = side * side, patch_size
    bias = 0 if wrong == "no biases" else 1
    tokens = {"one side": side + 1}.get(wrong, N + 1)
    area = {"one channel": P * P, "one side of a patch": P * C}.get(wrong, P * P * C)
    embedding = area * D + bias * D + tokens * D
    embedding += 0 if wrong == "no class token" else D
    embedding -= tokens * D if wrong == "no positions" else 0
    matrices = {"three matrices": 3, "one matrix": 1}.get(wrong, 4)
    attention = matrices * D * D + bias * matrices * D
    attention -= 3 * D if wrong == "no qkv bias" else 0
    ratio = 4 * D if wrong == "always 4" else M
    layers = 1 if wrong == "one layer" else 2
    mlp = layers * D * ratio + bias * (ratio + (D if layers == 2 else 0))
    mlp += {"no MLP bias": -ratio - D, "MLP biases of D": D - ratio}.get(wrong, 0)
    norms = {"no norms": 0, "one norm": 2 * D, "norms halved": 2 * D}.get(wrong, 4 * D)
    final = {"no final norm": 0, "no norms": 0, "norms halved": D}.get(wrong, 2 * D)
    head = D * K + (0 if wrong in ("no biases", "no head bias") else K)
    block = attention + mlp + norms
    if wrong == "one block":
        depth = 1
    if wrong == "head on all":
        head = tokens * D * K + K
    return embedding + depth * block + final + (0 if wrong == "no head" else head)


def _right_count(
    image_size: int,
    patch_size: int,
    in_channels: int,
    num_classes: int,
    embed_dim: int,
    depth: int,
    hidden_dim: int,
) -> int:
    ratio = hidden_dim / embed_dim
    return model_cost(
        ViTConfig(
            image_size=image_size,
            patch_size=patch_size,
            in_channels=in_channels,
            num_classes=num_classes,
            embed_dim=embed_dim,
            depth=depth,
            num_heads=1,
            mlp_ratio=ratio,
        )
    ).parameters


def _count_inputs(generator: Generator) -> Iterator[Case]:
    # Sizes for which no two mistakes come to the same.
    for P, side, C, K, D, L in ((6, 5, 3, 7, 12, 3), (4, 3, 2, 11, 16, 5)):
        hidden = whole_number(generator, 5, 9) * D + D // 2
        yield [P * side, P, C, K, D, L, hidden]


def _miscount(name: str, sentence: str) -> Mistake:
    return Mistake(name, sentence, partial(_count, wrong=name))


parameter_count = FunctionCheck(
    "parameter_count",
    "parameter_count(image_size, patch_size, in_channels, num_classes, embed_dim, "
    "depth, hidden_dim) -> int",
    _right_count,
    _count_inputs,
    [
        _miscount("no biases", "the biases of the linear layers are not counted"),
        _miscount("no qkv bias", "the biases of queries, keys and values are missing"),
        _miscount("no MLP bias", "the biases of the MLP are missing"),
        _miscount(
            "MLP biases of D",
            "both biases of the MLP are counted with D numbers; the first layer has M "
            "outputs, and so M biases",
        ),
        _miscount("no head bias", "the bias of the head is missing"),
        _miscount(
            "no class token",
            "D numbers are missing: the class token's own, its position, or the bias "
            "of the patch embedding",
        ),
        _miscount("no positions", "the positions are not counted"),
        _miscount(
            "one side",
            "the patches along one side are counted; an image has rows and columns",
        ),
        _miscount(
            "one channel",
            "a patch is counted with one channel; its matrix reads P·P numbers of "
            "each of the C channels",
        ),
        _miscount(
            "one side of a patch",
            "a patch is counted with P numbers a channel; it has P·P",
        ),
        _miscount("no norms", "the norms are not counted: each has 2·D numbers"),
        _miscount("one norm", "a block has two norms"),
        _miscount("norms halved", "a norm has a weight and a bias, 2·D numbers"),
        _miscount("no final norm", "the norm after the last block is missing"),
        _miscount(
            "three matrices",
            "attention has a fourth matrix, the output projection after the heads",
        ),
        _miscount(
            "one matrix",
            "attention has four matrices of D×D, for queries, keys, values and output",
        ),
        _miscount(
            "always 4", "the MLP is counted with 4·D hidden numbers, whatever M is"
        ),
        _miscount("one layer", "the MLP has a second layer, from M back to D"),
        _miscount("one block", "the blocks are counted once; there are L of them"),
        _miscount("no head", "the head is not counted"),
        _miscount(
            "head on all",
            "the head is counted for all tokens; it reads the class token alone",
        ),
    ],
    hints=(
        "Go through the model from image to logits and write down every matrix, "
        "every bias, and what is a parameter without being either.",
        "Patch matrix, class token, positions; in each block two norms, four "
        "matrices of D×D and two of D×M, all with biases; a norm; the head.",
        "C·P²·D + D, then D + T·D, then L·(4·D + 4·D² + 4·D + 2·D·M + M + D), then "
        "2·D, then D·K + K.",
    ),
    gradients=False,
)
