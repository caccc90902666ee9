"""Test that the judge's records decide whether a cell passed, not the kernel."""

import json
from types import SimpleNamespace

import nbformat
import pytest

from classroom.grading.execute import SandboxedExecute
from classroom.grading.outputs import clean_output
from classroom.grading.passing import (
    Attempt,
    checks_named_in,
    classes_named_in,
    taken_from_libraries,
    why_failed,
)
from vit_check.judge import Judgement


def test_checks_are_read_from_the_cell():
    source = "check.a(f)\nfor n in (1, 2):\n    check.b(f, n)\ncheck.answer('x', 3)"
    assert sorted(checks_named_in(source)) == ["a", "answer:x", "b"]
    assert checks_named_in("%%time\ncheck.a(") == []
    several = "check.answers(tokens_at_384=n, patchify=f, hint=1)"
    assert checks_named_in(several) == ["answer:tokens_at_384", "patchify"]


def test_a_function_is_not_an_answer_where_a_class_is_named():
    """A function from an earlier task does not solve a task that asks for a class."""
    good = Attempt(ended_well=True, words=["word"])
    of_class = Judgement("mlp", True, None)
    of_function = Judgement("mlp", True, None, "function")
    for source in ("check.mlp(MLP)", "check.mlp(MLP, 2)", "check.answers(mlp=MLP)"):
        assert why_failed(good, "word", source, [of_class]) is None
        said = why_failed(good, "word", source, [of_function])
        assert said == "The check mlp was given a function in place of a class."
    for source in ("check.mlp(mlp)", "check.mlp(nn.Sequential(MLP()))"):
        assert why_failed(good, "word", source, [of_function]) is None
    assert classes_named_in("check.answer('x', X)") == {"answer:x"}
    assert classes_named_in("check.mlp()\ncheck.CheckFailed(X)") == set()


def test_an_answer_that_is_a_librarys_is_named():
    own = Judgement("patchify", True, None)
    taken = Judgement("softmax", True, None, origin="torch.softmax")
    said = "The answer given to softmax is torch.softmax."
    assert taken_from_libraries([own, taken]) == [said]
    execute = SandboxedExecute(judge=SimpleNamespace(records=[taken]))
    execute.taken = []
    cell = nbformat.v4.new_code_cell("check.softmax(softmax)")
    execute._judge(cell, Attempt(ended_well=True, words=["word"]), "word")
    assert execute.taken == [said]


def test_only_what_the_judge_saw_counts():
    good = Attempt(ended_well=True, words=["word"])
    one = Judgement("a", True, None)
    assert why_failed(good, "word", "check.a(f)", [one]) is None
    assert "not asked" in why_failed(good, "word", "check.a(f)", [])
    assert "not asked" in why_failed(good, "word", "check.a(f)\ncheck.a(g)", [one])
    assert "belong" in why_failed(good, "word", "", [one])
    assert (
        why_failed(good, "word", "check.a(f)", [Judgement("a", False, "wrong")])
        == "wrong"
    )
    assert "end" in why_failed(good, "other", "", [])
    assert why_failed(Attempt(words=["word"]), "word", "", [])


@pytest.mark.parametrize(
    "kind, content",
    [
        ("stream", {}),
        ("stream", {"name": 3, "text": {"a": 1}}),
        ("display_data", {"data": "x"}),
        ("display_data", {"data": {"text/html": "<script>", "image/png": "AAAA"}}),
        ("error", {"ename": None, "traceback": "x"}),
        ("unknown", {}),
    ],
)
def test_outputs_of_any_shape_are_harmless(kind, content):
    output = clean_output(kind, content, 100)
    if output is not None:
        nbformat.validate(nbformat.v4.new_notebook(cells=[code(output)]))
        assert "script" not in json.dumps(output)


def code(output):
    return nbformat.v4.new_code_cell("", outputs=[output])
