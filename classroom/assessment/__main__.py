"""Make what a teacher hands out and marks: `make quiz`.

python -m classroom.assessment                        all of it, in _build/quiz
python -m classroom.assessment --chapters 1-5         questions on these chapters
python -m classroom.assessment --seed 2027            other cases, another order
"""

import argparse
import sys
from pathlib import Path

from classroom.assessment.clinic import CLINIC, FURTHER, cases
from classroom.assessment.forms import forms
from classroom.assessment.paper import (
    clinic_page,
    form_page,
    key_page,
    marking_page,
    project_page,
)
from classroom.assessment.platforms import canvas_zip, moodle_xml
from classroom.assessment.written import written
from classroom.release.release import ROOT

FURTHER_PATIENTS = "the side road Ten more bugs"
FOLDER = ROOT / "_build" / "quiz"


def chapters(text: str) -> list[int]:
    """Return the numbers that "0-5,14" stands for."""
    numbers: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def files(asked: list[int] | None, seed: int | None) -> dict[str, bytes]:
    """Return the contents of the files, by their names."""
    both = forms(asked, seed)
    made = {
        "key.html": key_page(both).encode(),
        "clinic.html": clinic_page(cases(CLINIC), "chapter 14").encode(),
        "clinic-further.html": clinic_page(cases(FURTHER), FURTHER_PATIENTS).encode(),
        "marking.html": marking_page(written()).encode(),
        "project.html": project_page().encode(),
    }
    for form in both:
        name = form.name.lower()
        made[f"form-{name}.html"] = form_page(form).encode()
        made[f"moodle-{name}.xml"] = moodle_xml(form)
        made[f"canvas-{name}.zip"] = canvas_zip(form)
    return made


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m classroom.assessment")
    parser.add_argument("--out", type=Path, default=FOLDER)
    parser.add_argument("--chapters", type=chapters, help="such as 0-5,14; all of them")
    parser.add_argument("--seed", type=int, help="draws other cases and another order")
    options = parser.parse_args(arguments)
    try:
        made = files(options.chapters, options.seed)
    except ValueError as error:
        parser.error(str(error))
    options.out.mkdir(parents=True, exist_ok=True)
    for name, data in made.items():
        (options.out / name).write_bytes(data)
        print(options.out / name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
