from torch import nn

from tests.checks.answers import wrong_edits

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
OTHERS = (
    "fc_norm",
    "head_dist",
    "aux_head",
    "blocks.0.ls1",
    "backbone",
    "pos_embed_win",
)


@wrong_edits("""
copied: [name] = tensor -> [name] = tensor.clone()
norms swapped: PIECES.items() -> (PIECES | {"norm1": "ln_2", "norm2": "ln_1"}).items()
MLP numbers kept
  renamed[name] -> renamed[name.replace("mlp.0", "mlp.1").replace("mlp.3", "mlp.2")]
unknown names vanish: renamed[name] = -> if name not in state_dict: renamed[name] =
norm inside norm1: PIECES.items() -> ({"norm": "encoder.ln"} | PIECES).items()
not a dictionary: return renamed -> return list(renamed.items())
piece of another name: OTHERS -> OTHERS[:1] + OTHERS[2:]
missing: OTHERS -> (*OTHERS, *(f"blocks.{number}." for number in range(12, 100)))
    twelve blocks are renamed
raises: ] = tensor -> ] = tensor if name not in state_dict else {}[name]
first digit: renamed[name] -> renamed[re.sub("(?<=layer_[0-9])[0-9]", "", name)]
changes its input: return renamed
  -> state_dict.clear(); state_dict.update(renamed); return state_dict
""")
def by_pieces(state_dict):
    renamed = {}
    for name, tensor in state_dict.items():
        for old, new in PIECES.items():
            if not name.startswith(OTHERS):
                name = name.replace(old, new)
        renamed[name] = tensor
    return renamed


def rename_as_parameters(state_dict):
    return {
        name: nn.Parameter(t, requires_grad=False)
        for name, t in by_pieces(state_dict).items()
    }


def rename_without_history(state_dict):
    return {name: t.detach() for name, t in by_pieces(state_dict).items()}
