"""Checks of chapter 6: the encoder block and what it is made of."""

import math
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F

from vit_steps.check.checking import Case
from vit_steps.check.function_check import FunctionCheck
from vit_steps.check.heads import multi_head_attention
from vit_steps.check.module_check import ModuleCheck, run_module
from vit_steps.check.reading import (
    Linear,
    Part,
    Weights,
    attention_readings,
    linears,
)
from vit_steps.check.verdict import Finding, Mistake
from vit_steps.encoder import MLP, EncoderBlock

Sizes = Mapping[str, Any]
Function = Callable[[Tensor], Tensor]


def _normal(generator: Generator, *shape: int) -> Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def _norm(
    x: Tensor,
    weight: Tensor | float,
    bias: Tensor | float,
    eps: float = 1e-6,
    axes: tuple[int, ...] = (-1,),
    correction: int = 0,
    centre: bool = True,
    variance: str = "centred",
    root: str = "around eps",
    keepdim: bool = True,
) -> Tensor:
    """LayerNorm with a place for each usual mistake."""
    mean = x.mean(dim=axes, keepdim=keepdim)
    if variance == "centred":
        var = x.var(dim=axes, correction=correction, keepdim=keepdim)
    else:
        var = x.square().mean(dim=axes, keepdim=keepdim)
    width = {
        "around eps": (var + eps).sqrt(),
        "before eps": var.sqrt() + eps,
        "missing": var + eps,
        "no division": torch.ones_like(var),
    }[root]
    return (x - mean if centre else x) / width * weight + bias


def _normed_late(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-6) -> Tensor:
    return (_norm(x, 1.0, 0.0, eps) + bias) * weight


def _norm_inputs(generator: Generator) -> Iterator[Case]:
    for B, T, D, spread, dtype in (
        (2, 5, 6, 100.0, torch.float64),  # eps has no effect
        (3, 3, 3, 100.0, torch.float64),
        (4, 2, 7, 1e-2, torch.float64),  # narrow enough for eps to be seen
        (3, 4, 8, 1.0, torch.float32),
    ):
        x = 2.0 * spread + spread * _normal(generator, B, T, D)
        weight, bias = 1 + 0.3 * _normal(generator, D), 0.5 * _normal(generator, D)
        yield [x.to(dtype), weight.to(dtype), bias.to(dtype)]
    yield [0.1 * _normal(generator, 2, 3, 5), *_normal(generator, 2, 5), 1e-2]


layer_norm = FunctionCheck(
    "layer_norm",
    "layer_norm(x, weight, bias, eps=1e-6) -> (B, T, D)",
    _norm,
    _norm_inputs,
    [
        Mistake(
            "unbiased",
            "the variance is divided by D - 1, as torch.var and torch.std do unless "
            "told otherwise; LayerNorm divides by D",
            partial(_norm, correction=1),
        ),
        Mistake(
            "over tokens",
            "mean and variance run over the tokens; each token is normed for itself, "
            "over its D numbers",
            partial(_norm, axes=(1,)),
        ),
        Mistake(
            "over the batch",
            "mean and variance run over the batch; each token is normed for itself, "
            "over its D numbers",
            partial(_norm, axes=(0,)),
        ),
        Mistake(
            "over batch and tokens",
            "mean and variance run over all tokens of the batch, as in a BatchNorm; "
            "each token is normed for itself, over its D numbers",
            partial(_norm, axes=(0, 1)),
        ),
        Mistake(
            "over tokens and numbers",
            "mean and variance run over all numbers of an image; each token is normed "
            "for itself",
            partial(_norm, axes=(1, 2)),
        ),
        Mistake(
            "over everything",
            "mean and variance run over the whole tensor; each token is normed for "
            "itself, over its D numbers",
            partial(_norm, axes=(0, 1, 2)),
        ),
        Mistake(
            "no shift",
            "the mean is not subtracted",
            partial(_norm, centre=False),
        ),
        Mistake(
            "RMS",
            "neither the token nor its variance has the mean subtracted: this is "
            "RMSNorm, another norm",
            partial(_norm, centre=False, variance="of squares"),
        ),
        Mistake(
            "squares not centred",
            "the variance is the mean of the squares; subtract the mean before you "
            "square",
            partial(_norm, variance="of squares"),
        ),
        Mistake(
            "no division",
            "the mean is subtracted, but nothing is divided by the standard deviation",
            partial(_norm, root="no division"),
        ),
        Mistake(
            "no root",
            "it is divided by the variance; divide by its root",
            partial(_norm, root="missing"),
        ),
        Mistake(
            "eps outside the root",
            "eps is added to the standard deviation; it belongs under the root, to "
            "the variance",
            partial(_norm, root="before eps"),
        ),
        Mistake(
            "eps 1e-5",
            "eps is 1e-5, PyTorch's default; the Vision Transformer's is 1e-6",
            lambda x, weight, bias, eps=1e-6: _norm(x, weight, bias, 1e-5),
        ),
        Mistake(
            "no eps",
            "eps is missing, or so small that it has no effect: a token of equal "
            "numbers would be divided by zero",
            lambda x, weight, bias, eps=1e-6: _norm(x, weight, bias, 1e-12),
        ),
        Mistake(
            "eps ignored",
            "the argument eps has no effect",
            lambda x, weight, bias, eps=1e-6: _norm(x, weight, bias, 1e-6),
        ),
        Mistake(
            "neither weight nor bias",
            "weight and bias have no effect",
            lambda x, weight, bias, eps=1e-6: _norm(x, 1.0, 0.0, eps),
        ),
        Mistake(
            "no weight",
            "the weight has no effect",
            lambda x, weight, bias, eps=1e-6: _norm(x, 1.0, bias, eps),
        ),
        Mistake(
            "no bias",
            "the bias has no effect",
            lambda x, weight, bias, eps=1e-6: _norm(x, weight, 0.0, eps),
        ),
        Mistake(
            "bias before weight",
            "the bias is added before the weight is multiplied, and so is multiplied "
            "too",
            _normed_late,
        ),
        Mistake(
            "no keepdim",
            "mean and variance have lost their last axis, and (B, T) stretched over "
            "(B, T, D) pairs them with the wrong tokens: keepdim=True keeps the axis",
            partial(_norm, keepdim=False),
        ),
    ],
    hints=(
        "Take one token by hand: which numbers go into its mean, and how many of "
        "them are there?",
        "Mean and variance run over the last axis, keepdim=True; the variance is "
        "divided by D; eps is added to it before the root.",
        "(x - mean) / torch.sqrt(var + eps) * weight + bias, with "
        "var = x.var(dim=-1, correction=0, keepdim=True).",
    ),
    shape="(B, T, D)",
    batched=(0,),
)


def _two_layers(
    weights: Weights,
    sizes: Sizes,
    x: Tensor,
    bend: Function = F.gelu,
    before: Function | None = None,
    after: Function | None = None,
) -> Tensor:
    """An MLP with a place for each usual mistake."""
    x = x if before is None else before(x)
    hidden = bend(x @ weights["mlp.fc1.weight"].T + weights["mlp.fc1.bias"])
    x = hidden @ weights["mlp.fc2.weight"].T + weights["mlp.fc2.bias"]
    return x if after is None else after(x)


def _straight(x: Tensor) -> Tensor:
    return x


def _tanh_gelu(x: Tensor) -> Tensor:
    return F.gelu(x, approximate="tanh")


def _normed_inside(weights: Weights, sizes: Sizes, x: Tensor, eps: float) -> Tensor:
    weight, bias = weights.get("norm.weight", 1.0), weights.get("norm.bias", 0.0)
    return _two_layers(weights, sizes, _norm(x, weight, bias, eps))


_OF_MLP = [
    Mistake(
        "ReLU",
        "the bend between the layers is a ReLU, expected a GELU",
        partial(_two_layers, bend=F.relu),
    ),
    Mistake(
        "tanh GELU",
        "the GELU is the one with tanh, which nearly agrees; expected the exact one, "
        "x·Φ(x)",
        partial(_two_layers, bend=_tanh_gelu),
    ),
    Mistake(
        "quick GELU",
        "the bend is x·sigmoid(1.702·x), which nearly agrees with GELU; expected the "
        "exact one, x·Φ(x)",
        partial(_two_layers, bend=lambda x: x * torch.sigmoid(1.702 * x)),
    ),
    Mistake(
        "SiLU",
        "the bend is x·sigmoid(x), the SiLU; expected GELU, x·Φ(x)",
        partial(_two_layers, bend=F.silu),
    ),
    Mistake(
        "no activation",
        "nothing bent stands between the two layers: together they are one matrix",
        partial(_two_layers, bend=_straight),
    ),
    Mistake(
        "activation at the end",
        "a GELU comes behind the second layer too, so that little below zero is left "
        "to add to the stream",
        partial(_two_layers, after=F.gelu),
    ),
    Mistake(
        "activation only at the end",
        "the GELU comes behind the second layer; it belongs between the two",
        partial(_two_layers, bend=_straight, after=F.gelu),
    ),
    Mistake(
        "activation at the start",
        "the GELU comes before the first layer; it belongs between the two",
        partial(_two_layers, bend=_straight, before=F.gelu),
    ),
    Mistake(
        "chance without x",
        "the bend is Φ(x) alone; GELU is x·Φ(x)",
        partial(_two_layers, bend=lambda x: (1 + torch.erf(x / math.sqrt(2))) / 2),
    ),
    Mistake(
        "softmax between",
        "a softmax stands between the layers, expected a GELU",
        partial(_two_layers, bend=lambda x: x.softmax(dim=-1)),
    ),
    Mistake(
        "residual inside",
        "x is added inside: the residual belongs to the block, not to the MLP",
        lambda weights, sizes, x: x + _two_layers(weights, sizes, x),
    ),
    Mistake(
        "norm inside",
        "x is normed inside: the norm belongs to the block, not to the MLP",
        partial(_normed_inside, eps=1e-6),
    ),
    Mistake(
        "norm inside, eps 1e-5",
        "x is normed inside: the norm belongs to the block, not to the MLP; and its "
        "eps is 1e-5, where the Vision Transformer's is 1e-6",
        partial(_normed_inside, eps=1e-5),
    ),
]


def _with_mlp_weights(
    x: Tensor,
    fc1_weight: Tensor,
    fc1_bias: Tensor,
    fc2_weight: Tensor,
    fc2_bias: Tensor,
    variant: Any = _two_layers,
) -> Tensor:
    weights = {
        "mlp.fc1.weight": fc1_weight,
        "mlp.fc1.bias": fc1_bias,
        "mlp.fc2.weight": fc2_weight,
        "mlp.fc2.bias": fc2_bias,
    }
    return variant(weights, {}, x)


def _mlp_function_inputs(generator: Generator) -> Iterator[Case]:
    for B, T, D, M, dtype in (
        (2, 5, 6, 10, torch.float64),
        (3, 4, 5, 7, torch.float32),
    ):
        case = [
            _normal(generator, B, T, D),
            _normal(generator, M, D) / D**0.5,
            0.5 * _normal(generator, M),
            _normal(generator, D, M) / M**0.5,
            0.5 * _normal(generator, D),
        ]
        yield [tensor.to(dtype) for tensor in case]


def layer_norms(parts: list[Part], D: int) -> list[tuple[Part, Part]]:
    """Weight and bias of each norm over D numbers, in running order.

    A norm that somebody has written is a module with two vectors and nothing else; the
    weight is the one that begins at 1.
    """
    owned: dict[str, list[Part]] = {}
    for part in parts:
        owned.setdefault(part.owner, []).append(part)
    found = []
    for members in owned.values():
        vectors = [p for p in members if tuple(p.value.shape) == (D,)]
        kinds = {p.kind for p in members}
        if len(vectors) == len(members) == 2 and kinds in ({"norm"}, {"own"}):
            found.append(sorted(vectors, key=_bias_last))
    return [(weight, bias) for weight, bias in found]


def _bias_last(part: Part) -> bool:
    if part.kind == "norm":
        return part.name.endswith("bias")
    return not bool((part.initial == 1).all())


def mlp_readings(
    parts: list[Part], D: int, M: int, depth: int = 1
) -> Iterator[list[tuple[Linear, Linear]]]:
    """Every way to read linear maps as the two layers of each of ``depth`` MLPs."""
    matrices = [p for p in parts if p.kind != "table" and _sides(p) == {D, M}]
    vectors = [p for p in parts if p.value.ndim == 1]
    if len(matrices) != 2 * depth:
        return
    for first in (0, 1):  # matrices of their own fit both ways
        pairs = [
            (linears([a, *vectors], D), linears([b, *vectors], M))
            for a, b in zip(matrices[first::2], matrices[1 - first :: 2], strict=True)
        ]
        found = [(into[0], back[0]) for into, back in pairs if into and back]
        if len(found) == depth and all(a.bias is not None for p in found for a in p):
            yield found


def mlp_lacks(parts: list[Part], D: int, M: int, depth: int = 1) -> Finding | None:
    """What keeps the parts from being read as ``depth`` MLPs."""
    matrices = [p for p in parts if p.kind == "linear" and p.value.ndim == 2]
    into = [p for p in matrices if p.value.shape[1] == D and p.value.shape[0] > D]
    hidden = {p.value.shape[0] for p in into} - {3 * D, 2 * D}
    if len(linears(parts, D)) and M not in hidden and len(hidden) == 1:
        return Finding(
            "wrong width",
            f"the hidden layer of the MLP has {hidden.pop()} numbers, expected {M}, "
            "the M that was asked for",
        )
    two = [p for p in parts if _sides(p) == {D, M}]
    if len(two) == depth:
        return Finding(
            "one layer",
            "has one matrix between D and M numbers, expected two: from D to M and "
            "back to D",
        )
    if len(two) == 2 * depth and not list(mlp_readings(parts, D, M, depth)):
        return Finding(
            "no bias in the MLP",
            "has a linear layer without a bias in the MLP; both layers have one",
        )
    if any(_sides(p) == {M} for p in parts):
        return Finding(
            "layer too many",
            "has a matrix from M to M numbers: the MLP has two layers, from D to M "
            "and back to D",
        )
    return None


def _sides(part: Part) -> set[int]:
    """The two lengths of a matrix; of what is none, nothing."""
    return set(part.value.flatten(1).shape) if part.value.ndim > 1 else set()


def _mlp_reading(parts: list[Part], sizes: Sizes) -> Iterator[Weights]:
    D, M = sizes["embed_dim"], sizes["hidden_dim"]
    if any(_sides(part) == {M} for part in parts):
        return
    for ((fc1, fc2),) in mlp_readings(parts, D, M):
        weights = mlp_weights(fc1, fc2)
        for weight, bias in layer_norms(parts, D)[:1]:
            weights |= {"norm.weight": weight.value, "norm.bias": bias.value}
        yield weights


def mlp_weights(fc1: Linear, fc2: Linear) -> Weights:
    """Two linear maps under the package's names."""
    return {
        "mlp.fc1.weight": fc1.weight,
        "mlp.fc1.bias": fc1.bias_or_zeros(),
        "mlp.fc2.weight": fc2.weight,
        "mlp.fc2.bias": fc2.bias_or_zeros(),
    }


def _right_mlp(weights: Weights, sizes: Sizes, x: Tensor) -> Tensor:
    layer = MLP(sizes["embed_dim"], sizes["hidden_dim"])
    own = {k.removeprefix("mlp."): v for k, v in weights.items() if "fc" in k}
    return run_module(layer, own, x)


def _mlp_lacks(parts: list[Part], sizes: Sizes) -> Finding | None:
    finding = mlp_lacks(parts, sizes["embed_dim"], sizes["hidden_dim"])
    if finding is None and not any(p.value.ndim > 1 for p in parts):
        return Finding(
            "no matrices",
            "has no matrix: the two layers are learned, so make them in __init__",
        )
    return finding


_HINTS_OF_MLP = (
    "Say aloud what each token goes through, in order, and which of these things "
    "the block does and not the MLP.",
    "A linear layer from D to M, the exact GELU, a linear layer from M to D; nothing "
    "is normed and nothing is added to x.",
    "self.fc2(F.gelu(self.fc1(x))), with nn.Linear(embed_dim, hidden_dim) and "
    "nn.Linear(hidden_dim, embed_dim).",
)

mlp = ModuleCheck(
    "mlp",
    "class MLP(embed_dim, hidden_dim), called with x (B, T, D)",
    sizes={"embed_dim": 6, "hidden_dim": 10},
    inputs=lambda generator, sizes: [_normal(generator, 2, 5, sizes["embed_dim"])],
    reading=_mlp_reading,
    reference=_right_mlp,
    mistakes=_OF_MLP,
    hints=_HINTS_OF_MLP,
    shape="(B, T, D)",
    lacking=_mlp_lacks,
    function=FunctionCheck(
        "mlp",
        "mlp(x, fc1_weight, fc1_bias, fc2_weight, fc2_bias) -> (B, T, D)",
        _with_mlp_weights,
        _mlp_function_inputs,
        [
            Mistake(m.name, m.sentence, partial(_with_mlp_weights, variant=m.wrong))
            for m in _OF_MLP
        ],
        _HINTS_OF_MLP,
        shape="(B, T, D)",
        batched=(0,),
    ),
)


def _coins(x: Tensor, chance: float, shape: tuple[int, ...]) -> Tensor:
    return (torch.rand(shape) < chance).to(x.dtype)


def _dropped(
    x: Tensor,
    drop_prob: float,
    training: bool,
    coin: str = "sample",
    chance: str = "keep",
    scale: str = "1/keep",
    rest: str = "untouched",
) -> Tensor:
    """Stochastic depth with a place for each usual mistake."""
    keep = 1 - drop_prob
    if rest == "inverted":
        training = not training
    if rest != "active" and (not training or drop_prob == 0):
        return {"scaled": x * keep, "enlarged": x / keep}.get(rest, x)
    B, T, D = x.shape
    shapes = {"sample": (B, 1, 1), "token": (B, T, 1), "number": (B, T, D)}
    shapes |= {"batch": (1, 1, 1), "position": (1, T, D), "none": (1, 1, 1)}
    kept = _coins(x, keep if chance == "keep" else drop_prob, shapes[coin])
    if coin == "none":
        kept = torch.ones_like(x)
    factors = {"1/keep": 1 / keep, "1": 1.0, "keep": keep}
    return x * kept * (factors | {"1/drop": 1 / max(drop_prob, 1e-9)})[scale]


def _drop_in_words(answer: Any, x: Tensor, drop_prob: float) -> Any:
    """What an answer does to a large batch, in words that no draw can change."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(20101192)
        seen, own = {}, x.clone()
        for where, chance, training in (
            ("training", drop_prob, True),
            ("evaluation", drop_prob, False),
            ("training with drop_prob 0", 0.0, True),
        ):
            given = own.clone()
            seen[f"the output in {where}"] = _effect(
                answer, given, own, chance, training
            )
            if not torch.equal(given, own):  # in place: let it be seen
                x.copy_(given)
        return seen


def _effect(
    answer: Any, given: Tensor, x: Tensor, drop_prob: float, training: bool
) -> Any:
    def run(x: Tensor) -> Any:
        if isinstance(answer, type) and issubclass(answer, nn.Module):
            return answer(drop_prob).train(training)(x)
        return answer(x, drop_prob, training)

    y = run(given)
    if not isinstance(y, Tensor):
        return y
    if y.shape != x.shape or y.dtype != x.dtype:
        return f"of shape {tuple(y.shape)} and {y.dtype}"
    y = Tensor.as_subclass(y, Tensor).detach()
    factors = y.double() / x.double()  # (B, T, D)
    if not torch.isfinite(factors).all():
        return "not finite"
    if (factors - 1).abs().max() < 1e-4:
        return "x as it is"
    alike = {name: _alike(factors, axis) for axis, name in enumerate(_AXES)}
    if alike["samples"]:  # one coin for all, perhaps: flip it again
        factors = torch.stack([run(x[:2].clone()).detach() / x[:2] for _ in range(60)])
    share = (factors == 0).double().mean().item()
    dropped = "some of it is dropped"
    for part, expected in (("drop_prob", drop_prob), ("1 - drop_prob", 1 - drop_prob)):
        if not alike["samples"] and abs(share - expected) < 0.05:
            dropped = f"a share of {part} is dropped"
    left = factors[factors != 0].mul(1000).round().div(1000).unique()  # (factors,)
    return {
        "what falls": dropped if share else "nothing is dropped",
        "what is alike": ", ".join(name for name in alike if alike[name]),
        "the factor of what is kept": left[:3].tolist(),
    }


_AXES = ("samples", "tokens", "numbers of a token")


def _alike(factors: Tensor, axis: int) -> bool:
    return bool((factors - factors.narrow(axis, 0, 1)).abs().max() < 1e-4)


def _drop_inputs(generator: Generator) -> Iterator[Case]:
    for drop_prob in (0.25, 0.6):
        x = _normal(generator, 4000, 3, 2)
        yield [(x + x.sign() / 2).float(), drop_prob]


drop_path = FunctionCheck(
    "drop_path",
    "drop_path(x, drop_prob, training) -> (B, T, D)",
    _dropped,
    _drop_inputs,
    [
        Mistake(
            "each number",
            "each number is dropped for itself, which is dropout; a coin is flipped "
            "for each sample, and all its numbers fall together",
            partial(_dropped, coin="number"),
        ),
        Mistake(
            "each token",
            "a coin is flipped for each token; it is one for each sample, with all "
            "its tokens",
            partial(_dropped, coin="token"),
        ),
        Mistake(
            "whole batch",
            "one coin is flipped for the whole batch; each sample has its own",
            partial(_dropped, coin="batch"),
        ),
        Mistake(
            "same for all samples",
            "the same numbers are dropped in all samples; each sample has a coin of "
            "its own, for all its numbers",
            partial(_dropped, coin="position"),
        ),
        Mistake(
            "not scaled",
            "what is kept is not scaled: on average the branch is smaller in training "
            "than in evaluation",
            partial(_dropped, scale="1"),
        ),
        Mistake(
            "scaled by keep",
            "what is kept is multiplied by the chance of being kept; divide by it, so "
            "that the mean stays",
            partial(_dropped, scale="keep"),
        ),
        Mistake(
            "scaled by 1/drop",
            "what is kept is divided by drop_prob; divide by the chance of being kept",
            partial(_dropped, scale="1/drop"),
        ),
        Mistake(
            "drop_prob as keep",
            "drop_prob is taken for the chance of being kept; it is that of being "
            "dropped",
            partial(_dropped, chance="drop", scale="1/drop"),
        ),
        Mistake(
            "coin inverted",
            "a sample is kept with drop_prob and dropped otherwise: the comparison is "
            "the wrong way round",
            partial(_dropped, chance="drop"),
        ),
        Mistake(
            "coin inverted, not scaled",
            "a sample is kept with drop_prob and dropped otherwise, and what is kept "
            "is not scaled",
            partial(_dropped, chance="drop", scale="1"),
        ),
        Mistake(
            "nothing drawn",
            "nothing is dropped: every sample is multiplied by the chance of being "
            "kept, where a coin should be flipped",
            partial(_dropped, coin="none", scale="keep"),
        ),
        Mistake(
            "never dropped",
            "x comes back as it is in training too: nothing is dropped",
            partial(_dropped, coin="none", scale="1"),
        ),
        Mistake(
            "training inverted",
            "training is the wrong way round: samples are dropped in evaluation and "
            "kept in training",
            partial(_dropped, rest="inverted"),
        ),
        Mistake(
            "active in eval",
            "samples are dropped in evaluation too, where x is to come back as it is",
            partial(_dropped, rest="active"),
        ),
        Mistake(
            "scaled in eval",
            "x is multiplied by the chance of being kept in evaluation; what is kept "
            "was scaled in training, so evaluation leaves x alone",
            partial(_dropped, rest="scaled"),
        ),
        Mistake(
            "enlarged in eval",
            "x is divided by the chance of being kept in evaluation too; there "
            "nothing is missing, so leave x alone",
            partial(_dropped, rest="enlarged"),
        ),
    ],
    hints=(
        "Run it on torch.ones(5, 2, 3) with drop_prob 0.4 and print what comes out: "
        "which numbers should fall together, and how large should the others be?",
        "One coin for each sample, of shape (B, 1, 1), which is 1 with probability "
        "1 - drop_prob; what is kept is divided by that probability.",
        "keep = 1 - drop_prob; coin = (torch.rand(len(x), 1, 1) < keep); return "
        "x * coin / keep, and x alone where not training or drop_prob is 0.",
    ),
    shape="(B, T, D)",
    gradients=False,
    scenario=_drop_in_words,
)


Step = Callable[[Tensor], Any]


def _block(x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step) -> Tensor:
    x = x + attn(norm1(x))
    return x + mlp(norm2(x))


def _post_norm(x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step) -> Tensor:
    x = norm1(x + attn(x))
    return norm2(x + mlp(x))


def _from_normed(
    x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step, where: str
) -> Tensor:
    normed = norm1(x)
    x = attn(normed) + (normed if where != "MLP" else x)
    normed = norm2(x)
    return mlp(normed) + (normed if where != "attention" else x)


def _no_residual(
    x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step, where: str
) -> Tensor:
    x = attn(norm1(x)) + (x if where == "MLP" else 0)
    return mlp(norm2(x)) + (x if where == "attention" else 0)


def _one_norm(x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step) -> Tensor:
    x = x + attn(norm1(x))
    return x + mlp(norm1(x))


def _norms_missing(
    x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step, where: str
) -> Tensor:
    x = x + attn(norm1(x) if where == "MLP" else x)
    return x + mlp(norm2(x) if where == "attention" else x)


def _norm_behind(x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step) -> Tensor:
    x = x + norm1(attn(x))
    return x + norm2(mlp(x))


def _parallel(x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step) -> Tensor:
    return x + attn(norm1(x)) + mlp(norm2(x))


def _mlp_first(x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step) -> Tensor:
    x = x + mlp(norm1(x))
    return x + attn(norm2(x))


def _attention_lost(
    x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step
) -> Tensor:
    return x + mlp(norm2(x + attn(norm1(x))))


def _residual_twice(
    x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step
) -> Tensor:
    x = x + (x + attn(norm1(x)))
    return x + (x + mlp(norm2(x)))


def _norm_at_the_end(
    x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step
) -> Tensor:
    x = x + attn(norm1(x))
    return norm2(x + mlp(x))


def _half(
    x: Tensor, norm1: Step, attn: Step, norm2: Step, mlp: Step, part: str
) -> Tensor:
    return x + (attn(norm1(x)) if part == "attention" else mlp(norm2(x)))


_OF_WIRING = [
    Mistake(
        "residual from the normed x",
        "the residual is the normed x: add to the x from before the norm",
        partial(_from_normed, where="both"),
    ),
    Mistake(
        "residual from the normed x at attention",
        "what attention found is added to the normed x: add it to the x from before "
        "the norm",
        partial(_from_normed, where="attention"),
    ),
    Mistake(
        "residual from the normed x at the MLP",
        "what the MLP computed is added to the normed x: add it to the x from before "
        "the norm",
        partial(_from_normed, where="MLP"),
    ),
    Mistake(
        "no residual",
        "nothing is added to what came in: x is replaced by what attention and MLP "
        "compute",
        partial(_no_residual, where="both"),
    ),
    Mistake(
        "no residual at attention",
        "what attention found replaces x; it is to be added to it",
        partial(_no_residual, where="attention"),
    ),
    Mistake(
        "no residual at the MLP",
        "what the MLP computed replaces x; it is to be added to it",
        partial(_no_residual, where="MLP"),
    ),
    Mistake(
        "post-norm",
        "the norms come behind the sums, which is post-norm; each belongs inside its "
        "branch, in front of attention and of the MLP",
        _post_norm,
    ),
    Mistake(
        "one norm for both",
        "attention and MLP look through the same norm, and the other norm is not used",
        _one_norm,
    ),
    Mistake(
        "no norms",
        "neither attention nor MLP looks through a norm",
        partial(_norms_missing, where="both"),
    ),
    Mistake(
        "attention without norm",
        "attention reads x without a norm",
        partial(_norms_missing, where="attention"),
    ),
    Mistake(
        "MLP without norm",
        "the MLP reads x without a norm",
        partial(_norms_missing, where="MLP"),
    ),
    Mistake(
        "norm behind the branch",
        "the norms come behind attention and MLP; they belong in front of them",
        _norm_behind,
    ),
    Mistake(
        "norm at the end",
        "the second norm comes behind the last sum; it belongs in front of the MLP",
        _norm_at_the_end,
    ),
    Mistake(
        "parallel",
        "the MLP reads the x from before attention: the two run side by side, and the "
        "MLP does not see what attention found",
        _parallel,
    ),
    Mistake(
        "MLP first",
        "the MLP comes before attention; attention comes first",
        _mlp_first,
    ),
    Mistake(
        "attention lost",
        "the second sum starts from the block's input: what attention found reaches "
        "the MLP, but is not added to the stream",
        _attention_lost,
    ),
    Mistake(
        "residual twice",
        "x is added twice, inside attention and MLP and outside of them once more",
        _residual_twice,
    ),
    Mistake(
        "no attention",
        "attention takes no part: tokens do not meet",
        partial(_half, part="MLP"),
    ),
    Mistake(
        "no MLP",
        "the MLP takes no part",
        partial(_half, part="attention"),
    ),
]


def _of_block(
    weights: Weights,
    sizes: Sizes,
    x: Tensor,
    wiring: Callable[..., Tensor] = _block,
    eps: float = 1e-6,
    attend: Any = None,
    think: Any = _two_layers,
) -> Tensor:
    """A block with a place for each usual mistake."""

    def norm(name: str) -> Function:
        weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
        return lambda x: F.layer_norm(x, x.shape[-1:], weight, bias, eps)

    of_attention = {
        name.removeprefix("attn."): value
        for name, value in weights.items()
        if name.startswith("attn.")
    }
    return wiring(
        x,
        norm("norm1"),
        partial(attend or _attend, of_attention, sizes),
        norm("norm2"),
        partial(think, weights, sizes),
    )


def _attend(weights: Weights, sizes: Sizes, x: Tensor) -> Tensor:
    assert multi_head_attention.function is not None
    return multi_head_attention.function.reference(
        x, *(weights[name] for name in _OF_ATTENTION), sizes["num_heads"]
    )


_OF_ATTENTION = ("qkv.weight", "qkv.bias", "proj.weight", "proj.bias")

_USUAL_IN_ATTENTION = {
    "no scale",
    "scale by D",
    "scale by d",
    "softmax over queries",
    "heads joined by view",
    "split and joined by view",
    "attention among heads",
    "across the batch",
    "causal",
    "one head",
    "projection unused",
}

OF_BLOCK = [
    *(
        Mistake(m.name, m.sentence, partial(_of_block, wiring=m.wrong))
        for m in _OF_WIRING
    ),
    Mistake(
        "eps 1e-5",
        "the norms' eps is 1e-5, PyTorch's default; the Vision Transformer's is 1e-6",
        partial(_of_block, eps=1e-5),
    ),
    Mistake(
        "eps 1e-12",
        "the norms' eps is 1e-12; the Vision Transformer's is 1e-6",
        partial(_of_block, eps=1e-12),
    ),
    Mistake(
        "PyTorch's defaults",
        "this is nn.TransformerEncoderLayer with its defaults: the norms behind the "
        "sums, a ReLU, and an eps of 1e-5",
        partial(
            _of_block,
            wiring=_post_norm,
            eps=1e-5,
            think=partial(_two_layers, bend=F.relu),
        ),
    ),
    *(
        Mistake(m.name, m.sentence, partial(_of_block, think=m.wrong))
        for m in _OF_MLP
        if "inside" not in m.name
    ),
    *(
        Mistake(m.name, m.sentence, partial(_of_block, attend=m.wrong))
        for m in multi_head_attention.mistakes
        if m.name in _USUAL_IN_ATTENTION
    ),
]


def attention_maps(parts: list[Part], D: int, h: int, M: int) -> list[Linear]:
    """The linear maps that queries, keys, values and projections may be made of."""
    widths = {D, 2 * D, 3 * D, D // h} - {M}
    return [m for m in linears(parts, D) if m.outs in widths]


def block_weights(
    norms: list[tuple[Part, Part]], attention: Weights, layers: tuple[Linear, Linear]
) -> Weights:
    """The parts of a block under the package's names."""
    weights = mlp_weights(*layers)
    weights |= {f"attn.{name}": attention[name] for name in _OF_ATTENTION}
    for name, (weight, bias) in zip(("norm1", "norm2"), norms, strict=True):
        weights |= {f"{name}.weight": weight.value, f"{name}.bias": bias.value}
    return weights


def _hidden(sizes: Sizes) -> int:
    return int(sizes["embed_dim"] * sizes["mlp_ratio"])


def _block_reading(parts: list[Part], sizes: Sizes) -> Iterator[Weights]:
    D, h, M = sizes["embed_dim"], sizes["num_heads"], _hidden(sizes)
    norms = layer_norms(parts, D)
    if len(norms) != 2:
        return
    maps, mlps = attention_maps(parts, D, h, M), list(mlp_readings(parts, D, M))
    # The usual readings of attention first; and which norm is the first one where
    # neither is called?
    for pair, ordered in (
        (norms, True),
        (norms[::-1], True),
        (norms, False),
        (norms[::-1], False),
    ):
        for attention in attention_readings(maps, D, h, ordered):
            for (layers,) in mlps:
                yield block_weights(pair, attention, layers)


def _block_lacks(parts: list[Part], sizes: Sizes) -> Finding | None:
    D, M = sizes["embed_dim"], _hidden(sizes)
    norms = len(layer_norms(parts, D))
    if norms == 1:
        return Finding(
            "one norm shared",
            "has one norm where it needs two: each of attention and MLP has a norm "
            "with weights of its own",
        )
    if norms == 0:
        return Finding(
            "norms missing",
            "has no norm with weight and bias over D numbers; it needs two, one for "
            "attention and one for the MLP",
        )
    if norms > 2:
        return Finding("norm too many", f"has {norms} norms, expected two")
    finding = mlp_lacks(parts, D, M)
    if finding is not None:
        return finding
    if not any(_sides(p) == {D, M} for p in parts):
        return Finding(
            "MLP missing", "has no MLP: no matrix from D to M numbers or back"
        )
    others = [p for p in parts if _sides(p) != {D, M}]
    assert multi_head_attention.lacking is not None
    return multi_head_attention.lacking(others, sizes)


def _right_block(weights: Weights, sizes: Sizes, x: Tensor) -> Tensor:
    block = EncoderBlock(sizes["embed_dim"], sizes["num_heads"], sizes["mlp_ratio"])
    return run_module(block, weights, x)[0]


def output_of_tuple(output: Any) -> Any:
    """The output, where attention weights or None come with it."""
    return output[0] if isinstance(output, tuple) and output else output


def _callables_for_block(
    answer: Callable[..., Any],
    x: Tensor,
    norm1: list[Tensor],
    mixing: list[Tensor],
    norm2: list[Tensor],
    layers: list[Tensor],
) -> Any:
    shares, values = mixing
    into, back = layers
    return answer(
        x,
        lambda x: _norm(x, norm1[0], norm1[1]),
        lambda x: shares.softmax(dim=-1) @ x @ values,
        lambda x: _norm(x, norm2[0], norm2[1]),
        lambda x: F.gelu(x @ into) @ back,
    )


def _block_function_inputs(generator: Generator) -> Iterator[Case]:
    for B, T, D, M in ((2, 5, 6, 9), (3, 4, 7, 5)):
        norms = [
            [1 + 0.3 * _normal(generator, D), 0.5 * _normal(generator, D)]
            for _ in range(2)
        ]
        mixing = [_normal(generator, T, T), _normal(generator, D, D) / D**0.5]
        layers = [
            _normal(generator, D, M) / D**0.5,
            _normal(generator, M, D) / M**0.5,
        ]
        x = 0.5 + 2 * _normal(generator, B, T, D)
        yield [x, norms[0], mixing, norms[1], layers]


_HINTS_OF_BLOCK = (
    "Draw the stream of tokens as a straight line, and on it what is read and what is "
    "added: where do the two branches leave the line, and where do they come back?",
    "Twice the same: norm, compute, add to the x from before the norm; first with "
    "attention, then with the MLP, each with a norm of its own, eps 1e-6.",
    "x = x + self.attn(self.norm1(x)), then x = x + self.mlp(self.norm2(x)).",
)

encoder_block = ModuleCheck(
    "encoder_block",
    "class EncoderBlock(embed_dim, num_heads, mlp_ratio), called with x (B, T, D)",
    sizes={"embed_dim": 10, "num_heads": 2, "mlp_ratio": 6},
    inputs=lambda generator, sizes: [
        0.1 + 0.3 * _normal(generator, 4, 7, sizes["embed_dim"])
    ],
    reading=_block_reading,
    reference=_right_block,
    mistakes=OF_BLOCK,
    hints=_HINTS_OF_BLOCK,
    shape="(B, T, D)",
    lacking=_block_lacks,
    tried=16,
    function=FunctionCheck(
        "encoder_block",
        "encoder_block(x, norm1, attn, norm2, mlp) -> (B, T, D)",
        _block,
        _block_function_inputs,
        [
            *_OF_WIRING,
            Mistake(
                "norms swapped",
                "norm2 stands in front of attention and norm1 in front of the MLP",
                lambda x, norm1, attn, norm2, mlp: _block(x, norm2, attn, norm1, mlp),
            ),
        ],
        _HINTS_OF_BLOCK,
        shape="(B, T, D)",
        batched=(0,),
        scenario=_callables_for_block,
        normalise=output_of_tuple,
    ),
    normalise=output_of_tuple,
)
