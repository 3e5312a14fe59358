"""Rows that are divided among devices add up to what they are on one."""

import os
import subprocess
import sys

import jax
import numpy as np
import pytest

from gfsvi.data import Data
from gfsvi.functions.bayesian_network import BayesianNetwork
from gfsvi.functions.gaussian_process import GaussianProcess
from gfsvi.inference.conjugate import Interpolation, sums_of, tangents_of
from gfsvi.inference.on_devices import PassesInNumpy, PassesOnDevices, sums_on
from gfsvi.kernels import Matern52
from gfsvi.likelihoods import Normal
from gfsvi.methods import MAP
from gfsvi.model import Model
from gfsvi.networks import MLP
from gfsvi.numerics.devices import mesh_of, mesh_of_process, rows_divided
from gfsvi.plain.networks import TanhNetwork, random_network
from gfsvi.training import steps
from gfsvi.training.optimizers import Adam
from gfsvi.training.settings import Training

NUM_ROWS = 403
"""Not a multiple of the number of devices."""


def rows() -> Data:
    random = np.random.default_rng(0)
    x = random.normal(size=(NUM_ROWS, 3))
    return Data(x, np.stack([np.sin(x[:, 0]), x[:, 1] + x[:, 2]], axis=1))


def check_sums(mesh) -> None:
    data, random = rows(), np.random.default_rng(1)
    network = MLP((7,), 2)
    params = network.init(np.zeros((4, 3)), key=jax.random.key(1), dtype=np.float64)
    prior = GaussianProcess(Matern52(1.5), outputs=2)
    at = Interpolation.at(
        tangents_of(network, params, 2), prior, np.asarray(data.x[:30]), gamma=1e-8
    )
    y, variance = np.asarray(data.y).T, random.uniform(0.1, 2, size=(2, NUM_ROWS))
    expected = sums_of(*at.rows(np.asarray(data.x)), y, variance)
    found = sums_on(mesh, at, np.asarray(data.x), y, 1 / variance)
    for one, other in zip(found, expected, strict=False):
        np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8 * np.abs(other).max())


def check_passes(mesh) -> None:
    x = np.asarray(rows().x, np.float32)
    drawn = random_network(x, (9, 4, 2), None, np.random.default_rng(2))
    network = TanhNetwork(tuple(matrix.astype(np.float32) for matrix in drawn.matrices))
    slopes = np.random.default_rng(3).normal(size=(NUM_ROWS, 2)).astype(np.float32)
    expected, found = PassesInNumpy(network, x), PassesOnDevices(mesh, network, x)
    np.testing.assert_allclose(found.outputs(), expected.outputs(), atol=1e-5)
    for one, other in zip(found.gradient(slopes), expected.gradient(slopes), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5 * np.abs(other).max())


def trained() -> np.ndarray:
    """What a network predicts after some steps on batches."""
    jax.clear_caches()
    training = Training(num_steps=20, optimizer=Adam(1e-2, batch_size=100))
    prior = Model(BayesianNetwork.prior(MLP((8,), 2), rows().x), Normal(np.full(2, 0.3)))
    fit = MAP(training)(prior, rows(), key=jax.random.key(0))
    return np.asarray(fit.posterior.predict(np.asarray(rows().x[:5])).mean)


def check_division() -> None:
    """Rows are divided where they can be."""
    even, odd = (jax.jit(rows_divided)(np.ones((size, 2))) for size in (8, 9))
    assert {shard.data.shape for shard in even.addressable_shards} == {(2, 2)}
    assert len(even.sharding.device_set) == 4
    assert odd.shape == (9, 2)


def check_training(monkeypatch: pytest.MonkeyPatch) -> None:
    found = trained()
    monkeypatch.setattr(steps, "rows_divided", lambda batch: batch)
    np.testing.assert_allclose(found, trained(), rtol=1e-4)


def test_sums_and_passes_in_jax_are_those_in_numpy():
    mesh = mesh_of(jax.local_devices())
    check_sums(mesh)
    check_passes(mesh)


def test_a_single_processor_uses_numpy():
    assert mesh_of_process() is None


WORK = """
import jax, pytest
from tests.inference.test_on_devices import check_division, check_passes, check_sums, check_training
from gfsvi.numerics.devices import mesh_of_process
mesh = mesh_of_process()
assert mesh is not None and mesh.size == 4
check_sums(mesh)
check_passes(mesh)
check_division()
with pytest.MonkeyPatch.context() as patch:
    check_training(patch)
"""


@pytest.mark.slow
def test_four_devices_compute_what_one_does():
    variables = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", WORK], env=os.environ | variables, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("size", [64, 403, 1000])
def test_rows_that_fill_up_a_block_count_for_nothing(size):
    from gfsvi.inference.on_devices import _filled

    filled = _filled(mesh_of(jax.local_devices()), np.ones((size, 2)), 0)
    assert len(filled) >= size
    assert filled.sum() == 2 * size
