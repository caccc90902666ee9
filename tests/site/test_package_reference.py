"""The package's pages: everything is described once, and linked from the full list."""

import inspect
import re
from copy import copy
from dataclasses import asdict
from importlib import import_module
from pathlib import Path

import pytest

import vit_check
from book._extensions.command_help import help_of
from book._extensions.package_reference import (
    describe_fields,
    escape_letters,
    open_lines,
    public_names,
)
from tests.conftest import ROOT
from tests.site.test_pages import HTML, page_soup, soup
from vit_book import PHOTOS
from vit_steps import ViTConfig
from vit_steps.training_cost import ACCELERATORS, Accelerator
from vit_steps.vision_transformer import PRESETS

PAGES = sorted((HTML / "book" / "package").glob("*.html"))
LIST_OF_ALL = "book/package"
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def described(page):
    return [tag["id"] for tag in soup(page).select("dl.py > dt[id]")]


@every_page
def test_no_argument_is_a_list(page):
    assert not soup(page).select("dl.py ol")


@every_page
def test_fields_have_one_style(page):
    rubrics = [r.get_text() for r in soup(page).select("dl.py .rubric")]
    assert not {"Shape", "Shape:"} & set(rubrics)


@every_page
def test_signatures_can_be_read(page):
    """Signatures have types without their modules, and defaults as in the source."""
    for signature in soup(page).select("dt.sig"):
        assert not re.search(r"~|<|\*args, \*\*kwargs", signature.get_text())


@every_page
def test_no_sentence_is_taken_for_a_type(page):
    fields = soup(page).select("dl.field-list > dt")
    assert "Type:" not in {name.get_text() for name in fields}
    shapes = [n.find_next_sibling("dd") for n in fields if n.get_text() == "Shape:"]
    assert not [shape.get_text() for shape in shapes if shape.find("em")]


@every_page
def test_a_command_is_code(page):
    for text in map(copy, soup(page).select("article p")):
        for code in text.select("code"):
            code.decompose()
        assert "python -m" not in text.get_text()


@every_page
def test_each_argument_has_words_of_its_own(page):
    for fields in soup(page).select("dl.field-list"):
        name = fields.find("dt", string=re.compile("Parameters"))
        items = name.find_next_sibling("dd").select("li > p") if name else []
        said = [item.get_text().partition(" – ")[2] for item in items]
        assert len(set(said)) == len(said), said


def test_everything_is_described_once():
    names = [name for page in PAGES for name in described(page)]
    assert len(names) > 200
    assert len(names) == len(set(names))


@every_page
def test_a_page_and_the_list_of_all_have_the_same_rows(page):
    rows = "table.autosummary:not(.checks) tr > :first-child a"
    here = [link["href"] for link in soup(page).select(rows)]
    there = [link["href"] for link in page_soup(LIST_OF_ALL).select(rows)]
    of_it = f"package/{page.name}"
    assert [f"{of_it}{row}" for row in here] == [r for r in there if of_it in r]
    assert bool(here) == (page.stem != "command_line")


# What the package needs for itself, and no page describes, or only as a command.
OURS = ("vit_steps", "vit_doctor", "vit_book")
OWN = ("command", "evaluate", "evaluating", "tensors")
OWN = {f"vit_steps.{name}" for name in OWN}
OWN |= {f"vit_doctor.{name}" for name in ("limits", "of_data", "of_model", "patient")}


def test_the_list_of_all_has_every_module():
    folders = (ROOT / "vit_steps", ROOT / "vit_doctor")
    files = [f.relative_to(ROOT) for each in folders for f in each.rglob("*.py")]
    modules = {".".join(f.with_suffix("").parts) for f in files if f.stem[:2] != "__"}
    listed = page_soup(LIST_OF_ALL).select("[id^=module-]")
    assert modules - {tag["id"].removeprefix("module-") for tag in listed} == OWN


def test_the_list_of_all_keeps_every_anchor():
    """An old address, from when the package had a single page, leads to a row."""
    document = page_soup(LIST_OF_ALL)
    kept = {tag["id"] for tag in document.select("[id]")}
    names = {name for page in PAGES for name in described(page)}
    modules = {
        tag["id"] for page in PAGES for tag in soup(page).select("[id^=module-]")
    }
    assert len(modules) > 40
    missing = {name for name in names | modules if name not in kept}
    assert not missing


def test_each_row_leads_to_the_description():
    for row in page_soup(LIST_OF_ALL).select("table.autosummary tr"):
        name, words = row.select("td")
        page, _, anchor = name.find("a")["href"].partition("#")
        assert anchor in described(HTML / "book" / page)
        assert words.get_text(strip=True)


@pytest.mark.parametrize(
    "written, escaped",
    [
        (":param embed_dim: D.", r":param embed_dim: D\."),
        (":param heads: h. It divides D.", r":param heads: h\. It divides D."),
        ("K. Classes", r"K\. Classes"),
        (":param x: Two. Or more.", ":param x: Two. Or more."),
        (":param x: e.g. one", ":param x: e.g. one"),
        ("1. first", "1. first"),
    ],
)
def test_a_letter_with_a_dot_opens_no_list(written, escaped):
    lines = [written]
    escape_letters(None, "function", "name", None, None, lines)
    assert lines == [escaped]


def test_a_shape_and_an_error_in_a_line_are_sections():
    lines = [
        "Cut.",
        "",
        "Shape: (T, D) ->",
        "    (D,)",
        "Raises: OSError, ValueError if",
        "    it is: no.",
        "Raises: ValueError, with the name, if",
    ]
    open_lines(None, "function", "name", None, None, lines)
    opened = ["Cut.", "", "Shape:", "    (T, D) ->", "    (D,)", "Raises:"]
    opened += ["    OSError, ValueError: if", "        it is: no.", "Raises:"]
    assert lines == [*opened, "    ValueError: with the name, if"]


def test_the_comment_beside_a_field_is_its_description():
    lines = ["A device.", "", "Raises: ValueError if"]
    describe_fields(None, "class", "name", Accelerator, None, lines)
    assert lines[2] == "Args:" and lines[5:] == ["", "Raises: ValueError if"]
    assert lines[4] == "    memory: bytes"


def test_a_table_has_what_a_module_defines_and_describes():
    names = public_names("vit_steps.encoder")
    assert names == [
        f"vit_steps.encoder.{name}"
        for name in ("MLP", "draw_kept", "DropPath", "LayerScale", "EncoderBlock")
    ]
    module = import_module("vit_steps.encoder")
    assert all(inspect.getdoc(getattr(module, n.rpartition(".")[2])) for n in names)


def test_a_modules_own_functions_and_the_commands_are_not_listed():
    listed = {name for page in PAGES for name in described(page)}
    assert "vit_steps.train.main" not in listed
    assert "vit_steps.sizes.check_count" not in listed
    assert "vit_steps.data.folder.load_folder" not in listed
    assert {"vit_steps.data.loading.load", "vit_steps.optional.timm"} <= listed
    assert not [name for name in listed if name.split(".")[0] not in OURS]


def cells_of(page, heading):
    """Return the rows of the last table in a page's section."""
    section = page_soup(f"book/package/{page}").find("section", id=heading)
    rows = section.select("table:last-of-type tr")
    return [[cell.get_text().strip() for cell in row.select("td, th")] for row in rows]


def test_values_that_have_a_name_are_listed():
    head, *photos = cells_of("notebook", "module-vit_book.photographs")
    assert head == ["name", "library", "credit", "license"]
    assert [name for name, *_ in photos] == list(PHOTOS)
    head, _, _, base, *_ = cells_of("model", "vision-transformer")
    shown = [str(getattr(ViTConfig.base(), column)) for column in head[1:]]
    assert base == ["base", *shown]
    presets = [asdict(getattr(ViTConfig, name)()) for name in PRESETS]
    differing = [f for f in presets[0] if len({preset[f] for preset in presets}) > 1]
    assert set(differing) <= set(head), "a column for each field that a preset sets"
    devices = cells_of("speed_and_scale", "module-vit_steps.training_cost")[1:]
    assert [name for name, *_ in devices] == list(ACCELERATORS)
    assert devices[1][1:] == ["312,000,000,000,000", "80,000,000,000"]


def test_each_check_is_listed_with_what_it_is_given():
    rows = cells_of("tests", "the-checks-of-the-exercises")
    names = {name for name, *_ in rows}
    assert len(rows) == len(names)
    others = {"CheckFailed", "answer", "answers", "handed_out", "status"}
    assert names == set(vit_check.__all__) - others
    said = next(said for name, said in rows if name == "patchify")
    assert said == f"{vit_check.patchify.signature} (exercises 2)"


@pytest.mark.parametrize(
    "command",
    ["__main__", "train --data cluttered-digits", "evaluate", "predict", "export"],
)
def test_the_help_of_a_command_is_on_its_page(command):
    module, *arguments = command.split()
    text = help_of(f"vit_steps.{module}", *arguments)
    assert text.startswith("usage: python -m vit_steps")
    shown = page_soup("book/package/command_line").select("div.highlight-text pre")
    assert text.strip() in [pre.get_text().strip() for pre in shown]


def test_the_help_is_as_wide_as_the_page():
    lines = help_of("vit_steps.__main__").splitlines()
    assert max(map(len, lines)) <= 80
    assert Path(HTML / "book/package/command_line.html").exists()
