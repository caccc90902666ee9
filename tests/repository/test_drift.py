"""Test that a public name means the same in the notebooks and in the package."""

import importlib
import inspect
import shutil
from collections import Counter
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


# The definitions of the package that each chapter and side road teaches.
TAUGHT = {
    "01_why_patches": ["patch_grid", "token_count", "AttentionCost", "attention_cost"],
    "02_patch_embedding": ["patchify", "unpatchify", "PatchEmbedding"],
    "03_class_token_and_position": [
        "learned_position_embedding",
        "prepend_tokens",
        "ViTEmbedding",
        "sincos_position_embedding",
    ],
    "04_scaled_dot_product_attention": ["scaled_dot_product_attention"],
    "05_multi_head_attention": ["MultiHeadAttention"],
    "06_encoder_block": ["MLP", "EncoderBlock"],
    "07_vision_transformer": ["ViTConfig", "VisionTransformer"],
    "08_training": ["learning_rate", "parameter_groups", "evaluate"],
    "09_attention_maps": [
        "class_token_attention",
        "class_token_to_patches",
        "as_shares",
        "mass_inside",
        "patch_brightness",
        "attention_rollout",
        "mask_patches",
        "DeletionCurve",
        "deletion_curve",
    ],
    "10_pretrained_weights": [
        "WeightsMismatch",
        "load_weights",
        "Difference",
        "first_difference",
        "interpolate_position_embedding",
        "extract_features",
    ],
    "11_speed": [
        "TrainingMemory",
        "activation_bytes",
        "training_memory",
        "Accelerator",
        "training_flops",
        "training_seconds",
    ],
    "12_scale": ["BatchShares", "data_parallel", "train_together", "shard"],
    "13_swin_and_deit": [
        "window_partition",
        "window_reverse",
        "relative_position_index",
        "shifted_window_mask",
        "WindowAttention",
        "SwinBlock",
        "PatchMerging",
        "SwinConfig",
        "SwinPatches",
        "swin_stage",
        "SwinTransformer",
        "DistilledConfig",
        "DistilledVisionTransformer",
        "hard_distillation_loss",
        "soft_distillation_loss",
    ],
    "14_bug_clinic": [
        "overfit_one_batch",
        "batch_effect",
        "repeat_effect",
        "order_effect",
        "shuffle_patches",
        "silent_parameters",
        "shared_parameters",
    ],
    "15_a_vit_of_2026": ["rope_angles", "apply_rope", "RotaryAttention", "GatedMLP"],
    "dropping_branches": ["DropPath", "LayerScale"],
    "more_maps": [
        "attention_distance",
        "uniform_distance",
        "patch_distances",
        "position_similarity",
        "patch_filters",
    ],
    "the_training_loop": ["TrainConfig", "Batches", "train_step", "train"],
    "what_a_model_costs": ["Step", "ModelCost", "model_cost"],
}


def test_each_public_name_is_taught_in_exactly_one_chapter_or_side_road():
    public = {name for name in package_definitions() if not name.startswith("_")}
    taught, times = {}, Counter()
    for path in [*CHAPTERS, *SIDE_ROADS]:
        names = [name for name, _ in defined_in(path)]
        times.update(names)
        if public & set(names):
            taught[path.stem] = public & set(names)
    assert taught == {where: set(names) for where, names in TAUGHT.items()}
    assert set(vit_steps.__all__) <= set(chain(*TAUGHT.values()))
    twice = [name for name, number in times.items() if number > 1]
    assert not twice, "import it, or give what is done by hand its own name"
