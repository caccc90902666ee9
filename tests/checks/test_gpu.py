"""Test that answers on a GPU are judged, with a stand-in where there is none."""

import inspect

import pytest
import torch
from torch import nn

import vit_check as check
from tests.checks.answers import RIGHT
from tests.checks.stand_in import Gpu, answering_from_gpu
from tests.checks.test_every_check import CHECKS, FUNCTIONS, failure
from vit_check import CheckFailed
from vit_check.engine.watching import watch
from vit_steps import MultiHeadAttention, patchify

MODULES = sorted(set(CHECKS) - set(FUNCTIONS))
THE_SAME_TENSORS = {"parameter_groups", "rename_weights"}  # must be returned


@pytest.fixture(autouse=True)
def gpu(monkeypatch):
    """A GPU, here and in the thread of the answer."""
    if torch.cuda.is_available():
        yield
        return
    gpu = Gpu()

    def run_there(run):
        with gpu:
            return run()

    def watch_there(run):
        return watch(lambda: run_there(run))

    monkeypatch.setattr("vit_check.engine.check.watch", watch_there)
    monkeypatch.setattr("vit_check.engine.modules.watch", watch_there)
    with gpu:
        yield


def test_tensors_on_the_gpu_meet_none_on_the_cpu():
    there, here = torch.ones(2).cuda(), torch.ones(2, requires_grad=True)
    assert there.is_cuda and there.device.type == "cuda" and (2 * there).is_cuda
    with pytest.raises(RuntimeError, match="to be on the same device"):
        there + here
    assert torch.equal((there + here.cuda()).cpu(), torch.full((2,), 2.0))
    (gradient,) = torch.autograd.grad((there * here.cuda()).sum(), [here])
    assert not gradient.is_cuda
    assert nn.Linear(2, 3).cuda().to("cpu").weight.device.type == "cpu"


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n not in THE_SAME_TENSORS])
def test_an_output_on_a_gpu_is_compared_like_any_other(name):
    answer = next(a for a in RIGHT[name] if inspect.isfunction(a))
    assert failure(name, answering_from_gpu(answer)) is None


@pytest.mark.parametrize("name", MODULES)
def test_a_module_on_a_gpu_is_judged_like_any_other(name):
    for answer in RIGHT[name]:
        if isinstance(answer, type) and len(inspect.signature(answer).parameters) > 1:

            class OnGpu(answer):
                def __init__(self, *sizes, **named):
                    super().__init__(*sizes, **named)
                    self.cuda()

            assert failure(name, OnGpu) is None, answer


class OnlyThere(MultiHeadAttention):
    """A layer that moves what it is given, and keeps a tensor that nothing moves."""

    def __init__(self, embed_dim, num_heads):
        super().__init__(embed_dim, num_heads)
        self.one = torch.ones(1, device="cuda")
        self.cuda()

    def forward(self, x, need_weights=False):
        return super().forward(x.cuda() * self.one, need_weights)


class OnlyThereAndDoubled(OnlyThere):
    def forward(self, x, need_weights=False):
        return 2 * super().forward(x)[0], None


def test_a_module_that_runs_on_a_gpu_alone_is_judged_there():
    check.multi_head_attention(OnlyThere)
    check.multi_head_attention(OnlyThere(8, 2), embed_dim=8, num_heads=2)
    with pytest.raises(CheckFailed, match="every number of the output is 2 times"):
        check.multi_head_attention(OnlyThereAndDoubled)


def test_a_function_may_move_what_it_is_given():
    check.patchify(lambda images, patch_size: patchify(images.cuda(), patch_size))
    with pytest.raises(CheckFailed, match="what is right for 2.images"):
        check.patchify(
            lambda images, patch_size: 2 * patchify(images.cuda(), patch_size)
        )
