import csv
import re
from dataclasses import replace

import pytest
import torch
from PIL import Image
from scipy.stats import binomtest

from tests.conftest import draw_at_random
from tests.package.small_training import small_vit
from vit_steps import VisionTransformer, data
from vit_steps.evaluate import COLUMNS, as_table, main
from vit_steps.predict import predict
from vit_steps.predictions import Predictions, predictions
from vit_steps.preprocessing import Preprocessing

GREY = {"dark": 40, "light/white": 220, "middle": 130}
KNOWN = Preprocessing((0.3,), (0.4,), tuple(GREY))


@pytest.fixture
def place(tmp_path):
    """A model for three classes, and a folder with eight images of each, 24 in all."""
    model = draw_at_random(small_vit()).eval()
    model.preprocessing = KNOWN
    model.save_pretrained(tmp_path / "model.safetensors")
    noise = torch.Generator().manual_seed(0)
    for name, grey in GREY.items():
        folder = tmp_path / "photos" / name.replace("/", "_")
        folder.mkdir(parents=True)
        for number in range(8):
            change = torch.randint(-30, 30, (9, 11), generator=noise)
            pixels = (grey + change).to(torch.uint8).numpy()
            Image.fromarray(pixels).save(folder / f"{number}.png")
    return tmp_path


def run(place, *more, folder="photos"):
    return main([str(place / "model.safetensors"), str(place / folder), *more])


def test_the_accuracy_is_that_of_predict_and_of_evaluate(place, capsys):
    assert run(place) == 0
    said = capsys.readouterr().out
    model = VisionTransformer.from_pretrained(place / "model.safetensors")
    right = {
        name: sum(
            predict(model, path, top=1).classes == (name,)
            for path in (place / "photos" / name.replace("/", "_")).iterdir()
        )
        for name in GREY
    }
    total = sum(right.values())
    assert 0 < total < 24, "a model that is always right would show nothing"
    low, high = binomtest(total, 24).proportion_ci(method="wilson")
    assert said.startswith(
        f"{place / 'photos'}: top-1 {total / 24:.2%}, {total} of 24 images right "
        f"(95% confidence: {low:.1%} to {high:.1%})\n"
    )
    rows = {line.split()[0]: line.split() for line in said.splitlines()[3:]}
    assert list(rows) == list(GREY)
    for k, (name, count) in enumerate(right.items()):
        assert rows[name][1:3] == ["8", f"{count / 8:.1%}"]
        assert int(rows[name][3 + k]) == count
    photos = data.load(
        "folder", root=place / "photos", image_size=8, preprocessing=KNOWN, share=0.3
    )
    whole = photos.validation.joined(photos.test).joined(
        replace(photos.train, read=photos.test.read, transform=photos.test.transform)
    )
    assert predictions(model, whole).confusion_matrix().trace() == total


def test_labels_go_by_name_whatever_is_missing(place, capsys):
    for path in (place / "photos" / "dark").iterdir():
        path.unlink()
    (place / "photos" / "dark").rmdir()
    assert run(place) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in rows[3:]] == [
        ["dark", "0"],
        ["light/white", "8"],
        ["middle", "8"],
    ]
    assert "of 16 images right" in rows[0]


def test_of_parts_the_test_images_are_taken(place, capsys):
    for part in ("train", "val", "Test"):
        (place / "parts" / part).mkdir(parents=True)
        for name in ("dark", "middle"):
            folder = place / "parts" / part / name
            folder.mkdir()
            for path in sorted((place / "photos" / name).iterdir())[: len(part)]:
                (folder / path.name).write_bytes(path.read_bytes())
    (place / "parts" / "Test" / "note.txt").write_text("by hand")
    assert run(place, folder="parts") == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{place / 'parts' / 'Test'}: top-1 ")
    assert "of 8 images" in said and said.endswith("Test: 1 .txt\n")


def test_a_table_has_all_answers_and_replaces_nothing_unasked(place, capsys):
    path = place / "tables" / "answers.csv"  # the folder is made
    assert run(place, "--csv", str(path)) == 0
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 24 and list(rows[0]) == ["image", "class", "answer", *GREY]
    for row in rows:
        assert row["class"].replace("/", "_") in row["image"]
        assert float(row[row["answer"]]) == max(float(row[name]) for name in GREY)
    right = sum(row["class"] == row["answer"] for row in rows)
    assert f" {right} of 24 images right" in capsys.readouterr().out
    path.write_text("years of work")
    assert run(place, "--csv", str(path)) == 1
    said = capsys.readouterr().err
    assert said.startswith("Stopped: --csv: ") and "--overwrite" in said
    assert path.read_text() == "years of work"
    assert run(place, "--csv", str(path), "--overwrite") == 0
    assert path.read_text().startswith("image,class,answer,")


def refused(place, capsys, *more, **options):
    assert run(place, *more, **options) == 1
    said = capsys.readouterr().err
    assert said.startswith("Stopped: ") and said.count("\n") == 1
    return said.removeprefix("Stopped: ")


def test_a_folder_of_an_unknown_class_is_refused(place, capsys):
    (place / "photos" / "dark").rename(place / "photos" / "black")
    said = refused(place, capsys)
    assert re.match(
        "folder: got black in .*photos, expected .* dark, light/white, middle", said
    )


def test_folders_without_classes_or_images_are_refused(place, capsys):
    assert "folder: got no folder in " in refused(place, capsys, folder="photos/dark")
    (place / "empty").mkdir()
    assert "folder: got no folder in " in refused(place, capsys, folder="empty")
    (place / "empty" / "dark").mkdir()
    said = refused(place, capsys, folder="empty")
    assert said.startswith("folder: got nothing in ") and "expected images, in" in said
    assert refused(place, capsys, folder="nowhere").startswith("folder: got ")


def test_files_that_cannot_be_read_are_all_named(place, capsys):
    for name in ("1.png", "2.png"):
        (place / "photos" / "dark" / name).write_bytes(b"no image")
    said = refused(place, capsys, "--csv", str(place / "a.csv"))
    assert said.startswith("image: 2 of 24 files cannot be read: ")
    assert "1.png" in said and "2.png" in said
    assert not (place / "a.csv").exists()


@pytest.mark.parametrize(
    "change, sentence",
    [
        (lambda model: model.reset_classifier(0), "model: got 0 classes, expected two"),
        (lambda model: model.reset_classifier(3), "model: got a head that is all zero"),
        (
            lambda model: setattr(model, "preprocessing", replace(KNOWN, classes=())),
            "model: got '.*', which does not name its classes, expected",
        ),
        (
            lambda model: setattr(model, "preprocessing", None),
            "model: got '.*', which does not name its classes, expected",
        ),
    ],
    ids=["headless", "untrained", "nameless", "unknown"],
)
def test_a_model_that_cannot_be_judged_is_refused(place, capsys, change, sentence):
    model = VisionTransformer.from_pretrained(place / "model.safetensors")
    change(model)
    model.save_pretrained(place / "model.safetensors")
    assert re.match(sentence, refused(place, capsys))


def test_many_classes_are_listed_without_the_matrix():
    for K in (COLUMNS, COLUMNS + 1):
        names = tuple(f"class-{k}" for k in range(K))
        found = Predictions(torch.eye(K), torch.arange(K), None, names)
        lines = as_table(found).splitlines()
        assert len(lines) == 3 + K
        assert ("class-3" in lines[2]) == (K == COLUMNS)
        assert lines[3].split()[:3] == ["class-0", "1", "100.0%"]
