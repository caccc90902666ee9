from vit_steps.cost import attention_cost, token_count

SIDE = 14  # patches along a side, at 224 pixels and P = 16


def quadratic_share(side: int) -> float:
    """Return the quadratic part of the MACs of a block of ViT-B/16."""
    cost = attention_cost(token_count(side, 16) + 1, embed_dim=768)
    return cost.matmul_macs / (cost.matmul_macs + 3 * cost.projection_macs)


QUESTIONS = """
tokens_at_384: the tokens of a 384×384 image in patches of 16, with class token
  = token_count(384, 16) + 1
  576: the class token is a token too
  24: that is the patches along one side; an image has two
  384 * 384: that many pixels; a token is a patch of 16×16 of them
  ? How many patches of 16 lie along a side of 384?
  ? Patches down times patches across, and one token more.
  ? 24 × 24 + 1.
patches_of_a_phone_photo: the number of patches of 16 in a photo of 4032×3024 pixels
  = token_count((4032, 3024), 16)
  47_629: N counts patches; the class token makes it T
  4032 // 16: that is one side; the photo has two
  4032 // 16 + 3024 // 16: rows and columns are multiplied, not added
  4032 * 3024: that many pixels; a patch holds 16×16 of them
  4032 * 3024 // 16: a patch of 16 takes 16 pixels each way
  ? Divide each side by 16.
  ? There are 252 rows of patches, and how many columns?
  ? 252 × 189.
growth_of_the_square: how many times as large one head's square becomes when P goes from
    16 to 4, without the class token
  = float(attention_cost(token_count(224, 4), 64).matrix_bytes /
    attention_cost(token_count(224, 16), 64).matrix_bytes)
  4: that is the factor along one side of the image
  16: that is the factor of the tokens; the square is N by N
  8: first the tokens: how many small patches lie in a large one?
  64: the tokens grow with both sides, and the square has N times N
  1 / 256 or 1 / 16 or 1 / 4: smaller patches are more patches: the square grows
  ? First the tokens: how many patches of 4×4 lie in one of 16×16?
  ? N becomes 16 times as large. The square has N rows of N numbers.
  ? 16 × 16.
faulty_lines_of_the_bill: the letters of the faulty lines, in the order of the alphabet
  = "cd"
  "c": c is one; at a single head the bill still differs
  "d": d is one; the bill also changes with the heads
  "dc": both letters are right; write them in alphabetical order
  "c, d" or "c,d" or "c d" or "c and d" or ["c", "d"]: both letters are right; write
    them as one word, as in "ab"
  "a" or "ab" or "abc" or "abcd" or "abd" or "ac" or "acd" or "ad": a is right: the
    square has T rows of T numbers
  "b" or "bc" or "bcd" or "bd": b is right: each head keeps a square of its own
  ? The bill grows with the heads, and at one head it is too small.
  ? A head's vectors have D/h numbers. How many multiply-accumulates do h such products
    take together? And how many D×D matrices does a layer have?
  ? The line of the products has one factor too many; the line of the projections has
    one matrix too few.
largest_side_at_a_quarter: the largest image side, a multiple of 16, at which the
    quadratic part takes no more than a quarter of a block's MACs
  = max(side for side in range(16, 4096, 16) if quadratic_share(side) <= 1 / 4)
  640: at 640 the tokens are 40·40 + 1, which is past the limit
  39: that many patches along a side; the side is asked for in pixels
  1536: that is the largest T; the side of the image is asked for
  1535: that is the largest N; the side of the image is asked for
  1072: that is where it takes a half; a quarter comes earlier
  ? The share is T / (T + 6D). For which T is it a quarter?
  ? 4T = T + 6D gives T = 2D. Without the class token these fill a square.
  ? The largest square number of at most 1,535 is 39².
pairs_in_rows_and_columns: the number of scores if 14×14 tokens attend row and column
  = token_count(224, 16) * (2 * SIDE - 1)
  196 * 28: a token is in its row and in its column: count it once
  28: that is for one token, and counts the token itself twice
  196 * 26: a token attends itself as well
  196 * 196: that is every pair, as in ordinary attention
  27: that is for one token; there are 196 of them
  196 * 13 or 196 * 14: a token attends its row and its column
  ? How many tokens does one token attend? Count the squares of the cross.
  ? 14 in its row, 14 in its column, and one of them is in both.
  ? 196 × 27.
growth_for_four_times_the_tokens: a dict of three factors, from 1,024 to 4,096 tokens
  accept numbers("bytes", "explicit", "fused")
  if abs(given["bytes"] - 16) > 1e-6: has another factor for "bytes" than the squares
    have: divide the bytes of the 4,096×4,096 numbers by those of the 1,024×1,024
  if not all(0 < given[name] < 1000 for name in ("explicit", "fused")): has a factor
    that no machine measures: is it the seconds at 4,096 tokens by those at 1,024?
  if min(given["explicit"], given["fused"]) < 1: has a factor below 1: it is the larger
    number of tokens divided by the smaller
  if min(given["explicit"], given["fused"]) < 4.5: has a factor that is hardly more than
    the tokens themselves grew: something else was measured too, so run it again and
    take the quickest of several runs
  ? Each factor is what 4,096 tokens take, divided by what 1,024 take.
  ? A tensor's bytes are numel() times element_size(). Of several times take the
    smallest: what disturbs a run can only make it slower.
  ? {'bytes': large / small, 'explicit': seconds_for(explicit, 4096) /
    seconds_for(explicit, 1024), 'fused': ...}.
growth_of_fused_time: the word "linear" or the word "quadratic"
  = "quadratic"
  "linear": linear is what fused attention does to the memory; with four times the
    tokens, its time grew by much more than four
  ? Linear growth would give a factor of about 4.
  ? Quadratic growth would give a factor of about 16. Which is nearer?
  ? Every pair of tokens still has to be multiplied.
"""
