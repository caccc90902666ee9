import torch
from einops import repeat
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import right_edits, wrong_edits


@right_edits("""
in a list: self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
  -> self.all = nn.ParameterList([torch.zeros(1, 1, embed_dim)])
  self.cls_token.expand -> self.all[0].expand
under two names: self.cls_token = -> self.same = self.cls_token =
  embed_dim)) -> embed_dim)); self.list = [self.same]; self.__dict__["me"] = self
with options: forward(self, x) -> forward(self, x, mask=None, *, verbose=False)
  embed_dim)) -> embed_dim)); self.half()
with a call of its own: def forward -> def __call__
made by a function: = lambda embed_dim: InFront(embed_dim)
begins as Xavier would
  embed_dim)) -> embed_dim)); nn.init.xavier_uniform_(self.cls_token)
begins with the root of the width
  embed_dim)) -> embed_dim)); nn.init.normal_(self.cls_token, std=0.02**0.5)
""")
@wrong_edits("""
built in: torch.zeros(1, 1, embed_dim) -> torch.zeros(1, 1, 192)
last: [self.cls_token.expand(len(x), -1, -1), x]
  -> [x, self.cls_token.expand(len(x), -1, -1)]
batch of one: .expand(len(x), -1, -1) -> nothing
raises: torch.zeros(1 -> torch.zeros(32
  .expand(len(x), -1, -1) -> nothing
parameters: torch.zeros(1 -> torch.zeros(32
  .expand(len(x), -1, -1) -> [: len(x)]
not a parameter
  nn.Parameter(torch.zeros(1, 1, embed_dim)) -> torch.zeros(1, 1, embed_dim)
not a parameter: self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))
  -> self.register_buffer("cls_token", torch.zeros(1, 1, embed_dim))
hidden: nn.Parameter(torch.zeros(1, 1, embed_dim))
  -> torch.zeros(1, 1, embed_dim, requires_grad=True)
made in forward: self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim)) -> pass
  return -> self.cls_token = nn.Parameter(torch.zeros(1, 1, x.shape[2])); return
made in forward: nn.Parameter(torch.zeros(1, 1, embed_dim)) -> None
  return -> t = self.cls_token; return
  return -> self.cls_token = nn.Parameter(x[0, :1]) if t is None else t; return
frozen
  torch.zeros(1, 1, embed_dim)) -> torch.zeros(1, 1, embed_dim), requires_grad=False)
frozen: embed_dim)) -> embed_dim)); self.requires_grad_(False)
hidden: embed_dim)) -> embed_dim)); self.deep = {"a": [(nn.Parameter(torch.ones(1)),)]}
not initialised: torch.zeros -> torch.nan * torch.ones
none: return -> nothing
wide start: torch.zeros -> torch.randn
wide start: torch.zeros -> torch.rand
unused: self.cls_token.expand -> self.cls_token.detach().expand
added
  torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1) -> x + self.cls_token
along D: expand(len(x), -1, -1) -> expand(len(x), x.shape[1], -1)
  dim=1 -> dim=-1
one image more: .expand(len(x), -1, -1) -> nothing
  , dim=1 -> nothing
replaces the first patch
  return torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1)
  -> x = x.clone(); x[:, 0] = self.cls_token[0]; return x
changes its input: return torch.cat -> tokens = torch.cat
  dim=1) -> dim=1); x.zero_(); return tokens
""")
class InFront(nn.Module):
    """The code of most tutorials."""

    def __init__(self, embed_dim):
        super().__init__()
        self.cls_token = nn.Parameter(torch.zeros(1, 1, embed_dim))

    def forward(self, x):
        return torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1)


class WithEinops(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.token = nn.Parameter(torch.randn(dim) * 0.02)

    def forward(self, patches):
        tokens = repeat(self.token, "d -> b 1 d", b=len(patches))
        return torch.cat((tokens, patches), -2)


class AsATable(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.table = nn.Embedding(1, dim)
        nn.init.normal_(self.table.weight, std=0.02)

    def forward(self, patches):
        first = self.table(torch.zeros(len(patches), 1, dtype=torch.long))
        return torch.cat([first, patches], dim=1)


class WrittenIntoPlace(nn.Module):
    def __init__(self, embed_dim):
        super().__init__()
        self.parts = nn.ParameterDict({"cls": torch.zeros(1, embed_dim)})

    def forward(self, patches):
        tokens = F.pad(patches, (0, 0, 1, 0))
        tokens[:, 0] = self.parts["cls"]
        return tokens


def image_by_image(patches, cls_token):
    return torch.stack([torch.cat([cls_token[0], one]) for one in patches])


@wrong_edits("""
last: [cls_token.repeat(len(patches), 1, 1), patches]
  -> [patches, cls_token.repeat(len(patches), 1, 1)]
batch of one: .repeat(len(patches), 1, 1) -> nothing
no gradient: cls_token.repeat -> cls_token.data.repeat
""")
def repeated_in_front(patches, cls_token):
    return torch.hstack([cls_token.repeat(len(patches), 1, 1), patches])
