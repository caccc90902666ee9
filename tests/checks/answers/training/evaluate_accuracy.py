import torch

from tests.checks.answers import right, wrong


@right("evaluate_accuracy")
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


@right("evaluate_accuracy")
@torch.inference_mode()
def collects_hits(net, data):
    mode = net.training
    net.train(False)
    hits = [net(x).argmax(-1) == y for x, y in data]
    net.train(mode)
    return torch.cat(hits).float().mean()


@right("evaluate_accuracy")
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


@wrong("evaluate_accuracy", "mean of the batches")
def mean_of_means(model, batches):
    was = model.training
    model.eval()
    shares = []
    with torch.no_grad():
        for images, labels in batches:
            shares.append((model(images).argmax(1) == labels).float().mean().item())
    model.train(was)
    return sum(shares) / len(shares)


@wrong("evaluate_accuracy", "left in eval mode")
def stays_in_eval(model, batches):
    model.eval()
    with torch.no_grad():
        hits = [model(images).argmax(1) == labels for images, labels in batches]
    return torch.cat(hits).double().mean().item()


@wrong("evaluate_accuracy", "left in training mode")
def always_back_to_training(model, batches):
    accuracy = stays_in_eval(model, batches)
    model.train()
    return accuracy


@wrong("evaluate_accuracy", "in training mode")
def without_eval(model, batches):
    with torch.no_grad():
        hits = [model(images).argmax(1) == labels for images, labels in batches]
    return torch.cat(hits).double().mean().item()


@wrong("evaluate_accuracy", "graph kept")
def with_gradients(model, batches):
    was = model.training
    model.eval()
    hits = [model(images).argmax(1) == labels for images, labels in batches]
    model.train(was)
    return torch.cat(hits).double().mean().item()


@wrong("evaluate_accuracy", "last batch alone")
@torch.no_grad()
def overwrites(model, batches):
    was = model.training
    model.eval()
    for images, labels in batches:
        accuracy = (model(images).argmax(1) == labels).float().mean().item()
    model.train(was)
    return accuracy


@wrong("evaluate_accuracy", "first batch alone")
@torch.no_grad()
def returns_too_soon(model, batches):
    was = model.training
    model.eval()
    for images, labels in batches:
        hits = model(images).argmax(1) == labels
        model.train(was)
        return hits.sum().item() / len(hits)


@wrong("evaluate_accuracy", "divided by batches")
@torch.no_grad()
def divides_by_the_loader(model, batches):
    was = model.training
    model.eval()
    right = sum((model(x).argmax(1) == y).sum().item() for x, y in batches)
    model.train(was)
    return right / len(batches)


@wrong("evaluate_accuracy", "full batches")
@torch.no_grad()
def takes_all_batches_for_full(model, batches):
    was = model.training
    model.eval()
    right = sum((model(x).argmax(1) == y).sum().item() for x, y in batches)
    model.train(was)
    return right / (len(batches) * len(batches[0][1]))


@wrong("evaluate_accuracy", "percent")
def evaluates_in_percent(model, batches):
    return round(100 * counts_over_all(model, batches), 6)


@wrong("evaluate_accuracy", "gradients left off")
def never_switches_gradients_on_again(model, batches):
    mode = model.training
    model.eval()
    torch.set_grad_enabled(False)
    hits = torch.cat([model(x).argmax(1) == y for x, y in batches])
    model.train(mode)
    return hits.float().mean().item()


@right("evaluate_accuracy")
def switches_gradients_on_again(model, batches):
    before = torch.is_grad_enabled()
    torch.set_grad_enabled(False)
    measured = counts_over_all(model, batches)
    torch.set_grad_enabled(before)
    return measured
