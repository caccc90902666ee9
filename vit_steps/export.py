"""A trained model as a file that runs without this package.

python -m vit_steps.export cluttered-digits digits.onnx
"""

import argparse
import json
import os
import sys
import warnings
from dataclasses import asdict
from functools import partial
from operator import mul
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import Tensor
from torch.export import Dim, ExportedProgram

from vit_steps.checkpoint import check_writable, write_whole
from vit_steps.command import check_new, run_command
from vit_steps.optional import check_installed
from vit_steps.variants.any_size import AnySizeVisionTransformer, any_size
from vit_steps.vision_transformer import VisionTransformer

NEEDED = ("onnx", "onnxruntime", "onnxscript")
OPTIMISED = {"onnx.quant.pre_process": "onnxruntime.quant"}  # else it asks for that
CLOSE = 1e-5  # how far a logit may be from PyTorch's, absolutely and relatively


def exported(model: VisionTransformer) -> ExportedProgram:
    """The operations of a model's ``forward``, without its Python, for any batch.

    That of an ``any_size`` model takes any height and width as well, of two patches at
    least. ``torch.export.save`` writes it, ``.module()`` runs it.

    Raises: ValueError if the model is in training mode.
    """
    if model.training:
        raise ValueError("model: is in training mode, expected model.eval()")
    grid, dynamic = model.patch_embed.grid_size, {0: Dim("batch")}
    if isinstance(model, AnySizeVisionTransformer):
        grid = 2, 3  # an example that no shape has by chance
        P = model.patch_embed.patch_size
        dynamic |= {2: P[0] * Dim("rows", min=2), 3: P[1] * Dim("columns", min=2)}
    images = _images(model, 2, grid)
    return torch.export.export(model, (images,), dynamic_shapes=(dynamic,))


def to_onnx(model: VisionTransformer, path: str | os.PathLike[str]) -> None:
    """Write a model as an ONNX file, once ONNX Runtime gives PyTorch's logits with it.

    The file takes normalised "images" and gives "logits", in float32. Its metadata
    hold, each as JSON, the model's ``preprocessing``: "mean", "std" and "classes".

    Raises:
        ImportError: if onnx, onnxruntime or onnxscript is not installed.
        ValueError: as ``exported`` does, or if a logit is off by more than 1e-5.
    """
    check_installed(*NEEDED)
    from onnx.helper import set_model_props

    names: Any = {"input_names": ["images"], "output_names": ["logits"]}
    with warnings.catch_warnings():  # one that PyTorch gives itself
        warnings.filterwarnings("ignore", category=FutureWarning, module="copyreg")
        program: Any = torch.onnx.export(exported(model), verbose=False, **names)
    onnx_model = program.model_proto
    for node in onnx_model.graph.node:
        node.ClearField("metadata_props")  # where this machine has its Python files
    known = asdict(model.preprocessing) if model.preprocessing else {}
    facts = {name: json.dumps(value) for name, value in known.items()}
    set_model_props(onnx_model, facts | OPTIMISED)
    content = onnx_model.SerializeToString()
    _check(model, content)
    write_whole(Path(path), content)


def to_int8(onnx_path: str | os.PathLike[str], path: str | os.PathLike[str]) -> None:
    """Write an ONNX file again with the weights of its linear layers in 8 bits.

    Their inputs are rounded too, with a scale and a zero point (arXiv 1712.05877,
    section 2) for each batch: dynamic quantisation. The patch embedding, a convolution,
    and attention's own products stay in float32.

    The weights are stored without a sign, 128 added: where a processor has no VNNI,
    ONNX Runtime adds products of signed ones in 16 bits, which cuts off large sums.

    Raises: ImportError as ``to_onnx`` does.
    """
    check_installed(*NEEDED)
    from onnxruntime.quantization import QuantType, quantize_dynamic

    with TemporaryDirectory() as folder:
        int8 = Path(folder, "int8.onnx")
        quantize_dynamic(
            onnx_path,
            int8,
            op_types_to_quantize=["Gemm", "MatMul"],
            weight_type=QuantType.QUInt8,
            extra_options={"WeightSymmetric": True},
        )
        write_whole(Path(path), int8.read_bytes())


def _images(model: VisionTransformer, batch: int, grid: tuple[int, int]) -> Tensor:
    """Noise, in a grid of patches. (B, C, H, W)"""
    height, width = map(mul, grid, model.patch_embed.patch_size)
    generator = torch.Generator().manual_seed(0)
    shape = (batch, model.config.in_channels, height, width)
    return torch.randn(shape, generator=generator).to(model.pos_embed)


def _check(model: VisionTransformer, content: bytes) -> None:
    """Raise ValueError if ONNX Runtime does not give the model's logits."""
    import onnxruntime

    session = onnxruntime.InferenceSession(content)
    grids = [model.patch_embed.grid_size]
    if isinstance(model, AnySizeVisionTransformer):
        grids += [(3, 4)]
    for batch, grid in enumerate(grids, start=3):
        images = _images(model, batch, grid)
        (logits,) = session.run(None, {"images": images.numpy()})
        with torch.no_grad():
            expected = model(images)  # (B, K)
        off = (torch.from_numpy(logits) - expected).abs() / (1 + expected.abs())
        if not off.max() <= CLOSE:
            raise ValueError(f"model: ONNX Runtime's logits are {off.max():.1g} off")


def main(arguments: list[str] | None = None) -> int:
    """The command; see ``python -m vit_steps.export --help``."""
    options = _parser().parse_args(arguments)
    return run_command(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    path = check_writable(options.output, "output", ".onnx")
    check_new(options.output, options.overwrite)
    model = VisionTransformer.from_pretrained(options.model)
    to_onnx(any_size(model) if options.any_size else model, path)
    told = "logits equal to PyTorch's to 1e-5"
    if options.int8:
        to_int8(path, path)
        told = "weights in 8 bits"
    print(f"{options.output}: {path.stat().st_size:,} bytes, {told}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m vit_steps.export",
        description="Write a trained model as an ONNX file, for batches of any size.",
    )
    say = parser.add_argument
    say("model", help="cluttered-digits, fashion-mnist, or a file that training wrote")
    say("output", metavar="OUT.onnx", help="the file to write")
    flag = partial(parser.add_argument, action="store_true")
    flag("--any-size", help="take images of any size, in multiples of the patch")
    flag("--int8", help="8 bits a weight: a smaller file, and slightly other logits")
    flag("--overwrite", help="replace OUT.onnx if it is there")
    return parser


if __name__ == "__main__":
    sys.exit(main())
