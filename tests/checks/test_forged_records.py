"""Test that only right numbers pass, whatever a notebook's process sends.

Each forgery is sent to a judge as a changed client would send it.
"""

import socket

import pytest
import torch
from torch import nn

import vit_check as check
from tests.checks.answers import RIGHT
from tests.checks.answers.multi_head_attention.split_heads import split_with_einops
from tests.checks.test_every_check import CHECKS
from vit_check.chapters.questions import QUESTIONS
from vit_check.engine import observing
from vit_check.engine.asking import ask
from vit_check.engine.modules import ModuleCheck
from vit_check.engine.wire import receive, send
from vit_check.judge import all_checks
from vit_steps import MultiHeadAttention

MODULES = [name for name in CHECKS if isinstance(CHECKS[name], ModuleCheck)]


def send_forged(judge, name, answer, forge, form="itself"):
    """Change an answer's record on each case, and return what the judge finds."""
    asked = Conversation(judge, name, form)
    record = all_checks()[name].forms[form].record
    return asked.end([forge(record(answer, case), case) for case in asked.cases])


class Conversation:
    """A conversation with a judge, which can be left early."""

    def __init__(self, judge, name, form="itself"):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(judge.path)
        send(self.socket, {"check": name, "form": form, "origin": ""})
        self.cases = receive(self.socket)["cases"]

    def end(self, records):
        """Return the mistake's name and sentence; None if nothing is wrong."""
        with self.socket:
            send(self.socket, {"records": records})
            return receive(self.socket)["finding"]


def honest(record, case):
    return record


class NeedsFloat32(MultiHeadAttention):
    def forward(self, x, need_weights=False):
        return super().forward(x @ torch.eye(x.shape[-1]), need_weights)


@pytest.mark.parametrize(
    "name, answer",
    [
        ("multi_head_attention", MultiHeadAttention),
        ("multi_head_attention", NeedsFloat32),
        ("split_heads", split_with_einops),
        ("answer:tokens_at_384", 577),
    ],
)
def test_an_honest_record_passes(judge, name, answer):
    assert send_forged(judge, name, answer, honest) is None
    assert [record.passed for record in judge.records] == [True]


# A notebook's process that does not draw the parameters that the judge asks for.


class NoAttention(nn.Module):
    """A module with the right parameters that only sums them up."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.qkv = nn.Linear(embed_dim, 3 * embed_dim)
        self.proj = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        return self.answer(x) + 0 * sum(p.sum() for p in self.parameters())

    def answer(self, x):
        return 0 * x


class OnlyTheBias(NoAttention):
    def answer(self, x):
        return 0 * x + self.proj.bias


class TheMeanOfAllTokens(NoAttention):
    def answer(self, x):
        values = self.qkv(x).chunk(3, dim=-1)[2]
        return self.proj(values.mean(1, keepdim=True)).expand_as(x)


def zeros(layer):
    return [torch.zeros_like(p) for p in layer.parameters()]


def not_numbers(layer):
    return [torch.full_like(p, torch.nan) for p in layer.parameters()]


def drawn(layer):
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(p.shape, generator=generator) for p in layer.parameters()]


def tiny(layer):
    return [1e-9 * value for value in drawn(layer)]


def no_projection(layer):
    return [0 * v if p is layer.proj.weight else v for p, v in _drawn(layer)]


def no_queries(layer):
    third = len(layer.proj.bias)
    values = dict(_drawn(layer))
    values[layer.qkv.weight][:third] = values[layer.qkv.bias][:third] = 0
    return list(values.values())


def _drawn(layer):
    return list(zip(layer.parameters(), drawn(layer), strict=True))


def draw_instead(monkeypatch, values_of):
    def draw(module, *_, **widths):
        values = values_of(module)
        with torch.no_grad():
            for parameter, value in zip(module.parameters(), values, strict=True):
                parameter.copy_(value)
        return [value.double() for value in values]

    monkeypatch.setattr(observing, "draw", draw)


@pytest.mark.parametrize(
    "answer, values_of",
    [
        (NoAttention, zeros),
        (NoAttention, tiny),
        (NoAttention, not_numbers),
        (OnlyTheBias, no_projection),
        (TheMeanOfAllTokens, no_queries),
        (MultiHeadAttention, zeros),
        (MultiHeadAttention, drawn),
    ],
)
def test_parameters_are_those_that_the_judge_draws(
    asked, monkeypatch, answer, values_of
):
    draw_instead(monkeypatch, values_of)
    with pytest.raises(check.CheckFailed):
        check.multi_head_attention(answer)
    assert [record.passed for record in asked.records] == [False]


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("values_of", [zeros, not_numbers])
def test_no_module_passes_with_parameters_of_its_own(
    asked, monkeypatch, name, values_of
):
    answers = [a for a in RIGHT[name] if CHECKS[name].form_for(a) is CHECKS[name]]
    draw_instead(monkeypatch, values_of)
    with pytest.raises(check.CheckFailed):
        CHECKS[name](answers[0])
    assert [record.passed for record in asked.records] == [False]


class KeepsItsZeros(nn.Parameter):
    """A parameter that cannot be drawn, even by an unchanged client."""

    def copy_(self, *_):
        return self


def test_a_parameter_that_cannot_be_drawn_is_refused(asked):
    class Stubborn(NoAttention):
        def __init__(self, embed_dim, num_heads):
            super().__init__(embed_dim, num_heads)
            for layer in (self.qkv, self.proj):
                layer.weight = KeepsItsZeros(torch.zeros_like(layer.weight))
                layer.bias = KeepsItsZeros(torch.zeros_like(layer.bias))

    with pytest.raises(check.CheckFailed, match="does not keep the numbers"):
        check.multi_head_attention(Stubborn)
    assert [record.passed for record in asked.records] == [False]


# Records of modules that are changed before they are sent.


def as_if(**fields):
    """Return a forgery that replaces these fields by the results of functions."""

    def forge(record, case):
        return {**record, **{key: make(record) for key, make in fields.items()}}

    return forge


def without(*keys):
    return lambda record, case: {k: v for k, v in record.items() if k not in keys}


def roughly(tensors):
    """Return rounded tensors that are one percent off."""
    return [(1.01 * tensor).bfloat16() for tensor in tensors]


def of_another_seed(record, case):
    sizes, inputs, seed, dtype = case
    asked = CHECKS["multi_head_attention"]
    return asked.record(MultiHeadAttention, [sizes, inputs, seed + 1, dtype])


def of_no_length(record, case):
    """Remove the parameters, which could otherwise be drawn to change the output."""
    empty = [initial[:0] for initial in record["initial"]]
    return record | {"initial": empty, "gradients of parameters": empty}


def claims(record, case):
    """Add the fields with which a record once described its parameters itself."""
    zero = [torch.zeros_like(x) for x in record["initial"]]
    output = torch.zeros_like(record["output"])
    return record | {
        "values": zero,
        "values after": zero,
        "unused": [],
        "output": output,
        "again": output,
        "alone": output[:1],
        "gradients": [torch.zeros_like(x) for x in case[1]],
    }


def named_alike(record, case):
    return record | {"names": ["weight"] * len(record["names"])}


FORGERIES = [  # of any record
    *map(without, ("output", "again", "alone", "other", "after", "gradients")),
    as_if(again=lambda r: r["again"][:1]),
    as_if(alone=lambda r: roughly([r["alone"]])[0]),
    as_if(other=lambda r: r["output"]),
    as_if(other=lambda r: {"raises": "stopped"}),
    as_if(gradients=lambda r: roughly(r["gradients"])),
    as_if(output=lambda r: torch.full_like(r["output"], torch.nan)),
]
OF_A_MODULE = ("training", "initial", "names", "frozen", "changes itself", "around one")


@pytest.mark.parametrize(
    "forge",
    [
        *FORGERIES,
        *map(without, (*OF_A_MODULE, "gradients of parameters")),
        claims,
        of_another_seed,
        of_no_length,
        named_alike,
        as_if(again=lambda r: None),
        as_if(training=lambda r: r["other"]),
        as_if(gradients=lambda r: [torch.zeros_like(g) for g in r["gradients"]]),
        as_if(gradients=lambda r: []),
        as_if(after=lambda r: roughly(r["after"])),
        as_if(after=lambda r: []),
        as_if(initial=lambda r: [x.flatten() for x in r["initial"]]),
        as_if(names=lambda r: r["names"][:1]),
        as_if(names=lambda r: [f"{name}{'x' * 5000}" for name in r["names"]]),
        as_if(names=lambda r: [], initial=lambda r: [], kinds=lambda r: []),
        as_if(trouble=lambda r: None),
        as_if(trouble=lambda r: []),
        as_if(trouble=lambda r: ["", ""]),
        as_if(trouble=lambda r: ["raises", 5]),
        lambda record, case: {"trouble": ["endless", "was stopped"]},
    ],
)
def test_a_changed_record_of_a_module_is_refused(judge, forge):
    found = send_forged(judge, "multi_head_attention", MultiHeadAttention, forge)
    assert found is not None
    assert [record.passed for record in judge.records] == [False]


def with_weight(name, change):
    """Return multi-head attention that changes one weight before it computes."""

    class Changed(nn.Module):
        def __init__(self, embed_dim, num_heads):
            super().__init__()
            self.layer = MultiHeadAttention(embed_dim, num_heads)

        def forward(self, x):
            weights = dict(self.layer.named_parameters())
            weights[name] = change(weights[name])
            return torch.func.functional_call(self.layer, weights, (x,))[0]

    return Changed


def detached(weight):
    return weight.detach()


def half_detached(weight):
    first, second = weight.chunk(2)
    return torch.cat([first, second.detach()])


def learns(record, case):
    """Claim a gradient for every parameter."""
    gradients = [
        torch.ones_like(initial, dtype=getattr(torch, case[3])) if g is None else g
        for g, initial in zip(
            record["gradients of parameters"], record["initial"], strict=True
        )
    ]
    return record | {"gradients of parameters": gradients, "unused": []}


@pytest.mark.parametrize("name", ["qkv.weight", "proj.weight", "proj.bias"])
def test_a_parameter_that_learns_nothing_is_found_by_its_gradient(judge, name):
    answer = with_weight(name, detached)
    found = send_forged(judge, "multi_head_attention", answer, learns)
    assert found[0] == "gradient"


def test_a_parameter_too_many_is_found_whatever_is_said_of_its_gradient(judge):
    class WithASpare(MultiHeadAttention):
        def __init__(self, embed_dim, num_heads):
            super().__init__(embed_dim, num_heads)
            self.spare = nn.Parameter(torch.zeros(3))

    found = send_forged(judge, "multi_head_attention", WithASpare, learns)
    assert found[0] == "unused"


def test_a_matrix_half_of_which_learns_nothing_is_refused(asked):
    with pytest.raises(check.CheckFailed, match="another gradient than it should"):
        check.multi_head_attention(with_weight("proj.weight", half_detached))


def test_a_size_that_is_built_in_is_found_however_it_is_asked(asked):
    def built_in(embed_dim, num_heads):
        return MultiHeadAttention(20, 4)

    with pytest.raises(check.CheckFailed):
        check.multi_head_attention(built_in)
    with pytest.raises(check.CheckFailed, match="is graded on the class"):
        check.multi_head_attention(MultiHeadAttention(20, 4))
    request = {"check": "multi_head_attention", "form": "built", "origin": ""}
    with pytest.raises(ConnectionError):
        ask(asked.path, request, lambda case: {})
    assert [record.passed for record in asked.records] == [False]


def test_more_parameters_than_anybody_needs_are_not_read(judge):
    def many(record, case):
        number = 1000
        return record | {
            "names": [str(n) for n in range(number)],
            "kinds": ["own"] * number,
            "order": list(range(number)),
            "around one": [False] * number,
            "initial": [torch.zeros(20) for _ in range(number)],
        }

    def large(record, case):
        return record | {"initial": [torch.zeros(2**23 + 1, dtype=torch.uint8)]}

    for forge in (many, large):
        found = send_forged(judge, "multi_head_attention", MultiHeadAttention, forge)
        assert found[0] == "too many parameters"


# Records of functions.


@pytest.mark.parametrize(
    "forge",
    [
        *FORGERIES,
        as_if(again=lambda r: {"?": "object"}),
        as_if(gradients=lambda r: [None]),
        as_if(gradients=lambda r: "g"),
        as_if(after=lambda r: [roughly(r["after"][:1])[0], *r["after"][1:]]),
        as_if(output=lambda r: r["output"].bfloat16()),
        as_if(output=lambda r: torch.full_like(r["output"], torch.inf)),
        as_if(output=lambda r: torch.full_like(r["output"], 5e-324)),
        as_if(output=lambda r: r["output"].expand(2, *r["output"].shape)),
        as_if(output=lambda r: r["output"][:0]),
        as_if(output=lambda r: True),
        as_if(trouble=lambda r: False),
        as_if(trouble=lambda r: {}),
    ],
)
def test_a_changed_record_of_a_function_is_refused(judge, forge):
    assert send_forged(judge, "split_heads", split_with_einops, forge) is not None
    assert [record.passed for record in judge.records] == [False]


def test_a_function_is_judged_with_the_weights_of_the_judge(judge):
    reference = CHECKS["multi_head_attention"].function.reference

    def forge(record, case):
        x, *weights, num_heads = case
        zero = [torch.zeros_like(w) for w in weights]
        form = CHECKS["multi_head_attention"].function
        return form.record(reference, [x, *zero, num_heads])

    name = "multi_head_attention"
    assert send_forged(judge, name, reference, honest, "function") is None
    assert send_forged(judge, name, reference, forge, "function") is not None


def records_on(cases):
    return [CHECKS["split_heads"].record(split_with_einops, case) for case in cases]


@pytest.mark.parametrize(
    "choose",
    [
        lambda records: records[:-1],
        lambda records: records[:1],
        lambda records: [*records, records[0]],
        lambda records: records[::-1],
        lambda records: records[:1] * len(records),
        lambda records: dict(enumerate(map(str, records))),
        lambda records: None,
        lambda records: 4,
    ],
)
def test_every_case_is_answered_once_and_in_order(judge, choose):
    asked = Conversation(judge, "split_heads")
    assert asked.end(choose(records_on(asked.cases))) is not None
    assert [record.passed for record in judge.records] == [False]


def test_records_that_passed_once_do_not_pass_again(judge):
    first = Conversation(judge, "split_heads")
    records = records_on(first.cases)
    assert first.end(records) is None
    assert Conversation(judge, "split_heads").end(records) is not None
    assert [record.passed for record in judge.records] == [True, False]


@pytest.mark.parametrize("name", ["split_heads", "multi_head_attention"])
def test_nothing_is_drawn_twice(judge, name):
    """If a case came twice, the sentence about one would help to forge the next."""
    seen = []
    for _ in range(3):
        asked = Conversation(judge, name)
        seen += [str(case) for case in asked.cases]
        asked.end([])
    assert len(set(seen)) == len(seen)


def test_a_question_counts_where_it_was_asked(judge):
    """A verdict asked for in one cell and given in the next counts in neither."""
    asked = Conversation(judge, "split_heads")
    judge.clear()
    assert asked.end(records_on(asked.cases)) is None
    assert judge.records == []


# Records of values.

ACCEPTING = [name for name, asked in QUESTIONS.items() if asked.accept is not None]


@pytest.mark.parametrize("name", ACCEPTING)
def test_no_question_accepts_nan(judge, name):
    for length in range(1, 12):
        nan = [float("nan")] * length
        for value in (nan, dict.fromkeys(map(str, range(length)), nan[0])):
            found = send_forged(judge, f"answer:{name}", value, honest)
            assert found is not None


@pytest.mark.parametrize(
    "value",
    [
        torch.tensor(577),
        torch.tensor([577]),
        float("nan"),
        float("inf"),
        10**400,
        -(10**400),
        True,
        "577" * 10_000,
        [577] * 100_000,
        {"value": 577},
        {"?": "ellipsis"},
        [[[[[[[[577]]]]]]]],
        (577,),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_changed_record_of_a_value_is_refused(judge, value):
    def forge(record, case):
        return {"value": value}

    assert send_forged(judge, "answer:tokens_at_384", 577, forge) is not None
    assert [record.passed for record in judge.records] == [False]
    assert len(judge.records[0].sentence) <= 2000
