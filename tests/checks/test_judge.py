"""Test the judge, which judges answers in a process other than the student's."""

import json
import os
import socket
import struct
import subprocess
import sys
import time

import pytest
import torch
from safetensors.torch import save

import vit_check as check
from tests.checks.answers import WRONG
from tests.checks.answers.multi_head_attention.multi_head_attention import as_a_function
from tests.checks.answers.multi_head_attention.split_heads import split_with_einops
from vit_check.engine.asking import JUDGE
from vit_check.engine.wire import LARGEST_MESSAGE, decode, encode, send


def run(judge, code):
    """Run code in another process, whose checks ask the judge."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, JUDGE: judge.path},
        capture_output=True,
        text=True,
    )


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
    assert "split_heads: the heads come after the tokens" in done.stderr
    assert [r.check for r in judge.records] == [
        "multi_head_attention",
        "split_heads",
        "split_heads",
    ]
    assert [r.passed for r in judge.records] == [True, True, False]
    assert judge.records[2].sentence.startswith("the heads come after the tokens")
    judge.clear()
    assert judge.records == []


def test_a_function_with_the_weights_is_judged_as_one(asked):
    edits = [answer for _, answer, _ in WRONG["multi_head_attention"]]
    unscaled = next(a for a in edits if a.right is as_a_function and "1.0" in a.code[0])
    check.multi_head_attention(as_a_function)
    with pytest.raises(check.CheckFailed, match="not divided by √d"):
        check.multi_head_attention(unscaled.answer)


def test_changing_a_check_passes_nothing(judge):
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


def is_judged(judge):
    """Return whether the judge still works, whatever was sent to it before."""
    judge.clear()
    with pytest.raises(check.CheckFailed):
        check.split_heads(1)
    sentence = judge.records[-1].sentence
    return sentence.startswith("got int, expected split_heads")


def message_of(structure, **tensors):
    """Return a message with any header; tensors by name as dtype, shape and offsets."""
    about = {
        name: {"dtype": dtype, "shape": shape, "data_offsets": offsets}
        for name, (dtype, shape, offsets) in tensors.items()
    }
    header = json.dumps({"__metadata__": {"structure": structure}, **about}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(16)


def lists(depth):
    return '{"list": [' * depth + '{"value": 1}' + "]}" * depth


REQUEST = encode({"check": "split_heads", "form": "itself", "origin": ""})
TENSOR = '{"tensor": "a"}'
RECORDS = '{"dict": {"records": %s}}'


@pytest.mark.parametrize(
    "records",
    [
        [],
        [{}],
        [{"output": 1}] * 4,
        [{"output": {"a": None}, "again": None, "after": []}] * 4,
        [{"trouble": 3}] * 4,
        [{"trouble": ["raises", {}]}] * 4,
        [{"trouble": [["raises"], "text"]}] * 4,
        [{"trouble": ["x", "text", "more"]}] * 4,
        "text",
        ["trouble"] * 4,
        torch.zeros(4, 3),
        {"0": {}},
        [None] * 4,
        [float("nan")] * 4,
        [10**4000] * 4,
        [[[[[[[[[[[[]]]]]]]]]]]] * 4,
    ],
)
def test_rubbish_for_records_is_not_passed(asked, records):
    talk(asked, REQUEST, encode({"records": records}))
    assert [r.passed for r in asked.records] == [False]
    assert is_judged(asked)


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"not a message",
        encode({"check": "nonsense", "form": "itself", "origin": ""}),
        encode({"check": "split_heads"}),
        encode({"check": ["split_heads"], "form": "itself", "origin": ""}),
        encode({"check": "split_heads", "form": {}, "origin": ""}),
        encode({"check": "split_heads", "form": "itself", "origin": 3}),
        encode({"check": None, "form": None, "origin": None}),
        encode("split_heads"),
        encode([1, 2]),
        save({"0": torch.ones(2)}),
    ],
)
def test_rubbish_for_a_request_does_not_stop_the_judge(asked, message):
    talk(asked, message)
    assert asked.records == []
    assert is_judged(asked)


@pytest.mark.parametrize(
    "message",
    [
        b"",
        message_of("[" * 100_000),
        message_of(RECORDS % lists(100_000)),
        message_of(RECORDS % lists(450)),
        message_of('{"value": ' + "9" * 5000 + "}"),
        message_of('{"value": 1e999}'),
        message_of('{"value": NaN}'),
        message_of("null"),
        message_of('{"tensor": "b"}', a=("F64", [2], [0, 16])),
        message_of('{"tensor": ["a"]}', a=("F64", [2], [0, 16])),
        message_of('{"list": 3, "dict": 4}'),
        message_of('{"dict": [1]}'),
        message_of(TENSOR, a=("F64", [2], [16, 0])),
        message_of(TENSOR, a=("F64", [2], [8, 24])),
        message_of(TENSOR, a=("F64", [3], [0, 16])),
        message_of(TENSOR, a=("F64", [-2], [0, 16])),
        message_of(TENSOR, a=("F64", [2**63, 2], [0, 16])),
        message_of(TENSOR, a=("F64", [2**32, 2**32], [0, 0])),
        message_of(TENSOR, a=("F7", [2], [0, 16])),
        message_of(TENSOR, a=("F64", [1], [0, 8]), b=("F64", [1], [0, 8])),
        struct.pack("<Q", 2**64 - 1) + bytes(16),
        struct.pack("<Q", 2**63) + bytes(16),
        b"\0" * 8,
        b"\0",
    ],
    ids=range(24),
)
def test_an_invalid_message_is_refused(asked, message):
    talk(asked, REQUEST, message)
    assert [r.passed for r in asked.records] == [False]
    assert is_judged(asked)


def test_a_tensor_arrives_once_however_often_it_is_named():
    """If tensors could be repeated, a small message could fill the memory when read."""
    both = f'{{"list": [{TENSOR}, {TENSOR}]}}'
    with pytest.raises(KeyError):
        decode(message_of(both, a=("F64", [2], [0, 16])))


def test_messages_have_a_greatest_length(judge):
    tensors = {str(n): ("U8", [0], [0, 0]) for n in range(100_000)}
    with pytest.raises(ValueError, match="header: got .* bytes, at most"):
        decode(message_of("null", **tensors))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(judge.path)
        with pytest.raises(ValueError, match="message: got .* bytes, at most"):
            send(connection, torch.zeros(LARGEST_MESSAGE, dtype=torch.uint8))
        connection.sendall(struct.pack("!Q", LARGEST_MESSAGE + 1))
        assert connection.recv(1) == b""


@pytest.mark.parametrize(
    "dtype", [torch.uint8, torch.bool, torch.bfloat16, torch.complex64, torch.float64]
)
def test_the_largest_record_is_judged(asked, dtype):
    """The largest record takes some hundred megabytes of memory, and is judged."""
    tensor = torch.full((2**23,), 1, dtype=torch.uint8).view(dtype)
    record = {"output": tensor, "again": tensor, "after": [], "alone": tensor}
    talk(asked, REQUEST, encode({"records": [record]}))
    assert [r.passed for r in asked.records] == [False]
    assert is_judged(asked)


def test_a_sentence_with_text_from_outside_can_be_printed(asked):
    """A sentence may hold text from the answer's process, and ends up in a report."""
    said = "a\nb\x00\x1b[31m\u202e\ud800" + "x" * 100_000
    trouble = {"records": [{"trouble": ["raises", said]}] * 4}
    talk(asked, REQUEST, encode(trouble))
    sentence = asked.records[0].sentence
    assert sentence.startswith("a b  [31m  xxx") and len(sentence) == 2000
    assert sentence.isprintable() and sentence.encode()


def test_however_many_connect_the_next_one_is_judged(asked):
    for number in range(2000):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(asked.path)
            connection.sendall(bytes(number % 9))
    assert is_judged(asked)


def test_a_client_that_sends_byte_by_byte_is_dropped(asked, monkeypatch):
    monkeypatch.setattr("vit_check.judge.PATIENCE", 0.3)
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(asked.path)
        connection.sendall(struct.pack("!Q", LARGEST_MESSAGE))
        with pytest.raises(ConnectionError):
            for _ in range(500):
                connection.sendall(b"x")
                time.sleep(0.01)
    assert is_judged(asked)


def test_the_number_of_a_notebooks_questions_is_limited(asked, monkeypatch):
    monkeypatch.setattr("vit_check.judge.MOST_QUESTIONS", 3)
    for _ in range(2):
        check.split_heads(split_with_einops)
    with pytest.raises(check.CheckFailed):
        check.split_heads(print)
    asked.clear()
    with pytest.raises(check.CheckFailed, match="has asked too much"):
        check.split_heads(split_with_einops)
    assert asked.records == []


def test_the_time_for_judging_a_notebook_is_limited(asked, monkeypatch):
    monkeypatch.setattr("vit_check.judge.MOST_SECONDS", 0.0)
    check.split_heads(split_with_einops)
    asked.clear()
    with pytest.raises(check.CheckFailed, match="has asked too much"):
        check.split_heads(split_with_einops)
    assert asked.records == []


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
def test_a_message_arrives_as_it_was_sent(message):
    arrived = decode(encode(message))
    assert str(arrived) == str(message)


def test_sizes_are_not_taken_from_a_notebook(asked):
    with pytest.raises(check.CheckFailed, match="is graded on the class"):
        check.multi_head_attention(torch.nn.Identity(), embed_dim=1, num_heads=1)
