"""Join the theme's style sheets into one that holds only the rules the pages can use.

The theme and the extensions bring nine sheets, half a megabyte, which a browser reads
before it shows anything. Most rules are for elements that this book does not have.
esbuild joins the sheets, and PurgeCSS drops each rule whose class, id or element occurs
in no page and no script. The sheet of colours for code is left out whole, because
book.css has the book's own. The book's sheets go out without their comments.
"""

import re
import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from book.node import answer_of

STYLES, COLOURS_OF_CODE = "theme.css", "pygments.css"
JOINS = Path(__file__).with_name("join_styles.mjs")
# On every page the links to these sheets come first, one after the other.
OF_THE_THEME = re.compile(
    r'<link[^>]*href="(?P<up>[^"]*_static/)styles/theme\.css"[^>]*>'
    r'(?:\s*<link[^>]*href="[^"]*_static/(?:styles/|fonts/icons|pygments|copybutton|mystnb'
    r'|sphinx-design)[^"]*"[^>]*>)+'
)
HREF = re.compile(r'href="[^"]*_static/([^"?]+)')
COMMENT = re.compile(r"/\*[^*!][^*]*\*/")  # but a licence, /*! ... */


def joined(sheets: list[Path], site: Path) -> str:
    """Return one style sheet, with the rules that some page or script can use."""
    asked = {"sheets": list(map(str, sheets)), "site": str(site)}
    return answer_of(JOINS, asked)


def write_styles(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    pages = {p: p.read_text("utf-8") for p in Path(app.outdir).rglob("*.html")}
    found = {p: m for p, html in pages.items() if (m := OF_THE_THEME.search(html))}
    if not found:
        return
    longest = max((match[0] for match in found.values()), key=len)
    sheets = {name: static / name for name in HREF.findall(longest)}
    kept = [file for name, file in sheets.items() if name != COLOURS_OF_CODE]
    (static / STYLES).write_text(joined(kept, Path(app.outdir)), encoding="utf-8")
    for page, match in found.items():
        link = f'<link rel="stylesheet" href="{match["up"]}{STYLES}">'
        html = pages[page]
        html = f"{html[: match.start()]}{link}{html[match.end() :]}"
        page.write_text(html, encoding="utf-8")
    shutil.rmtree(static / "vendor", ignore_errors=True)  # Font Awesome, 5 MB
    for sheet in sheets.values():
        sheet.unlink()
        sheet.with_name(f"{sheet.name}.map").unlink(missing_ok=True)
    for sheet in static.rglob("*.css"):  # the book's own, and the one made here
        sheet.write_text(COMMENT.sub("", sheet.read_text("utf-8")), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", write_styles, priority=950)  # after all sheets
    return {"parallel_read_safe": True, "parallel_write_safe": True}
