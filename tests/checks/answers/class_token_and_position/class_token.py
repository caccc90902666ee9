import torch
from einops import pack, repeat
from torch import nn
from torch.nn import functional as F

from tests.checks.answers import right, wrong
from tests.checks.answers.class_token_and_position.shared import InFront


@right("class_token")
class WithEinops(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.token = nn.Parameter(torch.randn(dim) * 0.02)

    def forward(self, patches):
        tokens = repeat(self.token, "d -> b 1 d", b=len(patches))
        return torch.cat((tokens, patches), -2)


@wrong("class_token", "built in")
class OfViTTinysWidth(InFront):
    def __init__(self, embed_dim):
        super().__init__(192)


@right("class_token")
class AsATable(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.table = nn.Embedding(1, dim)
        nn.init.normal_(self.table.weight, std=0.02)

    def forward(self, patches):
        first = self.table(torch.zeros(len(patches), 1, dtype=torch.long))
        return torch.cat([first, patches], dim=1)


@right("class_token")
class WrittenIntoPlace(nn.Module):
    def __init__(self, embed_dim):
        super().__init__()
        self.parts = nn.ParameterDict({"cls": torch.zeros(1, embed_dim)})

    def forward(self, patches):
        tokens = F.pad(patches, (0, 0, 1, 0))
        tokens[:, 0] = self.parts["cls"]
        return tokens


@right("class_token")
def image_by_image(patches, cls_token):
    return torch.stack([torch.cat([cls_token[0], one]) for one in patches])


right("class_token")(lambda x, cls: torch.hstack([cls.repeat(len(x), 1, 1), x]))


@right("class_token")
def a_factory(embed_dim):
    return InFront(embed_dim)


@wrong("class_token", "last")
class Behind(InFront):
    def forward(self, x):
        return torch.cat([x, self.token(x)], dim=1)


@wrong("class_token", "batch of one")
class NotExpanded(InFront):
    def token(self, x):
        return self.cls_token


@wrong("class_token", "one for each image")
class ForABatchOf32(InFront):
    def __init__(self, embed_dim, batch_size=32):
        super().__init__(embed_dim)
        self.cls_token = nn.Parameter(torch.zeros(batch_size, 1, embed_dim))

    def token(self, x):
        return self.cls_token


@wrong("class_token", "one for each image")
class ForABatchOf32Cut(ForABatchOf32):
    def token(self, x):
        return self.cls_token[: len(x)]


@wrong("class_token", "not a parameter")
class PlainTensor(InFront):
    def __init__(self, embed_dim):
        super().__init__(1)
        del self.cls_token
        self.cls_token = torch.zeros(1, 1, embed_dim)


@wrong("class_token", "not a parameter")
class Buffered(nn.Module):
    def __init__(self, embed_dim):
        super().__init__()
        self.register_buffer("cls_token", torch.zeros(1, 1, embed_dim))

    def forward(self, x):
        return torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1)


@wrong("class_token", "hidden")
class RequiresGradAndNoMore(PlainTensor):
    def __init__(self, embed_dim):
        super().__init__(embed_dim)
        self.cls_token = torch.zeros(1, 1, embed_dim, requires_grad=True)


@wrong("class_token", "added")
class AddedToThePatches(InFront):
    def forward(self, x):
        return x + self.token(x)


@wrong("class_token", "along D")
class JoinedAlongD(InFront):
    def forward(self, x):
        return torch.cat([self.token(x).expand(-1, x.shape[1], -1), x], dim=-1)


@wrong("class_token", "along D")
class JoinedAlongDAndRaises(InFront):
    def forward(self, x):
        return torch.cat([self.token(x), x], dim=-1)


@wrong("class_token", "one image more")
class NoDim(InFront):
    def forward(self, x):
        return torch.cat([self.cls_token, x])


@wrong("class_token", "replaces the first patch")
class WritesOver(InFront):
    def forward(self, x):
        x = x.clone()
        x[:, 0] = self.cls_token[0]
        return x


@wrong("class_token", "one for every patch")
class ExpandedAs(InFront):
    def forward(self, x):
        return torch.cat([self.cls_token.expand_as(x), x], dim=1)


@wrong("class_token", "wide start")
class Randn(InFront):
    def __init__(self, embed_dim):
        super().__init__(embed_dim)
        self.cls_token = nn.Parameter(torch.randn(1, 1, embed_dim))


@wrong("class_token", "unused")
class Detached(InFront):
    def token(self, x):
        return self.cls_token.detach().expand(len(x), -1, -1)


@wrong("class_token", "zeros in front")
class ZerosInstead(InFront):
    def token(self, x):
        return torch.zeros(len(x), 1, x.shape[2])


@wrong("class_token", "frozen")
class Frozen(InFront):
    def __init__(self, embed_dim):
        super().__init__(embed_dim)
        self.cls_token.requires_grad = False


@wrong("class_token", "changes its input")
class WritesIntoThePatches(InFront):
    def forward(self, x):
        tokens = super().forward(x)
        x.zero_()
        return tokens


@wrong("class_token", "made in forward")
class MadeInForward(nn.Module):
    def __init__(self, embed_dim):
        super().__init__()

    def forward(self, x):
        self.cls_token = nn.Parameter(torch.zeros(1, 1, x.shape[2]))
        return torch.cat([self.cls_token.expand(len(x), -1, -1), x], dim=1)


@wrong("class_token", "last")
def function_behind(patches, cls_token):
    return torch.cat([patches, cls_token.repeat(len(patches), 1, 1)], 1)


@wrong("class_token", "batch of one")
def function_not_expanded(patches, cls_token):
    return torch.cat([cls_token, patches], 1)


@wrong("class_token", "no gradient")
def function_by_data(patches, cls_token):
    first = cls_token.data.expand(len(patches), -1, -1)
    return torch.cat([first, patches], 1)


@wrong("class_token", "wide start")
class BetweenZeroAndOne(InFront):
    def __init__(self, embed_dim):
        super().__init__(embed_dim)
        self.cls_token = nn.Parameter(torch.rand(1, 1, embed_dim))


@wrong("class_token", "wide start")
class OfOnes(InFront):
    def __init__(self, embed_dim):
        super().__init__(embed_dim)
        self.cls_token = nn.Parameter(torch.ones(embed_dim))

    def token(self, x):
        return self.cls_token.repeat(len(x), 1, 1)


@right("class_token")
class BeginsAsXavierWould(InFront):
    def __init__(self, embed_dim):
        super().__init__(embed_dim)
        nn.init.xavier_uniform_(self.cls_token)


@right("class_token")
class BeginsWithTheRootOfTheWidth(InFront):
    def __init__(self, embed_dim):
        super().__init__(embed_dim)
        nn.init.normal_(self.cls_token, std=0.02**0.5)


@right("class_token")
class WrittenIntoAnEmptyTensor(InFront):
    def forward(self, x):
        B, N, D = x.shape
        out = torch.empty(B, N + 1, D, dtype=x.dtype)
        out[:, :1] = self.cls_token
        out[:, 1:] = x
        return out


@right("class_token")
class LoopsOverTheImages(InFront):
    def forward(self, x):
        return torch.stack([torch.vstack([self.cls_token[0], image]) for image in x])


@right("class_token")
class WithEinopsPack(InFront):
    def forward(self, x):
        tokens, _ = pack([repeat(self.cls_token, "1 1 d -> b d", b=len(x)), x], "b * d")
        return tokens
