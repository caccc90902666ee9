import pytest
import torch

from experiments.writing import write_results
from vit_steps.notebook.results import FOLDER, read_results


@pytest.mark.parametrize("name", ["ingredients", "attention-seeds", "variants"])
def test_what_was_measured_is_written_as_it_stands(name, tmp_path, monkeypatch):
    results = read_results(name)
    made = results.pop("made")
    monkeypatch.setattr(torch, "__version__", made["torch"] + "+cpu")
    write_results(name, made["command"], folder=tmp_path, **results)
    file = f"{name}.json"
    assert (tmp_path / file).read_bytes() == (FOLDER / file).read_bytes()


def test_unknown_results_are_refused():
    with pytest.raises(
        ValueError, match="^name: got 'luck', expected one of .*variants"
    ):
        read_results("luck")
