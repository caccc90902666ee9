"""The jobs that are timed: inference and training steps of a model on a device."""

import gc
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from vit_steps import ViTConfig
from vit_steps.attention import use_fused_attention
from vit_steps.sizes import as_pair


@dataclass(frozen=True)
class Job:
    """One setting in which all rivals run."""

    name: str
    config: ViTConfig
    batch_size: int
    training: bool = False
    autocast: bool = False  # matrix products in bfloat16
    compiled: bool = False
    device: str = "cpu"

    def task(self, model: nn.Module) -> Callable[[], object]:
        """Return a function that runs the job once, to its end, with this model."""
        model = model.to(self.device).train(self.training)
        # For few tokens in bfloat16 a CPU's fused kernel is the slower path.
        use_fused_attention(model, not (self.autocast and self.device == "cpu"))
        H, W = as_pair(self.config.image_size, "image_size")
        K = self.config.num_classes
        torch.manual_seed(0)
        images = torch.rand(self.batch_size, 3, H, W, device=self.device)
        labels = torch.randint(K, (self.batch_size,), device=self.device)
        run = torch.compile(model) if self.compiled else model
        if self.training:
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
            task = partial(self._step, run, optimizer, images, labels)
        else:
            task = partial(self._infer, run, images)
        return partial(self.to_the_end, task)

    def peak_gpu_bytes(self, task: Callable[[], object]) -> int:
        """Return the bytes that a task, run before, has on the GPU at its peak."""
        gc.collect()
        torch.cuda.empty_cache()
        held = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        task()
        return torch.cuda.max_memory_allocated() - held

    def _precision(self) -> AbstractContextManager[None]:
        return torch.autocast(self.device, torch.bfloat16, enabled=self.autocast)

    def _infer(self, model: Callable[..., Any], images: torch.Tensor) -> None:
        with torch.inference_mode(), self._precision():
            model(images)

    def _step(
        self,
        model: Callable[..., Any],
        optimizer: torch.optim.Optimizer,
        images: torch.Tensor,
        labels: torch.Tensor,
    ) -> None:
        optimizer.zero_grad()
        with self._precision():
            loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()

    def to_the_end(self, task: Callable[[], object]) -> None:
        """Run a task and wait for it, since a GPU's work is only queued by the call."""
        task()
        if self.device == "cuda":
            torch.cuda.synchronize()


BASE, TINY = ViTConfig.base(), ViTConfig.tiny()
ON_CPU = [
    Job("inference, ViT-B/16, batch 1", BASE, 1),
    Job("inference, ViT-B/16, batch 8", BASE, 8),
    Job("inference, ViT-B/16, batch 8, bfloat16", BASE, 8, autocast=True),
    Job("training step, ViT-Ti/16, batch 8", TINY, 8, training=True),
    Job("training step, ViT-Ti/16, batch 8, bfloat16", TINY, 8, True, autocast=True),
]
# A batch of 64 is compared with all rivals; to compile each of them takes minutes.
ON_GPU = [
    Job(
        f"{'training step' if training else 'inference'}, ViT-B/16, "
        f"batch {batch_size}, bfloat16{', compiled' if compiled else ''}",
        BASE,
        batch_size,
        training,
        autocast=True,
        compiled=compiled,
        device="cuda",
    )
    for training in (False, True)
    for batch_size, compiled in ((64, False), (256, False), (256, True))
]


def jobs(device: str) -> list[Job]:
    """Return the jobs of a device, ``cpu`` or ``cuda``."""
    return {"cpu": ON_CPU, "cuda": ON_GPU}[device]
