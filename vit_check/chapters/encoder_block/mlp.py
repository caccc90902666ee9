from collections.abc import Iterator

from torch import Tensor
from torch.nn import functional as F

from vit_check.chapters.multi_head_attention.multi_head_attention import OF_NORM
from vit_check.engine import reading
from vit_check.engine.drawing import normal
from vit_check.engine.modules import ModuleCheck
from vit_check.engine.reading import Linear, Part, Sizes, Weights
from vit_steps.encoder import MLP


def two_layers(weights: Weights, sizes: Sizes, x: Tensor) -> Tensor:
    hidden = x @ weights["mlp.fc1.weight"].T + weights["mlp.fc1.bias"]
    bent = F.gelu(hidden)
    return bent @ weights["mlp.fc2.weight"].T + weights["mlp.fc2.bias"]


TABLE = """
class MLP(embed_dim, hidden_dim), called with x (B, T, D)
  6, 10
  8, 20
ReLU: F.gelu -> F.relu
    between the layers is a ReLU, expected a GELU
tanh GELU: F.gelu(hidden) -> F.gelu(hidden, approximate="tanh")
    the GELU is the one with tanh, which nearly agrees; expected the exact one, x·Φ(x)
quick GELU: F.gelu(hidden) -> hidden * torch.sigmoid(1.702 * hidden)
    the GELU is x·sigmoid(1.702·x), which nearly agrees; expected the exact one, x·Φ(x)
SiLU: F.gelu -> F.silu
    between the layers is x·sigmoid(x), the SiLU; expected GELU, x·Φ(x)
no activation: F.gelu(hidden) -> hidden
    nothing is between the two layers, so that together they are one matrix
activation at the end: return bent @ -> y = bent @
  weights["mlp.fc2.bias"] -> weights["mlp.fc2.bias"]; return F.gelu(y)
    a GELU comes after the second layer too, and lets no number fall below -0.17
activation at the start: F.gelu(hidden) -> hidden
  hidden = x @ -> hidden = F.gelu(x) @
    the GELU comes before the first layer; it belongs between the two
residual inside: return bent @ -> return x + bent @
    x is added inside: the residual belongs to the block, not to the MLP
norm inside: hidden = x @
  -> hidden = F.layer_norm(x, x.shape[-1:], *map(weights.get, OF_NORM), 1e-6) @
    x is normed inside: the norm belongs to the block, not to the MLP
? Say aloud what each token goes through in the MLP, and what the block does.
? A linear layer from D to M, the exact GELU, a linear layer from M to D.
? self.fc2(F.gelu(self.fc1(x))), with nn.Linear(embed_dim, hidden_dim) and
  nn.Linear(hidden_dim, embed_dim).
"""


def mlp_readings(
    parts: list[Part], D: int, M: int, depth: int = 1
) -> Iterator[list[tuple[Linear, Linear]]]:
    """Yield each way to read linear maps as the two layers of ``depth`` MLPs."""
    matrices = [p for p in parts if p.kind != "table" and reading.sides(p) == {D, M}]
    vectors = [p for p in parts if reading.is_vector(p)]
    if len(matrices) != 2 * depth:
        return
    for first in (0, 1):  # a matrix that is in no layer may fit both ways
        pairs = [
            (reading.linears([a, *vectors], D), reading.linears([b, *vectors], M))
            for a, b in zip(matrices[first::2], matrices[1 - first :: 2], strict=True)
        ]
        found = [(into[0], back[0]) for into, back in pairs if into and back]
        if len(found) == depth and all(a.bias is not None for p in found for a in p):
            yield found


def _mlp_reading(parts: list[Part], sizes: Sizes) -> Iterator[Weights]:
    D, M = sizes["embed_dim"], sizes["hidden_dim"]
    if any(reading.sides(part) == {M} for part in parts):
        return
    for ((fc1, fc2),) in mlp_readings(parts, D, M):
        weights = fc1.named("mlp.fc1") | fc2.named("mlp.fc2")
        for weight, bias in reading.layer_norms(parts, D)[:1]:
            weights |= zip(OF_NORM, (weight.value, bias.value), strict=True)
        yield weights


mlp = ModuleCheck(
    "mlp",
    two_layers,
    TABLE,
    inputs=lambda generator, sizes: [normal(generator, 2, 5, sizes["embed_dim"])],
    reading=_mlp_reading,
    package=lambda sizes: MLP(**sizes),
    shape="(B, T, D)",
    as_function="mlp(x, fc1_weight, fc1_bias, fc2_weight, fc2_bias) -> (B, T, D)",
)
