import torch
from einops import reduce

from tests.checks.answers import right, wrong_edits
from vit_steps.attention_maps import attention_rollout

right(attention_rollout)


@wrong_edits("""
order reversed: torch.matmul(a, result) -> torch.matmul(result, a)
no residual
  block.mean(1) + torch.eye(block.size(-1), dtype=block.dtype) -> block.mean(1)
identity added: a = a / a.sum(dim=-1, keepdim=True) -> nothing
number by number: torch.eye(weights[0].size(-1), dtype=weights[0].dtype) -> 1
  torch.matmul(a, result) -> a * result
changes its input: block.mean(1) + torch.eye(block.size(-1), dtype=block.dtype)
  -> block.add_(torch.eye(block.size(-1))).mean(1)
""")
def added_and_divided(weights):
    result = torch.eye(weights[0].size(-1), dtype=weights[0].dtype)
    for block in weights:
        a = block.mean(1) + torch.eye(block.size(-1), dtype=block.dtype)
        a = a / a.sum(dim=-1, keepdim=True)
        result = torch.matmul(a, result)
    return result


def from_the_last_backwards(weights):
    T = weights[0].shape[-1]
    rollout = None
    for block in reversed(weights):
        mixed = (
            torch.eye(T, dtype=block.dtype) + reduce(block, "b h q k -> b q k", "mean")
        ) / 2
        rollout = mixed if rollout is None else rollout @ mixed
    return rollout


def path_by_path(weights):
    steps = [0.5 * w.mean(1) + 0.5 * torch.eye(w.shape[-1]).to(w) for w in weights]
    total = steps[0]
    for step in steps[1:]:
        total = torch.einsum("bts,bsu->btu", step, total)
    return total
