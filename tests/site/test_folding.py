"""Folded lines of code: which lines fold, and how they open, are copied and printed.

Tests that open pages need _build/html from `make book`, and a browser.
"""

import re
from html import unescape
from textwrap import dedent

import pytest
from docutils import nodes
from playwright.sync_api import expect
from sphinx.errors import ExtensionError
from sphinx.highlighting import PygmentsBridge

from book._extensions.folding import (
    FOLDED_WHOLE,
    Fold,
    fold_cell,
    folding_code,
    folds,
    say_what_folds,
    visible_lines,
    with_folds,
)
from book.paper import Paper
from tests.conftest import CHAPTERS, ROOT, SIDE_ROADS, code_cells
from tests.site.test_pages import HTML, page_soup
from tests.site.visit import resize

CELL = dedent(
    '''\
    """A cell's text,
    on two lines."""
    import math
    from torch import (
        nn,
    )

    import torch  # after an empty line, the same run


    class Part(nn.Module):
        """One line."""

        @classmethod
        @cache
        def load(cls, path):
            """Two
            lines."""
            return cls()

        def forward(self, x):
            """What is a docstring,
            if <b> & "this" is not."""
            text = """what is
            assigned"""
            if x.ndim != 4:
                raise ValueError(
                    f"x: {x.ndim}"
                )
            # of the same run
            if x.numel() == 0: raise ValueError
            if x.ndim:
                x = x + 1
            elif math.pi:
                raise ValueError
            if x.isnan().any():
                raise ValueError
            else:
                import os, sys
            return x


    """Two lines
    that are no docstring."""
    import one, two; print(one)
    '''
)
FOUND = [
    Fold(1, 2, "docstring", 0),
    Fold(3, 8, "imports", 0),
    Fold(17, 18, "docstring", 8),
    Fold(22, 23, "docstring", 8),
    Fold(26, 31, "checks of the input", 8),
]


def test_docstrings_guards_and_imports_fold():
    assert folds(CELL) == FOUND


def test_a_guard_outside_a_function_does_not_speak_of_an_input():
    assert folds("run()\nif failed:\n    raise ValueError") == [Fold(2, 3, "checks", 0)]


def test_a_named_method_folds_whole_with_its_decorators():
    found = folds(CELL, ["load"])
    assert found == [*FOUND[:2], Fold(14, 19, "load", 4), *FOUND[3:]]
    assert found[2].words == "load, 6 lines"


def test_named_neighbours_fold_together():
    found = folds(CELL, ["load", "forward"])
    assert [fold.words for fold in found[2:]] == ["load, forward, 27 lines"]


def test_no_listing_of_a_chapter_shows_more_than_40_lines():
    for path in CHAPTERS:
        for cell in code_cells(path):
            if not FOLDED_WHOLE & set(cell.metadata.get("tags", [])):
                lines = visible_lines(cell.source, cell.metadata.get("fold", ()))
                assert lines <= 40, f"{path.stem}: {cell.id} shows {lines} lines"


@pytest.mark.parametrize("source", [CELL, "x = 1", "%matplotlib inline"])
def test_a_name_that_a_cell_lacks_is_an_error(source):
    with pytest.raises(ValueError, match='"fold" names save, and the cell defines'):
        folds(source, ["save"])


@pytest.mark.parametrize("source", ["", "%time x = 1\nimport a\nimport b", "import a"])
def test_other_cells_have_no_folds(source):
    assert folds(source) == []


def test_lines_that_are_folded_or_empty_are_not_visible():
    folded = sum(fold.last - fold.first + 1 for fold in FOUND)
    empty = sum(not line for line in CELL.splitlines()) - 1  # one is folded
    assert visible_lines(CELL) == len(CELL.splitlines()) - folded - empty


def highlighted(source):
    return PygmentsBridge("html").highlight_block(source, "ipython3")


def without_buttons(html):
    return re.sub(r'<span class="unfold-line">.*?\n</span>', "", html)


def coloured(html):
    """Return the coloured words of a block, in order."""
    return re.findall(r'<span class="[a-z0-9]+">[^<]*</span>', html)


def text_of(html):
    return unescape(re.sub(r"<[^>]+>", "", html)).strip("\n")


ALL_CELLS = [cell.source for p in [*CHAPTERS, *SIDE_ROADS] for cell in code_cells(p)]


def test_the_code_and_its_colours_stay():
    some = [source for source in ALL_CELLS if folds(source)]
    for source in [CELL, f"\n\n{CELL}", *some]:
        html = highlighted(source)
        folded = without_buttons(with_folds(html, source, folds(source)))
        assert text_of(folded) == source.strip("\n")
        assert coloured(folded.replace('<span class="folded">', "")) == coloured(html)


def test_a_button_has_the_codes_indentation():
    html = with_folds(highlighted(CELL), CELL, folds(CELL))
    assert re.findall(r'<span class="unfold-line">( *)<button', html) == [
        " " * fold.indent for fold in FOUND
    ]
    assert "… checks of the input, 6 lines</button>\n</span>" in html


def cell_with(source, **metadata):
    cell = nodes.container(
        nb_element="cell_code",
        cell_metadata=metadata,
        hide_mode="input",
        prompt_show="Show code cell {type}",
        prompt_hide="Hide code cell {type}",
    )
    place = nodes.container(nb_element="cell_code_source")
    place += nodes.literal_block(source, source, language="ipython3")
    cell += place
    return cell


def test_a_name_that_a_cell_lacks_stops_the_build_and_says_where():
    cell = cell_with("def load(): ...", fold=["save"])
    with pytest.raises(ExtensionError, match=r"07.ipynb, cell model: .*names save,"):
        fold_cell(cell, "07.ipynb, cell model")


@pytest.mark.parametrize(
    ("tags", "identity", "words"),
    [
        (["hide-input", "guard"], "sizes-holds", "Checks of what the text says"),
        (["hide-input"], "setup", "Imports"),
        (["hide-input"], "prepare", "Code, 45 lines"),
    ],
)
def test_a_cell_that_is_folded_whole_is_named(tags, identity, words):
    cell = cell_with(CELL.strip("\n"), tags=tags)
    say_what_folds(cell, identity)
    assert cell["prompt_show"] == cell["prompt_hide"] == words
    assert not list(cell.findall(folding_code))


@pytest.mark.parametrize(
    ("shown", "what"),
    [
        (nodes.figure("", nodes.image()), "figure"),
        (nodes.raw("", "<svg/>", format="html"), "figure"),
        (nodes.raw("", "<table></table>", format="html"), "table"),
        (nodes.literal_block("7", "7"), "output"),
    ],
)
def test_code_is_named_by_what_it_shows(shown, what):
    cell = cell_with("show()", tags=["hide-input"])
    cell += nodes.container("", shown, nb_element="cell_code_output")
    say_what_folds(cell, "picture")
    assert cell["prompt_show"] == f"Code of this {what}"


def test_a_cell_with_words_of_its_own_keeps_them():
    cell = cell_with("show()", tags=["hide-input"])
    cell["prompt_show"] = "Open this after your guess"
    say_what_folds(cell, "case")
    assert cell["prompt_show"] == "Open this after your guess"


# In the book


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_the_code_of_a_figure_is_below_it(path):
    page = page_soup(f"notebooks/{path.stem}")
    for fold in page.select("div.cell > details.hide"):
        words = fold.summary.get_text().strip()
        assert "code cell" not in words
        if words.startswith("Code of this"):
            [output] = fold.find_previous_siblings("div")
            assert "cell_output" in output["class"]
    for figure in page.select("div.cell.tag_hide-input figure"):
        assert figure.find_parent(class_="cell").find("details")


def test_neighbours_without_an_output_share_one_bar():
    bar = "div.cell:has(> details.hide:only-child p.collapsed:-soup-contains('Code, '))"
    for path in [*CHAPTERS, *SIDE_ROADS]:
        folder = "notebooks/side_roads" if path in SIDE_ROADS else "notebooks"
        page = page_soup(f"{folder}/{path.stem}")
        assert not page.select(f"{bar} + {bar}"), path.stem
    code = page_soup("notebooks/03_class_token_and_position").find(
        "p", string="Code, 42 lines"
    )
    assert len(code.find_parent("details").select("div.cell_input")) == 2


CHAPTER = "notebooks/07_vision_transformer"


@pytest.fixture
def chapter(visits, site):
    one = visits(permissions=["clipboard-read", "clipboard-write"])
    one.tab.goto(f"{site}{CHAPTER}.html", wait_until="networkidle")
    return one.tab


def module_cell(tab):
    return tab.locator("div.cell_input", has_text="class VisionTransformer(").first


def test_only_chapters_and_side_roads_fold():
    assert page_soup(CHAPTER).select("div.cell_input pre > .folded")
    for page in HTML.rglob("*.html"):
        name = page.relative_to(HTML).as_posix()
        if not re.match(r"notebooks/(side_roads/|\d)", name):
            html = page.read_text("utf-8")
            assert "folding.js" not in html and 'class="folded"' not in html, name


def test_a_cell_that_is_folded_whole_has_no_folds_inside():
    for path in CHAPTERS:
        page = page_soup(f"notebooks/{path.stem}")
        assert not page.select("details.hide .unfold"), path.stem


def state(button):
    lines = button.locator("xpath=../following-sibling::span[1]")
    high = lines.evaluate("lines => lines.getBoundingClientRect().height > 0")
    return button.get_attribute("aria-expanded"), high


@pytest.mark.parametrize("key", ["Enter", "Space", None])
def test_a_button_opens_and_closes_its_lines(chapter, key):
    button = module_cell(chapter).locator(".unfold").first
    button.scroll_into_view_if_needed()
    assert button.bounding_box()["height"] >= 24
    for expected in (("false", False), ("true", True), ("false", False)):
        assert state(button) == expected
        if key is None:
            button.click()
        else:
            button.press(key)


def test_focus_on_a_button_is_seen(chapter):
    button = module_cell(chapter).locator(".unfold").first
    button.focus()
    chapter.keyboard.press("Shift+Tab")
    chapter.keyboard.press("Tab")
    assert button.evaluate("b => b === document.activeElement")
    assert button.evaluate("b => getComputedStyle(b).outlineStyle") == "solid"


@pytest.mark.parametrize("opened", [False, True])
def test_the_copy_button_copies_the_whole_code(chapter, opened):
    cell = module_cell(chapter)
    if opened:
        cell.locator(".unfold").first.click()
    cell.hover()
    cell.locator(".copybtn").click()
    chapter.wait_for_selector(".copybtn.success")
    copied = chapter.evaluate("navigator.clipboard.readText()")
    (source,) = [s for s in sources_of(CHAPTER) if "class VisionTransformer(" in s]
    assert copied == source


def sources_of(page):
    (path,) = [path for path in CHAPTERS if path.stem == page.split("/")[1]]
    return [cell.source for cell in code_cells(path)]


def is_seen(tab, place):
    return tab.locator(place).first.is_visible()


def switch(tab):
    return tab.get_by_role("button", name="Show all code")


CHECK = "div.cell.tag_guard details.hide"
FIGURE = "div.code-below > details.hide"


def test_one_switch_shows_all_code_and_the_next_page_opens_alike(chapter, site):
    other = f"{site}{CHAPTERS[4].relative_to(ROOT).with_suffix('.html').as_posix()}"
    assert not is_seen(chapter, CHECK) and not is_seen(chapter, f"{FIGURE} pre")
    for way in (
        lambda: switch(chapter).click(),
        lambda: chapter.keyboard.press("Alt+c"),
    ):
        for _ in range(2):
            shown = switch(chapter).get_attribute("aria-pressed") == "true"
            way()
            expect(switch(chapter)).to_have_attribute(
                "aria-pressed", str(not shown).lower()
            )
            assert is_seen(chapter, CHECK) is not shown
            assert is_seen(chapter, f"{FIGURE} pre") is not shown
            assert state(module_cell(chapter).locator(".unfold").first)[1] is not shown
    for shown in (True, False):
        switch(chapter).click()
        chapter.goto(other)
        expect(switch(chapter)).to_have_attribute("aria-pressed", str(shown).lower())
        assert is_seen(chapter, CHECK) is shown


# Finds headings and figures that code covers, by their first words.
COVERED = """() => {
    const seen = (place) => [...document.querySelectorAll(`.bd-article ${place}`)]
        .filter(one => one.checkVisibility());
    const code = seen("div.highlight");
    return seen(":is(h2, h3, figure)").filter(one => code.some(other => {
        if (one.contains(other)) return false;
        const [a, b] = [one, other].map(each => each.getBoundingClientRect());
        return a.top < b.bottom - 1 && b.top < a.bottom - 1
            && a.left < b.right - 1 && b.left < a.right - 1;
    })).map(one => one.innerText.slice(0, 40));
}"""


@pytest.mark.slow
def test_code_that_is_shown_covers_no_heading_and_no_figure(visits, site):
    tab = visits(alone=True).tab
    tab.goto(f"{site}{CHAPTER}.html")
    switch(tab).click()
    for path in CHAPTERS:
        tab.goto(f"{site}notebooks/{path.stem}.html")
        for wide in (390, 1280):
            resize(tab, {"width": wide, "height": 800})
            assert is_seen(tab, "div.cell details[open] pre")
            assert tab.evaluate(COVERED) == [], (path.stem, wide)


# Puts what is seen a third down the window, in words or in code, and returns how far
# from there it is after code has been shown or hidden.
LOOK_AT = """([kind, number]) => {
    const all = [...document.querySelectorAll(`.bd-article ${kind}`)]
        .filter(one => one.checkVisibility() && !one.closest(".folded, details"));
    window.lookedAt = all[Math.floor(number * all.length)];
    const to = lookedAt.getBoundingClientRect().top + scrollY - innerHeight / 3;
    scrollTo({ top: to, behavior: "instant" });
    window.wasAt = lookedAt.getBoundingClientRect().top;
}"""


@pytest.mark.parametrize("page", [CHAPTER, "notebooks/06_encoder_block"])
@pytest.mark.parametrize("kind", ["section > p", "h2", ".cell_input .line"])
def test_the_switch_leaves_what_is_read_where_it_is(visits, site, page, kind):
    tab = visits().tab
    tab.goto(f"{site}{page}.html", wait_until="networkidle")
    for share in (0.2, 0.5, 0.8):
        tab.evaluate(LOOK_AT, [kind, share])
        for _ in range(2):
            tab.keyboard.press("Alt+c")
            moved = tab.evaluate("lookedAt.getBoundingClientRect().top - wasAt")
            assert moved == pytest.approx(0, abs=2), (kind, share)


def test_something_is_left_to_see_when_the_code_that_is_read_goes(chapter):
    chapter.keyboard.press("Alt+c")
    fold = chapter.locator("div.code-below > details.hide pre").first
    fold.evaluate("code => code.scrollIntoView({ block: 'end', behavior: 'instant' })")
    chapter.keyboard.press("Alt+c")
    figure = chapter.locator("div.code-below > .cell_output figure").first
    expect(figure).to_be_in_viewport()


@pytest.mark.parametrize("wide", [390, 1280])
def test_the_mark_of_a_figures_code_is_beside_it_and_says_what_it_is(chapter, wide):
    resize(chapter, {"width": wide, "height": 800})
    for fold in chapter.locator(FIGURE).all():
        mark = fold.locator("summary")
        box = mark.bounding_box()
        assert box["height"] >= 24 and box["width"] >= 24
        assert mark.inner_text().startswith("Code of this")
        seen = mark.evaluate("mark => getComputedStyle(mark, '::before').content")
        of_figure = fold.locator("xpath=..").locator("figcaption").count()
        assert seen.startswith('"</> code"' if of_figure else '"</>"')
        image = fold.locator("xpath=preceding-sibling::*").locator("figcaption, table")
        for covered in image.all():
            other = covered.bounding_box()
            assert (
                box["x"] >= other["x"] + other["width"]
                or box["y"] >= other["y"] + other["height"] - 1
            )


def test_without_scripts_all_lines_are_there_and_no_button(visits, site):
    one = visits(java_script_enabled=False)
    one.tab.goto(f"{site}{CHAPTER}.html")
    cell = module_cell(one.tab)
    assert not cell.locator(".unfold").first.is_visible()
    lines = cell.locator(".folded").first
    assert lines.is_visible() and lines.bounding_box()["height"] > 0
    (source,) = [s for s in sources_of(CHAPTER) if "class VisionTransformer(" in s]
    assert cell.locator("pre").inner_text().strip() == source.strip()


def test_the_browsers_search_opens_what_it_finds(chapter):
    lines = module_cell(chapter).locator(".folded").first
    assert lines.get_attribute("hidden") == "until-found"
    lines.dispatch_event("beforematch")
    button = module_cell(chapter).locator(".unfold").first
    assert state(button) == ("true", True)


def test_on_paper_the_words_stand_for_the_lines(chapter):
    article = Paper([CHAPTER]).articles[CHAPTER]
    assert not article.select("button, .folded")
    words = [span.get_text() for span in article.select("span.unfold")]
    assert words and all(re.fullmatch(r"… .+, \d+ lines", text) for text in words)
    chapter.emulate_media(media="print")
    button = module_cell(chapter).locator(".unfold").first
    assert button.is_visible() and state(button) == ("false", False)
