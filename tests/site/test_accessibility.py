"""What a screen reader and weak eyes meet: axe finds nothing, formulas are read out.

All of axe's rules run on every page, on a wide screen and on a phone, in both themes.
Skipped where there is no Chromium, Chrome or Edge.
"""

import pytest
from axe_playwright_python.base import AXE_SCRIPT

from tests.site.test_browser import EXTRA, PHONE, WIDE
from tests.site.test_pages import HTML, SOURCES, page_soup

CODE = sorted(
    page.relative_to(HTML).with_suffix("").as_posix()
    for page in HTML.glob("_modules/vit_steps/**/*.html")
)
COLOUR = ["color-contrast", "link-in-text-block"]
# Rules that axe leaves off unless asked for: new in WCAG 2.2, or on trial.
MORE = [
    "target-size",
    "label-content-name-mismatch",
    "td-has-header",
    "focus-order-semantics",
    "p-as-heading",
    "table-fake-caption",
]

# A chapter has thousands of coloured words in its code, and axe takes its time with
# each. Their contrast depends on colours, size and weight: keep one of each kind, join
# the others to the text around them.
KEEP_ONE_OF_EACH_KIND = """() => {
    const ground = element => {
        for (; element; element = element.parentElement) {
            const colour = getComputedStyle(element).backgroundColor;
            if (colour !== "rgba(0, 0, 0, 0)") return colour;
        }
    };
    const seen = new Set(), again = [];
    for (const word of document.querySelectorAll("main :is(span, em, code)")) {
        const style = getComputedStyle(word);
        const kind = [word.className, style.color, ground(word), style.fontSize,
            style.fontWeight, style.opacity].join();
        const plain = word.getAttributeNames().every(name => name === "class");
        if (seen.has(kind) && plain && !word.closest("mjx-container, button, table"))
            again.push(word);
        seen.add(kind);
    }
    for (const word of again) word.replaceWith(...word.childNodes);
}"""
# What is folded is opened, what fades in is there.
UNFOLD = """async () => {
    const style = document.createElement("style");
    style.textContent = "* { transition: none !important; animation: none !important }";
    document.head.append(style);
    for (const fold of document.querySelectorAll("details")) fold.open = true;
    await window.MathJax?.startup?.promise;
}"""


@pytest.fixture(scope="module")
def tab(browser):
    context = browser.new_context(color_scheme="light")
    yield context.new_page()
    context.close()


def violations(tab, options):
    found = tab.evaluate(
        "options => axe.run(document, { resultTypes: ['violations'], ...options })",
        options,
    )["violations"]
    return [
        (rule["id"], node["target"], node["html"][:100], node["failureSummary"])
        for rule in found
        for node in rule["nodes"]
        # the words of a drawing stand apart; axe joins them before it looks for them
        if rule["id"] != "label-content-name-mismatch"
        or "data-chapter" not in node["html"]
    ]


VIEWS = [(page, size) for page in [*SOURCES, *EXTRA] for size in (WIDE, PHONE)]
VIEWS += [(page, WIDE) for page in CODE]  # one listing each, alike but for its words
EACH_KIND = {"book/intro", "book/lab", "notebooks/05_multi_head_attention", "search"}


def themes(page, size):
    """Both on a page of each kind; elsewhere light where wide and dark on a phone, as a
    text's colours do not depend on the width."""
    if page in EACH_KIND:
        return ["light", "dark"]
    return ["light"] if size is WIDE else ["dark"]


@pytest.mark.parametrize("page, size", VIEWS)
def test_axe_finds_nothing(tab, page, size):
    tab.set_viewport_size(size)
    tab.goto((HTML / f"{page}.html").as_uri())
    tab.evaluate(UNFOLD)
    tab.evaluate(KEEP_ONE_OF_EACH_KIND)
    tab.evaluate(AXE_SCRIPT)
    shape = {rule: {"enabled": True} for rule in MORE}
    shape["target-size"] = {"enabled": size is PHONE}
    shape |= {rule: {"enabled": False} for rule in COLOUR}
    assert violations(tab, {"rules": shape}) == []
    for theme in themes(page, size):
        tab.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
        assert violations(tab, {"runOnly": COLOUR}) == [], theme


FORMULAS = """() => [...document.querySelectorAll("mjx-container")].map(formula => {
    const spoken = formula.querySelector("mjx-assistive-mml math");
    return [formula.textContent,
        spoken?.textContent.length > 0 && !spoken.closest("[aria-hidden=true]")
        && getComputedStyle(spoken).visibility === "visible",
        formula.querySelector("mjx-math").getAttribute("aria-hidden") === "true"];
})"""


def test_every_formula_is_read_out_once(tab):
    pages = [page for page in SOURCES if page_soup(page).select(".math.notranslate")]
    assert len(pages) >= 5
    for page in pages:
        tab.goto((HTML / f"{page}.html").as_uri())
        tab.evaluate(UNFOLD)
        formulas = tab.evaluate(FORMULAS)
        assert len(formulas) == tab.locator(".math.notranslate").count(), page
        for text, spoken, drawing_hidden in formulas:
            assert spoken and drawing_hidden, (page, text)
        failed = tab.locator("mjx-merror").count()
        assert failed == 0, f"{page}: a formula that MathJax cannot read"
