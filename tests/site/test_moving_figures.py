"""Drawings that move: every hand can drive them, and their numbers are PyTorch's.

Skipped where there is no Chromium, Chrome or Edge.
"""

import json
import math
from itertools import pairwise

import pytest
import torch
from playwright.sync_api import expect

from tests.site.visit import NARROWEST, PHONE, WIDE, Visit
from vit_steps.attention import scaled_dot_product_attention

CHAPTERS = {
    "split_move_join": "notebooks/02_patch_embedding",
    "one_query": "notebooks/04_scaled_dot_product_attention",
    "softmax_saturation": "notebooks/04_scaled_dot_product_attention",
    "split_and_merge": "notebooks/05_multi_head_attention",
}
every_figure = pytest.mark.parametrize("name", CHAPTERS)


@pytest.fixture
def visit(browser, site):
    """Opens a chapter at a figure; gives the figure, and afterwards nothing failed."""
    opened = []

    def at(name, size=WIDE, **options):
        one = Visit(browser, **options)
        opened.append(one)
        one.tab.set_viewport_size(size)
        one.tab.goto(f"{site}{CHAPTERS[name]}.html")
        figure = one.tab.locator(f".moving-{name}")
        figure.scroll_into_view_if_needed()
        return figure

    yield at
    for one in opened:
        assert one.errors == []
        one.context.close()


def written(figure, part):
    return figure.locator(f'[data-part="{part}"] text').first.text_content()


def number(figure, part):
    return float(written(figure, part).split()[-1].replace("−", "-"))


def press(figure, name):
    """Also what is aria-disabled, which must not do anything then."""
    figure.get_by_role("button", name=name, exact=True).click(force=True)


# Every figure


@every_figure
@pytest.mark.parametrize("javascript, media", [(False, "screen"), (True, "print")])
def test_without_scripts_and_on_paper_it_is_a_still_picture(
    visit, name, javascript, media
):
    figure = visit(name, java_script_enabled=javascript)
    figure.page.emulate_media(media=media)
    expect(figure.locator("svg")).to_be_visible()
    assert figure.locator("svg").get_attribute("aria-label")
    assert figure.locator("button:visible, .vd-moving:visible").count() == 0
    height = figure.bounding_box()["height"]
    assert height < figure.locator("svg").bounding_box()["height"] + 2
    if name.startswith("split"):
        expect(figure.locator('[data-part="still"]')).to_be_visible()


@every_figure
def test_it_needs_no_more_room_once_it_moves(visit, name):
    figure = visit(name)
    figure.page.clock.install()
    buttons = [
        button
        for button in figure.locator("button").all()
        if button.text_content() not in ("Play", "Play the bug", "Start again")
    ]
    for size in (WIDE, PHONE, NARROWEST):
        figure.page.set_viewport_size(size)
        before = figure.evaluate(HEIGHT_WITHOUT_SCRIPTS)
        for _ in range(6):
            assert room(figure) == pytest.approx(before, abs=0.5), size
            for button in buttons:
                button.dispatch_event("click")
                figure.page.clock.run_for(200)  # what is said a moment later is said
                assert room(figure) == pytest.approx(before, abs=0.5), size


HEIGHT_WITHOUT_SCRIPTS = """figure => {
    const controls = figure.querySelector(".moving-controls");
    const put = [...controls.childNodes];
    controls.replaceChildren();
    const {height} = figure.getBoundingClientRect();
    controls.append(...put);
    return height;
}"""


def room(figure):
    return figure.bounding_box()["height"]


@every_figure
def test_it_fits_and_its_targets_are_large_enough_for_a_finger(visit, name):
    figure = visit(name, NARROWEST, has_touch=True)
    around = figure.bounding_box()
    for target in figure.locator("button, [role=slider]").all():
        box = target.bounding_box()
        assert min(box["width"], box["height"]) >= 40
        assert around["x"] - 1 <= box["x"]
        assert box["x"] + box["width"] <= around["x"] + around["width"] + 9
    sizes = figure.evaluate(
        """f => { const svg = f.querySelector("svg");
            const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
            return [...svg.querySelectorAll("text")].map(
                text => scale * parseFloat(getComputedStyle(text).fontSize)); }"""
    )
    assert min(sizes) >= 9.5


@every_figure
def test_it_is_heard_once_and_politely(visit, name):
    figure = visit(name)
    status = figure.get_by_role("status")
    expect(status).not_to_be_empty()
    before = status.text_content()
    press(figure, {"split_and_merge": "reshape(T, h, d)"}.get(name, "Next"))
    expect(status).not_to_have_text(before)
    heard = figure.locator("svg > :not([aria-hidden=true])")
    sliders = figure.get_by_role("slider").count()
    assert heard.count() == sliders, "a screen reader meets the handles and no more"
    assert figure.locator("svg").get_attribute("role") == "group"


@every_figure
def test_whoever_wants_no_motion_gets_steps(visit, name):
    figure = visit(name, reduced_motion="reduce")
    assert figure.get_by_role("button", name="Play").count() == 0
    moving = figure.evaluate(
        """f => [...f.querySelectorAll("[data-part]")].filter(
            part => getComputedStyle(part).transitionDuration !== "0s").length"""
    )
    assert moving == 0


# Split, move, join


def read_in_order(figure):
    cells = figure.locator('[data-part^="read-"]').evaluate_all(
        """cells => cells.map(cell => [
            new DOMMatrix(getComputedStyle(cell).transform).e,
            Number(cell.textContent)])"""
    )
    return [number for _, number in sorted(cells)]


def rows_on_the_page(figure):
    """The numbers as they lie on the page, row by row of every block."""
    cells = figure.locator('[data-part^="cell-"]').evaluate_all(
        """cells => cells.map(cell => {
            const {e, f} = new DOMMatrix(getComputedStyle(cell).transform);
            return [e, f, Number(cell.textContent)]; })"""
    )
    lefts = sorted({x for x, _, _ in cells})
    blocks = [[lefts[0]]]
    for before, x in pairwise(lefts):
        if x - before > 40:
            blocks.append([])
        blocks[-1].append(x)
    found = []
    for block in blocks:
        inside = sorted((y, x, n) for x, y, n in cells if x in block)
        ys = sorted({y for y, _, _ in inside})
        found.append([[n for y, _, n in inside if y == row] for row in ys])
    return found if len(found) > 1 else found[0]


@pytest.mark.parametrize("forgets", [False, True], ids=["move", "no move"])
def test_the_image_is_cut_as_the_package_cuts_it(visit, forgets):
    from book.drawings.split_move_join import image, joined, moved, not_moved, split

    figure = visit("split_move_join", reduced_motion="reduce")
    assert rows_on_the_page(figure) == image.tolist()
    if forgets:
        press(figure, "Forget the move")
    for tensor in (
        split,
        split if forgets else moved,
        not_moved if forgets else joined,
    ):
        press(figure, "Next")
        assert written(figure, "shape") == f"{tuple(tensor.shape)}"
        assert read_in_order(figure) == tensor.flatten().tolist()
    assert rows_on_the_page(figure) == tensor.tolist()
    assert written(figure, "step") == ("✗ joined: scrambled" if forgets else "✓ joined")
    press(figure, "Forget the move")
    assert rows_on_the_page(figure) == (joined if forgets else not_moved).tolist()


# One query


def attended(figure):
    """What PyTorch makes of the query on the page, beside what the page shows."""
    numbers = json.loads(figure.locator("svg").get_attribute("data-numbers"))
    query = [number(figure, f"query-{j}") for j in range(4)]
    q, k, v = (
        torch.tensor(rows, dtype=torch.float64)
        for rows in ([query], numbers["keys"], numbers["values"])
    )
    output, weights = (x[0].tolist() for x in scaled_dot_product_attention(q, k, v))
    scores = (q @ k.T)[0].tolist()
    for i in range(3):
        for j in range(4):
            assert number(figure, f"product-{i}-{j}") == query[j] * k[i, j]
        assert number(figure, f"score-{i}") == scores[i]
        assert number(figure, f"scaled-{i}") == scores[i] / 2
        exp = math.exp(scores[i] / 2)
        assert number(figure, f"exp-{i}") == pytest.approx(exp, abs=6e-4)
        for part in (f"weight-{i}", f"times-{i}"):
            assert number(figure, part) == pytest.approx(weights[i], abs=6e-4)
        full = figure.locator(f'[data-part="share-{i}"] rect')
        shares = [float(rect.get_attribute("width")) for rect in full.all()]
        assert shares[1] / shares[0] == pytest.approx(weights[i], abs=1e-2)
    for n in range(2):
        assert number(figure, f"output-{n}") == pytest.approx(output[n], abs=6e-4)
    plane = numbers["plane"]
    dot = figure.locator('[data-part="dot"] rect')
    x, y, side = (float(dot.get_attribute(a)) for a in ("x", "y", "width"))
    here = (x + side / 2 - plane["x"], plane["y"] - y - side / 2)
    assert [n / plane["unit"] for n in here] == pytest.approx(output)
    return query


def test_the_query_is_that_of_the_chapter_and_its_output_pytorchs(visit):
    assert attended(visit("one_query")) == [2, 0, 1, 1]


def middle(box):
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_the_query_is_dragged_by_mouse(visit):
    figure = visit("one_query")
    x, y = middle(figure.get_by_role("slider").nth(1).bounding_box())
    mouse = figure.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 60, y - 300, steps=5)
    assert attended(figure) == [2, 3, 1, 1], "as far as it goes"
    mouse.move(x, y + 300)
    mouse.up()
    assert attended(figure) == [2, -2, 1, 1]
    mouse.move(x, y)
    assert attended(figure) == [2, -2, 1, 1], "it was let go"


def test_the_query_is_dragged_by_finger(visit):
    figure = visit("one_query", PHONE, has_touch=True)
    box = figure.get_by_role("slider").nth(3).bounding_box()
    x, _ = middle(box)
    session = figure.page.context.new_cdp_session(figure.page)
    top, bottom = box["y"] + 4, box["y"] + box["height"] - 4

    def touch(kind, *points):
        places = [{"x": x, "y": y} for y in points]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": places})

    scrolled = figure.page.evaluate("scrollY")
    touch("touchStart", top)
    for step in range(1, 6):
        touch("touchMove", top + (bottom - top) * step / 5)
    touch("touchEnd")
    assert attended(figure) == [2, 0, 1, -2]
    assert figure.page.evaluate("scrollY") == scrolled, "the page stays"


def test_the_query_is_moved_by_keys(visit):
    figure = visit("one_query")
    first = figure.get_by_role("slider", name="number 1 of the query")
    first.focus()
    for key, reached in (
        ("ArrowDown", 1.5),
        ("ArrowLeft", 1),
        ("ArrowUp", 1.5),
        ("Home", -2),
        ("PageUp", 0),
        ("End", 3),
        ("ArrowRight", 3),
    ):
        figure.page.keyboard.press(key)
        assert attended(figure) == [reached, 0, 1, 1]
        assert float(first.get_attribute("aria-valuenow")) == reached
    assert first.get_attribute("aria-valuetext") == "3"
    press(figure, "Start again")
    assert attended(figure) == [2, 0, 1, 1]
    assert first.get_attribute("aria-valuenow") == "2"


def test_a_term_of_the_formula_lights_what_it_names(visit):
    figure = visit("one_query")
    status, lit = figure.get_by_role("status"), figure.locator(".lit")
    figure.locator('[data-part="term-softmax"]').hover()
    expect(lit).to_have_count(2)
    expect(status).to_contain_text("0.665, 0.245 and 0.090")
    figure.locator("h1, svg").first.hover(position={"x": 5, "y": 200})
    expect(lit).to_have_count(0)
    figure.get_by_role("button", name="Next").focus()
    for said in ("the query, 2, 0, 1 and 1", "4, 2 and 0", "2, 1 and 0", "0.665"):
        figure.page.keyboard.press("ArrowRight")
        expect(status).to_contain_text(said)
        expect(lit).to_have_count(2)
    for _ in range(9):
        press(figure, "Next")
    expect(status).to_contain_text("(7.553, 3.348)")
    expect(figure.get_by_role("button", name="Next")).to_be_focused()


def test_play_goes_on_by_itself_until_it_is_stopped(visit):
    figure = visit("one_query")
    figure.page.clock.install()
    press(figure, "Play")
    status = figure.get_by_role("status")
    for said in ("q: the query", "q kᵀ", "Divided"):
        figure.page.clock.run_for(200)
        expect(status).to_contain_text(said)
        figure.page.clock.run_for(2900)
    press(figure, "Pause")
    figure.page.clock.run_for(200)
    said = status.text_content()
    figure.page.clock.run_for(9000)
    assert status.text_content() == said


# The softmax


def test_the_softmax_has_the_numbers_of_its_drawing(visit):
    from book.drawings.softmax_saturation import DIMS, competition, power

    figure = visit("softmax_saturation", reduced_motion="reduce")
    slider = figure.get_by_role("slider")
    slider.focus()
    figure.page.keyboard.press("Home")
    for d in DIMS:
        assert slider.get_attribute("aria-valuetext") == str(d)
        assert written(figure, "d") == f"d = {d}"
        for name, divided in (("undivided", False), ("divided", True)):
            ranked, slope = competition(d, divided)
            best = ranked[0].item()
            assert number(figure, f"share-{name}") == pytest.approx(best, abs=6e-3)
            assert written(figure, f"slope-{name}") == power(float(f"{slope:.1e}"))
            bar = figure.locator(f'[data-part="best-{name}"] rect')
            width = float(bar.get_attribute("width"))
            assert width == pytest.approx(356 * best, abs=0.1)
            cuts = figure.locator(f'[data-part="cuts-{name}"] path').get_attribute("d")
            ends = [float(cut.split()[0]) for cut in cuts.split("M")[1:]]
            expected = 2 + 356 * ranked.cumsum(0)[:-1]
            torch.testing.assert_close(
                torch.tensor(ends, dtype=torch.float64), expected, rtol=0, atol=1.5
            )
        figure.page.keyboard.press("ArrowRight")
    expect(figure.get_by_role("status")).to_contain_text("0.94 of the attention")


def test_the_softmax_moves_from_one_d_to_the_other(visit):
    figure = visit("softmax_saturation")
    box = figure.get_by_role("slider").bounding_box()
    bar = figure.locator('[data-part="best-undivided"] rect')
    before = float(bar.get_attribute("width"))
    figure.page.mouse.click(box["x"] + 20, box["y"] + 20)
    assert written(figure, "d") == "d = 1"
    widths = [before]
    for _ in range(60):
        widths.append(float(bar.get_attribute("width")))
        figure.page.wait_for_timeout(20)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == pytest.approx(0.06 * 356, abs=2)
    assert len(set(widths)) > 3, "on its way it is somewhere between"


# Split and merge


CALLS = {
    "reshape(T, h, d)": lambda q: q.reshape(3, 2, 2),
    "transpose(0, 1)": lambda q: q.transpose(0, 1),
    "reshape(T, D)": lambda q: q.reshape(3, 4),
}
CUT, TRANSPOSE, MERGE = CALLS


@pytest.mark.parametrize(
    "calls, verdict",
    [
        ([CUT], "cut"),
        ([CUT, TRANSPOSE], "✓ split"),
        ([CUT, TRANSPOSE, TRANSPOSE, MERGE], "✓ merged"),
        ([CUT, TRANSPOSE, MERGE], "✗ scrambled"),
        ([TRANSPOSE], "transposed"),
        ([TRANSPOSE, CUT], "✗ scrambled"),
        ([TRANSPOSE, CUT, TRANSPOSE], "✗ scrambled"),
        ([CUT, TRANSPOSE, CUT], "✗ scrambled"),
        ([CUT, MERGE], "✓ merged"),
        ([CUT, TRANSPOSE, MERGE, TRANSPOSE, CUT], "✗ scrambled"),
    ],
)
def test_the_calls_do_what_pytorchs_do(visit, calls, verdict):
    figure = visit("split_and_merge", reduced_motion="reduce")
    q = 10 * torch.arange(3)[:, None] + torch.arange(4)
    assert rows_on_the_page(figure) == q.tolist()
    for call in calls:
        press(figure, call)
        q = CALLS[call](q)
        assert rows_on_the_page(figure) == q.tolist()
        shape = ", ".join(map(str, q.shape))
        assert written(figure, "shape").endswith(f"= ({shape})")
        assert read_in_order(figure) == q.flatten().tolist()
    assert written(figure, "verdict") == verdict
    press(figure, "Start again")
    assert rows_on_the_page(figure)[0] == [0, 1, 2, 3]


def test_the_bug_is_played(visit):
    figure = visit("split_and_merge", reduced_motion="no-preference")
    press(figure, "Play the bug")
    status = figure.get_by_role("status")
    for said in ("cut into", "one head", "row 0 holds numbers of tokens 0 and 1"):
        expect(status).to_contain_text(said)
    assert written(figure, "code-0") == "q.reshape(T, h, d).transpose(0, 1)"
    assert written(figure, "code-1") == ".reshape(T, D)"
