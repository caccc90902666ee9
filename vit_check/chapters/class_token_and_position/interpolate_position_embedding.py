from vit_check.engine.functions import FunctionCheck
from vit_steps.embedding import interpolate_position_embedding as right_interpolation

TABLE = """
interpolate_position_embedding(pos_embed, grid_size) -> (1, 1 + rows·columns, D)
  float32(1, 1 + 3 * 3, 6), (3, 7)
  float64(1, 1 + 5 * 5, 4), (2, 5)
  float32(1, 1 + 4 * 4, 8), (2, 8)  # as many patches as before
  float32(1, 1 + 3 * 3, 5), (3, 3)
as they were: (rows, columns) == (old_rows, old_columns) -> rows * columns == places
    positions come back unchanged whenever the new grid has as many patches as the old:
    4×4 and 2×8 both have 16, but they are different grids
class token resized
  = lambda pos, grid: F.interpolate(pos.mT, 1 + math.prod(grid), mode="linear").mT
    the class token is resized with the patches, along the line of tokens: it has no
    place in the grid, and its row is left as it is
rows and columns swapped: as_image, (rows, columns) -> as_image, (columns, rows)
    rows and columns of the new grid are swapped: grid_size is (rows, columns)
view instead of permute: reshape(1, old_rows, old_columns, -1).permute(0, 3, 1, 2)
  -> reshape(1, -1, old_rows, old_columns)
    D is brought in front of the grid by a view, which cuts the positions to pieces: lay
    them out as (1, rows, columns, D), then permute
not moved back: flatten(2).transpose(1, 2) -> reshape(1, rows * columns, -1)
    D is not moved back before the grid is flattened: each row holds pieces of several
no antialias: , antialias=True -> nothing
    antialias=True is missing: without it PyTorch uses a different cubic, and skips
    positions when the grid shrinks
scale: as_image, (rows, columns),
  -> as_image, None, ((rows + 0.1) / old_rows, (columns + 0.1) / old_columns),
    the factors are those of a size that is larger by 0.1, as in DINO: give the new size
bilinear: mode="bicubic", antialias=True -> mode="bilinear"
    the positions are resized bilinearly, expected bicubic
nearest: mode="bicubic", antialias=True -> mode="nearest"
    each new position is a copy of the nearest old one, which is what F.interpolate does
    unless a mode is given; expected bicubic
corners aligned: antialias=True -> antialias=True, align_corners=True
    align_corners puts the middles of the corner patches on one another; a patch is an
    area, and it is the edges of the image that coincide
? Which row has no place in the grid? Write down each shape; D is never resized.
? Take row 0 off. Lay the others out as (1, rows, columns, D), move D to where an image
  has its channels, resize, and go the same way back.
? image = pos_embed[:, 1:].reshape(1, side, side, -1).permute(0, 3, 1, 2);
  F.interpolate(image, grid_size, mode="bicubic", antialias=True);
  .flatten(2).transpose(1, 2); torch.cat with pos_embed[:, :1].
"""

interpolate_position_embedding = FunctionCheck(right_interpolation, TABLE)
