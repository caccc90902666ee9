"""Tests of images and labels, and of how a model is given them.

Each test returns whether something is suspicious, and a sentence about it.
"""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from vit_doctor import limits
from vit_doctor.patient import Patient, better, percent
from vit_doctor.report import Unseen
from vit_steps.optional import imported

Said = tuple[bool, str]
Change = Callable[[Tensor], Tensor]  # of images (n, C, H, W)
RENAMED = "if classes are renamed"
# One half of the images decides how classes are renamed, the other half tests it.
EVEN, ODD = slice(0, None, 2), slice(1, None, 2)


def on_leak(patient: Patient) -> Said:
    """Look for test images that are also training images."""
    found = twins(patient.test.small, patient.train.small) >= 0
    said = f"{found.sum():,} of {len(found):,} test images are training images too"
    how = "as they are, or mirrored, scaled, brighter or saved anew"
    suspicious = found.float().mean().item() > limits.LEAK
    return suspicious, f"{said}, {how} (crops are not looked for)."


def on_labels_in_conflict(patient: Patient) -> Said:
    """Look for training images that come twice, as two classes."""
    small, labels = patient.train.small, patient.train.labels
    twin = twins(small, small, same=True)  # (n,)
    differ = (twin >= 0) & (labels[twin] != labels)
    said = f"{differ.sum():,} of {len(twin):,} training images come twice, or nearly"
    return differ.float().mean().item() > limits.LEAK, f"{said}, as two classes."


def twins(images: Tensor, among: Tensor, same: bool = False) -> Tensor:
    """Return the index of the image that is nearly the same, or -1.

    Its distance is a small part of that to other images. Brightness, contrast and
    mirroring do not matter. If the images are the ``same``, none is a twin of itself.

    Shape: (n, C, s, s), (m, C, s, s) -> (n,)
    """

    def directions(images: Tensor) -> Tensor:
        grey = images.mean(dim=1).flatten(1)  # (n, s·s)
        return F.normalize(grey - grey.mean(dim=1, keepdim=True))

    both = [directions(x) @ directions(among).T for x in (images, images.flip(-1))]
    alike = torch.maximum(*both)  # (n, m), cosines
    if same:
        alike.fill_diagonal_(-1.0)
    apart = (2 - 2 * alike).clamp_min(0).sqrt()
    nearest = apart.topk(min(5, len(among)), dim=1, largest=False)
    # If an image has many copies, the 5th is one too, and rounding makes 0.001 of 0.
    near = nearest.values[:, 0] < (limits.TWIN * nearest.values[:, -1]).clamp_min(0.01)
    return torch.where(near, nearest.indices[:, 0], -1)


def on_order(patient: Patient) -> Said:
    """Look for a loader that gives one class after the other."""
    labels = patient.order
    if labels is None:
        raise Unseen("a data set has none; in Python, train may be its DataLoader")
    luck = (labels.bincount() / len(labels)).square().sum().item()
    again = (labels[1:] == labels[:-1]).float().mean().item()
    said = f"{again:.0%} of {len(labels)} images are of the class of the one before"
    return again > (1 + luck) / 2, f"{said}; in a random order {luck:.0%} would be."


def on_normalisation(patient: Patient) -> Said:
    """Look for images that are not normalised as the model's training images were."""
    images = patient.train.images
    low, high = images.min().item(), images.max().item()
    mean, std = images.mean().item(), images.std().item()
    said = f"Pixels go from {low:.3g} to {high:.3g}, mean {mean:.2g}, std {std:.2g}"
    least, most = patient.normalised(torch.tensor([[[0.0, 1.0]]])).aminmax()
    room = 0.05 * (most - least)
    if not images.isfinite().all() or low < least - room or high > most + room:
        return True, f"{said}; the model's card means {least:.3g} to {most:.3g}."
    if patient.test_images:
        tested = patient.test.images.mean().item(), patient.test.images.std().item()
        if abs(tested[0] - mean) > std or not 0.5 < tested[1] / std < 2:
            also = f"mean {tested[0]:.2g}, std {tested[1]:.2g}"
            return True, f"{said}, but in test images {also}."
    wrong, told = compared(patient, normalisations(patient))
    return wrong, f"{said}. {told}"


def on_channels_and_sides(patient: Patient) -> Said:
    """Look for exchanged colours, rows and columns, or black and white."""
    return compared(patient, exchanges(patient))


def on_class_names(patient: Patient) -> Said:
    """Look for labels that number the classes in another way than the model."""
    wrong, said = compared(patient, [RENAMED])
    answers = patient.answers(patient.train).argmax(dim=1)
    meant = renaming(patient, answers, patient.train.shown).tolist()
    classes = patient.classes
    moved = [f"{classes[a]} to {classes[b]}" for a, b in enumerate(meant) if a != b]
    return wrong, f"{said[:-1]}: {', '.join(moved[:10])}." if wrong else said


def normalisations(patient: Patient) -> dict[str, Change]:
    """Return other ways to normalise pixels in [0, 1]."""
    from vit_steps.data import IMAGENET_MEAN, IMAGENET_STD

    pixels = patient.pixels(patient.train.images)
    (shift, scale) = patient.scaling
    ways: dict[str, tuple[Any, Any]] = {
        "in 0..1": (0.0, 1.0),
        "in 0..255": (0.0, 1 / 255),
        "with mean and std 0.5": (0.5, 0.5),
        "with their own": (pixels.mean(dim=(0, 2, 3)), pixels.std(dim=(0, 2, 3))),
        "twice": (shift + shift * scale, scale * scale),
    }
    if pixels.shape[1] == 3:
        ways["with ImageNet's"] = (IMAGENET_MEAN, IMAGENET_STD)

    def scaled(shift: Any, scale: Any) -> Change:
        shift, scale = (torch.as_tensor(x).reshape(-1, 1, 1) for x in (shift, scale))
        return lambda pixels: (pixels - shift) / scale

    return {way: scaled(*numbers) for way, numbers in ways.items()}


def exchanges(patient: Patient) -> dict[str, Change]:
    """Return ways to exchange colours, sides, or black and white in [0, 1]."""
    C, height, width = patient.train.images.shape[1:]
    ways: dict[str, Change] = {"black for white": lambda x: patient.normalised(1 - x)}
    if height == width:
        ways["rows for columns"] = lambda x: patient.normalised(x.mT)
    if C == 3:
        ways["blue for red"] = lambda x: patient.normalised(x.flip(1))
    return ways


def compared(patient: Patient, ways: Iterable[str]) -> Said:
    """Compare the answers to images as they come with those to changed ones."""
    if not patient.readings:
        changes = normalisations(patient) | exchanges(patient)
        for name, part in patient.parts.items():
            images, labels = (x[: limits.CHANGED] for x in (part.images, part.shown))
            answers = patient.logits(images).argmax(1)
            pixels = patient.pixels(images)
            found = {way: patient.right(part, changes[way](pixels)) for way in changes}
            found[RENAMED] = torch.empty_like(labels, dtype=torch.bool)
            for one, other in ((EVEN, ODD), (ODD, EVEN)):
                meant = renaming(patient, answers[one], labels[one])
                found[RENAMED][other] = meant[answers[other]] == labels[other]
            patient.readings[name] = answers == labels, found
    for name, (as_is, found) in patient.readings.items():
        right = {way: found[way].float().mean().item() for way in found}
        best = max(ways, key=lambda way: right[way])
        said = f"{percent(as_is)} of the {name} images are right as they come"
        # A way that explains clearly less than another may do so by accident.
        explains = right[best] > max(right.values()) - limits.AS_WELL
        if explains and better(found[best], as_is):
            return True, f"{said}, but {right[best]:.0%} {best}."
    patient.check_knows()
    return False, f"{said}, {', '.join(f'{right[way]:.0%} {way}' for way in ways)}."


def renaming(patient: Patient, answers: Tensor, labels: Tensor) -> Tensor:
    """Return the best class for each answer: the one with which most are right.

    Shape: (n,), (n,) -> (K,)
    """
    K = len(patient.classes)
    counts = (K * answers + labels).bincount(minlength=K * K).reshape(K, K)
    assign = imported("scipy.optimize").linear_sum_assignment
    return torch.from_numpy(assign(counts.numpy(), maximize=True)[1])


def on_labels_and_images(patient: Patient) -> Said:
    """Look for labels that have nothing to do with the images."""
    train = patient.train
    few = slice(1000)
    pixels = train.small.flatten(1)  # (n, C·s·s)
    nearest = torch.cdist(pixels[few], pixels).fill_diagonal_(torch.inf).argmin(dim=1)
    same = train.labels[nearest] == train.labels[few]
    luck = patient.shares.square().sum().item()
    error = (luck * (1 - luck) / len(same)) ** 0.5
    said = f"{percent(same)} of the training images have the label of the most similar"
    said += f" one, by luck it would be {luck:.0%}"
    if same.float().mean() > luck + limits.SURE * error:
        return False, f"{said}."
    common = patient.test.shown == patient.shares.argmax()
    if better(patient.right(patient.test), common, least=0.0):
        return False, f"{said}, but the model reads test images."
    if not patient.knows:
        raise Unseen(f"{said}, and the model does not know the classes yet")
    return True, f"{said}; the model knows them by heart, and no test images."


def on_balance(patient: Patient) -> Said:
    """Look for classes with so few images that the model neglects them."""
    name, part = list(patient.parts.items())[-1]
    right = patient.right(part).float()
    here = part.shown.unique()
    each = torch.stack([right[part.shown == k].mean() for k in here])
    shares, names = patient.shares, patient.classes
    as_trained = (shares[here] * each).sum() / shares[here].sum()
    most, least = int(shares.argmax()), int(shares.argmin())
    said = "All classes have as many training images"
    if shares[most] > shares[least]:
        said = f"{shares[most]:.1%} of the training images are {names[most]}"
        said += f", {shares[least]:.1%} {names[least]}"
    said += (
        f". If all classes count the same, {each.mean():.0%} of the {name} images are "
        f"right, and {as_trained:.0%} if they count as often as in training."
    )
    unequal = shares[most] > limits.UNEQUAL * shares[least]
    # halfway between a model that is equally good for all classes and a constant answer
    return bool(unequal and each.mean() < (as_trained + 1 / len(shares)) / 2), said
