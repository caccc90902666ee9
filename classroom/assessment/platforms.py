"""Write a form of the quiz as Moodle and Canvas import it."""

import io
import zipfile

from classroom.assessment.forms import Form
from classroom.assessment.paper import filled

SAME_DATE = (1980, 1, 1, 0, 0, 0)  # so that the zip depends on its questions alone


def moodle_xml(form: Form) -> bytes:
    """Return the questions for Moodle's question bank, in a category of their own."""
    return filled("moodle.xml", form=form).encode()


def canvas_zip(form: Form) -> bytes:
    """Return a zip of QTI 1.2: the quiz, its settings, and the list of both.

    Element for element it is what text2qti 0.8, which was tried on Canvas, makes of it.
    """
    name = f"quiz_{form.name.lower()}"
    title = f"Vision Transformer, form {form.name}"
    quiz = f"{name}/{name}.xml"
    settings = f"{name}/assessment_meta.xml"
    about = {"name": name, "title": title, "quiz": quiz, "settings": settings}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, template in {
            "imsmanifest.xml": "canvas-manifest.xml",
            quiz: "canvas.xml",
            settings: "canvas-settings.xml",
        }.items():
            entry = zipfile.ZipInfo(path, SAME_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, filled(template, form=form, **about))
    return buffer.getvalue()
