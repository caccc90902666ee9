"""What the engine finds wrong by itself, in any check: a table of names and sentences.

In braces stands what differs. What follows a bar tells sentences of one name apart.
"""

from typing import Any

from vit_check.engine.table import blocks
from vit_check.engine.verdict import Finding

FINDINGS = """
not repeatable: answers differently when called twice with the same input: something is
    drawn at random, or kept from an earlier call
not repeatable | module: answers differently when called twice in eval mode: a dropout
    that does not listen to eval(), a layer that is made anew in forward, or something
    kept from an earlier call
result kept: gives other numbers of the same shapes the result that it gave the first
    ones: is it kept from one call to the next?
changes its input: changes {name}, which its caller still needs: an operation with a
    trailing underscore, one such as += or *=, or an assignment to a slice does so
changes its weights: changes its own parameters when it is called
depends on the batch: gives a sample something else in a batch than alone: are the
    samples of the batch mixed, or is a size of the batch built in?
batch of one: takes a batch of one, and with a larger one it {raises}
raises alone: takes the batch that it is given, and with one sample alone it {raises},
    as if the size of the batch were built in
as if: puts out what is right for {words}
raises | other input: is right for one input, and for another it {raises}
built in | batch: gives {shape} for the whole batch and {alone} for one sample alone:
    axis 0 is to be the batch, of {batch} and of 1
built in | sizes: {names} {are} built in: asked for {sizes}, it still has {built_in}
built in | rounded: asked for {sizes}, it has {built_in}: is it cut to a whole number?
built in | other sizes: is right when it is built with {right}, but not with {sizes}, so
    that a size must be built in: {sentence}
no gradient: lets no gradient through to {name}: .detach(), .data, .item(), no_grad(), a
    new nn.Parameter or a detour through numpy or torch.tensor() cuts it off
no gradient | raises: cannot be trained: with inputs that require a gradient it {raises}
gradient: has the right output but another gradient than it should: .detach(), .data and
    no_grad() cut a part of it off, and a clamp, a coarser dtype on the way or a small
    number that is added changes it
gradient not finite: has the right output but NaN or infinity in its gradient: on the
    way something becomes NaN or infinite, and zero times that is NaN again
forbidden: is right, but calls PyTorch's {name}, and the task is to do without it
gradients left off: switches gradients off and leaves them so, as
    torch.set_grad_enabled(False) does: nothing can be trained after it; write the lines
    that need none under `with torch.no_grad():`
parameters | unreadable: has parameters that this check cannot read ({theirs}), so that
    it cannot tell whether they are used as they should be; it can read {ours}
parameters | others: has {more}, where {left} is expected for {sizes} (the names are
    free)
parameters | more: has more parameters than the task asks for: {more}
parameters | missing: has no parameter such as {left} (the names are free)
more than asked for: has more parameters than the task asks for, which makes it another
    model: {shapes}
default: {name} is {value} where none is given, expected {right}
arguments: takes its arguments in another order, {order}: expected {right}
layout: would be right with its parameters in another order, but inherits them from
    {name}, where that is fixed: weights that were trained there would not fit
as ours: called with {asked}, {sentence}
shadowed: keeps a layer or parameter as self.{name}; that is still nn.Module's method of
    this name, so choose another name
too many parameters: has {many:,} parameters with {numbers:,} numbers, far too many
not initialised: starts with NaN or infinity in {name}, as torch.empty may leave it
not a parameter: has nothing to learn: a plain tensor, a buffer, or a layer that is made
    in forward is no parameter that an optimizer finds
unused: has a parameter {name} that gets no gradient: is it made and not used, or does
    .detach(), .data or no_grad() cut the gradient off?
frozen: has a parameter {name} that requires no gradient, so training leaves it as is
raises | in training: is right in eval mode, and in training mode it {raises}
dropout: drops numbers in training mode ({rate}), where the task asks for no dropout:
    leave it out, or make the rate an argument
random in training: puts out something else in each call in training mode: what drops
    numbers or whole branches is on by default, where the task asks for none of it
batch in training: is right in eval mode, and in training mode it gives a sample
    something else in a batch than alone, as with statistics of the batch
wrong in training: is right in eval mode, and in training mode, where it is to do the
    same, it puts out something else
no copy: cannot be copied: {error}; give the class
no module: {name} is no nn.Module: derive it from nn.Module
no module | made: made a {name}, expected an nn.Module
shared: {one} and {other} are the same module: make a new one for each place
no super: its __init__ sets layers before it has called super().__init__()
misspelt __init__: has a method {name}; Python calls __init__, with two underscores on
    each side
misspelt forward: has a method {name}; nn.Module calls one named forward
no forward: has no method forward, which nn.Module calls
no numbers: has parameters on the device meta; build it on the processor
other numbers: has a parameter {name} that does not keep the numbers it is given: does
    it share its memory with another one?
hidden: keeps {place} where PyTorch does not find its parameters: use nn.Parameter for a
    tensor, nn.ModuleList for a list of layers
made in forward: makes {name} in forward, too late for an optimizer to find: make it in
    __init__
unwritten: is not written yet: it raises NotImplementedError
"""

ROWS = [" ".join(map(str.strip, block)).split(": ", 1) for block in blocks(FINDINGS)]
SENTENCES = {name: sentence for name, sentence in ROWS}
if len(SENTENCES) < len(ROWS):
    raise ValueError("findings: two rows have the same name")


def found(row: str, **words: Any) -> Finding:
    """Return the finding of a row, with words in the place of its braces."""
    return Finding(row.partition(" | ")[0], SENTENCES[row].format(**words))


class Trouble(Exception):
    """Raised if an answer does not run to its end.

    Args:
        mistake: ``"raises"``, ``"endless"``, ``"unwritten"`` or another short name.
        sentence: what happened, for the student.
    """

    def __init__(self, mistake: str, sentence: str) -> None:
        self.mistake, self.sentence = mistake, sentence
        super().__init__(sentence)


def trouble(row: str, **words: Any) -> Trouble:
    """Return the trouble of a row, with words in the place of its braces."""
    finding = found(row, **words)
    return Trouble(finding.mistake, finding.sentence)
