"""Several processes fit the model of one, on this machine and on a cluster, and go on if killed."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gfsvi.auto import Fitted

from .flights import flights

pytestmark = pytest.mark.slow
NEW = flights(200, seed=1)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("together") / "flights.parquet"
    flights(3000).to_parquet(path, index=False, row_group_size=700)
    return path


def started(table: Path, output: Path, *options: str) -> subprocess.Popen:
    words = ["fit", str(table), "--target", "delay", "--stream", "--hold-out", "random"]
    return subprocess.Popen(
        [sys.executable, "-m", "gfsvi.cli", *words, "-o", str(output), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )


def fitted(table: Path, output: Path, *options: str) -> np.ndarray:
    """Means and standard deviations that a fit predicts."""
    process = started(table, output, *options)
    said = process.communicate(timeout=900)[0]
    assert process.returncode == 0, said
    return predicted(output)


def predicted(path: Path) -> np.ndarray:
    found: Any = Fitted.load(path).predict(NEW)
    return np.stack([found.mean, found.std])


@pytest.fixture(scope="module")
def alone(table):
    return fitted(table, table.with_name("alone.gfsvi"))


def test_two_processes_fit_the_model_of_one(table, alone, tmp_path):
    found = fitted(table, tmp_path / "two.gfsvi", "--processes", "2")
    np.testing.assert_allclose(found, alone, rtol=1e-6)


def children(process: subprocess.Popen) -> list[int]:
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text()
    return [int(number) for number in listed.split()]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes in /proc")
def test_a_lost_process_ends_the_fit_which_goes_on_from_its_checkpoint(table, alone, tmp_path):
    output = tmp_path / "two.gfsvi"
    process = started(table, output, "--processes", "2")
    checkpoint = Path(f"{output}.checkpoint")
    until = time.monotonic() + 600
    while not checkpoint.exists() and time.monotonic() < until:
        time.sleep(0.05)
    os.kill(children(process)[1], signal.SIGKILL)
    lost = time.monotonic()
    said = process.communicate(timeout=60)[0]
    assert time.monotonic() - lost < 60
    assert process.returncode == 2
    assert "process 1 of this fit was lost" in said.splitlines()[-1]
    assert checkpoint.exists()
    found = fitted(table, output, "--processes", "2")
    np.testing.assert_allclose(found, alone, rtol=1e-6)
    assert not checkpoint.exists()


@pytest.fixture
def cluster():
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    made.add_node(num_cpus=1)
    yield made
    with contextlib.suppress(Exception):
        ray.shutdown()
    made.shutdown()


def test_a_cluster_of_two_nodes_fits_the_model_of_one_process(table, alone, tmp_path, cluster):
    options = ("--ray", cluster.address, "--processes", "2")
    found = fitted(table, tmp_path / "cluster.gfsvi", *options)
    np.testing.assert_allclose(found, alone, rtol=1e-6)


def test_a_lost_node_ends_the_fit_with_one_sentence(table, tmp_path, cluster):
    output = tmp_path / "cluster.gfsvi"
    process = started(table, output, "--ray", cluster.address)
    until = time.monotonic() + 600
    while not Path(f"{output}.checkpoint").exists() and time.monotonic() < until:
        time.sleep(0.05)
    cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
    lost = time.monotonic()
    said = process.communicate(timeout=90)[0]
    assert time.monotonic() - lost < 60
    assert process.returncode == 2
    assert "was lost" in said.splitlines()[-1]
