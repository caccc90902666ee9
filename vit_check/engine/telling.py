"""Say what wrong numbers tell of how they came about, if all of them tell the same."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from vit_check.engine.comparing import close, same
from vit_check.engine.observing import tensors_in
from vit_check.engine.verdict import Finding

NEAR = 0.001  # of the largest number expected: within it, a difference is small


def related(
    finding: Finding, got: Any, right: Any, given: Mapping[str, Any]
) -> Finding:
    """Add to a finding about numbers what relates them to the right ones.

    Args:
        given: what may be missing in them or be there too often, by name.
    """
    if finding.mistake in ("values", "order"):
        for one, other in zip(tensors_in(got), tensors_in(right), strict=False):
            alike = one.shape == other.shape and one.dtype == other.dtype
            if not same(one, other) and alike and one.numel() > 1:
                text = "; ".join([finding.sentence, *_relations(one, other, given)])
                return Finding(finding.mistake, text)
    return finding


def _relations(got: Tensor, right: Tensor, given: Mapping[str, Any]) -> list[str]:
    wrong = ~close(got, right)
    box, found = _box_of(wrong)
    if not right.is_floating_point():
        more, less = int((got > right).sum()), int((got < right).sum())
        up, down = ("True", "False") if got.dtype == torch.bool else ("large", "small")
        return [f"{more} of {got.numel()} are wrongly {up}, {less} {down}", *found]
    for at, there, own in ((..., [], given), (box, found, {})):
        one, other = got[at].double(), right[at].double()
        for sentence, candidate in _candidates(one, other, own):
            off = (one - candidate).abs().max() / (one - other).abs().max()
            if off < 0.02 and close(got[at], candidate.to(got.dtype)).all():
                return [*there, sentence]
    place = tuple(wrong.nonzero()[0])
    origin = (right == got[place]).nonzero().tolist()
    if len(origin) == 1:
        found.append(f"the number there belongs at {origin[0]}")
    off = (got - right).abs().max() / right.abs().max()
    if off < NEAR:  # where the others are off by less than the tolerance, perhaps
        text = f"no number is off by more than {100 * off:.2g} % of the largest"
        return [f"{text}: is it another eps, or a coarser dtype?"]
    return found


def _candidates(
    got: Tensor, right: Tensor, given: Mapping[str, Any]
) -> Iterator[tuple[str, Tensor]]:
    """Yield what may have come out, the most telling first, with a sentence."""
    if right.numel() < 3:
        return
    more = got - right
    first = got.flatten()[0]
    yield f"each number of it is {first:.4g}", first.expand_as(right)
    for name in "log exp abs square sqrt tanh sigmoid relu".split():
        yield f"it is {name}() of what it should be", getattr(torch, name)(right)
    yield "it is the softmax of what it should be", right.softmax(-1)
    normed = F.layer_norm(right, right.shape[-1:]) if right.ndim else right
    yield "it is what it should be, normed", normed
    for name, value in given.items():
        with suppress(Exception):  # it may have no numbers, or too many
            own = value.double().expand_as(right)
            yield f"it is {name} as it came", own
            times = (more * own).sum() / own.square().sum()
            yield f"it is what it should be {times:+.4g} · {name}", right + times * own
            if right.numel() > 9:  # or two factors fit by chance
                both = torch.stack([right, own], -1).reshape(-1, 2)
                a, b = torch.linalg.lstsq(both, got.reshape(-1)).solution
                said = f"{a:.4g} times what it should be {b:+.4g} · {name}"
                said = said if a.abs() > 1e-9 else f"{b:.4g} · {name}"
                yield f"it is {said}", a * right + b * own
            yield f"it is what it should be times {name}", right * own
    for axis, length in enumerate(right.shape):
        one, other = (x.movedim(axis, 0).reshape(length, -1) for x in (got, right))
        order = torch.cdist(one[:256], other[:256]).argmin(1)
        held = ", ".join(map(str, order[:8].tolist())) + ", …" * (length > 8)
        if 1 < length == len(order):
            moved = right.index_select(axis, order)
            yield f"along axis {axis} it holds what belongs at {held}", moved
            added = right + more.mean(axis, keepdim=True)
            yield f"the error is the same all along axis {axis}", added
            norm = right.square().sum(axis, keepdim=True)
            factor = 1 + (more * right).sum(axis, keepdim=True) / norm
            said = f"along axis {axis} the numbers are right but for a factor"
            if (factor != 0).all():
                yield said, right * factor.nan_to_num(1)


def _box_of(wrong: Tensor) -> tuple[tuple[slice, ...], list[str]]:
    """Return where all lies that is wrong, and say it unless that is everywhere."""
    box = []
    places = []
    for axis, length in enumerate(wrong.shape):
        some = wrong.movedim(axis, 0).reshape(length, -1).any(1).nonzero()
        first, last = int(some[0]), int(some[-1]) + 1
        box.append(slice(first, last))
        places.append(f"{first or ''}:{last if last < length else ''}")
    said = f"all that differs lies in [{', '.join(places)}]"
    return tuple(box), [said] * ({*places} != {":"})
