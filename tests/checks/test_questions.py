"""Test the values that exercises ask for: each is computed, each slip is recognised."""

import re
from importlib import import_module

import pytest

import vit_check as check
from tests.conftest import ROOT
from vit_check import CheckFailed
from vit_check.chapters.questions import QUESTIONS
from vit_check.engine.questions import numbers, questions


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
        assert failed(name, slip()).sentence == slip.sentence
    assert failed(name, None).mistake == "unwritten"
    assert failed(name, ...).mistake == "unwritten"
    for nonsense in ("nonsense", -12345.678, object(), [1, 2], {"a": 1}, float("nan")):
        failed(name, nonsense)


@pytest.mark.parametrize("name", QUESTIONS)
def test_slips_differ_and_there_are_three_hints(name):
    asked = QUESTIONS[name]
    values = [repr(slip()) for slip in asked.slips]
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


TABLE = """
tokens: the number of tokens, with
    class token
  = N + 1 +
    0
  rounding 1e-2
  N: the class token is
    a token too
  math.isqrt(N) or 2 * side(): that is: along one side
  ? How many
    patches?
  ? Rows times columns.
  ? 2 × 2 + 1.
share: a share from 0 to 1
  accept no_share
  if {1: given}[1] < 0.1: is too small
  ? One.
  ? Two.
  ? Three.
"""


def no_share(given):
    return None if given < 1 else "is no share"


def test_a_question_is_read_from_its_lines():
    computed = []
    names = {"N": 4, "side": lambda: computed.append(1) or 3, "no_share": no_share}
    tokens, share = questions(TABLE, names)
    assert (tokens.name, tokens.rounding) == ("tokens", 0.01)
    assert tokens.signature == "the number of tokens, with class token"
    assert tokens.hints == ("How many patches?", "Rows times columns.", "2 × 2 + 1.")
    assert tokens.expected() == 5
    first, second, third = tokens.slips
    assert first.sentence == "the class token is a token too"
    assert second.sentence == third.sentence == "that is: along one side"
    assert not computed
    assert (first(), second(), third(), third()) == (4, 2, 6, 6)
    assert len(computed) == 1, "once, when it is asked for"
    assert share.expected is None
    said = [share.accept(given) for given in (0.5, 0.05, 2)]
    assert said == [None, "is too small", "is no share"]


@pytest.mark.parametrize(
    ("accept", "given", "said"),
    [
        (numbers("a", "b"), {"a": 1, "b": 2.5}, None),
        (numbers("a", "b"), {"a": 1}, "is to be a dictionary with the keys 'a', 'b'"),
        (numbers("a"), {"a": True}, "has something at 'a' that is not a number"),
        (numbers("a", low=0, high=1), {"a": 2}, "has 2 at 'a', expected a number from"),
        (numbers("a", each=2), {"a": [1, 2]}, None),
        (numbers("a", each=2), {"a": [1]}, "is to have 2 numbers in a list at 'a'"),
        (numbers(2), [1, 2], None),
        (numbers(2), {"a": 1}, "is to have 2 numbers in a list"),
        (numbers(2), [1, "2"], "has something that is not a number"),
    ],
)
def test_numbers_are_asked_for_by_name_or_in_a_list(accept, given, said):
    found = accept(given)
    assert found is said or found.startswith(said)


ASKED = "x: a number\n  = 5\n  4: too small\n  ? One.\n  ? Two.\n  ? Three.\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("x: a number", "a number", "questions: 'a number' is not \"name: what is"),
        ("x: a number", "the x: a number", "questions: 'the x: a number' is not"),
        ("  = 5\n", "", 'question x: expected one line with "= value" or "accept'),
        ("  = 5\n", "  = 5\n  = 6\n", "question x: expected one line with"),
        ("  = 5\n", "  5\n", "question x: '5' has no sentence behind a colon"),
        (": too small", "", "question x: '4' has no sentence behind a colon"),
        ("  ? Three.\n", "", "question x: got 2 hints behind"),
        ("  ? Three.", "  Three.", "question x: 'Three.' has no sentence behind a"),
        ("  ? Three.", " ? Three.", "question x: ' . Three.' has neither two spaces"),
        ("= 5", "accept five", "question x: accept: there is no function 'five' in"),
        ("= 5", "accept len", "question x: accept: the function has the sentences"),
        ("4: too", "if given < 4: too", "question x: if: expected a line with .accept"),
        ("= 5", "= 5\n  rounding much", "question x: could not convert .* 'much'"),
    ],
)
def test_an_error_in_a_question_has_its_name(old, new, said):
    assert len(questions(ASKED, {})) == 1
    with pytest.raises(ValueError, match=said):
        questions(ASKED.replace(old, new), {"len": len})


@pytest.mark.parametrize("code", ["5 +", "side(5)", "1 / 0"])
def test_a_value_that_cannot_be_computed_has_the_name_of_its_question(code):
    said = "question x: '.*' cannot be computed, .*Error"
    (asked,) = questions(ASKED.replace("= 5", f"= {code}"), {})
    with pytest.raises(ValueError, match=said):
        asked.expected()
    (asked,) = questions(ASKED.replace("  4", f"  {code}"), {})
    with pytest.raises(ValueError, match=said):
        asked.slips[0]()


@pytest.mark.parametrize("path", [*ROOT.glob("vit_check/chapters/*/questions.py")])
def test_a_file_of_questions_defines_nothing_unused(path):
    """Ruff does not look into the table."""
    text = path.read_text(encoding="utf-8")
    module = import_module(f"vit_check.chapters.{path.parent.name}.questions")
    names = {name for name in vars(module) if not name.startswith("__")}
    once = {name for name in names if len(re.findall(rf"\b{name}\b", text)) == 1}
    assert once == {"QUESTIONS"}
