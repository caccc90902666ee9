import contextlib
import inspect
import random
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from vit_check.engine.findings import Trouble
from vit_check.engine.functions import checked_by


def _drop_in_words(answer: Any, x: Tensor, drop_prob: float) -> Any:
    """Say what an answer does to a large batch, in words that no draw can change."""
    at = "" if drop_prob else " with drop_prob 0"
    with torch.random.fork_rng(devices=[]), contextlib.ExitStack() as afterwards:
        afterwards.callback(random.setstate, random.getstate())
        torch.manual_seed(20101192)
        random.seed(20101192)
        seen: dict[str, Any] = {}
        own = x.clone()
        for where, training in (("training", True), ("evaluation", False)):
            given = own.clone()
            run = _prepared(answer, drop_prob, training)
            found = _effect(run, given, own, drop_prob)
            found = found if isinstance(found, dict) else {"what comes out": found}
            seen |= {f"{what} in {where}{at}": said for what, said in found.items()}
            if not torch.equal(given, own):  # its input was changed: show that in x
                x.copy_(given)
        return seen


def _prepared(answer: Any, drop_prob: float, training: bool) -> Callable[[Tensor], Any]:
    """Return an answer, a function or a module, as a function of x alone."""
    made = inspect.unwrap(answer)
    if isinstance(made, type) and issubclass(made, nn.Module):
        module: nn.Module = made(drop_prob)
        module.train(training)
        return lambda x: _beside_x(module(x))
    return lambda x: _beside_x(answer(x, drop_prob, training))


def _beside_x(y: Any) -> Any:
    """Return the output on the CPU, where x is."""
    return y.cpu() if isinstance(y, Tensor) else y


def _effect(
    run: Callable[[Tensor], Any], given: Tensor, x: Tensor, drop_prob: float
) -> Any:
    seed = torch.initial_seed()
    y = run(given)
    if not isinstance(y, Tensor):
        return y
    if y.ndim == x.ndim and y.shape[1:] == x.shape[1:] and len(y) < len(x):
        return "fewer samples"
    if y.shape != x.shape:
        shapes = f"{tuple(y.shape)}, expected {tuple(x.shape)}, that is (B, T, D)"
        raise Trouble("shape", f"the output has shape {shapes}")
    y = Tensor.as_subclass(y, Tensor).detach()
    factors = y.double() / x.double()  # (B, T, D)
    if not torch.isfinite(factors).all():
        return "NaN or infinity"
    if (factors - 1).abs().max() < 1e-4:
        return "x as it is"
    alike = {name: _alike(factors, axis) for axis, name in enumerate(_AXES)}
    if alike["samples"]:  # perhaps one coin for all: flip it again
        factors = torch.stack([run(x[:2].clone()).detach() / x[:2] for _ in range(60)])
        alike |= {name: _alike(factors, axis) for axis, name in enumerate(_AXES, 1)}
        drawn = "alike in each call" if _alike(factors, 0) else "anew in each call"
    else:
        drawn = _how_drawn(run, x, y)
    if drawn == "alike in each call" and torch.initial_seed() != seed:
        drawn += ", by a seed"
    share = (factors == 0).double().mean().item()
    dropped = "all or nothing" if alike["samples"] else f"{share:.0%} of the numbers"
    for part, expected in (("drop_prob", drop_prob), ("1 - drop_prob", 1 - drop_prob)):
        if not alike["samples"] and abs(share - expected) < 0.04:
            dropped = f"a share of {part}"
    left = factors[factors != 0].mul(1000).round().div(1000).unique()  # (factors,)
    if not share and len(left) > 2:
        return "no zeros, and several factors"
    return {
        "what comes out": "zeros and x times a factor" if share else "x times a factor",
        "what falls": dropped,
        "what is alike": ", ".join(n for n in alike if alike[n]) or "nothing",
        "the factor of what is kept": left[:3].tolist(),
        "how the coins fall": drawn if share else "not at all",
        "the gradient": _gradient(run, x),
    }


def _gradient(run: Callable[[Tensor], Any], x: Tensor) -> str:
    """Return whether the gradient is that of the samples that are kept, in words."""
    leaf = x.clone().requires_grad_()
    y = run(leaf * 1)  # not a leaf, so that an answer may work in place
    if not y.requires_grad:
        return "cut off"
    (gradient,) = torch.autograd.grad(y.sum(), leaf)
    right = bool(torch.isclose(gradient, y.detach() / x, atol=1e-4).all())
    return "that of what is kept" if right else "another than that of what is kept"


def _how_drawn(run: Callable[[Tensor], Any], x: Tensor, y: Tensor) -> str:
    """Return in words whether each call drops other samples, and another number."""
    if torch.equal(run(x.clone()) == 0, y == 0):
        return "alike in each call"
    fallen = (y == 0).sum()
    if all((run(x.clone()) == 0).sum() == fallen for _ in range(4)):
        return "equally many in each call"  # independent coins hardly ever do this
    if _fall_together(y[:, 0, 0] == 0):
        return "one coin for several samples"
    return "anew in each call"


def _fall_together(falls: Tensor) -> bool:
    """Return whether samples at some distance are dropped together too often."""
    apart = falls.double() - falls.double().mean()
    products = torch.fft.irfft(torch.fft.rfft(apart).abs().square(), len(apart))
    return bool((products[1:] > 0.2 * products[0]).any())


_AXES = ("samples", "tokens", "numbers of a token")


def _alike(factors: Tensor, axis: int) -> bool:
    return bool((factors - factors.narrow(axis, 0, 1)).abs().max() < 1e-4)


TABLE = """
drop_path(x, drop_prob, training) -> (B, T, D)
  (x := float32(2000, 3, 2)) + x.sign() / 2, 0.25
  (x := float32(2000, 3, 2)) + x.sign() / 2, 0.6
  (x := float32(2000, 3, 2)) + x.sign() / 2, 0.0
each number: len(x), 1, 1 -> x.shape
    each number is dropped by itself, which is dropout; a coin is flipped for each
    sample, and all its numbers fall together
each token: len(x), 1, 1 -> len(x), x.shape[1], 1
    a coin is flipped for each token; it is one for each sample, with all its tokens
whole batch: len(x), 1, 1 -> 1, 1, 1
    one coin is flipped for the whole batch; each sample has its own
same samples each time: torch.rand -> torch.linspace(1, 0, len(x)).reshape
    the same samples fall in every call, which is a choice and no coin: draw anew in
    each call, without a seed and without a generator made in the function
seeded: coin = -> torch.manual_seed(0); coin =
    the same samples fall in every call: a seed in the function makes the coins fall
    alike each time, and it resets PyTorch's generator for the whole training as well
normal coins: torch.rand -> torch.randn
    the coins are normal numbers, of randn; those of rand lie evenly between 0 and 1
not scaled: / keep -> nothing
    what is kept is not scaled: in training the branch is smaller on average
scaled by 1/drop: / keep -> / drop_prob
    what is kept is divided by drop_prob; divide by the chance of being kept
drop_prob as keep: keep = 1 - drop_prob -> keep = drop_prob
    drop_prob is taken for the chance of being kept; it is that of being dropped
coin inverted: < keep -> < drop_prob
    a sample is kept with drop_prob: the comparison is the wrong way round
active in eval: not training -> False
    samples are dropped in evaluation too, where x is to come back as it is
scaled in eval alone: training: return x -> training: return x * (1 - drop_prob)
  / keep -> nothing
    what is kept is not scaled, and in evaluation x is multiplied by the chance of being
    kept; scale in training, and leave x alone in evaluation
filled: x * coin / keep -> torch.where(coin > 0, x / keep, x.mean())
    what is dropped is filled with other numbers; a branch is left out by zeros
? Run it on torch.ones(5, 2, 3) with drop_prob 0.4 and print what comes out: which
  numbers should fall together, and how large should the others be?
? One coin for each sample, of shape (B, 1, 1), which is 1 with probability 1 -
  drop_prob; what is kept is divided by that probability.
? keep = 1 - drop_prob; coin = (torch.rand(len(x), 1, 1) < keep); return x * coin /
  keep, and x alone where not training or drop_prob is 0.
"""


@checked_by(TABLE, gradients=False, scenario=_drop_in_words)
def drop_path(x: Tensor, drop_prob: float, training: bool) -> Tensor:
    if not training:
        return x
    keep = 1 - drop_prob
    coin = (torch.rand(len(x), 1, 1) < keep).to(x.dtype)
    return x * coin / keep
