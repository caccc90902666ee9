"""A tab of the browser that records errors and requests, and what is measured in it.

The sizes of windows, of the page, and of the letters of a drawing.
"""

WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
NARROWEST = {"width": 360, "height": 740}
ZOOMED = {"width": 320, "height": 640}  # 1280 pixels, four times as large
# Windows that are short or narrow, or both; 640 times 360 is a desk at twice the size.
CRAMPED = ["320x480", "320x568", "568x320", "640x360", "640x480", "667x375", "700x500"]
CRAMPED += ["360x640", "390x844", "320x256", "844x390", "932x430"]
TURNED = ["568x320", "640x360", "667x375", "740x360", "844x390", "932x430"]
# The least share of a box in the window that counts as all of it: the browser scrolls
# by whole pixels, so a part of one may be cut off at the edge.
WHOLE = 0.95
# WCAG 1.4.12: more space between lines, letters, words and paragraphs.
SPACING = """
    * { line-height: 1.5 !important; letter-spacing: 0.12em !important;
        word-spacing: 0.16em !important; }
    p { margin-bottom: 2em !important; }
"""


class Visit:
    """A tab, with the errors of its pages and the addresses that they requested."""

    def __init__(self, browser, **options):
        self.options = options
        self.context = browser.new_context(viewport=WIDE, **options)
        self.tab = self.context.new_page()
        self.errors, self.requests = [], []
        self.tab.on("console", self.note)
        self.tab.on("pageerror", lambda error: self.errors.append(str(error)))
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.on("requestfailed", self.note_failure)

    def begin_again(self):
        """Make the tab as good as new, but for the scripts that it has compiled."""
        self.tab.unroute_all()
        self.tab.goto("about:blank")
        runs = "[native code]" in self.tab.evaluate("String(setTimeout)")
        assert runs, "a test stopped this tab's clock; a tab of its own has alone=True"
        self.tab.mouse.up()
        self.tab.mouse.move(0, 0)
        resize(self.tab, WIDE)
        self.tab.emulate_media(
            media="null",
            color_scheme=self.options.get("color_scheme", "light"),
            reduced_motion=self.options.get("reduced_motion", "no-preference"),
        )
        self.errors.clear()
        self.requests.clear()
        return self

    def note(self, message):
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    def note_failure(self, request):
        if request.failure != "net::ERR_ABORTED":  # aborted because the page was left
            self.errors.append(f"{request.failure}: {request.url}")

    def outside(self, base):
        return [u for u in self.requests if not u.startswith((base, "data:", "blob:"))]


END_TRANSITIONS = """() => document.getAnimations()
    .filter(one => one instanceof CSSTransition).forEach(one => one.finish())"""


def window(size):
    """Return the size of a window, which is given as "390x844"."""
    return dict(zip(("width", "height"), map(int, size.split("x")), strict=True))


def resize(tab, size):
    """Give the window a size, and the page the places that it will have in it.

    The contents slide in beside the text when a window becomes wide. Until they have
    arrived, the text is wider than it will be, and so are its figures.
    """
    tab.set_viewport_size(size)
    tab.evaluate(END_TRANSITIONS)


def rest(tab, milliseconds):
    """Wait by the page's clock, whose timers go off in order however busy the machine.

    What the page was to do earlier has been done then.
    """
    tab.evaluate("time => new Promise(done => setTimeout(done, time))", milliseconds)


def too_wide(tab):
    """Return how many pixels the page is too wide, and the cells that scroll."""
    return tab.evaluate(
        """() => {
            const page = document.documentElement;
            const cells = [...document.querySelectorAll('div.highlight pre')];
            return [page.scrollWidth - page.clientWidth,
                cells.filter(c => c.scrollWidth > c.clientWidth).map(c => c.innerText)];
        }"""
    )


# Of words and numbers, not of signs that stand alone. After two frames, because those
# of a moving drawing are fitted once it has its new size.
SIZES_OF_LETTERS = r"""async figure => {
    for (const _ of "12") await new Promise(requestAnimationFrame);
    return [...figure.querySelectorAll("svg :is(text, tspan)")]
        .filter(text => text.getBoundingClientRect().width)
        .filter(text => /[\p{L}\d]/u.test(text.textContent))
        .map(text => Math.hypot(text.getScreenCTM().a, text.getScreenCTM().b)
            * parseFloat(getComputedStyle(text).fontSize));
}"""
# The words that leave the drawing, and the pairs of which one covers the other.
WORDS_IN_THE_WAY = """figure => {
    const sheet = figure.querySelector("svg").getBoundingClientRect();
    const seen = { opacityProperty: true, visibilityProperty: true };
    const words = [...figure.querySelectorAll("svg text")].filter(text =>
        text.textContent.trim() && text.checkVisibility(seen));
    const placed = words.map(text => [text.textContent, text.getBoundingClientRect()])
        .filter(([, box]) => box.width);
    const apart = (a, b) => Math.min(a.right, b.right) < Math.max(a.left, b.left) + 0.5
        || Math.min(a.bottom, b.bottom) < Math.max(a.top, b.top) + 0.5 * a.height;
    const inside = ({left, right}) =>
        left > sheet.left - 1.5 && right < sheet.right + 1.5;
    return [...placed.filter(([, box]) => !inside(box)),
        ...placed.flatMap(([one, a], i) => placed.slice(i + 1)
            .filter(([, b]) => !apart(a, b)).map(([other]) => [one, other]))
    ].map(([word, other]) => `${word}, ${other.right ? "cut off" : other}`);
}"""
# The pairs of words, bars and controls of a panel of the lab of which one covers the
# other. What stays in sight lies over what scrolls: those are not compared.
COVERED = """panel => {
    const ancestors = function* (one) {
        for (let at = one; at !== panel; at = at.parentElement)
            yield [at, getComputedStyle(at)];
    };
    const seen = (box, one) => {
        let { left, top, right, bottom } = box;
        for (const [at, style] of ancestors(one)) {
            if (style.clipPath !== "none") return null;
            if (style.overflow === "visible" && style.contain !== "strict") continue;
            const edge = at.getBoundingClientRect();
            [left, right] = [Math.max(left, edge.left), Math.min(right, edge.right)];
            [top, bottom] = [Math.max(top, edge.top), Math.min(bottom, edge.bottom)];
        }
        return right - left > 2 && bottom - top > 2 && { left, top, right, bottom };
    };
    const stays = one => [...ancestors(one)]
        .find(([, { position }]) => position === "sticky")?.[0];
    const drawn = ".vl-board-place, .vp-square";
    const visible = one => one.checkVisibility(
        { opacityProperty: true, visibilityProperty: true });
    const found = [];
    const add = (one, box, name, slack) => {
        const area = seen(box, one);
        if (area) found.push({ one, area, name, slack, stays: stays(one) });
    };
    const texts = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const { data, parentElement: one } = texts.currentNode;
        if (!data.trim() || !visible(one)) continue;
        const range = document.createRange();
        range.selectNodeContents(texts.currentNode);
        for (const box of range.getClientRects()) add(one, box, data, 3);
    }
    const others = `button, select, input:not([type=file]), .vl-track, ${drawn}`;
    for (const one of panel.querySelectorAll(others))
        if (visible(one) && !one.parentElement.closest(drawn))
            add(one, one.getBoundingClientRect(), one.ariaLabel ?? one.className, 1);
    const meet = ({ area: a, slack }, { area: b, slack: other }) =>
        Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)
            > Math.max(slack, other);
    return found.flatMap((a, i) => found.slice(i + 1).filter(b =>
        a.stays === b.stays && !a.one.contains(b.one) && !b.one.contains(a.one)
        && !(a.one.closest(drawn) && b.one.closest(drawn)) && meet(a, b)
    ).map(b => `${a.name} and ${b.name}`));
}"""
# The pairs of what Tab reaches, one after the other, of which the second stands above
# the first, and not to the right of it.
TURNS_BACK = """stops => {
    scrollTo({ top: 0, behavior: "instant" });
    const placed = stops.map(one => [one.ariaLabel || one.textContent || one.id,
        one.getBoundingClientRect()]);
    return placed.slice(1).map(([name, box], i) => [...placed[i], name, box])
        .filter(([, a, , b]) => b.bottom <= a.top && b.left < a.right)
        .map(([one, , other]) => `${one} and then ${other}`);
}"""
# The share of the window that is covered by what stays in sight, where it stays.
STAYS = """panel => Math.max(0, ...[...panel.querySelectorAll(".vl-top, .vp-makings")]
    .map(one => [one.getBoundingClientRect(), getComputedStyle(one)])
    .filter(([box, { position, top }]) =>
        position === "sticky" && box.top < parseFloat(top) + 1)
    .map(([box]) => box)
    .map(({ top, bottom }) => Math.min(bottom, innerHeight) - Math.max(top, 0))
) / innerHeight"""


def tab_stops(panel):
    """Return a handle on what the Tab key reaches in a panel of the lab, in its order.

    Nothing of it stands above what came before, except in a column to the right.
    """
    panel.evaluate("one => { one.tabIndex = -1; one.focus(); window.stops = []; }")
    reached = """panel => panel.contains(document.activeElement)
        && stops.push(document.activeElement)"""
    panel.page.keyboard.press("Tab")
    while panel.evaluate(reached):
        panel.page.keyboard.press("Tab")
    stops = panel.page.evaluate_handle("stops")
    assert stops.evaluate(TURNS_BACK) == []
    return stops


def places_among(stops, *selectors):
    """Return for each selector the number of the first stop that it fits."""
    find = "(stops, some) => some.map(s => stops.findIndex(one => one.matches(s)))"
    return stops.evaluate(find, selectors)


def stays_inside(one):
    """Assert that no letter of a part is outside its frame."""
    over = one.evaluate("""one => {
        const range = document.createRange();
        range.selectNodeContents(one);
        const [words, frame] = [range, one].map(some => some.getBoundingClientRect());
        return Math.max(frame.left - words.left, words.right - frame.right,
            frame.top - words.top, words.bottom - frame.bottom);
    }""")
    assert over <= 1, (one, over)


def seen_at_once(*parts):
    """Assert that the parts fit into the window below the header; scroll as needed."""
    tab = parts[0].page
    high = tab.viewport_size["height"]
    boxes = [part.bounding_box() for part in parts]
    top = min(box["y"] for box in boxes)
    if max(box["y"] + box["height"] for box in boxes) > high:
        tab.evaluate("top => scrollBy({ top, behavior: 'instant' })", top - 50)
    for part in parts:
        box = part.bounding_box()
        assert 47 <= box["y"] <= box["y"] + box["height"] < high + 1, (part, box)


def has_room(panel, maps):
    """Assert that in a panel of the lab nothing covers anything, also at its maps."""
    tab = panel.page
    for block in ("start", "end", None):
        wide, covered = too_wide(tab)[0], panel.evaluate(COVERED)
        stays = panel.evaluate(STAYS)
        assert wide <= 0 and stays <= 0.45 and covered == [], (wide, stays, covered)
        if block:
            to_the_maps = f"{{ block: '{block}', behavior: 'instant' }}"
            maps.evaluate(f"maps => maps.scrollIntoView({to_the_maps})")
            rest(tab, 100)
