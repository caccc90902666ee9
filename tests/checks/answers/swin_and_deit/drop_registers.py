import torch

from tests.checks.answers import right, wrong, wrong_edits


@right("drop_registers")
def joins_what_is_left(tokens, num_registers):
    return torch.cat([tokens[:, :1], tokens[:, 1 + num_registers :]], dim=1)


@right("drop_registers")
def keeps_by_mask(tokens, num_registers):
    keep = torch.ones(tokens.shape[1], dtype=torch.bool)
    keep[1 : 1 + num_registers] = False
    return tokens[:, keep]


@right("drop_registers")
def splits_and_joins(tokens, num_registers):
    rest = tokens.shape[1] - 1 - num_registers
    class_token, _, patches = tokens.split([1, num_registers, rest], dim=1)
    return torch.cat((class_token, patches), 1)


@right("drop_registers")
def chooses_places(tokens, num_registers):
    places = [0, *range(num_registers + 1, tokens.size(1))]
    return tokens[:, places, :]


def of_a_batch(B):
    def drop(tokens, num_registers):
        rest = torch.cat([tokens[:, :1], tokens[:, 1 + num_registers :]], dim=1)
        return rest.reshape(B, -1, tokens.shape[2])

    return drop


for size in (2, 3, 4):
    wrong("drop_registers", "built in")(of_a_batch(size))

OF_JOINS_WHAT_IS_LEFT = """
class token dropped
  = lambda tokens, num_registers: tokens[:, num_registers:]
class token dropped as well
  tokens[:, :1], -> nothing
last tokens dropped
  = lambda tokens, num_registers: tokens[:, : tokens.shape[1] - num_registers]
"""

OF_CHOOSES_PLACES = """
one too few
  num_registers + 1 -> num_registers
"""

OF_KEEPS_BY_MASK = """
zeroed
  tokens[:, keep] -> tokens * keep[:, None]
"""

wrong_edits("drop_registers", joins_what_is_left, OF_JOINS_WHAT_IS_LEFT)
wrong_edits("drop_registers", chooses_places, OF_CHOOSES_PLACES)
wrong_edits("drop_registers", keeps_by_mask, OF_KEEPS_BY_MASK)


@wrong("drop_registers", "shape")
def cut_from_behind(tokens, num_registers):
    patches = tokens[:, 1:].roll(-num_registers, 1)[:, :-num_registers]
    return torch.cat([tokens[:, :1], patches], dim=1)
