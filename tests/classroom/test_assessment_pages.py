"""Test the pages on assessment: points, the project's brief, and assistants."""

import re
from itertools import pairwise

import pytest
import torch

from classroom.assessment import points
from classroom.assessment.paper import project_page
from classroom.assessment.written import assignments, written
from tests.conftest import ROOT
from vit_steps import MultiHeadAttention


def page(name):
    return (ROOT / "book" / f"{name}.md").read_text(encoding="utf-8")


def rows(text, columns):
    """Return the cells of those table rows that have this number of columns."""
    lines = [
        line.strip("|").split("|") for line in text.splitlines() if line[:1] == "|"
    ]
    return [[cell.strip() for cell in line] for line in lines if len(line) == columns]


def test_the_table_of_points_is_that_of_the_sets():
    assert points.rewritten() == page("assessment"), "run make exercises"


def test_the_points_are_those_that_the_grader_gives():
    table = {row[0].split(".")[0]: row for row in rows(page("assessment"), 8)}
    for assignment in assignments():
        assert float(table[str(int(assignment.name[:2]))][3]) == sum(
            assignment.points.values()
        )


@pytest.mark.parametrize(
    "numbers", [[1, 1, 1], [105, 110, 90], [1], [3, 3, 3, 3, 3, 3]]
)
def test_weights_add_up(numbers):
    shares = points.per_cents(numbers)
    assert sum(shares) == 100
    exact = [100 * number / sum(numbers) for number in numbers]
    assert all(abs(a - b) < 1 for a, b in zip(shares, exact, strict=True))


def test_a_page_without_the_table_is_refused(tmp_path):
    (tmp_path / "page.md").write_text("nothing")
    with pytest.raises(ValueError, match="no table between"):
        points.rewritten(tmp_path / "page.md")


def test_the_proposal_adds_up():
    (proposal,) = re.findall(r"Here is a proposal .*", page("assessment"))
    sets, whole, *others = map(int, re.findall(r"\d+", proposal))
    assert len(others) == 4 and sets + sum(others) == whole == 100
    questions = [row for row in rows(page("assistants"), 3) if row[0].startswith('"')]
    assert "Each brings 0, 1 or 2 points." in page("assistants")
    assert len(questions) * 2 == others[2], "points for three minutes about a bug"


def test_the_projects_points_add_up():
    criteria = [row for row in rows(page("project"), 5) if row[0].startswith("**")]
    assert len(criteria) == 7
    best = 3 * len(criteria)
    assert f"There are {best} points for each student, {best - 3} of them" in page(
        "project"
    )


def test_the_project_is_staffed():
    students, groups, examiners = 60, 20, 3
    marking, asking = groups * 30 / 60, students * 4 / 60
    each = (marking + asking) / examiners
    assert (marking, asking) == (10, 4) and abs(each - (4 + 40 / 60)) < 1e-9
    assert students / examiners * 4 <= 90
    for said in ("ten hours in all", "four hours in all", "forty minutes each"):
        assert said in page("project")


def test_the_projects_days_follow_one_another():
    days = [
        [int(day) for day in re.findall(r"\d+", first)]
        for first, _ in rows(page("project"), 2)[2:]
    ]
    ends = [span[-1] for span in days]
    assert [span[0] for span in days] == [1, *(end + 1 for end in ends[:-1])]
    assert ends[-1] == 14


def test_what_one_test_image_is_worth():
    test = 4 * 40 // 5
    assert test == 32 and test // 4 == 8 and 3 < 100 / test < 3.5
    assert "eight test images of a class" in page("project")
    assert "a good 3 % of the test set's 32" in page("project")


def test_the_handout_has_the_brief_and_nothing_for_the_teacher():
    handout = project_page()
    assert "Number to beat" in handout and "Three minutes" in handout
    assert "For the teacher" not in handout and "](" not in handout
    assert "Time on machines" not in handout


def test_the_lesson_has_ninety_minutes():
    spans = [
        tuple(map(int, first.split("–")))
        for first, _ in rows(page("assistants"), 2)
        if re.fullmatch(r"\d+–\d+", first)
    ]
    assert spans[0][0] == 0 and spans[-1][1] == 90
    assert all(a[1] == b[0] for a, b in pairwise(spans))


def test_the_code_on_the_page_does_what_the_page_says(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", page("assistants"), re.DOTALL)
    names = {}
    torch.manual_seed(0)
    exec(code, names)
    said = [line.split() for line in capsys.readouterr().out.splitlines()]
    verdicts = {(test, kind): verdict for test, kind, verdict in said}
    assert len(verdicts) == 6
    kinds = ("MultiHeadAttention", "Bare", "Columns")
    assert [verdicts["shape_stays", kind] for kind in kinds] == ["passes"] * 3
    shuffled = "shuffled_tokens_give_shuffled_outputs"
    assert [verdicts[shuffled, kind] for kind in kinds] == ["passes", "fails", "passes"]

    def equal_values_come_back(layer):
        with torch.no_grad():
            layer.qkv.weight[2 * 32 :] = 0
            layer.qkv.bias[2 * 32 :] = 1.0
            tokens = layer(torch.randn(2, 17, 32))[0]
        return torch.allclose(tokens, tokens[:, :1].expand_as(tokens), atol=1e-5)

    assert equal_values_come_back(MultiHeadAttention(32, 4))
    assert not equal_values_come_back(names["Columns"](32, 4))


def test_half_points_are_where_the_page_says():
    halves = [a.number for a in written() if "half a point" in " ".join(a.lines)]
    assert halves == [7] and "(Only one line, in set 7," in page("assessment")


def test_how_much_a_variant_leaves_alone():
    sums = next(row for row in rows(page("assessment"), 8) if row[0] == "all")
    assert "about two thirds of all" in page("assessment")
    assert 0.63 < int(sums[5]) / int(sums[3]) < 0.70
