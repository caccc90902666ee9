import torch
from einops import rearrange


def cut_with_einops(x, window_size):
    w = window_size
    return rearrange(x, "b (m i) (n j) c -> (b m n) (i j) c", i=w, j=w)


def cut_with_loops(x, window_size):
    windows = []
    for image in x:
        for top in range(0, image.shape[0], window_size):
            for left in range(0, image.shape[1], window_size):
                window = image[top : top + window_size, left : left + window_size]
                windows.append(window.flatten(0, 1))
    return torch.stack(windows)
