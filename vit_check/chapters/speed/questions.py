import torch


def threes() -> int:
    total = torch.tensor(0.0, dtype=torch.bfloat16)
    for _ in range(500):
        total = total + 3
    return int(total)


QUESTIONS = """
sum_of_threes: the sum of 500 threes that are added one by one in bfloat16
  = threes()
  1500: that is the sum without rounding
  256: that is where adding ones ends; a three is larger
  512: from 512 on the numbers are 4 apart, and 3 is rounded to 4
  768: 256 threes would be that, but the steps are not all of 3
  2048: the sum stops before it gets there: think of half a step
  ? bfloat16 has 8 significant bits: to 256 all whole numbers, then every second one.
  ? An addition is lost when it is less than half the distance to the next number. Where
    is half the distance more than 3?
  ? Between 512 and 1024 the numbers are 4 apart, above that 8 apart.
bfloat16_moves: two truth values: whether 1 ± 0.003 differ from 1 in bfloat16
  = tuple(bool(torch.tensor(1.0, dtype=torch.bfloat16) + step != 1)
    for step in (0.003, -0.003))
  (False, False): below 1 the numbers lie closer together than above
  (True, True): above 1 the next number is more than twice 0.003 away
  (True, False): the other way round: below 1 the steps are smaller
  ? How far is it from 1 to the next number above, and to the next below?
  ? Above 1 the step is 1/128, below it 1/256. Compare 0.003 with half of each.
  ? Half of 1/128 is about 0.0039, half of 1/256 about 0.002.
growth_of_attention: three factors from 1024 to 4096 tokens, by name
  accept numbers("explicit kept", "fused kept", "fused seconds")
  if not all(0 < factor < 1e6 for factor in given.values()): has a factor that cannot
    be: each is one measurement by another
  if given["explicit kept"] < 1 or given["fused kept"] < 1: has factors below 1: divide
    what 4096 tokens take by what 1024 take
  if given["explicit kept"] > 100 or given["fused kept"] > 100: has bytes where factors
    are asked for: divide one by the other
  if not 3.8 <= given["fused kept"] <= 4.2: has a factor for what the fused path keeps
    that its bytes do not give: are q, k and v left out, is it the fused path?
  if not 12 <= given["explicit kept"] <= 16.5: has a factor for what the explicit path
    keeps that its bytes do not give: is it the explicit path, with new q, k and v?
  if given["fused seconds"] > 400: has a factor in the time of far more than the pairs
    of tokens explain: was the first run a warm-up, and the median taken?
  if given["fused seconds"] < 1.5: has hardly more seconds for four times as many
    tokens: is it the call that is timed, and several of them?
  ? Measure at 1024 and at 4096 tokens, and divide the second by the first.
  ? kept_for_backward counts to the byte, so once is enough; for seconds run it once
    without counting and take the median of several runs.
  ? kept_for_backward(lambda: explicit(q, k, v), besides=(q, k, v)) at both sizes;
    median([stopwatch(lambda: fused(q, k, v)) for _ in range(7)])
fused_attention_grows: two words, for the memory and for the time: 'linear' or
    'quadratic' each
  = ("linear", "quadratic")
  ("linear", "linear"): every query meets every key; it saves holding the table
  ("quadratic", "quadratic"): look again at what it keeps
  ("quadratic", "linear"): the other way round: first memory, then time
  ? Four times the tokens: which factor would be linear, which quadratic?
  ? 4 is linear and 16 is quadratic. A measured time lies near one of them.
  ? What it keeps is its output and one number a query. What it computes is every pair.
checkpoint_spacing: a tuple of the best k and the megabytes that are then held at most
  = (3, 24)
  (1, 40): with every block's input kept 36 inputs wait; take fewer
  (6, 30): √L is the best k only where a and b are equal
  (12, 51): a and b are exchanged: few inputs wait when blocks are small
  (3, 12): the k blocks that are computed again are held too
  (3, 16): of the group that is computed again all k blocks are held
  (36, 145): one group of all the blocks: that is no checkpointing
  (9, 40): that is the square of it: the slope is zero at k² = L·a / b
  ? L / k inputs wait, and k blocks are computed again together.
  ? Held at most: (L / k)·a + k·b. Where is its slope in k zero?
  ? k = √(L·a / b), here √(36 / 4). Put it into the sum.
checkpoint_spacing_of_a_vit: the best whole number k for L = 12, a = 1 and b = 16
  = 1
  0: every 0-th block is none: k is at least 1
  3: √12 would be right if a and b were equal
  14: a and b are exchanged: √(L·a / b), not √(L·b / a)
  12: then all twelve blocks are held at once, 193 megabytes
  ? The formula for the best k is that of the other question.
  ? √(12 / 16) is less than 1. Which whole numbers can k be?
  ? Compare k = 1, which holds 12 + 16 megabytes, with k = 2.
"""
