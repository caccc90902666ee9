"""Make the cover of the first page: a photograph on its way into the model.

    python -m book.cover

On the left the photograph comes apart into its 196 patches. In the middle is the
sequence of tokens, one row of numbers for each token, with the class token framed on
top; the book's embedding computes them. On the right one patch attends to all patches
by colour, as in chapter 4: the more weight a patch has, the more of it is visible.
Nothing is trained, and every number that is drawn was computed.

The numbers are written to ``cover_data.js``, and ``cover.js`` draws them on the page.
Its last frame is saved as ``cover.webp``, for readers without scripts, for paper, and
for readers who prefer reduced motion (needs Chromium or Chrome).
"""

import json
import sys
from io import BytesIO
from pathlib import Path

import torch
from PIL import Image
from playwright.sync_api import Page, sync_playwright
from torch import Tensor

import vit_book
from book.chromium import launch, served
from vit_steps import ViTEmbedding, data, patchify

ASSETS = Path(__file__).parent / "_assets"
PHOTO = "cat"
GRID = 14  # patches in a row
ASKING = 6 * GRID + 10  # the patch that attends, on one of the eyes
STEEPNESS = 0.6  # of the softmax over the products of colours
NUMBERS = 12  # drawn for each token
SIZE = (1376, 520)
DETAIL = 2  # the still is drawn this many times as large, then reduced


def colour_vectors(image: Tensor) -> Tensor:
    """Return the patches' mean colours as queries and keys, (N, 3).

    The colours are whitened: otherwise brown, the most common direction in this
    photograph, would decide the weights alone.
    """
    colours = patchify(image[None], 16)[0].reshape(GRID**2, 3, -1).mean(2)
    directions, _, _ = torch.linalg.svd(colours - colours.mean(0), full_matrices=False)
    return (STEEPNESS * len(colours)) ** 0.5 * directions


def first_tokens(image: Tensor) -> Tensor:
    """Return the first numbers of every token, (T, NUMBERS), between -1 and 1."""
    torch.manual_seed(0)
    embedding = ViTEmbedding(224, 16, in_channels=3, embed_dim=192)
    with torch.no_grad():
        tokens = embedding(data.normalize(image[None]))[0, :, :NUMBERS]
    return (tokens / tokens.abs().quantile(0.98)).clamp(-1, 1)


def script() -> str:
    """Return ``cover_data.js``: the attending patch, colours, tokens in hundredths."""
    image = vit_book.photo(PHOTO, 224)
    numbers = {
        "asking": ASKING,
        "colours": [[round(c, 3) for c in v] for v in colour_vectors(image).tolist()],
        "tokens": (99 * first_tokens(image)).round().int().tolist(),
    }
    return f"const vitCover = {json.dumps(numbers, separators=(',', ':'))};\n"


def still(tab: Page, address: str) -> Image.Image:
    """Draw the last frame of the cover with the scripts that ``address`` serves."""
    width, height = (DETAIL * side for side in SIZE)
    tab.set_viewport_size({"width": width, "height": height})
    tab.set_content(
        f'<body style="margin: 0"><canvas width="{width}" height="{height}"></canvas>'
    )
    for name in ("cover_data.js", "cover.js"):
        tab.add_script_tag(url=f"{address}{name}")
    tab.evaluate("vitCover.rest(document.querySelector('canvas'))")
    png = tab.screenshot(omit_background=True)
    return Image.open(BytesIO(png)).resize(SIZE, Image.Resampling.LANCZOS)


def main() -> None:
    (ASSETS / "cover_data.js").write_text(script(), encoding="utf-8")
    with sync_playwright() as playwright, served(ASSETS) as address:
        browser = launch(playwright)
        if browser is None:
            sys.exit("Stopped: no Chromium, Chrome or Edge is installed")
        file = ASSETS / "cover.webp"
        still(browser.new_page(), address).save(file, quality=66, method=6)
        browser.close()
    print(f"{file.name}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
