"""Lay out forms, keys, handouts and marking sheets as pages of HTML for printing."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markupsafe import Markup

from classroom.assessment.clinic import Case, without_links
from classroom.assessment.forms import Form
from classroom.assessment.text import blocks, html
from classroom.assessment.written import Written
from classroom.release.release import ROOT

PROJECT = ROOT / "book" / "project.md"
BRIEF = re.compile(r"<!-- /?brief -->")


def form_page(form: Form) -> str:
    return filled("form.html", form=form)


def key_page(forms: Sequence[Form]) -> str:
    """Return the key, with the same question of each form side by side."""
    rows = list(zip(*(form.questions for form in forms), strict=True))
    return filled("key.html", forms=forms, rows=rows)


def clinic_page(cases: Iterable[Case], where: str) -> str:
    """Return the handouts of cases whose answers stand in a place of the book."""
    return filled("clinic.html", cases=list(cases), where=where)


def marking_page(answers: Iterable[Written]) -> str:
    return filled("marking.html", answers=list(answers))


def project_page() -> str:
    """Return what the page on the project has for the students."""
    text = PROJECT.read_text("utf-8")
    _, brief, _ = BRIEF.split(text)
    return filled("project.html", brief=without_links(brief))


def filled(template: str, **values: Any) -> str:
    """Return a template in ``sheets`` with these values."""
    return _environment().get_template(template).render(**values)


def _numbered(number: int, text: str) -> Markup:
    return Markup(blocks(f"{number}\\. {text}"))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("sheets")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["html"] = lambda text: Markup(html(text))
    environment.filters["blocks"] = lambda text: Markup(blocks(text))
    environment.globals["numbered"] = _numbered
    return environment
