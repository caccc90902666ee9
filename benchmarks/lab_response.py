"""Time the lab's answers, from a key press to the frame that shows the answer.

    make bench-lab

Both panels that run the model are open, and an arrow key moves the digit. This is timed
at the machine's full speed and at a quarter of it. A forward pass is timed in the page
and in PyTorch on one thread. No file is written.
"""

import sys
import time
from pathlib import Path
from statistics import median, quantiles

import torch
from playwright.sync_api import Page, sync_playwright

from book.chromium import launch
from book.lab_data import MODEL
from tests.site.bundles import bundled
from vit_steps import VisionTransformer

PAGE = Path("_build/html/book/lab.html").resolve()
PRESSES, FORWARDS = 60, 50

# The message arrives after the frame that the key press caused has been drawn.
LISTEN = """() => {
  window.answers = [];
  addEventListener("keydown", (event) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => answers.push(performance.now() - event.timeStamp);
    channel.port2.postMessage(null);
  }), true);
}"""

TIME_FORWARDS = """(count) => {
  const [model, image] = [vitLab.modelOf("trained"), vitLab.source.image()];
  const room = vitLab.roomFor(model);
  return Array.from({length: count}, () => {
    const start = performance.now();
    vitLab.forward(model, image, { room });
    return performance.now() - start;
  });
}"""


def open_lab(page: Page) -> None:
    page.goto(PAGE.as_uri())
    for place in page.locator(".vit-lab").all():
        place.scroll_into_view_if_needed()
        place.and_(page.locator("[data-state=open]")).wait_for()
    page.add_script_tag(content=bundled("in_page.js"))


def answers(page: Page) -> list[float]:
    """Return the milliseconds of each press, while the digit moves to and fro."""
    page.evaluate(LISTEN)
    board = page.locator(".vit-lab[data-panel=attention] .vl-handle")
    board.scroll_into_view_if_needed()
    for press in range(PRESSES):
        board.press("ArrowLeft" if press // 4 % 2 == 0 else "ArrowRight")
        page.wait_for_timeout(120)
    times: list[float] = page.evaluate("answers")
    return times


def forwards_in_pytorch() -> list[float]:
    torch.set_num_threads(1)
    model = VisionTransformer.from_pretrained(MODEL)
    image = torch.rand(1, 1, 32, 32)
    times = []
    with torch.inference_mode():
        for _ in range(FORWARDS):
            start = time.perf_counter()
            model(image)
            times.append(1e3 * (time.perf_counter() - start))
    return times


def report(what: str, milliseconds: list[float]) -> None:
    most = quantiles(milliseconds, n=20)[-1]
    print(f"{what:<34}{median(milliseconds):>7.1f} ms   95 % within {most:.1f} ms")


def main() -> None:
    if not PAGE.exists():
        sys.exit(f"{PAGE} is missing: run `make book` first")
    with sync_playwright() as playwright:
        browser = launch(playwright)
        if browser is None:
            sys.exit("no browser was found: install Chromium or Chrome")
        for slower in (1, 4):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            open_lab(page)
            page.context.new_cdp_session(page).send(
                "Emulation.setCPUThrottlingRate", {"rate": slower}
            )
            report(f"a key press, {slower} × slower", answers(page))
            in_page = page.evaluate(TIME_FORWARDS, FORWARDS)
            report(f"a forward pass, {slower} × slower", in_page)
            if slower == 1:
                in_pytorch = forwards_in_pytorch()
                report("a forward pass in PyTorch", in_pytorch)
                print(f"page / PyTorch: {median(in_page) / median(in_pytorch):.1f}")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
