from einops import rearrange


def split_with_einops(x, num_heads):
    return rearrange(x, "b t (h d) -> b h t d", h=num_heads)


def merge_with_einops(x):
    return rearrange(x, "b h t d -> b t (h d)")
