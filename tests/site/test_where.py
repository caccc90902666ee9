"""The reader's place: the contents panel, the chapters read, and the way back.

Needs _build/html from `make book`; skipped where there is no browser.
"""

import re

import pytest
from playwright.sync_api import expect

from tests.site.test_pages import HTML
from tests.site.visit import PHONE, Visit, resize, rest

CHAPTER = "notebooks/04_scaled_dot_product_attention"
OTHER = "notebooks/05_multi_head_attention"
DESK = {"width": 1280, "height": 720}
# How far the current entry is inside the panel: from its heading, and from the fade.
INSIDE = """() => {
    const panel = document.querySelector(".bd-sidebar-secondary");
    const entry = [...panel.querySelectorAll("a.nav-link.active")]
        .findLast(link => link.checkVisibility());
    const [outer, inner] = [panel, entry].map(one => one.getBoundingClientRect());
    const bottom = Math.min(outer.bottom, innerHeight);
    return [inner.top - outer.top - 48, bottom - 40 - inner.bottom].map(Math.round);
}"""

# The theme keeps its colours without asking whether the browser does.
REFUSE = """
    const set = Storage.prototype.setItem;
    Storage.prototype.setItem = function (key, value) {
        if (key.startsWith("vit-steps: ")) throw new Error("full");
        set.call(this, key, value);
    };
"""


KEPT = "Object.keys(localStorage).filter(key => key.startsWith('vit-steps: ')).length"


def goes_twice(goto, tab):
    """From a folder, a busy Chromium may tell a page late what the page before kept."""

    def go(address, **how):
        kept = tab.url.startswith("file:") and tab.evaluate(KEPT)
        goto(address, **how)
        if kept:
            goto(address, **how)

    return go


@pytest.fixture
def visit(request, browser, site):
    """A browser that has kept nothing, and pages from a server or from a folder."""
    one = Visit(browser, color_scheme="light")
    one.site = site
    if getattr(request, "param", "server") == "folder":
        one.site = f"{HTML.as_uri()}/"
        one.tab.goto = goes_twice(one.tab.goto, one.tab)
    resize(one.tab, DESK)
    yield one
    assert one.errors == []
    one.context.close()


from_a_folder_too = pytest.mark.parametrize(
    "visit", ["server", "folder"], indirect=True
)


def to_section(tab, anchor, kept=True):
    tab.evaluate(f"document.getElementById('{anchor}').scrollIntoView()")
    tab.locator(f".bd-toc-nav a.active[href='#{anchor}']").wait_for()
    if kept:  # when the reader has stopped scrolling
        place = "anchor => localStorage['vit-steps: place']?.includes('#' + anchor)"
        tab.wait_for_function(place, arg=anchor)
    else:
        rest(tab, 600)


def test_a_jump_is_at_once(visits, site):
    tab = visits().tab
    tab.goto(f"{site}{CHAPTER}.html")
    assert tab.evaluate("(scrollTo(0, 5000), scrollY)") == 5000


@pytest.mark.slow
@pytest.mark.parametrize("page", [CHAPTER, "notebooks/13_swin_and_deit"])
def test_the_contents_follow_the_reader(visits, site, page):
    tab = visits().tab
    resize(tab, DESK)
    tab.goto(f"{site}{page}.html", wait_until="networkidle")
    height = tab.evaluate("document.documentElement.scrollHeight")
    for share in (0.3, 0.5, 0.7, 0.9, 0.4):
        tab.evaluate(f"scrollTo(0, {share * height})")
        rest(tab, 200)
        assert min(tab.evaluate(INSIDE)) >= 0, share


READ_HERE = """() => {
    const headings = document.querySelectorAll("article section section > :is(h2, h3)");
    const above = [...headings].filter(one => one.getBoundingClientRect().top < 180);
    const marked = document.querySelectorAll(".bd-toc-nav a.active");
    return [above.at(-1)?.parentElement.id, [...marked].at(-1)?.hash.slice(1)];
}"""


def test_wherever_the_reader_is_an_entry_is_marked(visits, site):
    """Bootstrap's own marks none where a section's margin is at its line."""
    tab = visits().tab
    resize(tab, DESK)
    tab.goto(f"{site}notebooks/13_swin_and_deit.html", wait_until="networkidle")
    height = tab.evaluate("document.documentElement.scrollHeight")
    for place in range(1500, 8000, 223):
        tab.evaluate(f"scrollTo(0, {place})")
        rest(tab, 50)
        here, marked = tab.evaluate(READ_HERE)
        assert marked == here, place
    tab.evaluate(f"scrollTo(0, {height})")
    tab.locator(".bd-toc-nav a.active[href='#further-reading']").wait_for()


def test_a_line_under_the_head_shows_how_far_one_has_read(visits, site):
    tab = visits().tab
    resize(tab, DESK)
    tab.goto(f"{site}{CHAPTER}.html", wait_until="networkidle")
    long = """() => new DOMMatrix(getComputedStyle(
        document.querySelector('.bd-header-article'), '::after').transform).a"""
    for share in (0.25, 0.75):
        tab.evaluate(
            "share => scrollTo(0, share * (document.documentElement.scrollHeight "
            "- innerHeight))",
            share,
        )
        rest(tab, 100)
        assert tab.evaluate(long) == pytest.approx(share, abs=0.02)


FAR_DOWN = ["notebooks/14_bug_clinic", "notebooks/15_a_vit_of_2026"]
FAR_DOWN += ["book/glossary", "book/claims"]


@pytest.mark.parametrize("page", FAR_DOWN)
def test_the_search_field_stays_in_sight(visits, site, page):
    tab = visits().tab
    for high in (900, 720):
        resize(tab, {"width": 1280, "height": high})
        tab.goto(f"{site}{page}.html", wait_until="networkidle")
        side = tab.locator(".bd-sidebar-primary")
        field = side.get_by_role("button", name="Search")
        here = side.locator("a.current").last.bounding_box()
        for _ in range(2):
            box = field.bounding_box()
            assert box["y"] >= 0, "also where the list has been scrolled"
            spot = [box["x"] + 30, box["y"] + box["height"] / 2]
            hit = "(field, [x, y]) => field.contains(document.elementFromPoint(x, y))"
            assert field.evaluate(hit, spot), "and above the list"
            side.evaluate("side => { side.scrollTop = side.scrollHeight }")
        assert here["y"] > 60, "the entry of the page is not under it"


def test_the_side_bar_shows_the_pages_own_entry(visit):
    """Whether it is far down or up, and from the top if the page is not in it."""
    tab = visit.tab
    side = tab.locator(".bd-sidebar-primary")
    resize(tab, DESK)
    for page in ("notebooks/15_a_vit_of_2026", "notebooks/02_patch_embedding") * 2:
        tab.goto(f"{visit.site}{page}.html", wait_until="networkidle")
        entry = side.locator("a.current").last.bounding_box()
        assert 60 < entry["y"] < 0.9 * 720, page
    side.evaluate("side => { side.scrollTop = side.scrollHeight }")
    tab.goto(f"{visit.site}book/intro.html", wait_until="networkidle")
    assert side.evaluate("side => side.scrollTop") == 0


@from_a_folder_too
def test_a_reader_goes_on_where_he_stopped(visit):
    tab = visit.tab
    anchor = "one-query-with-a-pencil"
    tab.goto(f"{visit.site}book/intro.html")
    assert tab.locator(".go-on").count() == 0
    tab.goto(f"{visit.site}{CHAPTER}.html", wait_until="networkidle")
    to_section(tab, anchor)
    tab.goto(f"{visit.site}book/intro.html")
    link = tab.locator("article .go-on a")
    words = "4. Scaled dot-product attention, One query with a pencil"
    assert link.inner_text() == words
    assert "Kept in this browser alone." in tab.locator("article .go-on").inner_text()
    assert f"#{anchor}:" in link.get_attribute("href"), "and the line in it"
    link.click()
    tab.wait_for_url(f"{visit.site}{CHAPTER}.html#{anchor}")
    assert tab.locator(".go-on").count() == 0, "he is there"
    tab.goto(f"{visit.site}notebooks/side_roads/masks.html", wait_until="networkidle")
    up = tab.locator("a.page-up").get_attribute("href")
    taken = f"{CHAPTER}.html#{anchor}:"
    assert taken in up, "where the side road was taken"
    tab.goto(f"{visit.site}{CHAPTER}.html", wait_until="networkidle")
    link = tab.locator(".bd-sidebar-primary .go-on a")
    assert link.inner_text() == "One query with a pencil"
    tab.goto(f"{visit.site}book/notation.html")
    link = tab.locator(".bd-sidebar-primary .go-on a")
    assert link.inner_text() == "4. Scaled dot-product attention"


def test_who_scrolls_before_the_page_has_loaded_finds_the_place_again(visits, site):
    tab = visits().tab
    scripts = []
    tab.route("**/book/where.js*", lambda route: scripts.append(route))
    tab.goto(f"{site}{CHAPTER}.html", wait_until="commit")
    section = tab.locator("#one-query-with-a-pencil")
    section.evaluate("section => section.scrollIntoView()")
    tab.wait_for_function("scrollY > 0")
    scripts[0].continue_()
    tab.wait_for_function("localStorage['vit-steps: place']?.includes('04_scaled')")


# The words at the line below the head: what a reader has just begun to read.
AT_THE_LINE = """() => {
    const { left } = document.querySelector("article h1").getBoundingClientRect();
    const spot = document.caretRangeFromPoint(left + 20, 180);
    const words = spot.startContainer.parentElement.closest("p, li");
    return words?.textContent.slice(0, 60);
}"""


def stop_at_words(tab):
    """Bring the long paragraph of a section to the line, far below its heading."""
    tab.evaluate(
        """() => {
            const words = [...document.querySelectorAll(
                "#a-longer-key-can-get-more-attention > p")].at(-1);
            scrollBy(0, words.getBoundingClientRect().top - 170);
        }"""
    )
    kept = "localStorage['vit-steps: place']?.includes('more-attention:')"
    tab.wait_for_function(kept)
    return tab.evaluate(AT_THE_LINE)


@pytest.mark.parametrize("width", [1280, 1000, 390])
def test_the_way_back_leads_to_the_line_in_any_window(visit, width):
    """A section can be twenty screens long. The line is not left in the address."""
    tab = visit.tab
    tab.goto(f"{visit.site}{CHAPTER}.html", wait_until="networkidle")
    words = stop_at_words(tab)
    assert len(words) > 20
    tab.goto(f"{visit.site}book/intro.html")
    resize(tab, {"width": width, "height": 800})
    tab.locator("article .go-on a").click()
    tab.wait_for_url(f"{visit.site}{CHAPTER}.html#a-longer-key-can-get-more-attention")
    tab.wait_for_load_state("networkidle")
    assert tab.evaluate(AT_THE_LINE) == words


@pytest.mark.parametrize(
    ("page", "size"), [("07_vision_transformer", DESK), ("12_scale", PHONE)]
)
@pytest.mark.parametrize("left_at", [3000, 6300, 9000, 12000])
def test_the_way_back_leads_there_past_cells_that_are_not_shown(
    visits, site, page, size, left_at
):
    tab = visits(alone=True).tab
    resize(tab, size)
    tab.goto(f"{site}notebooks/{page}.html", wait_until="networkidle")
    tab.evaluate(f"scrollTo({{ top: {left_at}, behavior: 'instant' }})")
    tab.wait_for_function("localStorage['vit-steps: place']?.includes(':')")
    tab.goto(f"{site}book/intro.html", wait_until="networkidle")
    tab.locator("article .go-on a").click()
    tab.wait_for_url(f"**/notebooks/{page}.html*")
    tab.wait_for_load_state("networkidle")
    assert abs(tab.evaluate("scrollY") - left_at) <= 40


def test_on_a_phone_the_way_back_leads_to_the_page_not_to_its_drawer(visit):
    tab = visit.tab
    resize(tab, PHONE)
    tab.goto(f"{visit.site}{CHAPTER}.html", wait_until="networkidle")
    tab.locator(".primary-toggle").click()
    tab.locator(".bd-sidebar-primary").get_by_role("link", name="Swin and DeiT").click()
    tab.wait_for_url("**/13_swin_and_deit.html")
    tab.go_back(wait_until="networkidle")
    assert not tab.locator("#pst-primary-sidebar-checkbox").is_checked()


def test_a_place_that_the_page_has_lost_is_its_section(visit):
    tab = visit.tab
    tab.goto(f"{visit.site}{CHAPTER}.html#the-module:400.5", wait_until="networkidle")
    top = "document.getElementById('the-module').getBoundingClientRect().top"
    assert 0 <= tab.evaluate(top) <= 200


def test_a_side_bar_that_was_folded_stays_so(visit):
    """Without a jump: it is not there when the next page is drawn."""
    tab = visit.tab
    side = tab.locator(".bd-sidebar-primary")
    tab.goto(f"{visit.site}{CHAPTER}.html", wait_until="networkidle")
    for folded in (True, False):
        tab.locator(".primary-toggle").click()
        tab.wait_for_function(
            f"localStorage['vit-steps: folded'] === '{str(folded).lower()}'"
        )
        tab.goto(f"{visit.site}{OTHER}.html")
        assert (side.bounding_box()["x"] < 0) == folded, "at once"
    tab.locator(".primary-toggle").click()
    tab.wait_for_function("localStorage['vit-steps: folded'] === 'true'")
    tab.goto(f"{visit.site}book/lab.html")
    assert not side.is_visible(), "there the same box opens it"
    resize(tab, PHONE)
    tab.goto(f"{visit.site}{OTHER}.html", wait_until="networkidle")
    assert not tab.locator("#pst-primary-sidebar-checkbox").is_checked()


FAMILY = """() => [...document.querySelectorAll(
    ".bd-sidebar-primary .bd-links li.current a.internal")]
    .map(link => link.getBoundingClientRect()).map(box => [box.top, box.bottom])"""


@pytest.mark.parametrize(
    "page",
    [
        "notebooks/06_encoder_block",
        "notebooks/10_pretrained_weights",
        "notebooks/side_roads/your_own_photographs",
        "notebooks/15_a_vit_of_2026",
    ],
)
def test_the_side_bar_shows_all_that_is_below_the_chapter(visits, site, page):
    tab = visits().tab
    resize(tab, DESK)
    tab.goto(f"{site}{page}.html", wait_until="networkidle")
    boxes = tab.evaluate(FAMILY)
    assert len(boxes) >= 3
    assert min(top for top, _ in boxes) >= 60
    assert max(bottom for _, bottom in boxes) <= 0.9 * DESK["height"]
    assert tab.evaluate("scrollY") == 0


def test_on_a_phone_the_drawer_opens_at_the_chapter(visits, site):
    tab = visits().tab
    resize(tab, PHONE)
    tab.goto(f"{site}notebooks/15_a_vit_of_2026.html", wait_until="networkidle")
    tab.locator(".primary-toggle").click()
    entry = tab.locator(".bd-sidebar-primary a.current")
    expect(entry).to_be_in_viewport()
    expect(entry).to_be_focused()


def test_it_says_how_much_is_read_and_left(visit):
    tab = visit.tab
    far = tab.locator(".bd-sidebar-primary .how-far")
    tab.goto(f"{visit.site}{CHAPTER}.html", wait_until="networkidle")
    assert far.count() == 0, "not before the first chapter"
    tab.get_by_label("I have read this chapter").check()
    minutes = [int(link.get_attribute("data-minutes")) for link in chapters_of(tab)]
    assert len(minutes) == 16 and min(minutes) >= 30
    hours = round((sum(minutes) - minutes[4]) / 60)
    words = f"1 of 16 chapters read, about {hours} hours left"
    expect(far).to_have_text(words)
    to_section(tab, "one-query-with-a-pencil")
    tab.goto(f"{visit.site}book/intro.html", wait_until="networkidle")
    expect(far).to_have_text(words)
    expect(tab.locator("article .go-on")).to_contain_text(f"{words}. Kept in this")
    pages = [link.get_attribute("href").split("/")[-1] for link in chapters_of(tab)]
    all_read = [f"notebooks/{page.removesuffix('.html')}" for page in pages]
    tab.evaluate(
        "all => { localStorage['vit-steps: read'] = JSON.stringify(all) }", all_read
    )
    tab.reload()
    expect(far).to_have_text("16 of 16 chapters read")


def chapters_of(tab):
    links = tab.locator(".bd-sidebar-primary a[data-minutes]").all()
    return [one for one in links if re.match(r"\d+\. ", one.inner_text())]


def test_the_contents_say_how_long_the_rest_of_the_page_takes(visits, site):
    tab = visits().tab
    resize(tab, DESK)
    tab.goto(f"{site}{CHAPTER}.html", wait_until="networkidle")
    left = tab.locator(".onthispage .time-left")
    whole = tab.locator(".bd-sidebar-primary a.current").get_attribute("data-minutes")
    expect(left).to_have_text(f" · {whole} min left")
    tab.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
    expect(left).to_have_text(re.compile(r" · (20|25|30) min left"))
    tab.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(left).to_have_text("")


def test_a_chapter_that_was_read_is_marked(visit):
    tab = visit.tab
    tab.goto(f"{visit.site}{CHAPTER}.html", wait_until="networkidle")
    box = tab.get_by_label("I have read this chapter")
    note = tab.locator(".read-mark [role=status]")
    box.check()
    assert note.inner_text() == "Kept in this browser alone."
    tab.goto(f"{visit.site}{OTHER}.html", wait_until="networkidle")
    marked = tab.locator(".bd-sidebar-primary a.was-read")
    assert marked.inner_text() == "4. Scaled dot-product attention"
    box.check()
    assert note.inner_text() == "", "it was said once"
    assert marked.count() == 2
    box.uncheck()
    assert marked.count() == 1
    with tab.expect_navigation(wait_until="networkidle"):
        tab.locator(".right-next").click()
    expect(marked, "who goes on has read it").to_have_count(2)
    tab.goto(f"{visit.site}book/intro.html", wait_until="networkidle")
    expect(tab.locator(".chapter-cards a.was-read")).to_have_count(2)


def test_who_skips_the_exercises_has_read_the_chapter(visit):
    tab = visit.tab
    tab.goto(f"{visit.site}{CHAPTER}.html", wait_until="networkidle")
    with tab.expect_navigation(wait_until="networkidle"):
        tab.locator(".to-next-chapter").click()
    marked = tab.locator(".bd-sidebar-primary a.was-read")
    expect(marked).to_have_text("4. Scaled dot-product attention")


def test_a_phone_shows_the_title_once_it_has_scrolled_away(visit):
    tab = visit.tab
    resize(tab, PHONE)
    tab.goto(f"{visit.site}{CHAPTER}.html", wait_until="networkidle")
    title = tab.locator(".page-here")
    expect(title).to_have_text("4. Scaled dot-product attention")
    expect(title).to_be_hidden()
    tab.evaluate("scrollTo(0, 1000)")
    expect(title).to_be_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_what_another_tab_keeps_is_shown_at_once(visit):
    visit.tab.goto(f"{visit.site}{OTHER}.html", wait_until="networkidle")
    other = visit.context.new_page()
    other.goto(f"{visit.site}{CHAPTER}.html", wait_until="networkidle")
    other.get_by_label("I have read this chapter").check()
    marked = visit.tab.locator(".bd-sidebar-primary a.was-read")
    assert marked.inner_text() == "4. Scaled dot-product attention"
    to_section(other, "one-query-with-a-pencil")
    link = visit.tab.locator(".bd-sidebar-primary .go-on a")
    assert link.inner_text() == "4. Scaled dot-product attention"
    other.get_by_label("I have read this chapter").uncheck()
    marked.wait_for(state="detached")
    visit.tab.goto(f"{visit.site}{CHAPTER}.html", wait_until="networkidle")
    other.get_by_label("I have read this chapter").check()
    expect(visit.tab.get_by_label("I have read this chapter")).to_be_checked()


@from_a_folder_too
def test_what_was_kept_can_be_forgotten(visit):
    tab = visit.tab
    tab.goto(f"{visit.site}{CHAPTER}.html", wait_until="networkidle")
    tab.get_by_label("I have read this chapter").check()
    to_section(tab, "one-query-with-a-pencil")
    tab.goto(f"{visit.site}book/intro.html", wait_until="networkidle")
    tab.get_by_role("button", name="Forget it").click()
    assert tab.locator(".go-on, a.was-read").count() == 0
    assert tab.evaluate(KEPT) == 0


@from_a_folder_too
def test_a_page_works_where_nothing_is_kept(visit):
    """Some browsers and windows refuse to store anything."""
    visit.tab.add_init_script(REFUSE)
    visit.tab.goto(f"{visit.site}{CHAPTER}.html", wait_until="networkidle")
    visit.tab.get_by_label("I have read this chapter").check()
    note = visit.tab.locator(".read-mark [role=status]").inner_text()
    assert note.startswith("Your browser keeps nothing here")
    to_section(visit.tab, "one-query-with-a-pencil", kept=False)
