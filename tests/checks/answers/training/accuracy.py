import torch
from sklearn.metrics import accuracy_score

from tests.checks.answers import right, wrong, wrong_edits


@right("accuracy")
def by_topk(logits, labels):
    return (logits.topk(1).indices.squeeze(1) == labels).float().mean().item()


@right("accuracy")
def scikit_learns(logits, labels):
    return accuracy_score(labels.numpy(), logits.softmax(-1).argmax(-1).numpy())


@right("accuracy")
def counted_in_a_loop(logits, labels):
    right = 0
    for one, label in zip(logits.tolist(), labels.tolist(), strict=True):
        right += one.index(max(one)) == label
    return right / len(labels)


@right("accuracy")
def a_tensor_of_one_number(logits, labels):
    return torch.mean((torch.max(logits, 1)[1] == labels).double())


@wrong("accuracy", "probability of the right class")
def confidence(logits, labels):
    p = logits.softmax(-1)
    return p[range(len(labels)), labels].mean().item()


@wrong("accuracy", "a count, as a float")
def as_in_d2l(logits, labels):
    answers = logits.argmax(axis=1)
    hits = answers.type(labels.dtype) == labels
    return float(hits.type(labels.dtype).sum())


OF_BY_TOPK = """
a count
  .float().mean().item() -> .sum()
percent
  return -> return 100.0 *
divided by K
  .float().mean().item() -> .sum().item() / logits.size(-1)
the share of wrong answers
  == -> !=
none
  return -> nothing
every answer with every label
  .squeeze(1) -> nothing
"""

OF_A_TENSOR_OF_ONE_NUMBER = """
argmax over the batch
  torch.max(logits, 1) -> torch.max(logits, 0)
value for place
  [1] -> [0]
"""

OF_COUNTED_IN_A_LOOP = """
"""

wrong_edits("accuracy", by_topk, OF_BY_TOPK)
wrong_edits("accuracy", a_tensor_of_one_number, OF_A_TENSOR_OF_ONE_NUMBER)
wrong_edits("accuracy", counted_in_a_loop, OF_COUNTED_IN_A_LOOP)
