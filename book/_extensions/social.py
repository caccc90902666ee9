"""Write the metadata of a page for search engines and for shared links.

These are a description made of its first sentences, a canonical address, Open Graph's
properties and a card. No page loads its card. The package sphinxext-opengraph would
do most of this, but its cards have neither the page's picture nor the book's fonts.
"""

import re
from html import escape, unescape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

from book._extensions.cards import SIZE, card
from book._extensions.repository import repository_of

LONGEST = 200  # characters of a description that a search engine shows
ENOUGH = 90
SENTENCE = re.compile(r"(?<=[.?!])\s+")
WITHOUT_TEXT = {
    "genindex": "Every function, class and method of the package, by name.",
    "search": "Search the chapters, the exercises and the package of this book.",
}

FRONT = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="0; url={page}">
<link rel="canonical" href="{address}">
<link rel="icon" href="_static/favicon.svg">
<title>{title}</title>
{tags}</head>
<body><p><a href="{page}">{title}</a></p></body>
</html>
"""


def set_the_address(app: Sphinx, config: Config) -> None:
    """Set the site's address to the repository's GitHub pages if no other is set."""
    config.html_baseurl = config.html_baseurl or repository_of(config).pages


def description_of(document: nodes.document) -> str:
    """Return the first sentences of a page, as many as fit."""
    text = ""
    for paragraph in document.findall(nodes.paragraph):
        for sentence in SENTENCE.split(" ".join(paragraph.astext().split())):
            longer = f"{text} {sentence}".strip()
            if len(longer) > LONGEST:
                return text if len(text) >= ENOUGH else shortened(longer)
            text = longer
        if len(text) >= ENOUGH:
            break
    return text


def shortened(text: str) -> str:
    return text[: LONGEST - 1].rsplit(" ", 1)[0].rstrip(",;:–") + "…"


def picture_of(document: nodes.document, app: Sphinx) -> Path | None:
    """Return the first picture in a page that a card can show."""
    sources = {name: path for path, name in app.builder.images.items()}
    for image in document.findall(nodes.image):
        name = Path(image["uri"]).name  # in a written page this is the copied file
        if name in sources and Path(name).suffix in (".png", ".jpg", ".webp"):
            return Path(app.srcdir) / sources[name]
    return None


def tags(properties: dict[str, str]) -> str:
    """Return meta elements: Open Graph's have a ``property``, all others a ``name``."""
    return "".join(
        f'<meta {"property" if key.startswith("og:") else "name"}="{key}" '
        f'content="{escape(value)}">\n'
        for key, value in properties.items()
    )


def add_tags(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    document: nodes.document | None,
) -> None:
    book, site = app.config.html_title, app.config.html_baseurl
    title = unescape(re.sub("<[^>]*>", "", context.get("title") or book))
    about = {"description": WITHOUT_TEXT.get(pagename, f"The code of {title}.")}
    if document is not None:
        is_front = pagename == app.config.root_doc
        file = f"_images/cards/{pagename.replace('/', '-')}.jpg"
        about = {"description": description_of(document)}
        about |= {
            "og:title": title,
            "og:description": about["description"],
            "og:type": "website" if is_front else "article",
            "og:site_name": book,
            "og:url": site + app.builder.get_target_uri(pagename),
            "og:image": site + file,
            "og:image:width": str(SIZE[0]),
            "og:image:height": str(SIZE[1]),
            "og:image:alt": title if is_front else f"{book}: {title}",
            "twitter:card": "summary_large_image",
        }
        path = Path(app.outdir) / file
        path.parent.mkdir(parents=True, exist_ok=True)
        picture = picture_of(document, app)
        address = site.removeprefix("https://").rstrip("/")
        card(book, title, address, picture).save(path, quality=88)
        if is_front:
            context["docstitle"] = ""  # the theme would write the title twice
            write_front(app, about)
    context["metatags"] = context.get("metatags", "") + tags(about)


def write_front(app: Sphinx, about: dict[str, str]) -> None:
    """Write ``index.html``, which leads from the site's own address to the first page.

    It carries the metadata too, because this is the address that people share.
    """
    page = app.builder.get_target_uri(app.config.root_doc)
    html = FRONT.format(
        page=page,
        address=about["og:url"],
        title=escape(about["og:title"]),
        tags=tags(about),
    )
    (Path(app.outdir) / "index.html").write_text(html, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", set_the_address)
    app.connect("html-page-context", add_tags)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
