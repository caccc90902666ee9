"""Test the checks: every right answer passes, every wrong one gets its sentence."""

import gc
import inspect
import itertools
import logging
import os
import random
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import torch
from torch import nn

import vit_check as check
from tests.checks.answers import RIGHT, WRONG, made
from tests.checks.new_check import left_to_write
from tests.patience import SECONDS
from vit_check import CheckFailed
from vit_check.engine.comparing import difference, same
from vit_check.engine.functions import FunctionCheck
from vit_check.engine.modules import ModuleCheck
from vit_check.engine.observing import plain, tensors_in

CHECKS = check.CHECKS
FUNCTIONS = [name for name in CHECKS if isinstance(CHECKS[name], FunctionCheck)]


def answers(table):
    return [
        pytest.param(name, entry, id=f"{name}-{_name(entry)}")
        for name, given in table.items()
        for entry in given
    ]


def _name(entry):
    return (entry[1] if isinstance(entry, tuple) else entry).__name__


def failure(name, answer, seed=None):
    """Return the name of the mistake that the check finds, None for a right answer."""
    answer = made(answer)
    if seed is not None:
        finding = CHECKS[name].examine(answer, {}, seed)
        return finding and finding.mistake
    try:
        CHECKS[name](answer)
    except CheckFailed as failed:
        return failed.mistake
    return None


@pytest.mark.parametrize("name", CHECKS)
def test_nothing_of_a_check_is_left_to_write(name):
    left = left_to_write(name)
    assert not left, "\n".join(left)


@pytest.mark.parametrize("name", CHECKS)
def test_each_check_has_its_answers(name):
    for what, given, least in (
        ("mistakes in its table", CHECKS[name].mistakes, 5),
        ("right answers in tests/checks/answers", RIGHT[name], 3),
        ("wrong answers in tests/checks/answers", WRONG[name], 5),
    ):
        assert len(given) >= least, f"{name}: {len(given)} {what}, expected {least}"
    assert len(CHECKS[name].hints) == 3
    names = [mistake.name for mistake in CHECKS[name].mistakes]
    assert len(set(names)) == len(names)


def test_every_answer_is_for_a_check():
    assert set(RIGHT) | set(WRONG) <= set(CHECKS)


@pytest.mark.parametrize("name, answer", answers(RIGHT))
def test_right_answers_pass_whatever_is_drawn(name, answer, capsys):
    assert failure(name, answer) is None
    assert capsys.readouterr().out == f"{name}: right\n"
    for seed in range(5):
        assert failure(name, answer, seed) is None


@pytest.mark.parametrize("name, entry", answers(WRONG))
def test_wrong_answers_get_the_name_of_their_mistake(name, entry):
    mistake, answer, words = entry
    with pytest.raises(CheckFailed) as failed:
        CHECKS[name](made(answer))
    assert failed.value.mistake == mistake
    parts = map(re.escape, words.split("…"))
    assert not words or re.fullmatch(".*".join(parts), str(failed.value), re.DOTALL)
    for seed in range(3):
        assert failure(name, answer, seed) == mistake


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_check_refuses_its_known_mistakes(name):
    found = {m.name: failure(name, m.wrong) for m in CHECKS[name].mistakes}
    assert found == {name: name for name in found}


MODULES = [name for name in CHECKS if isinstance(CHECKS[name], ModuleCheck)]


@pytest.mark.parametrize("name", MODULES)
def test_each_mistake_of_a_module_fits_and_changes_the_output(name):
    """A judge passes over a mistake that raises, so a row that does not fit is dead."""
    module = CHECKS[name]
    readings = [reading for answer in RIGHT[name] for reading in _read(module, answer)]
    assert readings
    for mistake in module.mistakes:
        assert made(mistake.wrong), "made of its edits, or a ValueError"
        assert any(_shows(module, mistake, *reading) for reading in readings), (
            f"{mistake.name}: puts out what is right, or raises everywhere"
        )


def _read(module, answer):
    """Yield each case with a reading of the answer's parameters, the first one."""
    if module.form_for(answer) is not module:
        return
    for case in module.cases(torch.Generator().manual_seed(0), {}):
        record = module.observe(answer, case)
        parts = module._parts(case, record)
        for weights in itertools.islice(module.reading(parts, case[0]), 1):
            floats = getattr(torch, case[3])
            inputs = [x.to(floats) if x.is_floating_point() else x for x in case[1]]
            yield weights, case[0], inputs


def _shows(module, mistake, weights, sizes, inputs):
    try:
        wrong = plain(mistake.wrong(weights, sizes, *inputs))
    except Exception:
        return False
    return not same(wrong, plain(module.reference(weights, sizes, *inputs)))


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_has_few_cases(name):
    """A check has few cases, so that it is quick on any machine."""
    for answer in RIGHT[name]:
        form = CHECKS[name].form_for(answer)
        assert len(list(form.cases(torch.Generator().manual_seed(0), {}))) <= 12


@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("thing", [None, 3, "text", [1], torch.ones(2)])
def test_what_cannot_be_called_is_refused(name, thing):
    assert failure(name, thing) == "not callable"


class Liar:
    """An object that equals everything, is true, and has every length."""

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    __hash__ = None


class LyingTensor(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func in (torch.isclose, torch.allclose, torch.equal, torch.eq):
            return torch.tensor(True)
        return super().__torch_function__(func, types, args, kwargs or {})


def disturbing(answer):
    """Return the answer in a function that prints, seeds and changes global state."""

    def disturbs(*arguments, **named):
        print("here", "x" * 1000)
        torch.manual_seed(7)
        np.random.seed(7)
        random.seed(7)
        torch.set_default_dtype(torch.float64)
        os.environ["VIT_STEPS_TEST"] = "changed"
        os.chdir("/")
        try:
            torch.set_default_dtype(torch.float32)
            return answer(*arguments, **named)
        finally:
            torch.set_default_dtype(torch.float64)

    return disturbs


@pytest.mark.parametrize("name", FUNCTIONS)
def test_nothing_outside_is_changed(name, capsys):
    answer = next(a for a in RIGHT[name] if inspect.isfunction(a))
    before = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()
    folder, environment = os.getcwd(), dict(os.environ)
    if name == "drop_path":  # its check refuses an answer that sets the seed
        assert failure(name, disturbing(answer)) == "seeded"
    else:
        assert failure(name, disturbing(answer)) is None
        assert capsys.readouterr().out == f"{name}: right\n"
    assert torch.equal(torch.get_rng_state(), before[0])
    assert (np.random.get_state()[1] == before[1]).all()
    assert random.getstate() == before[2]
    assert os.getcwd() == folder and dict(os.environ) == environment
    assert torch.get_default_dtype() == torch.float32


@pytest.mark.parametrize("name", FUNCTIONS)
def test_liars_are_refused(name):
    assert failure(name, lambda *a, **k: Liar()) not in (None, "raises")
    assert failure(name, lambda *a, **k: None) not in (None, "raises")
    assert failure(name, lambda *a, **k: float("nan")) not in (None, "raises")
    lying = torch.zeros(2, 3).as_subclass(LyingTensor)
    assert failure(name, lambda *a, **k: lying) not in (None, "raises")
    assert failure(name, lambda *a, **k: (lying, lying)) not in (None, "raises")


def raises(*arguments, **named):
    raise IndexError("list index out of range")


def not_written(*arguments, **named):
    raise NotImplementedError


def exits(*arguments, **named):
    raise SystemExit(0)


def recurses(*arguments, **named):
    return recurses(*arguments, **named)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_errors_become_a_sentence(name):
    assert failure(name, raises) == "raises"
    assert failure(name, not_written) == "unwritten"
    assert failure(name, exits) == "raises"
    assert failure(name, recurses) == "calls itself"


def endless(*arguments, **named):
    while True:
        pass


let_go = threading.Event()


def endless_and_stubborn(*arguments, **named):
    for _ in range(20):
        try:
            while not let_go.is_set():
                pass
        except BaseException:
            pass


@pytest.fixture(autouse=True)
def none_is_left_running():
    """End the answers that a test could not stop: they would slow down later tests."""
    yield
    let_go.set()
    for thread in running_answers():
        thread.join(timeout=SECONDS)
    let_go.clear()


def asleep(*arguments, **named):
    time.sleep(3)


@pytest.fixture
def impatient(monkeypatch):
    """Wait a shorter time than usual for an answer to end, and then to stop."""
    monkeypatch.setattr("vit_check.engine.watching.CPU_SECONDS", 1.0)
    monkeypatch.setattr("vit_check.engine.watching.STOP_SECONDS", 0.5)


@pytest.mark.parametrize("answer", [endless, endless_and_stubborn])
def test_an_endless_loop_is_stopped(impatient, answer):
    assert failure("split_heads", answer) == "endless"
    assert not running_answers()


@pytest.fixture
def busy_machine():
    compute = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(compute) for _ in range(2 * os.cpu_count())]
    yield
    for process in others:
        process.kill()
        process.wait()


def test_an_endless_loop_is_stopped_on_a_busy_machine(impatient, busy_machine):
    assert failure("split_heads", RIGHT["split_heads"][0]) is None
    assert failure("split_heads", endless_and_stubborn) == "endless"
    assert not running_answers()


@pytest.mark.skipif(sys.platform != "linux", reason="no other system tells of delays")
def test_an_answer_that_waits_for_a_processor_is_not_asleep(busy_machine, monkeypatch):
    """Two busy processes for each processor make it wait twice as long as it works."""
    monkeypatch.setattr("vit_check.engine.watching.WAITING_SECONDS", 1.0)
    seconds = [1.0]

    def split_heads(x, num_heads):
        compute(seconds.pop() if seconds else 0)
        return RIGHT["split_heads"][0](x, num_heads)

    assert failure("split_heads", split_heads) is None


def test_loading_a_library_takes_the_time_it_takes(impatient, tmp_path, monkeypatch):
    slow = "import time\nuntil = time.process_time() + 1.5\n"
    slow += "while time.process_time() < until:\n    pass\n"
    (tmp_path / "slow_library.py").write_text(slow)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("vit_check.engine.watching.WAITING_SECONDS", 1.4)

    def split_heads(x, num_heads):
        import slow_library  # noqa: F401

        return RIGHT["split_heads"][0](x, num_heads)

    assert failure("split_heads", split_heads) is None


def compute(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


class Litter:
    """A reference cycle, so that only the collector frees it, and that slowly."""

    def __init__(self):
        self.itself = self

    def __del__(self):
        compute(1.5)


def test_garbage_is_not_collected_on_the_answers_time(impatient):
    left = []

    def split_heads(x, num_heads):
        if not left:
            left.append(id(Litter()))
        [[] for _ in range(10_000)]  # enough to make Python collect garbage
        return RIGHT["split_heads"][0](x, num_heads)

    assert failure("split_heads", split_heads) is None
    assert gc.isenabled()


def test_errors_in_finalizers_are_not_printed(impatient, monkeypatch):
    class Falls:
        def __del__(self):
            raise ValueError("nobody hears this")

    class Hangs:
        def __del__(self):
            compute(60)

    def answer(leftover):
        def split_heads(x, num_heads):
            leftover()
            return RIGHT["split_heads"][0](x, num_heads)

        return split_heads

    printed = []
    monkeypatch.setattr(sys, "unraisablehook", lambda _: printed.append("something"))
    assert failure("split_heads", answer(Falls)) is None
    assert failure("split_heads", answer(Hangs)) == "endless"
    assert not printed
    Falls()
    assert printed, "it is put back"


def test_warnings_are_not_logged_meanwhile(caplog):
    def split_heads(x, num_heads):
        logging.warning("recompiled eight times")
        return RIGHT["split_heads"][0](x, num_heads)

    assert failure("split_heads", split_heads) is None
    assert not caplog.records
    logging.warning("as before")
    assert len(caplog.records) == 1


def running_answers():
    """Return the threads of answers that are still running."""
    return [t for t in threading.enumerate() if t.name == "answer"]


def test_an_answer_that_sleeps_is_not_said_to_run_on(monkeypatch):
    monkeypatch.setattr("vit_check.engine.watching.WAITING_SECONDS", 0.5)
    with pytest.raises(CheckFailed) as failed:
        check.split_heads(asleep)
    assert "no longer: it had not come to an end after" in str(failed.value)
    assert "at `time.sleep(3)`: is there" in str(failed.value)
    assert "restart the kernel" not in str(failed.value)


def test_an_answer_that_cannot_be_stopped_is_said_to_run_on(impatient):
    def stubborn(*arguments, **named):
        while not let_go.is_set():
            try:
                while not let_go.is_set():
                    pass
            except BaseException:
                pass

    with pytest.raises(CheckFailed, match="could not be .* so restart the kernel"):
        check.split_heads(stubborn)


def test_an_answer_that_takes_much_memory_is_said_to(monkeypatch):
    monkeypatch.setattr("vit_check.engine.watching.MOST_MEMORY", 2**27)

    def split_heads(x, num_heads):
        large = torch.ones(2**26)
        time.sleep(0.1)
        return large

    with pytest.raises(CheckFailed, match=r"had taken 0.\d GB of memory, at `"):
        check.split_heads(split_heads)


def test_a_deep_recursion_limit_does_not_hang():
    before = sys.getrecursionlimit()

    def split_heads(x, num_heads):
        sys.setrecursionlimit(10**9)
        return split_heads(x, num_heads)

    assert failure("split_heads", split_heads) == "calls itself"
    assert sys.getrecursionlimit() == before


def test_settings_that_an_answer_changes_are_restored():
    functions = torch.softmax, nn.functional.softmax, torch.Tensor.softmax
    functions += torch.isclose, nn.Module.train

    def split_heads(x, num_heads):
        torch.softmax = nn.functional.softmax = torch.Tensor.softmax = None
        torch.isclose = lambda *arguments, **named: torch.tensor(True)
        nn.Module.train = None
        torch.use_deterministic_algorithms(True)
        torch.set_anomaly_enabled(True)
        return torch.zeros(RIGHT["split_heads"][0](x, num_heads).shape)

    assert failure("split_heads", split_heads) == "as if"
    assert functions == (
        torch.softmax,
        nn.functional.softmax,
        torch.Tensor.softmax,
        torch.isclose,
        nn.Module.train,
    )
    assert not torch.are_deterministic_algorithms_enabled()
    assert not torch.is_anomaly_enabled()


def test_an_error_names_the_line():
    with pytest.raises(CheckFailed, match=r"IndexError: list index .*raise IndexError"):
        check.split_heads(raises)


def test_numbers_that_differ_late_are_told_apart():
    right = torch.tensor([1.064, 2.0, 3.0], dtype=torch.float64)
    got = torch.tensor([1.06404, 2.0, 3.0], dtype=torch.float64)
    found = difference(got, right)
    assert found.sentence.endswith("got 1.06404, expected 1.064")


def test_an_array_is_an_answer():
    check.answer("shape_of_small_patches", np.array([5, 24, 49]))
    with pytest.raises(CheckFailed):
        check.answer("shape_of_small_patches", np.array([5, 24, 50]))
    with pytest.raises(CheckFailed, match="has '' in quotes"):
        check.answer("causes_of_four_first_losses", dict.fromkeys("ABCD", ""))


def test_a_hint_is_given_when_asked_for():
    with pytest.raises(CheckFailed) as without:
        check.split_heads(raises)
    assert "Hint" not in str(without.value)
    for hint in (1, 2, 3):
        with pytest.raises(CheckFailed) as failed:
            check.split_heads(raises, hint=hint)
        text = CHECKS["split_heads"].hints[hint - 1]
        assert str(failed.value).endswith(f"Hint {hint} of 3: {text}")
    with pytest.raises(ValueError, match="hint: got 4, expected 0, 1, 2 or 3"):
        check.split_heads(raises, hint=4)


def test_a_notebook_shows_the_sentence_alone():
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    failed = CheckFailed("patchify", "order", "is wrong.")
    shown = []
    shell._showtraceback = lambda kind, value, lines: shown.extend(lines)
    try:
        raise failed
    except CheckFailed:
        shell.showtraceback()
    assert shown == ["patchify: is wrong."]


def test_a_module_is_left_as_it_was():
    from vit_steps import MultiHeadAttention

    layer = MultiHeadAttention(8, 2).train()
    before = {k: v.clone() for k, v in layer.state_dict().items()}
    check.multi_head_attention(layer, embed_dim=8, num_heads=2)
    assert layer.training
    torch.testing.assert_close(layer.state_dict(), before, rtol=0, atol=0)
    assert all(p.grad is None for p in layer.parameters())


def test_sizes_are_checked():
    with pytest.raises(ValueError, match="heads: got a size by this name"):
        check.multi_head_attention(nn.Identity(), heads=2)
    with pytest.raises(ValueError, match="takes no such argument"):
        check.split_heads(raises, heads=2)


def shapes_of(value):
    """Return the key by which a cache might know a value: shapes, and other values."""
    if isinstance(value, torch.Tensor):
        return tuple(value.shape)
    if isinstance(value, dict):
        return shapes_of(list(value.items()))
    if isinstance(value, list | tuple):
        return tuple(map(shapes_of, value))
    return value if isinstance(value, int | float | str) else type(value)


def is_given_more_than_numbers(name):
    """Return whether a check gives tensors or models; a cache may well know numbers."""
    cases = CHECKS[name].cases(torch.Generator().manual_seed(0), {})
    return any(tensors_in(case) or str in map(type, case) for case in cases)


KEPT = [name for name in FUNCTIONS if is_given_more_than_numbers(name)]
KEPT.remove("silent_parameters")  # its result does not depend on the numbers


@pytest.mark.parametrize("name", KEPT)
def test_a_result_that_is_kept_for_its_shape_is_refused(name):
    answer = next(a for a in RIGHT[name] if inspect.isfunction(a))
    kept = {}

    def keeps(*arguments, **named):
        key = shapes_of(arguments), shapes_of(named)
        if key not in kept:
            kept[key] = answer(*arguments, **named)
        return kept[key]

    assert failure(name, keeps) in (
        "result kept",
        "not repeatable",
        "value",  # a model of another kind, with the same shapes
        "same samples each time",
        "no step",
        "other tensors",
    )
