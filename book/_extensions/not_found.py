"""Set the addresses of the links and files on the page for a wrong address.

A host shows ``404.html`` for an address at any depth, so its links begin at the host's
root, with the path of the site, which is read from the repository's address. Opened as
a file, the page looks for the files beside it.
"""

from urllib.parse import urlsplit

from sphinx.application import Sphinx
from sphinx.config import Config

AFTER_THE_ADDRESS = 900  # after social.py has set the address


def set_the_root(app: Sphinx, config: Config) -> None:
    root = urlsplit(config.html_baseurl).path
    config.notfound_urls_prefix = root
    config.notfound_template = "not-found.html"
    config.notfound_context = {"title": "Page not found", "root": root}


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("config-inited", set_the_root, priority=AFTER_THE_ADDRESS)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
