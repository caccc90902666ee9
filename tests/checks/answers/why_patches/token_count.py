import numpy as np
import torch

import vit_steps
from tests.checks.answers import right, wrong_edits

right(vit_steps.token_count)


def with_tensors(image_size, patch_size):
    image = torch.tensor(image_size).expand(2)
    patch = torch.tensor(patch_size).expand(2)
    if (image % patch).any():
        raise ValueError(f"{image} is no multiple of {patch}")
    return (image // patch).prod()


def _pair(size):
    return size if isinstance(size, tuple) else (size, size)


def with_numpy(image_size, patch_size):
    image, patch = np.broadcast_to(image_size, 2), np.broadcast_to(patch_size, 2)
    if np.any(image % patch):
        raise ValueError(f"patch {tuple(patch)} does not divide image {tuple(image)}")
    return np.prod(image // patch)


def with_recursion(image_size, patch_size):
    if isinstance(image_size, int):
        return with_recursion((image_size, image_size), patch_size)
    if isinstance(patch_size, int):
        return with_recursion(image_size, (patch_size, patch_size))
    if [n for n, p in zip(image_size, patch_size, strict=True) if n % p]:
        raise ValueError(f"image_size={image_size}, patch_size={patch_size}")
    return len(range(0, image_size[0], patch_size[0])) * (
        image_size[1] // patch_size[1]
    )


@wrong_edits("""
no error: H % p or W % q -> H > p and H % p or W > q and W % q
no error: raise -> return
    "… returns ValueError('600… for image_size=600, patch_size=16: these patches …"
sizes not named: ValueError(f"{H}x{W} is no multiple of {p}x{q}") -> ValueError
raises: H % p or W % q -> True
    refuses everything
raises: H % p or W % q -> p % H or q % W
width not checked: H % p or W % q -> H % p
height not checked: H % p or W % q -> W % q
area divided: H % p or W % q -> False
  (H // p) * (W // q) -> H * W // (p * q)
rest dropped: H % p or W % q -> False
no ints: _pair(image_size), _pair(patch_size) -> image_size, patch_size
patch sides swapped and checked: (p, q) = -> (q, p) =
float: (H // p) * (W // q) -> (H / p) * (W / q)
none: return (H // p) * (W // q) -> print((H // p) * (W // q))
class token counted: (W // q) -> (W // q) + 1
one side: H % p or W % q -> False
  * (W // q) -> nothing
divided once: H % p or W % q -> False
  (H // p) * (W // q) -> H * W // p
assert: if H % p or W % q: raise ValueError(f"{H}x{W} is no multiple of {p}x{q}")
  -> assert H % p == 0 and W % q == 0, "image must be divisible by patch"
no pairs: (H, W), (p, q) = _pair(image_size), _pair(patch_size)
  -> H = W = image_size; p = q = patch_size
""")
def by_sides(image_size, patch_size):
    (H, W), (p, q) = _pair(image_size), _pair(patch_size)
    if H % p or W % q:
        raise ValueError(f"{H}x{W} is no multiple of {p}x{q}")
    return (H // p) * (W // q)
