import os
import signal
import socket
import subprocess
import sys
import time
from itertools import chain

import pytest
import torch
from safetensors.torch import load_file
from torch import distributed as dist

from tests.conftest import ROOT
from tests.forked.process import start
from tests.package.small_training import QUICK, small_vit, stripes
from tests.patience import SECONDS
from vit_steps import distributed
from vit_steps.checkpoint import read_checkpoint
from vit_steps.distributed import BatchShares, shard, train_together
from vit_steps.training import Batches, train

pytestmark = pytest.mark.skipif(
    not dist.is_available() or not dist.is_gloo_available(),
    reason="this PyTorch has no gloo",
)
STORE_APART = "TORCH_DISABLE_SHARE_RDZV_TCP_STORE"
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone"]


def run(folder, module, *arguments, processes=2):
    """Start processes with the variables that torchrun sets; return what they print.

    torchrun itself starts the processes in the test that kills one of them.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    shared = {"OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1"}
    if processes > 1:
        shared |= {"TORCHELASTIC_RUN_ID": "tests", "WORLD_SIZE": str(processes)}
        shared |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    started = []
    for rank in range(processes):
        environment = os.environ | shared | {"RANK": str(rank), "LOCAL_RANK": str(rank)}
        output = folder / f"printed {processes} {rank}.txt"
        process = start(module, arguments, ROOT, environment, output)
        started.append((process, output))
    until = time.monotonic() + SECONDS
    while None in (codes := [process.poll() for process, _ in started]):
        if any(codes) or time.monotonic() > until:
            break  # the others would wait forever
        time.sleep(0.05)
    for process, _ in started:
        process.kill()
    printed = "".join(output.read_text() for _, output in started)
    assert codes == [0] * processes, f"{codes}\n{printed[-3000:]}"
    return printed


def be_process(monkeypatch, number):
    monkeypatch.setattr(distributed, "process_rank", lambda: number)


# --- shares --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "count, batch_size, world", [(25, 8, 2), (10, 3, 3), (7, 7, 4)]
)
def test_shares_are_the_batches_of_one_process_dealt_out(
    monkeypatch, count, batch_size, world
):
    whole = Batches(count, batch_size)
    whole.start_epoch(4)
    batches = list(whole)

    monkeypatch.setattr(distributed, "world_size", lambda: world)
    dealt, weights = [], []
    for process in range(world):
        be_process(monkeypatch, process)
        shares = BatchShares(count, batch_size)
        shares.start_epoch(4)
        dealt.append(list(shares))
        weights.append([shares.weight(index) for index in range(len(shares))])
        sizes = [shares.size(index) for index in range(len(shares))]
        assert sizes == [
            len(part) if weight else 0
            for part, weight in zip(dealt[-1], weights[-1], strict=True)
        ]
        assert len(shares) == len(batches)

    for index, batch in enumerate(batches):
        parts = [d[index] for d, w in zip(dealt, weights, strict=True) if w[index] > 0]
        assert sorted(chain(*parts)) == sorted(batch)
        assert sum(w[index] for w in weights) == pytest.approx(world)
        for part, own in zip(dealt, weights, strict=True):
            assert part[index]
            size = len(part[index]) if own[index] else 0
            assert own[index] == pytest.approx(size * world / len(batch))


def test_processes_draw_different_numbers_for_their_augmentation(monkeypatch):
    monkeypatch.setattr(distributed, "world_size", lambda: 2)
    drawn = []
    for process in range(2):
        be_process(monkeypatch, process)
        shares = BatchShares(10, 4)
        shares.start_epoch(0)
        drawn.append((torch.rand(3), torch.rand(3, generator=shares.of_workers)))
    for one, other in zip(*drawn, strict=True):
        assert not torch.equal(one, other)


def test_alone_training_together_is_training():
    alone, together = small_vit(drop_rate=0.1), small_vit(drop_rate=0.1)
    history = train(alone, stripes(), QUICK, progress=False)
    same = train_together(together, stripes(), QUICK, progress=False)
    torch.testing.assert_close(
        together.state_dict(), alone.state_dict(), rtol=0, atol=0
    )
    assert same.train_loss == history.train_loss


def test_alone_nothing_is_spread_and_nothing_can_be_sharded():
    model = small_vit()
    assert distributed.data_parallel(model) is model
    with distributed.processes() as device:
        assert device == torch.device("cpu") and not dist.is_initialized()
    with pytest.raises(RuntimeError, match="torchrun"):
        shard(model)


def test_a_restart_that_would_wait_for_dead_processes_is_refused(monkeypatch):
    for name, value in (
        ("TORCHELASTIC_RUN_ID", "none"),
        ("TORCHELASTIC_RESTART_COUNT", "1"),
        ("TORCHELASTIC_USE_AGENT_STORE", "True"),
    ):
        monkeypatch.setenv(name, value)
    with pytest.raises(OSError, match=f"{STORE_APART}=1"), distributed.processes():
        pass


# --- two processes -------------------------------------------------------------------


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("distributed")
    program = "tests.package.distributed_training"
    run(folder, program, folder, "alone", processes=1)
    run(folder, program, folder, "spread", "shard", "again")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["spread", "shard"])
def test_gradients_weights_and_losses_are_those_of_one_process(results, kind):
    alone = load_file(results / "alone.safetensors")
    together = load_file(results / f"{kind}.safetensors")
    assert len([name for name in alone if name.startswith("gradient 1 ")]) > 20
    for name in alone:
        assert alone[name].dtype == torch.float64
    assert alone["share that refuses"] == 1
    torch.testing.assert_close(together, alone, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("kind", ["spread", "shard"])
def test_the_checkpoint_is_that_of_one_process(results, kind):
    alone, about_alone = read_checkpoint(results / "alone-state.safetensors")
    together, about = read_checkpoint(results / f"{kind}-state.safetensors")
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=1e-8)
    assert about["train_config"] == about_alone["train_config"]


def test_a_sharded_training_goes_on_from_a_file(results):
    before = load_file(results / "shard.safetensors")
    after = load_file(results / "again.safetensors")  # all epochs were done
    weights = [name for name in before if not name.startswith("gradient")]
    for name in weights:
        torch.testing.assert_close(after[name], before[name], rtol=0, atol=0)


# --- the command, and a worker that dies ---------------------------------------------

SHORT = (
    "--data digits --epochs 3 --warmup-epochs 1 --depth 1 --embed-dim 16 --threads 1"
)


def command(folder, name):
    state, output = folder / f"{name}-state.safetensors", folder / f"{name}.safetensors"
    files = ["--checkpoint", str(state), "--resume", "--output", str(output)]
    return ["vit_steps.train", *SHORT.split(), *files]


def workers(parent):
    """Return the numbers of the processes that torchrun has started."""
    table = subprocess.run(["ps", "-eo", "pid,ppid"], capture_output=True, text=True)
    rows = [line.split() for line in table.stdout.splitlines()[1:]]
    return [int(pid) for pid, above in rows if int(above) == parent]


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no kill -9")
def test_a_killed_worker_is_started_again_and_goes_on(tmp_path):
    stdout = run(tmp_path, *command(tmp_path, "whole"))
    assert stdout.count("images: loss") == 1  # only one process prints

    launcher = [*TORCHRUN, "--nproc-per-node", "2", "--max-restarts", "2", "-m"]
    said = tmp_path / "said.txt"
    with said.open("w") as file:
        process = subprocess.Popen(
            launcher + command(tmp_path, "killed"),
            cwd=ROOT,
            env=os.environ | {"OMP_NUM_THREADS": "1", STORE_APART: "1"},
            stdout=file,
            stderr=subprocess.STDOUT,
        )
    deadline = time.monotonic() + SECONDS
    while "epoch 1 of 3:" not in said.read_text() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert process.poll() is None, said.read_text()[-3000:]
    _, about = read_checkpoint(tmp_path / "killed-state.safetensors")
    assert len(about["history"]["epochs"]) < QUICK.epochs
    os.kill(workers(process.pid)[-1], signal.SIGKILL)
    process.wait(timeout=SECONDS)
    printed = said.read_text()
    assert process.returncode == 0, printed[-3000:]
    assert printed.count("epoch 1 of 3:") == printed.count("epoch 3 of 3:") == 1
    assert "exitcode: -9" in printed

    whole = load_file(tmp_path / "whole.safetensors")
    torch.testing.assert_close(
        load_file(tmp_path / "killed.safetensors"), whole, rtol=0, atol=0
    )


def test_stripes_have_what_the_tests_assume():
    assert len(stripes(25).train) % QUICK.batch_size == 1
