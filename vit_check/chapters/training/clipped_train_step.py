"""The check of ``clipped_train_step``, chapter 8."""

from functools import partial

from vit_check.chapters.training.stepping import (
    OF_STEPS,
    right_step,
    step,
    step_inputs,
    steps,
)
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.verdict import Mistake

clipped_train_step = FunctionCheck(
    "clipped_train_step",
    "train_step(model, optimizer, images, labels, clip_norm) -> the loss, a number",
    right_step,
    step_inputs,
    [
        Mistake(
            "not clipped",
            "the optimizer takes its step with a gradient longer than clip_norm: "
            "clipping is missing, comes before backward() or after the step, or has "
            "another limit",
            partial(step, order="zero backward step"),
        ),
        Mistake(
            "clipped by value",
            "each number of the gradient is cut off at clip_norm, which turns the "
            "direction; shorten the whole instead",
            partial(step, clip="values"),
        ),
        Mistake(
            "each parameter alone",
            "each parameter's gradient is clipped by itself; the length meant is that "
            "of all of them as one long arrow",
            partial(step, clip="each"),
        ),
        Mistake(
            "always at the limit",
            "a gradient that is shorter than clip_norm is stretched to it, expected "
            "left alone",
            partial(step, clip="stretch"),
        ),
        *OF_STEPS,
    ],
    hints=(
        "At which moment is there a gradient to shorten, and when is it too late?",
        "Between backward() and the step; nn.utils.clip_grad_norm_ takes all "
        "parameters of the model at once.",
        "nn.utils.clip_grad_norm_(model.parameters(), clip_norm), one line above "
        "optimizer.step().",
    ),
    gradients=False,
    scenario=steps,
)
