import torch
from einops import reduce

from tests.checks.answers import right, wrong, wrong_edits
from vit_steps.attention_maps import attention_rollout

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


wrong_edits(
    "attention_rollout",
    added_and_divided,
    """
order reversed
  torch.matmul(a, result) -> torch.matmul(result, a)
no residual
  block.mean(1) + torch.eye(block.size(-1), dtype=block.dtype) -> block.mean(1)
identity added
  a = a / a.sum(dim=-1, keepdim=True) -> nothing
largest head, divided
  block.mean(1) -> block.max(dim=1).values
divided by columns
  a.sum(dim=-1 -> a.sum(dim=1
number by number
  torch.eye(weights[0].size(-1), dtype=weights[0].dtype) -> 1
  torch.matmul(a, result) -> a * result
sum of blocks
  torch.eye(weights[0].size(-1), dtype=weights[0].dtype) -> 0
  torch.matmul(a, result) -> a + result
last block alone
  torch.matmul(a, result) -> a
residual once
  block.mean(1) + torch.eye(block.size(-1), dtype=block.dtype) -> block.mean(1)
  return result -> return 0.5 * result + 0.5 * torch.eye(result.size(-1)).to(result)
heads summed and divided
  block.mean(1) -> block.sum(1)
a half everywhere
  block.mean(1) + torch.eye(block.size(-1), dtype=block.dtype)
  -> 0.5 * block.mean(1) + 0.5
  a = a / a.sum(dim=-1, keepdim=True) -> nothing
heads averaged at the end
  block.mean(1) -> block
  return result -> return result.mean(dim=1)
tables turned
  torch.matmul(a, result) -> torch.matmul(a.mT, result)
number by number from the identity
  torch.matmul(a, result) -> a * result
""",
)
