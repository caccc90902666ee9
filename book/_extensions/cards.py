"""Draw the card of a page, 1200×630 pixels, that is shown where its link is shared."""

from pathlib import Path
from xml.etree import ElementTree

from PIL import Image, ImageDraw, ImageFont, ImageOps

SIZE = (1200, 630)
MARGIN = 64
GROUND, INK, SOFT = "#10202e", "#ffffff", "#b9c8d6"
TEXT_WIDTH = 470
LOGO = Path(__file__).parents[1] / "_assets" / "logo.svg"
FONTS = Path(__file__).parents[2] / "vit_book" / "fonts"


def font(size: int, bold: bool = False) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(FONTS / f"text{'-bold' * bold}.ttf", size)


def draw_logo(draw: ImageDraw.ImageDraw, left: float, top: float, side: float) -> None:
    """Draw the squares of the book's logo."""
    svg = ElementTree.parse(LOGO).getroot()
    scale = side / float(svg.attrib["viewBox"].split()[2])
    for square in svg.iterfind("{*}rect"):
        x, y, width, height, radius = (
            scale * float(square.attrib[name])
            for name in ("x", "y", "width", "height", "rx")
        )
        box = (left + x, top + y, left + x + width, top + y + height)
        draw.rounded_rectangle(box, radius, fill=square.attrib["fill"])


def lines_of(text: str, face: ImageFont.FreeTypeFont, width: float) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and face.getlength(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def draw_title(draw: ImageDraw.ImageDraw, title: str, top: float, room: float) -> None:
    """Draw the title in the largest type in which it fits."""
    for size in range(66, 30, -4):
        face = font(size, bold=True)
        lines = lines_of(title, face, TEXT_WIDTH)
        wide = max(face.getlength(line) for line in lines)
        if wide <= TEXT_WIDTH and 1.2 * size * len(lines) <= room:
            break
    for number, line in enumerate(lines):
        draw.text((MARGIN, top + 1.2 * size * number), line, INK, face)


def card(book: str, title: str, address: str, picture: Path | None) -> Image.Image:
    """Draw a card.

    Args:
        book: title of the book, drawn small above the page's title.
        title: title of the page.
        address: address of the site, drawn at the foot.
        picture: a picture of the page, shown on white; None draws a large logo.
    """
    image = Image.new("RGB", SIZE, GROUND)
    draw = ImageDraw.Draw(image)
    width, height = SIZE
    right = (MARGIN + TEXT_WIDTH + 40, MARGIN, width - 40, height - MARGIN)
    if picture is None:
        side = right[3] - right[1]
        draw_logo(draw, right[2] - side - 24, right[1], side)
    else:
        with Image.open(picture) as source:
            shown = ImageOps.contain(
                flattened(source), (right[2] - right[0] - 32, right[3] - right[1] - 32)
            )
        left = (right[0] + right[2] - shown.width) // 2
        top = (height - shown.height) // 2
        panel = (left - 16, top - 16, left + shown.width + 16, top + shown.height + 16)
        draw.rounded_rectangle(panel, 14, fill="white")
        image.paste(shown, (left, top))
    draw_logo(draw, MARGIN, MARGIN, 72)
    if title != book:
        draw.text((MARGIN + 92, MARGIN + 36), book, SOFT, font(21), anchor="lm")
    draw_title(draw, title, top=190, room=330)
    draw.text((MARGIN, height - MARGIN - 24), address, SOFT, font(22))
    return image


def flattened(source: Image.Image) -> Image.Image:
    """Return a picture with its transparent parts on white."""
    layer = source.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert(
        "RGB"
    )
