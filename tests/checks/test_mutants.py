"""Test `make mutants`, and the survivors that it has found."""

import pytest

from tests.checks.mutants.survivors import FILE, change, read, write
from tests.checks.mutants.targets import Target, targets
from tests.checks.test_every_check import CHECKS

TARGETS = targets()
ENTRIES = read()


def test_every_check_has_an_answer_that_was_changed():
    assert {target.check for target in TARGETS} == set(CHECKS)


def test_survivors_belong_to_the_current_answers_and_checks():
    found = {name: entry["fingerprint"] for name, entry in ENTRIES.items()}
    now = {target.name: target.fingerprint() for target in TARGETS}
    stale = sorted(
        name for name in now.keys() | found if now.get(name) != found.get(name)
    )
    assert not stale, f"{len(stale)} answers have changed: run `make mutants`"


@pytest.mark.parametrize("name", ENTRIES)
def test_every_survivor_has_a_reason(name):
    assert ENTRIES[name]["mutants"] > 0
    for survivor, reason in ENTRIES[name]["survivors"].items():
        assert len(reason) > 10, survivor


def test_survivors_are_written_as_they_are_read(tmp_path, monkeypatch):
    assert change("f(a, b).mean()", "f(b, a).mean()") == "f(«a, b -> b, a»).mean()"
    copy = tmp_path / "survivors.txt"
    monkeypatch.setattr("tests.checks.mutants.survivors.FILE", copy)
    write(ENTRIES)
    assert copy.read_bytes() == FILE.read_bytes()


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
