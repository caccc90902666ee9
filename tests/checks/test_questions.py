"""Test the values that exercises ask for: each is computed, each slip is recognised."""

import pytest

import vit_check as check
from vit_check import CheckFailed
from vit_check.chapters.questions import QUESTIONS


def failed(name, value):
    with pytest.raises(CheckFailed) as caught:
        check.answer(name, value)
    return caught.value


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_right_value_passes_and_nothing_else(name, capsys):
    asked = QUESTIONS[name]
    if asked.expected is not None:
        check.answer(name, asked.expected())
        assert capsys.readouterr().out == f"{name}: right\n"
    for slip in asked.slips:
        assert failed(name, slip.value).sentence == slip.sentence
    assert failed(name, None).mistake == "unwritten"
    assert failed(name, ...).mistake == "unwritten"
    for nonsense in ("nonsense", -12345.678, object(), [1, 2], {"a": 1}, float("nan")):
        failed(name, nonsense)


@pytest.mark.parametrize("name", QUESTIONS)
def test_slips_differ_and_there_are_three_hints(name):
    asked = QUESTIONS[name]
    values = [repr(slip.value) for slip in asked.slips]
    assert len(set(values)) == len(values)
    assert len(asked.hints) == 3 and asked.name == name
    assert (asked.expected is None) != (asked.accept is None)


def test_no_sentence_tells_the_answer():
    for name, asked in QUESTIONS.items():
        right = asked.expected() if asked.expected is not None else None
        if isinstance(right, int) and right > 9 and not isinstance(right, bool):
            for wrong in (right + 1, -1, "nonsense", [right]):
                assert str(right) not in failed(name, wrong).sentence, name


def test_a_question_that_is_not_there():
    with pytest.raises(ValueError, match="name: got 'nonsense', expected a question"):
        check.answer("nonsense", 1)
