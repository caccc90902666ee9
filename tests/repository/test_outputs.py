"""Test that every cell has been run, in order, and that its output can be compared."""

import ast
import base64
import io
import re

import pytest
from PIL import Image

from tests.conftest import (
    CHAPTERS,
    CONTROLS,
    NOTEBOOKS,
    ROOT,
    SIDE_ROADS,
    code_cells,
    read,
    tags,
)
from vit_book.drawings import FOLDER as DRAWINGS

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
every_chapter = pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: p.stem)


def pictures(cell):
    shown = (output.get("data", {}) for output in cell.get("outputs", []))
    return [data for data in shown if any(kind.startswith("image/") for kind in data)]


def test_all_chapters_are_there():
    assert [p.stem[:2] for p in CHAPTERS] == [f"{i:02}" for i in range(len(CHAPTERS))]
    assert len(CHAPTERS) >= 8


@every_notebook
def test_every_cell_has_been_run_in_order(path):
    cells = [c for c in code_cells(path) if "nbval-skip" not in tags(c)]
    counts = [c.execution_count for c in cells]
    assert None not in counts
    assert counts == sorted(counts) and len(set(counts)) == len(counts)
    assert counts == list(range(counts[0], counts[0] + len(counts))), (
        "cells were skipped"
    )


@every_notebook
def test_no_cell_failed_or_complained(path):
    for cell in code_cells(path):
        for output in cell.outputs:
            assert output.output_type != "error", cell.id
            assert output.get("name") != "stderr", f"{cell.id}: {output.text}"


FOR_MACHINES = re.compile(
    r"torch\.Size|<All keys|tensor\(\[\[|object at|(?<!eps)(?<!ours): \S*\de-\d\d"
)


@pytest.mark.parametrize("path", [*CHAPTERS, *SIDE_ROADS], ids=lambda p: p.stem)
def test_outputs_are_written_for_readers(path):
    for cell in code_cells(path):
        for output in cell.outputs:
            text = output.get("text") or output.get("data", {}).get("text/plain", "")
            if "size mismatch for" in text:
                continue  # PyTorch's own message, which the text is about
            assert not FOR_MACHINES.search(text), f"{cell.id}: {text[:99]}"


@every_notebook
def test_every_figure_is_a_png_or_a_drawing_with_alt_text(path):
    for cell in code_cells(path):
        drawn = pictures(cell)
        assert len(drawn) <= 1, (
            f"{cell.id}: one figure a cell, each has its own alt text"
        )
        said = cell.metadata.get("mystnb", {})
        for data in drawn:
            alt = said.get("image", {}).get("alt", "")
            assert len(alt.split()) >= 8, f"{cell.id}: say what the figure shows"
            caption = said.get("figure", {}).get("caption", "")
            assert not CONTROLS.search(caption), f"{cell.id}: it is on paper, too"
            assert {"image/png", "image/svg+xml"} & data.keys(), cell.id
            if "image/png" in data:
                file = io.BytesIO(base64.b64decode(data["image/png"]))
                assert "images" in Image.open(file).info, f"{cell.id}: run it again"
            if "image/svg+xml" in data:
                name = data["text/plain"].removeprefix("drawing: ")
                svg = (DRAWINGS / f"{name}.svg").read_text(encoding="utf-8")
                assert data["image/svg+xml"] == svg, f"{cell.id}: run make outputs"
                assert len(caption.split()) >= 5, f"{cell.id}: say what to look for"
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            assert not re.search(r"!\[\s*\]\(", cell.source), cell.id


@every_notebook
def test_apostrophes_in_figures_are_curved(path):
    for cell in code_cells(path):
        if not any("image/png" in data for data in pictures(cell)):
            continue
        nodes = [*ast.walk(ast.parse(cell.source))]
        texts = {n.value for n in nodes if isinstance(n, ast.Constant)}
        docstrings = {
            ast.get_docstring(n, clean=False)
            for n in nodes
            if isinstance(n, ast.FunctionDef | ast.ClassDef)
        }
        drawn = [str(text) for text in texts - docstrings]
        assert not [text for text in drawn if re.search(r"[A-Za-z]'", text)], cell.id


@every_notebook
def test_the_first_code_cell_is_the_same_everywhere(path):
    first, reference = code_cells(path)[0], code_cells(CHAPTERS[0])[0]
    assert first.source == reference.source
    assert {"remove-cell", "nbval-skip"} <= set(tags(first))
    assert "pip" in first.source and "find_spec" in first.source


def test_the_first_code_cell_does_nothing_where_the_package_is_installed(monkeypatch):
    def run(*_, **__):
        raise AssertionError("something is installed")

    monkeypatch.setattr("subprocess.run", run)
    exec(compile(code_cells(CHAPTERS[0])[0].source, "first cell", "exec"), {})


@every_notebook
def test_skipped_cells_are_the_first_one_and_what_needs_a_network(path):
    first, *others = [c for c in code_cells(path) if "nbval-skip" in tags(c)]
    assert first.id == code_cells(path)[0].id
    for cell in others:
        assert cell.id.startswith("network") and "skip-execution" in tags(cell)
        assert not cell.outputs, "an output nobody here can have seen"


@every_notebook
def test_compared_outputs_hold_nothing_that_changes(path):
    suspects = re.compile(r"0x[0-9a-f]{6,}|/home/|/Users/|/tmp/|/root/|site-packages")
    for cell in code_cells(path):
        for output in cell.outputs:
            text = output.get("text", "") + output.get("data", {}).get("text/plain", "")
            assert not suspects.search(text), f"{cell.id}: {text[:200]}"


@every_notebook
def test_most_outputs_are_compared(path):
    cells = code_cells(path)
    ignored = [c for c in cells if "nbval-ignore-output" in tags(c)]
    assert len(ignored) <= len(cells) / 3


@every_notebook
def test_pictures_are_small(path):
    assert path.stat().st_size < 1_500_000


@every_notebook
def test_ids_are_stable_and_metadata_is_bare(path):
    notebook = read(path)
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-z0-9-]+", i) for i in ids)
    assert not any("execution" in cell.metadata for cell in notebook.cells)


@pytest.mark.parametrize("path", [*CHAPTERS, *SIDE_ROADS], ids=lambda p: p.stem)
def test_an_assertion_says_what_is_no_longer_true(path):
    for cell in code_cells(path):
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Assert):
                assert node.msg, f"{cell.id}: line {node.lineno} has no message"


@every_chapter
def test_five_beats_in_order(path):
    if path.stem.startswith("00"):
        return
    lines = [
        line[3:]
        for cell in read(path).cells
        if cell.cell_type == "markdown"
        for line in cell.source.splitlines()
        if line.startswith("## ")
    ]
    headings = [line.split(":")[0].strip() for line in lines]
    beats = [
        "The picture",
        "By hand",
        "The module",
        "Proof",
        "What breaks",
        "Exercises",
        "Recap",
        "Further reading",
    ]
    assert [h for h in dict.fromkeys(headings) if h in beats] == beats
    assert not set(beats[:5]) & set(lines), "a heading says what is behind its beat"


@every_chapter
def test_each_chapter_leads_to_the_next(path):
    index = CHAPTERS.index(path)
    if index + 1 < len(CHAPTERS):
        last = [c for c in read(path).cells if c.cell_type == "markdown"][-1].source
        assert CHAPTERS[index + 1].name in last


@every_notebook
def test_linked_papers_are_in_the_bibliography(path):
    bibliography = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    text = "\n".join(c.source for c in read(path).cells if c.cell_type == "markdown")
    for number in set(re.findall(r"arxiv\.org/abs/(\d{4}\.\d{4,5})", text)):
        assert number in bibliography, f"{path.name} links arXiv {number}"


LINKED_PAPER = re.compile(r"(\d{4})\]\(https://arxiv\.org/abs/([\d.]+)\)")


def test_a_paper_has_the_same_year_wherever_it_is_linked():
    years = {}
    for path in NOTEBOOKS:
        for year, paper in LINKED_PAPER.findall(prose_of(path)):
            years.setdefault(paper, set()).add(year)
    assert len(years) > 50
    assert {paper: found for paper, found in years.items() if len(found) > 1} == {}


CODE_AND_FORMULAS = re.compile(r"`[^`]*`|\$\$.*?\$\$|\$[^$]*\$", re.DOTALL)


def prose_of(path):
    cells = [c.source for c in read(path).cells if c.cell_type == "markdown"]
    return CODE_AND_FORMULAS.sub("", "\n".join(cells))


@every_notebook
def test_a_size_is_written_one_way_and_a_greek_letter_as_a_formula(path):
    prose = prose_of(path)
    assert re.findall(r"\d[ \xa0]×[ \xa0]\d+(?!\d| =)", prose) == []
    assert re.findall(r"[α-ορ-ω]", prose) == []  # except π
