"""Test `make mutants`, and the survivors that it has found."""

import json

import pytest

from tests.checks.mutants.targets import Target, targets
from tests.checks.test_every_check import CHECKS
from tests.conftest import ROOT

TARGETS = targets()
SURVIVORS = ROOT / "tests" / "checks" / "mutants" / "survivors.json"
ENTRIES = json.loads(SURVIVORS.read_text(encoding="utf-8"))


def test_every_check_has_an_answer_that_was_changed():
    assert {target.check for target in TARGETS} == set(CHECKS)


def test_survivors_belong_to_the_current_answers_and_checks():
    found = {f"{e['check']} of {e['where']}": e["fingerprint"] for e in ENTRIES}
    now = {target.name: target.fingerprint() for target in TARGETS}
    stale = sorted(
        name for name in now.keys() | found if now.get(name) != found.get(name)
    )
    assert not stale, f"{len(stale)} answers have changed: run `make mutants`"


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: f"{e['check']}-{e['where']}")
def test_every_survivor_has_a_reason(entry):
    assert entry["mutants"] > 0
    for survivor in entry["survivors"]:
        assert len(survivor["reason"]) > 10, survivor


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_answers_are_right_before_they_are_changed(target):
    assert target.quick_check().examine(target.built(target.source), {}) is None


def test_a_check_that_lets_mutants_pass_is_found():
    pytest.importorskip("cosmic_ray", reason="installed by `make mutants`")
    from tests.checks.mutants.operators import mutants

    source = (
        "def attend(q, k, v):\n"
        '    """1 + 1"""\n'
        "    if q.ndim < 2:\n"
        "        raise ValueError(q.ndim + 1)\n"
        "    weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(dim=-1)\n"
        "    return weights @ v, weights\n"
    )
    made = {becomes for _, _, becomes, _ in mutants(source)}
    for becomes in (
        "weights = (q @ k.mT / q.shape[-1] * 0.5).softmax(dim=-1)",
        "weights = q @ k.mT / q.shape[-1] ** 0.5",
        "weights = (k.mT @ q / q.shape[-1] ** 0.5).softmax(dim=-1)",
        "weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(dim=-2)",
        "weights = (q @ k.mT / q.shape[-1] ** 5.0).softmax(dim=-1)",
        "return (weights, weights @ v)",
        "return (v, weights)",
    ):
        assert becomes in made
    assert not any("ValueError" in m or '"""' in m for m in made)
    target = Target("scaled_dot_product_attention", "here", source, "attend")
    passed = [m for *_, m in mutants(source) if _passes(target, m)]
    assert not passed


def _passes(target, source):
    return target.quick_check().examine(target.built(source), {}) is None
