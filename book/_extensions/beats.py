"""Let the first section of each beat be found under the beat alone.

"The module: all heads in one class" has the address ``#the-module`` too, whatever else
its title says, so that addresses last when titles change.
"""

from docutils import nodes
from sphinx.application import Sphinx

BEATS = ("The picture", "By hand", "The module", "Proof", "What breaks")


def address_the_beats(app: Sphinx, document: nodes.document) -> None:
    # those that links in Markdown know, as (line, address, title)
    known = app.env.metadata[app.env.docname].get("myst_slugs", {})
    for section in document.findall(nodes.section):
        title = section[0].astext()
        beat, colon, _ = title.partition(": ")
        address = nodes.make_id(beat)
        if colon and beat in BEATS and address not in known:
            known[address] = (section[0].line or 0, section["ids"][0], title)
            section["ids"].append(address)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", address_the_beats)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
