import torch

from tests.checks.answers import wrong_edits


@wrong_edits("""
mean of the batches: .sum() -> .float().mean()
  len(labels) -> 1
value: model.train(was_training) -> nothing
value: model.train(was_training) -> model.train()
in training mode: model.eval() -> nothing
in training mode: model.eval() -> model.training = False
  model.train(was_training) -> model.training = was_training
first batch alone: model.train(was_training) -> nothing
  total += len(labels) -> total += len(labels); model.train(was_training); break
value: batches: -> batches[:10]:
graph kept: with torch.no_grad() -> if True
last batch alone: += -> =
tensor: .sum().item() -> .sum()
""")
def counts_over_all(model, batches):
    was_training = model.training
    model.eval()
    right = total = 0
    with torch.no_grad():
        for images, labels in batches:
            right += (model(images).argmax(dim=1) == labels).sum().item()
            total += len(labels)
    model.train(was_training)
    return right / total


@torch.inference_mode()
def collects_hits(net, data):
    mode = net.training
    net.train(False)
    hits = [net(x).argmax(-1) == y for x, y in data]
    net.train(mode)
    return torch.cat(hits).float().mean().item()


def weighs_the_means(model, batches):
    was = model.training
    model.eval()
    share, seen = 0.0, 0
    with torch.no_grad():
        for images, labels in batches:
            now = (model(images).max(1).indices == labels).double().mean().item()
            share = (share * seen + now * len(labels)) / (seen + len(labels))
            seen += len(labels)
    if was:
        model.train()
    return share


@wrong_edits("gradients left off: torch.set_grad_enabled(before) -> nothing")
def switches_gradients_on_again(model, batches):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    measured = counts_over_all(model, batches)
    torch.set_grad_enabled(before)
    return measured
