from collections.abc import Iterator, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from vit_check.engine.drawing import images_of
from vit_check.engine.modules import ModuleCheck
from vit_check.engine.reading import Part, Sizes, Weights, as_filters
from vit_check.engine.table import mistakes
from vit_steps.patch_embedding import PatchEmbedding, patchify


def _embedding_readings(parts: Sequence[Part], sizes: Sizes) -> Iterator[Weights]:
    """Yield a weight for each order in which a linear layer may flatten patches.

    A convolution's weight has only one order. There may be nothing beside the weight
    and a bias, but the weight may be in as many parts as there are channels.
    """
    C, P, D = sizes["in_channels"], sizes["patch_size"], sizes["embed_dim"]
    weights = [p for p in parts if p.value.squeeze().ndim > 1]
    others = [p for p in parts if p.value.squeeze().ndim <= 1]
    biased = [p for p in others if p.value.numel() == D]
    if not weights or len(biased) != len(others) or len(biased) > 1:
        return
    bias = biased[0].value.flatten() if biased else weights[0].value.new_zeros(D)
    if len(weights) == 1:
        for weight in as_filters(weights[0], D, (C, P, P)):
            yield {"proj.weight": weight, "proj.bias": bias}
    elif len(weights) == C:  # one for each channel; their outputs are added
        each = (as_filters(weight, D, (1, P, P)) for weight in weights)
        for filters in zip(*each, strict=False):
            yield {"proj.weight": torch.cat(filters, dim=1), "proj.bias": bias}


def by_matrix(weights: Weights, sizes: Sizes, images: Tensor) -> Tensor:
    weight, bias = weights["proj.weight"], weights["proj.bias"]
    patches = patchify(images, sizes["patch_size"])
    return patches @ weight.flatten(1).T + bias


def by_convolution(weights: Weights, sizes: Sizes, images: Tensor) -> Tensor:
    weight, bias = weights["proj.weight"], weights["proj.bias"]
    maps = F.conv2d(images, weight, bias, stride=sizes["patch_size"])
    return maps.flatten(2).transpose(1, 2)


TABLE = """
class PatchEmbedding(image_size, patch_size, in_channels, embed_dim), called with images
    (B, C, H, W)
  24, 4, 3, 10
  18, 6, 2, 16
flatten order: 2, 4, 1, 3, 5 -> 2, 4, 3, 5, 1
    the patches are flattened (P, P, C) and the weight (C, P, P): numbers of a
    patch meet weights that are meant for others
weight reshaped: weight.flatten(1).T -> weight.reshape(-1, len(weight))
    the weight is not transposed: flattened it is (D, C·P·P), and its two axes are to be
    swapped, which a reshape to (C·P·P, D) does not do
view instead of cutting: x.permute(0, 2, 4, 1, 3, 5) -> images
    the image is viewed as (B, N, C·P·P) and not cut: each row holds lines of the image,
    from its left edge to its right, and no square
? Write the shape after every line. Which axis holds the patches?
? Either patchify and one nn.Linear from C·P·P to D, or an nn.Conv2d whose window and
  stride are both P, its grid flattened, and D moved to the end.
? self.proj = nn.Conv2d(in_channels, embed_dim, patch_size, stride=patch_size); then
  self.proj(images).flatten(2).transpose(1, 2).
"""

OF_MAPS = """
reshaped instead of transposed: transpose(1, 2) -> reshape(len(maps), -1, len(weight))
    (B, D, rows, columns) is reshaped to (B, N, D): the shape fits, and a vector holds
    one output of many patches; flatten the grid, then swap the last two axes
rows and columns swapped: maps.flatten(2) -> maps.mT.flatten(2)
    the patches run down the columns: vector 1 belongs to the patch right of patch 0
stride left out: , stride=sizes["patch_size"] -> nothing
    the window moves by one pixel, so that patches overlap: the stride should be P
activation: transpose(1, 2) -> transpose(1, 2).relu()
    the vectors go through a ReLU; a patch goes through one matrix and nothing else
gelu: maps.flatten -> F.gelu(maps).flatten
    the vectors go through a GELU; a patch goes through one matrix and nothing else
bias unused: weight, bias, stride -> weight, None, stride
    the bias is there but never added
"""


patch_embedding = ModuleCheck(
    "patch_embedding",
    by_matrix,
    TABLE,
    inputs=lambda generator, sizes: [images_of(sizes, generator)],
    reading=_embedding_readings,
    package=lambda sizes: PatchEmbedding(**sizes),
    parts=[patchify],
    more=mistakes(by_convolution, OF_MAPS),
    shape="(B, N, D)",
    as_function="patch_embedding(images, weight, bias, patch_size) -> (B, N, D), the "
    "weight (D, C, P, P) as a convolution's",
    without=["conv"],
)
