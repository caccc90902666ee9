"""Test the feedback pages: they show a student's work, and run nothing of it.

If one student's page cannot be made, all others are.
"""

import itertools
import sys

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_markdown_cell, new_output, new_raw_cell

from classroom.grading import feedback, gradebook
from classroom.grading.course import Course
from classroom.grading.execute import FAILED
from classroom.grading.intake import Submission
from classroom.grading.outputs import error_output
from classroom.grading.page import RENDERED, SHOWN, code, markdown, page, plain, visible
from classroom.grading.processes import start_server
from classroom.grading.result import Result
from classroom.grading.tasks import tasks_of
from classroom.release.handout import PAGES
from classroom.release.release import SOURCES
from tests.conftest import REQUIRED
from tests.patience import PatientBrowser
from vit_steps.checkpoint import write_whole

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="grading needs Linux")


def test_words_stay_as_they_were_written():
    text = "The data: four images. A file: none. `javascript:` is a scheme."
    shown = markdown(text)
    assert "The data: four images. A file: none." in shown
    assert "<code>javascript:</code>" in shown


@pytest.mark.parametrize(
    "link",
    [
        "[a](javascript:alert(1))",
        "[a](JavaScript&#58;alert(1))",
        "[a](&#x6a;avascript:alert(1))",
        "[n](&#106;avascript:alert(1))",
        "[a][r]\n\n[r]: javascript:alert(1)",
        "<javascript:alert(1)>",
        "[a](vbscript:x)",
        "[a](data:text/html;base64,PHN2Zz4=)",
        "[a](data:image/svg+xml,x)",
        "[a](file:///etc/passwd)",
        "[a](//host/share)",
        "[a](ms-settings:x)",
        "![a](javascript:alert(1))",
        "![a](data:text/html,x)",
        "![a](https://example.org/seen.png)",
        '<a href="https://example.org">a</a>',
        '<img src="x" onerror="alert(1)">',
        "<script>alert(1)</script>",
    ],
)
def test_harmful_addresses_are_neither_links_nor_pictures(link):
    soup = BeautifulSoup(markdown(link), "html.parser")
    assert {tag.name for tag in soup.find_all(True)} <= {"p"}
    assert soup.get_text().strip()


@pytest.mark.parametrize(
    "address",
    ["https://example.org/a?b=c:d", "mailto:ada@example.org", "#heads", "02.html"],
)
def test_a_link_stays(address):
    assert f'href="{address}"' in markdown(f"[a]({address})")


def test_words_stand_for_a_picture_from_elsewhere():
    badge = "[![Open <it> & see](https://example.org/badge.svg)](https://example.org/)"
    words = "Open &lt;it&gt; &amp; see"
    assert markdown(badge) == f'<p><a href="https://example.org/">{words}</a></p>\n'


def test_a_picture_in_the_text_stays():
    assert 'src="data:image/png;base64,AAAA"' in markdown(
        "![a](data:image/png;base64,AAAA)"
    )


@pytest.mark.parametrize(
    "formula", [r"$a_1 * b_1 * \{x\}$", r"$$a_1 * b_1 \\ * c$$", "$$\na_1 * b * c\n$$"]
)
def test_a_formula_stays_as_it_was_written(formula):
    assert formula.replace("\n", "") in markdown(formula).replace("\n", "")
    assert "<em>" not in markdown(formula)


def test_a_formula_lets_no_html_through():
    assert "<img" not in markdown("$<img src=x onerror=alert(1)>$")


def test_hints_are_folded():
    hint = "<details><summary>Hint 1</summary>\n\nThink of `T`.\n\n</details>"
    soup = BeautifulSoup(markdown(f"*Do*\n\n{hint}\n\n{hint}\n\n*so*"), "html.parser")
    for fold in soup.find_all("details"):
        assert fold.summary.extract().get_text() == "Hint 1"
        assert fold.find("code").get_text() == "T"
    assert len(soup.find_all("details")) == 2
    assert [tag.get_text() for tag in soup.find_all("em")] == ["Do", "so"]


@pytest.mark.parametrize(
    "text",
    [
        "<details><summary>a</summary>",
        "</details>" * 500,
        "<details><summary>a</summary>" * 100 + "</details>" * 100,
        "<details><summary><b>a</b></summary>x</details>",
        "<details open onclick=x><summary>a</summary>x</details>",
    ],
)
def test_a_fold_hides_nothing_that_follows(text):
    soup = BeautifulSoup(markdown(f"{text}\n\n*after*"), "html.parser")
    assert soup.find("em").find_parent("details") is None
    assert not soup.find_all(onclick=True)


def test_invisible_characters_are_written_out():
    assert visible("a\u202eb\u200bc\x1bd") == r"a\u202eb\u200bc\x1bd"
    text = "naïve 日本語 👩‍🔬 می‌خواهم\n\t"
    assert visible(text) == text
    assert r"\u202e" in page("page.html") + visible(markdown("&#x202e;"))


RUNAWAYS = [
    *(r"\begin{a}", "[ ", "![", "[a](", r"\\(", "[x]: ", "<b>", "*a **b ", "_a __b "),
    *("> ", "- ", "1. ", "`", "$", "$$ ", "|a", "[a]: b\n", "  - a\n", "a\n> ", "*"),
]
NESTED = "".join("  " * depth + "- a\n" for depth in range(200))
TABLE = "|" + "a|" * 40 + "\n|" + "-|" * 40 + "\n" + "|\n" * (RENDERED // 4)


@pytest.mark.parametrize("text", [*RUNAWAYS, NESTED, TABLE])
def test_markdown_does_not_run_away(text):
    """Both the longest text that is rendered and a longer one take little time."""
    for source in ((text * RENDERED)[:RENDERED], text * 32_000):
        assert len(markdown(source)) < 400 * RENDERED


def test_long_text_is_shown_as_it_is_and_cut():
    shown = markdown("<b>" * SHOWN)
    assert "too long to be set as Markdown" in shown
    assert "the first 50,000 of 150,000 characters" in shown
    assert "&lt;b&gt;" * 1000 in shown
    assert "*a*" in markdown("*a* " * RENDERED)
    assert "<span" not in code("1 " * RENDERED)
    assert "first 50,000" not in plain("a" * SHOWN)


@pytest.fixture(scope="module")
def course(exercises, tmp_path_factory):
    made = Course(tmp_path_factory.mktemp("course"))
    if sys.platform != "win32":
        start_server(tmp_path_factory.mktemp("socket"), [feedback.__name__])
    gradebook.prepare(made, [exercises])
    return made


def graded(course, exercises, student, change):
    """Change the release, and save and enter the result, as after a worker's run."""
    kept = course.root / student
    kept.write_text(student)
    sent = Submission(student, student.title(), "", exercises.name, student, kept)
    result = Result.of(sent, exercises)
    nb = nbformat.from_dict(exercises.release)
    nb = nbformat.reads(nbformat.writes(nb), as_version=4)
    change(nb, result)
    text = nbformat.writes(nb).encode()
    write_whole(course.autograded(student, exercises.name), text)
    result.save(course)
    gradebook.enter(result, course)
    return result


def cell_of(nb, name):
    return next(
        c for c in nb.cells if c.metadata.get("nbgrader", {}).get("grade_id") == name
    )


def write_pages(course, *results, **limits):
    marks = gradebook.marks(course, results)
    plain_ones = feedback.write_feedback(course, results, marks, 2, **limits)
    names = [result.student for result in plain_ones]
    pages = [course.feedback(r.student, r.assignment) for r in results]
    return names, [BeautifulSoup(p.read_text("utf-8"), "html.parser") for p in pages]


@on_linux
def test_a_page_has_the_marks_and_what_was_written(course, exercises):
    def change(nb, result):
        cell_of(nb, "why").source = "They *mix*.\u202e"
        cell_of(nb, "attend").source = "def attend(q):\n    return '<b>'"
        test = cell_of(nb, "test-attend")
        test.outputs = [
            new_output("stream", text="<script>alert(1)</script>"),
            new_output("display_data", {"image/png": "iVBORw0KGgo="}),
            new_output("display_data", {"text/html": "<b>html</b>"}),
            error_output(FAILED, "the weights do not add up to 1"),
        ]
        nb.cells.append(new_raw_cell("<img src=x onerror=alert(1)>"))

    plain_ones, (soup,) = write_pages(course, graded(course, exercises, "ada", change))
    assert not plain_ones
    text = soup.get_text()
    assert "Ada: 9 of 14 points" in text
    for words in (
        *(r"They mix.\u202e", "return '<b>'", "<script>alert(1)</script>"),
        *("the weights do not add up to 1", "<img src=x onerror=alert(1)>"),
    ):
        assert words in text
    assert not soup.find_all("script")
    assert [image["src"] for image in soup.find_all("img")] == [
        "data:image/png;base64,iVBORw0KGgo="
    ]
    assert soup.find(id="test-attend")
    policy = soup.find("meta", {"http-equiv": "Content-Security-Policy"})
    assert policy["content"].startswith("default-src 'none'")


@on_linux
def test_a_page_says_first_what_is_right_what_is_wrong_and_what_is_next(
    course, exercises
):
    def change(nb, result):
        cell_of(nb, "why").source = "They mix."
        result.changes = ["1 cells had lost their names and were recognised."]
        result.failures = {"test-attend": "the weights do not add up to 1"}
        sentence = result.failures["test-attend"]
        cell_of(nb, "test-attend").outputs = [error_output(FAILED, sentence)]

    _, (soup,) = write_pages(course, graded(course, exercises, "dan", change))
    text = " ".join(soup.get_text().split())
    assert "Dan: 9 of 14 points. 2 more are still to be marked by a person." in text
    assert "3 of 5 tasks are right. Go on with Task." in text
    tasks = soup.find(class_="tasks").find_all("li")
    states = ["right", "right", "right", "wrong", "waiting"]
    assert [task["class"] for task in tasks] == [[state] for state in states]
    assert "the weights do not add up to 1" in tasks[3].get_text()
    assert "A person will read" in tasks[4].get_text()
    assert "lost their names" in text and "This cost you nothing" in text
    for link in soup.find(class_="tasks").find_all("a"):
        assert soup.find(id=link["href"].removeprefix("#"))


def test_every_task_of_every_set_has_a_title_and_hints():
    for path in sorted(SOURCES.glob("*.ipynb")):
        title, tasks = tasks_of(nbformat.read(path, as_version=4))
        assert title.startswith("Exercises")
        for number, task in enumerate(tasks, 1):
            assert task.title.startswith(f"{number}. ")
            assert [name for name, _ in task.hints][:2] == ["Hint 1", "Hint 2"]


@on_linux
def test_a_file_that_cannot_be_read_has_a_page_with_the_reason(course, exercises):
    sent = Submission("lea", "Lea", "", exercises.name, "l.ipynb", course.root / "lea")
    sent.kept.write_text("no")
    result = Result.of(sent, exercises)
    result.status, result.sentence = "unreadable", "The file is <not> text."
    result.save(course)
    gradebook.enter(result, course)
    names, (soup,) = write_pages(course, result)
    assert not names
    assert "l.ipynb: The file is <not> text." in soup.get_text()
    assert "0 of 14 points" in soup.get_text()


@on_linux
def test_pages_are_for_every_eye_and_every_width(course, exercises):
    """axe finds nothing in light and dark, and nothing is wider than a phone."""
    axe = pytest.importorskip("axe_playwright_python.base")
    from playwright.sync_api import sync_playwright

    from book.chromium import launch

    def change(nb, result):
        wide = "x = '" + "wide" * 100 + "'"
        cell_of(nb, "attend").source = f"import torch\n\n\n{wide}  # a word"
        cell_of(nb, "why").source = "Read `code` and [this](https://example.org)."
        result.changes = ["A cell had lost its name and was recognised."]
        result.failures = {"test-attend": "wrong"}
        cell_of(nb, "test-attend").outputs = [
            error_output(FAILED, "wrong"),
            new_output("stream", text="wide" * 100),
        ]

    write_pages(course, graded(course, exercises, "wim", change))
    page_of = course.feedback("wim", exercises.name)
    options = {"rules": {"target-size": {"enabled": True}}}
    with sync_playwright() as playwright:
        launched = launch(playwright)
        if launched is None:
            say = pytest.fail if "browser" in REQUIRED else pytest.skip
            say("no Chromium, Chrome or Edge is installed")
        browser = PatientBrowser(launched)
        for width, scheme in itertools.product((390, 1280), ("light", "dark")):
            context = browser.new_context(
                viewport={"width": width, "height": 800},
                color_scheme=scheme,
                bypass_csp=True,  # for axe, which is a script
            )
            tab = context.new_page()
            tab.goto(page_of.as_uri())
            tab.evaluate(axe.AXE_SCRIPT)
            found = tab.evaluate("options => axe.run(options)", options)["violations"]
            assert [(rule["id"], rule["nodes"][0]["html"]) for rule in found] == []
            across = "document.documentElement.scrollWidth"
            assert tab.evaluate(across) <= width
            context.close()
        browser.close()


def too_large(nb, result):
    picture = new_output("display_data", {"image/png": "i" * 2**20})
    sentence = "<b>attend</b>: expected \u202eweights"
    wrong = error_output(FAILED, sentence)
    cell_of(nb, "test-attend").outputs = [*[picture] * 20, wrong]
    result.failures = {"test-attend": sentence}


def too_slow(nb, result):
    wide = "|" + "a|" * 1500 + "\n|" + "-|" * 1500 + "\n" + "|\n" * 1500
    nb.cells += [new_markdown_cell(wide) for _ in range(40)]


@on_linux
@pytest.mark.parametrize("change", [too_large, too_slow])
def test_a_page_that_cannot_be_made_leaves_the_others(change, course, exercises):
    results = [
        graded(course, exercises, change.__name__, change),
        graded(course, exercises, "eve", lambda nb, result: None),
    ]
    names, (mine, other) = write_pages(course, *results, cpu_seconds=8)
    assert names == [change.__name__]
    assert f"{12 if not results[0].failures else 9} of 14 points" in mine.get_text()
    assert "The notebook itself is not shown" in mine.get_text()
    for name, sentence in results[0].failures.items():
        assert name in mine.get_text()
        assert visible(sentence) in mine.get_text()
    assert other.find(id="test-attend")


@on_linux
def test_an_answer_that_mentions_hidden_tests_is_shown(course, exercises):
    def change(nb, result):
        cell_of(nb, "why").source = "### BEGIN HIDDEN TESTS"

    names, (soup,) = write_pages(course, graded(course, exercises, "kim", change))
    assert not names
    assert "BEGIN HIDDEN TESTS" in soup.get_text()


@on_linux
def test_links_to_chapters_lead_to_the_books_pages(course, exercises):
    """A page lies in no folder in which the notebooks of the book are."""

    def change(nb, result):
        nb.cells.append(
            new_markdown_cell("[chapter](../05_multi_head_attention.ipynb)")
        )

    _, (soup,) = write_pages(course, graded(course, exercises, "lea", change))
    assert soup.find("a", string="chapter")["href"] == (
        f"{PAGES}/05_multi_head_attention.html"
    )


@on_linux
def test_a_page_that_says_the_same_is_not_made_again(course, exercises):
    result = graded(course, exercises, "bob", lambda nb, result: None)
    write_pages(course, result)
    path = course.feedback("bob", exercises.name)
    before = path.stat().st_mtime_ns
    write_pages(course, result)
    assert path.stat().st_mtime_ns == before
    with gradebook.Gradebook(gradebook.url_of(course.gradebook)) as book:
        name = exercises.name
        comment = book.find_comment("why", name, name, "bob")
        comment.manual_comment = "Read <b>section 3</b>."
        book.db.commit()
    _, (soup,) = write_pages(course, result)
    assert "Read <b>section 3</b>." in soup.get_text()
