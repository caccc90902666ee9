"""Test that every submission is found, whatever its name, and that none does harm."""

import io
import json
import os
import random
import re
import struct
import tracemalloc
import zipfile
from argparse import ArgumentTypeError
from datetime import datetime
from pathlib import Path

import nbformat
import pytest

from classroom.grading.course import Course
from classroom.grading.gradebook import Mark
from classroom.grading.identity import Claim, crowded, label, safe_name
from classroom.grading.intake import NoSubmissions, take_in
from classroom.grading.limits import Limits
from classroom.grading.marks import cell, read_class_list, write_marks
from classroom.grading.result import Result
from classroom.release.assignment import Assignment, likeness
from tests.classroom.bench.submissions import dump, solved
from tests.classroom.in_sandbox import table
from tests.classroom.small_exercises import write_source

pytestmark = pytest.mark.skipif(os.name == "nt", reason="grading needs Linux")


SMALL = Limits(notebook=2**20)


def names_of(place, exercises, tmp_path):
    taken = take_in(place, [exercises], tmp_path / "kept", limits=SMALL)
    return {s.student: s for s in taken.submissions}, taken.left_out


BRIGHT = "500-9 - Ada Lovelace - Sep 24, 2024 926 PM"
BLACK = "Set 5_ada1815_attempt_2024-09-24-21-26-05"


@pytest.mark.parametrize(
    "path, student, lms_id",
    [
        ("Ada Lovelace_123_assignsubmission_file_/05_heads.ipynb", "Ada", "123"),
        ("Ada Lovelace_123_assignsubmission_file_05_heads.ipynb", "Ada", "123"),
        ("lovelaceada_123_456_05_heads.ipynb", "lovelaceada_123", "123"),
        ("lovelaceada_LATE_123_456_05_heads-2.ipynb", "lovelaceada_123", "123"),
        ("love_lace_LATE_123_456_05_heads.ipynb", "love_lace_123", "123"),
        ("ada_1815_x_123_456_05_heads.ipynb", "ada_1815_x_123", "123"),
        ("_123_456_05_heads.ipynb", "_123", "123"),
        ("anon_x7Yz2_456_05_heads.ipynb", "anon_x7Yz2", ""),
        ("LATE_anon_x7Yz2_456_05_heads-1.ipynb", "anon_x7Yz2", ""),
        ("Ada Lovelace_123_assignsubmission_file_7_890_x.ipynb", "Ada", "123"),
        (f"{BRIGHT}/05_heads.ipynb", "Ada", "500"),
        (f"{BRIGHT} - 05_heads.ipynb", "Ada", "500"),
        ("500-9 - Ada L- Sept 4, 2024 926 PM - ada_1_900_x.ipynb", "Ada", "500"),
        (f"{BLACK}_05_heads.ipynb", "ada1815", ""),
        ("Ada_s set_ada1815_poging_2024-09-24-21-26-05_x.ipynb", "ada1815", ""),
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
    """Return a zip of names and bytes, and write it unless ``path`` is None."""
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
    """A function that makes a folder or zip to grade from names and bytes."""

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
        (f"{ADA}x.ipynb", f"{MALLORY}ada_500_90000_x-9.ipynb", "501"),
        ("anon_x7Yz2_900_x.ipynb", "anon_mallo_901_anon_x7Yz2_900_x-9.ipynb", ""),
        (
            "love_lace_1000_90000_x.ipynb",
            "mal_lory_1001_90001_love_lace_1000_90000_x-99.ipynb",
            "1001",
        ),
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
        (
            "lovelaceada_1000_90000_x.ipynb",
            "mallorym_1001_90001_/lovelaceada_1000_90000_x-99.ipynb",
            "1001",
        ),
        (
            f"{BRIGHT}/x.ipynb",
            "501-9 - Mallory - Sep 24, 2024 927 PM - "
            "500-9 - Ada Lovelace - Sep 25, 2024 926 PM - x.ipynb",
            "501",
        ),
        (
            f"{BLACK}_x.ipynb",
            "Set 5_mallory_attempt_2024-09-24-21-26-05_"
            "Set 5_ada1815_attempt_2024-09-25-21-26-05_x.ipynb",
            "",
        ),
        ("ada/x.ipynb", "mallory/ada/x-99.ipynb", ""),
        ("ada.ipynb", f"mallory.zip/{ADA}/x-99.ipynb", ""),
    ],
)
def test_no_student_hands_in_for_another(
    mine, theirs, lms_id, exercises, tmp_path, export
):
    """The outermost name decides; order counts only within one student's work."""
    good, bad = dump(solved(exercises)), dump(solved(exercises, 0))
    outer, archive, inner = theirs.partition(".zip/")
    theirs = {outer + ".zip": zipped(None, {inner: bad})} if archive else {outer: bad}
    found, left_out = names_of(export({mine: good} | theirs), exercises, tmp_path)
    attacker, ada = sorted(found.values(), key=lambda s: s.data == good)
    assert (ada.data, attacker.data) == (good, bad)
    assert ada.path == mine
    assert attacker.lms_id == lms_id
    assert re.match("mallory|mal_lory|anon_mallo", attacker.name.lower())
    assert not ada.contested and not left_out


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
        # A name on Canvas that contains Ada's numbers because the student chose it so.
        (
            "lovelaceada_1000_90000_x.ipynb",
            "lovelaceada_1000_90000__1001_90001_x-99.ipynb",
        ),
        (
            "lovelaceada_1000_90000_05_heads.ipynb",
            "lovelaceada_LATE_1000_1001_90001_05_heads-1.ipynb",
        ),
        # The same, and Ada's own file name begins with a number.
        (
            "lovelaceada_1000_90000_123_x.ipynb",
            "lovelaceada_1000_90000_1001_90001_x-99.ipynb",
        ),
        (
            "lovelaceada_1000_90000_1815_x.ipynb",
            "lovelaceada_1000_90000_123_x-99.ipynb",
        ),
        # A name on Canvas that looks like one of Moodle's, or of no platform.
        (
            "lovelaceada_500_90000_x.ipynb",
            "lovelaceada_500_assignsubmission_file__1001_90001_x-99.ipynb",
        ),
        ("anon_x7yz2_1000_90000_x.ipynb", "anon_x7yz2_1001_90001_x-99.ipynb"),
        (f"{BRIGHT}/x.ipynb", f"{BRIGHT.replace('Lovelace', 'King')}/x.ipynb"),
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


def test_users_of_blackboard_whose_names_end_alike_are_a_question(exercises, tmp_path):
    """The file's name does not show where the user's name begins."""
    other = BLACK.replace("ada", "m_ada")
    files = {
        f"{BLACK}_x.ipynb": dump(solved(exercises)),
        f"{other}_x.ipynb": dump(solved(exercises, 1)),
    }
    found, _ = names_of(unzipped(tmp_path / "in", files), exercises, tmp_path)
    said = {one.contested.partition(" claim ")[0] for one in found.values()}
    assert said == {
        "Set 5_ada1815 and Set 5_m_ada1815",
        "Set 5_m_ada1815 and Set 5_ada1815",
    }


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


@pytest.mark.parametrize(
    "begins, student",
    [
        ("a_LATE_7", "a_7"),
        ("a_b_LATE_7", "a_b_7"),
        ("LATE_anon_x7Yz2", "anon_x7Yz2"),
    ],
)
def test_one_students_attachments_are_not_a_question(
    begins, student, exercises, tmp_path, export
):
    data = [dump(solved(exercises, tasks)) for tasks in range(3)]
    files = {
        f"{begins}_90_x.ipynb": data[0],
        f"{begins}_91_05_heads.ipynb": data[1],
        f"{begins}_92_x-1.zip": zipped(None, {"old.ipynb": data[2]}),
    }
    found, left_out = names_of(export(files), exercises, tmp_path)
    assert list(found) == [student]
    assert found[student].data == data[2]
    assert found[student].late and not found[student].contested
    assert len(left_out) == 2


@pytest.fixture
def other(tmp_path):
    """A second exercise set."""
    path = write_source(tmp_path / "06_others.ipynb")
    text = path.read_text(encoding="utf-8")
    for word in ("Heads", "Split", "Task", "Question", "split", "merge", "token"):
        text = text.replace(word, f"{word}other")
    path.write_text(text, encoding="utf-8")
    return Assignment(path)


@pytest.mark.parametrize(
    "upload, lms_id, read",
    [
        ("ada_8_800_7_900_x.ipynb", "8", "the work of ada_8 or ada_8_800_7,"),
        ("m_7_900_ada_8_800_x.ipynb", "7", "the work of m_7 or m_7_900_ada_8,"),
        # Canvas may have written it, with a file's name that looks like Blackboard's,
        # or Blackboard.
        (
            "ada_8_800_m_attempt_2024-09-24-21-26-05_x.ipynb",
            "",
            "the work of ada_8 or ada_8_800_m,",
        ),
        # Moodle may have written it, with a student's name that looks like
        # Brightspace's, or Brightspace.
        (
            f"{BRIGHT} - M_501_assignsubmission_file_x.ipynb",
            "501",
            f"the work of 500 or {BRIGHT} - M_501,",
        ),
    ],
)
def test_a_name_that_can_be_two_students_is_a_question_by_itself(
    upload, lms_id, read, exercises, tmp_path, export
):
    """The name may be Ada's, or that of a student called ada_8_800."""
    found, _ = names_of(export({upload: dump(solved(exercises))}), exercises, tmp_path)
    (submission,) = found.values()
    assert submission.lms_id == lms_id
    assert read in submission.contested


def test_many_attachments_are_not_many_students(exercises, tmp_path, export):
    """This holds even if each name may be that of another student in the class."""
    data = dump(solved(exercises))
    ada, bob = "ada_8_800_999_x.ipynb", "bob_6_600_x.ipynb"
    mallorys = [f"ada_8_800_7_{n}_123_x" for n in range(900, 980)]
    files = {
        **{f"{name}.png": b"" for name in mallorys[:40]},
        **{f"{name}.ipynb": data for name in mallorys[40:]},
        **{f"m_5_{n}_123_x.ipynb": data for n in range(900, 940)},
        **{
            f"m_5_{n}_x.ipynb": dump(solved(exercises, n - 900))
            for n in range(900, 904)
        },
        ada: data,
        bob: data,
    }
    found, left_out = names_of(export(files), exercises, tmp_path)
    read = [submission.path for submission in found.values()]
    assert {ada, bob} < set(read)
    assert sum(path.startswith("ada_8_800_7_") for path in read) == SMALL.doubtful
    assert sum(path.startswith("m_5_") for path in read) == SMALL.doubtful + 1
    assert {s.path for s in found.values() if not s.contested} == {bob}
    assert "ada_8_800_7: and 63 more like these." in left_out
    assert "m_5: and 23 more like these." in left_out
    assert len(left_out) == 2 * (SMALL.remarks + 1) + 3


def test_a_student_may_have_files_of_several_sets(exercises, other, tmp_path):
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
    """A single student in the export could have made these folders."""
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


def test_a_class_in_one_folder_may_have_several_sets(
    exercises, other, tmp_path, export
):
    files = {
        "week 1/ada/x.ipynb": dump(solved(exercises)),
        "week 1/bob/x.ipynb": dump(solved(other)),
    }
    with pytest.raises(NoSubmissions, match="week 1"):
        take_in(export(files), [exercises, other], tmp_path / "kept")


def test_a_folder_in_a_folder_of_its_name_is_asked_about(exercises, tmp_path):
    files = {f"in/{name}.ipynb": dump(solved(exercises)) for name in ("ada", "bob")}
    with pytest.raises(NoSubmissions, match="All notebooks are in in"):
        names_of(unzipped(tmp_path / "in", files), exercises, tmp_path)


@pytest.mark.parametrize("inside", ["ada", ADA])
def test_the_folder_in_a_zip_of_its_name_is_not_a_student(inside, exercises, tmp_path):
    files = {
        f"export/{inside}/x.ipynb": dump(solved(exercises)),
        "export/bob/x.ipynb": dump(solved(exercises, 1)),
        "__MACOSX/export/._x.ipynb": b"",
    }
    zipped(tmp_path / "export.zip", files)
    found, left_out = names_of(tmp_path / "export.zip", exercises, tmp_path)
    assert {s.name for s in found.values()} == {inside.split("_")[0], "bob"}
    assert not left_out


@pytest.mark.parametrize(
    "outer, lms_id",
    [
        (MALLORY, "501"),
        (BRIGHT, "500"),
        (f"{BLACK}_w", ""),
        ("mallorym_501_90001_901_w", "501"),
        ("mal_lory_501_90001_w", "501"),
        ("anon_x7Yz2_90001_w", ""),
        ("anon_x7yz2_90001_901_w", ""),
    ],
)
def test_a_platforms_folder_is_never_a_class(
    outer, lms_id, exercises, tmp_path, export
):
    """The folder may be the only one, and have the name of the zip."""
    files = {
        f"{outer}/ada/x.ipynb": dump(solved(exercises)),
        f"{outer}/bob/x.ipynb": dump(solved(exercises, 1)),
    }
    place = export(files)
    if place.is_file():
        place = place.rename(tmp_path / f"{outer}.zip")
    found, left_out = names_of(place, exercises, tmp_path)
    assert [s.lms_id for s in found.values()] == [lms_id]
    assert len(left_out) == 1


def test_the_users_pattern_decides_alone(exercises, tmp_path, export):
    files = {
        "group a/s17 - Ada/x.ipynb": dump(solved(exercises)),
        "group a/s18 - Bob.ipynb": dump(solved(exercises, 1)),
        "group a/s18 - Bob.zip": zipped(None, {"s19 - Eve.ipynb": b""}),
        "lovelaceada_500_9_x.ipynb": dump(solved(exercises, 2)),
        "old/group a/s17 - Ada.ipynb": dump(solved(exercises, 2)),
    }
    place = export(files)
    pattern = r"group \w/(?P<id>s\d+) - (?P<name>\w+)"
    taken = take_in(place, [exercises], tmp_path / "kept", pattern)
    found = {s.student: (s.name, s.lms_id) for s in taken.submissions}
    assert found == {"Ada_s17": ("Ada", "s17"), "Bob_s18": ("Bob", "s18")}
    assert sorted(taken.left_out)[1:] == [
        "lovelaceada_500_9_x.ipynb: it does not match --pattern.",
        "old/group a/s17 - Ada.ipynb: it does not match --pattern.",
    ]
    taken = take_in(place, [exercises], tmp_path / "kept", r".*/(?P<id>s\d+)")
    assert {s.name for s in taken.submissions} == {"s17", "s18"}


def test_numbers_that_differ_in_case_alone_are_a_question(exercises, tmp_path, export):
    data = [dump(solved(exercises, number)) for number in range(2)]
    place = export({"S17/x.ipynb": data[0], "s17 a/x.ipynb": data[1]})
    taken = take_in(place, [exercises], tmp_path / "kept", r"(?P<id>\w+)")
    assert len({submission.student.casefold() for submission in taken.submissions}) == 2
    assert all(submission.contested for submission in taken.submissions)


def test_names_by_a_pattern_that_are_alike_are_a_question(exercises, tmp_path, export):
    """A student's name may end like a file's, or with the name of an exercise set."""
    names = ["ada", "ada.zip", "ada 05_heads"]
    files = {
        f"week 1/{name}/x.ipynb": dump(solved(exercises, number))
        for number, name in enumerate(names)
    }
    place = export({**files, "week 1/ada/y.ipynb": b""})
    pattern = "week 1/(?P<name>[^/]+)"
    taken = take_in(place, [exercises], tmp_path / "kept", pattern)
    assert {s.data for s in taken.submissions} == set(files.values())
    assert len({s.student for s in taken.submissions}) == 3
    assert all(s.contested for s in taken.submissions)
    assert len(taken.left_out) == 1


@pytest.mark.parametrize("pattern, words", [("(", "regular"), (".*", "no group")])
def test_a_pattern_without_a_student_is_refused(pattern, words, exercises, tmp_path):
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
    "earlier, later",
    [
        (BRIGHT, BRIGHT.replace("926", "1026")),
        (BRIGHT.replace("926 PM", "1159 AM"), BRIGHT.replace("926 PM", "105 PM")),
        (BRIGHT.replace("926 PM", "1259 AM"), BRIGHT.replace("926 PM", "101 AM")),
        (BRIGHT, BRIGHT.replace("Sep 24", "Oct 3")),
        (f"{BLACK}_y", f"{BLACK.replace('24-21', '25-01')}_a"),
    ],
)
def test_the_attempts_time_is_in_its_name(earlier, later, exercises, tmp_path):
    files = {
        f"{later}.zip": zipped(None, {"x.ipynb": dump(solved(exercises, 2))}),
        f"{earlier}.zip": zipped(None, {"x.ipynb": dump(solved(exercises, 1))}),
    }
    if earlier.startswith("500"):  # Brightspace makes folders
        files = {name.replace(".zip", "/x.zip"): data for name, data in files.items()}
    place = unzipped(tmp_path / "in", files)
    for name, time in ((earlier, 2e9), (later, 1e9)):
        (path,) = place.glob(f"{name}*")
        os.utime(path, (time, time))
    found, left_out = names_of(place, exercises, tmp_path)
    (one,) = found.values()
    assert one.path.startswith(later) and not one.contested
    assert len(left_out) == 1


def test_what_a_platform_adds_of_its_own_is_not_listed(exercises, tmp_path, export):
    files = {
        "index.html": b"<html>",
        f"{BRIGHT}/x.ipynb": dump(solved(exercises)),
        f"{BLACK}.txt": b"Name: Ada",
        f"{BLACK}_x.ipynb": dump(solved(exercises, 1)),
        f"{BLACK.replace('ada1815', 'bob')}.txt": b"Name: Bob",
    }
    found, left_out = names_of(export(files), exercises, tmp_path)
    assert {one.name for one in found.values()} == {"Ada Lovelace", "ada1815"}
    assert left_out == ["bob: no notebook was handed in."]


@pytest.mark.parametrize(
    "date, counts",
    [
        ((2001, 12, 31, 23, 59, 58), "file"),
        ((2031, 1, 1, 0, 0, 0), "zip"),
        ((1980, 0, 0, 0, 0, 0), "file"),  # some programs write this: no valid date
    ],
)
def test_files_and_zips_tell_time_by_one_clock(date, counts, exercises, tmp_path):
    """The newer of two files counts, whichever of them is in a zip."""
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


def test_odd_files_do_not_stop_the_intake(exercises, tmp_path):
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


def damaged(data, kind):
    """Return a zip with damage in its list of files, or before it."""
    data = bytearray(data)
    entry = data.index(b"PK\1\2")
    end = data.rindex(b"PK\5\6")
    if kind == "of a later version":
        data[entry + 6] = 99
    elif kind == "encrypted":
        data[6] |= 1
        data[entry + 8] |= 1
    elif kind == "packed in an unknown way":
        data[8:10] = data[entry + 10 : entry + 12] = struct.pack("<H", 77)
    elif kind == "cut off":
        del data[end - 5 :]
    elif kind == "longer than it says":
        data[entry + 24 : entry + 28] = struct.pack("<I", 2**31)
    elif kind == "elsewhere":
        data[entry + 42 : entry + 46] = struct.pack("<I", 2**31)
    elif kind == "with a list of 2**62 bytes":
        record = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 1, 1, 2**62, 0)
        place = struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
        data[end:end] = record + place
        data[-10:-2] = b"\xff" * 8
    elif kind == "with a name that is no text":
        data[entry + 8 : entry + 10] = struct.pack("<H", 0x800)
        data[entry + 46] = 0xFF
    elif kind == "without a name":
        data[entry + 28 : entry + 30] = struct.pack("<H", 0)
        data[entry + 32 : entry + 34] = struct.pack("<H", len("work.ipynb"))
    elif kind == "with other bytes":
        data[40] ^= 0xFF
    return bytes(data)


@pytest.mark.parametrize(
    "kind",
    [
        "of a later version",
        "encrypted",
        "packed in an unknown way",
        "cut off",
        "elsewhere",
        "with a list of 2**62 bytes",
        "with a name that is no text",
        "without a name",
        "with other bytes",
    ],
)
def test_a_zip_that_cannot_be_read_costs_its_student_alone(
    kind, exercises, tmp_path, export
):
    good = dump(solved(exercises))
    bad = damaged(zipped(None, {"work.ipynb": good}), kind)
    files = {"mallory.zip": bad, "eve/w.zip": bad, "eve/x.ipynb": good}
    found, left_out = names_of(
        export({**files, "zoe.ipynb": good}), exercises, tmp_path
    )
    assert set(found) == {"eve", "zoe"}
    assert len(left_out) == 2
    words = {
        "packed in an unknown way": "packed in a way that is unknown",
        "without a name": "/.: not a notebook",
    }
    for sentence in left_out:
        assert sentence.startswith(("mallory", "eve/w"))
        assert words.get(kind, "be read (") in sentence
        assert sentence.isprintable() and sentence.endswith(".")


@pytest.mark.parametrize(
    "name",
    [
        "new\nline",
        "\x1b[2J",
        "a" * 240,
        "\N{GRINNING FACE}" * 55,
        "\N{HANGUL SYLLABLE GA}" * 78,
        "x_" + "7" * 220 + "_assignsubmission_file_",
        "a_" + "7" * 100 + "_" + "8" * 100 + "_x-" + "9" * 30,
        "\u0645\u062d\u0645\u062f\u202e",
        "-rf",
        "-",
        "...",
        " ",
        "__MACOSXada",
        ".gitta",
        "\udcff",
        "CON",
    ],
    ids=ascii,
)
@pytest.mark.parametrize("form", ["{}.ipynb", "{}/x.ipynb", "{}.zip"])
def test_names_of_any_sort_are_taken_in(form, name, exercises, tmp_path):
    place = tmp_path / "in"
    good = dump(solved(exercises))
    inner = {f"{'long ' * 2000}{name!a}.ipynb": good}
    data = zipped(None, inner) if form.endswith("zip") else good
    unzipped(place, {"zoe.ipynb": good, form.format(name): data})
    found, left_out = names_of(place, exercises, tmp_path)
    assert len(found) == 2
    for student, submission in found.items():
        assert 0 < len(student.encode()) <= 100
        assert (tmp_path / f"{student}.entered").write_bytes(b"") == 0
        assert submission.name.isprintable() and submission.path.isprintable()
    assert not left_out


def test_undecodable_names_stay_two_students(exercises, tmp_path):
    place = tmp_path / "in"
    place.mkdir()
    for number, name in enumerate((b"ad\xe4.ipynb", b"ad\xf6.ipynb")):
        with open(os.path.join(os.fsencode(place), name), "wb") as stream:
            stream.write(dump(solved(exercises, number)))
    found, left_out = names_of(place, exercises, tmp_path)
    assert len(found) == 2
    assert not left_out


def test_folders_of_any_depth_are_read(exercises, tmp_path):
    place = unzipped(tmp_path / "in", {"zoe.ipynb": dump(solved(exercises))})
    deep = f"{place}/mallory"
    for _ in range(1100):
        os.mkdir(deep)
        deep += "/d"
    os.link(place / "zoe.ipynb", deep + ".ipynb")
    try:
        found, _ = names_of(place, exercises, tmp_path)
    finally:  # deeper than shutil.rmtree of Python 3.11 can remove
        os.unlink(deep + ".ipynb")
        os.removedirs(os.path.dirname(deep))
    assert set(found) == {"mallory", "zoe"}


def test_a_zip_in_a_zip_is_opened_and_a_nest_of_zips_is_named(
    exercises, tmp_path, export
):
    data = dump(solved(exercises))
    files = {}
    for depth, student in enumerate(("ada", "bob", "carl", "dora")):
        files[f"{student}.zip"] = data = zipped(None, {f"{depth}.zip": data})
        if not depth:
            data = files["ada.zip"] = zipped(None, {"x.ipynb": dump(solved(exercises))})
    found, left_out = names_of(export(files), exercises, tmp_path)
    assert set(found) == {"ada", "bob", "carl"}
    assert left_out == ["dora/3/2/1.zip: in 3 zips, and no more are opened."]


@pytest.mark.parametrize("ending", ["json", "txt", "JSON", "ipynb.json"])
def test_a_notebook_with_another_ending_is_one(ending, exercises, tmp_path, export):
    good = dump(solved(exercises))
    noise = {f"bob/{n}.json": b'{"cells": []}' for n in range(60)}
    files = {f"ada.{ending}": good, "bob/x.ipynb": good, **noise}
    found, left_out = names_of(export(files), exercises, tmp_path)
    assert {name: one.data for name, one in found.items()} == {"ada": good, "bob": good}
    assert "bob/59.json: not a notebook." in left_out


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_a_notebook_in_other_unicode_is_recognised(
    encoding, exercises, other, tmp_path
):
    text = dump(solved(other)).decode()
    place = unzipped(tmp_path / "in", {"ada.ipynb": text.encode(encoding)})
    (found,) = take_in(place, [exercises, other], tmp_path / "kept").submissions
    assert found.assignment == "06_others"


def dated(place, files):
    """Write files of this content and this date, in seconds."""
    for name, (data, seconds) in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (seconds, seconds))
    return place


def test_the_handout_beside_the_answer_is_not_graded(exercises, tmp_path):
    """The handout may have a later date than the answer, and may have been run."""
    run = solved(exercises, 0)
    for one in run.cells:
        if one.cell_type == "code":
            one.outputs = [nbformat.v4.new_output("stream", text="said")]
    good = dump(solved(exercises))
    files = {"ada/a.ipynb": (good, 0), "ada/z.ipynb": (dump(run), 9999)}
    files["zoe.ipynb"] = (good, 0)
    found, left_out = names_of(dated(tmp_path / "in", files), exercises, tmp_path)
    assert found["ada"].data == good
    assert left_out == [
        "ada/z.ipynb: ada/a.ipynb was graded instead, by the same student and with "
        "more in it than was handed out."
    ]


def test_of_attempts_of_one_date_the_fullest_is_graded(exercises, tmp_path):
    data = [dump(solved(exercises, tasks)) for tasks in (1, 3, 2)]
    same = {f"ada/{n}.ipynb": (one, 60 + n) for n, one in enumerate(data)}
    later = {f"bob/{n}.ipynb": (one, 600 * n) for n, one in enumerate(data)}
    place = dated(tmp_path / "in", same | later)
    found, left_out = names_of(place, exercises, tmp_path)
    assert (found["ada"].data, found["bob"].data) == (data[1], data[2])
    assert sum("with more in it." in sentence for sentence in left_out) == 2
    assert sum("and later." in sentence for sentence in left_out) == 2


def test_a_notebook_behind_thousands_of_other_files_is_found(
    exercises, tmp_path, export
):
    files = {f"data/{number}.png": b"" for number in range(3000)}
    place = export(
        {
            "ada.zip": zipped(None, {**files, "z.ipynb": dump(solved(exercises))}),
            "bob.ipynb": dump(solved(exercises, 1)),
        }
    )
    found, left_out = names_of(place, exercises, tmp_path)
    assert set(found) == {"ada", "bob"}
    assert len(left_out) == 6
    assert left_out[-1] == "ada: and 2995 more like these."


@pytest.mark.parametrize(
    "limits",
    [
        Limits(uploads=3),
        Limits(upload_bytes=2**20, notebook=2**18),
        Limits(zip_bytes=2**20),
    ],
    ids=["files", "bytes", "bytes of zips"],
)
def test_limits_of_one_student_do_not_affect_others(
    limits, exercises, tmp_path, export
):
    good = dump(solved(exercises))
    noise = random.Random(0).randbytes(2**18)
    files = {f"mallory/{n}.ipynb": noise[n:] for n in range(40)}
    files["mallory/w.zip"] = zipped(None, files)
    place = export(
        {"ada.ipynb": good, **files, "zoe/w.zip": zipped(None, {"x.ipynb": good})}
    )
    taken = take_in(place, [exercises], tmp_path / "kept", limits=limits)
    found = {s.student: s.data for s in taken.submissions}
    assert found.pop("mallory") in noise
    assert found == {"ada": good, "zoe": good}
    kept = [path.stat().st_size for path in (tmp_path / "kept").iterdir()]
    assert len(kept) <= limits.uploads + 1
    assert sum(kept) <= limits.upload_bytes + len(good)
    assert 0 < len(taken.left_out) <= limits.remarks + 1
    assert all("mallory" in sentence for sentence in taken.left_out)


@pytest.mark.parametrize(
    "limits", [Limits(uploads=2), Limits(upload_bytes=10_000)], ids=["files", "bytes"]
)
def test_of_too_many_notebooks_the_newest_are_read(limits, exercises, tmp_path):
    place = unzipped(tmp_path / "in", {"zoe.ipynb": dump(solved(exercises))})
    (place / "bob").mkdir()
    with zipfile.ZipFile(place / "ada.zip", "w") as archive:
        for number in (3, 9, 1, 7, 5):
            date = datetime(2010 + number, 1, 1)
            data = dump(solved(exercises, number))
            assert 5_000 < len(data) < 10_000
            entry = zipfile.ZipInfo(f"{number}.ipynb", date.timetuple()[:6])
            archive.writestr(entry, data)
            (place / "bob" / entry.filename).write_bytes(data)
            os.utime(place / "bob" / entry.filename, (0, date.timestamp()))
    taken = take_in(place, [exercises], tmp_path / "kept", limits=limits)
    assert [s.path for s in taken.submissions[:2]] == ["ada/9.ipynb", "bob/9.ipynb"]
    assert sum("not read; of one student, only" in s for s in taken.left_out) >= 7


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_a_file_that_unfolds_is_not_held_in_memory(method, exercises, tmp_path):
    place = unzipped(tmp_path / "in", {"zoe.ipynb": dump(solved(exercises))})
    zipped(place / "bomb.zip", {"x.ipynb": bytes(2**28)}, method)
    tracemalloc.start()
    try:
        found, _ = names_of(place, exercises, tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 2**27
    finally:
        tracemalloc.stop()
    assert "zoe" in found


def test_the_exercise_counts_and_not_what_was_saved_after_it(exercises, tmp_path):
    """This happens, for example, in a zip of a whole folder."""
    place = tmp_path / "in"
    good = dump(solved(exercises))
    place.mkdir()
    with zipfile.ZipFile(place / "ada.zip", "w") as archive:
        for number, data in enumerate((good, b'{"cells": []}', b"")):
            entry = zipfile.ZipInfo(f"{number}.ipynb", (2020 + number, 1, 1, 0, 0, 0))
            archive.writestr(entry, data)
    (place / "zoe.ipynb").write_bytes(b"damaged")
    found, left_out = names_of(place, exercises, tmp_path)
    assert (found["ada"].data, found["zoe"].data) == (good, b"damaged")
    assert left_out == [
        f"ada/{number}.ipynb: ada/0.ipynb was graded instead, by the same student and "
        "more like the exercise set."
        for number in (2, 1)
    ]


def test_a_zip_with_an_endless_list_of_files_is_not_read(exercises, tmp_path):
    place = unzipped(tmp_path / "in", {"zoe.ipynb": dump(solved(exercises))})
    zipped(place / "mallory.zip", {"x" * 1000 + str(n): b"" for n in range(5000)})
    found, left_out = names_of(place, exercises, tmp_path)
    assert set(found) == {"zoe"}
    assert left_out == [
        "mallory.zip: not a zip file that can be read (it lists too many files)."
    ]


def test_every_upload_is_graded_or_listed(exercises, tmp_path, export):
    """The list names every file that is not graded, and every student without any."""
    good = dump(solved(exercises))
    files = {
        "ada/work.pdf": b"",
        "bob.docx": b"",
        "carl/.ipynb_checkpoints/x.ipynb": good,
        "dora.zip": zipped(None, {}),
        "eve.zip": zipped(None, {"src/x.py": b""}),
        f"{ADA}/.DS_Store": b"",
        "frank.7z": b"",
        "zoe.ipynb": good,
    }
    place = export(files)
    if place.is_dir():
        (place / "gina").mkdir()
        (place / "hugo").symlink_to(place / "zoe.ipynb")
    else:
        with zipfile.ZipFile(place, "a") as archive:
            archive.writestr("..", b"")
    found, left_out = names_of(place, exercises, tmp_path)
    assert set(found) == {"zoe"}
    only_on_disk = [
        "gina: no notebook was handed in.",
        "hugo: a link, which is not followed.",
    ]
    only_in_a_zip = [".: not a notebook."]
    assert sorted(left_out) == [
        *only_in_a_zip * place.is_file(),
        "Ada Lovelace: no notebook was handed in.",
        "ada/work.pdf: not a notebook.",
        "bob.docx: not a notebook.",
        "carl: no notebook was handed in.",
        "dora: no notebook was handed in.",
        "eve/src/x.py: not a notebook.",
        "frank.7z: not a notebook.",
        *only_on_disk * place.is_dir(),
    ]


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


@pytest.mark.parametrize(
    "one, other",
    [
        ("A B", "A-B-" + safe_name("A B")[-16:]),
        ("A B", safe_name("A B")),
        ("A B", safe_name("A B").upper()),
        ("x" * 40, "x" * 41),
        ("\u00e9", "e\u0301"),
        ("\udc80", "\udc81"),
    ],
)
def test_different_names_stay_different(one, other):
    assert safe_name(one).casefold() != safe_name(other).casefold()


def test_ids_stay_different_and_short():
    ids = ["7" * 300, "7" * 301, "../7", "7/", "7"]
    names = {safe_name("\N{GRINNING FACE}x" * 100, lms_id) for lms_id in ids}
    assert len(names) == len(ids)
    assert all(len(name.encode()) <= 100 and "/" not in name for name in names)
    claim = Claim("\u0e01" * 300, "7" * 20, "x" * 255)
    assert len(claim.student(contested=True).encode()) <= 100


FORMULAS = ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1", " =1", "\uff1d1", " \uff0b1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_spreadsheet_runs_a_name(text):
    assert cell(text).startswith("'")
    assert "\n" not in cell(text + "\n")
    for separator in ";,|\t":
        made = cell(f"x{separator}{text}{separator} {text}")
        assert len(re.findall("'\\s*[=+\\-@\uff1d\uff0b]", made)) == 2


def test_text_that_is_not_a_formula_is_unchanged():
    for text in ("    Points Possible", "a=b", "Jean-Luc", "ada@example.org", "x; y"):
        assert cell(text) == text
    assert cell(-1.5) == "-1.5"


def test_contested_marks_are_for_people_alone(exercises, tmp_path):
    course = Course(tmp_path)
    results = [
        Result(name, name, "7", "05_heads", name, False, "", "", contested=contested)
        for name, contested in (("ada", "Whose?"), ("bob", ""))
    ]
    marks = {(name, "05_heads"): Mark(1.0, 14.0) for name in ("ada", "bob")}
    for chosen, students in ((results, ["bob"]), (results[:1], [])):
        write_marks(course, chosen, marks, {})
        people, canvas, moodle = (
            table(tmp_path / f"{name}.csv")
            for name in ("marks", "canvas-05_heads", "moodle-05_heads")
        )
        assert [row[0] for row in canvas[2:]] == students
        assert [row[1] for row in moodle[1:]] == students
        assert len(people) == len(chosen) + 1
        assert "Whose?" in people[1][-1]
        assert canvas[1] == ["    Points Possible", "", "", "", "", "14"]


def graded_from(folder, uploads, class_list):
    """Write the tables for uploads of these names, each with its mark."""
    labels = {name: label(name, ["05_heads"]).claim for name in uploads}
    results = [
        Result(c.student(), c.name, c.lms_id, "05_heads", name, False, "", "")
        for name, c in labels.items()
    ]
    scores = zip(results, uploads.values(), strict=True)
    marks = {(r.student, "05_heads"): Mark(score, 14.0) for r, score in scores}
    write_marks(Course(folder), results, marks, class_list)
    return {
        path.name.partition("-")[0]: table(path) for path in folder.glob("b*-*.csv")
    }


def test_blackboard_finds_students_by_their_user_names(tmp_path):
    """A user name with an underline is read only in part, so it is in no table."""
    name = "Week 5_{}_attempt_2026-09-24-21-26-05_work.ipynb"
    users = {"ada1815": 14.0, "bob": 9.5, "of_carl": 3.0}
    uploads = {name.format(user): score for user, score in users.items()}
    found = graded_from(tmp_path, uploads, {})
    assert found["blackboard"] == [
        ["Last Name", "First Name", "Username", "05_heads [Total Pts: 14]"],
        ["", "", "ada1815", "14"],
        ["", "", "bob", "9.5"],
    ]
    text = (tmp_path / "blackboard-05_heads.csv").read_text(encoding="utf-8-sig")
    assert text.splitlines()[1] == '"","","ada1815","14"'


def test_brightspace_finds_students_by_its_own_export(tmp_path):
    """No import knows the number in an upload's name, so the class list is needed."""
    grades = tmp_path / "grades.csv"
    grades.write_text(
        "OrgDefinedId,Username,Last Name,First Name,End-of-Line Indicator\n"
        "#00246,#ada,Lovelace,Ada,#\n#7,#al1,Lee,Al,#\n#8,#al2,Lee,Al,#\n"
    )
    name = "39{0}-25 - {1} - Sep 24, 2026 926 PM"
    students = ["Ada  lovelace", "Al Lee", "Not There"]
    uploads = {name.format(n, who): 12.5 for n, who in enumerate(students)}
    assert graded_from(tmp_path, uploads, {}) == {}
    found = graded_from(tmp_path, uploads, read_class_list(grades))
    assert found == {
        "brightspace": [
            [
                *("OrgDefinedId", "Username"),
                *("05_heads Points Grade <Numeric MaxPoints:14>",),
                "End-of-Line Indicator",
            ],
            ["#00246", "#ada", "12.5", "#"],
        ]
    }
    grades.write_text("Username,Score\nada,1\n")
    with pytest.raises(ArgumentTypeError, match="First Name.*exported with both"):
        read_class_list(grades)


def test_names_that_a_teacher_chose_are_user_names(tmp_path):
    found = graded_from(tmp_path, {"ada": 1.0, "bob": 2.0}, {})
    assert [row[2:] for row in found["blackboard"][1:]] == [["ada", "1"], ["bob", "2"]]
    assert [row[1:3] for row in found["brightspace"][1:]] == [
        ["ada", "1"],
        ["bob", "2"],
    ]
    assert (
        graded_from(tmp_path, {"Ada Lovelace_7_assignsubmission_file_": 3.0}, {}) == {}
    )


def as_canvas_names(student, number, late, attachment, file):
    """Return the name that lib/content_zipper.rb of canvas-lms would write."""
    name = re.sub(r"_([0-9]+)_", r"\1", student).lower()
    begins = re.sub(r"\W", "", "_".join([name, *["LATE"] * late, str(number)]))
    file = re.sub(r'[\0/\\:*?"<>|]+', "_", file)
    return f"{begins}_{attachment}_{file}"


WORDS = ["_", "__", "_-", "-", " ", "Ada", "anon", "x7yz2", "LATE", "\u0663", "\n"]
WORDS += ["1000", "1001", "90000", "90001", "12", "0", "assignsubmission_file"]


def test_no_name_on_canvas_is_taken_for_anothers():
    """This holds whatever students are called, and whatever they call their files."""
    draw = random.Random(0)
    doubtful = 0
    for _ in range(5000):
        students = {
            number: "".join(draw.choices(WORDS, k=draw.randrange(8)))
            for number in (12, 1000, 1001)
        }
        attachments = draw.sample(range(90000, 90009), 9)
        claims = {}
        for number, student in students.items():
            late = draw.random() < 0.2
            for _ in range(3):
                file = "".join(draw.choices(WORDS, k=draw.randrange(5))) + ".ipynb"
                name = as_canvas_names(student, number, late, attachments.pop(), file)
                claim = label(name, []).claim
                assert claims.setdefault(claim, number) == number, name
                assert claim.upload or claim.lms_id == str(number), name
                doubtful += bool(claim.upload)
    assert 3000 < doubtful < 6000


def test_a_flood_of_uploads_keeps_no_student_out():
    """The uploads' names may be another student's, and their author has any name."""
    draw = random.Random(0)
    floods = 0
    for _ in range(2000):
        honest = [
            label(as_canvas_names("Ada", 1000, False, attachment, f"{n}_x.ipynb"), [])
            for attachment, n in ((90000, 1001), (90001, 123))
        ]
        student = "ada" + "".join(draw.choices(WORDS, k=draw.randrange(8)))
        flood = [
            label(as_canvas_names(student, 1001, False, n, "123_x.ipynb"), [])
            for n in range(90002, 90012)
        ]
        crowded_out = crowded([said.claim for said in flood + honest], 4)
        kept = [said for said in flood if said.claim not in crowded_out]
        assert len(kept) == 4
        assert not any(said.claim in crowded_out for said in honest), student
        floods += flood[0].claim.lms_id == "1000"
    assert floods > 20


@pytest.mark.parametrize("line", ["\n", "\r\n"])
@pytest.mark.parametrize("whole", [True, False])
def test_a_notebook_is_recognised_however_it_is_saved(whole, line, exercises, other):
    release = json.loads(nbformat.writes(exercises.release))
    for one in release["cells"]:
        text = "".join(one["source"]).replace("\n", line)
        one["source"] = text if whole else text.splitlines(keepends=True)
    for indent in (None, 1):
        data = json.dumps(release, indent=indent).encode()
        like = likeness(data, [exercises, other])
        assert like["05_heads"] == 1 and like["06_others"] < 0.6
        half = likeness(data[: len(data) // 2], [exercises, other])["05_heads"]
        assert 0.2 < half < 0.8


@pytest.mark.parametrize("piece", [b'"', b'abc"', b"\\nabc", b"[", b" ", b'{"a":'])
def test_bytes_of_any_kind_are_compared_in_little_memory(piece, exercises, other):
    data = piece * (2**22 // len(piece))
    assert set(likeness(data, [exercises, other]).values()) == {0}
    tracemalloc.start()
    try:
        likeness(data, [exercises, other])
        assert tracemalloc.get_traced_memory()[1] < 4 * len(data)
    finally:
        tracemalloc.stop()
