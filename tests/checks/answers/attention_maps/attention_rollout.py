import torch
from einops import reduce

from tests.checks.answers import right, wrong
from vit_steps.attention_maps import (
    attention_rollout,
    class_token_to_patches,
)

right("attention_rollout")(attention_rollout)


@right("attention_rollout")
def added_and_divided(weights):
    result = torch.eye(weights[0].size(-1), dtype=weights[0].dtype)
    for block in weights:
        a = block.mean(1) + torch.eye(block.size(-1), dtype=block.dtype)
        a = a / a.sum(dim=-1, keepdim=True)
        result = torch.matmul(a, result)
    return result


@right("attention_rollout")
def from_the_last_backwards(weights):
    T = weights[0].shape[-1]
    rollout = None
    for block in reversed(weights):
        mixed = (
            torch.eye(T, dtype=block.dtype) + reduce(block, "b h q k -> b q k", "mean")
        ) / 2
        rollout = mixed if rollout is None else rollout @ mixed
    return rollout


@right("attention_rollout")
def path_by_path(weights):
    steps = [0.5 * w.mean(1) + 0.5 * torch.eye(w.shape[-1]).to(w) for w in weights]
    total = steps[0]
    for step in steps[1:]:
        total = torch.einsum("bts,bsu->btu", step, total)
    return total


@right("attention_rollout")
def image_by_image(weights):
    eye = torch.eye(weights[0].shape[-1], dtype=weights[0].dtype)
    images = [
        torch.linalg.multi_dot(
            [eye, *(0.5 * eye + 0.5 * w[i].mean(0) for w in reversed(weights)), eye]
        )
        for i in range(len(weights[0]))
    ]
    return torch.stack(images)


@wrong("attention_rollout", "order reversed")
def later_on_the_right(weights):
    result = torch.eye(weights[0].size(-1), dtype=weights[0].dtype)
    for block in weights:
        a = 0.5 * block.mean(1) + 0.5 * torch.eye(block.size(-1), dtype=block.dtype)
        result = result @ a
    return result


@wrong("attention_rollout", "no residual")
def attention_alone(weights):
    result = weights[0].mean(1)
    for block in weights[1:]:
        result = block.mean(1) @ result
    return result


@wrong("attention_rollout", "identity added")
def adds_identity(weights):
    result = torch.eye(weights[0].size(-1), dtype=weights[0].dtype)
    for block in weights:
        result = (block.mean(1) + torch.eye(block.size(-1)).to(block)) @ result
    return result


@wrong("attention_rollout", "largest head, divided")
def fuses_by_max(weights):
    result = torch.eye(weights[0].size(-1), dtype=weights[0].dtype)
    for block in weights:
        a = block.max(dim=1).values + torch.eye(block.size(-1)).to(block)
        result = (a / a.sum(-1, keepdim=True)) @ result
    return result


@wrong("attention_rollout", "divided by columns")
def divides_columns(weights):
    result = torch.eye(weights[0].size(-1), dtype=weights[0].dtype)
    for block in weights:
        a = block.mean(dim=1) + torch.eye(block.size(-1)).to(block)
        result = (a / a.sum(dim=1, keepdim=True)) @ result
    return result


@wrong("attention_rollout", "number by number")
def star_for_matmul(weights):
    result = None
    for block in weights:
        a = 0.5 * block.mean(1) + 0.5 * torch.eye(block.size(-1)).to(block)
        result = a if result is None else a * result
    return result


@wrong("attention_rollout", "sum of blocks")
def plus_for_matmul(weights):
    return sum(0.5 * w.mean(1) + 0.5 * torch.eye(w.size(-1)).to(w) for w in weights)


@wrong("attention_rollout", "last block alone")
def forgets_the_product(weights):
    for block in weights:
        result = 0.5 * block.mean(1) + 0.5 * torch.eye(block.size(-1)).to(block)
    return result


@wrong("attention_rollout", "turned")
def transposed(weights):
    return attention_rollout(weights).transpose(1, 2)


@wrong("attention_rollout", "map alone")
def gives_the_map(weights):
    return class_token_to_patches(attention_rollout(weights))


@wrong("attention_rollout", "residual once")
def mixes_once(weights):
    result = attention_alone(weights)
    return 0.5 * result + 0.5 * torch.eye(result.size(-1)).to(result)


@wrong("attention_rollout", "heads summed and divided")
def sums_heads(weights):
    result = torch.eye(weights[0].size(-1), dtype=weights[0].dtype)
    for block in weights:
        a = block.sum(dim=1) + torch.eye(block.size(-1)).to(block)
        result = (a / a.sum(-1, keepdim=True)) @ result
    return result


@wrong("attention_rollout", "a half everywhere")
def half_of_ones(weights):
    result = torch.eye(weights[0].size(-1), dtype=weights[0].dtype)
    for block in weights:
        result = (0.5 * block.mean(1) + 0.5) @ result
    return result


@wrong("attention_rollout", "changes its input")
def adds_in_place(weights):
    for block in weights:
        block *= 0.5
        block += 0.5 * torch.eye(block.shape[-1]).to(block)
    return path_of(weights)


def path_of(passed):
    result = passed[0].mean(1)
    for block in passed[1:]:
        result = block.mean(1) @ result
    return result


@wrong("attention_rollout", "heads averaged at the end")
def follows_each_head(weights):
    rollout = torch.eye(weights[0].shape[-1]).to(weights[0])
    for block in weights:
        rollout = (0.5 * block + 0.5 * torch.eye(block.shape[-1]).to(block)) @ rollout
    return rollout.mean(dim=1)


@right("attention_rollout")
def rollout_as_abnar_and_zuidema(weights):
    rollout = torch.eye(weights[0].shape[-1]).to(weights[0])
    for block in weights:
        with_itself = block.mean(dim=1) + torch.eye(block.shape[-1]).to(block)
        rollout = with_itself / with_itself.sum(dim=-1, keepdim=True) @ rollout
    return rollout


@wrong("attention_rollout", "tables turned")
def rollout_of_turned_tables(weights):
    identity = torch.eye(weights[0].shape[-1]).to(weights[0])
    rollout = identity
    for block in weights:
        rollout = (0.5 * identity + 0.5 * block.mean(dim=1)).mT @ rollout
    return rollout


@wrong("attention_rollout", "number by number from the identity")
def rollout_with_a_star(weights):
    identity = torch.eye(weights[0].shape[-1]).to(weights[0])
    rollout = identity
    for block in weights:
        rollout = (0.5 * identity + 0.5 * block.mean(dim=1)) * rollout
    return rollout
