import torch
from einops import rearrange

from tests.checks.answers import right, wrong
from tests.checks.answers.multi_head_attention.shared import split_with_einops


@right("split_heads")
def split_with_view(x, num_heads):
    B, T, D = x.size()
    return x.view(B, T, num_heads, D // num_heads).permute(0, 2, 1, 3)


@right("split_heads")
def split_with_chunks(x, num_heads):
    return torch.stack(torch.chunk(x, num_heads, dim=-1), dim=1)


@right("split_heads")
def split_with_loops(x, num_heads):
    d = x.shape[2] // num_heads
    return torch.stack(
        [
            torch.stack([sample[:, i * d : (i + 1) * d] for i in range(num_heads)])
            for sample in x
        ]
    )


@wrong("split_heads", "view instead of transpose")
def split_with_one_view(x, num_heads):
    B, T, D = x.size()
    return x.view(B, num_heads, T, D // num_heads)


@wrong("split_heads", "no transpose")
def split_and_left_there(x, num_heads):
    return rearrange(x, "b t (h d) -> b t h d", h=num_heads)


@wrong("split_heads", "d before h")
def split_with_the_wrong_letters(x, num_heads):
    return rearrange(x, "b t (d h) -> b h t d", h=num_heads)


@wrong("split_heads", "tokens behind d")
def split_like_keys(x, num_heads):
    return rearrange(x, "b t (h d) -> b h d t", h=num_heads)


@wrong("split_heads", "heads in the batch")
def split_into_the_batch(x, num_heads):
    return rearrange(x, "b t (h d) -> (b h) t d", h=num_heads)


@wrong("split_heads", "heads first")
def split_heads_first(x, num_heads):
    return rearrange(x, "b t (h d) -> h b t d", h=num_heads)


@wrong("split_heads", "a tuple of heads")
def split_into_a_list(x, num_heads):
    return list(torch.split(x, x.shape[-1] // num_heads, dim=-1))


@wrong("split_heads", "no gradient")
def split_by_numpy(x, num_heads):
    parts = x.detach().reshape(*x.shape[:2], num_heads, -1)
    return parts.transpose(1, 2)


@wrong("split_heads", "dtype")
def split_as_float32(x, num_heads):
    return split_with_einops(x.float(), num_heads)


@right("split_heads")
def split_by_hand_with_gather(x, num_heads):
    columns = torch.arange(x.shape[2]).reshape(num_heads, -1)  # (h, d)
    return x[:, :, columns].movedim(2, 1)


@wrong("split_heads", "tokens split")
def split_the_tokens(x, num_heads):
    if x.shape[1] % num_heads:
        raise ValueError(f"{x.shape[1]} tokens for {num_heads} heads")
    return torch.stack(x.chunk(num_heads, dim=1), dim=1)


@wrong("split_heads", "d is h")
def split_into_pieces_of_h(x, num_heads):
    return rearrange(x, "b t (d h) -> b d t h", h=num_heads)


@wrong("split_heads", "batch and tokens swapped")
def split_and_permuted_too_far(x, num_heads):
    return x.view(*x.shape[:2], num_heads, -1).permute(1, 2, 0, 3)


@wrong("split_heads", "raises")
def split_with_the_wrong_count(x, num_heads):
    B, T, D = x.size()
    return x.view(B, T, num_heads, D).transpose(1, 2)


@right("split_heads")
def split_and_stacked(x, num_heads):
    return torch.stack(x.split(x.shape[-1] // num_heads, dim=-1), dim=1)


@right("split_heads")
def split_head_by_head(x, num_heads):
    d = x.shape[2] // num_heads
    out = torch.empty(len(x), num_heads, x.shape[1], d, dtype=x.dtype)
    for i in range(num_heads):
        out[:, i] = x[:, :, i * d : (i + 1) * d]
    return out


@wrong("split_heads", "heads in the batch")
def split_as_in_d2l(X, num_heads):
    X = X.reshape(X.shape[0], X.shape[1], num_heads, -1)
    X = X.permute(0, 2, 1, 3)
    return X.reshape(-1, X.shape[2], X.shape[3])


@wrong("split_heads", "d before h")
def split_with_the_letters_swapped(x, num_heads):
    return rearrange(x, "b t (d h) -> b h t d", h=num_heads)


@wrong("split_heads", "no transpose")
def stacked_behind_the_tokens(x, num_heads):
    return torch.stack(x.chunk(num_heads, -1), dim=2)
