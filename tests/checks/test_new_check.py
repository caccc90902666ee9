"""Test ``make new-check``: its files can be read, and say what is to be written."""

import runpy

import pytest

from tests.checks.answers import RIGHT, WRONG, take_the_rest
from tests.checks.new_check import left_to_write, make
from vit_check.engine.check import Check
from vit_check.engine.questions import questions


@pytest.fixture
def root(tmp_path):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "08_training.ipynb").touch()
    return tmp_path


def test_a_new_check_says_what_is_to_be_written(root):
    check, answers, package, asked = make("a_new_check", "training", root)
    assert package.read_text("utf-8") == ""
    assert questions(runpy.run_path(str(asked))["QUESTIONS"], {}) == []
    assert len(make("another", "training", root)) == 2
    made = runpy.run_path(str(check))["a_new_check"]
    assert isinstance(made, Check) and made.name == "a_new_check"
    assert list(made.mistakes) == []
    try:
        take_the_rest(runpy.run_path(str(answers), run_name="training.a_new_check"))
        assert [len(RIGHT["a_new_check"]), WRONG["a_new_check"]] == [1, []]
    finally:
        del RIGHT["a_new_check"], WRONG["a_new_check"]
    left = left_to_write("a_new_check", root)
    assert len(left) == 8
    start = "vit_check/chapters/training/a_new_check.py:5: "
    assert left[0].startswith(start) and "TO WRITE: more cases" in left[0]
    assert left[-1].endswith("what no edit makes is a function under @wrong")


@pytest.mark.parametrize(
    ("name", "chapter", "said"),
    [
        ("Mix-Heads", "training", "NAME: got 'Mix-Heads', expected a name such as"),
        ("", "training", "NAME: got '', expected a name such as split_heads"),
        ("patchify", "training", "NAME: patchify is taken"),
        ("tokens_at_384", "training", "NAME: tokens_at_384 is taken"),
        (
            "a_new_check",
            "trainings",
            "CHAPTER: got 'trainings', expected one of training",
        ),
    ],
)
def test_a_name_that_is_taken_or_no_name_is_refused(root, name, chapter, said):
    with pytest.raises(ValueError, match=said):
        make(name, chapter, root)
    assert not left_to_write(name, root)


def test_nothing_is_overwritten(root):
    make("a_new_check", "training", root)
    with pytest.raises(ValueError, match="NAME: a_new_check is taken"):
        make("a_new_check", "training", root)
