"""axe-core, which finds what a screen reader and weak eyes stumble over, on a page."""

from axe_playwright_python.base import AXE_SCRIPT

from tests.site.visit import PHONE

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


def prepare(tab):
    """Bring axe to an open page, of which little is looked at twice afterwards."""
    tab.evaluate(ONE_OF_EACH_KIND)
    tab.evaluate(AXE_SCRIPT)


def find_shape(tab, size):
    """What all rules but those about colours find at one size."""
    tab.set_viewport_size(size)
    rules = {rule: {"enabled": True} for rule in MORE}
    rules["target-size"] = {"enabled": size is PHONE}
    rules |= {rule: {"enabled": False} for rule in COLOUR}
    return violations(tab, {"rules": rules})


def find_colours(tab, theme):
    tab.evaluate("theme => document.documentElement.dataset.theme = theme", theme)
    tab.evaluate(AGAIN_OF_A_KIND)
    return violations(tab, {"runOnly": COLOUR}, "[data-again]")


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
