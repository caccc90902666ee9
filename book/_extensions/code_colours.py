"""Write the style sheet that colours code: five inks for each theme.

Comments and docstrings have the quietest ink. Names, calls and operators have the
colour of plain text, so that the few coloured words stand out.
"""

from pathlib import Path

from pygments.formatters import HtmlFormatter
from pygments.style import Style
from pygments.token import (
    Comment,
    Generic,
    Keyword,
    Name,
    Number,
    Operator,
    String,
    Token,
)
from sphinx.application import Sphinx

INKS = {  # "ground" is the theme's background behind code
    "light": {
        "ground": "#f3f4f5",
        "text": "#222832",
        "note": "#5b6672",
        "keyword": "#6a35b8",
        "string": "#3d6b2e",
        "number": "#8a4a1c",
    },
    "dark": {
        "ground": "#29313d",
        "text": "#ced6dd",
        "note": "#a3afbc",
        "keyword": "#cdb0f5",
        "string": "#a9d29c",
        "number": "#ecc09a",
    },
}


def style(theme: str) -> type[Style]:
    ink = INKS[theme]
    number, note = ink["number"], ink["note"]
    colours = {
        Token: ink["text"],
        Comment: note,
        String.Doc: note,
        Generic.Output: note,
        Generic.Prompt: note,
        Keyword: ink["keyword"],
        Operator.Word: ink["keyword"],
        Name.Decorator: ink["keyword"],
        Name.Function: "bold",
        Name.Class: "bold",
        String: ink["string"],
        String.Interpol: ink["text"],
        Number: number,
        Keyword.Constant: number,
    }
    members = {"styles": colours, "background_color": ink["ground"]}
    return type(f"Book{theme.title()}", (Style,), members)


def rules(theme: str, code: str) -> str:
    formatter = HtmlFormatter(style=style(theme))
    ground = formatter.get_background_style_defs(code)
    return "\n".join([*ground, *formatter.get_token_style_defs(code)])


# The theme colours the names of functions with !important.
ALSO_FUNCTIONS = (
    'html[data-theme="light"] div.highlight .nf { color: inherit !important }'
)


def style_sheet() -> str:
    """Return the style sheet of both themes; on paper code is in the light one."""
    light = rules("light", "html .highlight")
    dark = rules("dark", 'html[data-theme="dark"] .highlight')
    return f"{light}\n{ALSO_FUNCTIONS}\n@media screen {{\n{dark}\n}}\n"


def write_style_sheet(app: Sphinx, exception: Exception | None) -> None:
    if not exception and app.builder.format == "html":
        file = Path(app.outdir, "_static", "pygments.css")
        file.write_text(style_sheet(), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", write_style_sheet, priority=900)  # after the theme's
    return {"parallel_read_safe": True, "parallel_write_safe": True}
