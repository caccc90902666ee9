import torch
from torch import nn

from tests.checks.answers import right, wrong


@right("fold_normalization")
def fold_with_broadcasting(weight, bias, mean, std):
    folded = weight / std[:, None, None]
    return folded, bias - (folded * mean[:, None, None]).sum(dim=(1, 2, 3))


@right("fold_normalization")
def fold_with_einsum(weight, bias, mean, std):
    new = torch.einsum("dcij,c->dcij", weight, 1 / std)
    return new, bias - torch.einsum("dcij,c->d", new, mean)


@right("fold_normalization")
def fold_by_asking_the_layer(weight, bias, mean, std):
    picture = (-mean / std).reshape(1, -1, 1, 1).expand(1, *weight.shape[1:])
    moved = nn.functional.conv2d(picture, weight, bias)
    return weight / std.reshape(1, -1, 1, 1), moved.flatten()


@right("fold_normalization")
def fold_channel_by_channel(weight, bias, mean, std):
    weight, bias = weight.clone(), bias.clone()
    for c in range(weight.shape[1]):
        weight[:, c] /= std[c]
        bias -= weight[:, c].sum(dim=(1, 2)) * mean[c]
    return (weight, bias)


@wrong("fold_normalization", "multiplied by std")
def fold_the_wrong_way(weight, bias, mean, std):
    folded = weight * std.view(1, -1, 1, 1)
    return folded, bias - (folded * mean.view(1, -1, 1, 1)).sum((1, 2, 3))


@wrong("fold_normalization", "bias unchanged")
def fold_std_alone(weight, bias, mean, std):
    return weight / std.view(1, -1, 1, 1), bias


@wrong("fold_normalization", "mean not scaled")
def fold_mean_with_the_old_weight(weight, bias, mean, std):
    shift = torch.einsum("dcij,c->d", weight, mean)
    return weight / std.view(1, -1, 1, 1), bias - shift


@wrong("fold_normalization", "sign")
def fold_plus(weight, bias, mean, std):
    folded = weight / std.view(1, -1, 1, 1)
    return folded, bias + folded.sum((2, 3)) @ mean


@wrong("fold_normalization", "old bias lost")
def fold_into_a_new_bias(weight, bias, mean, std):
    folded = weight / std.view(1, -1, 1, 1)
    return folded, -(folded.sum((2, 3)) @ mean)


@wrong("fold_normalization", "averaged over the patch")
def fold_means(weight, bias, mean, std):
    folded = weight / std.view(1, -1, 1, 1)
    return folded, bias - folded.mean((2, 3)) @ mean


@wrong("fold_normalization", "columns for channels")
def fold_by_accident(weight, bias, mean, std):
    folded = weight / std
    return folded, bias - (folded * mean).sum((1, 2, 3))


@wrong("fold_normalization", "changes its input")
def fold_in_place(weight, bias, mean, std):
    weight /= std.view(1, -1, 1, 1)
    return weight, bias - weight.sum((2, 3)) @ mean


@wrong("fold_normalization", "weight alone")
def fold_the_weight(weight, bias, mean, std):
    return weight / std[None, :, None, None]


@wrong("fold_normalization", "variance")
def fold_twice(weight, bias, mean, std):
    folded = weight / std.view(1, -1, 1, 1) ** 2
    return folded, bias - folded.sum((2, 3)) @ mean


@wrong("fold_normalization", "summed over the outputs")
def fold_with_one_sum(weight, bias, mean, std):
    folded = weight / std.view(-1, 1, 1)
    return folded, bias - (folded * mean.view(-1, 1, 1)).sum()
