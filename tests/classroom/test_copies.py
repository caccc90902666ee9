"""Test that copies are found, each once, and that merely similar work is not."""

import re

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from classroom.grading.copies import Copies, Work, copies, own_work, published_work
from classroom.grading.course import Course
from classroom.grading.report import write_report
from classroom.grading.result import Result
from classroom.release.assignment import Assignment
from classroom.release.release import SOURCES

TEXT = "Attention compares every query with every key. " * 5
OTHER = "Position embeddings tell the model where a patch was in the image. " * 4
CODE = "def f(v):\n    v = v.reshape(1, 2, 3).transpose(1, 2)\n    return v\n" * 9


def test_near_copies_are_found():
    everyone = [
        Work("ada", "1", "", TEXT),
        Work("bob", "2", "", TEXT.replace("every", "each", 1)),
        Work("eve", "3", "", OTHER),
    ]
    (found,) = copies(everyone)
    assert found.students == ("ada", "bob")
    assert found.what.startswith("text 9")


def test_students_with_the_same_file_are_named_once():
    everyone = [
        *(Work(name, "1", CODE, TEXT) for name in ("ada", "bob", "cleo")),
        Work("eve", "2", CODE.replace("3", "4", 1), OTHER),
    ]
    same, nearly = copies(everyone)
    assert same == Copies(("ada", "bob", "cleo"), "the same file")
    assert nearly.students == ("ada", "eve")
    assert nearly.what.startswith("code 9")


def test_pairs_that_hang_together_are_one_group():
    steps = [TEXT]
    for word in ("query", "key", "compares", "with"):
        steps.append(steps[-1].replace(word, word.upper(), 2))
    everyone = [Work(f"s{n}", f"{n}", CODE, text) for n, text in enumerate(steps)]
    (found,) = copies([*everyone, Work("eve", "e", "", OTHER)])
    assert found.students == ("s0", "s1", "s2", "s3", "s4")
    assert found.what.startswith("the same code, text ")


def test_two_groups_that_a_third_joins_are_one():
    ends = [TEXT, TEXT.replace("every", "EVERY", 4)]
    middle = TEXT.replace("every", "EVERY", 2)
    everyone = [Work(f"s{n}", f"{n}", "", t) for n, t in enumerate([*ends, middle])]
    (found,) = copies(everyone)
    assert found.students == ("s0", "s1", "s2")


def test_the_published_solutions_are_compared_too(tmp_path):
    assignment = Assignment(SOURCES / "05_multi_head_attention.ipynb", 2027)
    book, own = published_work(assignment)
    assert (book.student, own.student) == (
        "the published solution",
        "the solution of SEED=2027",
    )
    assert "def split_heads" in book.code and "SOLUTION" not in book.code
    assert book.code != own.code and "Faulty" not in book.code
    results = []
    for student, code in (("ada", book.code), ("bob", CODE)):
        about = (student, student, "", assignment.name, f"{student}.ipynb")
        results.append(Result(*about, False, student, "", code=code, seed=2027))
    write_report(Course(tmp_path), results, [], [], [assignment])
    said = (tmp_path / "oddities.html").read_text("utf-8")
    assert re.search(r"ada \(ada\).*the published solution.*: .*code", said)
    assert "bob" not in said


def test_short_or_empty_work_is_not_compared():
    short = [Work(name, name, "v = 1", "Yes.") for name in ("ada", "bob")]
    assert not copies(short)
    assert not copies([])


def test_renaming_and_comments_do_not_hide_a_copy():
    given = "# Heads\n\nSplit the embedding."

    def notebook(name):
        function = f"def split({name}):\n    # {name}\n    return {name}.mT"
        cells = [new_code_cell(function), new_markdown_cell(given)]
        return new_notebook(cells=[*cells, new_markdown_cell("They  mix.")])

    release = new_notebook(cells=[new_markdown_cell(given)])
    mine, copied = (own_work(notebook(name), release) for name in ("x", "tokens"))
    assert mine == copied
    assert mine[1] == "They mix."


def test_code_that_takes_too_long_to_read_is_not_compared():
    nb = new_notebook(cells=[new_code_cell("%a\n" * 5000), new_code_cell("x = 1")])
    assert own_work(nb, new_notebook())[0].strip() == "v = 1"
