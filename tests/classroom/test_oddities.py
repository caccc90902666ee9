"""What a teacher should look at is found, and what is ordinary is not reported."""

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from classroom.grading.copies import own_work
from classroom.grading.oddities import _imported, _tree, odd_source

SOURCE = new_notebook(
    cells=[
        new_code_cell(
            "def patchify(images):\n    return images",
            metadata={"nbgrader": {"grade": False, "solution": True}},
        )
    ]
)


def oddities_of(*sources):
    """What is found in cells that a student wrote."""
    return odd_source(new_notebook(cells=list(map(new_code_cell, sources))), SOURCE)


@pytest.mark.parametrize(
    "sources",
    [
        ["from vit_steps import patchify"],
        ["from vit_steps.patch_embedding import patchify as mine"],
        ["import vit_steps\nvit_steps.patchify(x)"],
        ["import vit_steps as v", "mine = v.patchify"],
        ["from vit_steps import patch_embedding as pe", "pe.patchify(x)"],
        ["import vit_steps.patch_embedding as pe\npe.patchify(x)"],
        ["import vit_steps", "pe = vit_steps.patch_embedding", "f = pe.patchify"],
    ],
)
def test_taking_it_from_the_package_is_seen(sources):
    sentence = "takes patchify from the package instead of writing it."
    assert oddities_of(*sources) == [f"Cell {len(sources)} {sentence}"]


def test_taking_everything_is_seen():
    assert oddities_of("from vit_steps import *") == [
        "Cell 1 takes everything from vit_steps."
    ]


@pytest.mark.parametrize(
    "source",
    [
        "check = None",
        "_, check = 1, 2",
        "def check(): pass",
        "import mine as check",
        "from mine import check",
        "check.patchify = print",
        "c.patchify = print",
        "del c.patchify",
        "setattr(c, name, print)",
        "setattr(check, name, print)",
        "import vit_check.engine.check as engine\nengine.ask = print",
    ],
)
def test_changing_the_checks_is_seen(source):
    assert oddities_of("import vit_check as c", source) == [
        "Cell 2 changes the checks."
    ]


@pytest.mark.parametrize(
    "source",
    [
        "import os\nx = os" + ".path" * 2000,
        "x = f" + "()" * 1500,
        "x = (" + "-" * 2900 + "1)",
    ],
)
def test_what_is_nested_deeply_is_looked_at(source):
    notebook = new_notebook(cells=[new_code_cell(source)])
    assert odd_source(notebook, SOURCE) == []
    assert own_work(notebook, SOURCE)[1] == ""


@pytest.mark.parametrize("source", ["!true\n" * 600, "x = 1\n" * 60_000])
def test_what_is_too_much_is_said(source):
    """IPython would not read the first at all, and the second takes a while."""
    notebook = new_notebook(cells=[new_code_cell(source)])
    said = ["Cell 1 is too much to be looked at."]
    assert odd_source(notebook, SOURCE) == said
    assert own_work(notebook, SOURCE) == ("", "")


def test_names_of_names_do_not_grow():
    source = "import os as y0\n"
    source += "".join(f"y{n + 1} = y{n}.path\n" for n in range(2000))
    assert max(map(len, _imported([_tree(source)]).values())) < 300


def test_ordinary_work_is_not_reported():
    assert not oddities_of(
        "import torch\nimport vit_check as check\nimport vit_steps",
        "from vit_steps import MultiHeadAttention, token_count",
        "def patchify(images):\n    return images.reshape(-1)",
        "check.patchify(patchify)\ncheck.patchify(patchify, hint=1)",
        "model = vit_steps.MultiHeadAttention(8, 2)\nmodel.scale = 1.0",
        "mine.patchify = patchify",
    )
