"""The check of ``clipped_train_step``, chapter 8."""

from vit_check.chapters.training.stepping import (
    OF_STEPS,
    step_inputs,
    stepped,
    steps,
)
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.table import mistakes

OF_CLIPPING = """
not clipped
  nn.utils.clip_grad_norm_(model.parameters(), clip_norm) -> nothing
    the optimizer takes its step with a gradient longer than clip_norm: clipping is
    missing, comes before backward() or after the step, or has another limit
clipped by value
  clip_grad_norm_ -> clip_grad_value_
    each number of the gradient is cut off at clip_norm, which turns the direction;
    shorten the whole instead
each parameter alone
  nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
  -> [nn.utils.clip_grad_norm_(p, clip_norm) for p in model.parameters()]
    each parameter's gradient is clipped by itself; the length meant is that of all of
    them as one long arrow
always at the limit
  nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
  -> length = nn.utils.clip_grad_norm_(model.parameters(), math.inf)
  optimizer.step()
  -> [p.grad.mul_(clip_norm / length) for p in model.parameters()]; optimizer.step()
    a gradient that is shorter than clip_norm is stretched to it, expected left alone
"""

clipped_train_step = FunctionCheck(
    "clipped_train_step",
    "train_step(model, optimizer, images, labels, clip_norm) -> the loss, a number",
    stepped,
    step_inputs,
    mistakes(stepped, OF_CLIPPING + OF_STEPS),
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
