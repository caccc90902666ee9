"""Complete the menus above a page, and the footer's links to the repository.

``_config.yml`` holds the address and the branch, and Jupyter Book passes both to the
theme, which makes the buttons for Colab and Binder. This extension adds the button for
Kaggle, a tooltip for the menu, the footer's links, and a menu on the first page that
opens chapter 1; and it says in plain words what the menu for downloads gives.
"""

from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from book._extensions.repository import repository_of

AFTER_THE_THEME = 502
SLOW = "Launch on Binder, which takes some minutes to start"
ORDER = ("Colab", "Kaggle", "Binder")
RUN = "Download this page as a notebook, which Jupyter, VS Code and Colab can run"
READ = "Download this page as plain text, in Markdown"
MENUS = {"source-buttons": "GitHub: repository and issues"}  # begins with its word
FIRST = "notebooks/01_why_patches.ipynb"


def complete_the_footer(app: Sphinx, config: Config) -> None:
    """Replace ``repository:path/of/file`` in the footer by the file's address."""
    options = config.html_theme_options
    address = repository_of(config).file("")
    options["extra_footer"] = options["extra_footer"].replace("repository:", address)


def in_order(buttons: list[dict[str, str]]) -> list[dict[str, str]]:
    """Return the buttons, those in ORDER first; the settings decide which there are."""
    return sorted(
        buttons,
        key=lambda b: ORDER.index(b["text"]) if b["text"] in ORDER else len(ORDER),
    )


def names_of(buttons: list[dict[str, str]]) -> str:
    return ", ".join(button["text"] for button in buttons)


def add_kaggle(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    for group in context.get("header_buttons", []):
        if group.get("label") == "launch-buttons":
            kaggle = {
                "type": "link",
                "text": "Kaggle",
                "tooltip": "Launch on Kaggle",
                "icon": "fab fa-kaggle",
                "url": repository_of(app.config).kaggle(f"{pagename}.ipynb"),
            }
            group["buttons"] = in_order([*group["buttons"], kaggle])
            for button in group["buttons"]:
                if button["text"] == "Binder":
                    button["tooltip"] = SLOW
            group["tooltip"] = f"Run this page: {names_of(group['buttons'])}"


def add_to_the_first_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Add a menu to the first page, which is not a notebook; it opens chapter 1."""
    if pagename != app.config.root_doc:
        return
    repository = repository_of(app.config)
    links = {
        "Colab": (repository.colab(FIRST), "_static/images/logo_colab.png"),
        "Kaggle": (repository.kaggle(FIRST), "fab fa-kaggle"),
        "Binder": (repository.binder(FIRST), "_static/images/logo_binder.svg"),
    }
    buttons = [
        {
            "type": "link",
            "text": name,
            "url": url,
            "icon": icon,
            "tooltip": SLOW if name == "Binder" else f"Launch on {name}",
        }
        for name, (url, icon) in links.items()
    ]
    menu = {
        "type": "group",
        "label": "launch-buttons",
        "icon": "fas fa-rocket",
        "tooltip": f"Run chapter 1: {names_of(buttons)}",
        "buttons": buttons,
    }
    context.setdefault("header_buttons", []).insert(0, menu)


def say_what_it_gives(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    notebook = context.get("page_source_suffix") == ".ipynb"
    words = {
        "download-source-button": {
            "text": "Notebook, to run it" if notebook else "Plain text",
            "tooltip": RUN if notebook else READ,
            "download": True,
        },
        "download-pdf-button": {
            "text": "Print, or save as PDF",
            "tooltip": "Open the browser's window for printing, which saves PDFs too",
        },
    }
    for group in context.get("header_buttons", []):
        group["tooltip"] = MENUS.get(group.get("label"), group.get("tooltip"))
        for button in group.get("buttons", []):
            button.update(words.get(button.get("label"), {}))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", complete_the_footer)
    app.connect("html-page-context", add_kaggle, priority=AFTER_THE_THEME)
    app.connect("html-page-context", add_to_the_first_page, priority=AFTER_THE_THEME)
    app.connect("html-page-context", say_what_it_gives, priority=AFTER_THE_THEME)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
