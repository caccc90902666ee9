import torch
from torch import nn

from tests.checks.answers import wrong_edits


@wrong_edits("""
multiplied by std: weight / std -> weight * std
bias unchanged: - (folded * mean[:, None, None]).sum(dim=(1, 2, 3)) -> nothing
mean not scaled: (folded * mean -> (weight * mean
as if: bias - ( -> bias + (
averaged over the patch: .sum(dim=(1, 2, 3)) -> .sum(1).mean((1, 2))
changes its input: weight / std[:, None, None] -> weight.div_(std[:, None, None])
""")
def fold_with_broadcasting(weight, bias, mean, std):
    folded = weight / std[:, None, None]
    return folded, bias - (folded * mean[:, None, None]).sum(dim=(1, 2, 3))


def fold_with_einsum(weight, bias, mean, std):
    new = torch.einsum("dcij,c->dcij", weight, 1 / std)
    return new, bias - torch.einsum("dcij,c->d", new, mean)


def fold_by_asking_the_layer(weight, bias, mean, std):
    picture = (-mean / std).reshape(1, -1, 1, 1).expand(1, *weight.shape[1:])
    moved = nn.functional.conv2d(picture, weight, bias)
    return weight / std.reshape(1, -1, 1, 1), moved.flatten()


def fold_channel_by_channel(weight, bias, mean, std):
    weight, bias = weight.clone(), bias.clone()
    for c in range(weight.shape[1]):
        weight[:, c] /= std[c]
        bias -= weight[:, c].sum(dim=(1, 2)) * mean[c]
    return (weight, bias)
