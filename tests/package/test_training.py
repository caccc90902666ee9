import math
import os
import random
import signal
import time
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import tqdm.std
from sklearn.metrics import log_loss, top_k_accuracy_score
from torch import nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import DataLoader, Dataset, TensorDataset

from tests.conftest import ROOT, draw_at_random
from tests.forked.process import start
from tests.package.small_training import QUICK, small_vit, stripes
from vit_steps import VisionTransformer, optional, training
from vit_steps.checkpoint import read_checkpoint, write_checkpoint
from vit_steps.preprocessing import Preprocessing
from vit_steps.training import (
    Batches,
    TrainConfig,
    evaluate,
    learning_rate,
    mixing,
    parameter_groups,
    train,
    train_step,
)


def weights_after(config=QUICK, data=None, model=None, **options):
    model = small_vit() if model is None else model
    train(model, data or stripes(), config, progress=False, **options)
    return model.state_dict()


def assert_same(a, b):
    torch.testing.assert_close(a, b, rtol=0, atol=0)


@pytest.fixture(autouse=True)
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


# --- parts of a training run ---------------------------------------------------------


@pytest.mark.parametrize("total, warmup", [(40, 7), (40, 0), (9, 8)])
def test_learning_rate_is_torchs_warm_up_and_cosine(total, warmup):
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.3)
    schedulers = torch.optim.lr_scheduler
    steps = [
        schedulers.LinearLR(optimizer, 1 / (warmup + 1), total_iters=warmup or 1),
        schedulers.CosineAnnealingLR(optimizer, total - warmup),
    ]
    theirs = schedulers.SequentialLR(optimizer, steps, [warmup]) if warmup else steps[1]
    for step in range(total):
        lr = optimizer.param_groups[0]["lr"]
        assert learning_rate(step, total, warmup, 0.3) == pytest.approx(lr, abs=1e-9)
        optimizer.step()
        theirs.step()


def test_what_decays_is_what_timm_lets_decay():
    timm = optional.timm()
    from timm.optim import param_groups_weight_decay

    model = timm.create_model("vit_tiny_patch16_224", depth=2, init_values=0.1)
    no_decay = model.no_weight_decay()
    theirs = param_groups_weight_decay(model, 0.05, no_weight_decay_list=no_decay)
    ours = parameter_groups(model, 0.05)

    def ids(groups, decay):
        groups = [g for g in groups if g["weight_decay"] == decay]
        return {id(p) for group in groups for p in group["params"]}

    assert ids(ours, 0.05) == ids(theirs, 0.05)
    assert ids(ours, 0.0) == ids(theirs, 0.0)


def test_a_step_is_gradient_descent_written_out():
    model = draw_at_random(small_vit(), 0.3)
    (images, labels) = stripes().train[:5]
    before = {n: p.detach().clone() for n, p in model.named_parameters()}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss = train_step(model, optimizer, images, labels, 0.2, clip_norm=0.01)

    copy = small_vit()
    copy.load_state_dict(before)
    log_p = copy(images).log_softmax(1)
    target = 0.8 * F.one_hot(labels, 3) + 0.2 / 3
    expected = -(target * log_p).sum(1).mean()
    gradients = torch.autograd.grad(expected, list(copy.parameters()))
    norm = math.sqrt(sum(g.square().sum() for g in gradients))
    assert norm > 0.01
    torch.testing.assert_close(loss, expected.detach())
    for (name, after), gradient in zip(
        model.named_parameters(), gradients, strict=True
    ):
        by_hand = before[name] - 0.1 * gradient * 0.01 / norm
        torch.testing.assert_close(after.detach(), by_hand, msg=name)


def test_a_step_without_clipping_follows_the_whole_gradient():
    image, label = torch.ones(1, 2), torch.tensor([1])
    model = nn.Linear(2, 2)
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    train_step(model, torch.optim.SGD(model.parameters(), lr=100.0), image, label)
    torch.testing.assert_close(model.bias.detach(), torch.tensor([-50.0, 50.0]))


@pytest.mark.parametrize("spoilt", ["loss", "gradient"])
def test_a_step_that_is_not_finite_changes_nothing(spoilt):
    model = draw_at_random(small_vit())
    (images, labels) = stripes().train[:5]
    before = {n: p.detach().clone() for n, p in model.state_dict().items()}
    if spoilt == "loss":
        images = images * math.inf
    else:
        model.head.bias.register_hook(lambda gradient: gradient * math.nan)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.5)
    with pytest.raises(
        FloatingPointError, match=r"lower lr \(now 0.5\), warm up .* clip_norm \(now 1"
    ):
        train_step(model, optimizer, images, labels, clip_norm=1.0)
    assert_same(model.state_dict(), before)


class CountWaits(TorchDispatchMode):
    """Count how often Python reads a number, for which it would wait for a GPU."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, arguments=(), options=None):
        self.count += function is torch.ops.aten._local_scalar_dense.default
        return function(*arguments, **(options or {}))


def test_a_step_waits_once():
    model = small_vit()
    (images, labels) = stripes().train[:5]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with CountWaits() as waits:
        train_step(model, optimizer, images, labels, clip_norm=1.0)
    assert waits.count == 1


def test_losses_are_read_when_the_epoch_is_over(monkeypatch):
    class Unread(torch.Tensor):
        def item(self):
            raise AssertionError("a loss was read in the middle of an epoch")

        __float__ = __bool__ = item

    def step(*arguments, **options):
        return train_step(*arguments, **options).as_subclass(Unread)

    whole = train(small_vit(), stripes(20), QUICK, progress=False)
    monkeypatch.setattr(training, "train_step", step)
    history = train(small_vit(), stripes(20), QUICK, progress=False)
    assert history.train_loss == whole.train_loss


@pytest.mark.parametrize("count, batch_size", [(20, 8), (24, 8), (5, 8)])
def test_batches_hold_every_image_once_in_the_order_of_their_seed(count, batch_size):
    batches = Batches(count, batch_size)
    orders = []
    for seed, others in ((3, 1), (3, 2), (4, 1)):
        batches.start_epoch(seed)
        torch.rand(others)  # must not change the order
        dealt = list(batches)
        assert len(dealt) == len(batches)
        assert {len(batch) for batch in dealt[:-1]} <= {batch_size}
        orders.append([index for batch in dealt for index in batch])
        assert sorted(orders[-1]) == list(range(count))
    assert orders[0] == orders[1] != orders[2] and orders[0] != sorted(orders[0])


def test_the_training_loss_counts_every_image_once():
    losses = iter(map(torch.tensor, (1.0, 2.0, 4.0)))
    config = replace(QUICK, epochs=1)  # batches of 8, 8 and 4
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "train_step", lambda *given, **options: next(losses))
        history = train(small_vit(), stripes(20), config, progress=False)
    assert history.train_loss == [pytest.approx((8 + 16 + 16) / 20)]


@pytest.mark.parametrize("num_classes", [3, 7])
def test_evaluate_is_scikit_learns(num_classes):
    model = draw_at_random(small_vit(num_classes), 0.5).train()
    images, labels = stripes(23, num_classes, 16).train[:]
    images = images[..., :8, :8]
    metrics = evaluate(model, TensorDataset(images, labels), batch_size=5)
    assert model.training
    several = evaluate(model, TensorDataset(images, labels), 5, num_workers=1)
    assert several == metrics
    logits = model.eval()(images).detach().double()
    classes = range(num_classes)
    assert metrics.loss == pytest.approx(
        log_loss(labels, logits.softmax(1), labels=classes), rel=1e-5
    )
    theirs = top_k_accuracy_score(labels, logits, k=1, labels=classes)
    assert metrics.top1 == pytest.approx(theirs)
    if num_classes > 5:
        theirs = top_k_accuracy_score(labels, logits, k=5, labels=classes)
        assert metrics.top5 == pytest.approx(theirs)
    else:
        assert metrics.top5 is None


@pytest.mark.parametrize("mixup, cutmix", [(0.8, 0.0), (0.0, 1.0), (0.8, 1.0)])
def test_mixed_targets_are_shares_of_two_classes(mixup, cutmix):
    mix = mixing(TrainConfig(mixup=mixup, cutmix=cutmix), 3)
    images, labels = stripes().train[:]
    mixed, targets = mix(images, labels)
    assert mixed.shape == images.shape and not torch.equal(mixed, images)
    assert targets.shape == (24, 3) and (targets > 0).sum(1).max() == 2
    torch.testing.assert_close(targets.sum(1), torch.ones(24))


# --- a whole training ----------------------------------------------------------------


def test_it_starts_at_ln_k_and_learns():
    model = small_vit()
    data = stripes(96)
    assert evaluate(model, data.train).loss == pytest.approx(math.log(3), abs=1e-6)
    config = TrainConfig(epochs=30, batch_size=8, lr=5e-3, label_smoothing=0.0)
    history = train(model, data, config, progress=False)
    assert len(history.epochs) == 30 and not model.training
    assert history.top1[-1] > 0.95 > history.top1[0]
    assert history.loss[-1] < 0.3 and history.train_loss[-1] < 0.4
    assert evaluate(model, data.validation) == history.epochs[-1].validation
    assert [e.epoch for e in history.epochs] == list(range(1, 31))
    assert history.epochs[-1].lr < 1e-4 < history.epochs[3].lr
    assert history.epochs[-1].validation.top5 is None


def test_a_training_needs_no_config():
    loaded = stripes(4)
    config = replace(TrainConfig(), epochs=1, warmup_epochs=0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "TrainConfig", lambda: config)
        assert_same(weights_after(None, loaded), weights_after(config, loaded))


def test_any_classifier_can_be_trained():
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Flatten())
    model.append(nn.Linear(144, 3))
    config = replace(QUICK, epochs=8, ema_decay=0.5, lr=0.01)
    assert train(model, stripes(), config, progress=False).top1[-1] > 0.8


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"drop_rate": 0.2, "drop_path_rate": 0.3},
        {"mixup": 0.5, "cutmix": 0.5},
        {"num_workers": 1},
        {"autocast": True},
    ],
    ids=lambda c: "-".join(c) or "plain",
)
def test_a_seed_gives_the_same_weights_to_the_last_bit(change):
    in_model = {name: change[name] for name in change if name.startswith("drop")}
    config = replace(QUICK, **{n: v for n, v in change.items() if n not in in_model})
    first = weights_after(config, model=small_vit(**in_model))
    torch.rand(7)  # the caller's draws do not matter
    assert_same(weights_after(config, model=small_vit(**in_model)), first)
    other = weights_after(replace(config, seed=1), model=small_vit(**in_model))
    assert not torch.equal(other["head.weight"], first["head.weight"])


def test_the_callers_random_numbers_are_left_alone():
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    train(small_vit().train(), stripes(), QUICK, progress=False)
    torch.manual_seed(1)
    state = torch.get_rng_state()
    train(_ready := small_vit(), stripes(), QUICK, progress=False)
    torch.set_rng_state(state)
    train(_ready, stripes(), QUICK, progress=False)
    assert_same(torch.rand(3), expected)


def test_autocast_computes_in_bfloat16_and_keeps_float32():
    dtypes = []
    model = small_vit()
    model.head.register_forward_hook(lambda *args: dtypes.append(args[2].dtype))
    weights = weights_after(replace(QUICK, autocast=True), model=model)
    assert torch.bfloat16 in dtypes
    assert {w.dtype for w in weights.values()} == {torch.float32}


def test_the_average_is_the_exponential_moving_average():
    model = small_vit()
    seen = []
    config = replace(QUICK, epochs=5, batch_size=24, ema_decay=0.7)

    def remember(_):
        seen.append({n: p.detach().clone() for n, p in model.named_parameters()})

    train(model, stripes(), config, progress=False, callbacks=[remember])
    for name, final in model.named_parameters():
        average = seen[0][name]
        for weights in seen[1:]:
            average = 0.7 * average + 0.3 * weights[name]
        torch.testing.assert_close(final.detach(), average)
    assert not torch.equal(seen[-1]["head.weight"], model.head.weight)


@pytest.mark.parametrize("warmup_epochs, steps", [(0.5, 2), (1.5, 5), (99.0, 5)])
def test_a_warm_up_takes_at_most_half_of_the_training(warmup_epochs, steps):
    rates = []
    step = training.train_step

    def remember(model, optimizer, *arguments, **options):
        rates.append(optimizer.param_groups[0]["lr"])
        return step(model, optimizer, *arguments, **options)

    config = TrainConfig(epochs=3, batch_size=8, warmup_epochs=warmup_epochs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "train_step", remember)
        weights_after(config)
    assert len(rates) == 9 and rates.index(max(rates)) == steps
    assert weights_after(TrainConfig(epochs=1))


def test_weight_decay_pulls_on_matrices_only():
    config = replace(QUICK, epochs=1, batch_size=24, warmup_epochs=0)
    with_decay = weights_after(replace(config, weight_decay=0.5))
    without = weights_after(replace(config, weight_decay=0.0))
    pulled = {n for n in with_decay if not torch.equal(with_decay[n], without[n])}
    assert pulled == {
        n
        for n in with_decay
        if n.endswith("weight") and with_decay[n].ndim > 1 and n != "head.weight"
    }  # the head starts at zero: decay has no effect in the first step


# --- saving and continuing -----------------------------------------------------------


class Stop(Exception):
    pass


def stop_after(epochs):
    def callback(history):
        if len(history.epochs) == epochs:
            raise Stop

    return callback


@pytest.mark.parametrize("epochs_before", [1, 2, 3])
@pytest.mark.parametrize(
    "change", [{}, {"ema_decay": 0.9, "mixup": 0.5}], ids=["plain", "ema-mixup"]
)
def test_a_resumed_training_ends_as_an_unbroken_one(tmp_path, epochs_before, change):
    config = replace(QUICK, **change)
    path = tmp_path / "state.safetensors"
    unbroken = small_vit(drop_rate=0.1)
    whole = train(unbroken, stripes(), config, progress=False)
    with pytest.raises(Stop):
        weights_after(
            config,
            model=small_vit(drop_rate=0.1),
            checkpoint=path,
            callbacks=[stop_after(epochs_before)],
        )
    resumed = draw_at_random(small_vit(drop_rate=0.1))
    history = train(resumed, stripes(), config, path, resume=True, progress=False)
    assert_same(resumed.state_dict(), unbroken.state_dict())
    assert history.train_loss == whole.train_loss and history.top1 == whole.top1


def test_a_training_killed_at_any_moment_goes_on_to_the_same_weights(tmp_path):
    dice = random.Random(0)

    def files(name):
        return [tmp_path / f"{name}.safetensors", tmp_path / f"{name}-end.safetensors"]

    def begin(files):
        program = "tests.package.small_training"
        printed = tmp_path / "printed.txt"
        return start(program, files, ROOT, os.environ, printed)

    unbroken, (state, broken_end) = files("unbroken"), files("broken")
    assert begin(unbroken).wait() == 0
    kills = 0
    while not broken_end.exists():
        process = begin([state, broken_end])
        epochs = len(_epochs(state))
        while process.poll() is None and len(_epochs(state)) < epochs + 5:
            time.sleep(0.001)
        time.sleep(dice.uniform(0, 0.02))
        if kills < 3 and process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
        read_checkpoint(state)  # complete, whenever it was killed
    assert kills == 3
    assert_same(read_checkpoint(broken_end)[0], read_checkpoint(unbroken[1])[0])


def _epochs(path):
    if not path.exists():
        return []
    return read_checkpoint(path)[1]["history"]["epochs"]


def test_a_finished_training_is_not_trained_further(tmp_path):
    path = tmp_path / "state.safetensors"
    finished = weights_after(checkpoint=path)
    again = weights_after(
        checkpoint=path, resume=True, model=draw_at_random(small_vit())
    )
    assert_same(again, finished)


def test_resume_without_a_checkpoint_starts(tmp_path):
    path = tmp_path / "state.safetensors"
    assert_same(weights_after(checkpoint=path, resume=True), weights_after())


@pytest.mark.parametrize(
    "error, match, options",
    [
        (FileExistsError, "is there already; go on from it with resume=True", {}),
        (
            ValueError,
            "was made with epochs 3, now 4; seed 0, now 1; expected the same",
            {"config": replace(QUICK, epochs=4, seed=1), "resume": True},
        ),
        (
            ValueError,
            "was made with num_classes 3, now 4; expected the same; to train",
            {"model": small_vit(4), "resume": True},
        ),
    ],
    ids=["no-resume", "config", "model"],
)
def test_a_checkpoint_of_another_training_is_refused_and_kept(
    tmp_path, error, match, options
):
    path = tmp_path / "state.safetensors"
    weights_after(checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(error, match=f"(?s){match}"):
        weights_after(checkpoint=path, **options)
    assert path.read_bytes() == before


def test_states_and_models_are_not_mistaken_for_each_other(tmp_path):
    model, state = tmp_path / "model.safetensors", tmp_path / "state.safetensors"
    small_vit().save_pretrained(model)
    with pytest.raises(ValueError, match="holds no state of a training, or"):
        weights_after(checkpoint=model, resume=True)
    weights_after(checkpoint=state)
    with pytest.raises(ValueError, match="holds the state of a training, expected"):
        VisionTransformer.from_pretrained(state)


NAN = float("nan")
WEIGHT, MOMENT = "model.blocks.1.mlp.fc1.weight", "optimizer.3.exp_avg_sq"
LIES_OF_A_STATE = {
    "no history": lambda tensors, about: about.pop("history"),
    "a history of nothing": lambda tensors, about: about.update(history=None),
    "epochs that are none": lambda tensors, about: about["history"].update(epochs=3),
    "an epoch of nothing": lambda tensors, about: about["history"]["epochs"].append({}),
    "a number for an epoch": lambda tensors, about: about["history"].update(epochs=[1]),
    "a field too many": lambda tensors, about: about["history"]["epochs"][0].update(
        colour="green"
    ),
    "a config that is none": lambda tensors, about: about.update(train_config=[1]),
    "a config of words": lambda tensors, about: about.update(train_config=["seed"]),
    "no config": lambda tensors, about: about.pop("train_config"),
    "no model": lambda tensors, about: about.pop("model"),
    "images that are none": lambda tensors, about: about.update(images=[1]),
    "a missing weight": lambda tensors, about: tensors.pop(WEIGHT),
    "a weight too many": lambda tensors, about: tensors.update(w=torch.ones(1)),
    "a misshapen weight": lambda tensors, about: tensors.update(
        {WEIGHT: tensors[WEIGHT].T.contiguous()}
    ),
    "a weight of integers": lambda tensors, about: tensors.update(
        {WEIGHT: tensors[WEIGHT].int()}
    ),
    "NaN for a weight": lambda tensors, about: tensors[WEIGHT].fill_(NAN),
    "NaN for a moment": lambda tensors, about: tensors[MOMENT].fill_(NAN),
    "NaN for a step": lambda tensors, about: tensors["optimizer.0.step"].fill_(NAN),
    "a missing moment": lambda tensors, about: tensors.pop(MOMENT),
    "a misshapen moment": lambda tensors, about: tensors.update(
        {MOMENT: torch.ones(3)}
    ),
    "a parameter that is none": lambda tensors, about: tensors.update(
        {"optimizer.99.step": torch.tensor(1.0)}
    ),
    "a moment of nobody": lambda tensors, about: tensors.update(
        {"optimizer.a.b.c": torch.tensor(1.0)}
    ),
}


@pytest.mark.parametrize("lie", LIES_OF_A_STATE)
def test_a_state_that_lies_is_refused_and_model_and_file_are_kept(tmp_path, lie):
    path = tmp_path / "state.safetensors"
    model = small_vit()
    weights_after(checkpoint=path)
    tensors, about = read_checkpoint(path)
    LIES_OF_A_STATE[lie](tensors, about)
    write_checkpoint(path, tensors, about)
    before = {n: w.clone() for n, w in model.state_dict().items()}, path.read_bytes()
    with pytest.raises(ValueError, match="state.safetensors"):
        weights_after(model=model, checkpoint=path, resume=True)
    assert_same(model.state_dict(), before[0])
    assert path.read_bytes() == before[1]


class Masked(nn.Module):
    """A model with an infinite buffer, and a layer that gets no gradient."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.tensor([0.0, -math.inf]))
        self.unused, self.head = nn.Linear(2, 2), nn.Linear(64, 3)

    def forward(self, images):
        return self.head(images.flatten(1))


def test_infinite_buffers_and_parameters_without_gradient_go_on_too(tmp_path):
    path = tmp_path / "state.safetensors"
    torch.manual_seed(0)
    unbroken = weights_after(model=Masked())
    torch.manual_seed(0)
    with pytest.raises(Stop):
        weights_after(model=Masked(), checkpoint=path, callbacks=[stop_after(2)])
    assert_same(weights_after(model=Masked(), checkpoint=path, resume=True), unbroken)


def test_where_no_checkpoint_can_be_written_no_step_is_taken(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(training, "train_step", None)
    with pytest.raises(OSError, match="x.safetensors' cannot be written"):
        weights_after(checkpoint=tmp_path / "file" / "x.safetensors")


def test_a_loss_that_is_not_finite_keeps_the_last_checkpoint(tmp_path):
    path = tmp_path / "state.safetensors"
    model = small_vit()

    def poison(history):
        if len(history.epochs) == 2:
            nn.init.constant_(model.norm.weight, math.inf)

    with pytest.raises(
        FloatingPointError,
        match="epoch 3: the loss is nan .*; the state after epoch 2 is in .*state.saf",
    ):
        weights_after(model=model, checkpoint=path, callbacks=[poison])
    assert len(_epochs(path)) == 2
    assert_same(weights_after(checkpoint=path, resume=True), weights_after())


# --- errors --------------------------------------------------------------------------


def with_labels(labels):
    images = torch.zeros(len(labels), 1, 8, 8)
    data = TensorDataset(images, labels)
    return SimpleNamespace(train=data, validation=data)


@pytest.mark.parametrize(
    "data, match",
    [
        (with_labels(torch.tensor([], dtype=torch.int64)), "^data.train: got no image"),
        (
            with_labels(torch.tensor([0, 3])),
            "^labels: got 0 to 3 of torch.int64, expected 0 to 2 of torch.int64",
        ),
        (with_labels(torch.tensor([-1, 2])), "^labels: got -1 to 2 of"),
        (
            with_labels(torch.tensor([0.0, 1.0])),
            "^labels: got 0.0 to 1.0 of torch.float32, expected 0 to 2",
        ),
        (stripes(size=12), r"got \(B, C, 12, 12\)|12"),
        (
            SimpleNamespace(train=stripes().train, validation=[]),
            "^data.validation: got no image, expected at least one",
        ),
    ],
    ids=["empty", "too-high", "negative", "float", "size", "no-validation"],
)
def test_data_that_does_not_fit_is_refused_and_nothing_is_written(
    tmp_path, data, match
):
    path = tmp_path / "state.safetensors"
    model = small_vit()
    before = {n: w.clone() for n, w in model.state_dict().items()}
    with pytest.raises(ValueError, match=match):
        train(model, data, QUICK, path, progress=False)
    assert not path.exists()
    assert_same(model.state_dict(), before)


def test_a_model_that_is_not_a_classifier_is_refused():
    with pytest.raises(
        ValueError, match=r"model's output: got shape \(1, 1, 8, 2\), expected"
    ):
        weights_after(model=nn.Linear(8, 2))


@pytest.mark.parametrize(
    "change, match",
    [
        ({"epochs": 0}, "epochs: got 0, expected a positive int"),
        ({"batch_size": 0}, "batch_size: got 0"),
        ({"lr": 0.0}, "lr: got 0.0, expected more than 0"),
        ({"lr": math.nan}, "lr: got nan"),
        ({"clip_norm": -1.0}, "clip_norm: got -1.0"),
        ({"weight_decay": -0.1}, "weight_decay: got -0.1, expected at least 0"),
        ({"mixup": -1.0}, "mixup: got"),
        ({"cutmix": -1.0}, "cutmix: got"),
        ({"seed": -1}, "seed: got"),
        ({"num_workers": -1}, "num_workers: got"),
        ({"label_smoothing": 1.0}, "got 1.0, expected at least 0 and below 1"),
        ({"ema_decay": 1.0}, "got 1.0, expected at least 0 and below 1"),
        ({"warmup_epochs": -1.0}, "warmup_epochs: got -1.0, expected at least 0"),
        ({"warmup_epochs": math.nan}, "warmup_epochs: got nan, expected at least 0"),
        ({"lr": None}, "lr: got None, expected more than 0"),
        ({"lr": math.inf}, "lr: got inf, expected more than 0"),
        ({"lr": "1e-3"}, "lr: got '1e-3', expected more than 0"),
        ({"weight_decay": "0.1"}, "weight_decay: got '0.1', expected at least 0"),
        ({"mixup": math.inf}, "mixup: got inf, expected at least 0"),
        ({"clip_norm": math.inf}, "clip_norm: got inf, expected more than 0"),
        ({"epochs": 1.5}, "epochs: got 1.5, expected a positive int"),
        ({"seed": 0.5}, "seed: got 0.5, expected an int of at least 0"),
        ({"seed": 2**60}, f"seed: got {2**60}, expected less than 2"),
        ({"num_workers": 1.5}, "num_workers: got 1.5, expected an int of at least 0"),
        ({"label_smoothing": None}, "label_smoothing: got None, expected at least 0"),
        ({"ema_decay": "0.9"}, "ema_decay: got '0.9', expected at least 0 and below 1"),
        ({"autocast": 1}, "autocast: got 1, expected True or False"),
    ],
)
def test_a_config_out_of_range_is_refused(change, match):
    with pytest.raises(ValueError, match=match):
        replace(QUICK, **change)


# --- progress ------------------------------------------------------------------------


def test_the_bar_shows_each_epoch(capfd, monkeypatch):
    # another test may have imported Jupyter's bar
    monkeypatch.setattr("tqdm.auto.tqdm", tqdm.std.tqdm)
    train(small_vit(), stripes(), QUICK)
    bar = capfd.readouterr().err
    assert "9/9" in bar and "top1=" in bar and "loss=" in bar
    weights_after()
    assert capfd.readouterr() == ("", "")


def test_a_model_with_no_head_or_another_is_refused_before_a_step(monkeypatch):
    monkeypatch.setattr(training, "train_step", None)
    with pytest.raises(ValueError, match="^model: has no head, expected one; reset_cl"):
        train(small_vit(num_classes=0), stripes(), QUICK, progress=False)
    data = stripes()
    data.num_classes = 4
    with pytest.raises(ValueError, match="^model: got 3 classes, expected the 4 of"):
        train(small_vit(), data, QUICK, progress=False)


def test_the_largest_seed_and_numbers_of_numpy_are_good_settings():
    config = replace(QUICK, epochs=np.int64(1), lr=np.float32(0.5), seed=2**32 - 1)
    assert type(config.epochs) is int and type(config.lr) is float
    assert len(train(small_vit(), stripes(), config, progress=False).epochs) == 1


@pytest.mark.parametrize("step", [10, 15, 20, 1000])
def test_the_learning_rate_stays_at_zero_after_the_last_step(step):
    assert learning_rate(step, 10, 0, 1.0) == 0.0


# --- a model is left as it was -------------------------------------------------------


class Labelled(Dataset):
    """Images with labels and a transform, as a reader's own data set may have them."""

    def __init__(self, images, labels, transform=None, preprocessing=None):
        self.images, self.labels, self.transform = images, labels, transform
        self.preprocessing = preprocessing

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        image = self.images[index]
        changed = image if self.transform is None else self.transform(image)
        return changed, int(self.labels[index])


def labelled(**changes):
    images, labels = stripes().train[:]
    data = Labelled(images, labels, **changes)
    preprocessing = changes.get("preprocessing")
    return SimpleNamespace(train=data, validation=data, preprocessing=preprocessing)


def with_a_frozen_norm():
    model = small_vit().train()
    model.norm.eval().requires_grad_(False)
    return model, {module: module.training for module in model.modules()}


def test_evaluate_leaves_every_module_in_its_mode():
    model, modes = with_a_frozen_norm()
    evaluate(model, stripes().train)
    assert {module: module.training for module in model.modules()} == modes
    with pytest.raises(ValueError, match="expected 0 to 2"):
        evaluate(model, with_labels(torch.tensor([3])).train)
    assert {module: module.training for module in model.modules()} == modes


def test_a_refused_training_leaves_every_module_in_its_mode():
    model, modes = with_a_frozen_norm()
    with pytest.raises(ValueError, match="expected"):
        train(model, stripes(size=12), QUICK, progress=False)
    assert {module: module.training for module in model.modules()} == modes


def test_a_training_that_breaks_off_leaves_the_model_in_evaluation_mode():
    model = small_vit()
    with pytest.raises(Stop):
        weights_after(model=model, callbacks=[stop_after(2)])
    assert not any(module.training for module in model.modules())


def test_random_augmentation_leaves_the_callers_numbers_alone():
    data = labelled(transform=lambda image: image + torch.rand(()))
    state = torch.get_rng_state()
    evaluated = torch.empty((), dtype=torch.int64).random_()  # the loader's seed
    torch.set_rng_state(state)
    model = small_vit()
    torch.set_rng_state(state)
    with pytest.raises(ValueError, match="ema_decay"):
        train(model, data, replace(QUICK, ema_decay=0.999), progress=False)
    assert torch.equal(torch.empty((), dtype=torch.int64).random_(), evaluated)


# --- what is refused, in a sentence --------------------------------------------------


@pytest.mark.parametrize(
    "data, kind",
    [
        (DataLoader(stripes().train), "NoneType"),
        (stripes().train, "NoneType"),
        (nn.Linear(2, 2), "method"),
        (None, "NoneType"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_data_without_its_two_parts_is_refused(data, kind):
    with pytest.raises(
        ValueError, match=f"^data.train: got {kind}, expected a data set"
    ):
        train(small_vit(), data, QUICK, progress=False)


@pytest.mark.parametrize(
    "dataset, match",
    [
        (DataLoader(stripes().train), "^dataset: got DataLoader, expected a data set"),
        (stripes(), "^dataset: got SimpleNamespace, expected a data set$"),
        (stripes(0).train, "^dataset: got no image, expected at least one"),
        (
            with_labels(torch.tensor([3])).train,
            "^labels: got 3 to 3 of torch.int64, expected 0 to 2",
        ),
        (
            with_labels(torch.tensor([0.5])).train,
            "^labels: got 0.5 to 0.5 of torch.float32, expected",
        ),
        (
            with_labels(torch.tensor([[0]])).train,
            r"^labels: got shape \(1, 1\), expected \(1,\)",
        ),
        (
            [(torch.zeros(1, 8, 8), "cat")],
            r"^labels: got a tuple, expected a tensor \(1,\)",
        ),
    ],
)
def test_data_that_cannot_be_evaluated_are_refused(dataset, match):
    with pytest.raises(ValueError, match=match):
        evaluate(small_vit(), dataset)


class Output(nn.Linear):
    """A model of another library, which returns its logits inside a record."""

    def forward(self, images):
        return SimpleNamespace(logits=super().forward(images.flatten(1)))


@pytest.mark.parametrize(
    "model, match",
    [
        (small_vit(num_classes=0), "^model: has no head, expected one; reset_classif"),
        (
            Output(64, 3),
            r"^model's output: got a SimpleNamespace, expected a tensor \(B, K",
        ),
        (nn.Linear(8, 2), r"^model's output: got shape \(\d+, 1, 8, 2\), expected \(B"),
    ],
)
def test_other_models_are_neither_trained_nor_evaluated(model, match):
    with pytest.raises(ValueError, match=match):
        train(model, stripes(), QUICK, progress=False)
    with pytest.raises(ValueError, match=match):
        evaluate(model, stripes().train)


def test_a_model_without_parameters_is_evaluated():
    model = nn.Sequential(nn.AdaptiveAvgPool2d((3, 1)), nn.Flatten())
    assert 0 <= evaluate(model, stripes().validation).top1 <= 1


def test_a_model_that_is_frozen_or_of_16_bits_is_not_trained():
    frozen = small_vit().requires_grad_(False)
    with pytest.raises(ValueError, match="model: got no parameter that requires a gra"):
        train(frozen, stripes(), QUICK, progress=False)
    for model in (small_vit().half(), small_vit().bfloat16()):
        with pytest.raises(ValueError, match="^model: got parameters of 16 bits"):
            train(model, stripes(), QUICK, progress=False)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_images_take_the_dtype_of_the_model(dtype):
    model = draw_at_random(small_vit(), 0.5)
    expected = evaluate(model, stripes().train)
    measured = evaluate(model.to(dtype), stripes().train)
    assert measured.loss == pytest.approx(expected.loss, rel=0.05)
    if dtype == torch.float64:
        weights_after(model=model)
        assert model.head.weight.dtype == dtype


@pytest.mark.parametrize("decay, fits", [(0.9999, 1 - 5 / 9), (0.95, 1 - 5 / 9)])
def test_an_average_too_slow_for_the_training_is_refused(monkeypatch, decay, fits):
    config = replace(QUICK, ema_decay=decay)
    with monkeypatch.context() as patch:
        patch.setattr(training, "train_step", None)
        with pytest.raises(
            ValueError, match=f"^ema_decay: .* 9 steps.* such as {fits:.6g}$"
        ):
            weights_after(config)
    assert weights_after(replace(config, ema_decay=round(fits, 6)))


# --- normalisation -------------------------------------------------------------------

ABC = ("a", "b", "c")
NORMALISED = Preprocessing((0.3,), (0.4,), ABC)


@pytest.mark.parametrize(
    "other, match",
    [
        (
            Preprocessing((0.45,), (0.4,), ABC),
            r"mean \(0.45,\), std .*expected .*\(0.3,\)",
        ),
        (
            Preprocessing((0.3,), (0.2,), ABC),
            r"mean \(0.3,\), std \(0.2,\) and classes .*, expec",
        ),
        (
            Preprocessing((0.3,), (0.4,), ("b", "a", "c")),
            r"mean .* and classes \('b', 'a', 'c'\)",
        ),
    ],
    ids=["mean", "std", "order"],
)
def test_images_normalised_for_another_model_are_refused(other, match):
    model = small_vit()
    model.preprocessing = NORMALISED
    data = labelled(preprocessing=other)
    match = f"^preprocessing: got images with {match}.*preprocessing=model.preproc"
    with pytest.raises(ValueError, match=match):
        evaluate(model, data.train)
    with pytest.raises(ValueError, match=match):
        train(model, data, QUICK, progress=False)
    assert model.preprocessing == NORMALISED
    model.preprocessing = None
    train(model, data, QUICK, progress=False)
    assert model.preprocessing == other
    evaluate(model, data.train)


@pytest.mark.parametrize(
    "other",
    [
        Preprocessing((0.31,), (0.39,), ABC),
        Preprocessing((0.3,), (0.4,), ("x", "y", "z")),
        Preprocessing((0.3,), (0.4,)),
        None,
    ],
    ids=["sample", "names", "nameless", "unknown"],
)
def test_images_normalised_as_the_models_are_taken(other):
    model = small_vit()
    model.preprocessing = NORMALISED
    data = labelled(preprocessing=other)
    evaluate(model, data.train)
    train(model, data, QUICK, progress=False)


# --- another training ----------------------------------------------------------------


def shifted(image):
    return image + 0.1


def begun(path, model=None, data=None):
    with pytest.raises(Stop):
        train(
            model or small_vit(),
            data or labelled(),
            QUICK,
            path,
            progress=False,
            callbacks=[stop_after(1)],
        )


def reordered():
    data = labelled()
    data.train.labels = data.train.labels.flip(0)
    return data


def named(*classes):
    data = labelled()
    data.classes = classes
    return data


@pytest.mark.parametrize(
    "model, data, match",
    [
        ({"num_heads": 4}, labelled, "num_heads 2, now 4"),
        ({"norm_eps": 1e-5}, labelled, "norm_eps 1e-06, now 1e-05"),
        ({"drop_rate": 0.1}, labelled, "drop_rate 0.0, now 0.1"),
        ({}, reordered, "labels [0-9a-f]{12}, now [0-9a-f]{12}"),
        (
            {},
            lambda: labelled(transform=shifted),
            "transform None, now <function shifted>",
        ),
        ({}, lambda: named("a", "b", "c"), r"classes None, now \['a', 'b', 'c'\]"),
    ],
    ids=["heads", "eps", "dropout", "labels", "augmentation", "classes"],
)
def test_resuming_another_training_is_refused(tmp_path, model, data, match):
    path = tmp_path / "state.safetensors"
    begun(path)
    other = small_vit()
    other = VisionTransformer(replace(other.config, **model))
    with pytest.raises(ValueError, match=f"was made with {match}; expected the same"):
        train(other, data(), QUICK, path, resume=True, progress=False)


def test_images_of_another_shape_are_another_training(tmp_path):
    path = tmp_path / "state.safetensors"
    begun(path)
    images, labels = stripes().train[:]
    wide = Labelled(images.reshape(24, 1, 4, 16), labels)
    model = VisionTransformer(replace(small_vit().config, image_size=(4, 16)))
    data = SimpleNamespace(train=wide, validation=wide)
    with pytest.raises(ValueError, match=r"image_size 8, now \[4, 16\]; image_shape"):
        train(model, data, QUICK, path, resume=True, progress=False)


def test_a_transform_is_known_by_what_it_does_not_by_its_address(tmp_path):
    path = tmp_path / "state.safetensors"

    def data():
        return labelled(transform=partial(torch.add, other=torch.ones(1)))

    begun(path, data=data())
    train(small_vit(), data(), QUICK, path, resume=True, progress=False)


def test_a_finished_training_says_that_nothing_was_left_to_do(tmp_path):
    path = tmp_path / "state.safetensors"
    weights_after(checkpoint=path)
    with pytest.warns(UserWarning, match="is a finished training: nothing to do"):
        weights_after(checkpoint=path, resume=True)


def test_a_compiled_model_goes_on_where_it_was_and_so_does_a_plain_one(tmp_path):
    path = tmp_path / "state.safetensors"
    config = replace(QUICK, ema_decay=0.9)
    whole = weights_after(config)
    compiled = torch.compile(small_vit(), backend="eager")
    with pytest.raises(Stop):
        weights_after(
            config, model=compiled, checkpoint=path, callbacks=[stop_after(1)]
        )
    assert not any("_orig_mod" in name for name in read_checkpoint(path)[0])
    resumed = weights_after(config, checkpoint=path, resume=True)
    torch.testing.assert_close(resumed, whole)
