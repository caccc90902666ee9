"""The package imports in one direction, and brings nothing heavy."""

import ast
import subprocess
import sys

import pytest

import vit_steps
from tests.conftest import ROOT

# What each module may import from the package.
ALLOWED = {
    "sizes": set(),
    "attention": set(),
    "cost": {"sizes"},
    "patch_embedding": {"sizes"},
    "embedding": {"sizes", "patch_embedding"},
    "encoder": {"attention"},
    "checkpoint": set(),
    "vision_transformer": {"sizes", "checkpoint", "cost", "embedding", "encoder"},
    "distributed": set(),
    "training": {"checkpoint", "distributed", "oracles"},
    "recipes": {
        "checkpoint",
        "data",
        "distributed",
        "training",
        "vision_transformer",
    },
    "results": set(),
    "tables": set(),
    "symptoms": {"sizes", "patch_embedding"},
    "scale": {"sizes", "vision_transformer"},
    "variants.__init__": {"variants"},
    "variants.distillation": {"vision_transformer"},
    "variants.small_changes": {"embedding", "vision_transformer"},
    "variants.swin": {"cost", "encoder", "sizes"},
    "check.__init__": {"check"},
    "check.accumulation": {"check"},
    "check.agreement": {"check"},
    "check.answers": {"check"},
    "check.attention": {"attention", "check"},
    "check.attention_layer": {"attention", "check"},
    "check.blockwise": {"check"},
    "check.boxes": {"attention_maps", "check"},
    "check.budget": {"check"},
    "check.checking": {"check"},
    "check.comparing": {"check"},
    "check.cost": {"check", "cost"},
    "check.counting": {"check", "cost", "sizes"},
    "check.decay": {"check", "training", "vision_transformer"},
    "check.distances": {"attention_maps", "check"},
    "check.distillation": {"check", "variants"},
    "check.drawing": set(),
    "check.embedding": {"check", "embedding"},
    "check.encoder": {"check", "encoder"},
    "check.evaluation": {"check"},
    "check.function_check": {"check"},
    "check.heads": {"check"},
    "check.holes": {"attention_maps", "check"},
    "check.interpolation": {"check", "embedding"},
    "check.judge": {"check"},
    "check.loading": {"check", "pretrained", "vision_transformer"},
    "check.losses": {"check"},
    "check.maps": {"attention_maps", "check"},
    "check.model": {"check", "vision_transformer"},
    "check.model_parts": {"check"},
    "check.model_wiring": {"check"},
    "check.module_check": {"check"},
    "check.names": {"check", "weight_names"},
    "check.norms": {"check"},
    "check.observing": {"check"},
    "check.one_query": {"check"},
    "check.optimizing": {"check"},
    "check.parameters": {"check", "cost"},
    "check.patch_vectors": {"check", "patch_embedding", "sizes"},
    "check.patches": {"check", "patch_embedding", "sizes"},
    "check.positions": {"check"},
    "check.processes": {"check"},
    "check.questions.__init__": {"check"},
    "check.questions.attention_maps": {"attention_maps", "check", "sizes"},
    "check.questions.beyond_vit": {"check", "variants"},
    "check.questions.class_token_and_position": {"check", "cost"},
    "check.questions.encoder_block": {"check", "encoder"},
    "check.questions.multi_head_attention": {"check", "cost", "vision_transformer"},
    "check.questions.patch_embedding": {"check", "cost", "patch_embedding"},
    "check.questions.pretrained_weights": {
        "check",
        "checkpoint",
        "pretrained",
        "vision_transformer",
    },
    "check.questions.scaled_dot_product_attention": {"attention", "check"},
    "check.questions.speed_and_scale": {"check", "scale", "vision_transformer"},
    "check.questions.training": {"check", "training"},
    "check.questions.vision_transformer": {"check", "vision_transformer"},
    "check.questions.why_patches": {"check", "cost"},
    "check.reading": set(),
    "check.rollout": {"attention_maps", "check"},
    "check.schedule": {"check", "training"},
    "check.small_changes": {"check"},
    "check.steps": {"check", "training"},
    "check.stochastic_depth": {"check"},
    "check.student": {"check", "variants"},
    "check.swin": {"check", "variants"},
    "check.tokens": {"check"},
    "check.two_layers": {"check", "encoder"},
    "check.value_check": {"check"},
    "check.verdict": set(),
    "check.watching": set(),
    "check.waves": {"check", "embedding"},
    "check.weights": {"check"},
    "weight_names": set(),
    "first_difference": {"weight_names"},
    "pretrained": {
        "sizes",
        "embedding",
        "first_difference",
        "oracles",
        "vision_transformer",
        "weight_names",
    },
    "saliency": {"sizes", "pretrained", "vision_transformer", "weight_names"},
    "digits": {"image_data"},
    "image_data": {"oracles"},
    "cluttered_digits": {"digits"},
    "published_sets": {"oracles"},
    "attention_maps": {"sizes", "patch_embedding", "vision_transformer"},
    "plots": {"sizes", "patch_embedding", "training"},
    "lab": {
        "checkpoint",
        "cluttered_digits",
        "data",
        "digits",
        "recipes",
        "vision_transformer",
    },
    "data": {
        "sizes",
        "cluttered_digits",
        "digits",
        "image_data",
        "oracles",
        "published_sets",
    },
    "oracles": set(),
    "__main__": {"cost", "sizes", "vision_transformer"},
}


def imported(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    # What a module does when it is run as a command stands above everything.
    tree.body = [n for n in tree.body if "__main__" not in ast.unparse(n)]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: write imports in full"
            if node.module == "vit_steps":
                yield from (f"vit_steps.{alias.name}" for alias in node.names)
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_every_module_has_its_place():
    package = ROOT / "vit_steps"
    files = [path.relative_to(package) for path in package.rglob("*.py")]
    modules = {".".join(file.with_suffix("").parts) for file in files}
    assert modules - {"__init__"} == set(ALLOWED)


@pytest.mark.parametrize("module", ALLOWED)
def test_imports_point_one_way(module):
    names = list(imported(ROOT / "vit_steps" / f"{module.replace('.', '/')}.py"))
    own = {n.split(".")[1] for n in names if n.startswith("vit_steps.")}
    assert own <= ALLOWED[module]
    assert not {n.split(".")[0] for n in names} & {"tests", "notebooks", "nbgrader"}


def test_import_brings_torch_and_nothing_heavier():
    code = """
import sys, torch
before = {name.split(".")[0] for name in sys.modules}
import vit_steps
after = {name.split(".")[0] for name in sys.modules}
print(sorted(after - before))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "['vit_steps']"


def test_public_names_are_there_and_explain_themselves():
    assert sorted(vit_steps.__all__) == sorted(set(vit_steps.__all__))
    for name in vit_steps.__all__:
        thing = getattr(vit_steps, name)
        assert thing.__doc__ and not thing.__doc__.startswith(name + "(")
