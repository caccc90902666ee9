from vit_check.engine.functions import FunctionCheck
from vit_steps.attention_maps import maps

TABLE = """
class_token_attention(weights) -> (B, L, h, N)
  [*(1.5 * float64(3, 2, 4, 7, 7)).softmax(-1)]
  [*(1.5 * float32(3, 3, 3, 5, 5)).softmax(-1)]
  [*(1.5 * float64(1, 5, 1, 6, 6)).softmax(-1)]
not divided: / total.clamp_min(torch.finfo(amounts.dtype).tiny) -> nothing
    the shares are not divided by their sum, which is below 1 without the class token's
class token kept: [..., 0, num_prefix_tokens:] -> [..., 0, :]
    the class token's own share is still in the row: it has no place in the picture
last token dropped: [..., 0, num_prefix_tokens:] -> [..., 0, :-1]
    the last token is dropped, expected the first: the class token is at index 0
column for row: [..., 0, num_prefix_tokens:] -> [..., 1:, 0]
    the class token's column is taken, what patches pay to it, expected its row
softmax again: amounts / total -> amounts.softmax(dim=-1) + 0 * total
    a softmax is taken of shares, expected a division by their sum
divided by the largest: amounts.sum -> amounts.amax
    the row is divided by its largest share, expected by its sum
divided by the root of the squares: amounts.sum -> amounts.norm
    the row is divided by the root of its squares' sum, expected by its sum, p=1
stretched from 0 to 1: total = amounts.sum
  -> amounts = amounts - amounts.amin(dim=-1, keepdim=True); total = amounts.amax
    the row is stretched until it runs from 0 to 1, expected divided by its sum
divided over all: amounts.sum(dim=-1 -> amounts.sum(dim=(-2, -1)
    the shares sum to 1 over all heads together, expected over the patches of each
divided over the heads: amounts.sum(dim=-1 -> amounts.sum(dim=-2
    the shares are divided by their sum over the heads, expected over the patches
? In a (T, T) table there is a row for each token that looks and a column for each that
  is looked at. Which row, and which columns, make the picture?
? Row 0 without its first number, divided by its sum; blocks stacked after the batch.
? row = block[:, :, 0, 1:]; row / row.sum(dim=-1, keepdim=True); torch.stack(rows, 1).
"""

class_token_attention = FunctionCheck(
    maps.class_token_attention,
    TABLE,
    parts=[maps.as_shares, maps.class_token_to_patches],
    batched=(0,),
    gradients=False,
)
