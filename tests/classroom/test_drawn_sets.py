"""Test that a seed draws a complete variant of a set, which is graded as it was drawn.

``python -m tests.classroom.variants`` does the same with as many seeds as are wanted.
"""

import re

import pytest
from nbgrader.utils import is_grade

import vit_check as check
from classroom.assessment.alike import is_alike
from classroom.grading.course import Course
from classroom.grading.grade import Refused, grade_class
from classroom.grading.intake import NoSubmissions, take_in
from classroom.release.assignment import Assignment
from classroom.release.release import SOURCES, released, text_of
from classroom.release.variant import seed_of, varied
from tests.classroom.bench.submissions import dump, solved
from tests.classroom.in_sandbox import QUICK, in_sandbox, table
from tests.classroom.small_exercises import write_source
from tests.classroom.variants import (
    NAMES,
    finding,
    places_not_found,
    run,
    source_of,
    wrong_questions,
)
from vit_check.chapters.questions import QUESTIONS
from vit_check.engine.variant import Variant

SEEDS = range(2027, 2032)

# Questions whose answer is the same in all variants: it is measured, follows for any
# numbers, or is about a thing that is not drawn.
ALIKE = {
    "accuracy_if_classes_count_alike",
    "argument_that_is_missing",
    "bfloat16_moves",
    "branch_that_is_lost",
    "branch_that_is_needed_most",
    "checkpoint_spacing_of_a_vit",
    "difference_beyond_luck",
    "findings_on_three_projects",
    "fused_attention_grows",
    "growth_of_fused_time",
    "heads_of_the_file",
    "least_hard_loss_with_one_token",
    "least_hard_loss_with_two_tokens",
    "left_edge_reads_from",
    "lonely_image",
    "macs_of_larger_patches",
    "map_that_costs_most",
    "map_that_scores_best",
    "nan_comparisons",
    "part_of_the_distance",
    "swiglu_times_as_many",
    "unseen_images_that_were_known",
    "vectors_touched_by_one_patch",
}


@pytest.fixture(autouse=True)
def _afterwards_the_books_own():
    yield
    check.variant(None)


@pytest.mark.parametrize("name", NAMES)
def test_every_place_of_a_table_is_in_its_set(name):
    assert not places_not_found(name), "the set has changed, and its table has not"


@pytest.mark.parametrize("seed", SEEDS)
def test_right_values_pass_and_each_slip_is_recognised(seed):
    assert not list(wrong_questions(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_published_values_do_not_pass(seed):
    check.variant(None)
    published = {
        asked.name: asked.expected()
        for asked in QUESTIONS.values()
        if asked.expected is not None
    }
    check.variant(seed)
    still = {
        name
        for name, value in published.items()
        if name in QUESTIONS and finding(QUESTIONS[name], value) is None
    }
    assert still == ALIKE


def test_checks_that_are_drawn_know_their_mistakes():
    published = {n: c.reference for n, c in check.CHECKS.items() if _is_function(c)}
    before = dict(check.CHECKS)
    check.variant(2027)
    drawn = {n: c for n, c in check.CHECKS.items() if c is not before[n]}
    assert set(drawn) == {
        "adamw_step",
        "attend_one_query",
        "attention_cost",
        "attention_rollout",
        "batch_shares",
        "block_macs",
        "linear_to_conv",
        "reorder_qkv",
    }
    for name, one in drawn.items():
        assert one.examine(one.reference, {}) is None
        for mistake in one.mistakes:
            assert one.examine(mistake.wrong, {}).sentence == mistake.sentence
        if name != "attention_cost":  # its numbers have names, so any order is right
            assert one.examine(published[name], {}) is not None


def _is_function(one):
    return hasattr(one, "reference")


@pytest.mark.parametrize("name", ["05_multi_head_attention", "12_scale"])
def test_the_solutions_pass(name):
    source = source_of(name)
    said = run(varied(source, name, 2027))
    assert said and not any(said.values()), said
    said = run(varied(source, name, 2027), answers=source)
    graded = {c.id: c for c in source.cells if is_grade(c) and c.cell_type == "code"}
    passed = {name for name, sentence in said.items() if sentence is None}
    assert passed == {name for name, cell in graded.items() if is_alike(cell)}


def test_without_a_seed_nothing_is_drawn():
    source = source_of("12_scale")
    assert varied(source, "12_scale", None) is source
    one, same, other = (
        text_of(released(varied(source, "12_scale", seed), solutions=False))
        for seed in (2027, 2027, 2028)
    )
    assert one == same != other
    assert "BEGIN SOLUTION" not in one and "-solution" not in one
    assert seed_of(one.encode()) == 2027
    assert seed_of(text_of(source).encode()) is None


def test_a_set_is_graded_as_the_seed_drew_it(tmp_path):
    """A set of another seed is left out, since its student may have chosen the seed."""
    path = SOURCES / "12_scale.ipynb"
    for student, seed in (("ada", 7), ("bob", 8), ("cy", None)):
        hand_in(tmp_path / "class" / student, Assignment(path, seed))
    found = take_in(tmp_path / "class", [Assignment(path, 7)], tmp_path / "kept")
    assert [one.student for one in found.submissions] == ["ada", "cy"]
    (sentence,) = found.left_out
    assert "SEED=8" in sentence
    with pytest.raises(NoSubmissions, match="SEED=7"):
        take_in(tmp_path / "class/ada", [Assignment(path)], tmp_path / "kept")


def hand_in(folder, assignment, cells=slice(None)):
    nb = released(assignment.source)
    nb.cells = nb.cells[cells]
    folder.mkdir(parents=True)
    (folder / assignment.path.name).write_text(text_of(nb), encoding="utf-8")


def test_each_of_two_variants_is_graded_as_its_own(tmp_path):
    """A notebook that has lost its seed belongs to the variant that it resembles."""
    path = SOURCES / "12_scale.ipynb"
    seven, eight = Assignment(path, 7), Assignment(path, 8)
    where = next(n for n, c in enumerate(seven.source.cells) if c.id == "variant")
    hand_in(tmp_path / "class" / "ada", seven)
    hand_in(tmp_path / "class" / "bob", eight)
    hand_in(tmp_path / "class" / "cy", eight, slice(where + 1, None))
    hand_in(tmp_path / "class" / "dee", Assignment(path, 9))
    found = take_in(tmp_path / "class", [seven, eight], tmp_path / "kept")
    assert [(one.student, one.seed) for one in found.submissions] == [
        ("ada", 7),
        ("bob", 8),
        ("cy", 8),
    ]
    (sentence,) = found.left_out
    assert 'SEED="7 8 9"' in sentence


@pytest.mark.slow
@in_sandbox
def test_two_variants_are_one_column_of_the_gradebook(tmp_path):
    """Each student's feedback has the questions of the student's own variant."""
    path = write_two(tmp_path)
    place = tmp_path / "class"
    out = tmp_path / "out"
    grade_class(place, out, [path], QUICK, progress=False, seeds=[7])
    with pytest.raises(Refused, match='SEED="7 8"'):
        grade_class(place, out, [path], QUICK, progress=False, seeds=[8])
    grade_class(place, out, [path], QUICK, progress=False, seeds=[7, 8])
    (head, *rows) = table(out / "marks.csv")
    seed, score = head.index("Seed"), head.index("Score")
    assert [(row[0], row[seed], row[score]) for row in rows] == [
        ("ada", "7", "12"),
        ("bob", "8", "12"),
    ]
    assert len(table(out / f"canvas-{path.stem}.csv")) == 4
    for student, number in (("ada", 7), ("bob", 8)):
        own = Course(out).source(path.stem, number).read_text("utf-8")
        assert f"check.variant({number})" in own
        page = Course(out).feedback(student, path.stem).read_text("utf-8")
        assert f"check.variant({number})" in re.sub("<[^>]+>", "", page)


def write_two(folder):
    """Write a small set, and the right answers of two students to two variants."""
    path = write_source(folder / "05_heads.ipynb")
    for student, seed in (("ada", 7), ("bob", 8)):
        one = Assignment(path, seed)
        (folder / "class" / student).mkdir(parents=True)
        (folder / "class" / student / path.name).write_bytes(dump(solved(one)))
    return path


def test_status_and_handed_out_know_the_variant(capsys):
    check.variant(2027)
    check.handed_out("in_the_sum", 12)
    own = capsys.readouterr().out
    check.variant(None)
    check.handed_out("in_the_sum", 12)
    assert "times_with_64" in capsys.readouterr().out
    assert "times_with_" in own and "# your code here" in own


TABLE = """n: 4 | 7 | 9
twice = 2 * n
if n > 7
word = {4: "four", 7: "seven", 9: "nine of them"}[n]

«n» tokens
«n * 1000:,» numbers
there are «word»¶  = «twice»
"""


def test_a_table_is_drawn():
    variant = Variant(TABLE, "any seed: 7 is not allowed")
    assert variant.today["twice"] == 8 and variant.drawn["twice"] == 18
    assert variant.text("4 tokens, 14 tokens") == "9 tokens, 14 tokens"
    assert variant.text("4,000\n  numbers") == "9,000\n  numbers"
    text = "there\n    are four\n  = 8"
    assert variant.text(text) == "there are nine of them\n  = 18"
    assert variant.found_in("4 tokens") == {"4 tokens"}


@pytest.mark.parametrize(
    "table, sentence",
    [
        ("n: 4 | 5\nif n > 5\n\n«n»", "allow no draw"),
        ("n: 4 | 5\n\n«n»\n4", "today another is the same"),
        ("n is 4\n\n", "'n is 4' is no quantity"),
        ("n: 4 | five\n\n", "'five' cannot be computed, NameError"),
    ],
)
def test_a_table_that_cannot_be_drawn(table, sentence):
    with pytest.raises(ValueError, match=sentence):
        Variant(table, "1")
