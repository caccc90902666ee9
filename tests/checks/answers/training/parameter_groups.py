from tests.checks.answers import right, wrong_edits
from vit_steps.training import parameter_groups

right(parameter_groups)


def one_group_a_parameter(model, weight_decay):
    groups = []
    for name, parameter in model.named_parameters():
        decays = parameter.ndim > 1 and "weight" in name.split(".")[-1]
        groups.append(
            {"params": [parameter], "weight_decay": weight_decay if decays else 0}
        )
    return groups


@wrong_edits("""
listed twice: set(), set() -> [], []
  .add(full) -> .append(full)
""")
def in_two_loops_with_sets(model, weight_decay):
    """Loop as minGPT does."""
    decay, no_decay = set(), set()
    for module_name, module in model.named_modules():
        for name, parameter in module.named_parameters():
            full = f"{module_name}.{name}" if module_name else name
            matrix = name.endswith("weight") and parameter.dim() > 1
            (decay if matrix else no_decay).add(full)
    named = dict(model.named_parameters())
    return [
        {"params": [named[n] for n in sorted(decay)], "weight_decay": weight_decay},
        {"params": [named[n] for n in sorted(no_decay)], "weight_decay": 0.0},
    ]


def as_generators(model, weight_decay):
    def matrix(name, parameter):
        return name.endswith("weight") and parameter.squeeze().ndim > 1

    named = list(model.named_parameters())
    return [
        {"params": (p for n, p in named if matrix(n, p)), "weight_decay": weight_decay},
        {"params": (p for n, p in named if not matrix(n, p)), "weight_decay": 0.0},
    ]


wrong_edits("""
class token and positions decay: name.endswith("weight") and -> nothing
biases alone spared
  name.endswith("weight") and parameter.ndim >= 2 -> "bias" not in name
norms by their name: name.endswith("weight") and parameter.ndim >= 2
  -> not any(s in name for s in ("bias", "norm", "cls_token", "pos_embed", "gamma"))
norms decay
  name.endswith("weight") and parameter.ndim >= 2 -> name.split(".")[-1] == "weight"
convolution spared: name.endswith("weight") and parameter.ndim >= 2
  -> any(parameter is m.weight for m in model.modules() if isinstance(m, nn.Linear))
groups exchanged: matrices if is_matrix else rest -> rest if is_matrix else matrices
no decay of its own: , "weight_decay": 0.0 -> nothing
no decay of its own: "weight_decay" -> "decay"
in_proj_weight spared: "weight" -> ".weight"
value: "weight_decay": weight_decay -> "weight_decay": 0.05
    "… the decay of patch_embed.proj.weight is 0.05, expected 0.3…"
all decay: name.endswith("weight") and parameter.ndim >= 2 -> True
raises: {"params": rest -> {"params": [*rest, *matrices]
an optimizer: = lambda model, decay: torch.optim.AdamW(parameter_groups(model, decay))
value: = lambda model, decay: tuple(g["params"] for g in parameter_groups(model, decay))
""")(parameter_groups)
