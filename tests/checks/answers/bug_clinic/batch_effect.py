import torch

from tests.checks.answers import right, wrong


@right("batch_effect")
@torch.no_grad()
def one_by_one(model, images):
    was = model.training
    model.eval()
    together = model(images)
    alone = torch.cat([model(image[None]) for image in images])
    model.train(was)
    return (together - alone).abs().max().item()


@right("batch_effect")
def in_a_loop(net, batch):
    mode = net.training
    net.train(False)
    largest = 0.0
    with torch.inference_mode():
        all_logits = net(batch)
        for i in range(len(batch)):
            apart = (all_logits[i] - net(batch[i : i + 1])[0]).abs()
            largest = max(largest, float(apart.max()))
    net.train(mode)
    return largest


@right("batch_effect")
def with_finally(model, images):
    modes = {module: module.training for module in model.modules()}
    try:
        model.eval()
        together = model(images).detach()
        alone = torch.stack([model(one).detach()[0] for one in images.split(1)])
        return torch.max(torch.abs(alone - together))
    finally:
        for module, mode in modes.items():
            module.training = mode


@wrong("batch_effect", "in training mode")
@torch.no_grad()
def without_eval(model, images):
    together = model(images)
    alone = torch.cat([model(image[None]) for image in images])
    return (together - alone).abs().max().item()


@wrong("batch_effect", "left in eval mode")
@torch.no_grad()
def stays_in_eval(model, images):
    model.eval()
    return without_eval(model, images)


@wrong("batch_effect", "left in training mode")
@torch.no_grad()
def always_back_to_training(model, images):
    effect = stays_in_eval(model, images)
    model.train()
    return effect


@wrong("batch_effect", "put into training mode")
@torch.no_grad()
def trains_first(model, images):
    was = model.training
    model.train()
    effect = without_eval(model, images)
    model.train(was)
    return effect


def in_eval(measure):
    @torch.no_grad()
    def effect(model, images):
        was = model.training
        model.eval()
        effect = measure(model, images)
        model.train(was)
        return effect

    effect.__name__ = measure.__name__
    return effect


@wrong("batch_effect", "signed")
@in_eval
def no_abs(model, images):
    alone = torch.cat([model(one) for one in images.split(1)])
    return (model(images) - alone).max().item()


@wrong("batch_effect", "mean")
@in_eval
def averages(model, images):
    alone = torch.cat([model(one) for one in images.split(1)])
    return (model(images) - alone).abs().mean().item()


@wrong("batch_effect", "sum")
@in_eval
def adds_up(model, images):
    return sum(
        (logits - model(image[None])[0]).abs().sum().item()
        for image, logits in zip(images, model(images), strict=True)
    )


@wrong("batch_effect", "length")
@in_eval
def as_a_distance(model, images):
    alone = torch.cat([model(one) for one in images.split(1)])
    return torch.dist(model(images), alone).item()


@wrong("batch_effect", "first image")
@in_eval
def only_the_first(model, images):
    return (model(images)[:1] - model(images[:1])).abs().max().item()


@wrong("batch_effect", "in halves")
@in_eval
def two_halves(model, images):
    alone = torch.cat([model(half) for half in images.chunk(2)])
    return (model(images) - alone).abs().max().item()


@wrong("batch_effect", "never alone")
@in_eval
def asks_again(model, images):
    return (model(images) - model(images)).abs().max().item()


@wrong("batch_effect", "answers")
@in_eval
def counts_answers(model, images):
    alone = torch.cat([model(one) for one in images.split(1)]).argmax(dim=1)
    return (model(images).argmax(dim=1) != alone).float().mean().item()


@wrong("batch_effect", "value")
@torch.no_grad()
def among_copies_of_itself(model, images):
    was = model.training
    model.eval()
    together = model(images)
    alone = [model(image.expand_as(images))[0] for image in images]
    model.train(was)
    return (together - torch.stack(alone)).abs().max().item()
