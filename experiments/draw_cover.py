"""Draw the cover, book/_assets/cover.webp: a photograph on its way into the model.

    python -m experiments.draw_cover

On the left the photograph comes apart into its 196 patches, each on its way to its row
in the sequence. The sequence stands in the middle, the class token framed on top, a row
of numbers a token, as the book's embedding gives them. On the right one patch attends
to all by colour, as in chapter 4: the more weight a patch has, the more of it is there
to see. Nothing is trained, and nothing is drawn that was not computed.
"""

from pathlib import Path

import numpy as np
import torch
from PIL import Image, ImageDraw
from torch import Tensor

from vit_steps import ViTEmbedding, data, patchify, scaled_dot_product_attention

TARGET = Path(__file__).parents[1] / "book" / "_assets" / "cover.webp"
PHOTO = "cat"
ASKING = 6 * 14 + 10  # the patch that attends: a part of one eye
STEEPNESS = 0.6  # of the softmax over the products of colours
GRID, SIDE = 14, 32  # patches a line, and their pixels here
DETAIL = 2  # drawn so many times as large, then reduced
SIZE = (1376, 520)
TOP = (SIZE[1] - GRID * SIDE) // 2
TOKENS_LEFT, NUMBERS, NUMBER_WIDTH, TOKEN_HEIGHT = 648, 12, 8, 2.5
RIGHT = SIZE[0] - GRID * SIDE - 4
BLUE, WHITE, ORANGE = (0, 114, 178), (236, 240, 243), (230, 159, 0)


def colour_attention(image: Tensor) -> Tensor:
    """The weights (N,) with which the asking patch attends to all, by their colours."""
    colours = patchify(image[None], 16)[0].unflatten(1, (3, -1)).mean(2)  # (N, 3)
    directions, _, _ = torch.linalg.svd(colours - colours.mean(0), full_matrices=False)
    # the three directions of colour count alike, however much brown there is
    tokens = (STEEPNESS * len(colours)) ** 0.5 * directions[None]
    query = tokens[:, ASKING : ASKING + 1]
    _, weights = scaled_dot_product_attention(query, tokens, tokens)
    return weights[0, 0]


def first_tokens(image: Tensor) -> Tensor:
    """The first numbers of every token, (T, NUMBERS), between -1 and 1."""
    torch.manual_seed(0)
    embedding = ViTEmbedding(224, 16, in_channels=3, embed_dim=192)
    with torch.no_grad():
        tokens = embedding(data.normalize(image[None]))[0, :, :NUMBERS]
    return (tokens / tokens.abs().quantile(0.98)).clamp(-1, 1)


def tint(number: float) -> tuple[int, ...]:
    """Blue below zero, orange above, pale at it."""
    end = ORANGE if number > 0 else BLUE
    share = abs(number) ** 0.7
    return tuple(round(w + share * (e - w)) for w, e in zip(WHITE, end, strict=True))


def token_top(index: int) -> float:
    """Where a token's row begins; the class token's stands apart."""
    return SIZE[1] / 2 + (index - 98.5) * TOKEN_HEIGHT - (8 if index == 0 else 0)


def draw_patches_leaving(canvas: Image.Image, pixels: Image.Image) -> None:
    """From left to right the patches are further on their way, and smaller."""
    for index in range(GRID * GRID):
        row, column = divmod(index, GRID)
        way = max(0.0, (column - 5.5) / (GRID - 5.5)) ** 2.2  # 0 in place, 1 arrived
        x = column * SIDE + way * (TOKENS_LEFT - 34 - column * SIDE)
        y = TOP + row * SIDE
        y += way * (token_top(index + 1) - y)
        side = SIDE - min(1, column / 4) - way * (SIDE - 13)
        box = (column * SIDE, row * SIDE, (column + 1) * SIDE, (row + 1) * SIDE)
        patch = pixels.resize(
            (round(side * DETAIL),) * 2, Image.Resampling.BICUBIC, box=box
        )
        place = (round(x * DETAIL), round((y + (SIDE - side) / 2 * (1 - way)) * DETAIL))
        canvas.paste(patch, place)


def draw_tokens(draw: ImageDraw.ImageDraw, tokens: Tensor) -> None:
    for index, token in enumerate(tokens.tolist()):
        top = token_top(index) * DETAIL
        height = (TOKEN_HEIGHT if index else 6) * DETAIL
        for place, number in enumerate(token):
            left = (TOKENS_LEFT + place * NUMBER_WIDTH) * DETAIL
            box = (left, top, left + NUMBER_WIDTH * DETAIL - 1, top + height - 1)
            draw.rectangle(box, fill=tint(number))
    left, top = TOKENS_LEFT * DETAIL, token_top(0) * DETAIL
    frame = (left - 4, top - 4, left + NUMBERS * NUMBER_WIDTH * DETAIL + 3, top + 15)
    draw.rectangle(frame, outline=ORANGE, width=3)


def draw_attention(canvas: Image.Image, pixels: Image.Image, weights: Tensor) -> None:
    """Lines from the asking token to where its weight goes, and what is lit by it."""
    light = (weights / weights.max()).sqrt().reshape(GRID, GRID)
    lines = Image.new("RGBA", canvas.size)
    draw = ImageDraw.Draw(lines)
    tokens_right = TOKENS_LEFT + NUMBERS * NUMBER_WIDTH
    start = (tokens_right * DETAIL, (token_top(ASKING + 1) + 1) * DETAIL)
    for index in light.flatten().argsort().tolist():
        row, column = divmod(index, GRID)
        end = (
            (RIGHT + (column + 0.5) * SIDE) * DETAIL,
            (TOP + (row + 0.5) * SIDE) * DETAIL,
        )
        strength = light[row, column].item()
        draw.line((start, end), (*ORANGE, round(230 * strength**2)), 4)
    canvas.alpha_composite(lines)
    lit = pixels.convert("RGBA")
    alpha = (0.15 + 0.85 * light).kron(torch.ones(SIDE, SIDE))
    alpha[::SIDE] = alpha[:, ::SIDE] = 0  # the cuts
    lit.putalpha(Image.fromarray((255 * alpha).byte().numpy()))
    lit = lit.resize([DETAIL * side for side in lit.size], Image.Resampling.BICUBIC)
    canvas.alpha_composite(lit, (RIGHT * DETAIL, TOP * DETAIL))
    row, column = divmod(ASKING, GRID)
    corner = ((RIGHT + column * SIDE) * DETAIL, (TOP + row * SIDE) * DETAIL)
    frame = (*corner, corner[0] + SIDE * DETAIL, corner[1] + SIDE * DETAIL)
    ImageDraw.Draw(canvas).rectangle(frame, outline=ORANGE, width=3 * DETAIL)


def main() -> None:
    large = data.photo(PHOTO, GRID * SIDE)  # for the eye; the model reads 224×224
    pixels = Image.fromarray(
        (255 * large).byte().permute(1, 2, 0).numpy().astype(np.uint8)
    )
    image = data.photo(PHOTO, 224)
    canvas = Image.new("RGBA", (SIZE[0] * DETAIL, SIZE[1] * DETAIL))
    draw_patches_leaving(canvas, pixels)
    draw_tokens(ImageDraw.Draw(canvas), first_tokens(image))
    draw_attention(canvas, pixels, colour_attention(image))
    canvas.resize(SIZE, Image.Resampling.LANCZOS).save(TARGET, quality=78, method=6)
    print(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
