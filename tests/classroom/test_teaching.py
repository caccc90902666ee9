"""What the teaching page says in numbers, and where its links lead."""

import math
import re

import pytest
import torch

from classroom.grading.limits import MIB, ORDINARY
from tests.conftest import CHAPTERS, ROOT
from vit_steps import MultiHeadAttention, ViTConfig, attention_cost, token_count

PAGE = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(
    r"^\*\*(\d+)\.\*\* (.+?)\n\n:::\{dropdown\} Answer\n(.+?)\n:::",
    PAGE,
    re.MULTILINE | re.DOTALL,
)


def answer(number):
    return next(text for n, _, text in QUESTIONS if int(n) == number)


def test_twenty_questions_with_answers():
    assert [int(number) for number, *_ in QUESTIONS] == list(range(1, 21))


def test_numbers():
    pixels = attention_cost(token_count(224, 1), 64).matrix_bytes
    patches = attention_cost(token_count(224, 16), 64).matrix_bytes
    assert 9.5e9 < pixels < 10.5e9 and "ten gigabytes" in PAGE
    assert 6.5 < 2**20 / patches < 7.5 and "a seventh of a megabyte" in PAGE
    assert str(token_count(224, 16) + 1) in answer(1)
    ratio = ((token_count(224, 8) + 1) / (token_count(224, 16) + 1)) ** 2
    assert 15 < ratio < 16 and "about sixteen" in answer(2)
    assert "last six" in answer(4) and 230 - 14 * 16 == 6
    assert math.isqrt(256) == 16 and answer(8).startswith("16.")
    attention = MultiHeadAttention(768, 12)
    count = sum(p.numel() for p in attention.parameters())
    assert f"{count:,}" in answer(11)
    assert f"{ViTConfig.base().cost().parameters:,}" in PAGE
    assert f"{math.log(10):.3f}" in answer(16)
    scores = torch.randn(20_000, 256) * torch.randn(20_000, 256)
    assert scores.sum(1).std().item() == pytest.approx(16, rel=0.05)


def test_limits_are_those_of_the_grader():
    assert f"at most {ORDINARY.uploads} files are read" in PAGE
    assert f"{ORDINARY.upload_bytes // MIB} MiB of notebooks" in PAGE
    assert f"{ORDINARY.zip_bytes // MIB} MiB of zips" in PAGE


def test_every_chapter_has_its_goal():
    goals = PAGE.split("## What each chapter is for")[1].split("\n## ")[0]
    numbers = [int(n) for n in re.findall(r"^\| (\d+) \|", goals, re.MULTILINE)]
    assert numbers[: len(CHAPTERS)] == list(range(len(CHAPTERS)))


def test_minutes_of_the_short_lesson_add_up():
    spans = re.findall(r"^\| (\d+)–(\d+) \|", PAGE, re.MULTILINE)
    ends = [int(end) for _, end in spans]
    assert [int(start) for start, _ in spans] == [0, *ends[:-1]]
    assert ends[-1] == 90
