"""Cut the labelled photographs of ``vit_book.things`` out of GCompris.

    python -m experiments.make_things ROOT

ROOT is where Debian's package gcompris-qt-data 3.1-2 was unpacked. GCompris lists the
photographer, the source and the licence of each of its photographs. Only those that are
in the public domain or under CC0 are kept, 24 of each class, and three photographs a
second time, because GCompris has them in two folders.
"""

import csv
import re
import struct
import sys
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from PIL import Image

from vit_book.photographs import THINGS

FREE = {"Public Domain": "public domain", "CC0-1.0": "CC0"}
CLASSES = {  # each class, and its folders in GCompris
    "animal": "explore_(world|farm)_animals/.*",
    "building": "(categorization.*/monuments|explore_monuments)/.*",
    "fish": ".*/fishes/.*",
    "power": ".*/renewable/.*",
    "tool": ".*/tools/.*",
}
PER_CLASS = 24
TWICE = "brandenburgGate|colosseum|greatPyramid"  # buildings in two folders each
SHORTER_SIDE = 128  # pixels


def resources(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of the files in one of Qt's resource files."""
    content = path.read_bytes()
    _, tree, data, names = struct.unpack(">4I", content[4:20])

    def walk(node: int, folder: str) -> Iterator[tuple[str, bytes]]:
        place = tree + 22 * node
        name, flags = struct.unpack(">IH", content[place : place + 6])
        length = int.from_bytes(content[names + name : names + name + 2])
        first = names + name + 6
        full = folder + content[first : first + 2 * length].decode("utf-16-be")
        if flags & 2:  # a folder
            count, child = struct.unpack(">II", content[place + 6 : place + 14])
            for number in range(count):
                yield from walk(child + number, f"{full}/" if node else "")
        else:
            start = data + int.from_bytes(content[place + 10 : place + 14])
            size = int.from_bytes(content[start : start + 4])
            file = content[start + 4 : start + 4 + size]
            yield full, zlib.decompress(file[4:]) if flags & 1 else file

    yield from walk(0, "")


def credits_in(readme: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each file's name with its photographer, licence and source."""
    for part in readme.split("\n\n"):
        said = dict(re.findall(r"^(Copyright|License|Source): *(.*)$", part, re.M))
        for name in part.partition("Files:")[2].split():
            yield name, [said.get(k, "") for k in ("Copyright", "License", "Source")]


def photographs(root: Path) -> dict[str, tuple[bytes, list[str]]]:
    """Return all photographs that are free, with their credits, by path."""
    files: dict[str, bytes] = {}
    for archive in sorted(root.glob("usr/share/gcompris-qt/rcc/*.rcc")):
        if archive.stem.startswith(("categorization", "explore_")):
            files |= dict(resources(archive))
    found = {}
    for readme, content in files.items():
        if readme.endswith("/README"):
            for name, credit in credits_in(content.decode()):
                path = f"{readme.removesuffix('README')}{name}"
                if path in files and credit[1] in FREE:
                    found[path] = (files[path], credit)
    return found


def spread(paths: list[str], count: int) -> list[str]:
    """Return ``count`` of the paths at even distances."""
    return [paths[len(paths) * k // count] for k in range(count)]


def main(root: Path) -> None:
    found = photographs(root)
    rows = []
    for label, where in CLASSES.items():
        paths = sorted(p for p in found if re.search(where, p) and p.endswith(".webp"))
        twins = [p for p in paths if re.search(TWICE, p)]
        others = [p for p in paths if p not in twins]
        kept = sorted(twins + spread(others, PER_CLASS - len(twins) // 2))
        folder = THINGS / label
        folder.mkdir(parents=True, exist_ok=True)
        for number, path in enumerate(kept, start=1):
            content, (photographer, licence, source) = found[path]
            image = Image.open(BytesIO(content)).convert("RGB")
            factor = SHORTER_SIDE / min(image.size)
            size = [max(SHORTER_SIDE, round(factor * side)) for side in image.size]
            file = f"{number:02}.jpg"
            image.resize(size).save(folder / file, quality=85)
            rows.append([f"{label}/{file}", photographer, FREE[licence], source])
    with (THINGS / "CREDITS.csv").open("w", encoding="utf-8", newline="") as table:
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(["file", "photographer", "licence", "source"])
        writer.writerows(rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
