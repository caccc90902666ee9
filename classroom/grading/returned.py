"""Pack the students' pages as Canvas and Moodle take them back.

Both give a file to the student whose number its name has, if the name begins as in the
download: Canvas in generate_comments_from_files of canvas-lms, Moodle in
is_valid_filename_for_import of mod/assign/feedback/file/importziplib.php.
"""

import io
import zipfile
from pathlib import PurePosixPath

from classroom.grading.course import Course
from classroom.grading.identity import CANVAS, MOODLE
from classroom.grading.result import Result
from vit_steps.checkpoint import write_whole


def write_returned(course: Course, results: list[Result]) -> None:
    """Write a zip of the pages for each set that came from Canvas or Moodle."""
    for name in sorted({result.assignment for result in results}):
        pages = {
            file: course.feedback(result.student, name)
            for result in results
            if result.assignment == name and not result.contested
            for file in [returned_as(result.path, name)]
            if file
        }
        if not pages:
            continue
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for file, page in pages.items():
                archive.writestr(file, page.read_bytes())
        write_whole(course.root / f"feedback-{name}.zip", stream.getvalue())


def returned_as(path: str, exercises: str) -> str:
    """Return the name under which a platform takes a page back, "" if none does."""
    outermost = path.split("/", 1)[0]
    if moodle := MOODLE.fullmatch(outermost):
        student, number = moodle["name"], moodle["id"]
        return f"{student}_{number}_assignsubmission_file_{exercises}.html"
    if CANVAS.fullmatch(outermost):
        return f"{PurePosixPath(outermost).stem}.html"
    return ""
