"""What is handed in is found, whoever names it how, and harms nobody."""

import io
import os
import re
import zipfile
from datetime import datetime
from pathlib import Path

import pytest

from classroom.grading.identity import safe_name
from classroom.grading.intake import NoSubmissions, take_in
from classroom.grading.limits import Limits
from classroom.grading.marks import cell
from classroom.release.assignment import Assignment
from tests.classroom.bench.adversaries import dump, solved
from tests.classroom.small_exercises import write_source

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


def zipped(path, files, method=zipfile.ZIP_DEFLATED):
    """A zip of names and bytes, as bytes where ``path`` is None."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(stream.getvalue())
    return stream.getvalue()


def unzipped(place, files):
    for name, data in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return place


@pytest.fixture(params=["folder", "zip"])
def export(request, tmp_path):
    """What makes a place to grade of names and bytes."""

    def make(files):
        if request.param == "folder":
            return unzipped(tmp_path / "export", files)
        zipped(tmp_path / "export.zip", files)
        return tmp_path / "export.zip"

    return make


ADA = "Ada Lovelace_500_assignsubmission_file_"
MALLORY = "Mallory M_501_assignsubmission_file_"


@pytest.mark.parametrize(
    "mine, theirs, lms_id",
    [
        (f"{ADA}/x.ipynb", f"{MALLORY}/{ADA}/x-99.ipynb", "501"),
        (f"{ADA}/x.ipynb", f"{MALLORY}/w.zip/{ADA}/x-99.ipynb", "501"),
        (f"{ADA}/x.ipynb", f"{MALLORY}/w.zip/../{ADA}/x.ipynb", "501"),
        (f"{ADA}/x.ipynb", f"{MALLORY}/lovelaceada_500_9_x-9.ipynb", "501"),
        (f"{ADA}x.ipynb", f"{MALLORY}_500_assignsubmission_file_x-9.ipynb", "501"),
        (f"{ADA}x.ipynb", f"{MALLORY}w.zip/{ADA}x-9.ipynb", "501"),
        (
            "lovelaceada_1000_90000_x.ipynb",
            "mallorym_1001_90001_w.zip/lovelaceada_1000_90000_x-99.ipynb",
            "1001",
        ),
        (
            "lovelaceada_1000_90000_x.ipynb",
            "mallorym_1001_90001_lovelaceada_1000_90000_x-99.ipynb",
            "1001",
        ),
        (
            "lovelaceada_1000_90000_x.ipynb",
            "mallorym_1001_90001_1000_assignsubmission_file_x.ipynb",
            "1001",
        ),
        ("ada/x.ipynb", "mallory/ada/x-99.ipynb", ""),
        ("ada.ipynb", f"mallory.zip/{ADA}/x-99.ipynb", ""),
    ],
)
def test_nobody_hands_in_for_another(mine, theirs, lms_id, exercises, tmp_path, export):
    """The outermost name decides, and order counts within one student alone."""
    good, bad = dump(solved(exercises)), dump(solved(exercises, 0))
    outer, archive, inner = theirs.partition(".zip/")
    theirs = {outer + ".zip": zipped(None, {inner: bad})} if archive else {outer: bad}
    found, left_out = names_of(export({mine: good} | theirs), exercises, tmp_path)
    attacker, ada = sorted(found.values(), key=lambda s: s.data == good)
    assert (ada.data, attacker.data) == (good, bad)
    assert ada.path == mine
    assert attacker.lms_id == lms_id
    assert attacker.name.lower().startswith("mallory")
    assert not ada.contested and not attacker.contested and not left_out


@pytest.mark.parametrize(
    "outer, name, lms_id",
    [
        ("Viktor O'Neil_513_assignsubmission_file_", "Viktor O'Neil", "513"),
        ("oneilviktor_1013_90013_homework", "oneilviktor", "1013"),
        ("viktor", "viktor", ""),
    ],
)
@pytest.mark.parametrize("inside", ["{}.zip/work.ipynb", "{}/week 5/work.ipynb"])
def test_a_zip_or_folder_keeps_the_identity_that_the_platform_gave(
    outer, name, lms_id, inside, exercises, tmp_path, export
):
    data = dump(solved(exercises))
    outer, archive, inner = inside.format(outer).partition(".zip/")
    files = {outer + ".zip": zipped(None, {inner: data})} if archive else {outer: data}
    found, left_out = names_of(export(files), exercises, tmp_path)
    (one,) = found.values()
    assert (one.name, one.lms_id, one.contested) == (name, lms_id, "")
    assert not left_out


@pytest.mark.parametrize(
    "one, other",
    [
        ("lovelaceada_1000_90000_x.ipynb", "kingada_1000_90001_x.ipynb"),
        (f"{ADA}/x.ipynb", "Ada King_500_assignsubmission_file_/x.ipynb"),
        # A name on Canvas in which the student has put Ada's numbers.
        (
            "lovelaceada_1000_90000_x.ipynb",
            "lovelaceada_1000_90000__1001_90001_x-99.ipynb",
        ),
        ("ada/x.ipynb", "ada.ipynb"),
        ("ada/x.ipynb", "Ada/x.ipynb"),
        ("ada.ipynb", "ADA.ipynb"),
        ("ada.ipynb", "05_heads_ada.ipynb"),
        ("ada.ipynb", "ada .ipynb"),
        ("andr\u00e9/x.ipynb", "andre\u0301/x.ipynb"),
        ("stra\u00dfe/x.ipynb", "STRASSE/x.ipynb"),
        ("ada_500.ipynb", f"ada{ADA[12:]}/x.ipynb"),
    ],
)
def test_two_claims_on_one_identity_are_a_question(
    one, other, exercises, tmp_path, export
):
    files = {one: dump(solved(exercises)), other: dump(solved(exercises, 1))}
    place = export({**files, "carl.ipynb": dump(solved(exercises, 2))})
    found, left_out = names_of(place, exercises, tmp_path)
    assert len({student.casefold() for student in found}) == 3
    assert {s.data for s in found.values() if s.contested} == set(files.values())
    for submission in found.values():
        for path in files if submission.contested else []:
            assert path.removesuffix("/x.ipynb") in submission.contested
    assert not left_out


def test_an_archive_beside_its_folder_is_a_question(exercises, tmp_path):
    place = unzipped(tmp_path / "in", {"ada/x.ipynb": dump(solved(exercises))})
    zipped(place / "ada.zip", {"x.ipynb": dump(solved(exercises, 1))})
    found, _ = names_of(place, exercises, tmp_path)
    assert len(found) == 2
    assert all("ada.zip" in submission.contested for submission in found.values())


def test_many_claims_are_named_in_one_sentence(exercises, tmp_path):
    names = ["ada.ipynb", "Ada.ipynb", "ADA.ipynb", "aDa.ipynb", "adA.ipynb"]
    data = {name: dump(solved(exercises)) for name in names}
    found, _ = names_of(unzipped(tmp_path / "in", data), exercises, tmp_path)
    assert len(found) == 5
    assert all("and 2 more claim" in one.contested for one in found.values())


def test_one_students_attachments_are_not_a_question(exercises, tmp_path, export):
    names = ["a_LATE_7_90_x.ipynb", "a_LATE_7_91_2024_10.ipynb", "a_LATE_7_92_x-1.zip"]
    data = [dump(solved(exercises, tasks)) for tasks in range(3)]
    files = {names[0]: data[0], names[1]: data[1]}
    files[names[2]] = zipped(None, {"old.ipynb": data[2]})
    found, left_out = names_of(export(files), exercises, tmp_path)
    assert list(found) == ["a_7"]
    assert found["a_7"].data == data[2]
    assert found["a_7"].late and not found["a_7"].contested
    assert len(left_out) == 2


def test_a_student_may_have_files_of_several_sets(exercises, tmp_path):
    path = write_source(tmp_path / "06_others.ipynb")
    text = path.read_text(encoding="utf-8")
    for word in ("Heads", "Split", "Task", "Question", "split", "merge", "token"):
        text = text.replace(word, f"{word}other")
    path.write_text(text, encoding="utf-8")
    other = Assignment(path)
    place = unzipped(
        tmp_path / "in",
        {
            "05_heads_ada.ipynb": dump(solved(exercises)),
            "ada_06_others.ipynb": dump(solved(other)),
        },
    )
    taken = take_in(place, [exercises, other], tmp_path / "kept")
    assert [(s.student, s.assignment) for s in taken.submissions] == [
        ("ada", "05_heads"),
        ("ada", "06_others"),
    ]
    assert not any(submission.contested for submission in taken.submissions)


@pytest.mark.parametrize(
    "inside",
    [
        "{}/{}/x.ipynb",
        "{}/{}.ipynb",
        "{}/{}.zip",
        "{}/{}_500_assignsubmission_file_/x.ipynb",
    ],
)
def test_whether_one_folder_is_a_class_is_asked(inside, exercises, tmp_path, export):
    """A student alone in the export could have made these."""
    files = {}
    for number, name in enumerate(("ada", "bob")):
        data = dump(solved(exercises, number))
        path = inside.format("week 1", name)
        files[path] = data if path.endswith("b") else zipped(None, {"x.ipynb": data})
    place = export({**files, "readme.txt": b""})
    with pytest.raises(NoSubmissions, match="week 1") as caught:
        names_of(place, exercises, tmp_path)
    said = str(caught.value)
    students = [
        {s.name for s in take_in(place, [exercises], tmp_path / "k", given).submissions}
        for given in re.findall("--pattern '(.*?)'", said)
    ]
    assert students[-1] == {"week 1"}
    if place.is_dir():
        (inner,) = re.findall("SUBMISSIONS='(.*?)'", said)
        found, _ = names_of(Path(inner), exercises, tmp_path)
        assert len(found) == 2
    else:
        assert len(students[0]) == 2


@pytest.mark.parametrize("inside", ["ada", ADA])
def test_the_folder_in_a_zip_of_its_name_is_no_student(inside, exercises, tmp_path):
    files = {
        f"export/{inside}/x.ipynb": dump(solved(exercises)),
        "export/bob/x.ipynb": dump(solved(exercises, 1)),
        "__MACOSX/export/._x.ipynb": b"",
    }
    zipped(tmp_path / "export.zip", files)
    found, left_out = names_of(tmp_path / "export.zip", exercises, tmp_path)
    assert {s.name for s in found.values()} == {inside.split("_")[0], "bob"}
    assert not left_out


def test_a_platforms_folder_is_never_a_class(exercises, tmp_path, export):
    """Not even where it is alone, and the zip has its name."""
    files = {
        f"{MALLORY}/ada/x.ipynb": dump(solved(exercises)),
        f"{MALLORY}/bob/x.ipynb": dump(solved(exercises, 1)),
    }
    place = export(files)
    if place.is_file():
        place = place.rename(tmp_path / f"{MALLORY}.zip")
    found, left_out = names_of(place, exercises, tmp_path)
    assert [s.lms_id for s in found.values()] == ["501"]
    assert len(left_out) == 1


def test_the_users_pattern_decides_alone(exercises, tmp_path, export):
    files = {
        "group a/s17 - Ada/x.ipynb": dump(solved(exercises)),
        "group a/s18 - Bob.ipynb": dump(solved(exercises, 1)),
        "group a/s18 - Bob.zip": zipped(None, {"s19 - Eve.ipynb": b""}),
        "lovelaceada_500_9_x.ipynb": dump(solved(exercises, 2)),
    }
    place = export(files)
    pattern = r"group \w/(?P<id>s\d+) - (?P<name>\w+)"
    taken = take_in(place, [exercises], tmp_path / "kept", pattern)
    found = {s.student: (s.name, s.lms_id) for s in taken.submissions}
    assert found == {"Ada_s17": ("Ada", "s17"), "Bob_s18": ("Bob", "s18")}
    assert [s for s in taken.left_out if "lovelaceada" in s and "--pattern" in s]
    taken = take_in(place, [exercises], tmp_path / "kept", r".*/(?P<id>s\d+)")
    assert {s.name for s in taken.submissions} == {"s17", "s18"}


@pytest.mark.parametrize("pattern, words", [("(", "regular"), (".*", "no group")])
def test_a_pattern_that_names_nobody_is_refused(pattern, words, exercises, tmp_path):
    (tmp_path / "ada.ipynb").write_bytes(dump(solved(exercises)))
    with pytest.raises(NoSubmissions, match=words):
        take_in(tmp_path, [exercises], tmp_path / "kept", pattern)


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
