import torch
from sklearn.metrics import accuracy_score

from tests.checks.answers import right, wrong


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


@wrong("accuracy", "a count")
def counts(logits, labels):
    return (logits.argmax(1) == labels).sum()


@wrong("accuracy", "percent")
def in_percent(logits, labels):
    right = (logits.argmax(1) == labels).sum().item()
    return 100.0 * right / labels.size(0)


@wrong("accuracy", "argmax over the batch")
def argmax_of_columns(logits, labels):
    return (torch.max(logits, 0)[1] == labels).float().mean().item()


@wrong("accuracy", "for each image")
def forgets_the_mean(logits, labels):
    return torch.eq(logits.argmax(-1), labels)


@wrong("accuracy", "lowest logit")
def loss_like(logits, labels):
    return (logits.argmin(1) == labels).float().mean().item()


@wrong("accuracy", "divided by K")
def divides_by_the_wrong_size(logits, labels):
    return (logits.argmax(1) == labels).sum().item() / logits.size(-1)


@wrong("accuracy", "the share of wrong answers")
def error_rate(logits, labels):
    return (logits.argmax(1) != labels).float().mean().item()


@wrong("accuracy", "probability of the right class")
def confidence(logits, labels):
    p = logits.softmax(-1)
    return p[range(len(labels)), labels].mean().item()


@wrong("accuracy", "value for place")
def compares_the_logit(logits, labels):
    values, _ = logits.max(dim=1)
    return (values == labels).float().mean().item()


@wrong("accuracy", "all or nothing")
def equal_or_not(logits, labels):
    return float(torch.equal(logits.argmax(1), labels))


@wrong("accuracy", "none")
def prints_it(logits, labels):
    print((logits.argmax(1) == labels).float().mean())


@wrong("accuracy", "every answer with every label")
def best_one_of_topk(logits, labels):
    return (logits.topk(1, dim=1).indices == labels).float().mean().item()


@right("accuracy")
def best_one_of_topk_squeezed(logits, labels):
    return (logits.topk(1, dim=1).indices.squeeze(1) == labels).float().mean().item()


@wrong("accuracy", "a count, as a float")
def as_in_d2l(logits, labels):
    answers = logits.argmax(axis=1)
    hits = answers.type(labels.dtype) == labels
    return float(hits.type(labels.dtype).sum())
