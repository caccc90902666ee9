from typing import Any

import torch

from vit_check.chapters.pretrained_weights.fold_normalization import fold_normalization
from vit_steps.checkpoint import read_checkpoint
from vit_steps.pretrained import config_of
from vit_steps.vision_transformer import VisionTransformer, ViTConfig

STRANGE = ViTConfig(
    224, 14, num_classes=40, embed_dim=320, depth=9, num_heads=5, mlp_ratio=2.75
)


def told() -> dict[str, Any]:
    """Return the sizes that the shapes of the strange file show."""
    with torch.device("meta"):
        state = VisionTransformer(STRANGE).state_dict()
    config = config_of(state)
    return {
        "embed_dim": config.embed_dim,
        "depth": config.depth,
        "hidden": int(config.mlp_ratio * config.embed_dim),
        "patch_size": config.patch_size,
        "image_size": config.image_size,
        "num_classes": config.num_classes,
    }


MISREAD = {
    ("depth", 8): "is off by one: the blocks are numbered from 0",
    ("hidden", 960): "is read off qkv, which has 3·D rows; the MLP's first layer is "
    "mlp.fc1",
    ("hidden", 320): "is D; M is the other length of the MLP's two weights",
    ("hidden", 2.75): "is the ratio M / D; M itself is asked for",
    ("image_size", 16): "is the number of patches along a side; it is asked for in "
    "pixels",
    ("image_size", 256): "is the number of patches; it is asked for in pixels along a "
    "side",
    ("image_size", 257): "is the number of tokens; it is asked for in pixels along a "
    "side",
    ("patch_size", 196): "is the pixels of a whole patch; it is asked for along a side",
    ("num_classes", 320): "is read off the columns of the head; a weight is (out, in)",
}


def wrong_size(given: Any) -> str | None:
    right = told()
    if not isinstance(given, dict):
        return f"is to be a dictionary with the keys {', '.join(right)}"
    for name in [*right, *given]:
        if name not in given:
            return f"has no key {name!r}"
        if name not in right:
            return f"has a key {name!r} that is not asked for"
    for name, value in given.items():
        if isinstance(value, list) and len(set(map(str, value))) == 1:
            return f"has more than one number for {name}; one side is enough"
        if value != right[name]:
            why = "is not what the shapes say"
            if isinstance(value, int | float):
                why = MISREAD.get((name, value), why)
            return f"has a wrong {name}: it {why}"
    return None


TOLD_BY = {
    "a": "q, k and v have D rows each, however many heads share D",
    "b": "the first layer of the MLP has M rows",
    "c": "eps is a small number that is added under a root",
    "d": "look at patch_embed.proj.weight",
    "e": "it is a matter of the images, not of the model",
    "f": "a GELU has no parameters at all",
}


def wrong_letter(given: Any) -> str | None:
    words = isinstance(given, list) and all(isinstance(item, str) for item in given)
    letters = "".join(given) if words else given
    found = set(letters.casefold()) - set(" ,.;") if isinstance(letters, str) else {""}
    if not found <= set(TOLD_BY):
        return "is to be letters from a to f in one word, such as 'ab'"
    for letter in "bd":
        if letter in found:
            return f"has one too many: {TOLD_BY[letter]}"
    missing = [letter for letter in "caef" if letter not in found]
    return f"lacks at least one: {TOLD_BY[missing[0]]}" if missing else None


def folded() -> list[float]:
    one = torch.ones(1, dtype=torch.float64)
    weight, bias = fold_normalization.reference(
        0.2 * one.reshape(1, 1, 1, 1), 0.1 * one, 0.5 * one, 0.5 * one
    )
    return [round(weight.item(), 9), round(bias.item(), 9)]


QUESTIONS = """
told_by_shapes: what the shapes say: embed_dim, depth, hidden, patch_size, image_size
    and num_classes, by these names
  accept wrong_size
  ? A linear layer's weight is (out, in), a convolution's is (out, in, rows, columns).
    Start with patch_embed.proj.weight.
  ? The positions are 1 + N: take the class token away, and N is rows times columns of
    the grid. The blocks are numbered from 0.
  ? 256 patches are a grid of 16 × 16, and a patch has 14 pixels along a side.
not_told_by_shapes: the letters of what no shape tells, such as 'ab'
  accept wrong_letter
  ? Imagine two models that differ in one letter. Would any tensor have another shape?
  ? A number of heads only cuts up D, an eps is added inside a norm, a GELU has no
    parameters, and images are prepared before the model sees them.
  ? Four of the six: all but the two that are read off mlp.fc1 and patch_embed.proj.
row_of_a_key: the row of attn.qkv.weight that makes number 5 of head 2's keys
  = int(torch.arange(3 * 96).reshape(3, 96 // 16, 16)[1, 2, 5])
  37: that row makes a query: the keys come after all D of those
  229: that row makes a value: the keys are the second third
  117: that would be right if each head had its q, k and v together; all q come first
  102: the numbers of a head are counted from 0
  85: head 2 is the third: two heads come before it
  ? First: which rows belong to queries, which to keys?
  ? D rows of queries come first. Then the keys, head by head, D / h rows each.
  ? 96 + 2 · 16 + 5.
nan_comparisons: two truth values: of nan > 1e-5 and of nan <= 1e-5
  = (math.nan > 1e-5, math.nan <= 1e-5)
  (True, False): NaN is not larger than anything: no comparison with it by > is true
  (False, True): NaN is not smaller than anything either
  (True, True): it cannot be both larger and not larger
  ? NaN is what comes out of 0/0. Is it larger than 1?
  ? By the standard, every comparison with NaN by <, <=, >, >= or == gives the same.
  ? Type float('nan') > 0 into a cell.
folded_by_hand: the new weight and the new bias, in a tuple
  = folded()
  (0.4, 0.0): the bias is that of the old weight; the mean is divided as well
  (0.4, 0.1): the weight is right; the mean moves the bias as well
  (0.4, 0.3): the weight is right; the mean is subtracted, not added
  (0.2, 0.1): neither has changed: divide the pixel by the standard deviation and
    subtract the mean, and both do
  (0.1, 0.05): the pixel is divided by the standard deviation, so the weight is too
  (0.2, 0.0): the standard deviation is left out
  (0.4, -0.2): the old bias is lost: the mean's share is added to it
  ? Put (x - 0.5) / 0.5 in the place of the pixel and multiply out.
  ? 0.2 · (x - 0.5) / 0.5 + 0.1: what is x multiplied by, and what is left when x is 0?
  ? 0.2 / 0.5, and 0.1 - 0.2 · 0.5 / 0.5.
shares_by_heads: the share of pictures read right, by number of heads
  accept numbers("1", "2", "4", "8", "16", low=0, high=1)
  if max(given.values()) < 0.85: reads too few pictures right with every number of
    heads: are the weights loaded, the model in eval mode, the pictures prepared?
  if max(given.values()) - sorted(given.values())[-2] < 0.03: has nearly the same share
    for two numbers of heads: is the model built with the loop's number?
  if min(given.values()) > 0.75: finds the worst number of heads nearly as good as the
    best: is it the number of heads that is changed, and nothing else?
  ? Build a model with each number of heads, load the same weights into each, and count
    how many of its answers are the labels.
  ? replace(config, num_heads=h) makes the configuration, and the weights fit each.
  ? model = VisionTransformer(replace(config, num_heads=h)).eval(); load_weights(model,
    weights); (model(pictures).argmax(1) == labels).float().mean().item()
heads_of_the_file: the number of heads that the weights were trained with
  = int(read_checkpoint("cluttered-digits")[1]["config"]["num_heads"])
  1: with one head this file is worst of all
  8: near, but not the best of the five
  2: with so few heads a good third of the pictures is read wrong
  16: with so many heads two pictures in five are read wrong
  ? Which of the five numbers reads most pictures right?
  ? max(shares, key=shares.get)
  ? It is neither the smallest nor the largest of the five, and D / h is 16.
"""
