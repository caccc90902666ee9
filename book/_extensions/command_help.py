"""The directive ``{command-help}``, which shows the ``--help`` text of a command.

The page cannot differ from the command, and no process is started for it.
"""

import io
from contextlib import redirect_stdout, suppress
from importlib import import_module
from unittest import mock

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FOR_THE_PAGE = {"COLUMNS": "80", "NO_COLOR": "1"}


def help_of(module: str, *arguments: str) -> str:
    """Return the text that ``python -m module arguments --help`` prints."""
    printed = io.StringIO()
    with mock.patch.dict("os.environ", FOR_THE_PAGE), redirect_stdout(printed):
        with suppress(SystemExit):
            import_module(module).main([*arguments, "--help"])
    return printed.getvalue()


class CommandHelp(SphinxDirective):
    required_arguments = 1
    optional_arguments = 8

    def run(self) -> list[nodes.Node]:
        text = help_of(*self.arguments)
        return [nodes.literal_block(text, text, language="text")]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
