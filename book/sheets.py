"""Print pages of HTML that are no pages of the book: `make quiz`.

python -m book.sheets FILE ...     writes a PDF beside each file
"""

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from book.chromium import launch


def print_sheets(files: list[Path]) -> bool:
    """Print each file as a PDF beside it; return False if there is no browser."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        if browser is None:
            return False
        tab = browser.new_page()
        for file in files:
            target = file.with_suffix(".pdf")
            tab.goto(file.resolve().as_uri(), wait_until="load")
            tab.pdf(path=target, prefer_css_page_size=True, outline=True, tagged=True)
            print(target)
        browser.close()
    return True


if __name__ == "__main__":
    if not print_sheets([Path(name) for name in sys.argv[1:]]):
        print("Not printed: no Chromium, Chrome or Edge is installed. The pages can be")
        print("printed from any browser.")
