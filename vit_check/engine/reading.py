"""Reading the parameters of a module whose names nobody knows.

Shapes say most of it: a linear map from D to M has M·D weights, whatever it is called.
What shapes leave open (which of four D×D matrices makes the queries?) is tried.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

Weights = dict[str, Tensor]
Sizes = Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """A parameter: name, kind of layer that owns it, when that is first called, values.

    ``kind`` is "linear", "convolution", "norm", "table" or "own"; ``initial`` is what
    the module was built with.
    """

    name: str
    kind: str
    order: int
    value: Tensor
    initial: Tensor

    @property
    def owner(self) -> str:
        return self.name.rpartition(".")[0]

    def as_built(self) -> "Part":
        """The same with the values it was built with."""
        return replace(self, value=self.initial.to(self.value.dtype))


def parts_of(record: dict[str, Any]) -> list[Part]:
    """The parts of an observed module, in the order in which they are first used."""
    columns = ("names", "kinds", "order", "values", "initial")
    parts = [Part(*row) for row in zip(*(record[c] for c in columns), strict=True)]
    return sorted(parts, key=lambda part: part.order)


@dataclass(frozen=True)
class Linear:
    """A linear map as the package would hold it: weight (out, in), bias (out,)."""

    weight: Tensor
    bias: Tensor | None
    turned: bool  # true if the weight may as well be its transpose

    @property
    def t(self) -> "Linear":
        return replace(self, weight=self.weight.T)

    @property
    def outs(self) -> int:
        return self.weight.shape[0]

    def bias_or_zeros(self) -> Tensor:
        return self.weight.new_zeros(self.outs) if self.bias is None else self.bias


def sides(part: Part) -> set[int]:
    """The two lengths of a matrix; of what is none, nothing."""
    return set(part.value.flatten(1).shape) if part.value.ndim > 1 else set()


def linears(parts: Sequence[Part], ins: int) -> list[Linear]:
    """The linear maps from ``ins`` numbers among the parts, in running order.

    A weight of three axes, (h, D, d) or (D, h, d), is read as one of two, and a bias of
    two, (h, d), as one of one. A bias is the vector of the same layer, or the next one
    of the right length.
    """
    vectors = [
        p
        for p in parts
        if (p.value.ndim == 1 and p.kind != "norm")
        or (p.value.ndim > 1 and p.kind == "own" and _as_matrix(p, ins) is None)
    ]
    found = []
    for part in parts:
        if part.kind in ("norm", "table") or part.value.ndim < 2:
            continue
        weight = _as_matrix(part, ins)
        if weight is None:
            continue
        own = part.kind == "own" and weight.shape[0] == weight.shape[1]
        bias = _bias_of(part, weight.shape[0], vectors)
        if bias is not None:
            vectors.remove(bias)
        found.append(
            Linear(weight, None if bias is None else bias.value.flatten(), own)
        )
    return found


def _as_matrix(part: Part, ins: int) -> Tensor | None:
    value = part.value
    if part.kind in ("linear", "convolution"):
        weight = value.flatten(1)  # (out, in)
        return weight if weight.shape[1] == ins else None
    if value.ndim == 3 and value.shape[0] == ins:  # (in, h, d)
        return value.flatten(1).T
    if value.ndim == 3 and value.shape[1] == ins:  # (h, in, d)
        return value.transpose(1, 2).flatten(0, 1)
    if value.ndim == 3 and value.shape[2] == ins:  # (h, d, in)
        return value.flatten(0, 1)
    if value.ndim == 2 and value.shape[1] == ins:
        return value
    if value.ndim == 2 and value.shape[0] == ins:
        return value.T
    return None


def _bias_of(part: Part, outs: int, vectors: Sequence[Part]) -> Part | None:
    fitting = [v for v in vectors if v.value.numel() == outs]
    in_layer = [v for v in fitting if v.owner == part.owner]
    if part.kind in ("linear", "convolution"):
        return in_layer[0] if in_layer else None
    named = [v for v in in_layer if _stem(v.name) == _stem(part.name)]
    return next(iter(named or in_layer), None)


def _stem(name: str) -> str:
    """The name without what says weight or bias: in_proj_weight and in_proj_bias."""
    last = name.rpartition(".")[2].lower()
    for word in ("weight", "bias"):
        last = last.replace(word, "")
    return last.strip("_").removeprefix("w").removeprefix("b").strip("_")


def norms(parts: Sequence[Part], size: int) -> list[tuple[Tensor, Tensor]]:
    """Weight and bias of each layer norm over ``size`` numbers, in running order."""
    found: dict[str, dict[str, Tensor]] = {}
    for part in parts:
        if part.kind == "norm" and tuple(part.value.shape) == (size,):
            last = part.name.rpartition(".")[2]
            found.setdefault(part.owner, {})[last] = part.value
    zeros = torch.zeros(size, dtype=torch.float64)
    return [
        (pair["weight"], pair.get("bias", zeros.to(pair["weight"].dtype)))
        for pair in found.values()
        if "weight" in pair
    ]


def layer_norms(parts: list[Part], D: int) -> list[tuple[Part, Part]]:
    """Weight and bias of each norm over D numbers, in running order.

    A norm that somebody has written is a module with two vectors and nothing else; the
    weight is the one that begins at 1.
    """
    owned: dict[str, list[Part]] = {}
    for part in parts:
        owned.setdefault(part.owner, []).append(part)
    found = []
    for members in owned.values():
        vectors = [p for p in members if tuple(p.value.shape) == (D,)]
        kinds = {p.kind for p in members}
        if len(vectors) == len(members) == 2 and kinds in ({"norm"}, {"own"}):
            found.append(sorted(vectors, key=_bias_last))
    return [(weight, bias) for weight, bias in found]


def _bias_last(part: Part) -> bool:
    if part.kind == "norm":
        return part.name.endswith("bias")
    return not bool((part.initial == 1).all())


def attention_readings(
    maps: Sequence[Linear], embed_dim: int, num_heads: int, ordered: bool = False
) -> Iterator[Weights]:
    """Every way to read linear maps as queries, keys, values and the projection.

    Accepted are one matrix for q, k and v in any order and layout, a matrix for each,
    one for keys and values, and a matrix for each head.

    Args:
        ordered: take the first reading of each layout only: the projection last, and q,
            k, v in their order.

    Yields:
        ``qkv.weight, qkv.bias, proj.weight, proj.bias`` as the package has them.
    """
    D, h = embed_dim, num_heads
    d = D // h
    whole = [m for m in maps if m.outs == D]
    triple = [m for m in maps if m.outs == 3 * D]
    double = [m for m in maps if m.outs == 2 * D]
    head = [m for m in maps if m.outs == d and d != D]
    if len(triple) == 1 and len(whole) == 1 and len(maps) == 2:
        for q, k, v in _thirds(triple[0], h, d):
            yield from _readings_of(q, k, v, whole[0], ordered)
    elif len(double) == 1 and len(whole) == 2 and len(maps) == 3:
        for proj, q in itertools.permutations(whole[::-1]):
            for k, v in _halves(double[0], h, d):
                yield from _readings_of(q, k, v, proj, ordered)
    elif len(whole) == 4 and len(maps) == 4:
        for proj in whole[::-1]:
            q, k, v = (m for m in whole if m is not proj)
            yield from _readings_of(q, k, v, proj, ordered)
    elif len(head) == 3 * h and len(whole) == 1:
        for groups in (
            [head[i::3] for i in range(3)],
            [head[i * h : (i + 1) * h] for i in range(3)],
        ):
            q, k, v = (_stacked(group) for group in groups)
            yield from _readings_of(q, k, v, whole[0], ordered)


def _readings_of(
    q: Linear, k: Linear, v: Linear, proj: Linear, ordered: bool
) -> Iterator[Weights]:
    both = (
        False,
        True,
    )  # of q, k and v, nobody writes x @ W for some, x @ W.T for others
    of_inputs = both if any(m.turned for m in (q, k, v)) else both[:1]
    of_proj = both if proj.turned else both[:1]
    for turn, turn_proj in itertools.product(of_inputs, of_proj):
        own = [m.t if turn and m.turned else m for m in (q, k, v)]
        out = proj.t if turn_proj else proj
        for first, second, third in itertools.permutations(own):
            three = (first, second, third)
            yield {
                "qkv.weight": torch.cat([m.weight for m in three]),
                "qkv.bias": torch.cat([m.bias_or_zeros() for m in three]),
                "proj.weight": out.weight,
                "proj.bias": out.bias_or_zeros(),
            }
            if ordered:
                break


def _thirds(joint: Linear, h: int, d: int) -> Iterator[list[Linear]]:
    yield from _split(joint, 3, h, d)


def _halves(joint: Linear, h: int, d: int) -> Iterator[list[Linear]]:
    for first, second in _split(joint, 2, h, d):
        yield [first, second]


def _split(joint: Linear, number: int, h: int, d: int) -> Iterator[list[Linear]]:
    """A joint matrix whose rows are laid out (3, h, d), (h, 3, d) or (h, d, 3)."""
    rows = torch.arange(number * h * d)
    for layout in (
        rows.reshape(number, h * d),
        rows.reshape(h, number, d).transpose(0, 1).reshape(number, h * d),
        rows.reshape(h * d, number).T,
    ):
        yield [
            Linear(
                joint.weight[chosen],
                None if joint.bias is None else joint.bias[chosen],
                False,
            )
            for chosen in layout
        ]


def _stacked(group: Sequence[Linear]) -> Linear:
    biases = [m.bias for m in group if m.bias is not None]
    bias = torch.cat(biases) if len(biases) == len(group) else None
    return Linear(torch.cat([m.weight for m in group]), bias, False)
