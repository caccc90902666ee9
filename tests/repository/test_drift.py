"""Notebooks and package are one: a public name means the same in both."""

import ast
import importlib
import inspect
from collections import defaultdict
from itertools import chain

import pytest

import vit_steps
from tests.conftest import CHAPTERS, NOTEBOOKS, ROOT, code_cells

MODULES = [
    importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    for path in sorted((ROOT / "vit_steps").rglob("*.py"))
    if not path.stem.startswith("__")
]


def public_source():
    """Source of every function and class that the package defines, by name."""
    return {name: inspect.getsource(thing).rstrip() for name, thing in public_things()}


def public_things():
    for module in MODULES:
        for name, thing in vars(module).items():
            defined = inspect.isfunction(thing) or inspect.isclass(thing)
            if defined and thing.__module__ == module.__name__:
                yield name, thing


def definitions(path):
    """Top-level definitions of a notebook: name and source, decorators included."""
    for cell in code_cells(path):
        lines = cell.source.splitlines()
        for node in ast.parse(cell.source).body:
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
                yield node.name, "\n".join(lines[first - 1 : node.end_lineno])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_what_is_defined_under_a_public_name_is_the_packages(path):
    source = public_source()
    for name, text in definitions(path):
        if name in source:
            assert text == source[name], f"{path.name}: {name} is not the package's"


# What chapters teach of modules that are not imported with vit_steps itself.
TAUGHT_BY_MODULE = {
    "training": [
        "TrainConfig",
        "learning_rate",
        "parameter_groups",
        "train_step",
        "evaluate",
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
    "symptoms": [
        "overfit_one_batch",
        "batch_effect",
        "repeat_effect",
        "order_effect",
        "shuffle_patches",
        "silent_parameters",
        "shared_parameters",
    ],
    "distributed": ["BatchShares", "data_parallel", "shard"],
    "scale": [
        "Accelerator",
        "TrainingMemory",
        "activation_bytes",
        "training_memory",
        "training_flops",
        "training_seconds",
    ],
    "variants": [
        "DistilledVisionTransformer",
        "hard_distillation_loss",
        "soft_distillation_loss",
        "window_partition",
        "window_reverse",
        "relative_position_index",
        "shifted_window_mask",
        "window_attention_cost",
        "WindowAttention",
        "SwinBlock",
        "PatchMerging",
        "SwinConfig",
        "SwinStage",
        "SwinPatches",
        "SwinTransformer",
        "VariantConfig",
        "VariantVisionTransformer",
    ],
}


def test_each_public_name_is_taught_in_exactly_one_chapter():
    taught = defaultdict(list)
    for path in CHAPTERS:
        for name, _ in definitions(path):
            taught[name].append(path.stem)
    names = [*vit_steps.__all__, *chain(*TAUGHT_BY_MODULE.values())]
    assert {n: taught[n] for n in names if len(taught[n]) != 1} == {}
    twice = {n: where for n, where in taught.items() if len(where) > 1}
    assert twice == {}, "import it, or give what is done by hand its own name"


def test_a_module_is_taught_in_the_chapter_of_its_topic():
    home = {
        "cost": "01",
        "sizes": "01",
        "patch_embedding": "02",
        "embedding": "03",
        "attention": "05",
        "encoder": "06",
        "vision_transformer": "07",
        "training": "08",
        "attention_maps": "09",
        "pretrained": "10",
        "distributed": "11",
        "scale": "11",
        "variants": "12",
        "symptoms": "13",
    }
    chapter = {n: p.stem[:2] for p in CHAPTERS for n, _ in definitions(p)}
    for name, thing in public_things():
        module = thing.__module__.split(".")[1]
        if name == "scaled_dot_product_attention":
            assert chapter[name] == "04"
        elif name in chapter:
            assert chapter[name] == home[module], name
