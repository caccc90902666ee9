"""Checks of chapter 8: how far each number steps, and which numbers decay."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn

from vit_steps.check.checking import Case
from vit_steps.check.function_check import FunctionCheck
from vit_steps.check.training import as_number
from vit_steps.check.verdict import Mistake
from vit_steps.training import learning_rate as right_rate
from vit_steps.training import parameter_groups as right_groups
from vit_steps.vision_transformer import VisionTransformer, ViTConfig


def _rates(
    schedule: Callable[..., Any], total_steps: int, warmup_steps: int, peak: float
) -> dict[str, Any]:
    """The learning rate at every step, and behind the last."""
    return {
        f"the rate at step {step} of {total_steps}, {warmup_steps} of them warm-up,": (
            as_number(schedule(step, total_steps, warmup_steps, peak))
        )
        for step in range(total_steps + 1)
    }


def _rate(
    step: int,
    total_steps: int,
    warmup_steps: int,
    peak: float,
    rise: str = "rightly",
    fall: str = "rightly",
    passed: str = "since the warm-up",
) -> float:
    """The learning rate with a place for each usual mistake."""
    w = warmup_steps
    if step < w and rise != "none":
        share = {
            "rightly": (step + 1) / (w + 1),
            "from 0": step / w,
            "to the peak": (step + 1) / w,
            "at the peak": 1.0,
            "over all steps": (step + 1) / (total_steps + 1),
        }[rise]
        return peak * share
    if passed == "since the warm-up":
        progress = (step - w) / max(1, total_steps - w)
    elif passed == "since the start":
        progress = step / total_steps
    elif passed == "from the start in less":
        progress = step / max(1, total_steps - w)
    elif passed == "a step early":
        progress = (step - w) / max(1, total_steps - w - 1)
    else:  # "of all steps"
        progress = (step - w) / total_steps
    share = {
        "rightly": (1 + math.cos(math.pi * progress)) / 2,
        "level": 1.0,
        "line": 1 - progress,
        "whole": (1 + math.cos(2 * math.pi * progress)) / 2,
        "quarter": math.cos(math.pi * progress / 2),
        "not halved": 1 + math.cos(math.pi * progress),
        "negative": math.cos(math.pi * progress),
        "degrees": (1 + math.cos(180 * progress)) / 2,
        "rising": (1 - math.cos(math.pi * progress)) / 2,
    }[fall]
    return peak * share


learning_rate = FunctionCheck(
    "learning_rate",
    "learning_rate(step, total_steps, warmup_steps, peak) -> a float",
    right_rate,
    lambda generator: iter([[23, 5, 0.8], [17, 0, 0.3], [40, 12, 2.0]]),
    [
        Mistake(
            "first step of 0",
            "the warm-up starts at 0, so the first step changes nothing; step 0 should "
            "already have its part of the rise",
            partial(_rate, rise="from 0"),
        ),
        Mistake(
            "peak too soon",
            "the peak is reached in the last step of the warm-up, and again in the "
            "next; it belongs to the first step behind the warm-up alone",
            partial(_rate, rise="to the peak"),
        ),
        Mistake(
            "no rise",
            "the rate does not rise: it stands at its peak throughout the warm-up",
            partial(_rate, rise="at the peak"),
        ),
        Mistake(
            "no warm-up",
            "there is no warm-up: the cosine begins at step 0",
            partial(_rate, rise="none", passed="since the start"),
        ),
        Mistake(
            "rise over all steps",
            "the rise is spread over all steps of the training, expected over those of "
            "the warm-up",
            partial(_rate, rise="over all steps"),
        ),
        Mistake(
            "cosine since the start",
            "the cosine counts from step 0: when the warm-up ends, the rate drops, "
            "since a part of the fall is already behind it",
            partial(_rate, passed="since the start"),
        ),
        Mistake(
            "warm-up subtracted once",
            "the warm-up is taken off the length of the fall and not off the steps "
            "gone: the rate drops when it ends, and rises again before the last step",
            partial(_rate, passed="from the start in less"),
        ),
        Mistake(
            "never at the end",
            "the fall is as long as the whole training and begins after the warm-up: "
            "the training is over before the rate is down",
            partial(_rate, passed="of all steps"),
        ),
        Mistake(
            "a step early",
            "the rate is 0 in the last step, which then changes nothing; it should "
            "reach 0 when all steps are done",
            partial(_rate, passed="a step early"),
        ),
        Mistake(
            "no fall",
            "the rate stays at its peak after the warm-up",
            partial(_rate, fall="level"),
        ),
        Mistake(
            "a straight line",
            "the rate falls along a straight line, expected half a cosine",
            partial(_rate, fall="line"),
        ),
        Mistake(
            "a whole cosine",
            "a whole cosine is used: the rate is back at its peak at the end",
            partial(_rate, fall="whole"),
        ),
        Mistake(
            "a quarter of a cosine",
            "a quarter of a cosine is used, from its top to its zero, expected a half, "
            "from its top to its bottom",
            partial(_rate, fall="quarter"),
        ),
        Mistake(
            "not halved",
            "1 + cos runs from 2 down to 0: the rate jumps to twice its peak",
            partial(_rate, fall="not halved"),
        ),
        Mistake(
            "below 0",
            "the cosine alone runs from 1 to -1: the second half of the training would "
            "go uphill",
            partial(_rate, fall="negative"),
        ),
        Mistake(
            "degrees",
            "the angle is in degrees; the cosine takes radians",
            partial(_rate, fall="degrees"),
        ),
        Mistake(
            "upside down",
            "the fall is upside down: it begins at 0 and rises to the peak",
            partial(_rate, fall="rising"),
        ),
    ],
    hints=(
        "Look at four steps: the first, the last of the warm-up, the one after it, and "
        "the end. Which of them is not what the text says?",
        "The warm-up rises by peak/(warmup_steps + 1) in every step. Behind it the "
        "share of the fall that is done is (steps since the warm-up) / (steps that the "
        "fall has in all).",
        "peak * (step + 1) / (warmup_steps + 1), and then "
        "peak * (1 + math.cos(math.pi * progress)) / 2.",
    ),
    gradients=False,
    scenario=_rates,
)


def _build(kind: str) -> nn.Module:
    with torch.random.fork_rng([]):
        if kind == "Vision Transformer":
            sizes = dict(embed_dim=8, depth=1, num_heads=2, mlp_ratio=2.0)
            return VisionTransformer(
                ViTConfig(8, 4, in_channels=2, num_classes=3, layer_scale=0.1, **sizes)  # type: ignore[arg-type]
            )
        return nn.Sequential(
            nn.Conv2d(2, 4, 3),
            nn.BatchNorm2d(4),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(16, 3),
        )


def _decays(
    group: Callable[..., Any], kind: str, weight_decay: float
) -> dict[str, Any] | None:
    """The decay that each parameter gets, by name."""
    model = _build(kind)
    groups = group(model, weight_decay)
    if groups is None:
        return None
    seen: dict[str, Any] = {"what is returned": "a list of dicts with params"}
    listed = isinstance(groups, (list, tuple)) and len(groups) > 0
    if not listed or not all(isinstance(g, dict) and "params" in g for g in groups):
        return {"what is returned": f"a {type(groups).__name__}"}
    # Whatever a group leaves out, the optimizer fills in.
    optimizer = torch.optim.AdamW(list(groups), lr=1.0)
    found = {
        id(parameter): group["weight_decay"]
        for group in optimizer.param_groups
        for parameter in group["params"]
    }
    for name, parameter in model.named_parameters():
        decay = as_number(found.get(id(parameter), "none: it is in no group"))
        seen[f"the decay of {name}"] = decay
    return seen


def _grouped(
    model: nn.Module,
    weight_decay: float,
    decays: Callable[[str, nn.Parameter], bool],
    rest: dict[str, Any] | None = None,
) -> list[dict[str, Any]]:
    """Two groups; those for which ``decays`` is true first."""
    named = list(model.named_parameters())
    rest = {"weight_decay": 0.0} if rest is None else rest
    return [
        {"params": [p for n, p in named if decays(n, p)], "weight_decay": weight_decay},
        {"params": [p for n, p in named if not decays(n, p)], **rest},
    ]


def _is_matrix(name: str, parameter: nn.Parameter) -> bool:
    return name.endswith("weight") and parameter.ndim >= 2


parameter_groups = FunctionCheck(
    "parameter_groups",
    "parameter_groups(model, weight_decay) -> [{params, weight_decay}, ...]",
    right_groups,
    lambda generator: iter([["Vision Transformer", 0.3], ["convolutions", 0.05]]),
    [
        Mistake(
            "norms by their name",
            "the norms are told by their name: in another model a norm may be called "
            "1, and its weight decays; look at its axes",
            lambda m, decay: _grouped(
                m, decay, lambda n, p: n.endswith("weight") and "norm" not in n
            ),
        ),
        Mistake(
            "all decay",
            "everything decays: biases, norms, class token and positions as well",
            lambda m, decay: _grouped(m, decay, lambda n, p: True),
        ),
        Mistake(
            "none decays",
            "nothing decays, not even the matrices",
            lambda m, decay: _grouped(m, decay, lambda n, p: False),
        ),
        Mistake(
            "groups exchanged",
            "the groups are exchanged: matrices are spared and the rest decays",
            lambda m, decay: _grouped(m, decay, lambda n, p: not _is_matrix(n, p)),
        ),
        Mistake(
            "class token and positions decay",
            "the class token and the positions decay: they have three axes, so "
            "counting axes takes them for matrices, and they multiply nothing",
            lambda m, decay: _grouped(m, decay, lambda n, p: p.ndim >= 2),
        ),
        Mistake(
            "positions decay",
            "the positions decay; like the class token they are added, and have no "
            "reason to be small",
            lambda m, decay: _grouped(
                m, decay, lambda n, p: p.ndim >= 2 and "cls_token" not in n
            ),
        ),
        Mistake(
            "class token decays",
            "the class token decays; like the positions it is no matrix",
            lambda m, decay: _grouped(
                m, decay, lambda n, p: p.ndim >= 2 and "pos_embed" not in n
            ),
        ),
        Mistake(
            "biases alone spared",
            "only biases are spared: a norm's weight decays, and so do class token and "
            "positions",
            lambda m, decay: _grouped(m, decay, lambda n, p: not n.endswith("bias")),
        ),
        Mistake(
            "norms decay",
            "the weights of the norms decay: they are called weight too, but are "
            "vectors that should stay near 1",
            lambda m, decay: _grouped(m, decay, lambda n, p: n.endswith("weight")),
        ),
        Mistake(
            "convolution spared",
            "a convolution's weight is spared: it has four axes, and is the matrix "
            "that each patch is multiplied with",
            lambda m, decay: _grouped(
                m, decay, lambda n, p: n.endswith("weight") and p.ndim == 2
            ),
        ),
        Mistake(
            "no decay of its own",
            "the second group does not say its decay: the optimizer then gives it the "
            "default, which is not 0",
            lambda m, decay: _grouped(m, decay, _is_matrix, rest={}),
        ),
        Mistake(
            "rest left out",
            "only the matrices are in a group: the optimizer never learns of the rest, "
            "and it stays as it was drawn",
            lambda m, decay: _grouped(m, decay, _is_matrix)[:1],
        ),
        Mistake(
            "matrices left out",
            "the matrices are in no group, and stay as they were drawn",
            lambda m, decay: _grouped(m, decay, _is_matrix)[1:],
        ),
    ],
    hints=(
        "Print name and shape of every parameter of a small model. Which of them are "
        "multiplied with a vector, and which are added or scale it number by number?",
        "A parameter decays if its name ends in weight and it has at least two axes; "
        "each group is a dict with params and weight_decay.",
        "for name, p in model.named_parameters(): to one list if "
        'name.endswith("weight") and p.ndim >= 2, to the other if not.',
    ),
    gradients=False,
    scenario=_decays,
)


def _lengths(gradients: list[Tensor]) -> Tensor:
    return torch.stack([gradient.norm() for gradient in gradients])


def _scaled(gradients: list[Tensor], length: Any, max_norm: float) -> list[Tensor]:
    scale = min(1.0, max_norm / max(float(length), 1e-12))
    return [gradient * scale for gradient in gradients]


def _clip(gradients: list[Tensor], max_norm: float) -> list[Tensor]:
    return _scaled(gradients, _lengths(gradients).norm(), max_norm)


def _clip_inputs(generator: Generator) -> Iterator[Case]:
    for lengths, max_norm, dtype in (
        ((5.0, 0.2, 1.1), 0.7, torch.float32),
        ((0.3, 0.05, 0.1), 0.8, torch.float64),
        ((0.0, 0.0, 0.0), 0.5, torch.float32),
    ):
        gradients = []
        for length, shape in zip(lengths, ((3, 5), (4,), (2, 1, 3)), strict=True):
            drawn = torch.randn(shape, generator=generator, dtype=torch.float64)
            gradients.append((drawn * length / drawn.norm()).to(dtype))
        yield [gradients, max_norm]


clip_gradients = FunctionCheck(
    "clip_gradients",
    "clip_gradients(gradients, max_norm) -> list of tensors",
    _clip,
    _clip_inputs,
    [
        Mistake(
            "0 divided by 0",
            "a gradient that is 0 throughout becomes NaN: its length is 0, and 0 is "
            "divided by it",
            lambda g, limit: [
                x * _lengths(g).norm().clamp(max=limit) / _lengths(g).norm() for x in g
            ],
        ),
        Mistake(
            "not clipped",
            "a gradient that is longer than max_norm comes back as it was",
            lambda g, limit: [x.clone() for x in g],
        ),
        Mistake(
            "each alone",
            "each tensor is shortened by itself; all together are one arrow, which has "
            "one length and keeps its direction",
            lambda g, limit: [_clip([x], limit)[0] for x in g],
        ),
        Mistake(
            "by value",
            "each number is cut off at max_norm, which turns the arrow: shorten it as "
            "a whole",
            lambda g, limit: [x.clamp(-limit, limit) for x in g],
        ),
        Mistake(
            "each stretched or shortened alone",
            "each tensor is brought to length max_norm by itself",
            lambda g, limit: [x * limit / x.norm() for x in g],
        ),
        Mistake(
            "lengths added",
            "the lengths of the tensors are added up; the length of the whole is the "
            "root of the sum of all squares",
            lambda g, limit: _scaled(g, _lengths(g).sum(), limit),
        ),
        Mistake(
            "root forgotten",
            "the root is missing: the sum of the squares is taken for the length",
            lambda g, limit: _scaled(g, _lengths(g).square().sum(), limit),
        ),
        Mistake(
            "sum of sizes",
            "the length is taken to be the sum of the numbers' sizes, expected the "
            "root of the sum of their squares",
            lambda g, limit: _scaled(g, sum(x.abs().sum() for x in g), limit),
        ),
        Mistake(
            "largest number",
            "the length is taken to be the largest number",
            lambda g, limit: _scaled(g, max(x.abs().max() for x in g), limit),
        ),
        Mistake(
            "longest tensor",
            "the length is taken to be that of the longest tensor, expected of all",
            lambda g, limit: _scaled(g, _lengths(g).max(), limit),
        ),
        Mistake(
            "divided by the length",
            "the gradient is divided by its length: it comes out 1 long, whatever "
            "max_norm is",
            lambda g, limit: [x / _lengths(g).norm() for x in g],
        ),
        Mistake(
            "always at the limit",
            "a gradient that is shorter than max_norm is stretched to it, expected "
            "left as it is",
            lambda g, limit: [x * limit / _lengths(g).norm() for x in g],
        ),
        Mistake(
            "the length is returned",
            "the length is returned, expected the shortened gradients",
            lambda g, limit: _lengths(g).norm(),
        ),
    ],
    hints=(
        "How long is one arrow that has all the numbers of all tensors?",
        "The root of the sum of all squares. If that is more than max_norm, multiply "
        "every tensor by the same max_norm / length.",
        "length = torch.stack([g.norm() for g in gradients]).norm(); "
        "scale = min(1.0, max_norm / length).",
    ),
    shape="",
    gradients=False,
)


def _adamw(
    w: Tensor,
    g: Tensor,
    m: Tensor,
    v: Tensor,
    step: int,
    lr: float,
    weight_decay: float,
    betas: tuple[float, float] = (0.9, 0.999),
    correct: str = "both",
    decay: str = "apart",
    square: str = "squared",
    root: str = "then eps",
    returned: str = "averages",
    sign: float = 1.0,
) -> Any:
    """A step of AdamW with a place for each usual mistake."""
    beta1, beta2 = betas
    if decay == "in the gradient":
        g = g + weight_decay * w
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * {"squared": g**2, "size": g.abs()}[square]
    at = step - 1 if correct == "a step late" else step
    m_hat = m / (1 - beta1**at) if correct != "none" else m
    v_hat = v / (1 - beta2**at) if correct not in ("none", "m alone") else v
    divisor = {
        "then eps": v_hat.sqrt() + 1e-8,
        "of eps too": (v_hat + 1e-8).sqrt(),
        "none": v_hat + 1e-8,
    }[root]
    pulls: dict[str, Any] = {
        "apart": lr * weight_decay * w,
        "in the gradient": 0.0,
        "none": 0.0,
        "without lr": weight_decay * w,
        "away": -lr * weight_decay * w,
    }
    moved = w - pulls[decay] - sign * lr * m_hat / divisor
    if returned == "corrected":
        return moved, m_hat, v_hat
    return moved if returned == "weights alone" else (moved, m, v)


def _adamw_inputs(generator: Generator) -> Iterator[Case]:
    def normal(width: float) -> Tensor:
        return width * torch.randn(3, 4, generator=generator, dtype=torch.float64)

    zeros = torch.zeros(3, 4, dtype=torch.float64)
    yield [normal(1.0), normal(2.0), zeros, zeros, 1, 0.01, 0.3]
    for step, size, dtype in (
        (4, 1.0, torch.float64),
        (3, 1e-4, torch.float64),
        (7, 1.0, torch.float32),
    ):
        v = size**2 * (0.005 + 0.01 * normal(1.0).square())
        parts = normal(1.0), normal(size), normal(0.2 * size), v
        yield [*(part.to(dtype) for part in parts), step, 0.02, 0.1]


adamw_step = FunctionCheck(
    "adamw_step",
    "adamw_step(w, g, m, v, step, lr, weight_decay) -> (w, m, v)",
    _adamw,
    _adamw_inputs,
    [
        Mistake(
            "no correction",
            "the averages are not corrected: they begin at 0, and in the first steps "
            "hold only the part 1 - βᵗ of what they should",
            partial(_adamw, correct="none"),
        ),
        Mistake(
            "m alone corrected",
            "m is corrected and v is not",
            partial(_adamw, correct="m alone"),
        ),
        Mistake(
            "correction a step late",
            "the correction counts the steps from 0; the first step is step 1",
            partial(_adamw, correct="a step late"),
        ),
        Mistake(
            "decay in the gradient",
            "the decay is added to the gradient and goes through m and v: that is Adam "
            "with a penalty, and AdamW keeps the two apart",
            partial(_adamw, decay="in the gradient"),
        ),
        Mistake(
            "no decay",
            "the weights do not decay",
            partial(_adamw, decay="none"),
        ),
        Mistake(
            "decay without lr",
            "the decay is not multiplied by the learning rate",
            partial(_adamw, decay="without lr"),
        ),
        Mistake(
            "decay away from 0",
            "the decay pushes the weights away from 0",
            partial(_adamw, decay="away"),
        ),
        Mistake(
            "betas exchanged",
            "the two betas are exchanged: m keeps 0.9 of itself and v 0.999",
            partial(_adamw, betas=(0.999, 0.9)),
        ),
        Mistake(
            "betas the wrong way round",
            "the betas are the wrong way round: β is the share of the old average that "
            "is kept, and 1 - β that of the new gradient",
            partial(_adamw, betas=(1 - 0.9, 1 - 0.999)),
        ),
        Mistake(
            "no square",
            "v averages the gradient's size, expected its square",
            partial(_adamw, square="size"),
        ),
        Mistake(
            "no root",
            "the step is divided by v, expected by its root",
            partial(_adamw, root="none"),
        ),
        Mistake(
            "eps under the root",
            "eps is added under the root, where it is not small any more: it belongs "
            "behind it",
            partial(_adamw, root="of eps too"),
        ),
        Mistake(
            "uphill",
            "the step goes uphill, with the gradient instead of against it",
            partial(_adamw, sign=-1.0),
        ),
        Mistake(
            "corrected averages returned",
            "the corrected averages are returned: the next step would correct them "
            "again",
            partial(_adamw, returned="corrected"),
        ),
        Mistake(
            "weights alone",
            "only the weights are returned, expected (w, m, v): the next step needs "
            "the averages",
            partial(_adamw, returned="weights alone"),
        ),
    ],
    hints=(
        "Take the first step, where m and v come in as 0, and work out by hand what "
        "one weight should do.",
        "New averages first; then copies of them, divided by 1 - β₁ᵗ and 1 - β₂ᵗ; then "
        "two pulls on the old weight: its decay, and the step.",
        "w - lr * weight_decay * w - lr * m_hat / (v_hat.sqrt() + 1e-8), returned with "
        "the averages as they were before the correction.",
    ),
    gradients=False,
)
