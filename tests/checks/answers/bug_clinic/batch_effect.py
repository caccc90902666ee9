import torch

from tests.checks.answers import wrong_edits


@torch.no_grad()
@wrong_edits("""
in training mode: model.eval() -> nothing
in training mode: model.eval() -> model.training = False
  model.train(was) -> model.training = was
value: model.train(was) -> nothing
signed: .abs() -> nothing
mean: .max() -> .mean()
first image: (together - alone) -> (together[:1] - alone[:1])
never alone: [model(image[None]) for image in images] -> [model(images)]
value: model(image[None]) -> model(image.expand_as(images))[:1]
    among copies of itself
""")
def one_by_one(model, images):
    was = model.training
    model.eval()
    together = model(images)
    alone = torch.cat([model(image[None]) for image in images])
    model.train(was)
    return (together - alone).abs().max().item()


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
