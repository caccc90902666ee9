import errno
import io
import json
import os
import pickle
import re
import stat
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from tests.conftest import ROOT
from tests.package.small_training import small_vit
from vit_steps import VisionTransformer, checkpoint, vision_transformer
from vit_steps.checkpoint import (
    check_writable,
    fitted,
    read_checkpoint,
    write_checkpoint,
    write_whole,
)
from vit_steps.variants import VariantConfig, VariantVisionTransformer

TENSORS = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.tensor([1, 2])}

# --- writing -------------------------------------------------------------------------


def test_written_tensors_are_read_unchanged(tmp_path):
    path = tmp_path / "new" / "folder" / "x.safetensors"
    turned = TENSORS | {"t": TENSORS["a"].t(), "half": torch.ones(2).half()}
    write_checkpoint(path, turned, {"epoch": 3, "why": "½ ≠ 0"})
    tensors, metadata = read_checkpoint(path)
    torch.testing.assert_close(tensors, turned, rtol=0, atol=0)
    assert metadata == {"epoch": 3, "why": "½ ≠ 0"}
    assert [p.name for p in path.parent.iterdir()] == ["x.safetensors"]
    torch.testing.assert_close(load_file(path), turned, rtol=0, atol=0)


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(errno.ENOSPC, "full")])
@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_process_killed_while_writing_leaves_the_last_good_file(
    tmp_path, monkeypatch, call, error
):
    path = tmp_path / "x.safetensors"
    write_checkpoint(path, TENSORS, {"epoch": 1})

    def die(*_):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.os, call, die)
        with pytest.raises((KeyboardInterrupt, OSError)) as caught:
            write_checkpoint(path, {"a": torch.zeros(9)}, {"epoch": 2})
    if isinstance(error, OSError):
        assert caught.value.errno == errno.ENOSPC and str(path) in str(caught.value)
    assert os.listdir(tmp_path) == ["x.safetensors"]
    tensors, metadata = read_checkpoint(path)
    assert metadata == {"epoch": 1} and tensors.keys() == TENSORS.keys()
    write_checkpoint(path, TENSORS, {"epoch": 2})
    assert read_checkpoint(path)[1] == {"epoch": 2}


# Writes a file 60 times, each time with several tensors that are full of one number.
WRITER = """
import itertools, os, sys, torch
from vit_steps.checkpoint import write_checkpoint
path, stop, sign, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
for number in itertools.count(1):
    turn = sign * number
    tensors = {"a": torch.full((size,), float(turn)), "b": torch.tensor(turn)}
    write_checkpoint(path, tensors, {"turn": turn, "size": size})
    if os.path.exists(stop):
        break
print(turn)
"""


def test_two_writers_and_a_reader_never_meet_in_a_file(tmp_path):
    path, stop = tmp_path / "written" / "x.safetensors", tmp_path / "stop"
    path.parent.mkdir()
    tensors = {"a": torch.zeros(3), "b": torch.tensor(0)}
    write_checkpoint(path, tensors, {"turn": 0, "size": 3})
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, path, stop, sign, size],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        for sign, size in (("1", "10"), ("-1", "200_000"))
    ]
    turns = {0}
    try:
        while len(turns) < 40 or not min(turns) < 0 < max(turns):
            tensors, about = read_checkpoint(path)
            assert tensors["b"].item() == about["turn"]
            expected = torch.full((about["size"],), float(about["turn"]))
            assert torch.equal(tensors["a"], expected)
            turns.add(about["turn"])
            assert not any(map(subprocess.Popen.poll, writers)), "a writer has failed"
    finally:
        stop.touch()
        printed = [writer.communicate() for writer in writers]
    assert [errors for _, errors in printed] == ["", ""]
    assert os.listdir(path.parent) == ["x.safetensors"]
    assert read_checkpoint(path)[1]["turn"] in [int(turn) for turn, _ in printed]


def test_a_file_has_the_permissions_of_new_files(tmp_path):
    (tmp_path / "other").touch()
    write_whole(tmp_path / "x", b"content")
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert len(modes) == 1 and (tmp_path / "x").read_bytes() == b"content"


def test_a_wrong_path_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"path: got .*x.pt', expected a name in .saf"):
        write_checkpoint(tmp_path / "x.pt", TENSORS, {})
    (tmp_path / "x.safetensors").mkdir()
    with pytest.raises(ValueError, match=r"x.safetensors', a folder, expected a name"):
        write_checkpoint(tmp_path / "x.safetensors", TENSORS, {})


def test_where_nothing_can_be_written_it_is_said(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    sentence = r"path: '.*x.safetensors' cannot be written: .*"
    with pytest.raises(OSError, match=sentence + "file'"):
        check_writable(tmp_path / "file" / "x.safetensors")

    def read_only(dir):
        raise OSError(errno.EROFS, "Read-only file system", str(dir))

    monkeypatch.setattr(checkpoint, "TemporaryFile", read_only)
    with pytest.raises(OSError, match=sentence + "Read-only file system"):
        check_writable(tmp_path / "x.safetensors")
    assert os.listdir(tmp_path) == ["file"]


def test_checking_a_path_changes_no_file(tmp_path):
    path = tmp_path / "new" / "x.safetensors"
    assert check_writable(path) == path and not os.listdir(path.parent)
    path.write_bytes(b"before")
    check_writable(path)
    assert os.listdir(path.parent) == [path.name] and path.read_bytes() == b"before"


# --- reading damaged and forged files ------------------------------------------------


def test_a_missing_file_is_named_with_the_models_that_ship():
    with pytest.raises(FileNotFoundError, match="got 'nowhere', expected a file, or"):
        read_checkpoint("nowhere")
    for of_class in (VisionTransformer, VariantVisionTransformer):
        with pytest.raises(FileNotFoundError) as caught:
            of_class.from_pretrained("nowhere")
        names = rf"[:;] ([\w, -]+) \({of_class.__name__}\)"
        listed = re.search(names, str(caught.value))[1]
        for name in listed.split(", "):
            assert type(of_class.from_pretrained(name)) is of_class


def test_the_weights_of_others_are_sent_elsewhere(tmp_path):
    path = tmp_path / "x.safetensors"
    save_file(TENSORS, path)
    header, data = taken_apart(path.read_bytes())
    for metadata in ({}, {"__metadata__": {"format": "pt"}}, {"__metadata__": None}):
        path.write_bytes(put_together(header | metadata, data))
        with pytest.raises(ValueError, match="not written by vit_steps; vit_steps."):
            read_checkpoint(path)


@pytest.fixture
def model_file(tmp_path):
    path = tmp_path / "m.safetensors"
    small_vit().save_pretrained(path)
    return path


@pytest.fixture
def built(monkeypatch):
    """The devices on which blocks are built: "cpu" needs memory, "meta" does not."""
    devices = []
    block = vision_transformer.EncoderBlock

    def recorded(**arguments):
        devices.append(torch.get_default_device().type)
        return block(**arguments)

    monkeypatch.setattr(vision_transformer, "EncoderBlock", recorded)
    return devices


def refused(path, built, model_class=VisionTransformer):
    """Return the error's message; it must be raised before a model takes memory."""
    with pytest.raises(ValueError) as caught:
        model_class.from_pretrained(path)
    assert set(built) <= {"meta"}  # where blocks take no room
    assert path.name in str(caught.value)
    return str(caught.value)


def taken_apart(content):
    """Return header and data of a safetensors file."""
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def put_together(header, data, length=None):
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(header) if length is None else length) + header + data


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(TENSORS))
    return file.getvalue()


NO_CHECKPOINT = {
    "empty": lambda whole: b"",
    "one byte": lambda whole: b"\x01",
    "cut in the length": lambda whole: whole[:7],
    "cut in the header": lambda whole: whole[:20],
    "cut in the numbers": lambda whole: whole[:-4],
    "longer": lambda whole: whole + bytes(8),
    "a pickle": lambda whole: pickle.dumps(TENSORS),
    "a zip, as torch.save writes": lambda whole: zipped(),
    "an npz": lambda whole: npz(a=np.zeros(3)),
    "text": lambda whole: b"version https://git-lfs.github.com/spec/v1\n" * 9,
    "a header of 8 EiB": lambda whole: put_together({}, b"", length=2**63),
    "a header of 100 MB": lambda whole: put_together({}, b"", length=10**8),
    "a header too deep": lambda whole: put_together(b'{"a":' + b"[" * 10**5, b""),
    "a header that is a list": lambda whole: put_together([], b""),
}


@pytest.mark.parametrize("damage", NO_CHECKPOINT)
def test_other_files_are_refused(model_file, built, damage):
    model_file.write_bytes(NO_CHECKPOINT[damage](model_file.read_bytes()))
    message = refused(model_file, built)
    assert "damaged, or not a safetensors file" in message
    assert message.endswith("load_weights takes what torch.load reads from a pickle")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="expected a file"):
        VisionTransformer.from_pretrained(tmp_path)


def entries(header):
    return {name: entry for name, entry in header.items() if name != "__metadata__"}


def change(name, **fields):
    def damage(header):
        header[name] |= fields

    return damage


def rename(old, new):
    def damage(header):
        header[new] = header.pop(old)

    return damage


def overlap(header):
    first, second = list(entries(header).values())[:2]
    second["data_offsets"] = first["data_offsets"]


def pad(header):
    """Add as many empty tensors as a deep model has."""
    end = max(entry["data_offsets"][1] for entry in entries(header).values())
    for index in range(2, 3000):
        none = {"dtype": "F32", "shape": [0], "data_offsets": [end, end]}
        header[f"blocks.{index}.norm1.weight"] = none
    config = json.loads(header["__metadata__"]["vit_steps"])
    config["config"]["depth"] = 3000
    header["__metadata__"]["vit_steps"] = json.dumps(config)


LIES_ABOUT_TENSORS = {
    "a trillion numbers": change("head.weight", shape=[10**12, 8]),
    "more than can be counted": change("head.weight", shape=[2**62, 2**62]),
    "one place for two": overlap,
    "beyond the end": change("head.weight", data_offsets=[10**9, 10**9 + 96]),
    "backwards": change("head.weight", data_offsets=[96, 0]),
    "a negative length": change("head.weight", shape=[-3, -8]),
    "half a number": change("head.weight", shape=[1.5, 16]),
    "turned": change("head.weight", shape=[8, 3]),
    "another rank": change("head.weight", shape=[3, 8, 1]),
    "a thousand axes": change("head.weight", shape=[1] * 1000 + [3, 8]),
    "integers": change("head.weight", dtype="I32"),
    "other halves": change("head.weight", dtype="F16", shape=[3, 16]),
    "numbers of 8 bits": change("head.weight", dtype="F8_E4M3", shape=[3, 32]),
    "complex numbers": change("head.weight", dtype="C64", shape=[3, 4]),
    "a type that is none": change("head.weight", dtype="F33"),
    "another name": rename("norm.weight", "norm.gain"),
    "a number too many": rename("norm.weight", "blocks.2.norm.weight"),
    "a leading zero": rename("blocks.1.norm1.weight", "blocks.01.norm1.weight"),
    "one block less": lambda header: [
        header.pop(name) for name in list(header) if name.startswith("blocks.1.")
    ],
    "as many tensors as blocks": pad,
}


@pytest.mark.parametrize("lie", LIES_ABOUT_TENSORS)
def test_a_header_that_lies_is_refused(model_file, built, lie):
    header, data = taken_apart(model_file.read_bytes())
    LIES_ABOUT_TENSORS[lie](header)
    model_file.write_bytes(put_together(header, data))
    refused(model_file, built)


LIES_IN_THE_CONFIG = [
    {"depth": 10**6},
    {"depth": 10**30},
    {"depth": 1},
    {"depth": 3},
    {"depth": 0},
    {"depth": 2.0},
    {"depth": True},
    {"embed_dim": 10**6},
    {"embed_dim": 10**18},
    {"embed_dim": 10**30},
    {"embed_dim": 10**400},
    {"embed_dim": "8"},
    {"embed_dim": None},
    {"embed_dim": [8]},
    {"image_size": 4 * 10**6},
    {"image_size": 4 * 10**30},
    {"image_size": [8, 8, 8]},
    {"image_size": [[8], [8]]},
    {"image_size": "8"},
    {"image_size": {"height": 8}},
    {"num_heads": 3},
    {"num_classes": 10**12},
    {"in_channels": 10**30},
    {"mlp_ratio": "2.0"},
    {"mlp_ratio": [1] * 1000},
    {"mlp_ratio": 1e300},
    {"mlp_ratio": float("nan")},
    {"mlp_ratio": float("inf")},
    {"mlp_ratio": -1.0},
    {"qkv_bias": "yes"},
    {"qkv_bias": 1},
    {"qkv_bias": False},
    {"drop_rate": "0"},
    {"drop_rate": float("nan")},
    {"norm_eps": float("inf")},
    {"norm_eps": 0},
    {"layer_scale": float("nan")},
    {"layer_scale": "a"},
    {"layer_scale": 0.1},
    {"representation_size": 10**9},
    {"colour": "green"},
]


def with_metadata(path, change):
    header, data = taken_apart(path.read_bytes())
    metadata = json.loads(header["__metadata__"]["vit_steps"])
    text = change(metadata)
    text = text if isinstance(text, str) else json.dumps(metadata)
    header["__metadata__"]["vit_steps"] = text
    path.write_bytes(put_together(header, data))


def name_and_value(lie):
    ((name, value),) = lie.items()
    return f"{name}={str(value)[:20]}"


@pytest.mark.parametrize("lie", LIES_IN_THE_CONFIG, ids=name_and_value)
def test_a_config_that_lies_is_refused(model_file, built, lie):
    with_metadata(model_file, lambda metadata: metadata["config"].update(lie))
    refused(model_file, built)


LIES_IN_THE_METADATA = {
    "no JSON": lambda metadata: "{",
    "nothing": lambda metadata: "",
    "a list": lambda metadata: "[]",
    "null": lambda metadata: "null",
    "too deep": lambda metadata: '{"config": ' + "[" * 10**5 + "]" * 10**5 + "}",
    "a long number": lambda metadata: '{"config": ' + "9" * 10**4 + "}",
    "no config": lambda metadata: metadata.pop("config") and None,
    "a config of no fields": lambda metadata: metadata.update(config={}),
    "a list of fields": lambda metadata: metadata.update(config=["depth"]),
    "a word for a config": lambda metadata: metadata.update(config="depth"),
    "a field too few": lambda metadata: metadata["config"].pop("norm_eps") and None,
    "another class": lambda metadata: metadata.update({"class": "Variant"}),
    "no class": lambda metadata: metadata.update({"class": ["VisionTransformer"]}),
}


@pytest.mark.parametrize("lie", LIES_IN_THE_METADATA)
def test_metadata_that_lies_are_refused(model_file, built, lie):
    with_metadata(model_file, LIES_IN_THE_METADATA[lie])
    refused(model_file, built)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), 1e300])
def test_weights_that_are_not_finite_are_refused(model_file, built, number):
    """1e300 is finite in the file's float64, but infinite in the model's float32."""
    tensors, metadata = read_checkpoint(model_file)
    tensors = {name: tensor.double() for name, tensor in tensors.items()}
    tensors["blocks.1.mlp.fc1.weight"][2, 3] = number
    write_checkpoint(model_file, tensors, metadata)
    sentence = refused(model_file, built)
    assert "'blocks.1.mlp.fc1.weight' that are not finite" in sentence


@pytest.mark.parametrize(
    "lie",
    [
        {"num_registers": 10**12},
        {"num_registers": True},
        {"pooling": "max"},
        {"positions": None},
        {"image_size": 4 * 10**8, "positions": "sincos"},
    ],
    ids=str,
)
def test_a_variants_config_that_lies_is_refused(tmp_path, built, lie):
    path = tmp_path / "v.safetensors"
    config = VariantConfig(
        8, 4, 1, 3, embed_dim=8, depth=2, num_heads=2, pooling="mean"
    )
    VariantVisionTransformer(config).save_pretrained(path)
    built.clear()
    with_metadata(path, lambda metadata: metadata["config"].update(lie))
    refused(path, built, VariantVisionTransformer)


def test_json_forms_of_sizes_and_numbers_are_accepted(model_file):
    def change(metadata):
        metadata["config"] |= {"image_size": [8, 8], "mlp_ratio": 2, "drop_rate": 0}

    with_metadata(model_file, change)
    model = VisionTransformer.from_pretrained(model_file)
    assert model.config.image_size == 8 and hash(model.config)


@settings(max_examples=300)
@given(st.data())
def test_any_other_byte_is_taken_or_refused(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("flipped") / "m.safetensors"
    small_vit().save_pretrained(path)
    content = bytearray(path.read_bytes())
    places = st.one_of(st.integers(0, 2500), st.integers(0, len(content) - 1))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(places)] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.sampled_from([None, None, -8, 2000]))])
    try:
        model = VisionTransformer.from_pretrained(path)
    except ValueError as error:
        assert "m.safetensors" in str(error)
    else:
        assert all(tensor.isfinite().all() for tensor in model.state_dict().values())


@pytest.mark.parametrize("dtype", [torch.float8_e5m2, torch.int32, torch.complex64])
def test_another_kind_of_number_is_refused(dtype):
    came, expected = {"a": torch.ones(2).to(dtype)}, {"a": torch.ones(2)}
    with pytest.raises(
        ValueError, match=rf"x: got {dtype} \(2,\) for 'a', expected fl"
    ):
        fitted("x", came, expected)


def test_tensors_that_may_be_infinite_are_named():
    mask = {"mask": torch.tensor([0.0, -torch.inf])}
    with pytest.raises(ValueError, match="x: got numbers in 'mask' that are not fini"):
        fitted("x", mask, mask)
    assert fitted("x", mask, mask, unlimited={"mask"}).keys() == mask.keys()
