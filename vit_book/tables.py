"""Tables of numbers: HTML in a notebook, aligned text anywhere else."""

import re
from html import escape
from itertools import pairwise

_NUMBER = re.compile(r"[+\-−±<>≈]?\s?\d")
_WORDS = re.compile(r"[a-z] [a-z]")
_POWER = re.compile(r"(-?\d(?:\.\d+)?)e([+-]\d+)")  # as f"{x:.0e}" writes it
_MINUS = re.compile(r"(?<![\w.)\]])-(?=\.?\d)")  # a hyphen that begins a number
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


class Table:
    """A table with headings, shown by the last line of a cell or by ``print``.

    The first column is the name of each row, also for a screen reader. The ``caption``
    is a sentence above the table.
    """

    def __init__(self, *headings: str, caption: str | None = None) -> None:
        self.headings = headings
        self.caption = caption
        self.rows: list[list[str]] = []

    def row(self, *cells: object) -> None:
        """Add a row of a cell for each heading; ValueError if there are more or fewer.

        A row without a name belongs to the name above, which then stands once for all.
        Integers get thousands separators, floats four digits, and a power of ten and a
        minus sign are written as in the text: −3·10⁻¹⁰, not -3e-10.
        """
        if len(cells) != len(self.headings):
            raise ValueError(
                f"cells: got {len(cells)}, expected one each of {self.headings}"
            )
        self.rows.append([_text(cell) for cell in cells])

    def _align(self) -> list[str]:
        """Return "right" for each column of numbers and "left" for each of words.

        A number with several words, as in "64, the usual rate", counts as words.
        """
        return [
            "right" if all(map(_is_number, filter(None, column[1:]))) else "left"
            for column in zip(self.headings, *self.rows, strict=True)
        ]

    def _repr_html_(self) -> str:
        aligned = self._align()

        def line(tags: list[str], cells: list[str]) -> str:
            sides = aligned[-len(cells) :]
            parts = [
                f'<{tag} style="text-align: {side}">{escape(cell)}</{tag.split()[0]}>'
                for tag, side, cell in zip(tags, sides, cells, strict=True)
            ]
            return f"<tr>{''.join(parts)}</tr>"

        rest = len(self.headings) - 1
        head = line(['th scope="col"'] * (rest + 1), list(self.headings))
        named = [n for n, row in enumerate(self.rows) if row[0] or n == 0]
        body: list[str] = []
        for first, end in pairwise([*named, len(self.rows)]):
            name = f'th scope="row" rowspan="{end - first}"'.replace(' rowspan="1"', "")
            body.append(line([name, *["td"] * rest], self.rows[first]))
            body += [line(["td"] * rest, row[1:]) for row in self.rows[first + 1 : end]]
        caption = f"<caption>{escape(self.caption)}</caption>" if self.caption else ""
        top = [f'<table class="vit-table">{caption}', f"<thead>{head}</thead>"]
        return "\n".join([*top, "<tbody>", *body, "</tbody>", "</table>"])

    def __repr__(self) -> str:
        columns = []
        for side, *cells in zip(self._align(), self.headings, *self.rows, strict=True):
            width = max(map(len, cells))
            pad = str.rjust if side == "right" else str.ljust
            columns.append([pad(cell, width) for cell in cells])
        shown = ["  ".join(line).rstrip() for line in zip(*columns, strict=True)]
        return "\n".join([self.caption, *shown] if self.caption else shown)


def _is_number(cell: str) -> bool:
    return bool(_NUMBER.match(cell)) and not _WORDS.search(cell)


def _text(cell: object) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        cell = f"{cell:,}"
    if isinstance(cell, float):
        cell = f"{cell:.4g}"
    text = str(cell)
    if power := _POWER.fullmatch(text):
        factor, exponent = power.groups()
        times = {"1": "", "-1": "-"}.get(factor, f"{factor}·")
        text = f"{times}10{str(int(exponent)).translate(_RAISED)}"
    return _MINUS.sub("−", text)
