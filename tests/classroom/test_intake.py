"""What is handed in is found, whoever names it how, and harms nobody."""

import os
import zipfile
from datetime import datetime

import pytest

from classroom.grading.intake import NoSubmissions, safe_name, take_in
from classroom.grading.limits import Limits
from classroom.grading.marks import cell
from tests.classroom.bench.adversaries import dump, solved

pytestmark = pytest.mark.skipif(os.name == "nt", reason="grading needs Linux")


SMALL = Limits(notebook=2**20)


def names_of(place, exercises, tmp_path):
    taken = take_in(place, [exercises], tmp_path / "kept", limits=SMALL)
    return {s.student: s for s in taken.submissions}, taken.left_out


@pytest.mark.parametrize(
    "path, student, lms_id",
    [
        ("Ada Lovelace_123_assignsubmission_file_/05_heads.ipynb", "Ada", "123"),
        ("Ada Lovelace_123_assignsubmission_file_05_heads.ipynb", "Ada", "123"),
        ("lovelaceada_123_456_05_heads.ipynb", "lovelaceada_123", "123"),
        ("lovelaceada_LATE_123_456_05_heads-2.ipynb", "lovelaceada_123", "123"),
        ("ada/05_heads.ipynb", "ada", ""),
        ("ada.ipynb", "ada", ""),
        ("05_heads_ada.ipynb", "ada", ""),
        ("ada/05_heads.ipynb.txt", "ada", ""),
        ("../../ada/05_heads.ipynb", "ada", ""),
        ("/etc/05_heads.ipynb", "etc", ""),
    ],
)
def test_names_as_platforms_export_them(path, student, lms_id, exercises, tmp_path):
    place = tmp_path / "export.zip"
    with zipfile.ZipFile(place, "w") as archive:
        archive.writestr(path, dump(solved(exercises)))
        archive.writestr("__MACOSX/._x.ipynb", b"")
        archive.writestr("notes.txt", b"")
    found, left_out = names_of(place, exercises, tmp_path)
    (name,) = found
    assert name.startswith(student)
    assert found[name].lms_id == lms_id
    assert found[name].late == ("LATE" in path)
    assert left_out == ["notes.txt: not a notebook."]
    assert sorted(os.listdir(tmp_path)) == ["export.zip", "kept"]


def test_one_folder_around_all_is_left_out(exercises, tmp_path):
    for name in ("ada", "grace"):
        (tmp_path / "in" / "week 1" / name).mkdir(parents=True)
        data = dump(solved(exercises, len(name) % 3))
        (tmp_path / "in" / "week 1" / name / "05_heads.ipynb").write_bytes(data)
    found, _ = names_of(tmp_path / "in", exercises, tmp_path)
    assert set(found) == {"ada", "grace"}


def test_the_last_attempt_counts(exercises, tmp_path):
    place = tmp_path / "in"
    place.mkdir()
    for turn, tasks in (("", 0), ("-1", 1), ("-10", 3), ("-2", 2)):
        path = place / f"ada_7_{9 + len(turn)}_work{turn}.ipynb"
        path.write_bytes(dump(solved(exercises, tasks)))
    found, left_out = names_of(place, exercises, tmp_path)
    assert found["ada_7"].path.endswith("-10.ipynb")
    assert len(left_out) == 3


@pytest.mark.parametrize(
    "date, counts",
    [
        ((2001, 12, 31, 23, 59, 58), "file"),
        ((2031, 1, 1, 0, 0, 0), "zip"),
        ((1980, 0, 0, 0, 0, 0), "file"),  # as some programs write: no day at all
    ],
)
def test_files_and_zips_tell_time_by_one_clock(date, counts, exercises, tmp_path):
    """The newer of two counts, whichever of them lies in a zip."""
    place = tmp_path / "in"
    for name in ("ada", "bob"):
        (place / name).mkdir(parents=True)
        (place / name / "05_heads.ipynb").write_bytes(dump(solved(exercises, 2)))
    with zipfile.ZipFile(place / "ada" / "work.zip", "w") as archive:
        entry = zipfile.ZipInfo("05_heads.ipynb", date)
        archive.writestr(entry, dump(solved(exercises, 1)))
    written = datetime(2026, 1, 1).timestamp()
    os.utime(place / "ada" / "05_heads.ipynb", (written, written))
    found, left_out = names_of(place, exercises, tmp_path)
    names = {"file": "ada/05_heads.ipynb", "zip": "ada/work/05_heads.ipynb"}
    assert found["ada"].path == names[counts]
    assert "by the same student and later" in left_out[0]


def test_odd_files_harm_nobody(exercises, tmp_path):
    place = tmp_path / "in"
    place.mkdir()
    (place / "good.ipynb").write_bytes(dump(solved(exercises)))
    (tmp_path / "secret.ipynb").write_bytes(dump(solved(exercises)))
    (place / "link.ipynb").symlink_to(tmp_path / "secret.ipynb")
    (place / "loop").symlink_to(place)
    os.mkfifo(place / "pipe.ipynb")
    (place / "archive.zip").write_bytes(b"PK not really")
    with zipfile.ZipFile(place / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(3):
            archive.writestr(f"{number}.ipynb", bytes(3 * 2**20))
    found, left_out = names_of(place, exercises, tmp_path)
    assert "good" in found
    assert not [name for name in found if "link" in name or "pipe" in name]
    assert any("link.ipynb" in sentence for sentence in left_out)
    sizes = [path.stat().st_size for path in (tmp_path / "kept").iterdir()]
    assert max(sizes) <= SMALL.notebook + 1


def test_nothing_to_grade_is_said(exercises, tmp_path):
    with pytest.raises(NoSubmissions, match="No notebook"):
        take_in(tmp_path, [exercises], tmp_path / "kept")
    with pytest.raises(NoSubmissions, match="neither"):
        take_in(tmp_path / "missing", [exercises], tmp_path / "kept")


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd", "a/b", "=cmd()", "né\nw", "", "..", "x" * 500, "\ud800"],
)
def test_names_are_safe_in_paths(name):
    safe = safe_name(name)
    assert safe not in ("", ".", "..")
    assert not set("/\\\n\0=") & set(safe)
    assert len(safe.encode()) < 200
    assert safe_name(name + "!") != safe


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1", " =1"])
def test_no_spreadsheet_runs_a_name(text):
    assert cell(text).startswith("'")
    assert "\n" not in cell(text + "\n")
