"""Read the parameters of a module whose names are unknown.

Shapes decide most of it: a linear map from D to M has M·D weights, whatever its name
is. Where shapes leave it open (which of four makes the queries?), all are tried.
"""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

Weights = dict[str, Tensor]
Sizes = Mapping[str, Any]

LONGEST_NAME = 1000  # characters of a parameter's name


def within(weights: Weights, prefix: str) -> Weights:
    """Return the weights whose names begin with a prefix, and take it off."""
    found = {n: value for n, value in weights.items() if n.startswith(prefix)}
    return {n.removeprefix(prefix): value for n, value in found.items()}


@dataclass(frozen=True)
class Part:
    """A parameter: name, kind of its layer, place in the order of calls, values.

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


def parts_of(record: dict[str, Any], values: Sequence[Tensor]) -> list[Part]:
    """Return the parts of an observed module, in the order of their first use.

    Args:
        values: that were drawn for its parameters, in their order.
    """
    names = record["names"]
    if len(set(names)) < len(names) or any(len(n) > LONGEST_NAME for n in names):
        raise ValueError("names: expected each once, and none too long")
    columns = (names, record["kinds"], record["order"], values)
    parts = [Part(*row) for row in zip(*columns, record["initial"], strict=True)]
    return sorted(parts, key=lambda part: part.order)


@dataclass(frozen=True)
class Linear:
    """A linear map as the package would hold it: weight (out, in), bias (out,)."""

    weight: Tensor
    bias: Tensor | None
    turned: bool = False  # true if the weight may as well be its transpose

    @property
    def t(self) -> "Linear":
        return replace(self, weight=self.weight.T)

    @property
    def outs(self) -> int:
        return self.weight.shape[0]

    def bias_or_zeros(self) -> Tensor:
        return self.weight.new_zeros(self.outs) if self.bias is None else self.bias

    def named(self, name: str) -> Weights:
        """Return weight and bias under the package's names."""
        return {f"{name}.weight": self.weight, f"{name}.bias": self.bias_or_zeros()}


def sides(part: Part) -> set[int]:
    """Return the two lengths of a matrix, and of any other part none."""
    return set(part.value.flatten(1).shape) if part.value.ndim > 1 else set()


def linears(parts: Sequence[Part], ins: int) -> list[Linear]:
    """Return the linear maps from ``ins`` numbers among the parts, in running order.

    A bias is the vector of the same layer, or the next one of the right length. Where a
    weight has heads, (h, D, d), a bias may have them too, (h, d).
    """
    of_stacks = {p.name for p in parts if _is_bias_of_a_stack(p, parts)}
    weights, vectors = [], []
    for part in parts:
        if part.kind in ("norm", "table"):
            continue
        matrix = None if part.name in of_stacks else _as_matrix(part, ins)
        if matrix is not None:
            weights.append((part, matrix))
        elif is_vector(part) or part.kind == "own":
            vectors.append(part)
    vectors.sort(key=lambda part: part.value.ndim > 1 and is_vector(part))
    named = {(p.owner, _stem(p.name)) for p in parts if p.value.ndim > 1}
    named -= {(p.owner, _stem(p.name)) for p in vectors if p.value.ndim > 1}
    found = []
    for part, weight in weights:
        own = part.kind == "own" and weight.shape[0] == weight.shape[1]
        mine = (part.owner, _stem(part.name))
        free = [v for v in vectors if (v.owner, _stem(v.name)) not in named - {mine}]
        bias = _bias_of(part, weight.shape[0], free)
        if bias is not None:
            vectors.remove(bias)
        found.append(
            Linear(weight, None if bias is None else bias.value.flatten(), own)
        )
    return found


def is_vector(part: Part) -> bool:
    """Return whether all its axes but one have the length 1."""
    return part.value.numel() == max(part.value.shape, default=0)


def _is_bias_of_a_stack(part: Part, parts: Sequence[Part]) -> bool:
    """Return whether a part is (n, D), beside a stack (n, D, D) in the same module."""
    if part.kind != "own" or part.value.ndim != 2:
        return False
    n, D = part.value.shape
    stacks = [p for p in parts if p.kind == "own" and p.value.shape == (n, D, D)]
    return any(p.owner == part.owner for p in stacks)


def _as_matrix(part: Part, ins: int) -> Tensor | None:
    """Return a weight as (out, in); None if it takes another number of inputs.

    In a tensor that is in no layer, the axis of that length is the input, and the
    others, in their order, are the output: (D, h, d), (3, h, D, d), (h, d, D). A matrix
    that fits both ways is taken as a linear layer has it.
    """
    if part.kind in ("linear", "convolution"):
        weight = part.value.flatten(1) if part.value.ndim > 1 else None
        return weight if weight is not None and weight.shape[1] == ins else None
    value = part.value.squeeze()
    axes = [axis for axis, length in enumerate(value.shape) if length == ins]
    if value.ndim < 2 or not axes:
        return None
    return value.movedim(axes[-1 if value.ndim == 2 else 0], -1).flatten(0, -2)


def as_rows(part: Part, rows: int, D: int) -> Tensor | None:
    """Return a part as a table (rows, D); None if it is not one.

    Its D numbers may be the last axis or the first, and its rows may be a grid.
    """
    value = part.value.squeeze()
    if value.numel() != rows * D:
        return None
    if value.ndim < 2 or value.shape[-1] == D:
        return value.reshape(rows, D)
    return value.flatten(1).T if value.shape[0] == D else None


def tokens_and_positions(
    tokens: Sequence[Part], tables: Sequence[Part], T: int, D: int
) -> Iterator[tuple[list[Part], Tensor, Tensor]]:
    """Return each class token (1, 1, D) with positions (1, T, D), and its parts.

    The class token's position may be a vector of its own, beside a table of T - 1 rows.
    """
    for table in tables:
        rows = as_rows(table, T, D)
        for token in tokens if rows is not None else ():
            yield [token], token.value.reshape(1, 1, D), rows[None]  # type: ignore[index]
        rows = as_rows(table, T - 1, D)
        for two in itertools.combinations(tokens, 2) if rows is not None else ():
            cls, first = (part.value.reshape(1, D) for part in two)
            yield [*two], cls[None], torch.cat([first, rows])[None]  # type: ignore[list-item]


# The orders in which a patch's channels, rows and columns are flattened.
_ORDERS = ((0, 1, 2), (1, 2, 0), (0, 2, 1), (2, 1, 0), (1, 0, 2), (2, 0, 1))


def as_filters(part: Part, D: int, patch: tuple[int, int, int]) -> Iterator[Tensor]:
    """Yield each way to read a weight as (D, C, P, P), the usual ones first.

    A convolution's has only one; a matrix may have been made for patches that are
    flattened in another order.
    """
    value, wanted = part.value, (D, *patch)
    if part.kind in ("norm", "table") or value.numel() != math.prod(wanted):
        return
    while value.ndim > 4 and 1 in value.shape[1:]:  # a convolution over space and time
        value = value.squeeze(1 + value.shape[1:].index(1))
    if value.ndim == 4 and value.shape[2:] != (1, 1):
        for order in itertools.permutations(range(4)):
            if tuple(value.permute(order).shape) == wanted:
                yield value.permute(order)
                if part.kind == "convolution":
                    return
        return
    matrix, numbers = value.squeeze(), math.prod(patch)
    if tuple(matrix.shape) == (numbers, D) and part.kind == "own":
        matrix = matrix.T
    if tuple(matrix.shape) != (D, numbers):
        return
    for order in _ORDERS:
        split = matrix.unflatten(1, tuple(patch[axis] for axis in order))
        yield split.permute(0, *(1 + order.index(axis) for axis in range(3)))


def _bias_of(part: Part, outs: int, vectors: Sequence[Part]) -> Part | None:
    fitting = [v for v in vectors if v.value.numel() == outs]
    in_layer = [v for v in fitting if v.owner == part.owner]
    if part.kind in ("linear", "convolution"):
        return in_layer[0] if in_layer else None
    named = [v for v in in_layer if _stem(v.name) == _stem(part.name)]
    return next(iter(named or in_layer), None)


_WORDS = "weight kernel gamma scale gain bias beta shift offset".split()


def _stem(name: str) -> str:
    """Return a name without "weight" or "bias": in_proj for in_proj_weight."""
    last = ".".join(name.lower().rsplit(".", 2)[-2 if name[-1].isdigit() else -1 :])
    for word in _WORDS:
        last = last.replace(word, "")
    last = last.strip("_")
    return last.removeprefix("w").removeprefix("b").removeprefix("g").strip("_")


def layer_norms(parts: list[Part], D: int) -> list[tuple[Part, Part]]:
    """Return weight and bias of each norm of D numbers, in running order.

    A student's own norm is a module with two vectors and nothing else, or two vectors
    beside other parts, where the one that begins at 1 is the weight.
    """
    owned: dict[str, list[Part]] = {}
    for part in parts:
        owned.setdefault(_home(part), []).append(part)
    found = []
    for members in owned.values():
        vectors = [_flat(p) for p in members if p.value.shape[-1:].numel() == D]
        vectors = [
            p for p in vectors if p.value.ndim == 1 and p.kind in ("norm", "own")
        ]
        kinds = {p.kind for p in members}
        two = len(vectors) == len(members) == 2 and kinds in ({"norm"}, {"own"})
        if two and not torch.equal(vectors[0].initial, vectors[1].initial):
            found.append(sorted(vectors, key=_bias_last))
        else:
            found += _pairs([p for p in vectors if p.kind == "own"])
    return [(weight, bias) for weight, bias in found]


def _home(part: Part) -> str:
    """Return the module that has a part, also one in a list."""
    owner, _, last = part.name.rpartition(".")
    return owner.rpartition(".")[0] if last.isdigit() else owner


def _flat(part: Part) -> Part:
    """Return (1, 1, D) as (D,), and anything else as it is."""
    if part.value.numel() != part.value.shape[-1]:
        return part
    return replace(part, value=part.value.flatten(), initial=part.initial.flatten())


def _pairs(vectors: Sequence[Part]) -> list[list[Part]]:
    """Pair each weight, which begins at 1, with the bias by its name or after it."""
    weights = [p for p in vectors if bool((p.initial == 1).all())]
    left = [p for p in vectors if bool((p.initial == 0).all())]
    found = []
    for weight in weights:
        named = [p for p in left if _stem(p.name) == _stem(weight.name)]
        behind = [p for p in left if vectors.index(p) > vectors.index(weight)]
        bias = next(iter(named or behind), None)
        if bias is not None:
            left.remove(bias)
            found.append([weight, bias])
    return found


def without_norms(parts: list[Part], D: int) -> list[Part]:
    """Return the parts that do not belong to a norm of D numbers."""
    names = {part.name for pair in layer_norms(parts, D) for part in pair}
    return [part for part in parts if part.name not in names]


def _bias_last(part: Part) -> bool:
    if part.kind == "norm":
        return part.name.endswith("bias")
    return not bool((part.initial == 1).all())


def attention_readings(
    maps: Sequence[Linear],
    embed_dim: int,
    num_heads: int,
    ordered: bool = False,
    from_heads: Sequence[Linear] = (),
) -> Iterator[Weights]:
    """Yield every way to read linear maps as queries, keys, values and the projection.

    There may be one matrix for q, k and v, in any order and layout, or one for each of
    them, one for keys and values, one or three for each head, or one for all four.

    Args:
        maps: those that take D numbers.
        from_heads: those from the d numbers of a head to D, which are added.
        ordered: take the first reading of each layout only: the projection last, and q,
            k, v in their order.

    Yields:
        ``qkv.weight, qkv.bias, proj.weight, proj.bias`` as the package has them.
    """
    D, h, d = embed_dim, num_heads, embed_dim // num_heads
    if len(from_heads) == h > 1 and all(m.outs != D for m in maps):
        maps = [*maps, _side_by_side(from_heads)]
    if len(maps) == 1 and maps[0].outs == 4 * D:
        maps = _split_evenly(maps[0], 4)
    of_heads = [m for m in maps if m.outs % D]
    maps = [
        *([_stacked(of_heads)] if of_heads else []),
        *(m for m in maps if not m.outs % D),
    ]
    if sum(m.outs for m in maps) != 4 * D:
        return
    for proj in [m for m in maps if m.outs == D][::-1]:
        joint = [m for m in maps if m is not proj]
        ways = [[*way] for way in itertools.product(*(_split(m, h, d) for m in joint))]
        if h == len(joint) == 3:  # or they are those of the heads
            ways += [[cut] for cut in _split(_stacked(joint), h, d)[1:]]
        for way in ways:
            q, k, v = itertools.chain(*way)
            yield from _readings_of(q, k, v, proj, ordered)


def _split_evenly(joint: Linear, number: int) -> list[Linear]:
    """Split a stack of matrices, each of which may be a transpose."""
    biases: Sequence[Tensor | None] = [None] * number
    if joint.bias is not None:
        biases = joint.bias.chunk(number)
    weights = joint.weight.chunk(number)
    return [Linear(w, b, True) for w, b in zip(weights, biases, strict=True)]


def _side_by_side(heads: Sequence[Linear]) -> Linear:
    """Join matrices from d to D whose outputs are added to one from D to D."""
    bias = sum(m.bias_or_zeros() for m in heads)
    return Linear(torch.cat([m.weight for m in heads], dim=1), bias)  # type: ignore[arg-type]


def _readings_of(
    q: Linear, k: Linear, v: Linear, proj: Linear, ordered: bool
) -> Iterator[Weights]:
    both = (False, True)  # for q, k and v alike: either x @ W or x @ W.T
    of_inputs = both if any(m.turned for m in (q, k, v)) else both[:1]
    of_proj = both if proj.turned else both[:1]
    for turn, turn_proj in itertools.product(of_inputs, of_proj):
        own = [m.t if turn and m.turned else m for m in (q, k, v)]
        out = proj.t if turn_proj else proj
        for first, second, third in itertools.permutations(own):
            yield _stacked([first, second, third]).named("qkv") | out.named("proj")
            if ordered:
                break


def _split(joint: Linear, h: int, d: int) -> list[list[Linear]]:
    """The ways to cut up a matrix whose rows are (n, h, d), (h, n, d) or (h, d, n)."""
    n = joint.outs // (h * d)
    if n == 1:
        return [[joint]]
    rows = torch.arange(joint.outs)
    layouts = (
        rows.reshape(n, h * d),
        rows.reshape(h, n, d).transpose(0, 1).reshape(n, h * d),
        rows.reshape(h * d, n).T,
    )
    bias = joint.bias_or_zeros()
    return [[Linear(joint.weight[p], bias[p]) for p in layout] for layout in layouts]


def _stacked(group: Sequence[Linear]) -> Linear:
    bias = torch.cat([m.bias_or_zeros() for m in group])
    return Linear(torch.cat([m.weight for m in group]), bias)
