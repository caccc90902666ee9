"""Make an autograder for Gradescope: `make gradescope SET=05`.

python -m classroom.gradescope 05                            a set, by its number
python -m classroom.gradescope 05 --seed 2027                a variant of it
python -m classroom.gradescope private/05_heads.ipynb        a source of your own

The zip holds solutions and hidden tests, so give it to Gradescope alone.
"""

import argparse
import io
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from classroom.gradescope.results import in_words
from classroom.grading.course import Course
from classroom.grading.gradebook import prepare
from classroom.release.assignment import Assignment
from classroom.release.release import ROOT, SOURCES

FOLDER = ROOT / "_build" / "gradescope"
HERE = Path(__file__).parent
SCRIPTS = ("setup.sh", "run_autograder")
PACKAGES = (
    *("vit_steps", "vit_check", "vit_book", "vit_doctor"),
    *("classroom/grading", "classroom/release", "classroom/gradescope"),
)
# What the sets import, and our packages for them; the grader has a list of its own.
IMPORTED = (
    *("torch", "torchvision", "numpy", "scipy", "matplotlib", "cycler", "pillow"),
    *("einops", "scikit-learn", "scikit-image", "safetensors", "tqdm"),
)


def autograder(assignment: Assignment) -> bytes:
    """Return the zip that Gradescope takes as an autograder."""
    stream, seed = io.BytesIO(), assignment.seed
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in SCRIPTS:
            script = zipfile.ZipInfo.from_file(HERE / name, name)
            script.external_attr = 0o100755 << 16
            script.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(script, (HERE / name).read_bytes())
        grader = (ROOT / "classroom" / "requirements.txt").read_text("utf-8")
        archive.writestr("requirements.txt", pinned(*IMPORTED, *grader.split()))
        archive.writestr("uv.txt", pinned("uv"))
        archive.write(ROOT / "constraints.txt", "constraints.txt")
        archive.write(assignment.path, f"set/{assignment.path.name}")
        archive.writestr("seed.txt", f"{'' if seed is None else seed}")
        archive.writestr("assignments.db", gradebook(assignment))
        archive.writestr("packages/classroom/__init__.py", "")
        for path in files():
            archive.write(path, f"packages/{path.relative_to(ROOT)}")
    return stream.getvalue()


def pinned(*names: str) -> str:
    """Return those lines of the requirements that are about these packages."""
    lines = (ROOT / "requirements.txt").read_text("utf-8").splitlines()
    found = [one for one in lines if one.partition("==")[0].lower() in names]
    return "\n".join(found) + "\n"


def gradebook(assignment: Assignment) -> bytes:
    """Return nbgrader's gradebook with the set and no students, which takes long."""
    with tempfile.TemporaryDirectory() as folder:
        course = Course(Path(folder))
        prepare(course, [assignment])
        return course.template.read_bytes()


def files() -> Iterator[Path]:
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield path


def source_of(text: str) -> Path:
    """Return the source that is meant by a number or a path, or raise ValueError."""
    found = sorted(SOURCES.glob(f"{text:0>2}_*.ipynb")) if text.isdigit() else []
    path = found[0] if found else Path(text)
    if not path.is_file():
        sets = ", ".join(path.name[:2] for path in sorted(SOURCES.glob("*.ipynb")))
        raise ValueError(f"got {text!r}, expected one of {sets}, or a source's path")
    return path


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m classroom.gradescope")
    parser.add_argument("set", help="its number, or a source's path")
    parser.add_argument("--seed", type=int, help="of the variant")
    parser.add_argument("--out", type=Path, default=FOLDER)
    options = parser.parse_args(arguments)
    try:
        assignment = Assignment(source_of(options.set), options.seed)
    except ValueError as error:
        print(f"Stopped: {error}", file=sys.stderr)
        return 1
    options.out.mkdir(parents=True, exist_ok=True)
    target = options.out / f"{assignment.label}.zip"
    target.write_bytes(autograder(assignment))
    words = sum(in_words(assignment).values())
    points = sum(assignment.points.values()) - words
    print(f"{target}: {points:g} points; {words:g} more are for words, by hand.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
