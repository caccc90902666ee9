"""Test that a public name means the same in the notebooks and in the package."""

import importlib
import inspect
import shutil
from collections import defaultdict
from itertools import chain
from pathlib import Path

import pytest

import vit_steps
from book.same import definitions, make_same, package_definitions
from tests.conftest import CHAPTERS, NOTEBOOKS, ROOT, SIDE_ROADS, code_cells, read

MODULES = [
    importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    for package in ("vit_steps", "vit_doctor")
    for path in sorted((ROOT / package).rglob("*.py"))
    if not path.stem.startswith("__")
]


def public_things():
    for module in MODULES:
        for name, thing in vars(module).items():
            defined = inspect.isfunction(thing) or inspect.isclass(thing)
            if defined and thing.__module__ == module.__name__:
                yield name, thing


def defined_in(path):
    """Yield the name and source of a notebook's top-level definitions."""
    for cell in code_cells(path):
        for definition in definitions(cell.source):
            yield definition.name, definition.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_definition_under_a_public_name_is_the_packages(path):
    package = package_definitions()
    for name, text in defined_in(path):
        if name in package:
            assert {text} == package[name], f"{path.name}: {name} is not the package's"


def test_the_parser_reads_what_python_knows_of_the_package():
    package = package_definitions()
    for name, thing in public_things():
        assert inspect.getsource(thing).rstrip() in package[name], name


@pytest.fixture
def chapter(tmp_path):
    path = next(p for p in NOTEBOOKS if "LayerScale" in dict(defined_in(p)))
    return Path(shutil.copy(path, tmp_path))


def test_same_leaves_a_notebook_that_is_the_packages_as_it_is(chapter):
    before = chapter.read_bytes()
    assert make_same(chapter, package_definitions()) == []
    assert chapter.read_bytes() == before


def test_same_writes_a_changed_definition_and_nothing_else(chapter, tmp_path):
    original, before = chapter.read_bytes(), read(chapter)
    (old,) = package_definitions()["LayerScale"]
    new = "@torch.no_grad()\n" + old.replace("x * self.gamma", "self.gamma * x")
    module = (ROOT / "vit_steps" / "encoder.py").read_text("utf-8").replace(old, new)
    (tmp_path / "encoder.py").write_text(module, "utf-8")

    changed_package = package_definitions(tmp_path)
    assert make_same(chapter, changed_package) == ["LayerScale"]
    assert dict(defined_in(chapter))["LayerScale"] == new
    for cell in before.cells:
        cell.source = cell.source.replace(old, new)
    assert read(chapter) == before
    assert make_same(chapter, changed_package) == []

    make_same(chapter, package_definitions())
    assert chapter.read_bytes() == original


def test_same_does_not_choose_between_two_definitions(chapter):
    before = chapter.read_bytes()
    with pytest.raises(SystemExit, match="LayerScale is defined twice"):
        make_same(
            chapter, {"LayerScale": {"class LayerScale: 1", "class LayerScale: 2"}}
        )
    assert chapter.read_bytes() == before


# The names that chapters teach from modules that vit_steps itself does not import.
TAUGHT_BY_MODULE = {
    "training": [
        "TrainConfig",
        "learning_rate",
        "parameter_groups",
        "train_step",
        "evaluate",
        "Batches",
        "train",
    ],
    "attention_maps": [
        "class_token_attention",
        "class_token_to_patches",
        "attention_rollout",
        "attention_distance",
        "uniform_distance",
        "position_similarity",
        "patch_filters",
        "patch_brightness",
        "mass_inside",
        "mask_patches",
        "DeletionCurve",
        "deletion_curve",
    ],
    "pretrained": [
        "load_weights",
        "extract_features",
        "WeightsMismatch",
        "Difference",
        "first_difference",
    ],
    "quick": [
        "overfit_one_batch",
        "batch_effect",
        "repeat_effect",
        "order_effect",
        "shuffle_patches",
        "silent_parameters",
        "shared_parameters",
    ],
    "distributed": ["BatchShares", "data_parallel", "shard", "train_together"],
    "training_cost": [
        "Accelerator",
        "TrainingMemory",
        "activation_bytes",
        "training_memory",
        "training_flops",
        "training_seconds",
    ],
    "variants": [
        "DistilledConfig",
        "DistilledVisionTransformer",
        "hard_distillation_loss",
        "soft_distillation_loss",
        "window_partition",
        "window_reverse",
        "relative_position_index",
        "shifted_window_mask",
        "WindowAttention",
        "SwinBlock",
        "PatchMerging",
        "SwinConfig",
        "swin_stage",
        "SwinPatches",
        "SwinTransformer",
        "rope_angles",
        "apply_rope",
        "RotaryAttention",
        "GatedMLP",
    ],
}


def test_each_public_name_is_taught_in_exactly_one_chapter_or_side_road():
    taught = defaultdict(list)
    for path in [*CHAPTERS, *SIDE_ROADS]:
        for name, _ in defined_in(path):
            taught[name].append(path.stem)
    names = [*vit_steps.__all__, *chain(*TAUGHT_BY_MODULE.values())]
    assert {n: taught[n] for n in names if len(taught[n]) != 1} == {}
    twice = {n: where for n, where in taught.items() if len(where) > 1}
    assert twice == {}, "import it, or give what is done by hand its own name"


def test_a_module_is_taught_in_the_chapter_of_its_topic():
    home = {path.stem[3:]: path.stem[:2] for path in CHAPTERS} | {
        "cost": "01",
        "sizes": "01",
        "embedding": "03",
        "attention": "05",
        "encoder": "06",
        "pretrained": "10",
        "training_cost": "11",
        "distributed": "12",
        "variants": "13",
        "quick": "14",
    }
    elsewhere = {
        "scaled_dot_product_attention": ["04"],
        "interpolate_position_embedding": ["10"],  # where it is first needed
        "rope_angles": ["15"],
        "apply_rope": ["15"],
        "RotaryAttention": ["15"],
        "GatedMLP": ["15"],
    }
    chapter = {n: p.stem[:2] for p in CHAPTERS for n, _ in defined_in(p)}
    for name, thing in public_things():
        module = thing.__module__.split(".")[1]
        if name in chapter:  # other names are taught in a side road, or not at all
            expected = elsewhere.get(name, [home.get(module)])
            assert chapter[name] in expected, f"{name}: name {module}'s chapter here"
