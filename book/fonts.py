"""Make the book's small fonts out of four well-maintained ones: `make fonts`.

    python -m book.fonts

Needs npm, and the packages fonttools and brotli. Text is set in Inter, code in Fira
Code, formulas in Noto Sans Math, and icons in Font Awesome, as the theme brings it; all
four are under the SIL Open Font License. Each font keeps the letters, digits and signs
that the book may need, and gets a name of its own, so that no browser takes a font of
the reader's system instead. The results are

    book/_assets/fonts/         fonts.css for the pages, with the fonts inside it, so
                                that no line breaks anew when a font arrives late;
                                math.css for pages with formulas; icons.css
    book/_assets/model.svg      the letters of the map, for when it is opened alone
    vit_book/fonts/   ttf files for matplotlib and the cards
"""

import base64
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from string import ascii_letters, ascii_lowercase, ascii_uppercase
from xml.etree import ElementTree

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.ttLib.tables._g_l_y_f import Glyph, GlyphComponent

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "book" / "_assets" / "fonts"
FIGURES = ROOT / "vit_book" / "fonts"
MAP = ROOT / "book" / "_assets" / "model.svg"

PACKAGES = {
    "inter-ui": "4.1.1",
    "firacode": "6.2.0",
    "@fontsource/noto-sans-math": "5.3.0",
}
LICENCES = {
    "inter-ui/LICENSE.txt": "LICENSE-Inter.txt",
    "firacode/LICENSE": "LICENSE-FiraCode.txt",
    "noto-sans-math/LICENSE": "LICENSE-NotoSansMath.txt",
}
TEXT, CODE, VARIABLES, MATH = "Book Text", "Book Code", "Book Variables", "Book Math"
NOTO = "noto-sans-math/files/noto-sans-math-latin-400-normal.woff2"


@dataclass(frozen=True)
class Face:
    name: str
    source: str
    family: str
    style: str
    css: str  # weights and styles of a page that it is used for
    on_figures: bool = False

    @property
    def wanted(self) -> set[int]:
        return {
            TEXT: WANTED,
            CODE: IN_CODE,
            VARIABLES: LETTERS,
            MATH: IN_FORMULAS,
        }[self.family]


FACES = [
    Face(
        name="text",
        source="inter-ui/web/Inter-Regular.woff2",
        family=TEXT,
        style="Regular",
        css="font-weight: 100 500; font-style: normal",
        on_figures=True,
    ),
    Face(
        name="text-bold",
        source="inter-ui/web/Inter-SemiBold.woff2",
        family=TEXT,
        style="Bold",
        css="font-weight: 600 900; font-style: normal",
        on_figures=True,
    ),
    Face(
        name="text-italic",
        source="inter-ui/web/Inter-Italic.woff2",
        family=TEXT,
        style="Italic",
        css="font-weight: 100 500; font-style: italic",
        on_figures=True,
    ),
    Face(
        name="code",
        source="firacode/distr/ttf/FiraCode-Regular.ttf",
        family=CODE,
        style="Regular",
        css="font-weight: 100 500",
    ),
    Face(
        name="code-bold",
        source="firacode/distr/ttf/FiraCode-SemiBold.ttf",
        family=CODE,
        style="Bold",
        css="font-weight: 600 900",
    ),
    Face(
        name="variables",
        source=NOTO,
        family=VARIABLES,
        style="Italic",
        css="font-weight: 100 500; font-style: italic",
    ),
]
FORMULAS = Face(
    name="math", source=NOTO, family=MATH, style="Regular", css="font-weight: 100 500"
)

ASCII = set(range(0x20, 0x7F))
WANTED = ASCII | {
    *range(0xA0, 0x100),  # Latin-1
    *map(ord, "ČčĆćŁłŠšŽž"),  # for names of authors
    *map(ord, "ΓΔΘΛΞΠΣΦΨΩαβγδεζηθικλμνξπρστφχψω"),
    *map(ord, "–—‘’‚“”„†•…‰′″‹›⁄€™\u2009\u202f\u2060"),
    *map(ord, "⁰⁴⁵⁶⁷⁸⁹⁺⁻ⁿ₀₁₂₃₄₅₆₇₈₉ₙᵀᵗᵢⱼ"),
    *map(ord, "←↑→↓↔↕↦⇒⇔∂∇∈∏∑−∕∘√∞∥∫≈≠≤≥⊙⊤⋅‖⟨⟩ℓℝ"),
    *map(ord, "■□▲△▶▼◆○●✓✗"),
}
LETTERS = set(map(ord, ascii_letters))
SLANTED = {  # where a font for formulas has the letters of variables
    letter: ord("ℎ")
    if letter == "h"
    else (0x1D44E if letter > "Z" else 0x1D434) + place
    for alphabet in (ascii_lowercase, ascii_uppercase)
    for place, letter in enumerate(alphabet)
}
SLANTED_GREEK = range(0x1D6E2, 0x1D71C)
IN_FORMULAS = ASCII | {
    *SLANTED.values(),
    *SLANTED_GREEK,
    *map(ord, "ΓΔΘΛΞΠΣΦΨΩαβγδεζηθικλμνξπρστφχψωϵ"),
    *map(ord, "·×÷±−∕∘√∞∂∇∈∏∑∫≈≠≤≥≡∼⊙⊤⋅⋯…′″ˆ‾‖⟨⟩←↑→↓↦⇒⇔∥⏞⏟𝖳ℓℝ"),
}
# Other signs in code are set in the text's font. The lines are for tables and bars.
IN_CODE = ASCII | set(
    map(
        ord,
        "\xa0°±²³·¼½×÷éΣΦαβγδεηλμπστφω–—‘’“”…⁰¹⁴⁵⁶⁷⁸⁹⁻₀₁₂ᵀᵗ←→∂∇∈∏∑−√∞≈≠≤≥⊤⟨⟩ℝ"
        "─│┌┐└┘├┤┬┴┼═║▁▂▃▄▅▆▇█▉▊▋▌▍▎▏░▒▓■□▶●✓",
    )
)
# For labels that a reader writes: Latin Extended-A and Greek.
MORE_ON_FIGURES = {*range(0x100, 0x180), *range(0x391, 0x3AA), *range(0x3B1, 0x3CA)}
KEPT_FEATURES = ["kern", "tnum", "mark", "mkmk", "ccmp"]  # no ligatures for "->", "!="

AWESOME = "theme/pydata_sphinx_theme/static/vendor/fontawesome"
ICONS_ARE_OF = (
    "Font Awesome Free 6 by Fonticons, Inc. Icons: CC BY 4.0. Fonts: SIL OFL 1.1."
)
ICONS = """
angle-left angle-right arrow-up bars chevron-down circle-half-stroke download expand
file file-pdf github kaggle lightbulb magnifying-glass moon rocket sun
""".split()
CODE_OF_AN_ICON = re.compile(
    r'\.fa-([a-z0-9-]+):before(?=[^{}]*\{content:"\\([0-9a-f]+)"\})'
)
SHAPE_OF_AN_ICON = """\
html { --fa-font-solid: 400 1em/1 Icons; --fa-font-brands: 400 1em/1 Icons; }
.fa-solid, .fas, .fa-brands, .fab {
  display: inline-block; font: 400 1em/1 Icons; -webkit-font-smoothing: antialiased;
}
.fa-lg { font-size: 1.25em; line-height: 0.05em; vertical-align: -0.075em; }
"""

# A sign that a font lacks is made of its own letter, smaller and raised or lowered.
SMALL_LETTERS = {
    "ᵀ": ("T", 0.32),
    "ᵗ": ("t", 0.38),
    "ᵢ": ("i", -0.12),
    "ⱼ": ("j", -0.12),
}
SMALL = 0.62


def fetch(folder: Path) -> None:
    """Download the packages and unpack each into a folder of its name."""
    for name, version in PACKAGES.items():
        done = subprocess.run(
            ["npm", "pack", "--silent", f"{name}@{version}"],
            cwd=folder,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        shutil.unpack_archive(folder / done.stdout.split()[-1], folder / "unpacked")
        (folder / "unpacked" / "package").rename(folder / name.rpartition("/")[2])


def add_small_letters(font: TTFont) -> None:
    if "glyf" not in font:
        return
    names, widths, glyphs = font.getBestCmap(), font["hmtx"], font["glyf"]
    height = font["head"].unitsPerEm
    for letter, (full_size, raised) in SMALL_LETTERS.items():
        if ord(letter) in names:
            continue
        source = names[ord(full_size)]
        width, _ = widths[source]
        is_code = width == widths[names[ord("m")]][0]
        part = GlyphComponent()
        part.glyphName = source
        part.flags = 0x1000
        part.transform = [[SMALL, 0], [0, SMALL]]
        part.x = round((1 - SMALL) / 2 * width) if is_code else 0
        part.y = round(raised * height)
        glyph = Glyph()
        glyph.numberOfContours = -1
        glyph.components = [part]
        name = f"uni{ord(letter):04X}"
        font.setGlyphOrder([*font.getGlyphOrder(), name])
        glyphs.glyphs[name] = glyph
        glyph.recalcBounds(glyphs)
        widths[name] = (width if is_code else round(SMALL * width), glyph.xMin)
        for table in font["cmap"].tables:
            if table.isUnicode():
                table.cmap[ord(letter)] = name


def keep_tabular_digits_alone(font: TTFont) -> None:
    """Limit the feature "tnum" (equal widths) to digits; a hyphen stays narrow."""
    if "GSUB" not in font:
        return
    digits = {font.getBestCmap().get(ord(digit)) for digit in "0123456789"}
    table = font["GSUB"].table
    for feature in table.FeatureList.FeatureRecord:
        if feature.FeatureTag != "tnum":
            continue
        for index in feature.Feature.LookupListIndex:
            for part in table.LookupList.Lookup[index].SubTable:
                mapping = getattr(part, "ExtSubTable", part).mapping
                for glyph in mapping.keys() - digits:
                    del mapping[glyph]


def put_variables_on_keys(font: TTFont) -> None:
    """Give the slanted letters of formulas the codes of plain letters."""
    glyphs = font.getBestCmap()
    slanted = {ord(letter): glyphs[code] for letter, code in SLANTED.items()}
    for table in font["cmap"].tables:
        if table.isUnicode():
            table.cmap.update(slanted)


def cut(face: Face, folder: Path, wanted: Iterable[int]) -> TTFont:
    """Return a face with only the wanted characters, under the book's name."""
    font = TTFont(folder / face.source)
    add_small_letters(font)
    if face.family == VARIABLES:
        put_variables_on_keys(font)
    options = subset.Options(
        layout_features=["*"] if face.family == MATH else KEPT_FEATURES,
        hinting=False,
        name_IDs=[0, 1, 2, 4, 6, 13, 14],
    )
    options.drop_tables += ["DSIG", "gasp"]
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=wanted)
    cutter.subset(font)
    keep_tabular_digits_alone(font)
    own = f"{face.family} {face.style}"
    for number, text in ((1, face.family), (2, face.style), (4, own)):
        font["name"].setName(text, number, 3, 1, 0x409)
    font["name"].setName(own.replace(" ", ""), 6, 3, 1, 0x409)
    font["name"].names = [n for n in font["name"].names if n.platformID == 3]
    font["OS/2"].usWeightClass = 700 if face.style == "Bold" else 400
    font["head"].modified = font["head"].created  # for the same bytes each time
    font.recalcTimestamp = False
    return font


def packed(font: TTFont, flavor: str | None) -> bytes:
    font.flavor = flavor
    data = BytesIO()
    font.save(data)
    return data.getvalue()


def unicode_range(codes: Iterable[int]) -> str:
    """Return the CSS for a set of characters: U+20-7E, U+A0 ..."""
    spans: list[list[int]] = []
    for code in sorted(codes):
        if spans and code == spans[-1][1] + 1:
            spans[-1][1] = code
        else:
            spans.append([code, code])
    return ", ".join(
        f"U+{first:X}" + (f"-{last:X}" if last > first else "") for first, last in spans
    )


def rule(face: Face, font: TTFont) -> str:
    """Return a face as CSS, with the font itself and the characters that it has."""
    lines = [f'font-family: "{face.family}"', face.css, "font-display: block"]
    data = base64.b64encode(packed(font, "woff2")).decode()
    lines.append(f'src: url("data:font/woff2;base64,{data}") format("woff2")')
    lines.append(f"unicode-range: {unicode_range(font.getBestCmap())}")
    return "@font-face {\n" + "".join(f"  {line};\n" for line in lines) + "}\n"


def icons() -> str:
    """Return a style sheet with the icons' font, and a class for each icon.

    The theme loads the whole set as a script and three fonts, 0.8 MB on every page.
    """
    [vendor] = Path(str(files("pydata_sphinx_theme"))).glob(f"{AWESOME}/*")
    codes = dict(CODE_OF_AN_ICON.findall((vendor / "css/all.min.css").read_text()))
    wanted = {name: codes[name] for name in ICONS}
    rules = [f"/*! {ICONS_ARE_OF} */\n"]
    for file in ("fa-solid-900", "fa-brands-400"):
        source = str(vendor / f"webfonts/{file}.woff2")
        face = Face(file, source, "Icons", "Regular", "font-weight: 400")
        font = cut(face, vendor, {int(code, 16) for code in wanted.values()})
        rules.append(rule(face, font))
    rules.append(SHAPE_OF_AN_ICON)
    # the empty text after the slash keeps screen readers from reading the glyph
    rules += [
        f'.fa-{name}::before {{ content: "\\{code}"; content: "\\{code}" / ""; }}\n'
        for name, code in sorted(wanted.items())
    ]
    return "".join(rules)


def put_into_the_map(folder: Path) -> None:
    """Write fonts with the letters of the map's texts into the map."""
    drawing = MAP.read_text(encoding="utf-8")
    texts = ElementTree.fromstring(drawing).iterfind(".//{*}text")
    wanted = set(map(ord, "".join(text.text or "" for text in texts)))
    rules = []
    for face in FACES[:2]:
        rules.append(rule(face, cut(face, folder, wanted)).replace("\n", ""))
    style = '<style class="alone">\n{}\n</style>'.format("\n".join(rules))
    drawing, times = re.subn(
        r'<style class="alone">.*?</style>', style, drawing, count=1, flags=re.DOTALL
    )
    if not times:
        raise ValueError(f'{MAP}: <style class="alone"> is missing')
    MAP.write_text(drawing, encoding="utf-8")


def main() -> None:
    for target in (PAGES, FIGURES):
        target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fetch(folder)
        rules = [
            "/* Made by book/fonts.py of Inter, Fira Code and Noto Sans Math, SIL\n"
            "   Open Font License: their LICENSE files stand here. */\n"
        ]
        for face in FACES:
            rules.append(rule(face, cut(face, folder, face.wanted)))
            if face.on_figures:
                font = cut(face, folder, face.wanted | MORE_ON_FIGURES)
                file = FIGURES / f"{face.name}.ttf"
                file.write_bytes(packed(font, None))
                print(f"{file.relative_to(ROOT)}: {file.stat().st_size:,} bytes")
        math = rule(FORMULAS, cut(FORMULAS, folder, FORMULAS.wanted))
        sheets = {"fonts": "".join(rules), "math": math, "icons": icons()}
        for name, text in sheets.items():
            file = PAGES / f"{name}.css"
            file.write_text(text, encoding="utf-8")
            print(f"{file.relative_to(ROOT)}: {file.stat().st_size:,} bytes")
        put_into_the_map(folder)
        for source, licence in LICENCES.items():
            shutil.copyfile(folder / source, PAGES / licence)
        shutil.copyfile(PAGES / "LICENSE-Inter.txt", FIGURES / "LICENSE-Inter.txt")


if __name__ == "__main__":
    main()
