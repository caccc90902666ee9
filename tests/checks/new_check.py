"""Make the files of a new check, with what is to be written in them.

make new-check NAME=mix_heads CHAPTER=talking_heads
"""

import re
import sys

from tests.conftest import ROOT
from vit_check import CHECKS
from vit_check.chapters.questions import QUESTIONS

TO_WRITE = "TO WRITE"  # marks each line that is to be replaced

CHECK = '''from torch import Tensor

from vit_check.engine.functions import checked_by

# TO WRITE: more cases and at least 5 mistakes, as vit_check/engine/table.py explains
TABLE = """
NAME(x) -> TO WRITE: what comes out, with its shape
  float64(2, 3, 5)
? TO WRITE: what to look at
? TO WRITE: what is to be done
? TO WRITE: nearly the line itself
"""


@checked_by(TABLE)
def NAME(x: Tensor) -> Tensor:
    raise NotImplementedError("TO WRITE: the right answer, one assignment a line")
'''

ANSWERS = '''from tests.checks.answers import wrong_edits


# TO WRITE: at least 3 right answers, each in another style
# TO WRITE: at least 5 wrong ones; what no edit makes is a function under @wrong
@wrong_edits("""
""")
def first_style(x):
    raise NotImplementedError
'''


ASKED = '''# the values that are asked for, as vit_check/engine/questions.py explains
QUESTIONS = """
"""
'''


def make(name, chapter, root=ROOT):
    """Write the files, and those of a chapter that has no checks yet.

    Raises: ValueError if there is no such chapter or the name is taken.
    """
    chapters = root / "vit_check" / "chapters"
    notebooks = (root / "notebooks").glob("[0-9][0-9]_*.ipynb")
    known = sorted(path.stem[3:] for path in notebooks)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise ValueError(f"NAME: got {name!r}, expected a name such as split_heads")
    if name in CHECKS or name in QUESTIONS or list(chapters.glob(f"*/{name}.py")):
        raise ValueError(f"NAME: {name} is taken")
    if chapter not in known:
        raise ValueError(
            f"CHAPTER: got {chapter!r}, expected one of {', '.join(known)}"
        )
    made = {
        chapters / chapter / f"{name}.py": CHECK,
        root / "tests" / "checks" / "answers" / chapter / f"{name}.py": ANSWERS,
    }
    if not (chapters / chapter).exists():
        made[chapters / chapter / "__init__.py"] = ""
        made[chapters / chapter / "questions.py"] = ASKED
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("NAME", name), encoding="utf-8")
    return list(made)


def left_to_write(name, root=ROOT):
    """Return the lines in a check's two files that are still to be written."""
    files = [
        *root.glob(f"vit_check/chapters/*/{name}.py"),
        *root.glob(f"tests/checks/answers/*/{name}.py"),
    ]
    return [
        f"{path.relative_to(root)}:{number}: {line.strip()}"
        for path in files
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if TO_WRITE in line
    ]


if __name__ == "__main__":
    try:
        for path in make(*sys.argv[1:]):
            print(f"made {path.relative_to(ROOT)}")
    except ValueError as error:
        sys.exit(f"Stopped: {error}")
    print(f"pytest -x tests/checks -k {sys.argv[1]}    says what is to be written")
