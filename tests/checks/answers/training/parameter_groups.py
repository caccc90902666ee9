import torch
from torch import nn

from tests.checks.answers import right, wrong
from vit_steps.training import parameter_groups

right("parameter_groups")(parameter_groups)


@right("parameter_groups")
def one_group_a_parameter(model, weight_decay):
    groups = []
    for name, parameter in model.named_parameters():
        decays = parameter.ndim > 1 and "weight" in name.split(".")[-1]
        groups.append(
            {"params": [parameter], "weight_decay": weight_decay if decays else 0}
        )
    return groups


@wrong("parameter_groups", "in_proj_weight spared")
def by_kinds_of_layers(model, decay):
    matrices = [
        layer.weight
        for layer in model.modules()
        if isinstance(layer, (nn.Linear, nn.Conv2d))
    ]
    known = {id(matrix) for matrix in matrices}
    rest = [p for p in model.parameters() if id(p) not in known]
    return (
        {"params": rest, "weight_decay": 0.0, "name": "rest"},
        {"params": matrices, "weight_decay": decay, "name": "matrices"},
    )


def in_two(model, weight_decay, decays):
    yes, no = [], []
    for name, parameter in model.named_parameters():
        (yes if decays(name, parameter) else no).append(parameter)
    return [
        {"params": yes, "weight_decay": weight_decay},
        {"params": no, "weight_decay": 0.0},
    ]


@wrong("parameter_groups", "class token and positions decay")
def as_for_a_language_model(model, weight_decay):
    return in_two(model, weight_decay, lambda name, p: p.dim() >= 2)


@wrong("parameter_groups", "biases alone spared")
def spares_biases(model, weight_decay):
    return in_two(model, weight_decay, lambda name, p: "bias" not in name)


@wrong("parameter_groups", "norms by their name")
def spares_by_name(model, weight_decay):
    spared = ("bias", "norm", "cls_token", "pos_embed", "gamma")
    return in_two(
        model, weight_decay, lambda name, p: all(s not in name for s in spared)
    )


@wrong("parameter_groups", "norms decay")
def all_called_weight(model, weight_decay):
    return in_two(model, weight_decay, lambda name, p: name.split(".")[-1] == "weight")


@wrong("parameter_groups", "convolution spared")
def linear_layers_alone(model, weight_decay):
    wanted = {id(m.weight) for m in model.modules() if isinstance(m, nn.Linear)}
    return in_two(model, weight_decay, lambda name, p: id(p) in wanted)


@wrong("parameter_groups", "groups exchanged")
def the_other_way_round(model, weight_decay):
    groups = parameter_groups(model, weight_decay)
    return [
        {"params": groups[0]["params"], "weight_decay": 0.0},
        {"params": groups[1]["params"], "weight_decay": weight_decay},
    ]


@wrong("parameter_groups", "no decay of its own")
def leaves_it_to_the_default(model, weight_decay):
    first, second = parameter_groups(model, weight_decay)
    return [first, {"params": second["params"]}]


@wrong("parameter_groups", "rest left out")
def only_what_decays(model, weight_decay):
    return parameter_groups(model, weight_decay)[:1]


@wrong("parameter_groups", "all decay")
def one_group(model, weight_decay):
    return [{"params": list(model.parameters()), "weight_decay": weight_decay}]


@wrong("parameter_groups", "raises")
def some_twice(model, weight_decay):
    biases = [p for name, p in model.named_parameters() if name.endswith("bias")]
    return [
        {"params": list(model.parameters()), "weight_decay": weight_decay},
        {"params": biases, "weight_decay": 0.0},
    ]


@wrong("parameter_groups", "listed twice")
def in_two_loops(model, weight_decay):
    """Loop as minGPT does, with lists in place of sets."""
    decay, no_decay = [], []
    for _, module in model.named_modules():
        for name, parameter in module.named_parameters():
            matrix = name.endswith("weight") and parameter.ndim >= 2
            (decay if matrix else no_decay).append(parameter)
    return [
        {"params": decay, "weight_decay": weight_decay},
        {"params": no_decay, "weight_decay": 0.0},
    ]


@right("parameter_groups")
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


@right("parameter_groups")
def as_generators(model, weight_decay):
    def matrix(name, parameter):
        return name.endswith("weight") and parameter.squeeze().ndim > 1

    named = list(model.named_parameters())
    return [
        {
            "params": (p for n, p in named if matrix(n, p)),
            "weight_decay": weight_decay,
        },
        {"params": (p for n, p in named if not matrix(n, p)), "weight_decay": 0.0},
    ]


@wrong("parameter_groups", "in_proj_weight spared")
def called_weight_alone(model, weight_decay):
    return in_two(
        model,
        weight_decay,
        lambda name, p: name.split(".")[-1] == "weight" and p.ndim >= 2,
    )


@wrong("parameter_groups", "an optimizer")
def makes_the_optimizer(model, weight_decay):
    return torch.optim.AdamW(parameter_groups(model, weight_decay))


@wrong("parameter_groups", "no decay of its own")
def under_another_key(model, weight_decay):
    return [
        {"params": g["params"], "decay": g["weight_decay"]}
        for g in parameter_groups(model, weight_decay)
    ]


@wrong("parameter_groups", "value")
def two_lists(model, weight_decay):
    return tuple(g["params"] for g in parameter_groups(model, weight_decay))


@wrong("parameter_groups", "told by their names")
def with_a_list_of_names(model, weight_decay):
    spared = {"cls_token", "dist_token", "pos_embed"}
    return in_two(
        model,
        weight_decay,
        lambda n, p: p.ndim > 1 and not n.endswith(".bias") and n not in spared,
    )


@wrong("parameter_groups", "told by their names")
def with_pieces_of_names(model, weight_decay):
    return in_two(
        model,
        weight_decay,
        lambda n, p: p.ndim > 1 and "cls" not in n and "pos" not in n,
    )


@wrong("parameter_groups", "told by their axes")
def by_two_or_four_axes(model, weight_decay):
    return in_two(model, weight_decay, lambda n, p: p.ndim in (2, 4))
