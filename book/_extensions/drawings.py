"""Put the SVG of a drawing that a cell shows into the page itself.

The drawing then follows the page when the reader changes from light to dark; an
``<img>`` would follow the operating system's setting. Its accessible name is the cell's
alt text, or else the drawing's own title and description.

On a desk a drawing grows more than its letters (``book.css``). The lines of a text are
joined here, so that they keep their distance too.
"""

from pathlib import Path
from xml.etree import ElementTree

from docutils import nodes
from sphinx.application import Sphinx

from book._extensions.pictures import sizes_for_styles

SVG = "{http://www.w3.org/2000/svg}"
CLASS = "vit-drawing"  # book/drawings/kit.py gives it to what it draws
LINES = "vd-lines"
ACROSS = "tag_across-the-page"


def goes_on(above: ElementTree.Element, text: ElementTree.Element) -> bool:
    """Whether a text is the next line of the one above it."""
    if any(above.get(name) != text.get(name) for name in ("x", "text-anchor")):
        return False
    size = max(float(one.get("font-size", "")) for one in (above, text))
    return size <= float(text.get("y", "")) - float(above.get("y", "")) <= 1.6 * size


def join_lines(part: ElementTree.Element) -> None:
    """Put the lines of a text, which in an SVG are texts of their own, into a group."""
    found: list[ElementTree.Element] = []
    above = None  # the line that the element before ends with
    for child in part:
        if child.tag == f"{SVG}g":
            join_lines(child)
        text = child if child.tag == f"{SVG}text" else None
        if above is not None and text is not None and goes_on(above, text):
            if found[-1] is above:
                anchor = {"text-anchor": above.get("text-anchor", "start")}
                found[-1] = ElementTree.Element(f"{SVG}g", {"class": LINES} | anchor)
                found[-1].append(above)
            found[-1].append(text)
        else:
            found.append(child)
        above = text
    part[:] = found
    beside = {child.get("y") for child in found if child.tag == f"{SVG}text"}
    for group in found:
        if group.get("class") == LINES and group[0].get("y") in beside:
            group.set("style", f"--line: {50 / len(group):.4g}%")  # the first one stays


def is_across_the_page(image: nodes.Node | None) -> bool:
    while image := image and image.parent:
        if isinstance(image, nodes.Element) and ACROSS in image.get("classes", ()):
            return True
    return False


def inlined(file: Path, alt: str, across: bool = False) -> str | None:
    """Return a file as HTML for a page; None if it is not a drawing of the book.

    Beside what moves, and what is higher than wide, the caption stands, if there is
    room: unless the drawing is ``across`` the page.
    """
    svg = ElementTree.parse(file).getroot()
    if CLASS not in svg.get("class", "").split():
        return None
    descriptions = [svg.find(f"{SVG}{tag}") for tag in ("title", "desc")]
    own = [part.text for part in descriptions if part is not None and part.text]
    for part in descriptions:  # removed, or a browser would show a tooltip
        if part is not None:
            svg.remove(part)
    for name in ("aria-labelledby", "aria-describedby"):
        svg.attrib.pop(name, None)
    svg.set("role", "img")
    svg.set("aria-label", alt or ". ".join(own))
    _, _, width, height = map(float, svg.get("viewBox", "").split())
    sizes = sizes_for_styles(width, width / height)
    moving = svg.get("data-figure")  # only a moving drawing has it
    if moving:
        svg.set("data-title", own[0])  # its name while it moves
    else:
        svg.set("style", sizes)
        join_lines(svg)
    if not across and (moving or width < height):
        svg.set("class", f"{svg.get('class')} narrow")
    ElementTree.register_namespace("", SVG.strip("{}"))
    html = ElementTree.tostring(svg, encoding="unicode")
    if moving:
        place = f'<div class="moving moving-{moving}" style="{sizes}">'
        return f'{place}{html}<div class="moving-controls"></div></div>'
    return html


def put_into_the_page(app: Sphinx, document: nodes.document, page: str) -> None:
    if app.builder.format != "html":
        return
    for image in list(document.findall(nodes.image)):
        file = Path(app.srcdir, image["uri"])
        if file.suffix == ".svg" and file.is_file():
            html = inlined(file, image.get("alt", ""), is_across_the_page(image))
            if html is not None:
                image.replace_self(nodes.raw("", html, format="html"))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-resolved", put_into_the_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
