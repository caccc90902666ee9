import re

from torch import nn

from tests.checks.answers import wrong, wrong_edits

PIECES = {
    "patch_embed.proj": "conv_proj",
    "cls_token": "class_token",
    "pos_embed": "encoder.pos_embedding",
    "blocks.": "encoder.layers.encoder_layer_",
    "norm1": "ln_1",
    "attn.qkv.": "self_attention.in_proj_",
    "attn.proj": "self_attention.out_proj",
    "norm2": "ln_2",
    "mlp.fc1": "mlp.0",
    "mlp.fc2": "mlp.3",
    "norm.": "encoder.ln.",
    "head": "heads.head",
}
OTHERS = ("fc_norm", "head_dist", "aux_head")


@wrong_edits("""
copied: [name] = tensor -> [name] = tensor.clone()
norms swapped: PIECES.items() -> (PIECES | {"norm1": "ln_2", "norm2": "ln_1"}).items()
MLP numbers kept
  renamed[name] -> renamed[name.replace("mlp.0", "mlp.1").replace("mlp.3", "mlp.2")]
unknown names vanish: renamed[name] = -> if name not in state_dict: renamed[name] =
norm inside norm1: PIECES.items() -> ({"norm": "encoder.ln"} | PIECES).items()
not a dictionary: return renamed -> return list(renamed.items())
""")
def by_pieces(state_dict):
    renamed = {}
    for name, tensor in state_dict.items():
        for old, new in PIECES.items():
            if not name.startswith(OTHERS):
                name = name.replace(old, new)
        renamed[name] = tensor
    return renamed


@wrong("piece of another name")
def rename_what_begins_alike(state_dict):
    pieces = [(r"^norm", "encoder.ln"), (r"^head", "heads.head")]
    renamed = {}
    for name, tensor in state_dict.items():
        for old, new in PIECES.items():
            if old not in ("norm.", "head"):
                name = name.replace(old, new)
        for pattern, new in pieces:
            name = re.sub(pattern, new, name)
        renamed[name] = tensor
    return renamed


def _whole_names(blocks):
    table = {"cls_token": "class_token", "pos_embed": "encoder.pos_embedding"}
    for s in ("weight", "bias"):
        table |= {
            f"patch_embed.proj.{s}": f"conv_proj.{s}",
            f"norm.{s}": f"encoder.ln.{s}",
            f"head.{s}": f"heads.head.{s}",
        }
        for i in range(blocks):
            for a, b in (
                ("norm1.", "ln_1."),
                ("attn.proj.", "self_attention.out_proj."),
                ("norm2.", "ln_2."),
                ("mlp.fc1.", "mlp.0."),
                ("mlp.fc2.", "mlp.3."),
                ("attn.qkv.", "self_attention.in_proj_"),
            ):
                table[f"blocks.{i}.{a}{s}"] = f"encoder.layers.encoder_layer_{i}.{b}{s}"
    return table


@wrong("missing")
def rename_twelve_blocks(state_dict):
    table = _whole_names(12)
    return {table.get(name, name): tensor for name, tensor in state_dict.items()}


@wrong("raises")
def rename_only_what_it_knows(state_dict):
    return {_whole_names(32)[name]: tensor for name, tensor in state_dict.items()}


def rename_as_parameters(state_dict):
    return {
        name: nn.Parameter(t, requires_grad=False)
        for name, t in by_pieces(state_dict).items()
    }


def rename_without_history(state_dict):
    return {name: t.detach() for name, t in by_pieces(state_dict).items()}


@wrong("first digit")
def rename_one_character(state_dict):
    renamed = {}
    for name, tensor in state_dict.items():
        if name.startswith("blocks."):
            number = name[len("blocks.")]
            name = f"blocks.{number}." + name.split(".", 2)[2]
        renamed[name] = tensor
    return by_pieces(renamed)


@wrong("changes its input")
def rename_with_pop(state_dict):
    for name in list(state_dict):
        (new,) = by_pieces({name: None})
        state_dict[new] = state_dict.pop(name)
    return state_dict
