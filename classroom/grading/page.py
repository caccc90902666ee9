"""HTML pages made from students' work, opened in a browser by people who trust them.

Text is escaped unless a function of this module has turned it into HTML. The pages
forbid the browser to run any script or to load anything from elsewhere.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from mdit_py_plugins.dollarmath import dollarmath_plugin
from nbconvert.filters import strip_ansi
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

RENDERED = 10_000  # characters of a cell; some text takes quadratic time to render
SHOWN = 50_000  # characters of a cell or an output
ADDRESS = re.compile(
    r"https?://|mailto:|#|data:image/|[\w.-]+([/?#]|$)", flags=re.IGNORECASE
)
FOLDED = re.compile(
    r"<details><summary>([^<\n]{1,80})</summary>((?:(?!<details>).)*?)</details>",
    re.DOTALL,
)

# Characters that reverse text or are invisible. Joiners stay: some scripts need them.
CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff]"
)


def page(template: str, **values: Any) -> str:
    """Return the page that a template in ``pages`` makes from these values."""
    return visible(_environment().get_template(template).render(**values))


def visible(text: str) -> str:
    r"""Return the text with each invisible control written out, as in ``\u202e``."""
    return CONTROLS.sub(lambda match: ascii(match[0])[1:-1], text)


def plain(text: str) -> Markup:
    """Return text as it was written, up to a length."""
    text = strip_ansi(text)
    shown = Markup("<pre>{}</pre>").format(text[:SHOWN])
    if len(text) <= SHOWN:
        return shown
    return shown + Markup(
        '<p class="note">These are the first {:,} of {:,} characters.</p>'
    ).format(SHOWN, len(text))


def code(source: str) -> Markup:
    """Return Python as HTML, in colours."""
    if len(source) > RENDERED:
        return plain(source)
    return Markup(highlight(source, PythonLexer(), HtmlFormatter(cssclass="code")))


def markdown(source: str) -> Markup:
    """Return Markdown as HTML, with formulas as they were written.

    HTML inside it is escaped, and links and pictures that could do harm are left out.
    """
    if len(source) > RENDERED:
        note = '<p class="note">It is too long to be set as Markdown.</p>'
        return plain(source) + Markup(note)
    # The exercises fold their hints and solutions with HTML.
    text, *folds = FOLDED.split(source)
    shown = Markup(_markdown().render(text))
    for summary, inside, rest in zip(*[iter(folds)] * 3, strict=True):
        fold = Markup("<details><summary>{}</summary>{}</details>")
        shown += fold.format(summary, Markup(_markdown().render(inside)))
        shown += Markup(_markdown().render(rest))
    return shown


class _Markdown(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        return super().validateLink(url) and ADDRESS.match(url) is not None


@cache
def _markdown() -> MarkdownIt:
    renderer = _Markdown("commonmark", {"html": False})
    # Without references, because a list of them takes quadratic time.
    renderer.enable(["table", "strikethrough"]).disable("reference")
    renderer.use(
        dollarmath_plugin, allow_labels=False, double_inline=True, renderer=_formula
    )
    renderer.add_render_rule("image", _image)
    return renderer


def _formula(content: str, options: dict[str, Any]) -> str:
    sign = "$$" if options["display_mode"] else "$"
    return str(escape(f"{sign}{content}{sign}"))


def _image(self: Any, tokens: Any, index: int, options: Any, env: Any) -> str:
    """Return an embedded picture, but only the words of one that would be loaded."""
    if str(tokens[index].attrs["src"]).startswith("data:"):
        return str(self.image(tokens, index, options, env))
    return str(escape(self.renderInlineAsText(tokens[index].children, options, env)))


def prepare() -> None:
    """Compile and cache the templates and renderers, which takes long only once."""
    for name in _environment().list_templates():
        _environment().get_template(name)
    code("1")
    markdown("1")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).with_name("pages")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"plain": plain, "code": code, "markdown": markdown}
    environment.filters["strip_ansi"] = strip_ansi
    light, dark = (
        HtmlFormatter(style=style, nobackground=True).get_style_defs(".code")
        for style in ("xcode", "monokai")
    )
    dark = f"@media (prefers-color-scheme: dark) {{\n{dark}\n}}"
    environment.globals["colours"] = Markup(f"{light}\n{dark}")
    return environment
