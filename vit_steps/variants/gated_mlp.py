"""A gated MLP: one layer's output says how much of another's passes."""

from torch import Tensor, nn
from torch.nn import functional as F


class GatedMLP(nn.Module):
    """Three linear layers for each token by itself: SwiGLU, arXiv 2002.05202.

    ``fc1_x`` makes M numbers of a token, and ``fc1_g`` as many gates, by which they are
    multiplied after a SiLU, x·σ(x). With the same M this has half as many parameters
    again as ``MLP``; 2/3 of the M makes them equal. Names are those of timm.

    Args:
        bias: False for linear layers without biases.
        norm: a norm of M numbers in front of the last layer, as in EVA-02.

    Shape: (..., D) -> (..., D), through (..., M)
    """

    def __init__(
        self,
        embed_dim: int,
        hidden_dim: int,
        bias: bool = True,
        drop_rate: float = 0.0,
        norm: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.fc1_g = nn.Linear(embed_dim, hidden_dim, bias=bias)
        self.fc1_x = nn.Linear(embed_dim, hidden_dim, bias=bias)
        self.norm = norm or nn.Identity()
        self.fc2 = nn.Linear(hidden_dim, embed_dim, bias=bias)
        self.drop = nn.Dropout(drop_rate)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialise as ``MLP`` does: Xavier-uniform, biases normal with 1e-6."""
        for linear in (self.fc1_g, self.fc1_x, self.fc2):
            nn.init.xavier_uniform_(linear.weight)
            if linear.bias is not None:
                nn.init.normal_(linear.bias, std=1e-6)

    def forward(self, x: Tensor) -> Tensor:
        x = F.silu(self.fc1_g(x)) * self.fc1_x(x)  # (..., M)
        return self.drop(self.fc2(self.norm(self.drop(x))))  # (..., D)
