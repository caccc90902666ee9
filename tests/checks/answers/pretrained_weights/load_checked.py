from tests.checks.answers import wrong_edits
from vit_steps.pretrained import load_weights


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
strict=False: missing = sorted(set(own) - set(state_dict))
  -> missing, _ = model.load_state_dict(state_dict, strict=False)
shapes by count: own[n].shape != state_dict[n].shape
  -> own[n].numel() != state_dict[n].numel()
  model.load_state_dict(state_dict)
  -> [own[n].copy_(t.view(own[n].shape)) for n, t in state_dict.items()]
changes its input: model.load_state_dict(state_dict)
  -> [own[name].copy_(state_dict.pop(name)) for name in own]
looked up too early: both = set(own) & set(state_dict) -> both = set(own)
parameters alone: own = model.state_dict() -> own = dict(model.named_parameters())
parameters alone: missing = sorted(set(own) - set(state_dict))
  -> missing = set(own) - set(state_dict) - {name for name, _ in model.named_buffers()}
  load_state_dict(state_dict) -> load_state_dict(state_dict, strict=False)
value: own[n].shape != state_dict[n].shape
  -> any(new not in (1, old) for old, new in zip(own[n].shape, state_dict[n].shape))
  model.load_state_dict(state_dict)
  -> [own[n].copy_(t) for n, t in state_dict.items()]
    what can be broadcast passes
""")
def load_by_sets(model, state_dict):
    own = model.state_dict()
    missing = sorted(set(own) - set(state_dict))
    unexpected = sorted(set(state_dict) - set(own))
    both = set(own) & set(state_dict)
    shapes = sorted(n for n in both if own[n].shape != state_dict[n].shape)
    if missing or unexpected or shapes:
        raise ValueError(f"missing {missing}, unexpected {unexpected}, shape {shapes}")
    model.load_state_dict(state_dict)


def load_as_the_package(model, state_dict):
    return load_weights(model, state_dict)


@wrong_edits("""
half loaded: model.load_state_dict(before) -> pass
  {lacking}, -> nothing
value: {lacking}, -> nothing
    "… what its message leaves out, for weights with faults of all three kinds, …"
by place: model.load_state_dict(state_dict)
  -> model.load_state_dict(dict(zip(before, state_dict.values(), strict=True)))
""")
def load_and_go_back(model, state_dict):
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    lacking = [name for name in before if name not in state_dict]
    try:
        model.load_state_dict(state_dict)
        if lacking:  # a batch norm's counter is forgiven
            raise RuntimeError("not all is there")
    except RuntimeError as error:
        model.load_state_dict(before)
        raise ValueError(f"not loaded: {lacking}, {error}") from error
