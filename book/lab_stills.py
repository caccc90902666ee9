"""Take stills of the lab's panels as they open, for paper: `make stills`.

    python -m book.lab_stills

Needs the built pages; ``book/_extensions/lab_scripts.py`` puts the stills into them.
"""

import io
import sys

from PIL import Image
from playwright.sync_api import Locator, Page, sync_playwright

from book._extensions.lab_scripts import PIXELS_A_POINT, STILLS, still_of
from book.chromium import launch
from book.paper import HTML, ROOT

FOLDER = ROOT / "book" / "_assets" / "lab" / "stills"
PAGES = [
    "notebooks/03_class_token_and_position",
    "notebooks/05_multi_head_attention",
    "notebooks/09_attention_maps",
    "book/lab",
    "book/lab#photograph",
]
# A still leaves out the controls, and shows only the pictures that they change.
STILL_LIFE = """
.vit-lab[data-state="open"] {
  width: 46rem; max-width: none !important; min-height: 0 !important;
}
.vl-challenge, .vl-toolbar, .vl-keep, .vl-switches, .vl-looks, .vl-below, .vl-drag,
.vl-panel .vl-controls:has(fieldset), .vl-panel fieldset, .vp-other, .vp-above,
.vp-maps .vp-switch,
.vl-panel > .vl-row, .vl-values > .vl-row { display: none; }
.vp-stage {
  --vp-map: 3.4rem; grid-template: "left maps" auto "right maps" 1fr / 19rem auto;
}
.vp-makings { --vp-small: 7.5rem; grid-template-columns: 1fr 1fr; }
"""
DARK = {"photograph"}  # of these there is also one for the screen, see gate.js
QUALITY = 45
LOADING = 120_000  # milliseconds for the large model


def still(tab: Page, place: Locator) -> Image.Image:
    """Take a still of a panel, open and at its last step."""
    place.scroll_into_view_if_needed()
    place.locator(".vl-panel").first.wait_for()
    load = place.get_by_role("button", name="Load the model")
    if load.count():
        load.click()
        place.locator(".vp-stage").wait_for(timeout=LOADING)
        for key in ("ArrowRight", "ArrowLeft"):  # then nothing invites a press
            place.locator(".vp-patches").press(key)
    stops = place.locator(".vl-stop:visible")
    if stops.count():
        stops.last.click()
    tab.evaluate("document.activeElement.blur()")
    tab.add_style_tag(content=STILL_LIFE)
    tab.wait_for_timeout(500)  # bars are animated for a tenth of a second
    return picture_of(place)


def picture_of(place: Locator) -> Image.Image:
    return Image.open(io.BytesIO(place.screenshot())).convert("RGB")


def keep(image: Image.Image, name: str) -> None:
    file = FOLDER / f"{name}.avif"
    image.save(file, quality=QUALITY, speed=2)
    print(f"{file.relative_to(ROOT)}: {file.stat().st_size:,} bytes")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        if browser is None:
            sys.exit("Stopped: no Chromium, Chrome or Edge is installed")
        context = browser.new_context(
            viewport={"width": 1280, "height": 2400},
            device_scale_factor=PIXELS_A_POINT,
            color_scheme="light",
        )
        missing = set(STILLS)
        for page in PAGES:
            tab = context.new_page()
            page, *stage = page.split("#")
            tab.goto("#".join([(HTML / f"{page}.html").as_uri(), *stage]))
            for place in tab.locator(".vit-lab:not([hidden])").all():
                name = still_of(place.evaluate("place => ({...place.dataset})"))
                if name in missing:
                    keep(still(tab, place), name)
                    missing.discard(name)
                if name in DARK:
                    tab.emulate_media(color_scheme="dark")
                    tab.wait_for_timeout(500)
                    keep(picture_of(place), f"{name}-dark")
            tab.close()
        browser.close()
    if missing:
        sys.exit(f"Stopped: no page shows {', '.join(sorted(missing))}")


if __name__ == "__main__":
    main()
