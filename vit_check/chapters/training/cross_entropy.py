from torch import Tensor
from torch.nn import functional as F

from vit_check.engine.functions import checked_by

TABLE = """
cross_entropy(logits, labels, label_smoothing=0.0) -> the loss, a tensor ()
  10 * float64(7, 5), below(5, 7)
  2 * float32(7, 5), below(5, 7)
  2 * float32(4, 5) + 300, below(5, 4), 0.2  # e^300 is infinite, e^-120 is 0
  2 * float64(5, 4) - 800 * float64(5, 4).argsort(dim=1), below(4, 5), 0.1
  2 * float32(4, 3) + 120 * torch.arange(4)[:, None], below(3, 4), 0.1
  2 * float64(3, 6), below(6, 3), 0.1
summed: losses.mean() -> losses.sum()
    the losses are summed, expected their mean: a larger batch would lose more
right class without a share: label_smoothing / K -> label_smoothing / K * (1 - one)
    the right class gets 1 - ε alone: its own share, ε/K, is left out
sign: -(target * log_p) -> (target * log_p)
    the sign is wrong: the logarithm is negative, and the loss is minus that
softmax twice: log_softmax -> softmax(dim=1).log_softmax
    the softmax is taken twice: probabilities go into a loss that expects logits
softmax over the batch: log_softmax(dim=1) -> log_softmax(dim=0)
    the softmax runs over the batch, expected over the classes of each image
base 2: log_softmax(dim=1) -> log_softmax(dim=1) / math.log(2)
    the logarithm is to base 2, expected the natural one: the loss is in nats
columns of the whole batch: .to(logits) -> .to(logits).mean(dim=0)
    each label picks its column for all images, B×B numbers, expected its image's alone
smoothing over K - 1: label_smoothing / K -> label_smoothing / (K - 1) * (1 - one)
    the smoothing is shared out among the K - 1 wrong classes, expected among all K
summed over the classes: label_smoothing / K -> label_smoothing
    every class gets the whole ε: the log-probabilities are summed, expected their mean
logarithm of 0: log_softmax(dim=1) -> softmax(dim=1).log()
    the loss is infinite or NaN where a probability is 0 before its logarithm is taken
overflow: logits.log_softmax(dim=1) -> (logits.exp() / logits.exp().sum(1, True)).log()
    the loss is NaN for logits of 300: e³⁰⁰ is infinite in 32 bits; a softmax stays what
    it is when every logit is lowered by the largest
? Take one image: which of its K logarithms counts, with what weight? Then the mean.
? The target is (1 - ε) for the right class plus ε/K for every class; the loss of an
  image is minus the sum of target times log-probability.
? log_p = logits.log_softmax(dim=1); nll = -log_p.gather(1, labels[:, None]); ((1 - ε) ·
  nll - ε · log_p.mean(dim=1, keepdim=True)).mean().
"""


@checked_by(TABLE, shape="()", batched=(0, 1), without=["cross_entropy"])
def cross_entropy(
    logits: Tensor, labels: Tensor, label_smoothing: float = 0.0
) -> Tensor:
    K = logits.shape[1]
    log_p = logits.log_softmax(dim=1)  # (B, K)
    one = F.one_hot(labels, K).to(logits)  # (B, K)
    target = (1 - label_smoothing) * one + label_smoothing / K
    losses = -(target * log_p).sum(dim=1)  # (B,)
    return losses.mean()
