import nbformat
import pytest
import torch
from nbformat.v4 import new_code_cell, new_notebook

from experiments import choices
from experiments.recorded import run
from experiments.writing import write_results
from vit_book import results
from vit_book.results import FOLDER, read_results, recorded


@pytest.mark.parametrize(
    "name",
    [
        *("ingredients", "attention-seeds", "variants", "modern", "distillation"),
        *("choices-shape", "choices-rates"),
    ],
)
def test_what_was_measured_is_written_as_it_stands(name, tmp_path, monkeypatch):
    measured = read_results(name)
    made = measured.pop("made")
    monkeypatch.setattr(torch, "__version__", made["torch"] + "+cpu")
    write_results(name, made["command"], folder=tmp_path, **measured)
    file = f"{name}.json"
    assert (tmp_path / file).read_bytes() == (FOLDER / file).read_bytes()


@pytest.mark.parametrize("name", choices.RECORDS)
def test_every_choice_was_measured_from_every_seed(name):
    runs, _ = choices.RECORDS[name]
    measured = read_results(f"choices-{name}")["runs"]
    found = [[one for one in measured if run.items() <= one.items()] for run in runs()]
    assert [len(ones) for ones in found] == [1] * len(measured)
    assert all("top1" in one for one in measured)


def test_unknown_results_are_refused():
    with pytest.raises(
        ValueError, match="^name: got 'luck', expected one of .*variants"
    ):
        read_results("luck")


def test_a_record_stands_for_a_long_run(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    (tmp_path / "long.json").write_text('{"made": {}, "runs": {"a": [1, 2]}}')

    def never():
        raise AssertionError("it was run")

    assert recorded("long", "a", never) == [1, 2]
    assert recorded("long", "a", lambda: [3, 4], again=True) == [3, 4]
    with pytest.raises(ValueError, match="key: got 'b', expected one of a"):
        recorded("long", "b", never)


def test_a_chapters_long_runs_are_run_where_they_stand(tmp_path):
    cells = [
        "import vit_book",
        "factor = 3",
        "b = vit_book.recorded('long', 'a', lambda: [factor * n for n in (1, 2)])",
        "assert vit_book.recorded('long', 'b', lambda: sum(b)) == 9",
    ]
    path = tmp_path / "chapter.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(cell) for cell in cells]), path)
    assert run(path, "long") == {"a": [3, 6], "b": 9}
