"""Write a LaTeX formula as a line of plain text, the way a reader would type it."""

import re
import unicodedata

SIGNS = {
    "cdot": "·",
    "times": "×",
    "approx": "≈",
    "le": "≤",
    "ge": "≥",
    "sum": "Σ",
    "partial": "∂",
    "leftarrow": "←",
    "dots": "…",
    "cdots": "…",
    "log": "log",
    "ln": "ln",
    "sin": "sin",
    "cos": "cos",
    "tanh": "tanh",
}
NAMED = re.compile(r"\\([A-Za-z]+)\*?")
BRACED = r"\{((?:[^{}]|\{[^{}]*\})*)\}"


def sign(found: re.Match[str]) -> str:
    name = found[1]
    if name in SIGNS:
        return SIGNS[name]
    size = "CAPITAL" if name[0].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {size} LETTER {name.removeprefix('var')}")
    except KeyError:
        return " "  # a space, a brace or a font


def plain(formula: str) -> str:
    """Return a formula as plain text; spacing, fonts and braces are left out."""
    text = re.sub(r"\\(?:begin|end)\{[^}]*\}|\\\\|&", " ", formula)
    text = re.sub(r"\\[,;:! ]", " ", text)
    text = re.sub(r"\\[td]?frac" + BRACED + BRACED, r"\1/\2", text)
    text = re.sub(r"\\sqrt" + BRACED, r"√\1", text)
    text = re.sub(r"\^\{\\mathsf T\}", "ᵀ", text)
    text = NAMED.sub(sign, text)
    text = re.sub(r"[_^]\{?([^{}]*)\}?", r"\1", text)
    return " ".join(re.sub(r"[{}$\\]", "", text).split())
