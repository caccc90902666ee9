import gc
import os
import re
import threading
from collections import defaultdict
from pathlib import Path

import nbformat
import pytest
import torch
from hypothesis import settings

from tests.forked import process
from tests.patience import SECONDS

ROOT = Path(__file__).parents[1]
CHAPTERS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))
SIDE_ROADS = sorted((ROOT / "notebooks" / "side_roads").glob("*.ipynb"))
NOTEBOOKS = [*CHAPTERS, *SIDE_ROADS, *sorted((ROOT / "book").glob("*.ipynb"))]
# What neither paper nor a slide has.
CONTROLS = re.compile(
    r"\b(press|drag|choose|click|tap|button|slider)|run the (next )?cell|cell above",
    re.IGNORECASE,
)

# Tools that must be there, as in REQUIRED="browser bubblewrap". A test that would be
# skipped because one of them is missing fails instead.
REQUIRED = os.environ.get("REQUIRED", "").split()

# No deadline, because a slow machine is not a fault; the same examples in every run, so
# that a failure can be repeated.
settings.register_profile("book", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("book")


def pytest_addoption(parser):
    text = "run at most N cases of each test, evenly spread, and no slow test"
    parser.addoption("--few", type=int, metavar="N", help=text)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leave out what ``--few`` leaves out; ``make test-all`` runs every case."""
    few = config.getoption("few")
    if few is None:
        return
    cases = defaultdict(list)
    for item in items:
        if not item.get_closest_marker("slow"):
            cases[item.nodeid.partition("[")[0]].append(item)
    kept = set()
    for same in cases.values():
        step = max(1, len(same) / few)
        kept.update(same[int(step * k)] for k in range(min(few, len(same))))
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def pytest_configure(config):
    text = "slow: takes over ten seconds; make test leaves it to make test-all"
    config.addinivalue_line("markers", text)
    if process.POSSIBLE and config.getoption("nbval", False):
        from tests.forked import kernels  # imports nbval, which may be missing

        kernels.fork_kernels()


def pytest_runtest_logreport(report):
    """Say at once what failed: a run that is cut off has no summary."""
    if report.failed:
        print(f"\nFAILED {report.nodeid}\n{report.longreprtext}", flush=True)


def pytest_itemcollected(item):
    """Wait for a cell's outputs longer than the 5 s for which nbval waits by itself."""
    if hasattr(item, "output_timeout"):
        item.output_timeout = SECONDS


# The collector would look through thousands of tests and their modules, none of which
# is ever garbage; while tests are collected, that takes a quarter of the time.
gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(path):
    """Return the code cells that are not empty."""
    return [c for c in read(path).cells if c.cell_type == "code" and c.source.strip()]


def tags(cell):
    return cell.metadata.get("tags", [])


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture(autouse=True)
def nothing_left_running():
    """Fail a test that leaves an answer running, which would slow down later tests."""
    yield
    assert not [t.name for t in threading.enumerate() if t.name == "answer"]


def draw_at_random(model, std=None):
    """Draw every parameter, so that no comparison passes because a parameter is zero.

    Without ``std``, parameters are about as large as after training: a matrix keeps the
    size of its input and a norm stays near 1, so that attention is neither uniform nor
    on one token. With tiny parameters even a model without its mask would give the same
    logits.
    """
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            if std is not None:
                parameter.copy_(std * noise)
            elif name.endswith("bias_table"):
                parameter.copy_(noise)
            elif not name.endswith("weight"):
                parameter.copy_(0.2 * noise)
            elif parameter.ndim == 1:
                parameter.copy_(1 + 0.2 * noise)
            else:
                parameter.copy_(noise / parameter[0].numel() ** 0.5)
    return model
