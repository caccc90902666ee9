import torch
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import right, wrong
from vit_steps.training import train_step

right("train_step")(train_step)


@right("train_step")
def as_usual(model, optimizer, images, labels):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong("train_step", "cleared at the end alone")
def clears_at_the_end(net, opt, x, y):
    net.train()
    loss = nn.CrossEntropyLoss()(net(x), y)
    loss.backward()
    opt.step()
    net.zero_grad()
    return loss.detach()


@right("train_step")
def clears_before_and_behind(net, opt, x, y):
    for weight in net.parameters():
        weight.grad = None
    loss = nn.CrossEntropyLoss()(net.train()(x), y)
    loss.backward()
    opt.step()
    net.zero_grad()
    return loss.detach()


@right("train_step")
def optimizer_last(model, images, labels, optimizer):
    return as_usual(model, optimizer, images, labels)


@right("train_step")
def with_autograd(model, optimizer, images, labels):
    log_p = model(images).log_softmax(1)
    loss = -log_p[torch.arange(len(labels)), labels].mean()
    weights = list(model.parameters())
    for weight, gradient in zip(
        weights, torch.autograd.grad(loss, weights), strict=True
    ):
        weight.grad = gradient
    optimizer.step()
    return float(loss)


@wrong("train_step", "gradients pile up")
def never_clears(model, optimizer, images, labels):
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong("train_step", "cleared too late")
def clears_what_it_needs(model, optimizer, images, labels):
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


@wrong("train_step", "no step")
def never_steps(model, optimizer, images, labels):
    model.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    return loss.item()


@wrong("train_step", "no backward")
def cut_off(model, optimizer, images, labels):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    torch.tensor(loss.item(), requires_grad=True).backward()
    optimizer.step()
    return loss.item()


@wrong("train_step", "step before backward")
def in_the_wrong_order(model, optimizer, images, labels):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    optimizer.step()
    loss.backward()
    return loss.item()


@wrong("train_step", "weights changed too soon")
def between_forward_and_backward(model, optimizer, images, labels):
    loss = F.cross_entropy(model(images), labels)
    optimizer.step()
    optimizer.zero_grad()
    loss.backward()
    return loss.item()


@wrong("train_step", "a batch late")
def steps_first(model, optimizer, images, labels):
    optimizer.step()
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    return loss.item()


@wrong("train_step", "raises")
def detached_before_backward(model, optimizer, images, labels):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels).detach()
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong("train_step", "softmax before the loss")
def probabilities_in(model, optimizer, images, labels):
    optimizer.zero_grad()
    loss = F.cross_entropy(torch.softmax(model(images), dim=-1), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong("train_step", "eval mode")
def as_in_evaluation(model, optimizer, images, labels):
    model.eval()
    return as_usual(model, optimizer, images, labels)


@wrong("train_step", "left in eval mode")
def measures_in_between(model, optimizer, images, labels):
    loss = as_usual(model, optimizer, images, labels)
    model.eval()
    return loss


@wrong("train_step", "loss with its graph")
def returns_the_graph(model, optimizer, images, labels):
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


@wrong("train_step", "another optimizer")
def makes_its_own(model, optimizer, images, labels):
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.05)
    return as_usual(model, optimizer, images, labels)


@wrong("train_step", "another optimizer")
def by_hand_at_a_rate_of_its_own(model, optimizer, images, labels):
    model.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    with torch.no_grad():
        for weight in model.parameters():
            weight -= 0.1 * weight.grad
    return loss.item()


@wrong("train_step", "squared error")
def one_hot_targets(model, optimizer, images, labels):
    logits = model(images)
    loss = ((logits - torch.eye(logits.shape[1])[labels]) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong("train_step", "summed")
def summed_loss(model, optimizer, images, labels):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels, reduction="sum")
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong("train_step", "none")
def returns_nothing(model, optimizer, images, labels):
    as_usual(model, optimizer, images, labels)
