"""Test what benchmarks/ compares and how it divides, without measuring a speed."""

import random

import numpy as np
import pytest
import torch

from benchmarks.floor import matrix_products
from benchmarks.jobs import Job, jobs
from benchmarks.picture import picture
from benchmarks.rivals import BUILDERS, OURS, available, gives_our_logits
from benchmarks.rounds import LEAST_ROUNDS, measure, ratio
from vit_book import read_results
from vit_steps import ViTConfig

SMALL = ViTConfig(32, 8, num_classes=7, embed_dim=24, depth=2, num_heads=3)
OTHER_ARCHITECTURES = {"vit-pytorch, ViT", "vit-pytorch, SimpleViT"}


def test_all_of_our_architecture_give_our_logits():
    models = available(list(BUILDERS), SMALL)
    images = torch.rand(2, 3, 32, 32)
    with torch.inference_mode():
        assert models[OURS].eval()(images).abs().max() > 0.01
    same = {n for n, m in models.items() if gives_our_logits(m, models[OURS], images)}
    assert same == set(models) - OTHER_ARCHITECTURES
    assert len(same) == len(BUILDERS) - len(OTHER_ARCHITECTURES)


def test_the_floor_multiplies_what_the_cost_counts(monkeypatch):
    config = ViTConfig(32, 8, embed_dim=24, depth=3, num_heads=2)
    counted = 0
    multiply = matrix_products(config, 1, "cpu", torch.float32)
    matmul = torch.matmul

    def counting(left, right, out):
        nonlocal counted
        counted += left.numel() * right.shape[-1]
        return matmul(left, right, out=out)

    monkeypatch.setattr(torch, "matmul", counting)
    multiply()
    assert counted == config.cost().macs


def test_rounds_take_every_task_in_turn():
    order = []
    tasks = {name: (lambda name=name: order.append(name)) for name in "abc"}
    times = measure(tasks, "a", seconds=0.0)
    assert {len(of_name) for of_name in times.values()} == {LEAST_ROUNDS}
    warm_up, rounds = order[:3], order[3:]
    assert warm_up == ["a", "b", "c"]
    assert rounds[:6] == ["a", "b", "c", "b", "c", "a"]
    for start in range(0, len(rounds), 3):
        assert sorted(rounds[start : start + 3]) == ["a", "b", "c"]


def test_a_gpus_work_is_waited_for(monkeypatch):
    order = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: order.append("waited"))
    for device in ("cpu", "cuda"):
        job = Job("any", SMALL, batch_size=1, device=device)
        job.to_the_end(lambda device=device: order.append(device))
    assert order == ["cpu", "cuda", "waited"]


@pytest.mark.parametrize(
    ("device", "record"), [("cpu", "benchmarks"), ("cuda", "benchmarks-gpu")]
)
def test_the_record_has_the_jobs_of_its_device(device, record):
    measured = read_results(record)["jobs"]
    assert [job["name"] for job in measured] == [job.name for job in jobs(device)]
    assert all(job["rows"][0]["name"] == OURS for job in measured)


def test_ratios_are_taken_within_rounds():
    weather = [1.0, 5.0, 2.0, 9.0, 3.0, 1.5, 7.0]
    one = ratio([1.1 * w for w in weather], weather)
    assert (one.low, one.median, one.high) == pytest.approx((1.1, 1.1, 1.1))


def test_the_interval_holds_the_true_median_as_often_as_it_says():
    generator = random.Random(0)
    held = 0
    for _ in range(400):
        ratios = [generator.lognormvariate(0.0, 0.3) for _ in range(25)]
        one = ratio(ratios, [1.0] * 25)
        held += one.low <= 1.0 <= one.high
    assert 0.93 <= held / 400 <= 0.99


def test_the_picture_has_a_dot_an_interval_and_a_floor():
    def row(name, ratio, **more):
        spread = {"low": ratio - 0.1, "high": ratio + 0.1}
        return {"name": name, "ratio": ratio, "median_ms": 9.0} | spread | more

    ours, rival = (row(n, r, same_function=True) for n, r in (("us", 1), ("it", 1.3)))
    floor = row("products", 0.9)
    jobs = [
        {"name": "inference, ViT-Ti", "rows": [ours, rival, floor]},
        {"name": "training, ViT-Ti", "rows": [ours, rival]},
        {"name": "another", "rows": [ours, rival]},
    ]
    figure = picture({"jobs": jobs})
    drawn = [ax for ax in figure.axes if ax.get_visible()]
    assert [ax.get_title() for ax in drawn] == [
        "inference,\nViT-Ti",
        "training,\nViT-Ti",
        "another",
    ]
    line_at_one, *rows = drawn[0].lines
    assert list(line_at_one.get_xdata()) == [1, 1]
    assert [list(np.round(line.get_xdata(), 6)) for line in rows[2:4]] == [
        [1.2, 1.4],
        [1.3],
    ]
    assert rows[5].get_marker() == "D"
    labels = [label.get_text() for label in drawn[0].get_yticklabels()]
    assert labels == ["products", "it", "us"]
