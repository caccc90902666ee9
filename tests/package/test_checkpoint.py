import os
import pickle

import pytest
import torch
from safetensors.torch import load_file, save_file

from vit_steps import checkpoint
from vit_steps.checkpoint import read_checkpoint, write_checkpoint

TENSORS = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.tensor([1, 2])}


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "new" / "folder" / "x.safetensors"
    turned = TENSORS | {"t": TENSORS["a"].t(), "half": torch.ones(2).half()}
    write_checkpoint(path, turned, {"epoch": 3, "why": "½ ≠ 0"})
    tensors, metadata = read_checkpoint(path)
    torch.testing.assert_close(tensors, turned, rtol=0, atol=0)
    assert metadata == {"epoch": 3, "why": "½ ≠ 0"}
    assert [p.name for p in path.parent.iterdir()] == ["x.safetensors"]
    torch.testing.assert_close(load_file(path), turned, rtol=0, atol=0)


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_what_dies_while_writing_leaves_the_last_good_file(tmp_path, monkeypatch, call):
    path = tmp_path / "x.safetensors"
    write_checkpoint(path, TENSORS, {"epoch": 1})

    def die(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.os, call, die)
        with pytest.raises(KeyboardInterrupt):
            write_checkpoint(path, {"a": torch.zeros(9)}, {"epoch": 2})
    tensors, metadata = read_checkpoint(path)
    assert metadata == {"epoch": 1} and tensors.keys() == TENSORS.keys()
    write_checkpoint(path, TENSORS, {"epoch": 2})
    assert read_checkpoint(path)[1] == {"epoch": 2}
    assert os.listdir(tmp_path) == ["x.safetensors"]


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"path: got .*x.pt', expected a name in .saf"):
        write_checkpoint(tmp_path / "x.pt", TENSORS, {})


def test_what_is_not_there_is_named_with_what_is():
    with pytest.raises(FileNotFoundError, match="got 'nowhere', expected a file, or"):
        read_checkpoint("nowhere")


def test_damaged_files_and_others_are_refused(tmp_path):
    path = tmp_path / "x.safetensors"
    write_checkpoint(path, TENSORS, {})
    whole = path.read_bytes()
    for damaged in (whole[:-4], whole[:20], b"", pickle.dumps(TENSORS)):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match="x.safetensors: damaged, or not a safe"):
            read_checkpoint(path)
    save_file(TENSORS, path)
    with pytest.raises(ValueError, match="not written by vit_steps; for the weights"):
        read_checkpoint(path)
