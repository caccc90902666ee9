"""axe-core, which finds what a screen reader and weak eyes stumble over, on a page."""

from axe_playwright_python.base import AXE_SCRIPT

from tests.site.visit import PHONE

# Rules about colours, and what they look at: nothing that is again of a kind.
COLOUR = {
    "color-contrast": ":not([data-again])",
    "link-in-text-block": "a[href]:not([data-again]), [role=link]:not([data-again])",
}
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


def prepare(tab):
    """Bring axe to an open page, of which little is looked at twice afterwards."""
    tab.evaluate(ONE_OF_EACH_KIND)
    tab.evaluate(AXE_SCRIPT)
    tab.evaluate(CONFIGURE, COLOUR)


def find(tab, size, theme):
    """What all rules find at one size and in one theme."""
    tab.set_viewport_size(size)
    rules = {rule: {"enabled": True} for rule in MORE}
    rules["target-size"] = {"enabled": size is PHONE}
    show(tab, theme)
    # what is played by itself is asked of the page, and not of its style sheets
    return violations(tab, {"rules": rules, "preload": {"assets": ["media"]}})


def find_colours(tab, theme):
    """What the rules about colours find in one theme, at the size the page has."""
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
        # the words of a drawing stand apart; axe joins them before it looks for them
        if rule["id"] != "label-content-name-mismatch"
        or "data-chapter" not in node["html"]
    ]
