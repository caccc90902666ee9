"""Test that the report names students and reasons, once each, briefly and safely."""

import re

import pytest
from bs4 import BeautifulSoup

from classroom.grading import report
from classroom.grading.course import Course
from classroom.grading.report import LINES, LONGEST, write_report
from classroom.grading.result import Result
from classroom.grading.versions import INSTEAD


def result(student, name, lms_id="", submission="", **about):
    submission = submission or student
    base = (student, name, lms_id, "05_heads", f"{student}.ipynb", False)
    return Result(*base, submission, "source", **about)


@pytest.fixture
def read(tmp_path):
    def read(results, left_out=(), plain=()):
        write_report(Course(tmp_path), results, list(left_out), list(plain))
        return BeautifulSoup(
            (tmp_path / "oddities.html").read_text("utf-8"), "html.parser"
        )

    return read


def section(soup, title):
    """Return the words between a title and the next one, or None."""
    found = soup.find("h2", string=re.compile(rf"^{re.escape(title)}(: \d+)?$"))
    if found is None:
        return None
    words = []
    tags = found.parent.find_next_siblings() if found.parent.name == "summary" else []
    for tag in tags or found.find_next_siblings():
        if tag.name in ("h2", "details"):
            break
        words.append(" ".join(tag.get_text(" ").split()))
    return words


def test_everybody_has_a_name_a_number_and_a_key(read):
    ada = result("ada_500", "Ada Lovelace", "500", odd=["Cell 3 calls eval."])
    soup = read([ada])
    assert section(soup, "Unusual code")[1:] == [
        "Ada Lovelace 500, ada_500, 05_heads",
        "Cell 3 calls eval.",
    ]


def test_decisions_for_a_person_come_first(read):
    results = [
        result("a", "A", status="unfinished", sentence="It ended twice."),
        result("b", "B", contested="x and y claim to be the same student's."),
        result("c", "C", status="unreadable", sentence="The file is empty."),
        result("d", "D", tampered=["test: a locked cell was changed."]),
        result("e", "E", odd=["Cell 1 calls eval."]),
        result("f", "F", again="The machine was too busy."),
        result("g", "G", changes=["2 cells had lost their names."]),
    ]
    left_out = ["x.pdf: not a notebook.", f"a.ipynb: b.ipynb {INSTEAD} later."]
    soup = read(results, left_out, [results[4]])
    titles = [title.get_text() for title in soup.find_all("h2")]
    assert titles == [
        *("Needs a person", "Whose is it?", "Could not be read"),
        *("Changed what is locked", "Unusual code", "Not graded"),
        *("Run again by itself: 1", "Feedback without the notebook: 1"),
        *("Other attempts: 1", "Put right without harm: 1"),
    ]
    folded = [title.get_text() for title in soup.select("details h2")]
    assert folded == [title.get_text() for title in soup.find_all("h2")[6:]]
    for title, words in {
        "Whose is it?": "x and y claim to be the same student's.",
        "Run again by itself": "The machine was too busy.",
        "Feedback without the notebook": "E e, 05_heads",
        "Not graded": "x.pdf: not a notebook.",
        "Other attempts": left_out[1],
    }.items():
        meaning, *rest = section(soup, title)
        assert len(meaning.split()) > 5
        assert words in rest


def test_those_with_the_same_file_are_one_line(read):
    text = "Attention compares every query with every key. " * 5
    names = ("Ada", "Bob", "Cleo")
    results = [result(n.lower(), n, submission="1", text=text) for n in names]
    results.append(result("eve", "Eve", "7", text=text.replace("every", "each", 1)))
    _, *lines = section(read(results), "The same work")
    assert lines == [
        "05_heads: Ada (ada), Bob (bob) and Cleo (cleo): the same file.",
        "05_heads: Ada (ada) and Eve (7): text 98 % the same.",
    ]


def test_a_large_group_is_cut_with_a_word_about_it(read, monkeypatch):
    monkeypatch.setattr(report, "PEOPLE", 3)
    results = [
        result(f"s{n}", f"S{n}", submission="1", text="They mix.") for n in range(10)
    ]
    _, line = section(read(results), "The same work")
    assert line == "05_heads: S0 (s0), S1 (s1), S2 (s2) and 7 more: the same file."


def test_one_student_does_not_fill_the_report(read):
    long = ["\u202e" * 10 * LONGEST] * 1000
    eve = result("eve", "Eve", odd=long, tampered=long, changes=long)
    ada = result("ada", "Ada", odd=["Cell 3 calls eval."])
    soup = read([eve, ada])
    assert len(str(soup)) < 3 * (LINES + 1) * (6 * LONGEST + 100) + 5000
    text = soup.get_text()
    assert f"{1000 - LINES} more." in text
    assert "Cell 3 calls eval." in text


def test_nothing_that_came_from_outside_is_markup(read):
    bad = "<img src=x onerror=alert(1)>\u202e"
    soup = read(
        [
            result(bad, bad, bad, odd=[bad], submission="1", contested=bad),
            result("b", bad, submission="1", status="unreadable", sentence=bad),
        ],
        [bad],
    )
    assert not soup.find_all(["img", "script"])
    assert "\u202e" not in str(soup)
    assert r"<img src=x onerror=alert(1)>\u202e" in soup.get_text()
    policy = soup.find("meta", {"http-equiv": "Content-Security-Policy"})
    assert policy["content"].startswith("default-src 'none'")


def test_a_report_without_oddities_contains_nothing(read):
    soup = read([result("ada", "Ada")])
    assert soup.find("h2") is None
    assert "Nothing." in soup.get_text()


def test_untouched_handouts_are_not_copies(read):
    soup = read([result(name, name, submission="1") for name in "ab"])
    assert soup.find("h2") is None
