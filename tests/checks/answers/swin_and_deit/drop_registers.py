import torch

from tests.checks.answers import wrong_edits


@wrong_edits("""
class token dropped: = lambda tokens, num_registers: tokens[:, num_registers:]
class token dropped as well: tokens[:, :1], -> nothing
last tokens dropped
  = lambda tokens, num_registers: tokens[:, : tokens.shape[1] - num_registers]
built in: dim=1) -> dim=1).reshape(2, -1, tokens.shape[2])
built in: dim=1) -> dim=1).reshape(3, -1, tokens.shape[2])
built in: dim=1) -> dim=1).reshape(4, -1, tokens.shape[2])
shape: tokens[:, 1 + num_registers :]
  -> tokens[:, 1:].roll(-num_registers, 1)[:, :-num_registers]
    cut from behind
""")
def joins_what_is_left(tokens, num_registers):
    return torch.cat([tokens[:, :1], tokens[:, 1 + num_registers :]], dim=1)


def keeps_by_mask(tokens, num_registers):
    keep = torch.ones(tokens.shape[1], dtype=torch.bool)
    keep[1 : 1 + num_registers] = False
    return tokens[:, keep]


@wrong_edits("one too few: num_registers + 1 -> num_registers")
def chooses_places(tokens, num_registers):
    places = [0, *range(num_registers + 1, tokens.size(1))]
    return tokens[:, places, :]
