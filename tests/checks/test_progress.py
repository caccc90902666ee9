"""Test what ``status`` and ``handed_out`` say, on the sets as they are handed out."""

import sys
from types import SimpleNamespace

import pytest
import torch
from torch import nn

import vit_check as check
from vit_check.engine import said
from vit_check.engine.verdict import Misused
from vit_check.progress import _sets
from vit_steps import MultiHeadAttention

LAST = max(_sets())


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch):
    """Begin each test as after a start of the kernel, outside a notebook."""
    before = said.SAID[:]
    said.SAID.clear()
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    yield
    said.SAID[:] = before


@pytest.fixture
def run(monkeypatch):
    """A function that puts cells into the history of a notebook."""
    history = []
    manager = SimpleNamespace(input_hist_raw=history)
    shell = SimpleNamespace(history_manager=manager)
    ipython = SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    return history.append


@pytest.fixture
def printed(capsys):
    """A function that calls another and returns what it prints."""

    def call(function, *arguments):
        capsys.readouterr()
        assert function(*arguments) is None
        return capsys.readouterr().out

    return call


def softmax(scores):
    exponentials = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def attend_one_query(query, keys, values):
    weights = torch.softmax(keys @ query, dim=0)
    return weights @ values, weights


def not_begun(query, keys, values):
    raise NotImplementedError


def failing(function, *arguments, **named):
    with pytest.raises(check.CheckFailed) as failed:
        function(*arguments, **named)
    return failed.value


def state(text, number):
    line = next(each for each in text.splitlines() if each[:5] == f"{number:3}  ")
    return line.rsplit("  ", 1)[-1]


def test_before_a_check_all_is_open_and_the_first_task_comes_next(printed):
    text = printed(check.status, 4)
    assert text.startswith("Exercises 4: Looking at one another\n")
    assert [state(text, number) for number in range(1, 8)] == ["open"] * 7
    assert state(text, 8) == "an answer in words, which no check reads"
    assert "Nothing has been checked since the kernel started." in text
    assert text.endswith("Next: task 1, Attention with a pencil (8 minutes).\n")


def test_what_was_said_last_counts(printed):
    check.softmax(softmax)
    failed = failing(check.attend_one_query, attend_one_query, hint=2)
    failing(
        check.answers,
        pencil_weights=(0.42, 0.42, 0.16),
        third_weight_when_the_query_doubles="grows",
    )
    text = printed(check.status)
    assert state(text, 1) == "1 of 3 answers right"
    assert state(text, 2) == "right"
    assert state(text, 3) == "not right yet, hint 2 read"
    assert "1 of the 7 tasks that have a check is right" in text
    assert "Next: task 1" in text and "hint=1" in text
    check.answer("pencil_weights", (0.42, 0.42, 0.16))
    check.answer("third_weight_when_the_query_doubles", "shrinks")
    check.answer("output_of_equal_values", (3, 5))
    text = printed(check.status)
    assert state(text, 1) == "right"
    assert "Next: task 3, One query" in text
    assert f"Its check said: attend_one_query: {failed.sentence}\n" in text
    assert "hint=3" in text
    failing(check.attend_one_query, attend_one_query, hint=3)
    assert 'check.handed_out("attend_one_query")' in printed(check.status)


def test_an_answer_that_is_wrong_again_is_not_right(printed):
    check.softmax(softmax)
    failing(check.softmax, lambda scores: scores)
    assert state(printed(check.status, 4), 2) == "not right yet"


def test_an_unwritten_answer_is_open(printed):
    failing(check.attend_one_query, not_begun)
    failing(check.answer, "third_weight_when_the_query_doubles", None)
    text = printed(check.status)
    assert state(text, 1) == state(text, 3) == "open"


def test_two_answers_to_one_check_are_told_apart(printed):
    class OwnAttention(MultiHeadAttention):
        pass

    class Repaired(MultiHeadAttention):
        def forward(self, x, need_weights=False):
            return 2 * x, None

    check.multi_head_attention(OwnAttention)
    failing(check.multi_head_attention, Repaired)
    text = printed(check.status, 5)
    assert state(text, 3) == "right"
    assert state(text, 5) == "not right yet"


def test_a_name_that_is_not_a_string_does_no_harm(printed):
    class Odd(nn.Module):
        __name__ = None

    failing(check.softmax, Odd())
    assert state(printed(check.status, 4), 2) == "not right yet"


def test_when_all_is_right_the_words_are_left(printed):
    one = _sets()[4]
    for task in one.tasks:
        for name, variable in task.asked:
            answer = SimpleNamespace(__name__=variable)
            said.note(name, answer, None, 0)
    text = printed(check.status, 4)
    assert "each of the 7 tasks that have a check is right" in text
    assert text.endswith("Left for you to judge is task 8, All or nothing\n")


@pytest.mark.parametrize("number", _sets())
def test_the_set_is_known_by_its_cells(number, run, printed):
    assert "check.status(4)" in printed(check.status)
    for _, cell in _sets()[number].cells[:2]:
        run(cell.source + "\n")
    run("x = 1")
    said.note("softmax", softmax, None, 0)  # a check of another set
    assert printed(check.status).startswith(f"Exercises {number}: ")


def test_a_cell_that_all_sets_have_says_nothing(run, printed):
    run(_sets()[4].cells[0][1].source)
    assert "say which set you mean" in printed(check.status)


@pytest.mark.parametrize("number", _sets())
def test_every_answer_is_found_by_its_name_and_its_checks(number, printed):
    one = _sets()[number]
    names = one.names
    assert "answer" not in names and "" not in names
    for task, cell in one.cells:
        if cell.kind != "answer":
            continue
        assert cell.defines, cell.source
        for name in cell.defines:
            text = printed(check.handed_out, name, number)
            assert cell.source in text
            assert f"# Exercises {number}, task {task.number}\n" in text
        compile(text, "printed", "exec")  # so that all of it may be copied
    for task in one.tasks:
        for name, variable in task.asked:
            assert variable in names or name == "losses_of_one_batch"  # asks for a pair
            found = [cell for _, cell in one.named(name)]
            assert found and all(cell.kind == "answer" for cell in found), name


def test_a_number_means_all_cells_of_a_task(printed):
    text = printed(check.handed_out, 6, 4)
    assert text.count("def attend_masked(") == text.count("def causal_mask(") == 1
    assert "check.masked_attention(attend_repaired)" in text


def test_a_name_is_looked_for_where_the_student_works(run, printed):
    text = printed(check.handed_out, "attend_repaired")  # only one set has it
    assert "# Exercises 4, task 6\n" in text
    with pytest.raises(Misused, match="exercises 5 and 14 have"):
        check.handed_out("multi_head_attention")
    for _, cell in _sets()[14].cells[:2]:
        run(cell.source)
    text = printed(check.handed_out, "multi_head_attention")
    assert "class MendedAttention" in text


@pytest.mark.parametrize(
    "function, arguments, sentence",
    [
        ("status", ["4"], f"got '4', expected the number of a set, 1 to {LAST}"),
        ("status", [LAST + 1], f"got {LAST + 1}, expected the number of a set, 1 to"),
        ("status", [True], "exercises: got True"),
        ("handed_out", ["sofmax"], "did you mean softmax"),
        ("handed_out", ["softmax", 1], "exercises 1 have no cell by this name"),
        ("handed_out", ["zzzzz"], "cell: got 'zzzzz', but the exercises have no cell"),
        ("handed_out", [softmax], "expected a name in quotes"),
        ("handed_out", [3], "of which set? As in check.handed_out(3, 4)"),
        ("handed_out", [9, 4], "exercises 4 have no code in a task of this number"),
        ("handed_out", [0, 4], "exercises 4 have no code in a task of this number"),
    ],
)
def test_an_unknown_name_gets_a_sentence(function, arguments, sentence):
    with pytest.raises(ValueError) as refused:
        getattr(check, function)(*arguments)
    assert sentence in str(refused.value)
    assert refused.value._render_traceback_() == str(refused.value).splitlines()
