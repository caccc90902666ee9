from pathlib import Path

import nbformat
import pytest
import torch
from hypothesis import settings

ROOT = Path(__file__).parents[1]
CHAPTERS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
NOTEBOOKS = [*CHAPTERS, *sorted((ROOT / "book").glob("*.ipynb"))]

# A slow machine is not a wrong answer, and a failure must come again.
settings.register_profile("book", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("book")


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(path):
    """Code cells that are not empty."""
    return [c for c in read(path).cells if c.cell_type == "code" and c.source.strip()]


def tags(cell):
    return cell.metadata.get("tags", [])


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def draw_at_random(model, std=0.05):
    """Draw every parameter, so that no comparison passes because something is zero."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            parameter.copy_(std * noise)
    return model
