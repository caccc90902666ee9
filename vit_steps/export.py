"""Trained models as files that run without this package.

vit-steps export cluttered-digits digits.onnx
"""

import argparse
import json
import os
import warnings
from copy import deepcopy
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.export import Dim, ExportedProgram

from vit_steps.checkpoint import write_whole
from vit_steps.command import check_new, model_parser, run_command
from vit_steps.evaluating import evaluating
from vit_steps.optional import check_installed
from vit_steps.predict import evaluated
from vit_steps.variants.any_size import AnySizeVisionTransformer, any_size
from vit_steps.vision_transformer import VisionTransformer

CLOSE = 1e-5  # how far a logit may be from PyTorch's, absolutely and relatively


def exported(model: VisionTransformer) -> ExportedProgram:
    """Return the operations of a model's ``forward``, without its Python.

    They take a batch of any size, and those of an ``any_size`` model also images of any
    height and width, of at least two patches each. ``torch.export.save`` writes them,
    ``.module()`` runs them.

    Raises: ValueError if the model is not a VisionTransformer, is in training mode, or
        holds numbers that are not finite.
    """
    model = evaluated(model)
    dynamic = {0: Dim("batch")}
    if isinstance(model, AnySizeVisionTransformer):
        P = model.patch_embed.patch_size
        dynamic |= {2: P[0] * Dim("rows", min=2), 3: P[1] * Dim("columns", min=2)}
    example = _sample(model, batch=2).to(model.pos_embed)
    with evaluating(model):
        return torch.export.export(model, (example,), dynamic_shapes=(dynamic,))


def to_onnx(model: VisionTransformer, path: str | os.PathLike[str]) -> None:
    """Write a model as an ONNX file, once ONNX Runtime gives PyTorch's logits with it.

    The file takes normalised "images" and gives "logits", both in float32, whatever the
    model's own dtype and device are. Without a head it gives "features". A file of an
    ``any_size`` model fails where the patches do not fill an image. The metadata hold,
    each as JSON, "image_size" and the ``preprocessing``: "mean", "std", "classes".

    Raises: ImportError if onnx, onnxruntime or onnxscript is not installed; ValueError
        as ``exported``, or if the head is still zero, or a logit is off by over 1e-5.
    """
    check_installed("onnx", "onnxruntime", "onnxscript")
    from onnx.helper import set_model_props
    from onnxruntime import InferenceSession

    model = deepcopy(evaluated(model, by_head=True)).to("cpu", torch.float32)
    names = ["logits" if model.config.num_classes else "features"]
    with warnings.catch_warnings():  # PyTorch warns of its own calls
        warnings.filterwarnings("ignore", category=FutureWarning, module="copyreg")
        program: Any = torch.onnx.export(
            exported(model), input_names=["images"], output_names=names, verbose=False
        )
    onnx_model = program.model_proto
    _name_axes(onnx_model.graph)
    if isinstance(model, AnySizeVisionTransformer):
        _refuse_partial_patches(onnx_model.graph, model.patch_embed.patch_size)
    facts = {"image_size": model.patch_embed.image_size}
    facts |= asdict(model.preprocessing) if model.preprocessing else {}
    texts = {name: json.dumps(fact) for name, fact in facts.items()}
    # otherwise a quantiser asks for a preparation that PyTorch has done already
    texts["onnx.quant.pre_process"] = "onnxruntime.quant"
    set_model_props(onnx_model, texts)
    content = onnx_model.SerializeToString()
    images = _sample(model, batch=3)
    with evaluating(model):
        expected = model(images)  # (B, K)
    session = InferenceSession(content)
    got = torch.from_numpy(session.run(None, {"images": images.numpy()})[0])
    if not torch.allclose(got, expected, rtol=CLOSE, atol=CLOSE):
        off = (got - expected).abs().max()
        raise ValueError(f"model: ONNX Runtime's logits are {off:.1g} off")
    write_whole(Path(path), content)


def _name_axes(graph: Any) -> None:
    """Name the axes, which PyTorch calls s34 or 2*s30, and drop its notes."""
    graph.ClearField("value_info")  # inner shapes, which have the old names
    for node in graph.node:
        node.ClearField("metadata_props")  # paths of Python files on this machine
    names = ("batch", "channels", "height", "width")
    for value in (*graph.input, *graph.output):
        for axis, name in zip(value.type.tensor_type.shape.dim, names, strict=False):
            if axis.HasField("dim_param"):
                axis.dim_param = name


def _refuse_partial_patches(graph: Any, patch_size: tuple[int, int]) -> None:
    """Make a graph fail for images that the patches do not fill.

    Its convolution would cut the rest of the pixels off without a warning. So the
    images are reshaped to the size that whole patches fill, which fails if it differs.
    """
    from onnx.helper import make_node
    from onnx.numpy_helper import from_array

    for node in graph.node:
        node.input[:] = ["whole" if name == "images" else name for name in node.input]
    graph.initializer.append(from_array(np.array([1, 1, *patch_size]), "patch"))
    graph.node.insert(0, make_node("Shape", ["images"], ["shape"]))
    graph.node.insert(1, make_node("Div", ["shape", "patch"], ["counts"]))
    graph.node.insert(2, make_node("Mul", ["counts", "patch"], ["whole_shape"]))
    graph.node.insert(3, make_node("Reshape", ["images", "whole_shape"], ["whole"]))


def _sample(model: VisionTransformer, batch: int) -> Tensor:
    """Return noise (B, C, H, W) of a model's size; for any size, of a few patches."""
    height, width = model.patch_embed.image_size
    if isinstance(model, AnySizeVisionTransformer):
        # torch.export would treat sizes that are equal, or 1, as always so
        P = model.patch_embed.patch_size
        height, width = batch * P[0], (batch + 1) * P[1]
    shape = batch, model.config.in_channels, height, width
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def main(arguments: list[str] | None = None) -> int:
    """Run the command; ``vit-steps export --help`` describes it."""
    what = "Write a trained model as an ONNX file, for batches of any size."
    parser = model_parser("export", what)
    parser.add_argument("output", metavar="OUT.onnx", help="the file to write")
    sizes = "take images of any size, in multiples of the patch"
    parser.add_argument("--any-size", action="store_true", help=sizes)
    options = parser.parse_args(arguments)
    return run_command(lambda: _run(options), {"name": "model"})


def _run(options: argparse.Namespace) -> None:
    path = check_new(options.output, options.overwrite, [options.model], suffix=".onnx")
    model = VisionTransformer.from_pretrained(options.model)
    to_onnx(any_size(model) if options.any_size else model, path)
    size = path.stat().st_size
    print(f"{options.output}: {size:,} bytes, logits equal to PyTorch's to 1e-5")
