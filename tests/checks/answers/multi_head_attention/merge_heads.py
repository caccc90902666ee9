import torch
from einops import rearrange

from tests.checks.answers import right, wrong


@right("merge_heads")
def merge_with_contiguous(x):
    B, h, T, d = x.shape
    return x.transpose(1, 2).contiguous().view(B, T, h * d)


@right("merge_heads")
def merge_with_cat(x):
    return torch.cat([x[:, i] for i in range(x.shape[1])], dim=-1)


@wrong("merge_heads", "view instead of transpose")
def merge_with_reshape_alone(x):
    B, h, T, d = x.shape
    return x.reshape(B, T, h * d)


@wrong("merge_heads", "averaged")
def merge_by_mean(x):
    return x.sum(1) / x.shape[1]


@wrong("merge_heads", "summed")
def merge_by_sum(x):
    return torch.einsum("bhtd->btd", x)


@wrong("merge_heads", "d before h")
def merge_interleaved(x):
    return rearrange(x, "b h t d -> b t (d h)")


@wrong("merge_heads", "heads along the tokens")
def merge_below(x):
    return rearrange(x, "b h t d -> b (h t) d")


@wrong("merge_heads", "T and D swapped")
def merge_turned(x):
    return rearrange(x, "b h t d -> b (h d) t")


@wrong("merge_heads", "heads reversed")
def merge_backwards(x):
    return torch.cat(list(x.unbind(1))[::-1], dim=-1)


@wrong("merge_heads", "none")
def merge_without_return(x):
    x.transpose(1, 2).flatten(2)


@wrong("merge_heads", "not joined")
def merge_forgets_to_join(x):
    return x.transpose(1, 2)


@wrong("merge_heads", "raises")
def merge_without_contiguous(x):
    B, h, T, d = x.shape
    return x.permute(0, 2, 1, 3).view(B, T, h * d)


@wrong("merge_heads", "batch and tokens mixed")
def merge_permuted_too_far(x):
    B, h, T, d = x.shape
    return rearrange(x, "b h t d -> t b (h d)").reshape(B, T, h * d)


@wrong("merge_heads", "first head alone")
def merge_takes_one(x):
    return x[:, 0, :, :]


@right("merge_heads")
def merge_number_by_number(x):
    B, h, T, d = x.shape
    merged = x.new_zeros(B, T, h * d)
    for i in range(h):
        merged[:, :, i * d : (i + 1) * d] = x[:, i]
    return merged


@wrong("merge_heads", "built in")
def for_batches_of_five(x):
    _, h, _, d = x.shape
    return x.permute(0, 2, 1, 3).reshape(5, -1, h * d)


@wrong("merge_heads", "T and h mixed up")
def merge_into_the_axes_it_came_with(x):
    return x.swapaxes(1, 2).reshape(*x.shape[:2], -1)


@wrong("merge_heads", "heads along the tokens")
def merge_with_hstack(x):
    return torch.hstack(list(x.unbind(1)))


@right("merge_heads")
def merge_by_writing(x):
    B, h, T, d = x.shape
    out = x.new_empty(B, T, h * d)
    for i in range(h):
        out[..., i * d : (i + 1) * d] = x[:, i]
    return out
