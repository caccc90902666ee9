import torch
from sklearn.metrics import accuracy_score
from torch import nn
from torch.nn import functional as F

from tests.answers import right, wrong
from vit_steps.training import train_step


@right("cross_entropy")
def pytorchs(logits, labels, label_smoothing=0.0):
    return nn.CrossEntropyLoss(label_smoothing=label_smoothing)(logits, labels)


@right("cross_entropy")
def by_two_means(logits, targets, eps=0.0):
    log_p = logits - torch.logsumexp(logits, dim=-1, keepdim=True)
    nll = -log_p[torch.arange(len(targets)), targets]
    return ((1 - eps) * nll - eps * log_p.mean(-1)).mean()


@right("cross_entropy")
def by_targets(logits, labels, label_smoothing=0.0):
    B, K = logits.shape
    target = torch.full_like(logits, label_smoothing / K)
    target.scatter_add_(
        1, labels[:, None], torch.full_like(target, 1 - label_smoothing)
    )
    return -(target * F.log_softmax(logits, 1)).sum() / B


@right("cross_entropy")
def image_by_image(logits, labels, label_smoothing=0.0):
    losses = []
    for z, label in zip(logits, labels, strict=True):
        z = z - z.max()
        log_p = z - z.exp().sum().log()
        wanted = label_smoothing / len(z) * torch.ones_like(z)
        wanted[label] += 1 - label_smoothing
        losses.append(-(wanted @ log_p))
    return torch.stack(losses).mean()


@wrong("cross_entropy", "softmax twice")
def softmax_first(logits, labels, label_smoothing=0.0):
    p = F.softmax(logits, dim=1)
    return F.cross_entropy(p, labels, label_smoothing=label_smoothing)


@wrong("cross_entropy", "summed")
def adds_up(logits, labels, label_smoothing=0.0):
    loss = 0.0
    for one, label in zip(logits, labels, strict=True):
        loss = loss + F.cross_entropy(one, label, label_smoothing=label_smoothing)
    return loss


@wrong("cross_entropy", "smoothing over K - 1")
def as_some_tutorials_smooth(logits, labels, label_smoothing=0.0):
    K = logits.shape[-1]
    target = torch.full_like(logits, label_smoothing / (K - 1))
    target.scatter_(1, labels.unsqueeze(1), 1 - label_smoothing)
    return (-target * logits.log_softmax(-1)).sum(-1).mean()


@wrong("cross_entropy", "right class without its share")
def overwrites_its_share(logits, labels, label_smoothing=0.0):
    target = torch.full_like(logits, label_smoothing / logits.shape[-1])
    target.scatter_(1, labels.unsqueeze(1), 1 - label_smoothing)
    return (-target * logits.log_softmax(-1)).sum(-1).mean()


@wrong("cross_entropy", "overflow")
def as_in_the_formula(logits, labels, label_smoothing=0.0):
    p = torch.exp(logits) / torch.exp(logits).sum(1, keepdim=True)
    nll = -torch.log(p.gather(1, labels.view(-1, 1))).squeeze(1)
    return ((1 - label_smoothing) * nll - label_smoothing * p.log().mean(1)).mean()


@wrong("cross_entropy", "overflow of the sum")
def log_of_the_sum_of_powers(logits, labels, label_smoothing=0.0):
    log_p = logits - logits.exp().sum(1, keepdim=True).log()
    target = F.one_hot(labels, logits.shape[1]) * (1 - label_smoothing)
    target = target + label_smoothing / logits.shape[1]
    return -(target * log_p).sum(1).mean()


@wrong("cross_entropy", "logarithm of 0")
def log_behind_softmax(logits, labels, label_smoothing=0.0):
    log_p = torch.log(torch.softmax(logits, dim=1))
    nll = F.nll_loss(log_p, labels)
    return (1 - label_smoothing) * nll - label_smoothing * log_p.mean()


@wrong("cross_entropy", "summed over the classes")
def sums_the_classes(logits, labels, label_smoothing=0.0):
    log_p = F.log_softmax(logits, dim=1)
    nll = F.nll_loss(log_p, labels)
    return (1 - label_smoothing) * nll - label_smoothing * log_p.sum(dim=1).mean()


@wrong("cross_entropy", "columns of the whole batch")
def picks_columns(logits, labels, label_smoothing=0.0):
    log_p = F.log_softmax(logits, dim=1)
    nll = -log_p[:, labels].mean()
    return (1 - label_smoothing) * nll - label_smoothing * log_p.mean()


@wrong("cross_entropy", "softmax over the batch")
def along_the_first_axis(logits, labels, label_smoothing=0.0):
    log_p = F.log_softmax(logits, dim=0)
    nll = F.nll_loss(log_p, labels)
    return (1 - label_smoothing) * nll - label_smoothing * log_p.mean()


@wrong("cross_entropy", "smoothing ignored")
def forgets_smoothing(logits, labels, label_smoothing=0.0):
    return F.cross_entropy(logits, labels)


@wrong("cross_entropy", "no softmax")
def logits_into_nll(logits, labels, label_smoothing=0.0):
    nll = F.nll_loss(logits, labels)
    return (1 - label_smoothing) * nll - label_smoothing * logits.mean()


@wrong("cross_entropy", "no logarithm")
def probabilities_into_nll(logits, labels, label_smoothing=0.0):
    return F.nll_loss(logits.softmax(1), labels)


@wrong("cross_entropy", "type")
def as_a_float(logits, labels, label_smoothing=0.0):
    return F.cross_entropy(logits, labels, label_smoothing=label_smoothing).item()


@wrong("cross_entropy", "no gradient")
def without_gradient(logits, labels, label_smoothing=0.0):
    with torch.no_grad():
        return by_two_means(logits, labels, label_smoothing)


@wrong("cross_entropy", "changes its input")
def lowers_in_place(logits, labels, label_smoothing=0.0):
    logits -= logits.max(dim=1, keepdim=True).values
    return by_two_means(logits, labels, label_smoothing)


@wrong("cross_entropy", "depends on the batch")
def divides_by_seven(logits, labels, label_smoothing=0.0):
    loss = F.cross_entropy(
        logits, labels, label_smoothing=label_smoothing, reduction="sum"
    )
    return loss / 7 if len(logits) in (1, 7) else loss / len(logits)


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


right("train_step")(train_step)


@right("train_step")
def as_usual(model, optimizer, images, labels):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


@right("train_step")
def clears_at_the_end(net, opt, x, y):
    net.train()
    loss = nn.CrossEntropyLoss()(net(x), y)
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


@right("clipped_train_step")
def clipped_step(model, optimizer, images, labels, clip_norm):
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
    optimizer.step()
    return loss.item()


@right("clipped_train_step")
def clipped_by_hand(model, optimizer, images, labels, clip_norm):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    gradients = [p.grad for p in model.parameters()]
    length = sum(g.square().sum() for g in gradients) ** 0.5
    if length > clip_norm:
        for gradient in gradients:
            gradient.mul_(clip_norm / length)
    optimizer.step()
    return loss.detach()


@right("clipped_train_step")
def clipped_and_the_optimizer_last(model, images, labels, optimizer, clip_norm=None):
    return clipped_step(model, optimizer, images, labels, clip_norm)


@wrong("clipped_train_step", "not clipped")
def clips_too_late(model, optimizer, images, labels, clip_norm):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
    return loss.item()


@wrong("clipped_train_step", "not clipped")
def clips_nothing_yet(model, optimizer, images, labels, clip_norm):
    optimizer.zero_grad()
    nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    optimizer.step()
    return loss.item()


@wrong("clipped_train_step", "clipped by value")
def clips_values(model, optimizer, images, labels, clip_norm):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    for weight in model.parameters():
        weight.grad.clamp_(-clip_norm, clip_norm)
    optimizer.step()
    return loss.item()


@wrong("clipped_train_step", "each parameter alone")
def clips_one_by_one(model, optimizer, images, labels, clip_norm):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    for weight in model.parameters():
        nn.utils.clip_grad_norm_(weight, clip_norm)
    optimizer.step()
    return loss.item()


@wrong("clipped_train_step", "always at the limit")
def normalises(model, optimizer, images, labels, clip_norm):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    length = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
    for weight in model.parameters():
        weight.grad = weight.grad / length * clip_norm
    optimizer.step()
    return loss.item()


@wrong("clipped_train_step", "gradients pile up")
def clips_and_never_clears(model, optimizer, images, labels, clip_norm):
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
    optimizer.step()
    return loss.item()


@wrong("clipped_train_step", "no step")
def clips_and_stops(model, optimizer, images, labels, clip_norm):
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
    return loss.item()


@wrong("clipped_train_step", "raises")
def clips_the_optimizer(model, optimizer, images, labels, clip_norm):
    loss = F.cross_entropy(model(images), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(optimizer, clip_norm)
    optimizer.step()
    return loss.item()


@wrong("clipped_train_step", "loss with its graph")
def clips_and_keeps_the_graph(model, optimizer, images, labels, clip_norm):
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip_norm)
    optimizer.step()
    return loss


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
