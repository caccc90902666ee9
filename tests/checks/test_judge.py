"""Answers are judged in another process than the one that runs them."""

import json
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import torch
from safetensors.torch import save

import vit_check as check
import vit_steps
from vit_check.engine.asking import JUDGE
from vit_check.engine.wire import LARGEST_MESSAGE, decode, encode
from vit_check.judge import Judge

pytestmark = pytest.mark.skipif(
    not hasattr(socket, "AF_UNIX"), reason="no Unix sockets here"
)


@pytest.fixture
def judge():
    """In a folder whose path is short enough for a socket; tmp_path's may not be."""
    with TemporaryDirectory() as folder, Judge(Path(folder, "judge")) as judge:
        yield judge


def run(judge, code):
    """Run code in another process, whose checks ask the judge."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, JUDGE: judge.path},
        capture_output=True,
        text=True,
    )


@pytest.fixture
def asked(judge, monkeypatch):
    """The same judge, which the checks of this process ask."""
    monkeypatch.setenv(JUDGE, judge.path)
    return judge


def test_right_and_wrong(judge):
    done = run(
        judge,
        """
import torch, vit_steps
import vit_check as check

check.multi_head_attention(vit_steps.MultiHeadAttention)
check.split_heads(lambda x, h: x.unflatten(2, (h, -1)).transpose(1, 2))
check.split_heads(lambda x, h: x.unflatten(2, (h, -1)))
""",
    )
    assert done.stdout == "multi_head_attention: right\nsplit_heads: right\n"
    assert "split_heads: the heads stand behind the tokens" in done.stderr
    assert [r.check for r in judge.records] == [
        "multi_head_attention",
        "split_heads",
        "split_heads",
    ]
    assert [r.passed for r in judge.records] == [True, True, False]
    assert judge.records[2].sentence.startswith("the heads stand behind the tokens")
    judge.clear()
    assert judge.records == []


def test_a_function_with_the_weights_is_judged_as_one(asked):
    from tests.checks.answers.multi_head_attention.multi_head_attention import (
        as_a_function,
        unscaled_function,
    )

    check.multi_head_attention(as_a_function)
    with pytest.raises(check.CheckFailed, match="not divided by √d"):
        check.multi_head_attention(unscaled_function)


def test_who_changes_the_check_has_passed_nothing(judge):
    run(
        judge,
        "import vit_check as check; check.split_heads = print; check.split_heads(1)",
    )
    assert judge.records == []
    run(
        judge,
        """
import vit_check as check
import vit_check.engine.check as checking
checking.same = lambda *_: True
check.split_heads.judge = lambda *_: None
check.split_heads.verdict = lambda *_: None
import vit_check.engine.comparing as comparing
comparing.same = comparing.difference = lambda *_, **__: None
check.split_heads(lambda x, h: x)
""",
    )
    assert [r.passed for r in judge.records] == [False]


def test_values_are_judged_by_name(judge):
    code = "import vit_check as check; check.answer('tokens_at_384', %s)"
    assert run(judge, code % 577).returncode == 0
    assert "the class token is a token too" in run(judge, code % 576).stderr
    assert [(r.check, r.passed) for r in judge.records] == [
        ("answer:tokens_at_384", True),
        ("answer:tokens_at_384", False),
    ]


def test_each_of_several_answers_is_judged(asked, capsys):
    shape = (5, 24, 49)
    with pytest.raises(check.CheckFailed, match="the class token is a token too"):
        check.answers(
            tokens_at_384=576, split_heads=print, shape_of_small_patches=shape
        )
    assert capsys.readouterr().out == "shape_of_small_patches: right\n"
    assert [(r.check, r.passed) for r in asked.records] == [
        ("answer:tokens_at_384", False),
        ("split_heads", False),
        ("answer:shape_of_small_patches", True),
    ]


def test_a_module_that_is_built_is_judged_with_its_sizes(asked):
    check.multi_head_attention(vit_steps.MultiHeadAttention(20, 4))
    with pytest.raises(check.CheckFailed, match="num_heads is built in"):
        check.multi_head_attention(lambda D, h: vit_steps.MultiHeadAttention(D, 4))


def test_an_endless_loop_is_judged_too(judge):
    code = """
import vit_check as check
def loop(x, h):
    while True:
        pass
check.split_heads(loop)
"""
    assert "is there an endless loop" in run(judge, code).stderr
    assert [r.passed for r in judge.records] == [False]


def talk(judge, *messages):
    """Send raw messages to a judge and hang up."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(judge.path)
        for message in messages:
            connection.sendall(struct.pack("!Q", len(message)) + message)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(2**16):
            pass


HEADER = json.dumps({"__metadata__": {"structure": "[" * 100_000}}).encode()


@pytest.mark.parametrize(
    "records",
    [
        [],
        [{}],
        [{"output": 1}] * 4,
        [{"output": {"a": None}, "again": None, "after": []}] * 4,
        [{"trouble": 3}] * 4,
        "text",
        [None] * 4,
    ],
)
def test_rubbish_for_records_is_not_passed(asked, records):
    request = encode({"check": "split_heads", "form": "itself"})
    talk(asked, request, encode({"records": records}))
    assert not any(r.passed for r in asked.records)
    with pytest.raises(check.CheckFailed):
        check.split_heads(1)
    assert asked.records[-1].sentence.startswith("got int, expected split_heads")


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"not a message",
        encode({"check": "nonsense", "form": "itself"}),
        encode({"check": "split_heads"}),
        save({"0": torch.ones(2)}),
        struct.pack("<Q", len(HEADER)) + HEADER,
    ],
)
def test_rubbish_does_not_stop_the_judge(asked, message):
    talk(asked, message)
    with pytest.raises(check.CheckFailed):
        check.split_heads(1)
    assert [r.passed for r in asked.records] == [False]


def test_a_message_that_is_too_long_is_not_read(judge):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(judge.path)
        connection.sendall(struct.pack("!Q", LARGEST_MESSAGE + 1))
        assert connection.recv(1) == b""


@pytest.mark.parametrize(
    "message",
    [
        [],
        {"a": [1, 2.5, None, "s", True], "b": {"c": (1, (2,))}},
        [torch.arange(6).reshape(2, 3).T, torch.tensor(True)],
        [torch.ones(2, dtype=torch.float64), torch.ones(1, dtype=torch.bfloat16)],
        [torch.zeros(0, 3), torch.tensor(1.5)],
    ],
)
def test_what_is_sent_arrives(message):
    arrived = decode(encode(message))
    assert str(arrived) == str(message)


def test_sizes_are_not_taken_from_a_notebook(asked):
    with pytest.raises(check.CheckFailed, match="is graded on the class"):
        check.multi_head_attention(torch.nn.Identity(), embed_dim=1, num_heads=1)
