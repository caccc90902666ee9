"""Test the quiz, the handouts of the clinic, and the marking sheets."""

import html
import io
import re
import zipfile
from collections import Counter
from xml.etree import ElementTree as ET

import moodle_xml_parser.parser as moodle_reader
import nbformat
import pytest
import qti2latex
import torch
from torch import nn

import vit_doctor
from classroom.assessment.__main__ import chapters, files, main
from classroom.assessment.clinic import CLINIC, FURTHER, cases
from classroom.assessment.forms import forms
from classroom.assessment.paper import clinic_page, form_page, key_page, marking_page
from classroom.assessment.platforms import canvas_zip, moodle_xml
from classroom.assessment.questions import BANK
from classroom.assessment.questions.from_eight import SYMPTOMS
from classroom.assessment.text import blocks
from classroom.assessment.text import html as as_html
from classroom.assessment.written import assignments, written
from tests.conftest import CHAPTERS
from vit_steps import VisionTransformer, ViTConfig

FORMS = forms()
SEEDS = range(30)
every_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)


def question(name, form=FORMS[0]):
    return next(one for one in form.questions if one.name == name)


def test_each_chapter_has_two_questions():
    asked = Counter(source.chapter for source in BANK)
    assert list(asked) == list(range(len(CHAPTERS)))
    assert min(asked.values()) >= 2
    assert len({source.name for source in BANK}) == len(BANK)


@pytest.mark.parametrize("seed", [None, *SEEDS])
def test_a_question_has_four_answers_of_which_one_is_right(seed):
    one, other = forms(seed=seed)
    assert [q.name for q in one.questions] == [q.name for q in other.questions]
    for a, b in zip(one.questions, other.questions, strict=True):
        pair = [(asked.text, asked.answer.text) for asked in (a, b)]
        assert pair[0] != pair[1], f"{a.name} is the same in both forms"
        for asked in (a, b):
            texts = [option.text for option in asked.options]
            assert len(set(texts)) == 4, (asked.name, texts)
            assert sum(option.right for option in asked.options) == 1
            assert all(option.comment for option in asked.options)


def test_a_seed_draws_and_repeats():
    assert forms(seed=1) == forms(seed=1) != forms(seed=2)


@every_form
def test_neither_letter_nor_length_tells_the_answer(form):
    letters = Counter(one.letter for one in form.questions)
    assert set(letters) == set("ABCD") and max(letters.values()) <= len(BANK) // 3
    lengths = [[len(o.text) for o in one.options] for one in form.questions]
    longest = [
        len(one.answer.text) == max(these) and these.count(max(these)) == 1
        for one, these in zip(form.questions, lengths, strict=True)
    ]
    assert sum(longest) < len(BANK) / 2


KNOWN = {  # worked out by hand, or known from the papers
    "tokens": ("197", "145"),
    "quadratic_share": ("about 4 %", "about 11 %"),
    "growth": ("16", "81"),
    "width": ("768", "768"),
    "spread_of_a_score": ("16", "10"),
    "by_hand": ("5", "12"),
    "cost_of_heads": ("2,362,368", "591,360"),
    "first_loss": ("2.30", "4.61"),
    "uniform_map": ("0.0625", "0.16"),
    "fixed_memory": ("1.39 GB", "4.87 GB"),
    "ring": ("606 MB", "132 MB"),
    "windows": ("64", "16"),
    "bias_table": ("169", "225"),
    "registers": ("201", "262"),
}


@pytest.mark.parametrize("name", KNOWN)
def test_computed_answers_are_those_that_are_known(name):
    assert tuple(question(name, form).answer.text for form in FORMS) == KNOWN[name]


SMALL = ViTConfig(8, 2, 1, num_classes=5, embed_dim=16, depth=2, num_heads=4)


class ReadsTheMean(VisionTransformer):
    def forward(self, images):
        tokens, _ = self.encode(images)
        return self.head(tokens.mean(dim=1))


def small_model():
    torch.manual_seed(0)
    model = ReadsTheMean(SMALL).eval()
    nn.init.normal_(model.head.weight)
    nn.init.normal_(model.pos_embed)
    return model


def sound():
    return small_model()


class AlongTheBatch(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x, need_weights=False):
        output, weights = self.inner(x.transpose(0, 1), need_weights)
        return output.transpose(0, 1), weights


def alone():
    model = small_model()
    for block in model.blocks:
        block.attn = AlongTheBatch(block.attn)
    return model


def shuffled():
    model = small_model()
    nn.init.zeros_(model.pos_embed)
    return model


class AlwaysOn(nn.Module):
    def forward(self, x):
        return nn.functional.dropout(x, 0.3, training=True)


def again():
    model = small_model()
    model.pos_drop = AlwaysOn()
    return model


def silent():
    model = small_model()
    model.spare = nn.Linear(16, 16)
    return model


@pytest.mark.parametrize("make", [sound, alone, shuffled, again, silent])
def test_a_bug_has_the_symptom_that_the_question_names(make):
    model = make()
    images = torch.randn(6, 1, 8, 8)
    repeats = vit_doctor.repeat_effect(model, images) == 0
    seen = {
        "alone": repeats and vit_doctor.batch_effect(model, images) > 1e-3,
        "shuffled": vit_doctor.order_effect(model, images, 2) < 1e-4,
        "again": not repeats,
        "silent": bool(vit_doctor.silent_parameters(model, images)),
    }
    assert set(seen) == set(SYMPTOMS)
    assert [name for name, there in seen.items() if there] == (
        [] if make is sound else [make.__name__]
    )


def test_without_positions_nothing_changes_but_the_order():
    model = shuffled()
    images = torch.randn(2, 1, 8, 8)
    moved = vit_doctor.shuffle_patches(images, 2)
    tokens, turned = (model.encode(x)[0] for x in (images, moved))
    torch.testing.assert_close(tokens[:, 0], turned[:, 0])
    order = [(turned[0] - token).abs().sum(-1).argmin().item() for token in tokens[0]]
    assert sorted(order) == list(range(17)) != order
    torch.testing.assert_close(tokens[0], turned[0, order])
    assert question("without_positions").answer.text.startswith("Nothing")


@every_form
def test_moodle_reads_what_was_written(form):
    """Read it with moodle_xml_parser, which knows nothing of ours."""
    read = moodle_reader.parse_bytes(moodle_xml(form))["multichoice"]
    assert len(read) == len(form.questions)
    for ours, theirs in zip(form.questions, read, strict=True):
        assert html.unescape(as_html(ours.text)).strip() == theirs.text_pre_parse
        assert theirs.single and theirs.default_grade == 1 and theirs.penalty == 0
        assert f"Chapter {ours.chapter}:" in theirs.name
        assert theirs.general_feedback == html.unescape(as_html(ours.answer.comment))
        assert [option.score_fraction for option in theirs.options] == [
            100 * option.right for option in ours.options
        ]
        for option, answer in zip(ours.options, theirs.options, strict=True):
            assert html.unescape(as_html(option.text)) == answer.answer
            if not option.right:
                assert html.unescape(as_html(option.comment)) in answer.feedback


@every_form
def test_moodle_has_the_tags(form):
    read = ET.fromstring(moodle_xml(form)).findall("question[@type='multichoice']")
    for ours, theirs in zip(form.questions, read, strict=True):
        tags = [tag.findtext("text") for tag in theirs.findall("tags/tag")]
        assert tags == [f"chapter {ours.chapter}", ours.belief]


@every_form
def test_canvas_reads_what_was_written(form, tmp_path):
    """Read it with qti2latex, which was written for the quizzes that Canvas exports."""
    file = tmp_path / "quiz.zip"
    file.write_bytes(canvas_zip(form))
    folder = qti2latex.extract_zip_to_tmp(file)
    roots = [ET.parse(path).getroot() for path in qti2latex.read_qti_dir(folder)]
    items = [item for r in roots for item in qti2latex.findall_anyns(r, "item")]
    assert len(items) == len(form.questions)
    for ours, item in zip(form.questions, items, strict=True):
        meta = qti2latex.get_qti_metadata(item)
        assert qti2latex.guess_type(meta, item) == "multiple_choice_question"
        assert meta["points_possible"] == "1"
        assert qti2latex.get_item_stem(item) == as_html(ours.text)
        choices = qti2latex.get_choices(item)
        assert [text for _, text in choices] == [as_html(o.text) for o in ours.options]
        scored = [
            condition
            for condition in qti2latex.findall_anyns(item, "respcondition")
            if qti2latex.findall_anyns(condition, "setvar")
        ]
        (right,) = scored
        (label,) = qti2latex.findall_anyns(right, "varequal")
        assert dict(choices)[label.text] == as_html(ours.answer.text)


@every_form
def test_the_zip_lists_its_files(form):
    archive = zipfile.ZipFile(io.BytesIO(canvas_zip(form)))
    manifest = ET.fromstring(archive.read("imsmanifest.xml"))
    listed = {file.get("href") for file in manifest.iter() if file.tag.endswith("file")}
    assert listed == set(archive.namelist()) - {"imsmanifest.xml"}
    names = {e.get("identifier") for e in manifest.iter() if e.tag.endswith("resource")}
    (needed,) = (e for e in manifest.iter() if e.tag.endswith("dependency"))
    assert needed.get("identifierref") in names


@every_form
def test_a_form_does_not_hold_its_key(form):
    page = form_page(form)
    for one in form.questions:
        assert blocks(f"{one.number}\\. {one.text}") in page
        for option in one.options:
            assert as_html(option.text) in page
            assert option.comment not in html.unescape(page)


def test_the_key_has_each_letter_and_each_reason():
    page = html.unescape(key_page(FORMS))
    for form in FORMS:
        for one in form.questions:
            assert f"Form {form.name}: {one.letter}." in page
            assert one.belief in page
            for option in one.options:
                assert html.unescape(as_html(option.comment)) in page


NOT_CODE = re.compile(r"`[^`]*`|\[[^\]]*\]\([^)]*\)|\*\*|<[^>]*>")


@pytest.mark.parametrize("path", [CLINIC, FURTHER], ids=lambda path: path.stem)
def test_the_handouts_do_not_hold_an_answer(path):
    notebook = nbformat.read(path, as_version=4)
    found = list(cases(path))
    text = "\n".join(cell.source for cell in notebook.cells)
    titles = re.findall(r"^### (Case \d+: .+)$", text, re.MULTILINE)
    assert [case.title for case in found] == titles
    page = html.unescape(clinic_page(found, "the book"))
    folds = [c for c in notebook.cells if c.id.startswith("case-")]
    answers = [cell for cell in folds if cell.id.endswith("-read")]
    assert len(answers) == len(found)
    wrong = "".join(case.code for case in found)
    for cell in answers:
        assert "The bug" in cell.source
        for sentence in re.split(r"(?<=[.?!:]) ", NOT_CODE.sub("", cell.source)):
            assert len(sentence) < 20 or sentence.strip() not in page, sentence
        for code in re.findall(r"`([^`]{12,})`", cell.source):
            assert code not in page or code in wrong, f"{cell.id} tells {code}"
    for cell in folds:
        if cell.id.endswith(("-find", "-check")):
            said = "".join(output.get("text", "") for output in cell.outputs)
            refusals = [line for line in said.splitlines() if ": " in line]
            told = [line for line in refusals if line in page and line not in wrong]
            assert not told, cell.id


@pytest.mark.parametrize("path", [CLINIC, FURTHER], ids=lambda path: path.stem)
def test_each_handout_has_symptom_question_and_code(path):
    for case in cases(path):
        assert case.story and case.shown and "?" in case.question
        assert re.match(r"(class|def) \w+", case.code)
        assert not any("class Case" in shown for shown in case.shown)


def test_every_written_answer_has_its_marking_sheet():
    answers = list(written())
    page = html.unescape(marking_page(answers))
    for assignment in assignments():
        (mine,) = (a for a in answers if a.number == int(assignment.name[:2]))
        (cell,) = (
            c
            for c in assignment.source.cells
            if c.cell_type == "markdown" and c.metadata.get("nbgrader", {}).get("grade")
        )
        assert mine.points == cell.metadata.nbgrader["points"]
        assert mine.question.rstrip().endswith(("?", ".")), mine.number
        assert "<summary>" not in mine.question and "Rubric" not in mine.model
        assert f"Set {mine.number}, {mine.points} points: {mine.title}" in page


def test_the_command_writes_what_is_asked_for(tmp_path, capsys):
    assert main(["--out", str(tmp_path), "--chapters", "1-2,14", "--seed", "7"]) == 0
    written_files = {path.name for path in tmp_path.iterdir()}
    assert written_files == set(files(None, None))
    asked = moodle_reader.parse_bytes((tmp_path / "moodle-a.xml").read_bytes())
    numbers = [re.search(r"Chapter (\d+)", q.name)[1] for q in asked["multichoice"]]
    assert sorted(set(numbers)) == ["1", "14", "2"]
    with pytest.raises(SystemExit):
        main(["--out", str(tmp_path), "--chapters", "77"])
    last = max(source.chapter for source in BANK)
    assert f"expected some of 0 to {last}" in capsys.readouterr().err


def test_chapters_are_read():
    assert chapters("0-3,14") == [0, 1, 2, 3, 14]
