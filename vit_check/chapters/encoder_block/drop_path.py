"""Check of chapter 6: stochastic depth."""

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn

from vit_check.engine.check import Case
from vit_check.engine.drawing import normal
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake
from vit_check.engine.watching import Trouble


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
    shapes |= {"row": (1, T, 1), "column": (1, 1, D)}
    kept = _coins(x, keep if chance == "keep" else drop_prob, shapes[coin])
    if coin == "none":
        kept = torch.ones_like(x)
    factors = {"1/keep": 1 / keep, "1": 1.0, "keep": keep}
    return x * kept * (factors | {"1/drop": 1 / max(drop_prob, 1e-9)})[scale]


def _drop_in_words(answer: Any, x: Tensor, drop_prob: float) -> Any:
    """What an answer does to a large batch, in words that no draw can change."""
    at = "" if drop_prob else " with drop_prob 0"
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(20101192)
        seen, own = {}, x.clone()
        for where, training in (("training", True), ("evaluation", False)):
            given = own.clone()
            run = _prepared(answer, drop_prob, training)
            seen[f"the output in {where}{at}"] = _effect(run, given, own, drop_prob)
            if not torch.equal(given, own):  # in place: let it be seen
                x.copy_(given)
        return seen


def _prepared(answer: Any, drop_prob: float, training: bool) -> Callable[[Tensor], Any]:
    """An answer, function or module, that takes nothing but x any more."""
    made = inspect.unwrap(answer)
    if isinstance(made, type) and issubclass(made, nn.Module):
        module: nn.Module = made(drop_prob)
        module.train(training)
        return lambda x: _beside_x(module(x))
    return lambda x: _beside_x(answer(x, drop_prob, training))


def _beside_x(y: Any) -> Any:
    """What may have been computed on a GPU, where x is."""
    return y.cpu() if isinstance(y, Tensor) else y


def _effect(
    run: Callable[[Tensor], Any], given: Tensor, x: Tensor, drop_prob: float
) -> Any:
    seed = torch.initial_seed()
    y = run(given)
    if not isinstance(y, Tensor):
        return y
    if y.ndim == x.ndim and y.shape[1:] == x.shape[1:] and len(y) < len(x):
        return "of fewer samples"
    if y.shape != x.shape:
        shapes = f"{tuple(y.shape)}, expected {tuple(x.shape)}, that is (B, T, D)"
        raise Trouble("shape", f"the output has shape {shapes}")
    if y.dtype != x.dtype:
        text = f"the output is {y.dtype}, expected {x.dtype}, as what came in"
        raise Trouble("dtype", text)
    y = Tensor.as_subclass(y, Tensor).detach()
    factors = y.double() / x.double()  # (B, T, D)
    if not torch.isfinite(factors).all():
        return "not finite"
    if (factors - 1).abs().max() < 1e-4:
        return "x as it is"
    alike = {name: _alike(factors, axis) for axis, name in enumerate(_AXES)}
    if alike["samples"]:  # one coin for all, perhaps: flip it again
        factors = torch.stack([run(x[:2].clone()).detach() / x[:2] for _ in range(60)])
        alike |= {name: _alike(factors, axis) for axis, name in enumerate(_AXES, 1)}
        drawn = "alike in each call" if _alike(factors, 0) else "anew in each call"
    else:
        drawn = _how_drawn(run, x, y)
    if drawn == "alike in each call" and torch.initial_seed() != seed:
        drawn += ", by a seed"
    share = (factors == 0).double().mean().item()
    dropped = "some of it is dropped"
    for part, expected in (("drop_prob", drop_prob), ("1 - drop_prob", 1 - drop_prob)):
        if not alike["samples"] and abs(share - expected) < 0.05:
            dropped = f"a share of {part} is dropped"
    left = factors[factors != 0].mul(1000).round().div(1000).unique()  # (factors,)
    return {
        "what falls": dropped if share else "nothing is dropped",
        "what is alike": ", ".join(n for n in alike if alike[n]) or "nothing",
        "the factor of what is kept": left[:3].tolist(),
        "how it is drawn": drawn if share else "not at all",
    }


def _how_drawn(run: Callable[[Tensor], Any], x: Tensor, y: Tensor) -> str:
    """Whether what falls is another choice, and of another size, in each call."""
    if torch.equal(run(x.clone()) == 0, y == 0):
        return "alike in each call"
    fallen = (y == 0).sum()
    if all((run(x.clone()) == 0).sum() == fallen for _ in range(4)):
        return "equally many in each call"  # which coins hardly ever do
    return "anew in each call"


def _first_fall(x: Tensor, drop_prob: float, training: bool) -> Tensor:
    if not training or drop_prob == 0:
        return x
    fall = int(len(x) * drop_prob)
    return torch.cat([0 * x[:fall], x[fall:] / (1 - drop_prob)])


def _seeded(x: Tensor, drop_prob: float, training: bool) -> Tensor:
    torch.manual_seed(0)
    return _dropped(x, drop_prob, training)


def _shuffled(x: Tensor, drop_prob: float, training: bool) -> Tensor:
    order = torch.randperm(len(x))
    return _first_fall(x[order], drop_prob, training)[order.argsort()]


def _removed(x: Tensor, drop_prob: float, training: bool) -> Tensor:
    return x[1:] if training and drop_prob > 0 else x


_AXES = ("samples", "tokens", "numbers of a token")


def _alike(factors: Tensor, axis: int) -> bool:
    return bool((factors - factors.narrow(axis, 0, 1)).abs().max() < 1e-4)


def _drop_inputs(generator: Generator) -> Iterator[Case]:
    for drop_prob in (0.25, 0.6, 0.0):
        x = normal(generator, 2000, 3, 2)
        yield [(x + x.sign() / 2).float(), drop_prob]


drop_path = FunctionCheck(
    "drop_path",
    "drop_path(x, drop_prob, training) -> (B, T, D)",
    _dropped,
    _drop_inputs,
    [
        Mistake(
            "each number",
            "each number is dropped by itself, which is dropout; a coin is flipped "
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
        *(
            Mistake(
                f"same for all samples, each {what}",
                f"a coin is flipped for each {what} and falls alike in all samples; it "
                "is one for each sample, with all its numbers",
                partial(_dropped, coin=coin),
            )
            for what, coin in (("token", "row"), ("number of a token", "column"))
        ),
        Mistake(
            "same samples each time",
            "the same samples fall in every call, which is a choice and no coin: draw "
            "anew each time, and without a seed or a generator made in the function",
            _first_fall,
        ),
        Mistake(
            "seeded",
            "the same samples fall in every call: a seed in the function makes the "
            "coins fall alike each time, and it resets PyTorch's generator for the "
            "whole training as well",
            _seeded,
        ),
        Mistake(
            "always as many",
            "equally many samples fall in every call, so that of a batch of one none "
            "ever does, or always: each sample flips a coin of its own",
            _shuffled,
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
            "scaled in eval alone",
            "what is kept is not scaled, and x is multiplied by the chance of being "
            "kept in evaluation; scale in training, and leave x alone in evaluation",
            partial(_dropped, scale="1", rest="scaled"),
        ),
        Mistake(
            "removed",
            "samples are taken out of the batch; all B come back, and those that are "
            "dropped are 0",
            _removed,
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
