"""Sizes and counts: what the package takes for one, and that patches fill the image."""

Size = int | tuple[int, int]


def as_pair(size: Size, name: str) -> tuple[int, int]:
    """Read ``size`` as (height, width); a single number is the side of a square.

    Raises: ValueError, with the argument's name, if it is neither, or below 1.
    """
    pair = tuple(size) if isinstance(size, (tuple, list)) else (size, size)
    whole = all(isinstance(side, int) and not isinstance(side, bool) for side in pair)
    if len(pair) != 2 or not whole or min(pair) < 1:
        raise ValueError(
            f"{name}: got {size!r}, expected a positive int or a (height, width) of two"
        )
    return pair


def check_count(value: int, name: str) -> None:
    """Raise ValueError, with the argument's name, if it is no int of at least 1."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name}: got {value!r}, expected a positive int")


def check_rate(value: float, name: str) -> None:
    """Raise ValueError, with the argument's name, if it is not in [0, 1)."""
    if not 0.0 <= value < 1.0:
        raise ValueError(f"{name}: got {value}, expected 0 <= {name} < 1")


def check_heads(embed_dim: int, num_heads: int) -> None:
    """Raise ValueError if one is no count, or the heads cannot share D equally."""
    check_count(embed_dim, "embed_dim")
    check_count(num_heads, "num_heads")
    if embed_dim % num_heads:
        raise ValueError(
            f"num_heads: got {num_heads}, expected a divisor of {embed_dim = }"
        )


def patch_grid(image_size: Size, patch_size: Size) -> tuple[int, int]:
    """Rows and columns of patches in an image: (H / P, W / P).

    Raises: ValueError if the patches do not fill the image. A strided convolution would
        drop the pixels that are left over without a word; here nothing is dropped.
    """
    height, width = as_pair(image_size, "image_size")
    patch_height, patch_width = as_pair(patch_size, "patch_size")
    if height % patch_height or width % patch_width:
        raise ValueError(
            f"image_size: got {height}×{width}, expected multiples of the patch size "
            f"{patch_height}×{patch_width}; resize, crop or pad the image first"
        )
    return height // patch_height, width // patch_width
