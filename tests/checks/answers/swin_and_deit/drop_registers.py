import torch

from tests.checks.answers import right, wrong


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


@wrong("drop_registers", "class token dropped")
def takes_the_first(tokens, num_registers):
    return tokens[:, num_registers:]


@wrong("drop_registers", "class token dropped as well")
def keeps_patches_alone(tokens, num_registers):
    return tokens[:, num_registers + 1 :, :]


@wrong("drop_registers", "last tokens dropped")
def takes_the_last(tokens, num_registers):
    return tokens[:, : tokens.shape[1] - num_registers]


@wrong("drop_registers", "patches dropped")
def keeps_the_wrong_side(tokens, num_registers):
    return tokens[:, : num_registers + 1]


@wrong("drop_registers", "one too few")
def off_by_one(tokens, num_registers):
    places = [i for i in range(tokens.shape[1]) if not 1 <= i < num_registers]
    return tokens[:, places]


@wrong("drop_registers", "one too many")
def off_by_one_the_other_way(tokens, num_registers):
    return torch.cat([tokens[:, :1], tokens[:, num_registers + 2 :]], 1)


@wrong("drop_registers", "class token last")
def joins_in_the_wrong_order(tokens, num_registers):
    return torch.cat([tokens[:, num_registers + 1 :], tokens[:, :1]], 1)


@wrong("drop_registers", "zeroed")
def multiplies_by_zero(tokens, num_registers):
    keep = torch.ones(tokens.shape[1], 1, dtype=tokens.dtype)
    keep[1 : 1 + num_registers] = 0
    return tokens * keep


@wrong("drop_registers", "nothing dropped")
def forgets_to_drop(tokens, num_registers):
    return tokens


@wrong("drop_registers", "numbers dropped")
def drops_along_the_last_axis(tokens, num_registers):
    return torch.cat([tokens[..., :1], tokens[..., num_registers + 1 :]], dim=-1)


@wrong("drop_registers", "registers alone")
def keeps_what_should_go(tokens, num_registers):
    return tokens[:, 1 : num_registers + 1]


def of_a_batch(B):
    def drop(tokens, num_registers):
        rest = torch.cat([tokens[:, :1], tokens[:, 1 + num_registers :]], dim=1)
        return rest.reshape(B, -1, tokens.shape[2])

    return drop


for size in (2, 3, 4):
    wrong("drop_registers", "built in")(of_a_batch(size))


@wrong("drop_registers", "shape")
def cut_from_behind(tokens, num_registers):
    patches = tokens[:, 1:].roll(-num_registers, 1)[:, :-num_registers]
    return torch.cat([tokens[:, :1], patches], dim=1)
