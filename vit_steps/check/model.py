"""Checks of chapter 7: the whole Vision Transformer, and its parameters counted."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F

from vit_steps.check.checking import Case, Check
from vit_steps.check.encoder import (
    OF_BLOCK,
    attention_maps,
    block_weights,
    layer_norms,
    mlp_lacks,
    mlp_readings,
    output_of_tuple,
)
from vit_steps.check.function_check import FunctionCheck
from vit_steps.check.module_check import ModuleCheck, run_module
from vit_steps.check.observing import Record
from vit_steps.check.reading import (
    Linear,
    Part,
    Weights,
    attention_readings,
    linears,
)
from vit_steps.check.verdict import Finding, Mistake
from vit_steps.cost import model_cost
from vit_steps.vision_transformer import VisionTransformer, ViTConfig

Sizes = Mapping[str, Any]
Step = Callable[[Tensor], Tensor]


def _normal(generator: Generator, *shape: int) -> Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def _classify(
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
    return _classify(images, embed, blocks, lambda x: x, head)


def _norm_early(
    images: Tensor, embed: Step, blocks: Sequence[Step], norm: Step, head: Step
) -> Tensor:
    return _classify(
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
    return _classify(images, embed, [], norm, head)


def _forgetful(
    images: Tensor, embed: Step, blocks: Sequence[Step], norm: Step, head: Step
) -> Tensor:
    return _classify(images, embed, blocks[-1:], norm, head)


def _averaged_logits(
    images: Tensor, embed: Step, blocks: Sequence[Step], norm: Step, head: Step
) -> Tensor:
    return _classify(images, embed, blocks, norm, head, "all tokens").mean(dim=1)


def _residual_around(
    images: Tensor, embed: Step, blocks: Sequence[Step], norm: Step, head: Step
) -> Tensor:
    x = embed(images)  # (B, T, D)
    for block in blocks:
        x = x + block(x)
    return head(norm(x)[:, 0])


def _with_blocks(choose: Callable[[Sequence[Step]], Sequence[Step]]) -> Any:
    def wrong(
        images: Tensor, embed: Step, blocks: Sequence[Step], norm: Step, head: Step
    ) -> Tensor:
        return _classify(images, embed, choose(blocks), norm, head)

    return wrong


def _then(function: Callable[[Tensor], Tensor]) -> Any:
    return lambda *steps: function(_classify(*steps))


_OF_WIRING = [
    Mistake(
        "head on every token",
        "the head reads every token, so that each image gets T answers; it reads the "
        "class token alone",
        partial(_classify, pick="all tokens"),
    ),
    Mistake(
        "mean of the tokens",
        "the head reads the mean of all tokens, which is another model; here it reads "
        "the class token",
        partial(_classify, pick="mean"),
    ),
    Mistake(
        "mean of the patches",
        "the head reads the mean of the patches' tokens, which is another model; here "
        "it reads the class token",
        partial(_classify, pick="mean of patches"),
    ),
    Mistake(
        "mean of the logits",
        "the logits of all tokens are averaged; the head reads the class token alone",
        _averaged_logits,
    ),
    Mistake(
        "largest of the tokens",
        "the head reads the largest number over the tokens; it reads the class token",
        partial(_classify, pick="largest"),
    ),
    Mistake(
        "last token",
        "the head reads the last token, which is a patch; the class token stands "
        "first, at index 0",
        partial(_classify, pick="last token"),
    ),
    Mistake(
        "second token",
        "the head reads the token at index 1, which is a patch; the class token "
        "stands at index 0",
        partial(_classify, pick="second token"),
    ),
    Mistake(
        "first image",
        "x[0] takes the first image with all its tokens; the class token of every "
        "image is x[:, 0]",
        partial(_classify, pick="first image"),
    ),
    Mistake(
        "no final norm",
        "nothing norms the stream behind the last block",
        _no_norm,
    ),
    Mistake(
        "norm before the blocks",
        "the norm stands in front of the blocks; it belongs behind the last one",
        _norm_early,
    ),
    Mistake(
        "norm after every block",
        "the final norm is used after every block; it belongs behind the last one "
        "alone",
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
        "every block reads the tokens of the embedding, so that only the last one "
        "counts; each is to read what the one before it gave",
        _forgetful,
    ),
    Mistake(
        "first block left out",
        "one block does not run, the first of those that are there",
        _with_blocks(lambda blocks: blocks[1:]),
    ),
    Mistake(
        "last block left out",
        "one block does not run, the last of those that are there",
        _with_blocks(lambda blocks: blocks[:-1]),
    ),
    Mistake(
        "first block alone",
        "only the first block runs",
        _with_blocks(lambda blocks: blocks[:1]),
    ),
    Mistake(
        "first block every time",
        "the same block runs every time, and the others never do",
        _with_blocks(lambda blocks: [blocks[0] for _ in blocks]),
    ),
    Mistake(
        "one block every time",
        "the same block runs every time, and the others never do",
        _with_blocks(lambda blocks: [blocks[-1] for _ in blocks]),
    ),
    Mistake(
        "blocks twice",
        "the blocks run twice",
        _with_blocks(lambda blocks: [*blocks, *blocks]),
    ),
    Mistake(
        "residual around the blocks",
        "x is added around each block once more; the residuals are inside the block",
        _residual_around,
    ),
    Mistake(
        "softmax at the end",
        "a softmax stands behind the head; the logits go out as they are, since the "
        "loss takes the softmax itself",
        _then(lambda logits: logits.softmax(dim=-1)),
    ),
    Mistake(
        "log-softmax at the end",
        "a log-softmax stands behind the head; the logits go out as they are",
        _then(lambda logits: logits.log_softmax(dim=-1)),
    ),
    Mistake(
        "sigmoid at the end",
        "a sigmoid stands behind the head; the logits go out as they are",
        _then(torch.sigmoid),
    ),
    Mistake(
        "argmax at the end",
        "the number of the best class is returned, expected the logits of all K",
        _then(lambda logits: logits.argmax(dim=-1)),
    ),
]


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
    wiring: Callable[..., Tensor] = _classify,
    embed: Callable[..., Tensor] = _embed,
    block: Callable[..., Tensor] | None = None,
    eps: float = 1e-6,
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
        lambda x: F.layer_norm(
            x, width, weights["norm.weight"], weights["norm.bias"], eps
        ),
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

_OF_MODEL = [
    *(Mistake(m.name, m.sentence, partial(_model, wiring=m.wrong)) for m in _OF_WIRING),
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
    *(
        Mistake(
            f"{kind} with PyTorch's eps",
            f"{_OF_BLOCK[name].sentence}; and all norms have PyTorch's eps of 1e-5, "
            "expected 1e-6",
            partial(_model, block=partial(_OF_BLOCK[name].wrong, eps=1e-5), eps=1e-5),
        )
        for kind, name in (("post-norm", "post-norm"), ("ReLU", "ReLU"))
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
        "causal mask hides what stands behind it",
        partial(_model, block=_OF_BLOCK["across the batch"].wrong),
    ),
    Mistake(
        "class token last",
        "the class token stands behind the patches; it stands first, at index 0, as "
        "in every checkpoint",
        partial(
            _model,
            wiring=partial(_classify, pick="last token"),
            embed=partial(_embed, tokens="class token last"),
        ),
    ),
    Mistake(
        "class token last, first read",
        "the class token stands behind the patches, and what is read at index 0 is a "
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
        "the class token's own vector takes no part: at index 0 stands a position "
        "alone",
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
]


def _class_tokens(parts: list[Part], D: int) -> list[Part]:
    """What may be the class token, the likeliest first."""
    of_norms = {id(part) for pair in layer_norms(parts, D) for part in pair}
    fitting = [
        part
        for part in parts
        if part.kind in ("own", "table")
        and part.value.numel() == D
        and id(part) not in of_norms
    ]
    return sorted(fitting, key=lambda part: part.value.ndim == 1)


def _tables(parts: list[Part], rows: int, D: int) -> list[Part]:
    """What may be positions, a row of D numbers each."""
    return [
        part
        for part in parts
        if part.kind in ("own", "table")
        and part.value.numel() == rows * D
        and part.value.shape[-1] == D
    ]


def _kernels(parts: list[Part], sizes: Sizes) -> Iterator[tuple[Tensor, Tensor]]:
    """Weight (D, C, P, P) and bias of the patch projection; a linear map's numbers
    may stand by channel, row, column or by row, column, channel."""
    C, P, D = sizes["in_channels"], sizes["patch_size"], sizes["embed_dim"]
    for part in parts:
        if part.kind in ("norm", "table") or part.value.ndim < 2:
            continue
        vectors = [p for p in parts if p.value.ndim == 1 and p.kind != "norm"]
        for found in linears([part, *vectors], C * P * P):
            if found.outs != D or found.bias is None:
                continue
            yield found.weight.reshape(D, C, P, P), found.bias
            if part.kind != "convolution":
                turned = found.weight.reshape(D, P, P, C)
                yield turned.permute(0, 3, 1, 2), found.bias


def _tokens_of(sizes: Sizes) -> int:
    return 1 + (sizes["image_size"] // sizes["patch_size"]) ** 2


def _hidden(sizes: Sizes) -> int:
    return int(sizes["embed_dim"] * sizes["mlp_ratio"])


def _reading(parts: list[Part], sizes: Sizes) -> Iterator[Weights]:
    D, L, T = sizes["embed_dim"], sizes["depth"], _tokens_of(sizes)
    M, K, h = _hidden(sizes), sizes["num_classes"], sizes["num_heads"]
    norms = layer_norms(parts, D)
    tokens, positions = _class_tokens(parts, D)[:1], _tables(parts, T, D)[:1]
    heads = [m for m in linears(parts, D) if m.outs == K and m.bias is not None]
    if len(norms) != 2 * L + 1 or not tokens or not positions or len(heads) != 1:
        return
    maps = [m for m in attention_maps(parts, D, h, M) if m.outs != K]
    if not maps or len(maps) % L:
        return
    each = len(maps) // L
    groups = [maps[number * each : (number + 1) * each] for number in range(L)]
    outside = {
        "cls_token": tokens[0].value.reshape(1, 1, D),
        "pos_embed": positions[0].value.reshape(1, T, D),
        "head.weight": heads[0].weight,
        "head.bias": heads[0].bias_or_zeros(),
    }
    mlps, kernels = list(mlp_readings(parts, D, M, L)), list(_kernels(parts, sizes))
    # In running order, the usual readings of attention first; then with the two norms
    # of a block the other way round, and with a final norm that is never called.
    pairs = [norms[2 * number : 2 * number + 2] for number in range(L)]
    late = [norms[2 * number + 1 : 2 * number + 3] for number in range(L)]
    for final, of_blocks, ordered in (
        (norms[-1], pairs, True),
        (norms[-1], [pair[::-1] for pair in pairs], True),
        (norms[0], late, True),
        (norms[-1], pairs, False),
        (norms[-1], [pair[::-1] for pair in pairs], False),
    ):
        attentions = (attention_readings(group, D, h, ordered) for group in groups)
        for of_attention in zip(*attentions, strict=True):
            for layers in mlps:
                for kernel, bias in kernels:
                    weights = dict(outside)
                    weights |= {"patch_embed.proj.weight": kernel}
                    weights |= {"patch_embed.proj.bias": bias}
                    weights |= {"norm.weight": final[0].value}
                    weights |= {"norm.bias": final[1].value}
                    for number in range(L):
                        block = block_weights(
                            of_blocks[number], of_attention[number], layers[number]
                        )
                        for name, value in block.items():
                            weights[f"blocks.{number}.{name}"] = value
                    yield weights


def _lacks(parts: list[Part], sizes: Sizes) -> Finding | None:
    D, L, T = sizes["embed_dim"], sizes["depth"], _tokens_of(sizes)
    M, K, h = _hidden(sizes), sizes["num_classes"], sizes["num_heads"]
    for found in (
        _embedding_lacks(parts, sizes, T),
        _blocks_lack(attention_maps(parts, D, h, M), sizes),
        _norms_lack(parts, D, L),
        mlp_lacks(parts, D, M, L),
    ):
        if found is not None:
            return found
    heads = [m for m in linears(parts, D) if m.outs == K]
    if len(heads) != 1 or heads[0].bias is None:
        return Finding(
            "no head",
            "has no single linear layer with a bias from D numbers to the K classes",
        )
    return None


def _embedding_lacks(parts: list[Part], sizes: Sizes, T: int) -> Finding | None:
    C, P, D = sizes["in_channels"], sizes["patch_size"], sizes["embed_dim"]
    if not list(_kernels(parts, sizes)):
        return Finding(
            "no patch projection",
            "has no map with a bias from the C·P·P numbers of a patch, "
            f"{C * P * P} here, to D, {D} here",
        )
    if not _class_tokens(parts, D):
        return Finding(
            "no class token",
            "has no class token: a parameter of D numbers, (1, 1, D)",
        )
    if not _tables(parts, T, D):
        if _tables(parts, T - 1, D):
            return Finding(
                "positions for the patches alone",
                "has N positions, one for each patch; the class token has one too, so "
                "there are T of them",
            )
        return Finding(
            "no learned positions",
            "has no parameter of T·D numbers for the positions, (1, T, D)",
        )
    return None


def _norms_lack(parts: list[Part], D: int, L: int) -> Finding | None:
    norms = len(layer_norms(parts, D))
    if norms == 2 * L:
        return Finding(
            "final norm missing",
            "has two norms for each block and none behind the last one",
        )
    if norms == L + 1:
        return Finding(
            "one norm a block", "has one norm in each block, expected two in each"
        )
    if norms > 2 * L + 1:
        return Finding(
            "norms too many",
            f"has {norms} norms over D numbers, expected {2 * L + 1}: two in each "
            "block and one behind the last",
        )
    return None


def _blocks_lack(maps: list[Linear], sizes: Sizes) -> Finding | None:
    D, L = sizes["embed_dim"], sizes["depth"]
    numbers = sum(m.weight.numel() for m in maps)
    if numbers == 4 * D * D and L > 1:
        return Finding(
            "one block shared",
            f"has the parameters of one block, expected those of {L}: the blocks of "
            "the list are one and the same",
        )
    if numbers % (4 * D * D) == 0 and numbers and numbers != 4 * D * D * L:
        return Finding(
            "number of blocks",
            f"has {numbers // (4 * D * D)} blocks, expected {L}, the depth that was "
            "asked for",
        )
    if numbers == 3 * D * D * L:
        return Finding(
            "no projection",
            "has matrices for q, k and v but none behind the heads: the output "
            "projection of each block is missing",
        )
    return None


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
        norm = [1 + 0.3 * _normal(generator, D), 0.5 * _normal(generator, D)]
        yield [
            _normal(generator, B, C, H, W),
            _normal(generator, C, D),
            _normal(generator, H * W, D),
            [_normal(generator, D, D) / D**0.5 for _ in range(L)],
            norm,
            [_normal(generator, K, D) / D**0.5, _normal(generator, K)],
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
    "Write the shape behind every line, from (B, C, H, W) to (B, K). In which line "
    "do 196 of 197 tokens go, and which one stays?",
    "Patches, class token in front, positions on all T tokens, L blocks one behind "
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
    inputs=lambda generator, sizes: [
        0.1
        * _normal(
            generator,
            4,
            sizes["in_channels"],
            sizes["image_size"],
            sizes["image_size"],
        )
    ],
    reading=_reading,
    reference=_right_model,
    mistakes=_OF_MODEL,
    hints=_HINTS,
    shape="(B, K)",
    lacking=_lacks,
    tried=8,
    # Tokens begin quietly and stay so, that eps may matter to the last norm.
    widths={"vectors": 0.05, "matrices": 0.3},
    function=FunctionCheck(
        "vision_transformer",
        "vision_transformer(images, embed, blocks, norm, head) -> (B, K)",
        _classify,
        _function_inputs,
        [
            *_OF_WIRING,
            Mistake(
                "blocks in reverse",
                "the blocks run from the last to the first",
                _with_blocks(lambda blocks: blocks[::-1]),
            ),
        ],
        _HINTS,
        shape="(B, K)",
        batched=(0,),
        scenario=_callables_for_model,
    ),
    normalise=output_of_tuple,
)


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
        image_size,
        patch_size,
        in_channels,
        num_classes,
        embed_dim,
        depth,
        num_heads=1,
        mlp_ratio=ratio,
    ).parameters


def _count_inputs(generator: Generator) -> Iterator[Case]:
    for P, side, C, K, D, L in ((5, 4, 3, 7, 8, 3), (6, 3, 2, 11, 16, 5)):
        ratio = int(torch.randint(5, 9, (), generator=generator))
        yield [P * side, P, C, K, D, L, ratio * D]


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
        _miscount("no head bias", "the bias of the head is missing"),
        _miscount(
            "no class token",
            "D numbers are missing: the class token's own, or its position",
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
        _miscount("no final norm", "the norm behind the last block is missing"),
        _miscount(
            "three matrices",
            "attention has a fourth matrix, the output projection behind the heads",
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
