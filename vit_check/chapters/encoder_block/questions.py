import torch

from vit_steps.encoder import EncoderBlock

PAIRS = [[7.0, 9.0], [100.0, -100.0], [5.0, 5.0]]


def tokens_that_change() -> list[int]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        block = EncoderBlock(8, num_heads=2).double()
        x = torch.randn(1, 6, 8).double()  # (B, T, D)
    other = x.clone()
    other[0, 2, 0] += 1
    with torch.no_grad():
        steps = (block.norm1, block.mlp, lambda x: block(x)[0])
        changes = [(step(x) - step(other)).abs().amax(dim=2) for step in steps]
    return [int((change > 1e-9).sum()) for change in changes]


BRANCHES = [f"{part} {block}" for block in range(4) for part in ("attention", "MLP")]

QUESTIONS = """
norms_of_two_numbers: three lists of two numbers each
  = F.layer_norm(torch.tensor(PAIRS).double(), (2,), eps=1e-6)
  rounding 2e-3
  [[-0.707, 0.707], [0.707, -0.707], [0.0, 0.0]]: is what the unbiased variance gives;
    LayerNorm divides by D = 2
  [[-1.0, 1.0], [100.0, -100.0], [0.0, 0.0]]: leaves the second token as it was: its
    mean is 0, its spread is not 1
  [[-1.0, 1.0], [1.0, -1.0], [5.0, 5.0]]: leaves token 3 as it was: its mean is not 0
  [[-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]: gives the third token the mean 1; what is left
    of equal numbers when their mean is subtracted?
  [[1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]]: has the signs the wrong way round: what is
    above the mean is positive
  [[-1.0, 1.0], [-1.0, 1.0], [0.0, 0.0]]: loses the order of the second token, whose
    first number is the larger
  ? First the mean of the two numbers, then how far each lies from it.
  ? Two numbers lie equally far from their mean: by their standard deviation.
  ? (7 - 8) / 1 and (9 - 8) / 1; for the third token 0 is divided by the root of eps.
tokens_that_change: three counts in a list: after the norm, the MLP and the whole block
  = tokens_that_change()
  [1, 1, 1]: forgets that in attention every token looks at all
  [6, 6, 6]: forgets that norm and MLP work on each token separately
  [6, 1, 6]: takes the norm over all tokens; it norms each separately
  [1, 6, 6]: lets the MLP look at other tokens; it sees one at a time
  [1, 1, 5]: leaves one token out at the end: which one should stay as it was?
  ? Which of the three looks at more than one token?
  ? The norm and the MLP work on each token separately; attention does not.
  ? In the block every token attends to the changed one, a little at least.
stream_spread_after_12_blocks: the standard deviation of the stream after 12 blocks
  = math.sqrt(1 + 2 * 12)
  rounding 1e-2
  25: is the variance; the standard deviation is its root
  math.sqrt(13): counts one addition for each block; there are two
  13: counts one addition for each block; what adds up is variances
  math.sqrt(24): leaves out the stream's own variance at the start
  24: adds standard deviations; what adds up is variances
  4096: doubles the stream at each block; what adds up is variances
  ? Which adds up for independent numbers: standard deviations or variances?
  ? Start with a variance of 1. How many branches add to it, and how much each?
  ? The variance is 1 + 24.
factor_on_each_branch: a branch's factor for a standard deviation of √2 at the end
  = 1 / math.sqrt(2 * 12)
  rounding 1e-2
  1 / 24: is the square of it: a factor a multiplies the variance by a²
  1 / math.sqrt(12): counts one branch for each block; there are two
  1 / 12: counts one branch for each block, and forgets the root
  math.sqrt(24): makes the branches larger; they should be smaller
  math.sqrt(2) / 5: scales the whole stream; the factor is on the branches alone
  ? A standard deviation of √2 is a variance of 2. How much of it do the branches bring?
  ? Each of the 24 branches may bring a variance of 1/24.
  ? A factor a turns a variance of 1 into a².
branch_that_is_lost: one of the words attention, MLP, norm1, norm2
  = "attention"
  "MLP": is not lost: with attention silent the tokens still change
  "norm1" or "norm2": is there; look at what is added to x at the end
  ? With the MLP silent, what should a block still do?
  ? Look at the last line: what comes out if the MLP gives zeros?
  ? x comes out as it went in, whatever attention found.
accuracy_without_each_branch: a dictionary of nine accuracies
  accept numbers("nothing", *BRANCHES, low=0, high=1)
  if given["nothing"] < 0.9: says that the whole model is wrong on more than one image
    in ten, which it is not: are the images normalised, and do all branches run?
  if len(set(given.values())) == 1: has one accuracy everywhere: nothing was left out
  if given["MLP 0"] > 0.7: is too high at 'MLP 0': leave the branch out, keep x
  if min(given.values()) < 0.25: has an accuracy near guessing: leave the branch out,
    and keep the stream that it would be added to
  ? Leaving a branch out means: x is handed on, nothing is added.
  ? Go through model.embed, then block by block, with both sums written out, and skip
    the sum that is left out; then model.norm and model.head.
  ? if left_out != f'attention {n}': x = x + block.attn(block.norm1(x))[0], and the same
    for the MLP.
branch_that_is_needed_most: the name of a branch, such as 'attention 2'
  = "MLP 0"
  "MLP 3": is the one that is hardly missed
  "attention 3": is one of those that are missed least
  "attention 1" or "MLP 1" or "attention 2" or "MLP 2" or "attention 0": is missed, but
    another one is missed more
  ? Look for the lowest accuracy in your dictionary.
  ? min(accuracies, key=accuracies.get) names it.
  ? It is in the first block.
"""
