import re
from collections import OrderedDict

import torch
from einops import rearrange
from torch import nn

from tests.answers import right, wrong
from vit_steps.pretrained import load_weights


@right("join_qkv")
def join_with_cat(q_weight, q_bias, k_weight, k_bias, v_weight, v_bias):
    weight = torch.cat([q_weight, k_weight, v_weight], dim=0)
    return weight, torch.cat([q_bias, k_bias, v_bias], dim=0)


@right("join_qkv")
def join_into_an_empty_one(qw, qb, kw, kb, vw, vb):
    D = qb.numel()
    weight, bias = qw.new_empty(3 * D, D), qb.new_empty(3 * D)
    for i, (w, b) in enumerate([(qw, qb), (kw, kb), (vw, vb)]):
        weight[i * D : (i + 1) * D] = w
        bias[i * D : (i + 1) * D] = b
    return weight, bias


@right("join_qkv")
def join_with_einops(*parts):
    weight = rearrange(list(parts[::2]), "three out col -> (three out) col")
    return [weight, rearrange(list(parts[1::2]), "three out -> (three out)")]


@right("join_qkv")
def join_in_a_linear_layer(qw, qb, kw, kb, vw, vb):
    layer = nn.Linear(qw.shape[1], 3 * qw.shape[0], dtype=qw.dtype)
    layer.weight.data = torch.vstack([qw, kw, vw])
    layer.bias.data = torch.hstack([qb, kb, vb])
    return layer.weight, layer.bias


@wrong("join_qkv", "q and k swapped")
def join_keys_first(qw, qb, kw, kb, vw, vb):
    return torch.cat([kw, qw, vw]), torch.cat([kb, qb, vb])


@wrong("join_qkv", "k and v swapped")
def join_by_the_alphabet_backwards(qw, qb, kw, kb, vw, vb):
    return torch.vstack((qw, vw, kw)), torch.hstack((qb, vb, kb))


@wrong("join_qkv", "k first")
def join_as_key_value_query(qw, qb, kw, kb, vw, vb):
    return torch.cat([kw, vw, qw]), torch.cat([kb, vb, qb])


@wrong("join_qkv", "biases in another order")
def join_biases_otherwise(qw, qb, kw, kb, vw, vb):
    return torch.cat([qw, kw, vw]), torch.cat([kb, qb, vb])


@wrong("join_qkv", "rows interleaved")
def join_row_by_row(qw, qb, kw, kb, vw, vb):
    weight = rearrange([qw, kw, vw], "three out col -> (out three) col")
    return weight, rearrange([qb, kb, vb], "three out -> (out three)")


@wrong("join_qkv", "side by side")
def join_along_the_last_axis(qw, qb, kw, kb, vw, vb):
    return torch.cat([qw, kw, vw], dim=-1), torch.cat([qb, kb, vb], dim=-1)


@wrong("join_qkv", "each transposed")
def join_as_in_tensorflow(qw, qb, kw, kb, vw, vb):
    return torch.cat([qw.t(), kw.t(), vw.t()]), torch.cat([qb, kb, vb])


@wrong("join_qkv", "biases forgotten")
def join_weights_alone(qw, qb, kw, kb, vw, vb):
    return torch.cat([qw, kw, vw])


@wrong("join_qkv", "biases of zero")
def join_with_a_new_layer(qw, qb, kw, kb, vw, vb):
    layer = nn.Linear(qw.shape[1], 3 * len(qw)).to(qw.dtype)
    nn.init.zeros_(layer.bias)
    layer.weight.data = torch.cat([qw, kw, vw])
    return layer.weight, layer.bias


@wrong("join_qkv", "stacked")
def join_with_stack(*parts):
    return torch.stack(parts[::2]), torch.stack(parts[1::2])


@wrong("join_qkv", "dtype")
def join_in_float32(qw, qb, kw, kb, vw, vb):
    D = len(qw)
    weight, bias = torch.zeros(3 * D, D), torch.zeros(3 * D)
    weight[:D], weight[D : 2 * D], weight[2 * D :] = qw, kw, vw
    bias[:D], bias[D : 2 * D], bias[2 * D :] = qb, kb, vb
    return weight, bias


@right("logits_agree")
def agree_with_all(got, expected, atol):
    return got.shape == expected.shape and bool(((got - expected).abs() <= atol).all())


@right("logits_agree")
def agree_with_allclose(got, expected, atol):
    if got.size() != expected.size():
        return False
    return torch.allclose(got, expected, rtol=0, atol=atol)


@right("logits_agree")
def agree_with_assert_close(got, expected, atol):
    try:
        torch.testing.assert_close(got, expected, rtol=0, atol=atol)
    except AssertionError:
        return False
    return True


@right("logits_agree")
def agree_with_not(got, expected, atol):
    if got.shape != expected.shape:
        return False
    return not (got - expected).abs().max().item() > atol and not got.isnan().any()


@wrong("logits_agree", "as it was")
def agree_as_a_colleague_wrote(got, expected, atol):
    difference = got - expected
    if difference.max() > atol:
        return False
    return True


@wrong("logits_agree", "sign")
def agree_without_abs(got, expected, atol):
    return got.shape == expected.shape and (got - expected).max() < atol


@wrong("logits_agree", "NaN passes")
def agree_unless_large(got, expected, atol):
    if got.shape != expected.shape or (got - expected).abs().max() > atol:
        return False
    return True


@wrong("logits_agree", "NaN and shapes")
def agree_with_abs_added(got, expected, atol):
    return not (got - expected).abs().max() > atol


@wrong("logits_agree", "broadcast")
def agree_in_any_shape(got, expected, atol):
    return torch.allclose(got, expected, rtol=0, atol=atol)


@wrong("logits_agree", "mean")
def agree_on_average(got, expected, atol):
    return got.shape == expected.shape and nn.L1Loss()(got, expected).item() <= atol


@wrong("logits_agree", "relative")
def agree_with_default_rtol(got, expected, atol):
    try:
        torch.testing.assert_close(got, expected, rtol=1e-5, atol=atol)
        return True
    except AssertionError:
        return False


@wrong("logits_agree", "answers alone")
def agree_in_their_answers(got, expected, atol):
    return torch.equal(got.argmax(dim=1), expected.argmax(dim=1))


@wrong("logits_agree", "to the bit")
def agree_exactly(got, expected, atol):
    return torch.equal(got, expected)


@wrong("logits_agree", "value")
def agree_with_a_number(got, expected, atol):
    return (got - expected).abs().max().item()


@right("linear_to_conv")
def conv_with_einops(weight, patch_size):
    pattern = "d (p1 p2 c) -> d c p1 p2"
    return rearrange(weight, pattern, p1=patch_size, p2=patch_size)


@right("linear_to_conv")
def conv_with_unflatten(weight, patch_size):
    return weight.unflatten(1, (patch_size, patch_size, -1)).movedim(-1, 1)


@right("linear_to_conv")
def conv_pixel_by_pixel(weight, patch_size):
    D, P = len(weight), patch_size
    C = weight.shape[1] // P**2
    conv = weight.new_zeros(D, C, P, P)
    for row in range(P):
        for column in range(P):
            start = (row * P + column) * C
            conv[:, :, row, column] = weight[:, start : start + C]
    return conv


@wrong("linear_to_conv", "reshaped alone")
def conv_with_view(weight, patch_size):
    C = weight.size(1) // patch_size**2
    return weight.view(weight.size(0), C, patch_size, patch_size)


@wrong("linear_to_conv", "rows and columns swapped")
def conv_columns_first(weight, patch_size):
    pattern = "d (p1 p2 c) -> d c p2 p1"
    return rearrange(weight, pattern, p1=patch_size, p2=patch_size)


@wrong("linear_to_conv", "channels last")
def conv_as_in_tensorflow(weight, patch_size):
    pattern = "d (p1 p2 c) -> d p1 p2 c"
    return rearrange(weight, pattern, p1=patch_size, p2=patch_size)


@wrong("linear_to_conv", "channels in the middle")
def conv_row_channel_column(weight, patch_size):
    pattern = "d (p1 c p2) -> d c p1 p2"
    return rearrange(weight, pattern, p1=patch_size, p2=patch_size)


@wrong("linear_to_conv", "weight turned")
def conv_of_a_kernel(weight, patch_size):
    P, D = patch_size, weight.shape[0]
    return weight.reshape(P, P, weight.shape[1] // P**2, D).permute(3, 2, 0, 1)


@wrong("linear_to_conv", "flipped")
def conv_of_mathematics(weight, patch_size):
    return torch.flip(conv_with_einops(weight, patch_size), dims=[-1, -2])


@wrong("linear_to_conv", "C before D")
def conv_in_out(weight, patch_size):
    pattern = "d (p1 p2 c) -> c d p1 p2"
    return rearrange(weight, pattern, p1=patch_size, p2=patch_size)


@wrong("linear_to_conv", "raises")
def conv_of_colour_pictures(weight, patch_size):
    P = patch_size
    return weight.reshape(len(weight), P, P, 3).permute(0, 3, 1, 2)


@wrong("linear_to_conv", "flattened")
def conv_still_flat(weight, patch_size):
    pattern = "d (p1 p2 c) -> d (c p1 p2)"
    return rearrange(weight, pattern, p1=patch_size, p2=patch_size)


@right("fold_normalisation")
def fold_with_broadcasting(weight, bias, mean, std):
    folded = weight / std[:, None, None]
    return folded, bias - (folded * mean[:, None, None]).sum(dim=(1, 2, 3))


@right("fold_normalisation")
def fold_with_einsum(weight, bias, mean, std):
    new = torch.einsum("dcij,c->dcij", weight, 1 / std)
    return new, bias - torch.einsum("dcij,c->d", new, mean)


@right("fold_normalisation")
def fold_by_asking_the_layer(weight, bias, mean, std):
    picture = (-mean / std).reshape(1, -1, 1, 1).expand(1, *weight.shape[1:])
    moved = nn.functional.conv2d(picture, weight, bias)
    return weight / std.reshape(1, -1, 1, 1), moved.flatten()


@right("fold_normalisation")
def fold_channel_by_channel(weight, bias, mean, std):
    weight, bias = weight.clone(), bias.clone()
    for c in range(weight.shape[1]):
        weight[:, c] /= std[c]
        bias -= weight[:, c].sum(dim=(1, 2)) * mean[c]
    return (weight, bias)


@wrong("fold_normalisation", "multiplied by std")
def fold_the_wrong_way(weight, bias, mean, std):
    folded = weight * std.view(1, -1, 1, 1)
    return folded, bias - (folded * mean.view(1, -1, 1, 1)).sum((1, 2, 3))


@wrong("fold_normalisation", "bias unchanged")
def fold_std_alone(weight, bias, mean, std):
    return weight / std.view(1, -1, 1, 1), bias


@wrong("fold_normalisation", "mean not scaled")
def fold_mean_with_the_old_weight(weight, bias, mean, std):
    shift = torch.einsum("dcij,c->d", weight, mean)
    return weight / std.view(1, -1, 1, 1), bias - shift


@wrong("fold_normalisation", "sign")
def fold_plus(weight, bias, mean, std):
    folded = weight / std.view(1, -1, 1, 1)
    return folded, bias + folded.sum((2, 3)) @ mean


@wrong("fold_normalisation", "old bias lost")
def fold_into_a_new_bias(weight, bias, mean, std):
    folded = weight / std.view(1, -1, 1, 1)
    return folded, -(folded.sum((2, 3)) @ mean)


@wrong("fold_normalisation", "averaged over the patch")
def fold_means(weight, bias, mean, std):
    folded = weight / std.view(1, -1, 1, 1)
    return folded, bias - folded.mean((2, 3)) @ mean


@wrong("fold_normalisation", "columns for channels")
def fold_by_accident(weight, bias, mean, std):
    folded = weight / std
    return folded, bias - (folded * mean).sum((1, 2, 3))


@wrong("fold_normalisation", "changes its input")
def fold_in_place(weight, bias, mean, std):
    weight /= std.view(1, -1, 1, 1)
    return weight, bias - weight.sum((2, 3)) @ mean


@wrong("fold_normalisation", "weight alone")
def fold_the_weight(weight, bias, mean, std):
    return weight / std[None, :, None, None]


@wrong("fold_normalisation", "variance")
def fold_twice(weight, bias, mean, std):
    folded = weight / std.view(1, -1, 1, 1) ** 2
    return folded, bias - folded.sum((2, 3)) @ mean


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


def by_pieces(state_dict, pieces=PIECES):
    renamed = {}
    for name, tensor in state_dict.items():
        for old, new in pieces.items():
            name = name.replace(old, new)
        renamed[name] = tensor
    return renamed


@right("rename_weights")
def rename_by_pieces(state_dict):
    return by_pieces(state_dict)


@right("rename_weights")
def rename_by_patterns(state_dict):
    rules = [
        (r"^norm\.", "encoder.ln."),
        (r"\.norm([12])\.", r".ln_\1."),
        (r"^blocks\.(\d+)\.", r"encoder.layers.encoder_layer_\1."),
        (r"attn\.qkv\.(weight|bias)", r"self_attention.in_proj_\1"),
        (r"attn\.proj", "self_attention.out_proj"),
        (r"mlp\.fc1", "mlp.0"),
        (r"mlp\.fc2", "mlp.3"),
        (r"^pos_embed$", "encoder.pos_embedding"),
        (r"^cls_token$", "class_token"),
        (r"^patch_embed\.proj", "conv_proj"),
        (r"^head\.", "heads.head."),
    ]
    renamed = OrderedDict()
    for name in sorted(state_dict):
        tensor = state_dict[name]
        for pattern, new in rules:
            name = re.sub(pattern, new, name)
        renamed[name] = tensor.clone()
    return renamed


@right("rename_weights")
def rename_name_by_name(state_dict):
    left = dict(state_dict)
    table = {
        "class_token": "cls_token",
        "encoder.pos_embedding": "pos_embed",
    }
    for p in ("weight", "bias"):
        table[f"conv_proj.{p}"] = f"patch_embed.proj.{p}"
        table[f"encoder.ln.{p}"] = f"norm.{p}"
        table[f"heads.head.{p}"] = f"head.{p}"
        block = 0
        while f"blocks.{block}.norm1.weight" in left:
            ours, theirs = f"blocks.{block}", f"encoder.layers.encoder_layer_{block}"
            for one, other in (
                ("norm1.", "ln_1."),
                ("attn.qkv.", "self_attention.in_proj_"),
                ("attn.proj.", "self_attention.out_proj."),
                ("norm2.", "ln_2."),
                ("mlp.fc1.", "mlp.0."),
                ("mlp.fc2.", "mlp.3."),
            ):
                table[f"{theirs}.{other}{p}"] = f"{ours}.{one}{p}"
            block += 1
    return {theirs: left.pop(ours) for theirs, ours in table.items()} | left


@right("rename_weights")
def rename_by_splitting(state_dict):
    inside = {
        "norm1": "ln_1.",
        "norm2": "ln_2.",
        "attn.qkv": "self_attention.in_proj_",
        "attn.proj": "self_attention.out_proj.",
        "mlp.fc1": "mlp.0.",
        "mlp.fc2": "mlp.3.",
    }
    outside = {
        "cls_token": "class_token",
        "pos_embed": "encoder.pos_embedding",
        "patch_embed.proj": "conv_proj",
        "norm": "encoder.ln",
        "head": "heads.head",
    }
    renamed = {}
    for name, tensor in state_dict.items():
        layer, _, kind = name.rpartition(".")
        if name.startswith("blocks."):
            _, number, part = layer.split(".", 2)
            new = f"encoder.layers.encoder_layer_{number}.{inside[part]}{kind}"
        elif layer in outside:
            new = f"{outside[layer]}.{kind}"
        else:
            new = outside.get(name, name)
        renamed[new] = tensor
    return renamed


@wrong("rename_weights", "unchanged")
def rename_and_forget(state_dict):
    renamed = {}
    for name, tensor in state_dict.items():
        for old, new in PIECES.items():
            name.replace(old, new)
        renamed[name] = tensor
    return renamed


@wrong("rename_weights", "blocks from 1")
def rename_counting_from_one(state_dict):
    return {
        re.sub(r"layer_(\d+)", lambda m: f"layer_{int(m[1]) + 1}", name): tensor
        for name, tensor in by_pieces(state_dict).items()
    }


@wrong("rename_weights", "first digit")
def rename_one_character(state_dict):
    renamed = {}
    for name, tensor in state_dict.items():
        if name.startswith("blocks."):
            number = name[len("blocks.")]
            name = f"blocks.{number}." + name.split(".", 2)[2]
        renamed[name] = tensor
    return by_pieces(renamed)


@wrong("rename_weights", "norms swapped")
def rename_norms_otherwise(state_dict):
    return by_pieces(state_dict, PIECES | {"norm1": "ln_2", "norm2": "ln_1"})


@wrong("rename_weights", "MLP swapped")
def rename_mlp_otherwise(state_dict):
    return by_pieces(state_dict, PIECES | {"mlp.fc2": "mlp.0", "mlp.fc1": "mlp.3"})


@wrong("rename_weights", "dot left")
def rename_with_a_dot(state_dict):
    pieces = PIECES | {"attn.qkv.": "self_attention.in_proj."}
    return by_pieces(state_dict, pieces)


@wrong("rename_weights", "MLP numbers kept")
def rename_fc_by_its_number(state_dict):
    return {
        new.replace("mlp.0", "mlp.1").replace("mlp.3", "mlp.2"): tensor
        for new, tensor in by_pieces(state_dict).items()
    }


@wrong("rename_weights", "head left")
def rename_all_but_the_head(state_dict):
    return by_pieces(state_dict, {o: n for o, n in PIECES.items() if o != "head"})


@wrong("rename_weights", "biases forgotten")
def rename_weights_alone(state_dict):
    return {
        name: tensor
        for name, tensor in by_pieces(state_dict).items()
        if not name.endswith("bias")
    }


@wrong("rename_weights", "token and positions dropped")
def rename_layers(state_dict):
    return {
        name: tensor
        for name, tensor in by_pieces(state_dict).items()
        if name.endswith(("weight", "bias"))
    }


@wrong("rename_weights", "old names kept")
def rename_into_the_same(state_dict):
    both = dict(state_dict)
    both.update(by_pieces(state_dict))
    return both


@wrong("rename_weights", "weights transposed")
def rename_and_turn(state_dict):
    return {
        name: tensor.t() if tensor.dim() == 2 else tensor
        for name, tensor in by_pieces(state_dict).items()
    }


@wrong("rename_weights", "unknown names vanish")
def rename_what_is_known(state_dict):
    return {
        new: tensor
        for (old, tensor), new in zip(
            state_dict.items(), by_pieces(state_dict), strict=True
        )
        if old != new
    }


@wrong("rename_weights", "changes its input")
def rename_with_pop(state_dict):
    for name in list(state_dict):
        (new,) = by_pieces({name: None})
        state_dict[new] = state_dict.pop(name)
    return state_dict


@wrong("rename_weights", "norm inside norm1")
def rename_norm_first(state_dict):
    return by_pieces(state_dict, {"norm": "encoder.ln"} | PIECES)


@wrong("rename_weights", "missing")
def rename_without_the_last_norm(state_dict):
    return by_pieces(state_dict, {o: n for o, n in PIECES.items() if o != "norm."})


@wrong("rename_weights", "type")
def rename_into_a_list(state_dict):
    return list(by_pieces(state_dict).items())


def faults(model, state_dict):
    own = model.state_dict()
    missing = sorted(set(own) - set(state_dict))
    unexpected = sorted(set(state_dict) - set(own))
    both = set(own) & set(state_dict)
    shapes = sorted(n for n in both if own[n].shape != state_dict[n].shape)
    return missing, unexpected, shapes


@right("load_checked")
def load_by_sets(model, state_dict):
    missing, unexpected, shapes = faults(model, state_dict)
    if missing or unexpected or shapes:
        raise ValueError(f"missing {missing}, unexpected {unexpected}, shape {shapes}")
    model.load_state_dict(state_dict)


@right("load_checked")
def load_line_by_line(model, state_dict):
    own = dict(model.state_dict())
    lines = []
    for name, tensor in state_dict.items():
        if name not in own:
            lines.append(f"{name}: unexpected")
        elif own[name].size() != tensor.size():
            lines.append(f"{name}: {tuple(tensor.size())}, not {own[name].size()}")
        own.pop(name, None)
    lines += [f"{name}: missing" for name in own]
    if lines:
        raise ValueError("\n".join(lines))
    with torch.no_grad():
        for name, tensor in model.state_dict().items():
            tensor.copy_(state_dict[name])
    return model


@right("load_checked")
def load_as_the_package(model, state_dict):
    return load_weights(model, state_dict)


@right("load_checked")
def load_and_go_back(model, state_dict):
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    try:
        model.load_state_dict(state_dict)
    except RuntimeError as error:
        model.load_state_dict(before)
        raise ValueError(f"nothing was loaded: {error}") from error


@wrong("load_checked", "PyTorch's own error")
def load_strictly(model, state_dict):
    model.load_state_dict(state_dict, strict=True)
    return model


@wrong("load_checked", "half loaded")
def load_and_translate(model, state_dict):
    try:
        model.load_state_dict(state_dict)
    except Exception as error:
        raise ValueError(f"does not fit: {error}") from error


@wrong("load_checked", "strict=False")
def load_loosely(model, state_dict):
    report = model.load_state_dict(state_dict, strict=False)
    if report.missing_keys or report.unexpected_keys:
        raise ValueError(str(report))


@wrong("load_checked", "what fits")
def load_what_fits(model, state_dict):
    own = model.state_dict()
    for name, tensor in state_dict.items():
        if name in own and own[name].shape == tensor.shape:
            own[name].copy_(tensor)
    return model


@wrong("load_checked", "missing ignored")
def load_looking_at_the_file(model, state_dict):
    _, unexpected, shapes = faults(model, state_dict)
    if unexpected or shapes:
        raise ValueError(f"{unexpected} {shapes}")
    model.load_state_dict(state_dict, strict=False)


@wrong("load_checked", "unexpected ignored")
def load_looking_at_the_model(model, state_dict):
    missing, _, shapes = faults(model, state_dict)
    if missing or shapes:
        raise ValueError(f"{missing} {shapes}")
    model.load_state_dict(state_dict, strict=False)


@wrong("load_checked", "shapes ignored")
def load_looking_at_names(model, state_dict):
    missing, unexpected, _ = faults(model, state_dict)
    if missing or unexpected:
        raise ValueError(f"missing: {missing}, unexpected: {unexpected}")
    model.load_state_dict(state_dict)


@wrong("load_checked", "one kind at a time")
def load_one_complaint_after_another(model, state_dict):
    for names in faults(model, state_dict):
        if names:
            raise ValueError(f"{names}")
    model.load_state_dict(state_dict)


@wrong("load_checked", "no names")
def load_with_a_short_message(model, state_dict):
    if any(faults(model, state_dict)):
        raise ValueError("state dict does not match the model")
    model.load_state_dict(state_dict)


@wrong("load_checked", "assert")
def load_with_assert(model, state_dict):
    for names in faults(model, state_dict):
        assert not names, names
    model.load_state_dict(state_dict)


@wrong("load_checked", "printed")
def load_or_print(model, state_dict):
    if any(faults(model, state_dict)):
        print("does not fit:", *faults(model, state_dict))
        return
    model.load_state_dict(state_dict)


@wrong("load_checked", "not loaded")
def load_nothing(model, state_dict):
    if any(faults(model, state_dict)):
        raise ValueError(str(faults(model, state_dict)))
    model.state_dict().update(state_dict)


@wrong("load_checked", "by place")
def load_in_order(model, state_dict):
    names = list(model.state_dict())
    model.load_state_dict(dict(zip(names, state_dict.values(), strict=True)))


@wrong("load_checked", "shapes by count")
def load_by_number_of_numbers(model, state_dict):
    own = model.state_dict()
    missing, unexpected, _ = faults(model, state_dict)
    both = [name for name in own if name in state_dict]
    sizes = [n for n in both if own[n].numel() != state_dict[n].numel()]
    if missing or unexpected or sizes:
        raise ValueError(f"{missing} {unexpected} {sizes}")
    for name, tensor in own.items():
        tensor.copy_(state_dict[name].view(tensor.shape))


@wrong("load_checked", "changes its input")
def load_and_empty(model, state_dict):
    for name, parameter in model.state_dict().items():
        parameter.copy_(state_dict.pop(name))
    if state_dict:
        raise ValueError(f"unexpected: {list(state_dict)}")


@wrong("load_checked", "looked up too early")
def load_comparing_what_is_not_there(model, state_dict):
    own = model.state_dict()
    missing = [name for name in own if name not in state_dict]
    unexpected = [name for name in state_dict if name not in own]
    shapes = [name for name in own if own[name].shape != state_dict[name].shape]
    if missing or unexpected or shapes:
        raise ValueError(f"{missing} {unexpected} {shapes}")
    model.load_state_dict(state_dict)


@wrong("load_checked", "parameters alone")
def load_without_buffers(model, state_dict):
    own = dict(model.named_parameters())
    missing = [name for name in own if name not in state_dict]
    unexpected = [name for name in state_dict if name not in own]
    both = [name for name in own if name in state_dict]
    shapes = [name for name in both if own[name].shape != state_dict[name].shape]
    if missing or unexpected or shapes:
        raise ValueError(f"{missing} {unexpected} {shapes}")
    model.load_state_dict(state_dict)


@wrong("load_checked", "buffers not loaded")
def load_parameter_by_parameter(model, state_dict):
    if any(faults(model, state_dict)):
        raise ValueError(str(faults(model, state_dict)))
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(state_dict[name])


@wrong("fold_normalisation", "summed over the outputs")
def fold_with_one_sum(weight, bias, mean, std):
    folded = weight / std.view(-1, 1, 1)
    return folded, bias - (folded * mean.view(-1, 1, 1)).sum()


@wrong("logits_agree", "two NaN agree")
def agree_with_equal_nan(got, expected, atol):
    if got.shape != expected.shape:
        return False
    close = torch.isclose(got, expected, rtol=0, atol=atol, equal_nan=True)
    return close.all().item()


@wrong("load_checked", "order matters")
def load_comparing_lists(model, state_dict):
    if list(model.state_dict()) != list(state_dict):
        raise ValueError(str(faults(model, state_dict)))
    if any(faults(model, state_dict)):
        raise ValueError(str(faults(model, state_dict)))
    model.load_state_dict(state_dict)
