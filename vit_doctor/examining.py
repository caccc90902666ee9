"""The examination of a model and its images by all tests."""

import copy
from collections.abc import Callable
from itertools import islice
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader

from vit_doctor import limits, of_data, of_model
from vit_doctor.of_data import Said
from vit_doctor.patient import Patient, read_part
from vit_doctor.report import BOOK, VERDICTS, Finding, Report, Unseen
from vit_steps.compatibility import logits_of
from vit_steps.optional import imported
from vit_steps.predictions import class_names
from vit_steps.preprocessing import Preprocessing
from vit_steps.sizes import check_number
from vit_steps.tensors import check_indices

# The tests on_..., causes before their effects, each with the section to read.
TESTS = """
leak               side_roads/fine_tuning photographs-that-share-a-source
labels_in_conflict side_roads/further_patients a-ward-for-data-and-evaluation
labels_and_images  side_roads/further_patients a-ward-for-data-and-evaluation
order              side_roads/the_training_loop the-order-of-the-images
normalisation      10_pretrained_weights what-breaks-seven-mistakes-that-raise-no-error
channels_and_sides side_roads/further_patients a-ward-for-data-and-evaluation
class_names        side_roads/further_patients a-ward-for-data-and-evaluation
learning_rate      08_training warm-up-and-a-cosine
finite_numbers     side_roads/the_training_loop a-loss-that-is-not-a-number
untrained_layers   side_roads/further_patients case-17-parameters-that-never-move
gradients          14_bug_clinic case-5-a-batch-that-cannot-be-learned
shared_parameters  14_bug_clinic case-8-three-blocks-and-too-few-parameters
asked_again        side_roads/further_patients case-19-another-result-each-time
asked_alone        14_bug_clinic case-7-good-in-a-batch-bad-alone
both_modes         side_roads/further_patients a-ward-for-data-and-evaluation
what_the_head_sees 14_bug_clinic case-5-a-batch-that-cannot-be-learned
tokens             14_bug_clinic case-4-tokens-that-do-not-grow
positions          14_bug_clinic case-6-digits-in-pieces-the-same-answers
attention          04_scaled_dot_product_attention what-large-scores-do-to-the-softmax
logits             14_bug_clinic case-9-a-loss-that-stops-at-1-46
one_batch          07_vision_transformer one-batch-learned-by-heart
balance            side_roads/further_patients a-ward-for-data-and-evaluation
constant_answer    07_vision_transformer the-loss-before-training
new_images         08_training what-overfitting-looks-like
"""


def examine(
    model: nn.Module,
    train: Any,
    test: Any = None,
    lr: float | None = None,
    progress: bool = False,
) -> Report:
    """Look for what is wrong with a model and its images, and say it in sentences.

    The model stays as it is, and the caller's random numbers too; a copy is examined,
    on the CPU. It is given what the data sets yield, so they should normalise the
    images, and not augment them.

    Args:
        model: any classifier, (B, C, H, W) -> (B, K).
        train: what it learned from, a data set of images (C, H, W) with labels, or its
            DataLoader, whose order is then examined too.
        test: a data set of other images, if there are any.
        lr: the learning rate of its training at the peak, for Adam or AdamW.
        progress: show a bar, since large models take minutes.

    Raises: ValueError if model and images do not fit each other.
    """
    rows = [row.split() for row in TESTS.strip().splitlines()]
    bar = imported("tqdm.auto").tqdm(rows, leave=False, disable=not progress)
    with torch.random.fork_rng(), torch.no_grad():
        patient = admitted(model, train, test, lr)
        return Report(tuple(found_by(patient, *row) for row in bar))


def admitted(model: nn.Module, train: Any, test: Any, lr: float | None) -> Patient:
    """Return a copy of a model with its images; raises as ``examine`` does."""
    if lr is not None:
        check_number(lr, "lr", above=0.0)
    order = None
    if isinstance(train, DataLoader):
        some = islice(train, max(1, limits.SHOWN // (train.batch_size or 1)))
        order = torch.cat([torch.as_tensor(labels) for _, labels in some])
        train = train.dataset
    parts = [read_part(train, "train")]
    parts += [] if test is None else [read_part(test, "test")]
    copied = copy.deepcopy(getattr(model, "_orig_mod", model)).cpu().float().eval()
    K = logits_of(copied, parts[0].images[:1]).shape[1]
    for part in parts:
        check_indices(part.labels, "labels", "n", count=K)
    known = getattr(model, "preprocessing", None)
    return Patient(
        model=copied,
        train=parts[0],
        test_images=parts[1] if test is not None else None,
        known=known if isinstance(known, Preprocessing) else None,
        classes=tuple(class_names(model, K, train)),
        order=order,
        lr=lr,
    )


def found_by(patient: Patient, name: str, page: str = "", anchor: str = "") -> Finding:
    """Return what a test finds, or why it could not look."""
    test: Callable[[Patient], Said] = (vars(of_data) | vars(of_model))[f"on_{name}"]
    torch.manual_seed(0)
    try:
        suspicious, said = test(patient)
        verdict = "suspicious" if suspicious else "fine"
    except (Unseen, ValueError, ArithmeticError, RuntimeError) as reason:
        verdict, said = VERDICTS[1], str(reason).partition("\n")[0]
    url = f"{BOOK}{page}.html#{anchor}"
    return Finding(name.replace("_", " "), verdict, said, url)
