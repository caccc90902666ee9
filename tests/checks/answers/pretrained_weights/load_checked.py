import torch

from tests.checks.answers import wrong, wrong_edits
from vit_steps.pretrained import load_weights


def _faults(model, state_dict):
    own = model.state_dict()
    missing = sorted(set(own) - set(state_dict))
    unexpected = sorted(set(state_dict) - set(own))
    both = set(own) & set(state_dict)
    shapes = sorted(n for n in both if own[n].shape != state_dict[n].shape)
    return missing, unexpected, shapes


@wrong_edits("""
PyTorch's own error: missing or unexpected or shapes -> False
missing ignored: missing or -> nothing
  missing {missing}, -> nothing
  load_state_dict(state_dict) -> load_state_dict(state_dict, strict=False)
unexpected ignored: or unexpected -> nothing
  unexpected {unexpected}, -> nothing
  load_state_dict(state_dict) -> load_state_dict(state_dict, strict=False)
shapes ignored: or shapes -> nothing
  , shape {shapes} -> nothing
one kind at a time: f"missing {missing}, unexpected {unexpected}, shape {shapes}"
  -> str(missing or unexpected or shapes)
not loaded: model.load_state_dict -> model.state_dict().update
""")
def load_by_sets(model, state_dict):
    missing, unexpected, shapes = _faults(model, state_dict)
    if missing or unexpected or shapes:
        raise ValueError(f"missing {missing}, unexpected {unexpected}, shape {shapes}")
    model.load_state_dict(state_dict)


def load_as_the_package(model, state_dict):
    return load_weights(model, state_dict)


def load_and_go_back(model, state_dict):
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    try:
        model.load_state_dict(state_dict)
    except RuntimeError as error:
        model.load_state_dict(before)
        raise ValueError(f"nothing was loaded: {error}") from error


@wrong("half loaded")
def load_and_translate(model, state_dict):
    try:
        model.load_state_dict(state_dict)
    except Exception as error:
        raise ValueError(f"does not fit: {error}") from error


@wrong("strict=False")
def load_loosely(model, state_dict):
    report = model.load_state_dict(state_dict, strict=False)
    if report.missing_keys or report.unexpected_keys:
        raise ValueError(str(report))


@wrong("by place")
def load_in_order(model, state_dict):
    names = list(model.state_dict())
    model.load_state_dict(dict(zip(names, state_dict.values(), strict=True)))


@wrong("shapes by count")
def load_by_number_of_numbers(model, state_dict):
    own = model.state_dict()
    missing, unexpected, _ = _faults(model, state_dict)
    both = [name for name in own if name in state_dict]
    sizes = [n for n in both if own[n].numel() != state_dict[n].numel()]
    if missing or unexpected or sizes:
        raise ValueError(f"{missing} {unexpected} {sizes}")
    for name, tensor in own.items():
        tensor.copy_(state_dict[name].view(tensor.shape))


@wrong("changes its input")
def load_and_empty(model, state_dict):
    for name, parameter in model.state_dict().items():
        parameter.copy_(state_dict.pop(name))
    if state_dict:
        raise ValueError(f"unexpected: {list(state_dict)}")


@wrong("looked up too early")
def load_comparing_what_is_not_there(model, state_dict):
    own = model.state_dict()
    missing = [name for name in own if name not in state_dict]
    unexpected = [name for name in state_dict if name not in own]
    shapes = [name for name in own if own[name].shape != state_dict[name].shape]
    if missing or unexpected or shapes:
        raise ValueError(f"{missing} {unexpected} {shapes}")
    model.load_state_dict(state_dict)


@wrong("parameters alone")
def load_without_buffers(model, state_dict):
    own = dict(model.named_parameters())
    missing = [name for name in own if name not in state_dict]
    unexpected = [name for name in state_dict if name not in own]
    both = [name for name in own if name in state_dict]
    shapes = [name for name in both if own[name].shape != state_dict[name].shape]
    if missing or unexpected or shapes:
        raise ValueError(f"{missing} {unexpected} {shapes}")
    model.load_state_dict(state_dict)


@wrong("value")
def load_what_broadcasts(model, state_dict):
    own = model.state_dict()
    bad = set(own) ^ set(state_dict)
    for name in set(own) - bad:
        try:
            own[name].expand_as(torch.empty(own[name].shape)) + state_dict[name]
            broadcast = torch.broadcast_shapes(own[name].shape, state_dict[name].shape)
            if broadcast != own[name].shape:
                bad.add(name)
        except RuntimeError:
            bad.add(name)
    if bad:
        raise ValueError(", ".join(bad))
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(state_dict[name])


@wrong("parameters alone")
def load_without_the_buffers(model, state_dict):
    missing, unexpected, shapes = _faults(model, state_dict)
    buffers = {name for name, _ in model.named_buffers()}
    if bad := [*(set(missing) - buffers), *unexpected, *shapes]:
        raise ValueError(", ".join(bad))
    model.load_state_dict(state_dict, strict=False)
