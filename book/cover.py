"""Makes the cover of the first page: a photograph on its way into the model.

    python -m book.cover

On the left the photograph comes apart into its 196 patches. The sequence of tokens
stands in the middle, the class token framed on top, a row of numbers a token, as the
book's embedding gives them. On the right one patch attends to all by colour, as in
chapter 4: the more weight a patch has, the more of it is there to see. Nothing is
trained, and nothing is drawn that was not computed.

The numbers are written to ``cover_data.js``. The page draws with them in ``cover.js``,
and what it shows in the end is photographed as ``cover.webp``, for readers without
scripts, for paper, and for whoever wants nothing to move (needs Chromium or Chrome).
"""

import json
import sys
from io import BytesIO
from pathlib import Path

import torch
from PIL import Image
from playwright.sync_api import Page, sync_playwright
from torch import Tensor

from book.chromium import launch, served
from vit_steps import ViTEmbedding, data, patchify

ASSETS = Path(__file__).parent / "_assets"
PHOTO = "cat"
GRID = 14  # patches a line
ASKING = 6 * GRID + 10  # the patch that attends: a part of one eye
STEEPNESS = 0.6  # of the softmax over the products of colours
NUMBERS = 12  # of each token
SIZE = (1376, 520)
DETAIL = 2  # drawn so many times as large, then reduced


def colour_vectors(image: Tensor) -> Tensor:
    """The patches' mean colours as queries and keys, (N, 3).

    The three directions of colour count alike, however much brown there is.
    """
    colours = patchify(image[None], 16)[0].reshape(GRID**2, 3, -1).mean(2)
    directions, _, _ = torch.linalg.svd(colours - colours.mean(0), full_matrices=False)
    return (STEEPNESS * len(colours)) ** 0.5 * directions


def first_tokens(image: Tensor) -> Tensor:
    """The first numbers of every token, (T, NUMBERS), between -1 and 1."""
    torch.manual_seed(0)
    embedding = ViTEmbedding(224, 16, in_channels=3, embed_dim=192)
    with torch.no_grad():
        tokens = embedding(data.normalize(image[None]))[0, :, :NUMBERS]
    return (tokens / tokens.abs().quantile(0.98)).clamp(-1, 1)


def script() -> str:
    """What ``cover.js`` draws: the asking patch, colours, and tokens in hundredths."""
    image = data.photo(PHOTO, 224)
    numbers = {
        "asking": ASKING,
        "colours": [[round(c, 3) for c in v] for v in colour_vectors(image).tolist()],
        "tokens": (99 * first_tokens(image)).round().int().tolist(),
    }
    return f"const vitCover = {json.dumps(numbers, separators=(',', ':'))};\n"


def still(tab: Page, address: str) -> Image.Image:
    """The cover at rest, drawn by the scripts in a folder that is served."""
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
