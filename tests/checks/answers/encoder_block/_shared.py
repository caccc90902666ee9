import torch

from vit_steps import optional

TIMM, TORCHVISION = optional.timm(), optional.torchvision()


def by_the_formula(x, weight, bias, eps=1e-6):
    mean = x.mean(-1, keepdim=True)
    var = ((x - mean) ** 2).mean(-1, keepdim=True)
    return weight * (x - mean) / torch.sqrt(var + eps) + bias
