"""Join the theme's style sheets into one that holds only the rules the pages can use.

The theme and the extensions bring nine sheets, half a megabyte, which a browser reads
before it shows anything. Most rules are for elements that this book does not have: a
rule is dropped if it requires a class or an id that occurs in no page and no script.
The sheet of colours for code is left out whole, because book.css has the book's own.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tinycss2
from sphinx.application import Sphinx
from tinycss2.ast import AtRule, HashToken, IdentToken, LiteralToken, Node

STYLES, COLOURS_OF_CODE = "theme.css", "pygments.css"
# On every page the links to these sheets come first, one after the other.
OF_THE_THEME = re.compile(
    r'<link[^>]*href="(?P<up>[^"]*_static/)styles/theme\.css"[^>]*>'
    r'(?:\s*<link[^>]*href="[^"]*_static/(?:styles/|fonts/icons|pygments|copybutton|mystnb'
    r'|sphinx-design)[^"]*"[^>]*>)+'
)
HREF = re.compile(r'href="[^"]*_static/([^"?]+)')
IMPORT = re.compile(r'@import "([^"]+)";')
WORD = re.compile(r"[\w-]+")
BEGUN = re.compile(r"\b\w[\w-]*-(?=\$\{)")


@dataclass(frozen=True)
class Names:
    """The classes and ids that may occur: all words of the pages and the scripts."""

    words: set[str]
    begun: tuple[str, ...]  # beginnings that a script completes, as in `bs-${name}`

    @classmethod
    def of(cls, pages: Iterable[str], scripts: list[str]) -> "Names":
        in_scripts = {word for text in scripts for word in WORD.findall(text)}
        on_pages = {word for text in pages for word in WORD.findall(text)}
        begun = {start for text in scripts for start in BEGUN.findall(text)}
        return cls(on_pages | in_scripts, tuple(begun))

    def has(self, name: str) -> bool:
        return name in self.words or name.startswith(self.begun)


def whole(file: Path) -> str:
    """Return a style sheet with its imported sheets put in place."""
    css = file.read_text(encoding="utf-8")
    return IMPORT.sub(lambda found: whole(file.parent / found[1]), css)


def asked_for(selector: Iterable[Node]) -> set[str]:
    """Return the classes and ids that a selector requires, without :not() and :is()."""
    names, after_a_dot = set(), False
    for token in selector:
        if isinstance(token, HashToken) or (
            after_a_dot and isinstance(token, IdentToken)
        ):
            names.add(token.value)
        after_a_dot = isinstance(token, LiteralToken) and token.value == "."
    return names


def selectors(prelude: list[Node]) -> Iterable[list[Node]]:
    one: list[Node] = []
    for token in prelude:
        if isinstance(token, LiteralToken) and token.value == ",":
            yield one
            one = []
        else:
            one.append(token)
    yield one


def used(rules: list[Node], names: Names) -> str:
    """Return the rules that can apply to pages with no other names than these."""
    kept = []
    for rule in rules:
        if isinstance(rule, AtRule):
            if rule.lower_at_keyword not in ("media", "supports", "layer"):
                kept.append(rule.serialize())
            elif rule.content and (inside := used(in_a_block(rule.content), names)):
                condition = tinycss2.serialize(rule.prelude)
                kept.append(f"@{rule.at_keyword}{condition}{{\n{inside}\n}}")
            continue
        fitting = [
            s for s in selectors(rule.prelude) if all(map(names.has, asked_for(s)))
        ]
        if fitting:
            selector = ",".join(tinycss2.serialize(s).strip() for s in fitting)
            body = tinycss2.serialize(rule.content).strip()
            kept.append(f"{selector}{{{body}}}")
    return "\n".join(kept)


def in_a_block(content: list[Node]) -> list[Node]:
    rules: list[Node] = tinycss2.parse_rule_list(
        content, skip_comments=True, skip_whitespace=True
    )
    return rules


def of_a_sheet(css: str) -> list[Node]:
    rules: list[Node] = tinycss2.parse_stylesheet(
        css, skip_comments=True, skip_whitespace=True
    )
    return rules


def write_styles(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    pages = {p: p.read_text("utf-8") for p in Path(app.outdir).rglob("*.html")}
    found = {p: m for p, html in pages.items() if (m := OF_THE_THEME.search(html))}
    if not found:
        return
    scripts = [script.read_text("utf-8") for script in static.rglob("*.js")]
    names = Names.of(pages.values(), scripts)
    longest = max((match[0] for match in found.values()), key=len)
    sheets = dict.fromkeys(HREF.findall(longest))
    kept = [sheet for sheet in sheets if sheet != COLOURS_OF_CODE]
    css = "\n".join(used(of_a_sheet(whole(static / s)), names) for s in kept)
    (static / STYLES).write_text(f"{css}\n", encoding="utf-8")
    for page, match in found.items():
        link = f'<link rel="stylesheet" href="{match["up"]}{STYLES}">'
        html = pages[page]
        html = f"{html[: match.start()]}{link}{html[match.end() :]}"
        page.write_text(html, encoding="utf-8")
    for sheet in sheets:
        (static / sheet).unlink()
        (static / f"{sheet}.map").unlink(missing_ok=True)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect(
        "build-finished", write_styles, priority=950
    )  # when all sheets are written
    return {"parallel_read_safe": True, "parallel_write_safe": True}
