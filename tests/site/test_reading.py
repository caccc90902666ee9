"""The layout of a page: its lines, its code, its first screen, its tables, its folds.

Needs _build/html from `make book`, and a browser.
"""

import re
from io import BytesIO
from statistics import median

import pytest
from PIL import Image
from pygments import highlight
from pygments.lexers import PythonLexer

from book._extensions.code_lines import LineFormatter
from book._extensions.pictures import is_narrow
from tests.conftest import CHAPTERS as CELLS_OF
from tests.conftest import ROOT, code_cells
from tests.site.test_folding import text_of
from tests.site.test_looks import CHAPTERS
from tests.site.test_pages import page_soup
from tests.site.visit import (
    NARROWEST,
    PHONE,
    SIZES_OF_LETTERS,
    WIDE,
    WORDS_IN_THE_WAY,
    resize,
)

EXERCISES = "notebooks/exercises/04_scaled_dot_product_attention"
every_chapter = pytest.mark.parametrize("chapter", CHAPTERS)


@pytest.fixture(scope="module")
def tab(browser):
    context = browser.new_context(
        viewport=WIDE, permissions=["clipboard-read", "clipboard-write"]
    )
    yield context.new_page()
    context.close()


@pytest.fixture
def opened(tab, site):
    def at(page, size=WIDE):
        resize(tab, size)
        tab.goto(f"{site}{page}.html")
        tab.evaluate("document.fonts.ready")
        return tab

    return at


# On a desk


@pytest.fixture(scope="module", params=CHAPTERS)
def desk(request, tab, site):
    """A chapter, for tests that look at it in a window of their size."""
    resize(tab, WIDE)
    tab.goto(f"{site}{request.param}.html")
    tab.evaluate("document.fonts.ready")
    return tab


LETTERS_A_LINE = """() => [...document.querySelectorAll('article section > p')]
    .map(text => {
        const high = parseFloat(getComputedStyle(text).lineHeight);
        const lines = Math.round(text.getBoundingClientRect().height / high);
        return [text.innerText.length, lines];
    })
    .filter(([, lines]) => lines > 3)
    .map(([letters, lines]) => letters / (lines - 0.5))"""


def test_a_line_of_prose_has_66_to_75_letters(desk):
    resize(desk, WIDE)
    assert 66 <= median(desk.evaluate(LETTERS_A_LINE)) <= 75


SMALLEST_CODE = """() => Math.min(...[...document.querySelectorAll('div.highlight pre')]
    .map(code => parseFloat(getComputedStyle(code).fontSize)))"""


def test_a_resized_page_is_measured_when_its_contents_have_slid_in(opened):
    """This holds however long they take."""
    tab = opened(CHAPTERS[4], PHONE)
    tab.add_style_tag(content="* { transition-duration: 1000s !important }")
    resize(tab, WIDE)
    width = "document.querySelector('article').getBoundingClientRect().width"
    measured = tab.evaluate(width)
    tab.add_style_tag(content="* { transition: none !important }")
    assert measured == tab.evaluate(width)


@pytest.mark.parametrize("page", [CHAPTERS[4], CHAPTERS[7], EXERCISES, "book/package"])
def test_code_is_as_large_as_14_pixels(opened, page):
    assert opened(page).evaluate(SMALLEST_CODE) >= 14


def test_the_longest_line_of_code_fits_beside_both_sidebars(opened):
    tab = opened(CHAPTERS[4])
    lines = tab.evaluate(
        """() => {
            const cell = 'div.cell_input:not(details *) pre .line';
            const line = document.querySelector(cell);
            line.textContent = 'm'.repeat(88);
            line.style = '';
            const one = parseFloat(getComputedStyle(line).lineHeight);
            return line.getBoundingClientRect().height / one;
        }"""
    )
    assert lines == pytest.approx(1, abs=0.1)


LOW = {"width": 1280, "height": 720}
FIRST_SCREEN = """() => {
    const article = document.querySelector('article');
    const picture = [...article.querySelectorAll('figure :is(img, svg.vit-drawing)')]
        .find(picture => picture.getClientRects().length);
    const parts = [article.querySelector('.chapter-line + p'),
        article.querySelector('p.chapter-question'), picture];
    const words = [...article.querySelectorAll('section.opening > p')]
        .filter(one => one.compareDocumentPosition(picture) & 4);
    parts.push(...words.filter(one => one.innerText.includes('guess')));
    return parts.map(part => part.getBoundingClientRect())
        .flatMap(box => [box.top, box.bottom]);
}"""


def test_the_first_screen_shows_lead_question_and_picture(desk):
    resize(desk, LOW)
    lead, _, question, _, top, bottom, *bet = desk.evaluate(FIRST_SCREEN)
    assert lead < question < top
    assert desk.locator("article h2").first.bounding_box()["y"] - question >= 20
    if bet:
        assert bet[1] < top, "who is to guess reads first"
    else:
        seen = min(bottom, LOW["height"]) - top
        assert seen > min((bottom - top) / 2, 340), "most of it, or half a screen"


ASIDE = """() => {
    const box = of => document.querySelector(of).getBoundingClientRect();
    return [box('article h1').left, innerWidth - box('.bd-sidebar-secondary').right];
}"""


def test_with_the_chapters_hidden_the_page_stands_in_the_middle(opened):
    tab = opened(CHAPTERS[4])
    tab.locator(".primary-toggle").click()
    resize(tab, WIDE)
    left, right = tab.evaluate(ASIDE)
    tab.locator(".primary-toggle").click()  # the next page would remember it
    assert left > 90 and abs(left - right) < 40


EDGES = """() => {
    const left = document.querySelector('article h1').getBoundingClientRect().left;
    const seen = (...parts) => [...document.querySelectorAll(parts.join())]
        .filter(part => part.checkVisibility() && part.getClientRects().length)
        .map(part => Math.round(part.getBoundingClientRect().right - left));
    return [
        seen('article section > p', 'article figure:not(:has(.narrow)) > figcaption'),
        seen('div.cell:not(.tag_across-the-page) figure :is(img, svg.vit-drawing)'),
        seen('article div.cell_input', 'article table',
            '.code-below:has(figcaption) > details > summary'),
    ];
}"""


def test_a_page_has_two_right_edges(desk):
    """Words and figures end at one; code, and the marks of figures, at the other."""
    resize(desk, WIDE)
    words, figures, wide = desk.evaluate(EDGES)
    assert max(words) == 592 and max(figures) <= 784
    assert sum(right > 592 for right in figures) <= 1
    assert max(wide) == 784


PLOT = """() => {
    const plot = [...document.querySelectorAll('article figure img')].find(one =>
        one.checkVisibility());
    const [own, text] = [getComputedStyle(plot).getPropertyValue('--own'),
        getComputedStyle(document.querySelector('article section > p')).fontSize];
    return [plot.getBoundingClientRect().width / own, parseFloat(text)];
}"""


def test_letters_in_a_plot_are_a_little_smaller_than_the_text(opened):
    larger, text = opened(CHAPTERS[7]).evaluate(PLOT)
    letters = 10 * 110 / 72  # points, dots and points an inch, of vit_book.style
    assert 15 <= letters * larger <= 16 < text


STILL = "article figure:has(svg.vit-drawing):not(:has(.moving))"
FORMULA = "fig-attention-formula"  # has the letters of a formula that stands alone
GAPS_OF_LINES = """figure => [...figure.querySelectorAll('.vd-lines text + text')]
    .map(text => [text.previousElementSibling, text])
    .map(lines => lines.map(line => line.getBoundingClientRect()))
    .map(([above, here]) => (here.bottom - above.bottom) / here.height)"""


def test_letters_of_still_drawings_are_as_large_on_each_page(desk):
    for size, smallest in ((WIDE | {"height": 720}, 12.5), (PHONE, 10.4)):
        resize(desk, size)
        for figure in desk.locator(STILL).all():
            letters = figure.evaluate(SIZES_OF_LETTERS)
            assert smallest <= min(letters)
            assert max(letters) <= 16.5 or figure.get_attribute("id") == FORMULA
            assert figure.evaluate(WORDS_IN_THE_WAY) == []
            for gap in figure.evaluate(GAPS_OF_LINES):
                assert 0.9 <= gap <= 1.4, "the lines of a text stay together"


LARGE = {"width": 1440, "height": 1000}
WIDTHS_OF_FIGURES = """() => [...document.querySelectorAll(
    'article div.cell figure :is(img, svg.vit-drawing)')]
    .filter(figure => figure.getClientRects().length && !figure.closest('.moving'))
    .map(figure => [figure, figure.closest('.tag_across-the-page')])
    .map(([figure, across]) => [figure.matches('img'), across ? 1.1 : 1,
        figure.matches('.narrow') ? 520 : across ? 784 : 592,
        figure.getBoundingClientRect().width,
        ...['--own', '--ratio'].map(name =>
            +getComputedStyle(figure).getPropertyValue(name))])"""


def test_figures_use_the_room_of_a_large_screen(desk):
    resize(desk, LARGE)
    for plot, larger, most, width, own, ratio in desk.evaluate(WIDTHS_OF_FIGURES):
        if plot:
            assert width == pytest.approx(min(larger * own, most), abs=1)
        elif ratio < 0.95:
            assert 1.2 * own - 1 <= width <= most + 1
        else:
            assert width == pytest.approx(most, abs=1)


def test_letters_of_plots_have_ten_pixels_on_a_phone(desk):
    resize(desk, PHONE)
    for plot, _, _, width, own, _ in desk.evaluate(WIDTHS_OF_FIGURES):
        assert not plot or width / own >= 10 / (10 * 110 / 72)


CAPTIONS = """() => [...document.querySelectorAll('article figure:has(figcaption)')]
    .filter(figure => figure.checkVisibility())
    .map(figure => {
        const box = part => [...figure.querySelectorAll(part)]
            .find(one => one.checkVisibility())?.getBoundingClientRect();
        const [drawing, buttons] = ['img, svg', '.moving-controls'].map(box);
        const aside = buttons?.left > drawing.right; // then the caption is below them
        const picture = aside ? drawing : box('img, svg, .moving');
        const caption = box('figcaption');
        return [!!figure.querySelector('.narrow'), caption.top - picture.bottom,
            caption.left - picture.left,
            caption.top - (aside ? buttons.bottom : picture.top),
            caption.left - picture.right, caption.width];
    })"""


@pytest.mark.parametrize("size", [WIDE, LOW, PHONE], ids=["wide", "low", "phone"])
def test_a_caption_is_below_its_figure_or_beside_a_narrow_one(desk, size):
    resize(desk, size)
    found = desk.evaluate(CAPTIONS)
    assert len(found) > 2
    for narrow, below, aside, lower, apart, width in found:
        if narrow and size != PHONE:
            assert abs(lower) <= 8 and 16 <= apart <= 32 and width >= 230
        else:
            assert below >= 0 and -4 <= aside <= (16 if size == PHONE else 4)


def test_narrow_is_what_is_higher_than_wide_or_as_small_as_most():
    assert is_narrow(600, 0.9) and is_narrow(507, 1.4) and not is_narrow(595, 1.8)


MARKS = """() => [...document.querySelectorAll('.code-below')]
    .filter(cell => cell.checkVisibility())
    .map(cell => {
        const of = part => cell.querySelector(part)?.getBoundingClientRect();
        const mark = of('details > summary');
        const words = document.createRange();
        const caption = cell.querySelector('figcaption');
        words.selectNodeContents(caption ?? cell);
        const lines = [...words.getClientRects()].filter(box => box.width);
        const taken = [of('.copybtn'), ...caption ? lines : []];
        const next = cell.nextElementSibling?.getBoundingClientRect();
        const output = cell.querySelector('.cell_output');
        const texts = document.createTreeWalker(output, NodeFilter.SHOW_TEXT);
        const ends = [];
        while (texts.nextNode()) {
            if (!texts.currentNode.data.trim()) continue; // a line's end is a page wide
            words.selectNodeContents(texts.currentNode);
            ends.push(...[...words.getClientRects()].map(box => box.right));
        }
        return [
            taken.some(box => box && box.width && mark.left < box.right - 1 &&
                box.left < mark.right - 1 && mark.top < box.bottom - 1 &&
                box.top < mark.bottom - 1),
            caption && next ? next.top - of('figure').bottom : 0,
            caption ? 0 : mark.left - Math.max(...ends),
        ];
    })"""


def test_the_mark_of_hidden_code_stands_at_what_it_made(desk):
    """It lies on no word and no button, and leaves no hole below a caption."""
    resize(desk, WIDE)
    for lies_on_it, hole, away in desk.evaluate(MARKS):
        assert not lies_on_it and hole <= 48 and away <= 24


LONGEST_STRETCH = 3900  # pixels between two pictures
STRETCHES = """() => {
    const article = document.querySelector('article');
    const end = article.getBoundingClientRect().bottom;
    const pictures = [...article.querySelectorAll('figure, img, svg, canvas, .vit-lab')]
        .filter(picture => picture.checkVisibility())
        .map(picture => picture.getBoundingClientRect())
        .filter(box => box.width >= 200 && box.height >= 60)
        .sort((one, other) => one.top - other.top);
    const headings = [...article.querySelectorAll('h1, h2, h3')].map(heading =>
        [heading.getBoundingClientRect().top, heading.innerText.replace('#', '')]);
    const stretches = [];
    let from = article.getBoundingClientRect().top;
    for (const {top, bottom} of [...pictures, {top: end, bottom: end}]) {
        const between = headings.filter(([at]) => from < at && at < top);
        stretches.push([Math.round(top - from), between.map(([, text]) => text)]);
        from = Math.max(from, bottom);
    }
    return stretches;
}"""


def test_no_long_stretch_is_without_a_picture(desk):
    """The code is folded, as on a first visit."""
    resize(desk, WIDE)
    stretches = desk.evaluate(STRETCHES)
    assert len(stretches) > 3
    for pixels, headings in stretches:
        assert pixels <= LONGEST_STRETCH, f"no picture under {' | '.join(headings)}"


@every_chapter
def test_what_a_chapter_promises_is_said_once_and_before_it_begins(chapter):
    article = page_soup(chapter).find("article")
    [promise] = [text for text in article("p") if "It takes about" in text.get_text()]
    assert "picture" in promise.find_previous("h2").get_text().lower()
    assert promise.find_previous("figure")


BROKEN_CODE = """() => [...document.querySelectorAll('article code.short')]
    .filter(code => code.checkVisibility() && !code.closest('td, th, h1, h2, h3, dt'))
    .filter(code => new Set([...code.getClientRects()].map(box => box.top)).size > 1)
    .map(code => code.textContent)"""


@pytest.mark.parametrize("size", [WIDE, PHONE, NARROWEST])
def test_short_code_in_a_sentence_is_not_broken(opened, size):
    for chapter in (CHAPTERS[2], CHAPTERS[4], CHAPTERS[7], CHAPTERS[10]):
        tab = opened(chapter, size)
        assert tab.locator("article code.short").count() > 10
        assert tab.evaluate(BROKEN_CODE) == [], chapter
        assert tab.evaluate("document.documentElement.scrollWidth") <= size["width"]


# On a phone

ROOM_BELOW = """() => [...document.querySelectorAll('div.cell.code-below')]
    .filter(cell => cell.checkVisibility() && cell.nextElementSibling?.matches('p'))
    .map(cell => {
        const last = cell.querySelectorAll('figcaption, table, img, .cell_output pre');
        const bottom = Math.max(...[...last].filter(one => !one.closest('details'))
            .map(one => one.getBoundingClientRect().bottom));
        const mark = cell.querySelector('summary').getBoundingClientRect();
        return [cell.nextElementSibling.getBoundingClientRect().top - bottom,
            mark.top - bottom, mark.right];
    })"""


def test_the_mark_of_hidden_code_takes_no_row(opened):
    for chapter in (CHAPTERS[0], CHAPTERS[4], CHAPTERS[11], CHAPTERS[13]):
        found = opened(chapter, PHONE).evaluate(ROOM_BELOW)
        assert len(found) > 5
        for room, mark, right in found:
            assert room <= 46 and mark >= -8 and right <= PHONE["width"]


HANGING = """() => [...document.querySelectorAll('div.cell_input:not(details *) pre')]
    .flatMap(code => [...code.querySelectorAll('.line')])
    .filter(line => line.getClientRects().length && !line.closest('.folded'))
    .map(line => {
        const words = document.createRange();
        words.selectNodeContents(line);
        const text = line.textContent;
        const letter = document.createRange();
        const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        let first;
        for (let node; (node = walker.nextNode()) && !first;) {
            const at = node.data.search(/\\S/);
            if (at < 0) continue;
            letter.setStart(node, at);
            letter.setEnd(node, at + 1);
            first = letter.getBoundingClientRect();
        }
        const below = [...words.getClientRects()].filter(box =>
            box.width > 1 && box.top > first.bottom - 2);
        return [text, first.left, Math.min(...below.map(box => box.left), 9999),
            line.clientWidth];
    })
    .filter(([, , left]) => left < 9999)"""


@pytest.mark.parametrize("size", [PHONE, NARROWEST], ids=["390", "360"])
def test_a_long_line_goes_on_behind_its_own_indentation(opened, size):
    wrapped = opened(CHAPTERS[7], size).evaluate(HANGING)
    assert len(wrapped) > 10
    for text, first, rest, _ in wrapped:
        assert rest > first + 5, text
    assert any(text.startswith("    ") for text, *_ in wrapped)


def test_the_links_beside_the_symptoms_are_seen(opened):
    tab = opened("notebooks/side_roads/when_it_does_not_work", PHONE)
    table = tab.locator("article table", has_text="what you see").first
    wide = "table => table.scrollWidth - table.parentElement.clientWidth"
    assert table.evaluate(wide) <= 0


def test_a_mark_stands_where_a_line_goes_on_and_only_there(opened):
    tab = opened(CHAPTERS[7], PHONE)
    heights = tab.evaluate(
        """() => [...document.querySelectorAll('div.cell_input pre .line')]
            .filter(line => line.getClientRects().length)
            .map(line => {
                const one = parseFloat(getComputedStyle(line).lineHeight);
                const mark = getComputedStyle(line, '::before');
                return [Math.round(line.getBoundingClientRect().height / one),
                    Math.round(parseFloat(mark.height) / one)];
            })"""
    )
    assert {lines for lines, _ in heights} >= {1, 2}
    assert all(marks == lines - 1 for lines, marks in heights)


def test_what_is_selected_is_the_code(opened):
    tab = opened(CHAPTERS[4], PHONE)
    source = next(
        cell.source
        for cell in code_cells(ROOT / f"{CHAPTERS[4]}.ipynb")
        if cell.source.startswith("def attend_by_hand(")
    )
    tab.evaluate(
        """() => getSelection().selectAllChildren(
            [...document.querySelectorAll('div.cell_input pre')]
                .find(code => code.textContent.startsWith('def attend_by_hand(')))"""
    )
    tab.keyboard.press("Control+c")
    assert tab.evaluate("navigator.clipboard.readText()").rstrip("\n") == source


def test_the_lines_of_code_are_the_code():
    for path in CELLS_OF:
        for cell in code_cells(path):
            html = highlight(cell.source, PythonLexer(stripnl=False), LineFormatter())
            assert text_of(html) == cell.source.strip("\n")


def test_the_header_of_a_phone_is_small(opened):
    tab = opened(CHAPTERS[4], PHONE)
    assert tab.locator(".bd-header-article").bounding_box()["height"] <= 46


# Tables that are wider than the screen

EDGE = """(table) => {
    const box = table.getBoundingClientRect();
    return [box.left, box.right, box.top + 8].map(Math.round);
}"""


def shades(tab, left, right, top):
    """Return how much darker than the page a table's left and right edges are."""
    picture = Image.open(BytesIO(tab.screenshot())).convert("L")
    at = [picture.getpixel((x, top)) for x in (left + 1, right - 2)]
    return [picture.getpixel((left - 4, top)) - shade for shade in at]


def test_a_table_that_scrolls_says_where_there_is_more(opened):
    tab = opened("book/teaching", PHONE)
    table = tab.locator("article table").first
    table.evaluate(
        """table => {
            table.querySelectorAll('td').forEach(cell => cell.style.minWidth = '20rem');
            scrollTo({top: table.getBoundingClientRect().top + scrollY - 100,
                behavior: 'instant'});
        }"""
    )
    assert table.evaluate("table => table.scrollWidth > table.clientWidth")
    place = table.evaluate(EDGE)
    before, after = shades(tab, *place)
    assert before <= 5 and after > 25
    table.evaluate("table => table.scrollLeft = 9999")
    before, after = shades(tab, *place)
    assert before > 25 and after <= 5


WIDTHS = """() => [...document.querySelectorAll('article td:is(.phrase, .sentence)')]
    .map(cell => cell.getBoundingClientRect().width)"""


def test_a_pair_in_a_table_and_a_heading_break_well(opened):
    tab = opened(CHAPTERS[11], PHONE)
    for pair in tab.locator("table.vit-table td", has_text=re.compile(r"^\(")).all():
        line = pair.evaluate("cell => parseFloat(getComputedStyle(cell).lineHeight)")
        assert pair.bounding_box()["height"] < 2 * line
    heading = tab.locator("table.vit-table th", has_text="share of the time")
    lines = heading.evaluate(
        """cell => {
            const words = document.createRange();
            words.selectNodeContents(cell);
            return [...words.getClientRects()].map(box => box.width);
        }"""
    )
    assert len(lines) == 2 and min(lines) > max(lines) / 2


@pytest.mark.parametrize("page", [CHAPTERS[8], CHAPTERS[13], "book/teaching"])
def test_a_sentence_in_a_table_keeps_room(opened, page):
    widths = opened(page, PHONE).evaluate(WIDTHS)
    assert widths and min(widths) >= 119


# Folds

FOLDS = """() => [...document.querySelectorAll(
    'article details:not(.code-below > *) > summary')].map(line => {
    const of = getComputedStyle(line);
    const all = getComputedStyle(line.parentElement);
    const signs = [...line.querySelectorAll('svg')]
        .filter(sign => sign.getClientRects().length);
    return [of.fontSize, of.fontWeight, of.color, of.backgroundColor, of.borderTopWidth,
        of.listStyleType, all.boxShadow, all.backgroundColor,
        `${signs.length} signs beside its triangle`].join('; ');
})"""


def test_all_that_folds_has_one_dress(opened):
    dresses = set()
    for page in (CHAPTERS[0], CHAPTERS[4], CHAPTERS[14], EXERCISES):
        found = opened(page).evaluate(FOLDS)
        assert found, page
        dresses |= set(found)
    assert len(dresses) == 1, dresses


def test_hints_stand_in_one_row_until_one_is_opened(opened):
    tab = opened(EXERCISES)
    hints = tab.locator("article details", has_text=re.compile("^Hint [123]"))
    tops = [hints.nth(n).bounding_box()["y"] for n in range(3)]
    assert max(tops) - min(tops) < 2
    hints.nth(0).locator("summary").click()
    first, second = (hints.nth(n).bounding_box() for n in range(2))
    assert second["y"] >= first["y"] + first["height"]


def test_what_a_student_writes_is_told_apart(opened):
    tab = opened(EXERCISES)
    written = tab.locator(".cell-to-write").count()
    asked = page_soup(EXERCISES).get_text().count("# your code here")
    assert 5 <= written <= asked
    ground = "cell => getComputedStyle(cell.querySelector('.cell_input')).background"
    mine = tab.locator(".cell-to-write").first.evaluate(ground)
    check = tab.locator("div.cell:not(.cell-to-write)").nth(1).evaluate(ground)
    assert mine != check
