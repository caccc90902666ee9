import csv
from types import SimpleNamespace

import pytest
import torch
from sklearn.metrics import confusion_matrix
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

from tests.conftest import draw_at_random
from tests.package.small_training import QUICK, small_vit, stripes
from vit_steps.predictions import Predictions, head_data, predictions
from vit_steps.preprocessing import Preprocessing
from vit_steps.training import evaluate, train
from vit_steps.variants import VariantConfig, VariantVisionTransformer

KNOWN = Preprocessing((0.4,), (0.2,), ("low", "middle", "high"))


@pytest.fixture
def model():
    model = draw_at_random(small_vit()).eval()
    model.preprocessing = KNOWN
    return model


@pytest.mark.parametrize("batch_size", [5, 256])
def test_every_image_gets_features_logits_and_its_label(model, batch_size):
    images, labels = stripes().train[:]
    found = predictions(model, stripes().train, batch_size)
    with torch.no_grad():
        tokens, _ = model.encode(images)
        torch.testing.assert_close(found.features, tokens[:, 0])
        torch.testing.assert_close(found.logits, model(images))
        torch.testing.assert_close(model.head(found.features), found.logits)
    assert torch.equal(found.labels, labels) and found.classes == KNOWN.classes
    assert not found.logits.requires_grad and not found.features.requires_grad


def test_features_are_what_the_head_is_given_whatever_the_model():
    config = VariantConfig(8, 4, 1, 3, 8, 1, 2, pooling="mean", representation_size=5)
    for model, size in (
        (VariantVisionTransformer(config), 5),
        (torch.compile(small_vit(), backend="eager"), 8),
    ):
        draw_at_random(model)
        found = predictions(model, stripes().train)
        assert found.features.shape == (24, size)
        torch.testing.assert_close(model.head(found.features), found.logits)
    plain = nn.Sequential(nn.Flatten(), nn.Linear(64, 3))
    found = predictions(plain, stripes().train)
    assert found.features is None and found.classes == ("0", "1", "2")
    assert predictions(model, stripes().train, features=False).features is None


def test_the_model_is_given_back_as_it_was(model):
    model.blocks.train()
    modes = [module.training for module in model.modules()]
    predictions(model, stripes().train)
    with pytest.raises(ValueError, match="labels: got"):
        predictions(model, [(torch.zeros(1, 8, 8), 7)])
    assert [module.training for module in model.modules()] == modes
    assert not model.head._forward_pre_hooks


def test_wrong_data_sets_and_models_are_refused(model):
    for dataset, sentence in (
        (DataLoader(stripes().train), "dataset: got DataLoader"),
        (Subset(stripes().train, []), "dataset: got no image"),
    ):
        with pytest.raises(ValueError, match=sentence):
            predictions(model, dataset)
    model.reset_classifier(0)
    for ask in (predictions, lambda m, data: head_data(m, SimpleNamespace(train=data))):
        with pytest.raises(ValueError, match="model: has no head, expected one"):
            ask(model, stripes().train)
    with pytest.raises(ValueError, match="model: got a Sequential without a head"):
        head_data(nn.Sequential(nn.Flatten(), nn.Linear(64, 3)), stripes())


def answered(labels, answers, K=3):
    logits = nn.functional.one_hot(torch.tensor(answers), K).float()
    return Predictions(logits, torch.tensor(labels), None, tuple("abc"[:K]))


def test_confusions_and_accuracies_are_those_of_scikit_learn():
    labels, answers = [0, 0, 0, 0, 2, 2, 2], [0, 0, 0, 1, 2, 0, 0]
    found = answered(labels, answers)
    expected = confusion_matrix(labels, answers, labels=range(3))
    assert found.confusion_matrix().tolist() == expected.tolist()
    assert found.accuracy_by_class() == pytest.approx({"a": 3 / 4, "c": 1 / 3})


def test_the_metrics_are_those_of_the_predictions(model):
    found = predictions(model, stripes().train)
    metrics = evaluate(model, stripes().train)
    right = found.confusion_matrix().trace() / 24
    assert metrics.top1 == pytest.approx(right.item()) and metrics.top5 is None
    loss = nn.functional.cross_entropy(found.logits, found.labels).item()
    assert metrics.loss == pytest.approx(loss)


def test_a_table_has_a_row_an_image_and_no_class_where_none_is_known(tmp_path):
    found = answered([0, 2], [0, 1])
    found.write_csv(tmp_path / "a.csv", ["one, two.jpg", "é.jpg"])
    with open(tmp_path / "a.csv", encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert list(first) == ["image", "class", "answer", "a", "b", "c"]
    assert [*first.values()][:3] == ["one, two.jpg", "a", "a"]
    assert [*second.values()][:3] == ["é.jpg", "c", "b"]
    shares = torch.tensor([float(second[name]) for name in "abc"])
    torch.testing.assert_close(shares, found.logits[1].softmax(0), atol=1e-6, rtol=0)
    Predictions(found.logits, torch.empty(0), None, ("a", "b", "c")).write_csv(
        tmp_path / "b.csv", [1, 2]
    )
    assert (tmp_path / "b.csv").read_text().startswith("image,answer,a,b,c\n1,a,0.5")
    with pytest.raises(ValueError, match="argument"):
        found.write_csv(tmp_path / "c.csv", ["one"])
    assert not (tmp_path / "c.csv").exists()


def changed(model, before):
    tensors = model.state_dict()
    return {name for name in tensors if not torch.equal(tensors[name], before[name])}


def test_a_head_alone_learns_from_features_and_nothing_else_changes():
    model = draw_at_random(small_vit(drop_rate=0.5))
    model.reset_classifier(3)
    before = {name: t.clone() for name, t in model.state_dict().items()}
    data = head_data(model, stripes())
    assert [tuple(data.train[0][0].shape), len(data.validation)] == [(8,), 24]
    history = train(model.head, data, QUICK, progress=False)
    changed = {
        n for n, t in model.state_dict().items() if not torch.equal(t, before[n])
    }
    assert changed == {"head.weight", "head.bias"}
    measured = evaluate(model, stripes().validation)  # through the whole model
    assert measured.loss == pytest.approx(history.loss[-1], rel=1e-5)


def test_frozen_parameters_stay_bit_for_bit_in_a_training():
    model = draw_at_random(small_vit())
    model.requires_grad_(False)
    model.head.requires_grad_(True)
    before = {name: t.clone() for name, t in model.state_dict().items()}
    train(model, stripes(), QUICK, progress=False)
    changed = {
        n for n, t in model.state_dict().items() if not torch.equal(t, before[n])
    }
    assert changed == {"head.weight", "head.bias"}


def test_labels_are_not_left_beside_features():
    parts = head_data(small_vit(), stripes())
    assert isinstance(parts.train, TensorDataset)
    assert torch.equal(parts.train.tensors[1], stripes().train.tensors[1])
