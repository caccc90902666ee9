import torch
from torch import Tensor, nn

from vit_check.engine.drawing import normal
from vit_check.engine.modules import ModuleCheck
from vit_check.engine.reading import Sizes, Weights
from vit_check.engine.verdict import Finding


def _starts_wide(weights: Weights, sizes: Sizes) -> Finding | None:
    """Return a finding if the class token does not start small beside the patches."""
    numbers = weights["cls_token"]
    spread = numbers.square().mean().sqrt().item()
    if spread < 0.3 or numbers.numel() < 20:  # too few numbers to be sure
        return None
    return Finding(
        "wide start",
        f"starts the class token with numbers of about {spread:.2g}, which is not "
        "small beside the patches: begin with zeros or a standard deviation of 0.02",
    )


def _in_front(weights: Weights, sizes: Sizes, patches: Tensor) -> Tensor:
    cls = weights["cls_token"].expand(len(patches), -1, -1)
    return torch.cat([cls, patches], dim=1)


TABLE = """
class ClassToken(embed_dim), called with patches (B, N, D)
  192
  24
last: [cls, patches] -> [patches, cls]
    the class token comes after the patches; in ViT it is the first, at index 0
added: torch.cat([cls, patches], dim=1) -> patches + cls
    the class token is added to the patches; it is to be a token of its own, so that N
    patches become N + 1 tokens
along D: expand(len(patches), -1, -1) -> expand_as(patches)
  dim=1 -> dim=2
    the class token is joined along D: every patch is longer, and no token is added
replaces the first patch: [cls, patches] -> [cls, patches[:, 1:]]
    the class token is written over the first patch, which is lost
one image more: expand(len(patches), -1, -1) -> expand(1, patches.shape[1], -1)
  dim=1 -> dim=0
    the class token is joined along the batch, dim 0, which is what torch.cat takes when
    no dim is given: it has become one image more
? Compare shapes: N patches come in, N + 1 tokens go out. Which axis has grown?
? There is one class token, (1, 1, D), and B images: expand it to (B, 1, D), then join
  it and the patches along the axis of the tokens, the class token first.
? torch.cat([cls_token.expand(B, -1, -1), patches], dim=1), where cls_token is an
  nn.Parameter of shape (1, 1, D).
"""


class_token = ModuleCheck(
    "class_token",
    _in_front,
    TABLE,
    inputs=lambda generator, sizes: [normal(generator, 3, 5, sizes["embed_dim"])],
    more_inputs=lambda generator, sizes: [normal(generator, 2, 1, sizes["embed_dim"])],
    reading=lambda parts, sizes: (
        {"cls_token": part.value.reshape(1, 1, -1)}
        for part in parts
        if part.value.numel() == sizes["embed_dim"]
    ),
    reference=_in_front,
    package=lambda sizes: nn.ParameterDict(
        {"cls_token": torch.zeros(1, 1, sizes["embed_dim"])}
    ),
    shape="(B, 1 + N, D)",
    initial=_starts_wide,
    as_function="class_token(patches, cls_token) -> (B, 1 + N, D)",
)
