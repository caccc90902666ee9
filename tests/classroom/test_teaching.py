"""Test the numbers and links on the page for teachers."""

import math
import re

import nbformat
import pytest
import torch
from torch.nn import functional

from classroom.grading.limits import MIB, ORDINARY
from tests.conftest import CHAPTERS, ROOT
from vit_steps import MultiHeadAttention, ViTConfig, attention_cost, data, token_count

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
    assert f"{patches / 1000:.0f} kilobytes" in PAGE
    assert str(token_count(224, 16) + 1) in answer(1)
    ratio = ((token_count(224, 8) + 1) / (token_count(224, 16) + 1)) ** 2
    assert 15 < ratio < 16 and "about sixteen" in answer(2)
    assert "last six" in answer(4) and 230 - 14 * 16 == 6
    assert math.isqrt(256) == 16 and "√256 = 16" in answer(8)
    attention = MultiHeadAttention(768, 12)
    count = sum(p.numel() for p in attention.parameters())
    assert f"{count:,}" in answer(11)
    assert f"{ViTConfig.base().cost().parameters:,}" in PAGE
    assert f"{math.log(10):.3f}" in answer(16)
    scores = torch.randn(20_000, 256) * torch.randn(20_000, 256)
    assert scores.sum(1).std().item() == pytest.approx(16, rel=0.05)
    labels = data.digits()[1][:32]
    shares = labels.bincount() / 32
    entropy = -(shares * shares.log()).sum().item()
    assert f"{entropy:.3f}" in next(q for n, q, _ in QUESTIONS if n == "17")


def test_no_answer_is_taken_for_a_numbered_list():
    assert not [n for n, _, text in QUESTIONS if re.match(r"\d+[.)] ", text)]


def test_each_answer_names_its_chapter():
    named = [
        int(re.findall(r"\(Chapters? (\d+)", text)[-1]) for _, _, text in QUESTIONS
    ]
    assert named == sorted(named) and named[-1] < len(CHAPTERS)


def test_the_shuffle_test_shows_a_merge_without_the_transpose():
    torch.manual_seed(0)
    attention, x = MultiHeadAttention(64, 4), torch.randn(1, 17, 64)
    order = torch.randperm(17)

    def bare(tokens):
        q, k, v = attention.qkv(tokens).reshape(1, 17, 3, 4, 16).permute(2, 0, 3, 1, 4)
        heads = functional.scaled_dot_product_attention(q, k, v)
        return attention.proj(heads.reshape(1, 17, 64))

    def right(tokens):
        return attention(tokens)[0]

    with torch.no_grad():
        off = {f: (f(x[:, order]) - f(x)[:, order]).abs().max() for f in (right, bare)}
    assert off[right] < 1e-5 < 0.1 < off[bare]
    assert "shuffle" in answer(12)


def minutes_of_tasks(chapter):
    (path,) = (ROOT / "notebooks" / "exercises").glob(f"{chapter:02}_*.ipynb")
    cells = nbformat.read(path, 4).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return [
        int(n) for n in re.findall(r"^\*[\w ]+ · (\d+) minutes ·", text, re.MULTILINE)
    ]


def test_saturday_has_six_hours():
    morning, afternoon = (sum(minutes_of_tasks(chapter)[:5]) for chapter in (2, 5))
    assert "25 minutes each; then the first five tasks of set 2, about an hour" in PAGE
    assert 50 < morning < 70 and 50 < afternoon < 70
    assert 3 * 25 + max(morning, afternoon + 30) <= 180


def test_homework_takes_the_stated_hours():
    weeks = [sum(map(sum, map(minutes_of_tasks, (n, n + 1)))) for n in range(1, 11, 2)]
    assert "between three and a little more than four hours" in PAGE
    assert 180 <= min(weeks) and max(weeks) < 255


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
