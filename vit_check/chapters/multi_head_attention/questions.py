from vit_steps.cost import token_count
from vit_steps.vision_transformer import ViTConfig

BATCH = 8


def of_vit_small() -> tuple[int, int, int, int]:
    """Return D, h, d and T of ViT-S/16 at 224 pixels."""
    config = ViTConfig.small()
    D, h = config.embed_dim, config.num_heads
    return D, h, D // h, token_count(config.image_size, config.patch_size) + 1


def shape_of_q(num_tokens: int | None = None) -> tuple[int, ...]:
    _, h, d, T = of_vit_small()
    return BATCH, h, num_tokens or T, d


def row(part: int, head: int, number: int) -> int:
    """Return a row of qkv.weight in ViT-S/16; parts 0, 1 and 2 are q, k and v."""
    D, _, d, _ = of_vit_small()
    return part * D + head * d + number


def parameters(D: int, q: int, k: int, v: int, biases: bool = True) -> int:
    """Count an attention layer's parameters, with q, k and v numbers in all heads."""
    return sum(D * outs + biases * outs for outs in (q, k, v, D))


QUESTIONS = """
shape_of_q_in_vit_small: the shape of q where it is compared with k, as a tuple
  = shape_of_q()
  (BATCH, of_vit_small()[3], 6, 64): h and T have not changed places yet: each head
    should have a (T, d) table
  shape_of_q(token_count(224, 16)): the class token is a token too
  (BATCH, 6, 197, 384): a query of one head has d = D/h numbers
  (BATCH, 12, 197, 32): twelve heads are ViT-B's; ViT-S has fewer
  (BATCH, 197, 384): that is q before it is split into heads
  (6, BATCH, 197, 64): the batch comes before the heads
  (BATCH, 6, 64, 197): that is k with its last axes swapped; q has a row for each token
  ? Four letters: (B, h, T, d). Which of them are in the text, which follow?
  ? T counts the 16×16 patches of a 224×224 image, and the class token. d is D/h.
  ? T = 14 · 14 + 1, d = 384 / 6.
shape_of_weights_in_vit_small: the shape of the weights of all heads, as a tuple
  = (BATCH, of_vit_small()[1], of_vit_small()[3], of_vit_small()[3])
  (BATCH, 6, 197, 64): that is q; there should be a column for each key
  (BATCH, 6, 196, 196): the class token looks and is looked at too
  (BATCH, 197, 197): that is one table for all heads
  (BATCH, 12, 197, 197): twelve heads are ViT-B's; ViT-S has fewer
  (BATCH, 6, 64, 64): attention is between tokens, not numbers
  (BATCH, 197, 6, 6): that is attention among the heads of one token
  ? For each image and head, a table. What are its rows and columns?
  ? A row for each query, a column for each key.
  ? (B, h, T, T).
row_of_a_key_in_qkv: the row of qkv.weight, counted from 0
  = row(1, 4, 3)
  row(0, 4, 3): that is the query's row; all rows of q come first
  row(2, 4, 3): that is the value's row
  row(1, 4, 3) + 1: that is counted from 1
  row(1, 3, 3): head 4 is the fifth: heads are counted from 0
  row(1, 5, 3): four heads come before head 4, and not five
  4 * 3 * 64 + 64 + 3: that is the row if each head kept its own q, k and v together
  row(1, 0, 4 * 6 + 3): a head has d rows, not h
  row(1, 0, 3 * 6 + 4): number and head are the wrong way round
  ? The rows are read as (3, h, d): first q, k or v, then which head, then which number.
  ? First all D rows of q, then those of k, where heads 0 to 3 come first.
  ? 1 · 384 + 4 · 64 + 3.
parameters_with_shared_keys_and_values: the number of parameters, biases included
  = parameters(768, 768, 64, 64)
  parameters(768, 768, 768, 768): in that layer each head has keys and values of its own
  parameters(768, 768, 64, 64, False): the biases are missing
  parameters(768, 768, 64, 768): the values are shared as well as the keys
  parameters(768, 64, 64, 64): the queries are not shared: each head has its own
  parameters(768, 768, 64, 64) - 768 * 768 - 768: the output projection is missing
  ? Four linear layers: how many numbers does each put out?
  ? Queries and projection put out D numbers, keys and values d each.
  ? 2 · (D² + D) + 2 · (D·d + d).
factor_of_kept_keys_and_values: by what the memory for keys and values is divided
  = 768 // 64
  24: keys and values shrink by the same factor; two do not add up
  1 / 12: that is the share that is left; the factor is its inverse
  144: the number of heads counts once, not squared
  64: that is d; compare how many numbers there were with d
  2: each of the two is fewer by more than that
  ? How many numbers of keys does a token have in all its heads together?
  ? There were D of them before, and now there are d.
  ? D / d, which is h.
axis_that_sums_to_one: an axis of (B, h, T, T), counted from 0
  = 1
  3 or -1: that is the axis that should sum to 1; look which one does
  2 or -2: that would be the queries; sum the weights and look
  0: that would be the batch; sum the weights and look
  -3: that is the axis, counted from the back: count it from 0
  ? Take the weights' sum over each axis in turn, and look for ones.
  ? The softmax makes the numbers along its axis sum to 1. Which axis is its dim?
  ? The line with softmax(dim=1).
losses_by_number_of_heads: three numbers: the mean of the last losses with one, two and
    three heads
  accept numbers(3)
  if not all(0 <= loss < 2 for loss in given): holds a number that is below 0 or above
    2, and answering zero costs about 1: are the gradients cleared before each step?
  if not given[0] > given[1] > given[2]: does not fall from one head to three: train
    each from a fresh layer
  if given[0] < 0.3: is too small for one head: it cannot keep three tokens apart
  if given[2] > 0.1: is too large for three heads: train 300 steps
  ? Build a fresh layer for each number of heads, with the same seed.
  ? Three hundred steps of Adam at 0.02; keep loss.item() of each step.
  ? sum(losses[-50:]) / 50 for each of the three.
"""
