import torch
from sklearn.metrics import accuracy_score

from tests.checks.answers import wrong_edits


@wrong_edits("""
a count, as a float: .float().mean().item() -> .sum()
percent: return -> return 100.0 *
divided by K: .float().mean().item() -> .sum().item() / logits.size(-1)
the share of wrong answers: == -> !=
none: return -> nothing
every answer with every label: .squeeze(1) -> nothing
a count, as a float: .mean() -> .sum()
""")
def by_topk(logits, labels):
    return (logits.topk(1).indices.squeeze(1) == labels).float().mean().item()


def scikit_learns(logits, labels):
    return accuracy_score(labels.numpy(), logits.softmax(-1).argmax(-1).numpy())


def counted_in_a_loop(logits, labels):
    right = 0
    for one, label in zip(logits.tolist(), labels.tolist(), strict=True):
        right += one.index(max(one)) == label
    return right / len(labels)


@wrong_edits("""
argmax over the batch: torch.max(logits, 1) -> torch.max(logits, 0)
tensor: .item() -> nothing
    "… is right but a tensor, expected a float: .item() makes one"
""")
def by_the_largest(logits, labels):
    return torch.mean((torch.max(logits, 1)[1] == labels).double()).item()
