from vit_check.engine.functions import FunctionCheck
from vit_steps.variants import rotary

TABLE = """
apply_rope(x, angles) -> (..., T, d)
  float64(3, 2, 5, 8), 2 * float64(5, 4)
  float32(2, 3, 4, 12), 2 * float32(4, 6)
  bfloat16(2, 2, 8, 8), 40 * float32(8, 4)
  float64(3, 5, 8), 2 * float64(5, 4)  # no heads
neighbouring pairs: x.chunk(2, dim=-1) -> (x[..., 0::2], x[..., 1::2])
  torch.cat(turned, dim=-1) -> torch.stack(turned, dim=-1).flatten(-2)
    each number is paired with its neighbour, as in some models; here a pair is a number
    of the first half of the head and the one at the same place of the other half
neighbours read, halves written: x.chunk(2, dim=-1) -> (x[..., 0::2], x[..., 1::2])
    pairs of neighbours are turned and then put into two halves; a pair is to stay put
angles of neighbours: cos, sin = -> own = angles.repeat_interleave(2, dim=-1); _ =
  first * cos - second * sin, second * cos + first * sin
  -> x, torch.cat([-second, first], dim=-1)
  torch.cat(turned, dim=-1) -> (turned[0] * own.cos() + turned[1] * own.sin())
    the angles stand as for neighbours, 0 0 1 1; for halves they stand as 0 1 0 1
no minus: first * cos - second * sin -> first * cos + second * sin
    both sines are added, expected first · cos - second · sin for the first
sine and cosine exchanged: cos, sin = -> sin, cos =
    sine and cosine are exchanged: by an angle of 0 nothing turns
angles rounded: angles.cos(), angles.sin()
  -> angles.to(x.dtype).cos(), angles.to(x.dtype).sin()
    the angles are rounded to the dtype of x before their cosine and sine are taken
degrees: angles.cos(), angles.sin() -> angles.deg2rad().cos(), angles.deg2rad().sin()
    the angles are taken for degrees; they are radians already, as torch.cos wants them
? Draw the pair (1, 0), turn it by a quarter of a circle, and write down where it is.
? Split the last axis into halves. The first becomes first · cos - second · sin, and?
? first, second = x.chunk(2, dim=-1); torch.cat([first * cos - second * sin, second *
  cos + first * sin], dim=-1).to(x.dtype).
"""

apply_rope = FunctionCheck(
    rotary.apply_rope,
    TABLE,
    batched=(0,),
    any_dtype=True,
    scenario=lambda turn, x, angles: turn(x, angles.detach()),  # nobody learns them
)
