"""Write a small style sheet with the few glyphs of Font Awesome that the pages show.

The theme loads the whole set as a script and three fonts, 0.8 MB compressed on every
page. ``_templates/static/webpack-macros.html`` loads ``icons.css`` instead.
"""

import base64
import re
import shutil
from io import BytesIO
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from sphinx.application import Sphinx

LICENCE = "Font Awesome Free 6 by Fonticons, Inc. Icons: CC BY 4.0. Fonts: SIL OFL 1.1."
NAME = re.compile(r"\bfa-([a-z][a-z0-9-]*)")
CODE = re.compile(r'\.fa-([a-z0-9-]+):before(?=[^{}]*\{content:"\\([0-9a-f]+)"\})')
SHAPE = """\
html { --fa-font-solid: 400 1em/1 Icons; --fa-font-brands: 400 1em/1 Icons; }
.fa-solid, .fas, .fa-brands, .fab {
  display: inline-block; font-family: Icons; font-style: normal; font-weight: 400;
  line-height: 1; -webkit-font-smoothing: antialiased;
}
.fa-lg { font-size: 1.25em; line-height: 0.05em; vertical-align: -0.075em; }
"""


def names_shown(folder: Path) -> set[str]:
    pages = [*folder.rglob("*.html"), *(folder / "_static/scripts").glob("*.js")]
    return {name for page in pages for name in NAME.findall(page.read_text("utf-8"))}


def font_face(
    file: Path, family: str, codes: set[int], hinting: bool = False
) -> str | None:
    """Return a font's glyphs for these codes as a CSS rule; None if it has none."""
    font = TTFont(file)
    present = codes & font.getBestCmap().keys()
    if not present:
        return None
    options = subset.Options(layout_features=[], name_IDs=[], hinting=hinting)
    options.drop_tables += ["FFTM"]  # times written by the program FontForge
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=present)
    cutter.subset(font)
    font.flavor = "woff"
    data = BytesIO()
    font.save(data)
    code = base64.b64encode(data.getvalue()).decode()
    return (
        f'@font-face {{ font-family: "{family}"; font-display: block; '
        f'src: url("data:font/woff;base64,{code}") format("woff"); }}'
    )


def write_icons(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    vendor = next((static / "vendor/fontawesome").iterdir())
    every = dict(CODE.findall((vendor / "css/all.min.css").read_text("utf-8")))
    codes = {name: every[name] for name in names_shown(Path(app.outdir)) & every.keys()}
    points = {int(code, 16) for code in codes.values()}
    faces = [
        font_face(vendor / f"webfonts/{file}.ttf", "Icons", points)
        for file in ("fa-solid-900", "fa-brands-400")
    ]
    # the empty text after the slash keeps screen readers from reading the glyph
    rules = [
        f'.fa-{name}::before {{ content: "\\{code}"; content: "\\{code}" / ""; }}'
        for name, code in sorted(codes.items())
    ]
    lines = [f"/* {LICENCE} */", *filter(None, faces), SHAPE, *rules, ""]
    (static / "icons.css").write_text("\n".join(lines), encoding="utf-8")
    shutil.rmtree(static / "vendor/fontawesome")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", write_icons)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
