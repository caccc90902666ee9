"""Checks of chapter 11: attention in blocks, batches in parts, bytes and days."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, is_dataclass
from functools import partial
from typing import Any

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from vit_steps.check.checking import Case
from vit_steps.check.function_check import FunctionCheck
from vit_steps.check.observing import tensors_in
from vit_steps.check.verdict import Mistake

# -- Attention that never holds a whole row of scores


def _in_blocks(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    block: int,
    mend: str = "mixed total",
    maximum: bool = True,
    scale: float | None = None,
    inverted: bool = False,
    last: bool = True,
    divide: str = "at the end",
    begin: float = -math.inf,
    of: str = "so far",
) -> Tensor:
    """Attention along the keys with a place for each usual mistake."""
    scale = q.shape[1] ** 0.5 if scale is None else scale
    largest = q.new_full((len(q), 1), begin if maximum else 0.0)
    total, mixed = q.new_zeros(len(q), 1), q.new_zeros(len(q), v.shape[1])
    stop = len(k) if last else len(k) // block * block
    for start in range(0, stop, block):
        keys, values = k[start : start + block], v[start : start + block]
        scores = q @ keys.T / scale  # (T_q, block)
        highest = scores.amax(1, keepdim=True)
        highest = highest.amax().expand_as(largest) if of == "all queries" else highest
        new = highest if of == "this block" else torch.maximum(largest, highest)
        new = new if maximum else largest
        shares = (scores - new).exp()
        factor = (new - largest if inverted else largest - new).exp()
        total = (factor if "total" in mend else 1) * total + shares.sum(1, keepdim=True)
        mixed = (factor if "mixed" in mend else 1) * mixed + shares @ values
        if divide == "in each block":
            mixed = mixed / total
        largest = new
    return mixed / total if divide == "at the end" else mixed


def _blockwise(
    q: Tensor, k: Tensor, v: Tensor, block: int, mean: bool = False
) -> Tensor:
    """A softmax of its own for each block."""
    pairs = list(zip(k.split(block), v.split(block), strict=True))
    found = [
        (q @ keys.T / q.shape[1] ** 0.5).softmax(-1) @ values for keys, values in pairs
    ]
    return sum(found, torch.zeros_like(found[0])) / (len(found) if mean else 1)


def _at_once(q: Tensor, k: Tensor, v: Tensor, block: int) -> Tensor:
    return (q @ k.T / q.shape[1] ** 0.5).softmax(-1) @ v


class _Rows(TorchFunctionMode):
    """Notes whether a whole row of scores was made, for one query or for many."""

    def __init__(self, keys: int, widths: set[int]) -> None:
        super().__init__()
        self.keys, self.widths, self.found = keys, widths, False

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        output = func(*args, **(kwargs or {}))
        for tensor in tensors_in(output):
            if self.keys in tensor.shape and tensor.is_floating_point():
                self.found |= tensor.numel() // self.keys not in self.widths
        self.found |= func is F.scaled_dot_product_attention
        return output


def _attend_watched(
    attend: Callable[..., Any], q: Tensor, k: Tensor, v: Tensor, block: int
) -> dict[str, Any]:
    widths = {k.shape[1], v.shape[1], k.shape[1] + v.shape[1]}
    with _Rows(len(k), widths) as rows:
        output = attend(q, k, v, block)
    whole = rows.found and block < len(k)
    return {"the output": output, "a whole row of scores": "there" if whole else "no"}


def _block_inputs(generator: Generator) -> Iterator[Case]:
    for queries, keys, d, values, block, width, below, dtype in (
        (24, 48, 4, 3, 8, 1.5, False, torch.float64),
        (18, 53, 5, 4, 9, 1.5, False, torch.float32),
        (12, 16, 5, 3, 1, 1.5, False, torch.float32),
        (20, 47, 4, 3, 11, 200.0, False, torch.float32),
        (19, 46, 4, 3, 7, 200.0, True, torch.float32),
        (9, 13, 4, 6, 20, 1.5, False, torch.float64),
    ):
        widths = width * torch.linspace(0.2, 1, queries, dtype=torch.float64)[:, None]
        q = widths * torch.randn(queries, d, generator=generator, dtype=torch.float64)
        k = torch.randn(keys, d, generator=generator, dtype=torch.float64)
        if below:  # all scores of all queries are hundreds below 0
            q, k = widths + q.abs(), -1 - k.abs()
        v = torch.randn(keys, values, generator=generator, dtype=torch.float64)
        yield [q.to(dtype), k.to(dtype), v.to(dtype), block]


attention_in_blocks = FunctionCheck(
    "attention_in_blocks",
    "attention_in_blocks(q, k, v, block) -> (T_q, d_v)",
    _in_blocks,
    _block_inputs,
    [
        Mistake(
            "whole rows",
            "the numbers are right, but the scores of a query with all keys are held "
            "at once; walk along the keys, a block at a time",
            _at_once,
        ),
        Mistake(
            "mixed not mended",
            "the mixed values of earlier blocks are not multiplied by the factor when "
            "a larger score turns up; the sum is",
            partial(_in_blocks, mend="total"),
        ),
        Mistake(
            "sum not mended",
            "the sum of earlier blocks is not multiplied by the factor when a larger "
            "score turns up; the mixed values are",
            partial(_in_blocks, mend="mixed"),
        ),
        Mistake(
            "nothing mended",
            "what was summed before a larger score turned up stays relative to the old "
            "one: both sum and mixed values need the factor",
            partial(_in_blocks, mend=""),
        ),
        Mistake(
            "begins at 0",
            "the largest score begins at 0: where all scores of a query are far below "
            "that, every exponential is 0",
            partial(_in_blocks, begin=0.0),
        ),
        Mistake(
            "no maximum",
            "the exponentials are taken of bare scores, and overflow when a score is "
            "in the hundreds: subtract the largest first",
            partial(_in_blocks, maximum=False),
        ),
        Mistake(
            "largest of the block",
            "the new largest score is that of this block alone and may be lower than "
            "the old one: the factor then grows instead of shrinking, and overflows",
            partial(_in_blocks, of="this block"),
        ),
        Mistake(
            "one largest for all queries",
            "one largest score serves all queries: where those of a query are far "
            "lower, its exponentials are all 0; each query needs its own",
            partial(_in_blocks, of="all queries"),
        ),
        Mistake(
            "factor inverted",
            "the factor is the wrong way round: it shrinks what was summed before, so "
            "it is e to the old largest minus the new one",
            partial(_in_blocks, inverted=True),
        ),
        Mistake(
            "softmax of each block summed",
            "each block has a softmax of its own, and they are added: the weights of a "
            "query then sum to the number of blocks",
            _blockwise,
        ),
        Mistake(
            "softmax of each block averaged",
            "each block has a softmax of its own, and they are averaged: a block full "
            "of low scores then counts as much as one with the highest",
            partial(_blockwise, mean=True),
        ),
        Mistake(
            "no scale",
            "the scores are not divided by √d",
            partial(_in_blocks, scale=1.0),
        ),
        Mistake(
            "scale by block",
            "the scores are divided by the root of the block's length; what makes them "
            "wide is d",
            lambda q, k, v, block: _in_blocks(q, k, v, block, scale=block**0.5),
        ),
        Mistake(
            "last block dropped",
            "the keys behind the last whole block are left out: the last one may be "
            "shorter",
            partial(_in_blocks, last=False),
        ),
        Mistake(
            "not divided",
            "the mixed values are not divided by the sum at the end",
            partial(_in_blocks, divide="never"),
        ),
        Mistake(
            "divided in each block",
            "the mixed values are divided by the sum in every block; they are to be "
            "divided once, behind the last",
            partial(_in_blocks, divide="in each block"),
        ),
    ],
    hints=(
        "Work through two blocks of one key each on paper. What did the first block's "
        "exponential subtract, and what should it have subtracted?",
        "Keep three things for each query: the largest score so far, the sum of "
        "exponentials and the mixed values, both relative to that largest. When it "
        "rises from a to b, both are multiplied by e to the a - b.",
        "new = torch.maximum(largest, scores.amax(1, keepdim=True)); factor = "
        "(largest - new).exp(); shares = (scores - new).exp(); total = factor * total "
        "+ shares.sum(1, keepdim=True); mixed = factor * mixed + shares @ values.",
    ),
    shape="(T_q, d_v)",
    gradients=False,
    scenario=_attend_watched,
)


# -- A batch in parts


def _accumulate(
    model: nn.Module,
    images: Tensor,
    labels: Tensor,
    optimizer: torch.optim.Optimizer,
    num_parts: int,
    weigh: str = "share",
    clear: str = "before",
    step: str = "once",
    evenly: bool = False,
    skip: str = "",
    backward: str = "each",
    by_size: bool = False,
) -> None:
    """A step in parts with a place for each usual mistake."""
    B = len(images)
    cut: Callable[..., Any] = torch.tensor_split if evenly else torch.chunk
    if skip == "rest":
        whole = B // num_parts * num_parts
        images, labels = images[:whole], labels[:whole]
    if by_size:
        cut = torch.split
    parts = list(zip(cut(images, num_parts), cut(labels, num_parts), strict=True))
    if skip == "short":
        parts = [part for part in parts if len(part[0]) == len(parts[0][0])]
    if skip == "all but the last":
        parts = parts[-1:]
    if clear == "before":
        optimizer.zero_grad()
    waiting: list[Tensor] = []
    for x, y in parts:
        if clear == "each":
            optimizer.zero_grad()
        share = {
            "share": len(x) / B,
            "none": 1.0,
            "parts": 1 / num_parts,
            "images": 1 / B,
            "sum": float(len(x)),
            "part": 1 / len(x),
            "sum by parts": len(x) / num_parts,
            "twice": len(x) / B / num_parts,
        }[weigh]
        loss = share * F.cross_entropy(model(x), y)
        if backward == "each":
            loss.backward()
        waiting.append(loss)
        if step == "each":
            optimizer.step()
    if backward == "once":
        torch.stack(waiting).sum().backward()
    if backward == "last":
        waiting[-1].backward()
    if step == "once":
        optimizer.step()


def _one_pass(
    model: nn.Module, images: Tensor, labels: Tensor, optimizer: Any, num_parts: int
) -> None:
    optimizer.zero_grad()
    F.cross_entropy(model(images), labels).backward()
    optimizer.step()


def _accumulate_inputs(generator: Generator) -> Iterator[Case]:
    C, H, W, K = 2, 3, 5, 4
    for B, num_parts in ((12, 2), (10, 4), (9, 4)):
        weight = 0.5 * torch.randn(
            K, C * H * W, generator=generator, dtype=torch.float64
        )
        images = torch.randn(2, B, C, H, W, generator=generator, dtype=torch.float64)
        labels = torch.randint(K, (2, B), generator=generator)
        yield [weight, images, labels, num_parts]


def _train_in_parts(
    accumulate: Callable[..., Any],
    weight: Tensor,
    images: Tensor,
    labels: Tensor,
    num_parts: int,
) -> dict[str, Any]:
    """Two steps, so that gradients that are left from the first one show."""
    K, numbers = weight.shape
    with torch.random.fork_rng(devices=[]):
        layer = nn.Linear(numbers, K, bias=False, dtype=weight.dtype)
    model = nn.Sequential(nn.Flatten(), layer)
    layer.weight.data = weight.clone()
    sizes: list[int] = []
    waiting = [0]  # forward passes that no backward pass has followed, after each

    def note_forward(_: nn.Module, given: tuple[Tensor, ...]) -> None:
        sizes.append(len(given[0]))
        waiting.append(waiting[-1] + torch.is_grad_enabled())

    model.register_forward_pre_hook(note_forward)
    layer.weight.register_hook(lambda _: waiting.append(0))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.25)
    found: dict[str, Any] = {}
    for which, x, y in zip(("first", "second"), images, labels, strict=True):
        before = layer.weight.detach().clone()
        waiting.append(0)
        accumulate(model, x, y, optimizer, num_parts)
        moved = (before - layer.weight.detach()) / 0.25
        found[f"the gradient that the {which} step followed"] = moved
    whole = max(sizes, default=0) == images.shape[1]
    many = len(sizes) > 2 * (num_parts + 1)  # one more, for a rest, in each step
    return found | {
        "the whole batch in one forward pass": "there" if whole else "no",
        "more parts than were asked for": "there" if many else "no",
        "parts that wait for one backward pass": "several" if max(waiting) > 1 else "1",
    }


accumulate_gradients = FunctionCheck(
    "accumulate_gradients",
    "accumulate_gradients(model, images, labels, optimizer, num_parts)",
    _accumulate,
    _accumulate_inputs,
    [
        Mistake(
            "no step",
            "the weights have not moved: there is no optimizer.step(), or no gradient "
            "when it is called",
            lambda *given: None,
        ),
        Mistake(
            "not divided",
            "the mean losses of the parts are added up, so the gradient is as many "
            "times too long as there are parts",
            partial(_accumulate, weigh="none"),
        ),
        Mistake(
            "weighed alike",
            "each part counts the same, but the last one is smaller: its images then "
            "count for more than the others",
            partial(_accumulate, weigh="parts"),
        ),
        Mistake(
            "two sizes weighed alike",
            "each part counts the same, but they are of two sizes: an image of a "
            "smaller part then counts for more than the others",
            partial(_accumulate, weigh="parts", evenly=True),
        ),
        Mistake(
            "divided by the images",
            "a part's mean loss is divided by the number of images: a mean has been "
            "divided once already",
            partial(_accumulate, weigh="images"),
        ),
        Mistake(
            "summed over images",
            "the losses of all images are summed and never divided: the gradient is B "
            "times too long",
            partial(_accumulate, weigh="sum"),
        ),
        Mistake(
            "summed, divided by parts",
            "the losses are summed over the images and divided by the number of parts; "
            "the whole batch divides by the number of images",
            partial(_accumulate, weigh="sum by parts"),
        ),
        Mistake(
            "divided by the part",
            "a part's mean loss is divided by the part's size once more",
            partial(_accumulate, weigh="part"),
        ),
        Mistake(
            "divided twice",
            "each part counts for its share of the images, and is divided by the "
            "number of parts besides",
            partial(_accumulate, weigh="twice"),
        ),
        Mistake(
            "step in each part",
            "the optimiser takes a step in each part: the later parts see weights that "
            "have moved",
            partial(_accumulate, step="each"),
        ),
        Mistake(
            "small steps",
            "zero_grad and step are called in each part: that is training with a "
            "smaller batch",
            partial(_accumulate, step="each", clear="each", weigh="none"),
        ),
        Mistake(
            "small steps, divided",
            "zero_grad and step are called in each part: that is training with a "
            "smaller batch, and a smaller learning rate",
            partial(_accumulate, step="each", clear="each"),
        ),
        Mistake(
            "cleared in each part",
            "zero_grad is called in each part, so that the gradient of the last part "
            "alone is left",
            partial(_accumulate, clear="each"),
        ),
        Mistake(
            "cleared, not divided",
            "zero_grad is called in each part, so that the last part's gradient alone "
            "is left",
            partial(_accumulate, clear="each", weigh="none"),
        ),
        Mistake(
            "never cleared",
            "the gradients of the step before are still there when the next one begins",
            partial(_accumulate, clear="never"),
        ),
        Mistake(
            "short part dropped",
            "the images of the shorter part at the end are left out",
            partial(_accumulate, skip="short"),
        ),
        Mistake(
            "rest dropped",
            "the images at the end are left out when the batch does not divide",
            partial(_accumulate, skip="rest", weigh="parts"),
        ),
        Mistake(
            "rest dropped, weighed by share",
            "the images that are left over when all parts are of one size are left out",
            partial(_accumulate, skip="rest"),
        ),
        Mistake(
            "one backward pass",
            "one backward pass follows all the forward passes: what every part keeps "
            "for it is held at once, as if the batch had not been cut",
            partial(_accumulate, backward="once"),
        ),
        Mistake(
            "backward behind the loop",
            "backward is called once, behind the loop, where loss is that of the last "
            "part alone",
            partial(_accumulate, backward="last"),
        ),
        Mistake(
            "backward behind the loop, not weighed",
            "backward is called once, behind the loop, where loss is the last part's "
            "mean alone",
            partial(_accumulate, backward="last", weigh="none"),
        ),
        Mistake(
            "parts of num_parts",
            "there are more parts than were asked for: split takes the size of a part, "
            "chunk the number of parts",
            partial(_accumulate, by_size=True),
        ),
        Mistake(
            "whole batch at once",
            "the whole batch goes through the model in one forward pass, which is what "
            "the parts are to avoid",
            _one_pass,
        ),
    ],
    hints=(
        "Write the loss of the whole batch, a sum over B images divided by B, and cut "
        "the sum into parts. What stands before each part's mean?",
        "Clear once, then a forward and a backward pass for each part, then one step. "
        "A part of n images counts for n / B of its mean loss.",
        "for x, y in zip(images.chunk(num_parts), labels.chunk(num_parts)): loss = "
        "F.cross_entropy(model(x), y) * len(x) / len(images); loss.backward()",
    ),
    gradients=False,
    scenario=_train_in_parts,
)


# -- Several processes


def _weighted(gradients: Sequence[Tensor], weights: Sequence[float]) -> Tensor:
    total = torch.zeros_like(gradients[0])
    for gradient, weight in zip(gradients, weights, strict=True):
        total = total + weight * gradient
    return total


def _average(gradients: Sequence[Tensor], counts: Sequence[int]) -> Tensor:
    return _weighted(gradients, [count / sum(counts) for count in counts])


def _gradient_inputs(generator: Generator) -> Iterator[Case]:
    for counts, shape, dtype in (
        ([5, 3, 2], (4, 5), torch.float64),
        ([6, 6, 6], (4, 5), torch.float64),
        ([24, 16], (7,), torch.float32),
        ([3, 4, 0, 1], (2, 3), torch.float64),
    ):
        gradients = [
            torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)
            for _ in counts
        ]
        yield [gradients, counts]


average_gradients = FunctionCheck(
    "average_gradients",
    "average_gradients(gradients, counts) -> the gradient of the whole batch",
    _average,
    _gradient_inputs,
    [
        Mistake(
            "mean of means",
            "every process counts the same, however many images it had: an image of a "
            "small share then counts for more",
            lambda gradients, counts: _weighted(
                gradients, [1 / len(counts) for _ in counts]
            ),
        ),
        Mistake(
            "summed",
            "the gradients are summed and never divided",
            lambda gradients, counts: sum(gradients),
        ),
        Mistake(
            "weighed, not divided",
            "each gradient is multiplied by its number of images, and the sum is never "
            "divided by the number of all",
            lambda gradients, counts: _weighted(gradients, counts),
        ),
        Mistake(
            "divided by processes",
            "each gradient is multiplied by its number of images, and the sum is "
            "divided by the number of processes; it is to be that of all images",
            lambda gradients, counts: _weighted(gradients, counts) / len(counts),
        ),
        Mistake(
            "divided twice",
            "the shares sum to 1 already; dividing by the number of processes as well "
            "makes the gradient too short",
            lambda gradients, counts: _average(gradients, counts) / len(counts),
        ),
        Mistake(
            "shares inverted",
            "a process with fewer images counts for more; the weight of each is its "
            "images divided by all",
            lambda gradients, counts: _weighted(
                gradients, [sum(counts) / max(count, 0.5) for count in counts]
            ),
        ),
        Mistake(
            "by the largest share",
            "the images are divided by the largest share, expected by their number "
            "over all processes",
            lambda gradients, counts: _weighted(
                gradients, [count / max(counts) for count in counts]
            ),
        ),
        Mistake(
            "by the largest share, averaged",
            "the images are divided by the largest share and the sum by the number of "
            "processes; the weights then do not sum to 1",
            lambda gradients, counts: _weighted(
                gradients, [count / max(counts) / len(counts) for count in counts]
            ),
        ),
        Mistake(
            "means of sums",
            "each gradient is divided by its number of images: it is the gradient of a "
            "mean, so that has been done",
            lambda gradients, counts: _weighted(
                gradients, [1 / max(count, 0.5) for count in counts]
            ),
        ),
        Mistake(
            "sums over images",
            "the gradients are summed and divided by the number of images, as if they "
            "were gradients of sums; they are gradients of means",
            lambda gradients, counts: sum(gradients) / sum(counts),
        ),
        Mistake(
            "first process alone",
            "the gradient of the first process is returned; the others take no part",
            lambda gradients, counts: gradients[0].clone(),
        ),
        Mistake(
            "not summed",
            "the gradients are weighed and left apart; what is needed is one, their "
            "sum",
            lambda gradients, counts: torch.stack(
                [
                    gradient * (count / sum(counts))
                    for gradient, count in zip(gradients, counts, strict=True)
                ]
            ),
        ),
    ],
    hints=(
        "One process had 24 images and the other 16. Which share of the whole mean is "
        "one image, and which share of its own process's mean was it?",
        "Multiply each gradient by its number of images, add them up, divide by the "
        "number of all images.",
        "sum(count * gradient for ...) / sum(counts).",
    ),
    gradients=False,
)


def _deal(count: int, num_processes: int, rank: int) -> list[int]:
    return list(range(rank, count, num_processes))


def _deal_inputs(generator: Generator) -> Iterator[Case]:
    yield [[(12, 3), (9, 4), (3, 5), (8, 1)]]


def _deal_to_all(deal: Callable[..., Any], batches: list[tuple[int, int]]) -> Any:
    return {
        f"the share of rank {rank} of {num_processes}, of {count} images,": _in_a_row(
            deal(count, num_processes, rank)
        )
        for count, num_processes in batches
        for rank in range(num_processes)
    }


def _in_a_row(output: Any) -> Any:
    """Places as they print, from a list, a range, a tensor, an array or a generator."""
    if hasattr(output, "tolist"):
        output = output.tolist()
    if isinstance(output, str | dict) or not isinstance(output, Iterable):
        return output
    if isinstance(output, set | frozenset):
        output = sorted(output)
    places = list(itertools.islice(output, 100))
    return ", ".join(str(place) for place in places) if places else "no place at all"


def _blocks(count: int, num_processes: int, rank: int, short: str = "last") -> Any:
    if short == "last":
        size = math.ceil(count / num_processes)
        return list(range(count))[rank * size : (rank + 1) * size]
    if short == "dropped":
        size = count // num_processes
        return list(range(rank * size, (rank + 1) * size))
    return torch.tensor_split(torch.arange(count), num_processes)[rank].tolist()


def _padded(count: int, num_processes: int, rank: int) -> list[int]:
    size = math.ceil(count / num_processes)
    return [i % count for i in range(rank, size * num_processes, num_processes)]


batch_shares = FunctionCheck(
    "batch_shares",
    "batch_shares(count, num_processes, rank) -> list of the places in the batch",
    _deal,
    _deal_inputs,
    [
        Mistake(
            "not shared",
            "every process gets the whole batch: all of them then compute the same "
            "gradient",
            lambda count, num_processes, rank: list(range(count)),
        ),
        Mistake(
            "blocks",
            "the batch is cut into blocks; dealt like cards, image 0 goes to process "
            "0, image 1 to process 1 and so on",
            _blocks,
        ),
        Mistake(
            "blocks, rest dropped",
            "the batch is cut into blocks, and what does not divide is dropped; deal "
            "it like cards",
            partial(_blocks, short="dropped"),
        ),
        Mistake(
            "even blocks",
            "the batch is cut into blocks; dealt like cards, neighbours go to "
            "different processes",
            partial(_blocks, short="even"),
        ),
        Mistake(
            "rest dropped",
            "the images that are left over when all have the same number are dropped: "
            "they are to be dealt as well",
            lambda count, num_processes, rank: list(
                range(rank, count // num_processes * num_processes, num_processes)
            ),
        ),
        Mistake(
            "padded",
            "images from the front are dealt a second time until all have the same "
            "number: they then count twice",
            _padded,
        ),
        Mistake(
            "ranks from 1",
            "the ranks are taken to begin at 1: the first process has rank 0",
            lambda count, num_processes, rank: list(
                range(rank - 1 if rank else count, count, num_processes)
            ),
        ),
        Mistake(
            "starts behind the rank",
            "the first image is missing: rank 0 starts at image 0",
            lambda count, num_processes, rank: list(
                range(rank + 1, count, num_processes)
            ),
        ),
        Mistake(
            "rank and processes swapped",
            "starts at the number of processes and walks in steps of the rank; it is "
            "the other way round",
            lambda count, num_processes, rank: list(
                range(num_processes, count, max(rank, 1))
            ),
        ),
        Mistake(
            "one image each",
            "each process gets one image; the dealing goes on until the batch is used "
            "up",
            lambda count, num_processes, rank: [rank] if rank < count else [],
        ),
        Mistake(
            "how many",
            "says how many images the process gets, expected which",
            lambda count, num_processes, rank: len(range(rank, count, num_processes)),
        ),
        Mistake(
            "behind the end",
            "some places lie behind the end of the batch: the last one is count - 1",
            lambda count, num_processes, rank: [
                rank + i * num_processes for i in range(-(-count // num_processes))
            ],
        ),
        Mistake(
            "one behind the end",
            "a place behind the end of the batch is dealt: the last one is count - 1",
            lambda count, num_processes, rank: list(
                range(rank, count + 1, num_processes)
            ),
        ),
        Mistake(
            "last place missing",
            "the last place of the batch, count - 1, goes to nobody",
            lambda count, num_processes, rank: list(
                range(rank, count - 1, num_processes)
            ),
        ),
        Mistake(
            "never none",
            "a process for which nothing is left gets the first image, which another "
            "one has already",
            lambda count, num_processes, rank: _deal(count, num_processes, rank) or [0],
        ),
    ],
    hints=(
        "Write 0 to 10 in a row and under each the process that gets it, with four of "
        "them. What is the distance between two images of one process?",
        "Start at the rank and go on in steps of the number of processes, as long as "
        "there are images.",
        "range(rank, count, num_processes)",
    ),
    gradients=False,
    scenario=_deal_to_all,
)


# -- Bytes and days


def _bytes(
    parameters: int,
    devices: int,
    sharded: bool,
    autocast: bool,
    copy: str = "beside",
    gradient: float = 4,
    averages: float = 8,
    parts: str = "weights gradients optimizer",
    by: str = "sharded",
) -> dict[str, float]:
    """Bytes of a training with a place for each usual mistake."""
    many = {
        "sharded": devices if sharded else 1,
        "always": devices,
        "never": 1,
        "times": 1 / devices,
    }[by]
    own = parameters / many
    half = {
        "beside": 4 * own + (2 * parameters if autocast else 0),
        "instead": (2 if autocast else 4) * own,
        "split": (6 if autocast else 4) * own,
        "never": 4 * own,
        "always": 4 * own + 2 * parameters,
    }[copy]
    low = 2 if autocast and gradient == 2 else 4
    low_averages = 4 if autocast and averages == 2 else averages
    low_averages = 8 if low_averages == 2 else low_averages
    found = {
        "weights": half,
        "gradients": low * own,
        "optimizer": low_averages * own,
    }
    whole = {
        "weights": 4 * parameters + (2 * parameters if autocast else 0),
        "gradients": 4 * parameters,
        "optimizer": 8 * parameters,
    }
    chosen = {name: found[name] if name in parts else whole[name] for name in found}
    return {name: float(value) for name, value in chosen.items()}


def _bytes_inputs(generator: Generator) -> Iterator[Case]:
    for devices, sharded, autocast in (
        (1, False, False),
        (1, False, True),
        (4, False, False),
        (4, True, False),
        (5, True, True),
        (3, False, True),
    ):
        count = 60 * int(torch.randint(1000, 9000, (), generator=generator))
        yield [count, devices, sharded, autocast]


def _as_dict(output: Any) -> Any:
    """Bytes by name, from a dict, a tuple in this order, or a dataclass."""
    names = ("weights", "gradients", "optimizer")
    if is_dataclass(output) and not isinstance(output, type):
        output = asdict(output)
    if isinstance(output, dict):
        known = {name: output[name] for name in names if name in output}
        output = known if len(known) == 3 else output
    elif isinstance(output, tuple | list) and len(output) == 3:
        output = dict(zip(names, output, strict=True))
    if isinstance(output, dict):
        return {name: _as_float(value) for name, value in output.items()}
    return output


def _as_float(value: Any) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number else value


training_bytes = FunctionCheck(
    "training_bytes",
    "training_bytes(num_parameters, num_devices, sharded, autocast) -> "
    "dict of weights, gradients, optimizer",
    _bytes,
    _bytes_inputs,
    [
        Mistake(
            "averages in bfloat16",
            "under autocast the optimiser's averages are counted in bfloat16, where "
            "small additions would be lost; they stay in float32",
            partial(_bytes, averages=2),
        ),
        Mistake(
            "one average",
            "the optimiser's bytes are those of one average; AdamW keeps two for each "
            "parameter, of the gradient and of its square",
            partial(_bytes, averages=4),
        ),
        Mistake(
            "averages and weights",
            "the optimiser's bytes are three numbers a parameter; AdamW keeps two, and "
            "the weights are counted already",
            partial(_bytes, averages=12),
        ),
        Mistake(
            "bfloat16 instead",
            "under autocast the weights are counted in bfloat16 alone; they stay in "
            "float32, and the bfloat16 ones come on top",
            partial(_bytes, copy="instead"),
        ),
        Mistake(
            "everything in bfloat16",
            "under autocast weights and gradients are counted in bfloat16; what sums "
            "up over many steps stays in float32",
            partial(_bytes, copy="instead", gradient=2),
        ),
        Mistake(
            "averages in bfloat16 too",
            "under autocast everything is counted in bfloat16; autocast rounds what "
            "goes into matrix products, and what is held stays in float32",
            partial(_bytes, copy="instead", gradient=2, averages=2),
        ),
        Mistake(
            "gradients in bfloat16",
            "under autocast the gradients are counted in bfloat16; they have the dtype "
            "of the weights, float32",
            partial(_bytes, gradient=2),
        ),
        Mistake(
            "no copy",
            "under autocast nothing is added for the weights in bfloat16",
            partial(_bytes, copy="never"),
        ),
        Mistake(
            "always a copy",
            "the weights in bfloat16 are counted without autocast too",
            partial(_bytes, copy="always"),
        ),
        Mistake(
            "copy sharded",
            "the bfloat16 weights are split over the devices; we count them whole on "
            "each, for a block needs them whole when it computes",
            partial(_bytes, copy="split"),
        ),
        Mistake(
            "always split",
            "everything is split over the devices, sharded or not; without sharding "
            "each device holds all of it",
            partial(_bytes, by="always"),
        ),
        Mistake(
            "never split",
            "sharding has no effect: each device holds its part alone",
            partial(_bytes, by="never"),
        ),
        Mistake(
            "weights not split",
            "gradients and averages are split and the weights are not; FSDP splits the "
            "float32 weights as well",
            partial(_bytes, parts="gradients optimizer"),
        ),
        Mistake(
            "optimiser alone split",
            "the optimiser's averages alone are split; FSDP splits weights and "
            "gradients too",
            partial(_bytes, parts="optimizer"),
        ),
        Mistake(
            "over all devices",
            "the bytes of all devices are added up, expected those of one",
            partial(_bytes, by="times"),
        ),
        Mistake(
            "numbers for bytes",
            "how many numbers there are is given, expected bytes: a float32 has four",
            lambda *given: {n: b / 4 for n, b in _bytes(*given).items()},
        ),
        Mistake(
            "bits",
            "the result is in bits; a byte has eight of them",
            lambda *given: {n: 8 * b for n, b in _bytes(*given).items()},
        ),
    ],
    hints=(
        "Take one parameter. Which numbers are there for its sake when a step ends, "
        "and how many bytes has each?",
        "In float32: the weight 4, its gradient 4, AdamW's two averages 8. Autocast "
        "adds 2 for the weight in bfloat16 and changes nothing else. Sharding divides "
        "all but that one.",
        "own = num_parameters / num_devices if sharded else num_parameters; weights "
        "are 4 * own, and 2 * num_parameters more under autocast.",
    ),
    gradients=False,
    normalise=_as_dict,
)


def _days(
    macs: int,
    num_images: float,
    peak: float,
    num_devices: int,
    utilisation: float,
    flops: float = 6,
    seconds: float = 86_400,
) -> float:
    return flops * macs * num_images / (peak * num_devices * utilisation) / seconds


def _days_inputs(generator: Generator) -> Iterator[Case]:
    for num_devices, utilisation in ((1, 1.0), (1, 0.4), (8, 0.35)):
        macs, images = torch.rand(2, generator=generator, dtype=torch.float64).tolist()
        yield [
            int((1 + 20 * macs) * 1e9),
            (1 + images) * 3e8,
            312e12,
            num_devices,
            utilisation,
        ]


training_days = FunctionCheck(
    "training_days",
    "training_days(macs, num_images, peak_flops, num_devices, utilisation) -> days",
    _days,
    _days_inputs,
    [
        Mistake(
            "MACs for FLOPs",
            "a multiply-accumulate is counted as one operation; the data sheet counts "
            "two",
            partial(_days, flops=3),
        ),
        Mistake(
            "forward alone",
            "the forward pass alone is counted; the backward pass makes two products "
            "for each of it",
            partial(_days, flops=2),
        ),
        Mistake(
            "forward MACs alone",
            "the multiply-accumulates of one forward pass are divided by FLOPs: both "
            "the backward pass and the factor between the two units are missing",
            partial(_days, flops=1),
        ),
        Mistake(
            "backward once",
            "two passes are counted; the backward pass makes two products for each of "
            "the forward pass, for the input's gradient and the weight's, so there are "
            "three",
            partial(_days, flops=4),
        ),
        Mistake(
            "forward twice",
            "four passes are counted, as if the forward pass were made again; that is "
            "so with checkpointing alone",
            partial(_days, flops=8),
        ),
        Mistake(
            "seconds",
            "the result is in seconds, expected days",
            partial(_days, seconds=1),
        ),
        Mistake(
            "hours",
            "the result is in hours, expected days",
            partial(_days, seconds=3600),
        ),
        Mistake(
            "minutes",
            "the result is in minutes, expected days",
            partial(_days, seconds=60),
        ),
        Mistake(
            "utilisation ignored",
            "the utilisation has no effect: no training reaches the peak",
            lambda macs, images, peak, devices, share: _days(
                macs, images, peak, devices, 1
            ),
        ),
        Mistake(
            "utilisation multiplied",
            "a lower utilisation makes the training shorter; it makes it longer",
            lambda macs, images, peak, devices, share: _days(
                macs, images, peak, devices, 1 / share
            ),
        ),
        Mistake(
            "devices ignored",
            "the number of devices has no effect",
            lambda macs, images, peak, devices, share: _days(
                macs, images, peak, 1, share
            ),
        ),
        Mistake(
            "devices multiplied",
            "more devices make the training longer; they share the images",
            lambda macs, images, peak, devices, share: _days(
                macs, images, peak, 1 / devices, share
            ),
        ),
    ],
    hints=(
        "How many FLOPs does it take to learn from one image once, if a forward pass "
        "is so many multiply-accumulates?",
        "Two FLOPs for a multiply-accumulate, three passes for a step. Divide what all "
        "images take by what all devices reach in a second, then by the seconds of a "
        "day.",
        "6 * macs * num_images / (num_devices * peak_flops * utilisation) / 86_400",
    ),
    gradients=False,
    normalise=_as_float,
)
