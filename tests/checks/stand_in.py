"""A stand-in for a GPU, so that answers on one are tested where there is none."""

import torch
from torch import Tensor, autograd, device
from torch.nn.parameter import UninitializedTensorMixin
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map_only

MIXED = (
    "Expected all tensors to be on the same device, but found at least two devices, "
    "cuda:0 and cpu!"
)
MOVES = {Tensor.cpu: "cpu", Tensor.cuda: "cuda"}
CROSSES = (
    Tensor.copy_,
    Tensor.data.__set__,
    Tensor.grad.__set__,
    autograd.grad,
    torch._has_compatible_shallow_copy_type,
)


class Gpu(TorchFunctionMode):
    """While it is on, tensors can be moved to a GPU that is none.

    They stay where they are and are marked. As on a real one, they cannot be computed
    with together with tensors that are not there.
    """

    def __init__(self):
        super().__init__()
        self.there = {}  # storages, which are kept, so that no other has their address

    def holds(self, tensor):
        if isinstance(tensor, UninitializedTensorMixin):
            return False
        return tensor.untyped_storage()._cdata in self.there

    def mark(self, value):
        for tensor in tree_leaves(value):
            if isinstance(tensor, Tensor) and not tensor.is_nested:
                storage = tensor.untyped_storage()
                self.there[storage._cdata] = storage
        return value

    def move(self, tensor, there):
        stays = isinstance(tensor, UninitializedTensorMixin)
        if stays or self.holds(tensor) == there:
            return tensor
        return Move.apply(tensor, self, there)

    def __torch_function__(self, function, types, arguments=(), named=None):
        named = named or {}
        if function == Tensor.device.__get__:
            return device("cuda" if self.holds(*arguments) else "cpu")
        if function == Tensor.is_cuda.__get__:
            return self.holds(*arguments)
        if function in MOVES:
            return self.move(arguments[0], MOVES[function] == "cuda")
        if function is Tensor.to:
            return self.to(*arguments, **named)
        wanted = named.get("device")
        if wanted is not None and device(wanted).type == "cuda":
            return self.mark(function(*arguments, **(named | {"device": "cpu"})))
        tensors = [t for t in tree_leaves((arguments, named)) if isinstance(t, Tensor)]
        there = [t for t in tensors if self.holds(t)]
        if function in CROSSES:
            return self.crossing(function, arguments, named)
        if function is Tensor.numpy and there:
            raise TypeError("can't convert cuda:0 device type tensor to numpy")
        indexed = function is Tensor.__getitem__ and self.holds(arguments[0])
        here = [t for t in tensors if t.ndim and not self.holds(t)]
        if there and here and not indexed:
            raise RuntimeError(MIXED)
        output = function(*arguments, **named)
        return self.mark(output) if there else output

    def crossing(self, function, arguments, named):
        output = function(*arguments, **named)
        if function is autograd.grad:
            for leaf, gradient in zip(arguments[1], output, strict=True):
                if gradient is not None and self.holds(leaf):
                    self.mark(gradient)
        return output

    def to(self, tensor, *arguments, **named):
        place = named.pop("device", None)
        for given in arguments:
            if isinstance(given, str | device):
                place = given
            elif isinstance(given, Tensor):
                place = "cuda" if self.holds(given) else "cpu"
                named["dtype"] = given.dtype
            elif isinstance(given, torch.dtype):
                named["dtype"] = given
        moved = tensor
        if named.get("dtype") is not None:
            moved = tensor.to(named["dtype"])
            moved = self.mark(moved) if self.holds(tensor) else moved
        if place is None:
            return moved
        return self.move(moved, device(place).type == "cuda")


class Move(autograd.Function):
    @staticmethod
    def forward(context, tensor, gpu, there):
        context.gpu, context.there = gpu, there
        moved = tensor.clone()
        return gpu.mark(moved) if there else moved

    @staticmethod
    def backward(context, gradient):
        back = gradient.clone()
        return (back if context.there else context.gpu.mark(back)), None, None


def answering_from_gpu(answer):
    """Return an answer whose output is on the GPU."""

    def answers(*arguments, **named):
        output = answer(*arguments, **named)
        return tree_map_only(Tensor, lambda tensor: tensor.cuda(), output)

    return answers
