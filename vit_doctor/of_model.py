"""Tests of a model: of what it is given and returns, and of gradients.

Each test returns whether something is suspicious, and a sentence about it.
"""

import copy
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from vit_doctor import limits, quick
from vit_doctor.of_data import Said
from vit_doctor.patient import Patient, Watched, better, percent
from vit_doctor.report import Unseen
from vit_steps.vision_transformer import VisionTransformer, ViTConfig


def on_learning_rate(patient: Patient) -> Said:
    """Look for a learning rate with which a copy does worse than with a tenth of it."""
    if patient.lr is None:
        raise Unseen("no learning rate, lr, is known")
    given, tenth = (patient.short_training(lr) for lr in (patient.lr, patient.lr / 10))
    start = "from here" if patient.knows else "from a new start"
    said = (
        f"{limits.STEPS} steps of AdamW {start} lead to a loss of {given:.2f} with the "
        f"rate {patient.lr:g}, of {tenth:.2f} with a tenth of it."
    )
    return given - tenth > limits.RATE * patient.floor, said


def on_finite_numbers(patient: Patient) -> Said:
    """Look for parameters and activations that are NaN or infinite."""
    watched = Watched(patient.model)
    watched.watch(patient.few)
    outputs = [(f"the output of {call.name}", call.out) for call in watched.calls]
    for name, numbers in [*patient.model.state_dict().items(), *outputs]:
        if isinstance(numbers, Tensor) and not numbers.isfinite().all():
            return True, f"The first place with NaN or infinity is {name}."
    return False, "All parameters are finite, and all that the parts return."


def on_untrained_layers(patient: Patient) -> Said:
    """Look for layers whose parameters are those of new layers."""
    new = [name for name, part in patient.model.named_modules() if is_new(part)]
    for name, parameter in patient.model.named_parameters():
        if not name.endswith(("weight", "bias")) and not parameter.any():
            new.append(name)
    if not new:
        return False, "No layer holds what new ones hold, such as biases of zero."
    said = f"{shortened(new)}: holds what new layers hold, so it was never trained"
    return True, f"{said}. It was frozen, cut off, or not in the optimiser."


def is_new(part: nn.Module) -> bool:
    """Return whether a layer's parameters are what its constructor makes.

    A norm starts with 1 and 0. A matrix starts with a bias of zeros, or, as PyTorch
    draws it, uniform between ±1 / sqrt(inputs), an edge that training crosses.
    """
    weight, bias = getattr(part, "weight", None), getattr(part, "bias", None)
    if not isinstance(weight, nn.Parameter):
        return False
    zero = isinstance(bias, nn.Parameter) and bool(bias.abs().max() < limits.MOVED)
    if weight.ndim == 1:
        return (bias is None or zero) and bool((weight - 1).abs().max() < limits.MOVED)
    sizes = weight.abs().flatten().sort().values * weight[0].numel() ** 0.5
    n = len(sizes)
    even = (sizes - torch.linspace(0, 1, n).to(sizes)).abs().max() < 1.6 / n**0.5
    return zero or bool(even and 1 - 5 / n < sizes[-1] < 1.001)


def on_gradients(patient: Patient) -> Said:
    """Look for parameters that no gradient reaches, in any of three batches."""
    watched = Watched(copy.deepcopy(patient.model))
    watched(patient.few)
    nn.init.normal_(watched.head.weight)  # type: ignore[union-attr]
    batches = patient.train.images[:24].chunk(3)
    with torch.enable_grad():
        silent = [quick.silent_parameters(watched.model, batch) for batch in batches]
    parameters = dict(patient.model.named_parameters())
    cut = [name for name in parameters if all(name in names for names in silent)]
    frozen = [name for name in parameters if not parameters[name].requires_grad]
    said = f"It reaches all {len(parameters)} tensors"
    if cut:
        said = f"It does not reach {shortened(cut)}, not called, or cut off"
    return bool(cut), f"{said}. Frozen: {shortened(frozen) or 'none'}."


def on_shared_parameters(patient: Patient) -> Said:
    """Look for a tensor with two names."""
    names = [" = ".join(group) for group in quick.shared_parameters(patient.model)]
    return bool(names), f"Tensors with two names: {shortened(names) or 'none'}."


def on_asked_again(patient: Patient) -> Said:
    """Look for answers in evaluation mode that chance or earlier calls change."""
    return effect_on(patient, quick.repeat_effect, "Asked about the same images again")


def on_asked_alone(patient: Patient) -> Said:
    """Look for images that influence the answers for others in their batch."""
    return effect_on(patient, quick.batch_effect, "Asked about each image alone")


def effect_on(patient: Patient, test: Callable[..., float], how: str) -> Said:
    """Measure logits and the head's input, since either may be constant."""
    found = []
    for model in (patient.model, Watched(patient.model)):
        with suppress(Unseen):
            found.append(test(model, patient.few) / apart(model, patient.few))
    if not found:
        raise Unseen("all images are the same to the model")
    said = f"{how}, the model changes its answers by {max(found):.1g} of the difference"
    return max(found) > limits.ROUNDING, f"{said} between two images."


def apart(model: nn.Module, images: Tensor) -> float:
    """Return the largest difference between two images; Unseen if there is none."""
    low, high = model(images).aminmax(dim=0)  # (K,) or (D,)
    if not 0 < (most := (high - low).max().item()) < math.inf:
        raise Unseen("all images are the same to the model")
    return most


def on_both_modes(patient: Patient) -> Said:
    """Look for a model that is better in training mode."""
    asleep = patient.right(patient.train)
    awake = copy.deepcopy(patient)
    awake.model.train()
    right = awake.right(patient.train, patient.train.images)
    said = f"{percent(asleep)} of the training images are right in evaluation mode"
    return better(right, asleep), f"{said}, {percent(right)} in training mode."


def on_what_the_head_sees(patient: Patient) -> Said:
    """Look for a head that is given the same for every image."""
    found = Watched(patient.model)(patient.train.images[:64])  # (n, D)
    low, high = found.aminmax(dim=0)  # (D,)
    same = high - low <= limits.ROUNDING * found.abs().max()
    said = f"{same.sum()} of the {len(same)} numbers that it is given are the same"
    return same.float().mean().item() > limits.CONSTANT, f"{said} for all images."


def on_tokens(patient: Patient) -> Said:
    """Look for tokens that are all alike after the last block."""
    watched = Watched(patient.model)
    watched.watch(patient.few)
    for name, part, _, x in reversed(watched.calls):
        if "Norm" in type(part).__name__ and x.ndim == 3:  # (B, T, D)
            # neighbours, since a class token may be far from all the others
            apart = (x[:, 1:] - x[:, :-1]).norm(dim=2).median()
            apart = (apart / x.norm(dim=2).median().clamp_min(1e-12)).item()
            said = f"After {name} neighbouring tokens are {apart:.1g} of their length"
            return apart < limits.ALIKE, f"{said} apart."
    raise Unseen("no norm of the model returns tokens (B, T, D)")


def on_positions(patient: Patient) -> Said:
    """Look for patches whose order has no effect, or mixed before they are tokens."""
    few = patient.few
    watched = Watched(patient.model)
    watched(few)
    parts = [call.part for call in watched.calls if isinstance(call.part, nn.Conv2d)]
    sizes: Any = [x.kernel_size for x in parts if x.kernel_size == x.stride != (1, 1)]
    if not sizes:
        raise Unseen("the model does not cut patches")
    moved = quick.order_effect(watched, few, sizes[0]) / apart(watched, few)
    said = f"If patches change places, answers change by {moved:.1g} of the difference"
    said += " between two images"
    if getattr(patient.model, "config_class", None) is ViTConfig:
        watched.model = copy.deepcopy(patient.model)
        watched.model.get_parameter("pos_embed").zero_()
        mixed = quick.order_effect(watched, few, sizes[0]) / apart(watched, few)
        said += f", with all positions zero by {mixed:.1g}"
        if mixed > limits.ROUNDING:
            return True, f"{said}: something mixes patches before they are tokens."
    return moved < limits.ROUNDING, f"{said}."


def on_attention(patient: Patient) -> Said:
    """Look for a block whose heads all look at one token, or at all tokens alike."""
    tops = []
    for block, weights in enumerate(attention_weights(patient)):  # (B, h, T, T)
        low, high = weights.aminmax(dim=3)
        tops.append(high.mean(dim=(0, 2)).min().item())
        said = f"In block {block} all heads give"
        if tops[-1] > limits.ONE_HOT:
            return True, f"{said} {tops[-1]:.0%} of their weight to one token."
        if (high - low).max() * weights.shape[3] < limits.UNIFORM:
            return True, f"{said} all tokens the same weight."
    if not tops:
        raise Unseen("no part of the model shows attention weights")
    told = ", ".join(f"{top:.0%}" for top in tops)
    said = "Block by block, the head that looks widest gives"
    return False, f"{said} {told} of its weight to one token."


def attention_weights(patient: Patient) -> list[Tensor]:
    """Return each block's (B, h, T, T), in our models, and in others' layers."""
    model = patient.model
    found = []
    if isinstance(model, VisionTransformer):
        return model.encode(patient.few, need_weights=True)[1]
    watched = Watched(model)
    watched.watch(patient.few)
    for name, part, given, out in watched.calls:
        layer = model.get_submodule(name.rpartition(".")[0])
        normed = not isinstance(getattr(layer, "q_norm", nn.Identity()), nn.Identity)
        if isinstance(part, nn.MultiheadAttention) and len(given) == 3:
            found.append(part(*given, average_attn_weights=False)[1])
        elif name.endswith(".qkv") and hasattr(layer, "num_heads") and not normed:
            q, k, _ = out.unflatten(-1, (3, layer.num_heads, -1)).unbind(-3)
            scores = torch.einsum("...ihd,...jhd->...hij", q, k)
            found.append((scores / q.shape[-1] ** 0.5).softmax(dim=-1))
    return found


def on_logits(patient: Patient) -> Said:
    """Look for probabilities in place of logits, and for logits that are too large."""
    found = patient.answers(patient.train)  # (m, K)
    low, high = found.aminmax(dim=1)
    if low.min() >= 0 and (found.sum(dim=1) - 1).abs().max() < 1e-4:
        least = math.log(math.e + found.shape[1] - 1) - 1
        said = "They are probabilities. Where the loss takes their softmax again, it"
        return True, f"{said} cannot fall below {least:.2f}."
    apart = (high - low).median().item()
    said = f"An image's largest and smallest are {apart:.1f} apart, in the median."
    return apart > limits.CERTAIN, said


def on_one_batch(patient: Patient) -> Said:
    """Look for a batch that cannot be learned by heart."""
    batch = patient.few
    labels = patient.train.shown[: len(patient.few)]
    entropy = torch.special.entr(labels.bincount() / len(labels)).sum().item()
    if not entropy:
        raise Unseen("the images of the batch are all of one class")
    last = math.inf
    for lr in (1e-3, 1e-4):  # the first is too high for large models
        with torch.enable_grad():
            losses = quick.overfit_one_batch(
                patient.model, batch, labels, limits.STEPS, lr
            )
        last = min(last, losses[-1])
        if last < 0.5 * entropy:
            break
    said = f"After {limits.STEPS} steps on {len(labels)} images the loss is {last:.2f}"
    said += f", that of a constant answer is {entropy:.2f}"
    if 0.5 * entropy < last < limits.FLAT * entropy:
        raise Unseen(f"more steps are needed: {said[0].lower()}{said[1:]}")
    return last >= limits.FLAT * entropy, f"{said}."


def on_constant_answer(patient: Patient) -> Said:
    """Look for a model that is no better than one answer for all images."""
    labels = patient.train.shown
    found = patient.answers(patient.train)
    loss, floor = F.cross_entropy(found, labels).item(), patient.floor
    K = found.shape[1]
    shares = found.argmax(dim=1).bincount(minlength=K) / len(found)
    most = int(shares.argmax())
    said = (
        f"The loss of training images is {loss:.2f}, a constant answer's at least "
        f"{floor:.2f} (ln {K} = {math.log(K):.2f}). Of the answers {shares[most]:.0%} "
        f"are {patient.classes[most]}."
    )
    if patient.knows:
        return False, said
    if loss > 1.5 * floor:
        return True, f"{said} It is sure and wrong, as after learning other labels."
    brief = min(patient.short_training(lr) for lr in (1e-3, 1e-4))
    look = "at the model and the labels"
    if brief < limits.FLAT * floor:
        look = "at the training: its labels, rate, optimiser and length"
    said += f" A copy comes to {brief:.2f} in {limits.STEPS} steps from a new start"
    return True, f"{said}, so look {look}."


def on_new_images(patient: Patient) -> Said:
    """Look for a test accuracy far below that of training."""
    known, new = patient.right(patient.train), patient.right(patient.test)
    patient.check_knows()
    luck = patient.test.shown.bincount().max().item() / len(new)
    shares = [found.float().mean().item() for found in (known, new)]
    error = sum(p * (1 - p) / len(x) for p, x in zip(shares, (known, new), strict=True))
    most = max(limits.SURE * error**0.5, limits.BY_HEART * (shares[0] - luck))
    said = f"{percent(known)} of the training images are right, {percent(new)} of the"
    return shares[0] - shares[1] > most, f"{said} test images."


def shortened(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - 3} more" * (len(names) > 3)
    return ", ".join(names[:3]) + more
