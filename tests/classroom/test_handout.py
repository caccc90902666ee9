"""Test that a handout stands alone, and is graded like the set it was made from."""

import shutil
import subprocess

import nbformat
import pytest

from classroom.grading.copies import own_work
from classroom.grading.oddities import odd_source
from classroom.grading.restore import read, restore
from classroom.release import handout
from classroom.release.__main__ import main
from classroom.release.assignment import Assignment
from classroom.release.handout import archive, as_published, handed_out
from classroom.release.release import SOURCES, released, text_of
from tests.conftest import ROOT

NAMES = sorted(path.stem for path in SOURCES.glob("*.ipynb"))
COMMIT = "0123abc" * 5 + "01234"


def handout_of(name, seed=None):
    release = released(Assignment(SOURCES / f"{name}.ipynb", seed).source, False)
    return release, handed_out(release, COMMIT)


@pytest.mark.parametrize("name", NAMES)
def test_it_has_no_way_to_the_solutions(name):
    _, nb = handout_of(name)
    text = text_of(nb)
    assert "blob/main" not in text and "<summary>Solution" not in text
    assert "../" not in "".join(c.source for c in nb.cells if c.cell_type != "code")
    assert f"{handout.PAGES}/{name}.html" in text  # its chapter
    first = next(cell for cell in nb.cells if cell.cell_type == "code")
    assert f'source = "{archive(COMMIT)}"' in first.source


@pytest.mark.parametrize("name", NAMES)
def test_the_grader_reads_it_as_the_books_own_set(name):
    release, nb = handout_of(name)
    own = [cell.source for cell in release.cells if cell.id != "badges"]
    assert [as_published(cell.source) for cell in nb.cells] == own


@pytest.mark.parametrize("seed", [None, 2027])
def test_nothing_in_it_is_taken_for_the_students(seed):
    assignment = Assignment(SOURCES / "05_multi_head_attention.ipynb", seed)
    _, nb = handout_of(assignment.name, seed)
    restored = restore(read(text_of(nb).encode()), assignment.release)
    assert not restored.changes and not restored.tampered
    assert not odd_source(restored.nb, assignment.source)
    assert own_work(restored.nb, assignment.release) == ("", "")


def test_the_command_says_what_to_install(tmp_path, monkeypatch, capsys):
    source = SOURCES / "12_scale.ipynb"
    for commit, online, words in (
        (COMMIT, True, f"{archive(COMMIT)}#subdirectory=book/distribution"),
        (COMMIT, False, "Push first: 0123abc0 is not online yet"),
        ("", False, "installs\nthe newest version"),
    ):
        release = "classroom.release.__main__"
        monkeypatch.setattr(f"{release}.commit_of_this_copy", lambda c=commit: c)
        monkeypatch.setattr(f"{release}.is_published", lambda _, o=online: o)
        main(["--without-solutions", "--out", str(tmp_path), str(source)])
        said = capsys.readouterr().out
        assert words in said and ("Push first" in said) == (bool(commit) > online)
        nb = nbformat.read(tmp_path / source.name, as_version=4)
        first = next(cell for cell in nb.cells if cell.cell_type == "code")
        assert (archive(COMMIT) in first.source) == bool(commit)
    main(["--seed", "7", "--out", str(tmp_path / "7"), str(source)])
    assert "solutions in it is for you alone" in capsys.readouterr().out
    assert (tmp_path / "7" / "solutions" / source.name).exists()


def test_a_download_knows_its_commit(tmp_path, monkeypatch):
    """GitHub makes its zips with ``git archive``."""
    if not shutil.which("git") or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    assert len(handout.commit_of_this_copy()) == 40
    path = "classroom/release/commit.txt"
    assert (
        "export-subst"
        in subprocess.run(
            ["git", "check-attr", "-a", path], cwd=ROOT, capture_output=True, text=True
        ).stdout
    )
    written = tmp_path / "commit.txt"
    written.write_text(f"{COMMIT}\n")
    monkeypatch.setattr(handout, "COMMIT", written)
    assert handout.commit_of_this_copy() == COMMIT
    assert handout.is_published(COMMIT)
    written.write_text("$Format:%H$\n")  # neither a clone nor a download
    assert handout.commit_of_this_copy() == ""
