"""Run axe-core, which finds barriers for screen readers and weak eyes, on a page."""

from axe_playwright_python.base import AXE_SCRIPT

from tests.site.visit import PHONE, resize

# The rules about colours, each with a selector that leaves out repeated kinds of text.
COLOUR = {
    "color-contrast": ":not([data-again])",
    "link-in-text-block": "a[href]:not([data-again]), [role=link]:not([data-again])",
}
# Rules that axe runs only on request: new in WCAG 2.2, or experimental.
MORE = [
    "target-size",
    "label-content-name-mismatch",
    "td-has-header",
    "focus-order-semantics",
    "p-as-heading",
    "table-fake-caption",
]

# A chapter has thousands of coloured words in its code, and axe takes long for each.
# Contrast depends on colours, size and weight, so one element of each such kind is
# enough. Repeated words of code are merged into the text around them for all rules;
# other repeated elements are marked and left out by the rules about colours.
KINDS = """const grounds = new Map();
    const ground = element => {
        if (element && !grounds.has(element)) {
            const colour = getComputedStyle(element).backgroundColor;
            const own = colour !== "rgba(0, 0, 0, 0)";
            grounds.set(element, own ? colour : ground(element.parentElement));
        }
        return grounds.get(element);
    };
    const kind = element => {
        const style = getComputedStyle(element);
        return [element.className, style.color, ground(element), style.fontSize,
            style.fontWeight, style.opacity].join();
    };"""
ONE_OF_EACH_KIND = (
    f"() => {{ {KINDS}"
    """
    const seen = new Set(), again = [];
    for (const word of document.querySelectorAll("main :is(span, em, code)")) {
        const plain = word.getAttributeNames().every(name => name === "class");
        const apart = word.closest("mjx-container, button, table");
        const name = kind(word);
        if (seen.has(name) && plain && !apart) again.push(word);
        seen.add(name);
    }
    for (const word of again) word.replaceWith(...word.childNodes);
}"""
)
AGAIN_OF_A_KIND = (
    f"() => {{ {KINDS}"
    """
    const seen = new Set();
    const again = element => {
        let all = true;
        const left = [];
        for (const child of element.children)
            if (again(child)) left.push(child);
            else all = false;
        const words = [...element.childNodes].some(
            node => node.nodeType === Node.TEXT_NODE && node.data.trim());
        if (words) {
            const link = element.closest("a");
            const name = [kind(element), link && kind(link.parentElement)].join(";");
            if (!seen.has(name)) all = false;
            seen.add(name);
        }
        if (!all)
            for (const child of left)
                for (const each of [child, ...child.querySelectorAll("*")])
                    each.dataset.again = "";
        return all;
    };
    for (const marked of document.querySelectorAll("[data-again]"))
        delete marked.dataset.again;
    again(document.body);
}"""
)


CONFIGURE = """rules => axe.configure(
    { rules: Object.entries(rules).map(([id, selector]) => ({ id, selector })) })"""


TWO_FRAMES = """() => new Promise(done =>
    requestAnimationFrame(() => requestAnimationFrame(done)))"""


def prepare(tab):
    """Load axe into an open page and merge repeated words of code."""
    tab.evaluate(ONE_OF_EACH_KIND)
    tab.evaluate(AXE_SCRIPT)
    tab.evaluate(CONFIGURE, COLOUR)


def find(tab, size, theme):
    """Return what all rules find at one size of the window and in one theme."""
    resize(tab, size)
    tab.evaluate(TWO_FRAMES)  # for the page's own scripts to notice the size
    rules = {rule: {"enabled": True} for rule in MORE}
    rules["target-size"] = {"enabled": size is PHONE}
    show(tab, theme)
    # no rule needs style sheets; the one about sound that starts by itself needs media
    return violations(tab, {"rules": rules, "preload": {"assets": ["media"]}})


def find_colours(tab, theme):
    """Return what the rules about colours find in one theme, at the present size."""
    show(tab, theme)
    return violations(tab, {"runOnly": list(COLOUR)})


def show(tab, theme):
    tab.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
    tab.evaluate(AGAIN_OF_A_KIND)


def violations(tab, options):
    found = tab.evaluate(
        """options => axe.run({ resultTypes: ["violations"], ...options })""", options
    )["violations"]
    return [
        (rule["id"], node["target"], node["html"][:100], node["failureSummary"])
        for rule in found
        for node in rule["nodes"]
    ]
