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
# each. Contrast depends on colours, size and weight, so one of each kind is looked at:
# the words of code are joined to the text around them, for all rules, and what is again
# of a kind is left out where rules are about colours.
ONE_OF_EACH_KIND = """() => {
    const ground = element => {
        for (; element; element = element.parentElement) {
            const colour = getComputedStyle(element).backgroundColor;
            if (colour !== "rgba(0, 0, 0, 0)") return colour;
        }
    };
    window.kind = element => {
        const style = getComputedStyle(element);
        return [element.className, style.color, ground(element), style.fontSize,
            style.fontWeight, style.opacity].join();
    };
    const seen = new Set(), again = [];
    for (const word of document.querySelectorAll("main :is(span, em, code)")) {
        const plain = word.getAttributeNames().every(name => name === "class");
        const apart = word.closest("mjx-container, button, table");
        if (seen.has(kind(word)) && plain && !apart) again.push(word);
        seen.add(kind(word));
    }
    for (const word of again) word.replaceWith(...word.childNodes);
}"""
AGAIN_OF_A_KIND = """() => {
    const seen = new Set();
    const again = element => {
        let all = true;
        const left = [];
        for (const child of element.children)
            if (again(child)) left.push(child);
            else all = false;
        const words = [...element.childNodes].some(
            node => node.nodeType === Node.TEXT_NODE && node.data.trim());
        const link = element.closest("a");
        const name = [kind(element), link && kind(link.parentElement)].join(";");
        if (words && !seen.has(name)) {
            seen.add(name);
            all = false;
        }
        if (!all) for (const child of left) child.dataset.again = "";
        return all;
    };
    for (const marked of document.querySelectorAll("[data-again]"))
        delete marked.dataset.again;
    again(document.body);
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


def violations(tab, options, without=None):
    found = tab.evaluate(
        """([options, without]) => axe.run(
            { include: [["html"]], exclude: without ? [[without]] : [] },
            { resultTypes: ["violations"], ...options })""",
        [options, without],
    )["violations"]
    return [
        (rule["id"], node["target"], node["html"][:100], node["failureSummary"])
        for rule in found
        for node in rule["nodes"]
        # the words of a drawing stand apart; axe joins them before it looks for them
        if rule["id"] != "label-content-name-mismatch"
        or "data-chapter" not in node["html"]
    ]


EACH_KIND = {"book/intro", "book/lab", "notebooks/05_multi_head_attention", "search"}


def themes(page, size):
    """Both on a page of each kind; elsewhere light where wide and dark on a phone, as a
    text's colours do not depend on the width."""
    if page in EACH_KIND:
        return ["light", "dark"]
    return ["light"] if size is WIDE else ["dark"]


@pytest.mark.parametrize("page", [*SOURCES, *EXTRA, *CODE])
def test_axe_finds_nothing(tab, page):
    tab.goto((HTML / f"{page}.html").as_uri())
    tab.evaluate(UNFOLD)
    tab.evaluate(ONE_OF_EACH_KIND)
    tab.evaluate(AXE_SCRIPT)
    # The package's listings are alike but for their words.
    for size in (WIDE,) if page in CODE else (WIDE, PHONE):
        tab.set_viewport_size(size)
        shape = {rule: {"enabled": True} for rule in MORE}
        shape["target-size"] = {"enabled": size is PHONE}
        shape |= {rule: {"enabled": False} for rule in COLOUR}
        assert violations(tab, {"rules": shape}) == []
        for theme in themes(page, size):
            tab.evaluate(
                "theme => document.documentElement.dataset.theme = theme", theme
            )
            tab.evaluate(AGAIN_OF_A_KIND)
            found = violations(tab, {"runOnly": COLOUR}, "[data-again]")
            assert found == [], theme


@pytest.mark.parametrize("part", ["main p", "main a", "footer *"])
def test_axe_sees_a_colour_that_is_too_pale(tab, part):
    """Though it looks at one element of each kind."""
    tab.set_viewport_size(WIDE)
    tab.goto((HTML / "notebooks/05_multi_head_attention.html").as_uri())
    tab.add_style_tag(content=f"{part}:last-child {{ color: #aaa !important }}")
    tab.evaluate(ONE_OF_EACH_KIND)
    tab.evaluate(AXE_SCRIPT)
    tab.evaluate(AGAIN_OF_A_KIND)
    assert violations(tab, {"runOnly": COLOUR}, "[data-again]")


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
