from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from torch import Tensor, nn
from torch.nn import functional as F

from vit_check.chapters.class_token_and_position.embed_images import (
    embed_images,
    tokens_of,
)
from vit_check.chapters.class_token_and_position.position_embedding import one_too_few
from vit_check.chapters.encoder_block.encoder_block import (
    PARTS_OF_BLOCK,
    encoder_block,
    pre_norm_block,
)
from vit_check.chapters.multi_head_attention.multi_head_attention import output_of_tuple
from vit_check.chapters.vision_transformer.reading_a_model import model_readings
from vit_check.engine.check import Case, Check
from vit_check.engine.drawing import Answer, images_of
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.modules import ModuleCheck, needed_by
from vit_check.engine.observing import Record
from vit_check.engine.reading import Sizes, Weights, within
from vit_steps.vision_transformer import VisionTransformer, ViTConfig

Step = Callable[[Tensor], Tensor]


def classify(
    images: Tensor, embed: Step, blocks: Sequence[Step], norm: Step, head: Step
) -> Tensor:
    x = embed(images)  # (B, T, D)
    for block in blocks:
        x = block(x)
    x = norm(x)
    return head(x[:, 0])


_OF_WIRING = """
head on every token: x[:, 0] -> x
    the head reads every token; it is to read the class token alone
mean of the tokens: x[:, 0] -> x.mean(dim=1)
    the head reads the mean of all tokens; here it reads the class token
mean of the patches: x[:, 0] -> x[:, 1:].mean(dim=1)
    the head reads the mean of the patches; here it reads the class token
last token: x[:, 0] -> x[:, -1]
    the head reads the last token, a patch; the class token is the first, at index 0
first image: x[:, 0] -> x[0]
    x[0] is the first image with all its tokens; the class token of each is x[:, 0]
no final norm: x = norm(x) -> pass
    there is no norm after the last block
norm after every block: block(x) -> norm(block(x))
  x = norm(x) -> pass
    the final norm is used after every block; it belongs after the last one only
blocks forget: in blocks -> in blocks[-1:]
    only one block takes part in the result, as if every block read the tokens of the
    embedding; each should read what the block before it returned
blocks in reverse: in blocks -> in blocks[::-1]
    the blocks run from the last to the first
first block twice: in blocks -> in [blocks[0], *blocks]
    the first block runs twice
norm before the blocks: x = embed(images) -> x = norm(embed(images))
  x = norm(x) -> pass
    the final norm comes before the blocks; it belongs after the last one
norm after every block and at the end: block(x) -> norm(block(x))
    the final norm is used after every block; it belongs after the last one only
first patch: x[:, 0] -> x[:, 1]
    the head reads token 1, the first patch; the class token is the first, at index 0
one block every time: block(x) -> blocks[-1](x)
    the same block runs every time, and the others never do
residual around the blocks: block(x) -> x + block(x)
    x is added around each block once more; the residuals are inside the block
softmax at the end: head(x[:, 0]) -> head(x[:, 0]).softmax(dim=-1)
    there is a softmax after the head; the logits are returned as they are, because the
    loss takes the softmax itself
log-softmax at the end: head(x[:, 0]) -> head(x[:, 0]).log_softmax(dim=-1)
    there is a log-softmax after the head; the logits are returned as they are
"""


def model(weights: Weights, sizes: Sizes, images: Tensor) -> Tensor:
    """Return the logits of a model with these weights; its source can be edited."""

    def norm(x: Tensor) -> Tensor:
        scale, shift = weights["norm.weight"], weights["norm.bias"]
        return F.layer_norm(x, x.shape[-1:], scale, shift, 1e-6)

    blocks = [
        partial(pre_norm_block, within(weights, f"blocks.{number}."), sizes)
        for number in range(sizes["depth"])
    ]
    embed = partial(tokens_of, weights, sizes)
    head = weights["head.weight"], weights["head.bias"]
    return classify(images, embed, blocks, norm, lambda x: F.linear(x, *head))


_OF_MODEL = """\
eps 1e-5: weight, bias, 1e-6 -> weight, bias, 1e-5
  shift, 1e-6 -> shift, 1e-5
    the norms' eps is 1e-5, PyTorch's default; the Vision Transformer's is 1e-6
eps 1e-5 in the final norm: shift, 1e-6 -> shift, 1e-5
    the final norm's eps is 1e-5, PyTorch's default; the Vision Transformer's is 1e-6
class token alone: B, T, D = x.shape -> x = x.transpose(0, 1); B, T, D = x.shape
  return joined @ -> joined = joined.transpose(0, 1); return joined @
    the class token meets none of the patches, so that every image gets the same logits:
    attention runs over the batch, as with batch_first=False, or a causal mask hides
    what comes after it
class token last: [cls, patches] -> [patches, cls]
  x[:, 0] -> x[:, -1]
    the class token gets the last row of the positions, as if it came after the patches;
    it belongs first, with row 0, as in every checkpoint
class token last, first read: [cls, patches] -> [patches, cls]
    the class token comes last, and a patch is read at index 0; put it first
"""

_USUAL = (
    "class token without position | positions before the class token | post-norm | "
    "positions added twice | one head | patches down the columns | no residual | "
    "ReLU | view instead of transpose | residual from the normed x | tanh GELU"
).split(" | ")

_PARTS = (*PARTS_OF_BLOCK, pre_norm_block, tokens_of, classify)


def _callables_for_model(answer: Answer, images: Tensor, *learned: Any) -> Any:
    columns, positions, mixing, norm, head = learned

    def mixing_block(matrix: Tensor) -> Step:
        return lambda x: x + (x.mean(dim=1, keepdim=True) + x @ matrix).tanh()

    return answer(
        images,
        lambda images: images.flatten(2).mT @ columns + positions,  # (B, T, D)
        [mixing_block(matrix) for matrix in mixing],
        lambda x: F.layer_norm(x, x.shape[-1:], *norm),
        lambda x: F.linear(x, *head),
    )


class _ModelCheck(ModuleCheck):
    """Check of a model, whose class may take a config instead of the sizes."""

    def form_for(self, answer: Any) -> Check:
        if isinstance(answer, (type, nn.Module)) or self.function is None:
            return self
        needed = needed_by(answer)
        if len(needed) == 5 and not set(needed) & set(self.sizes):
            return self.function
        return self

    def observe(self, answer: Any, case: Case) -> Record:
        if not isinstance(answer, nn.Module) and len(needed_by(answer)) == 1:
            answer = _taking_sizes(answer)
        return super().observe(answer, case)


def _taking_sizes(answer: Any) -> Any:
    """Wrap a class or factory so that it takes sizes instead of a config."""
    if not isinstance(answer, type):
        return lambda **sizes: answer(ViTConfig(**sizes))

    def __init__(self: Any, **sizes: Any) -> None:
        answer.__init__(self, ViTConfig(**sizes))  # type: ignore[misc]

    return type(answer.__name__, (answer,), {"__init__": __init__})


_HINTS = """
? Write the shape after every line, from (B, C, H, W) to (B, K). In which line do 196 of
  197 tokens go, and which one stays?
? Patches, class token in front, positions on all T tokens, L blocks one after the
  other, one norm, row 0 of each image, one linear layer.
? x = torch.cat([cls, patches], dim=1) + pos; for block in blocks: x = block(x); return
  head(norm(x)[:, 0]).
"""

_LEFT_OUT = """
first block left out: in blocks -> in blocks[1:]
    one block does not run, the first of those that are there
last block left out: in blocks -> in blocks[:-1]
    one block does not run, the last of those that are there
first block alone: in blocks -> in blocks[:1]
    only the first block runs: does a return stand inside the loop?"""

_OF_STEPS = """
vision_transformer(images, embed, blocks, norm, head) -> (B, K)
  float64(4, 3, 2, 5), float64(3, 6), float64(10, 6), [*(float64(3, 6, 6) / 2.4)],
    [1 + 0.3 * float64(6), 0.5 * float64(6)], [float64(7, 6) / 2.4, float64(7)]
  float64(3, 2, 3, 4), float64(2, 5), float64(12, 5), [*(float64(2, 5, 5) / 2.2)],
    [1 + 0.3 * float64(5), 0.5 * float64(5)], [float64(8, 5) / 2.2, float64(8)]"""

_BUILT = """
class VisionTransformer(image_size, patch_size, in_channels, num_classes, embed_dim,
    depth, num_heads, mlp_ratio=4.0), called with images (B, C, H, W)
  24, 8, 3, 11, 14, 3, 2, 5.25
  16, 4, 2, 7, 12, 2, 3, 6"""

vision_transformer = _ModelCheck(
    "vision_transformer",
    model,
    _BUILT + _OF_WIRING + _OF_MODEL + _HINTS,
    inputs=lambda generator, sizes: [0.1 * images_of(sizes, generator, 4)],
    reading=model_readings,
    package=lambda sizes: VisionTransformer(ViTConfig(**sizes)),
    parts=_PARTS,
    borrowed=[r for r in embed_images.rows + encoder_block.rows if r.name in _USUAL],
    shape="(B, K)",
    lacking=one_too_few,
    tried=10,
    # Small tokens, so that the eps of the last norm matters.
    widths={"vectors": 0.05, "matrices": 0.3},
    as_function=FunctionCheck(
        classify,
        _OF_STEPS + _LEFT_OUT + _OF_WIRING + _HINTS,
        batched=(0,),
        scenario=_callables_for_model,
    ),
    normalize=output_of_tuple,
    output_alone=True,
)
