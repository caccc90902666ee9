import pytest
import torch
from torch.nn import functional as F

from tests.conftest import draw_at_random
from vit_steps import optional
from vit_steps.variants.distillation import (
    DistilledConfig,
    DistilledVisionTransformer,
    hard_distillation_loss,
    soft_distillation_loss,
)

timm = optional.timm()


def test_deit_tiny_is_timms_with_its_weights():
    theirs = draw_at_random(timm.create_model("deit_tiny_distilled_patch16_224"))
    ours = DistilledVisionTransformer(DistilledConfig.tiny())
    ours.load_state_dict(theirs.state_dict())
    assert sum(p.numel() for p in ours.parameters()) == 5_910_800
    images = torch.randn(2, 3, 224, 224)
    with torch.inference_mode():
        expected = theirs.eval()(images)
        assert expected.abs().max() > 1e-2
        torch.testing.assert_close(ours.eval()(images), expected, rtol=1e-4, atol=1e-5)
        theirs.set_distilled_training()
        pair = theirs.train()(images)
        torch.testing.assert_close(ours.two_answers(images), pair, rtol=1e-4, atol=1e-5)


@pytest.fixture
def batch():
    torch.manual_seed(0)
    return (torch.randn(4, 5), torch.randn(4, 5)), torch.arange(4), torch.randn(4, 5)


def test_hard_distillation_by_loops(batch):
    (from_class, from_teacher), labels, teacher = batch
    total = 0.0
    for i in range(4):
        total -= from_class[i].log_softmax(0)[labels[i]].item() / 8
        total -= from_teacher[i].log_softmax(0)[teacher[i].argmax()].item() / 8
    assert hard_distillation_loss(*batch).item() == pytest.approx(total, rel=1e-5)


def test_soft_distillation_by_loops(batch):
    (from_class, from_teacher), labels, teacher = batch
    total = 0.9 * F.cross_entropy(from_class, labels).item()
    for i in range(4):
        wanted, said = (teacher[i] / 3).softmax(0), (from_teacher[i] / 3).softmax(0)
        divergence = sum(w * (w / s).log() for w, s in zip(wanted, said, strict=True))
        total += 0.1 * 9 * divergence.item() / 4
    assert soft_distillation_loss(*batch).item() == pytest.approx(total, rel=1e-5)


def test_a_student_that_agrees_with_its_teacher_pays_for_labels_only(batch):
    (from_class, _), labels, teacher = batch
    soft = soft_distillation_loss((from_class, teacher), labels, teacher)
    labelled = F.cross_entropy(from_class, labels)
    torch.testing.assert_close(soft, 0.9 * labelled)
