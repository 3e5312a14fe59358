"""A Ray cluster that loses one of two nodes gives the same records as a single machine."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("ray")
pytestmark = pytest.mark.slow

NUM_FOLDS = 4
TIMINGS = ("prior_seconds", "fit_seconds")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a small experiment."""
    folder = tmp_path_factory.mktemp("ray")
    (folder / "small.toml").write_text(
        'task = "curve"\ndatasets = ["sine"]\nfolds = '
        f"{NUM_FOLDS}\n[settings]\n"
        'kernel = { name = "rbf", lengthscale = 0.3 }\nnetwork = { hidden = [10] }\n'
        "[methods.mfvi]\ntraining = { num_steps = 300 }\n[methods.exact_gp]\n[methods.laplace]\n"
    )
    return folder


def run(folder: Path, output: str, *where: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "gfsvi.cli", "bench", "run", str(folder / "small.toml")]
    return subprocess.Popen(
        [*command, "--output", str(folder / output), *where],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.fixture
def nodes(tmp_path):
    """A head node and a second node, each in its own process group."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    ray = [str(Path(sys.executable).with_name("ray")), "start", "--block", "--num-cpus=1"]
    head = ["--head", f"--port={address.split(':')[1]}", "--node-ip-address=127.0.0.1"]
    head += ["--include-dashboard=false", "--disable-usage-stats"]
    second = [f"--address={address}", "--node-ip-address=127.0.0.1"]
    processes = []
    for options in (head, second):
        process = subprocess.Popen(
            [*ray, *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        processes.append(process)
        time.sleep(10)
    yield address, processes
    for process in processes:
        kill(process)


def kill(process: subprocess.Popen) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def records(folder: Path, output: str) -> list[tuple]:
    lines = (folder / output / "records.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    return sorted(
        (r["run"], r["status"], tuple((k, v) for k, v in r["metrics"].items() if k not in TIMINGS))
        for r in found
    )


def test_a_lost_node_costs_nothing_but_time(folder, nodes):
    address, (_, second) = nodes
    with run(folder, "cluster", "--ray", address) as process:
        for line in process.stdout:
            if ": ok" in line:  # the first run has finished and others are running
                break
        kill(second)
        rest = process.communicate(timeout=400)[0]
    assert process.returncode == 0, rest
    with run(folder, "local") as process:
        rest = process.communicate(timeout=400)[0]
    assert process.returncode == 0, rest
    cluster, local = records(folder, "cluster"), records(folder, "local")
    assert len(cluster) == 3 * NUM_FOLDS
    assert cluster == local
