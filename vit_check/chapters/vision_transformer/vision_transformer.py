"""Check of chapter 7: the whole Vision Transformer."""

import inspect
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F

from vit_check.chapters.encoder_block.encoder_block import (
    OF_BLOCK,
    by_std,
    output_of_tuple,
)
from vit_check.chapters.vision_transformer.reading_a_model import (
    model_lacks,
    model_readings,
)
from vit_check.chapters.vision_transformer.wiring import (
    OF_WIRING,
    Step,
    classify,
    with_blocks,
)
from vit_check.engine.check import Case, Check
from vit_check.engine.drawing import normal
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.modules import ModuleCheck, run_module
from vit_check.engine.observing import Record
from vit_check.engine.reading import Sizes, Weights
from vit_check.engine.verdict import Mistake
from vit_steps.vision_transformer import VisionTransformer, ViTConfig


def _embed(
    weights: Weights,
    images: Tensor,
    patches: str = "rows first",
    tokens: str = "class token first",
) -> Tensor:
    """The embedding with a place for each usual mistake."""
    kernel, bias = weights["patch_embed.proj.weight"], weights["patch_embed.proj.bias"]
    P, D = kernel.shape[-1], kernel.shape[0]
    B = len(images)
    if patches == "view":
        cut = images.reshape(B, -1, kernel[0].numel())  # (B, N, C·P·P)
        x = cut @ kernel.flatten(1).T + bias
    else:
        grid = F.conv2d(images, kernel, bias, stride=P)  # (B, D, rows, columns)
        if patches == "columns first":
            grid = grid.mT
        x = grid.flatten(2).mT  # (B, N, D)
        if patches == "reshape":
            x = grid.reshape(B, -1, D)
    cls, positions = weights["cls_token"].expand(B, 1, D), weights["pos_embed"]
    if tokens == "class token last":
        return torch.cat([x, cls], dim=1) + positions
    if tokens == "no position for the class token":
        return torch.cat([cls, x + positions[:, 1:]], dim=1)
    if tokens == "positions shifted":
        return torch.cat([cls, x + positions[:, :-1]], dim=1)
    x = torch.cat([cls, x], dim=1)  # (B, T, D)
    if tokens == "no positions":
        return x
    if tokens == "no class token's content":
        return torch.cat([positions[:, :1].expand(B, -1, -1), x[:, 1:]], dim=1)
    return x * positions if tokens == "multiplied" else x + positions


def _model(
    weights: Weights,
    sizes: Sizes,
    images: Tensor,
    wiring: Callable[..., Tensor] = classify,
    embed: Callable[..., Tensor] = _embed,
    block: Callable[..., Tensor] | None = None,
    eps: float = 1e-6,
    level: Callable[..., Tensor] = F.layer_norm,
) -> Tensor:
    """A Vision Transformer with a place for each usual mistake."""
    block = _RIGHT_BLOCK if block is None else block
    blocks = []
    for number in range(sizes["depth"]):
        prefix = f"blocks.{number}."
        own = {
            name.removeprefix(prefix): value
            for name, value in weights.items()
            if name.startswith(prefix)
        }
        blocks.append(partial(block, own, sizes))
    width = weights["norm.weight"].shape
    return wiring(
        images,
        partial(embed, weights),
        blocks,
        lambda x: level(x, width, weights["norm.weight"], weights["norm.bias"], eps),
        lambda x: F.linear(x, weights["head.weight"], weights["head.bias"]),
    )


_OF_BLOCK = {mistake.name: mistake for mistake in OF_BLOCK}
_RIGHT_BLOCK: Callable[..., Tensor] = partial(_OF_BLOCK["eps 1e-5"].wrong, eps=1e-6)


def _with_patches(patches: str) -> Callable[..., Tensor]:
    return partial(_model, embed=partial(_embed, patches=patches))


def _with_tokens(tokens: str) -> Callable[..., Tensor]:
    return partial(_model, embed=partial(_embed, tokens=tokens))


# In a model these two are one: either way the class token meets itself alone.
_OTHERWISE_IN_MODEL = {"PyTorch's defaults", "across the batch", "causal"}

_ONE_FAULT = [
    *(Mistake(m.name, m.sentence, partial(_model, wiring=m.wrong)) for m in OF_WIRING),
    Mistake(
        "eps 1e-5",
        "the norms' eps is 1e-5, PyTorch's default; the Vision Transformer's is 1e-6",
        partial(_model, block=_OF_BLOCK["eps 1e-5"].wrong, eps=1e-5),
    ),
    Mistake(
        "eps 1e-5 in the blocks",
        "the eps of the blocks' norms is 1e-5, PyTorch's default; the Vision "
        "Transformer's is 1e-6",
        partial(_model, block=_OF_BLOCK["eps 1e-5"].wrong),
    ),
    Mistake(
        "eps 1e-5 in the final norm",
        "the eps of the final norm is 1e-5, PyTorch's default; the Vision "
        "Transformer's is 1e-6",
        partial(_model, eps=1e-5),
    ),
    Mistake(
        "eps 1e-12",
        "the norms' eps is 1e-12; the Vision Transformer's is 1e-6",
        partial(_model, block=_OF_BLOCK["eps 1e-12"].wrong, eps=1e-12),
    ),
    Mistake(
        "PyTorch's defaults",
        _OF_BLOCK["PyTorch's defaults"].sentence,
        partial(_model, block=_OF_BLOCK["PyTorch's defaults"].wrong),
    ),
    Mistake(
        "PyTorch's defaults everywhere",
        _OF_BLOCK["PyTorch's defaults"].sentence,
        partial(_model, block=_OF_BLOCK["PyTorch's defaults"].wrong, eps=1e-5),
    ),
    Mistake(
        "class token alone",
        "the class token meets none of the patches, so that every image gets the same "
        "logits: attention runs over the batch, as with batch_first=False, or a "
        "causal mask hides what comes after it",
        partial(_model, block=_OF_BLOCK["across the batch"].wrong),
    ),
    Mistake(
        "class token last",
        "the class token comes after the patches; it belongs first, at index 0, as "
        "in every checkpoint",
        partial(
            _model,
            wiring=partial(classify, pick="last token"),
            embed=partial(_embed, tokens="class token last"),
        ),
    ),
    Mistake(
        "class token last, first read",
        "the class token comes after the patches, and what is read at index 0 is a "
        "patch; put it first",
        _with_tokens("class token last"),
    ),
    Mistake(
        "no position for the class token",
        "the positions are added before the class token has joined, so that it gets "
        "none; it has a position too, the first",
        _with_tokens("no position for the class token"),
    ),
    Mistake(
        "positions shifted",
        "the first position goes to the first patch and the class token gets none; "
        "the first position is the class token's",
        _with_tokens("positions shifted"),
    ),
    Mistake(
        "no positions",
        "the positions take no part: shuffle the patches, and nothing changes",
        _with_tokens("no positions"),
    ),
    Mistake(
        "positions multiplied",
        "the positions are multiplied with the tokens; they are added",
        _with_tokens("multiplied"),
    ),
    Mistake(
        "class token unused",
        "the class token's own vector takes no part: at index 0 there is only a "
        "position",
        _with_tokens("no class token's content"),
    ),
    Mistake(
        "patches by columns",
        "the patches are counted column by column; they go row by row, as one reads",
        _with_patches("columns first"),
    ),
    Mistake(
        "patches by view",
        "the image is cut by a view: the shape fits, but a patch then holds pieces "
        "of rows from all over the image",
        _with_patches("view"),
    ),
    Mistake(
        "reshape instead of transpose",
        "what the convolution gives, (B, D, rows, columns), is reshaped to (B, N, D): "
        "the shape fits, the numbers of different patches mix; flatten the grid, then "
        "swap the axes",
        _with_patches("reshape"),
    ),
    *(
        Mistake(m.name, m.sentence, partial(_model, block=m.wrong))
        for m in OF_BLOCK
        if "eps" not in m.name and m.name not in _OTHERWISE_IN_MODEL
    ),
    Mistake(
        "divided by std + eps",
        _OF_BLOCK["divided by std + eps"].sentence,
        partial(_model, block=_OF_BLOCK["divided by std + eps"].wrong, level=by_std),
    ),
]


def _with_pytorchs_eps(mistake: Mistake) -> Mistake:
    """The same in a model all of whose norms have PyTorch's eps."""
    assert isinstance(mistake.wrong, partial)
    block = mistake.wrong.keywords.get("block") or _RIGHT_BLOCK
    return Mistake(
        f"{mistake.name} with PyTorch's eps",
        f"{mistake.sentence}; and all norms have PyTorch's eps of 1e-5, expected 1e-6",
        partial(mistake.wrong, block=partial(block, eps=1e-5), eps=1e-5),
        readings=2,
    )


_OF_MODEL = [
    *_ONE_FAULT,
    *(
        _with_pytorchs_eps(mistake)
        for mistake in _ONE_FAULT
        if "eps" not in mistake.name and "PyTorch" not in mistake.name
    ),
]


@lru_cache(maxsize=4)
def _package_model(sizes: tuple[tuple[str, Any], ...]) -> VisionTransformer:
    return VisionTransformer(ViTConfig(**dict(sizes))).eval()


def _right_model(weights: Weights, sizes: Sizes, images: Tensor) -> Tensor:
    return run_module(_package_model(tuple(sizes.items())), weights, images)


def _callables_for_model(
    answer: Callable[..., Any],
    images: Tensor,
    columns: Tensor,
    positions: Tensor,
    mixing: list[Tensor],
    norm: list[Tensor],
    head: list[Tensor],
) -> Any:
    def block(matrix: Tensor) -> Step:
        return lambda x: x + (x.mean(dim=1, keepdim=True) + x @ matrix).tanh()

    def embed(images: Tensor) -> Tensor:
        return images.flatten(2).mT @ columns + positions  # (B, T, D)

    return answer(
        images,
        embed,
        [block(matrix) for matrix in mixing],
        lambda x: F.layer_norm(x, x.shape[-1:], norm[0], norm[1]),
        lambda x: F.linear(x, *head),
    )


def _function_inputs(generator: Generator) -> Iterator[Case]:
    for B, C, H, W, D, L, K in ((4, 3, 2, 5, 6, 3, 7), (3, 2, 3, 4, 5, 2, 8)):
        norm = [1 + 0.3 * normal(generator, D), 0.5 * normal(generator, D)]
        yield [
            normal(generator, B, C, H, W),
            normal(generator, C, D),
            normal(generator, H * W, D),
            [normal(generator, D, D) / D**0.5 for _ in range(L)],
            norm,
            [normal(generator, K, D) / D**0.5, normal(generator, K)],
        ]


class _ModelCheck(ModuleCheck):
    """Check of a model, whose class may take one config in place of the sizes."""

    def form_for(self, answer: Any) -> Check:
        if isinstance(answer, (type, nn.Module)) or self.function is None:
            return self
        needed = _needed(answer)
        if len(needed) == 5 and not set(needed) & set(self.sizes):
            return self.function
        return self

    def observe(self, answer: Any, case: Case) -> Record:
        if not isinstance(answer, nn.Module) and len(_needed(answer)) == 1:
            answer = _taking_sizes(answer)
        return super().observe(answer, case)


def _needed(answer: Any) -> list[str]:
    """Names of the arguments that have no default."""
    try:
        parameters = inspect.signature(answer).parameters.values()
    except (TypeError, ValueError):
        return []
    plain = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind in plain]


def _taking_sizes(answer: Any) -> Any:
    """The same class or factory, with sizes in place of its config."""
    if not isinstance(answer, type):
        return lambda **sizes: answer(ViTConfig(**sizes))

    def __init__(self: Any, **sizes: Any) -> None:
        answer.__init__(self, ViTConfig(**sizes))  # type: ignore[misc]

    return type(answer.__name__, (answer,), {"__init__": __init__})


_HINTS = (
    "Write the shape after every line, from (B, C, H, W) to (B, K). In which line "
    "do 196 of 197 tokens go, and which one stays?",
    "Patches, class token in front, positions on all T tokens, L blocks one after "
    "the other, one norm, row 0 of each image, one linear layer.",
    "x = torch.cat([cls, patches], dim=1) + pos; for block in blocks: x = block(x); "
    "return head(norm(x)[:, 0]).",
)

vision_transformer = _ModelCheck(
    "vision_transformer",
    "class VisionTransformer(image_size, patch_size, in_channels, num_classes, "
    "embed_dim, depth, num_heads, mlp_ratio), called with images (B, C, H, W)",
    sizes={
        "image_size": 24,
        "patch_size": 8,
        "in_channels": 3,
        "num_classes": 11,
        "embed_dim": 14,
        "depth": 3,
        "num_heads": 2,
        "mlp_ratio": 5,
    },
    other_sizes={
        "image_size": 16,
        "patch_size": 4,
        "in_channels": 2,
        "num_classes": 7,
        "embed_dim": 12,
        "depth": 2,
        "num_heads": 3,
        "mlp_ratio": 6,
    },
    inputs=lambda generator, sizes: [
        0.1
        * normal(
            generator,
            4,
            sizes["in_channels"],
            sizes["image_size"],
            sizes["image_size"],
        )
    ],
    reading=model_readings,
    reference=_right_model,
    package=lambda sizes: _package_model(tuple(sizes.items())),
    mistakes=_OF_MODEL,
    hints=_HINTS,
    shape="(B, K)",
    lacking=model_lacks,
    tried=8,
    # Tokens begin quietly and stay so, that eps may matter to the last norm.
    widths={"vectors": 0.05, "matrices": 0.3},
    function=FunctionCheck(
        "vision_transformer",
        "vision_transformer(images, embed, blocks, norm, head) -> (B, K)",
        classify,
        _function_inputs,
        [
            *OF_WIRING,
            Mistake(
                "blocks in reverse",
                "the blocks run from the last to the first",
                with_blocks(lambda blocks: blocks[::-1]),
            ),
        ],
        _HINTS,
        shape="(B, K)",
        batched=(0,),
        scenario=_callables_for_model,
    ),
    normalize=output_of_tuple,
)
