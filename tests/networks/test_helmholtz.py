"""The Helmholtz network: its physics, and that it works like any other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi import Data, Model, Training
from gfsvi.covariances import Kronecker
from gfsvi.fields import HelmholtzKernel, HelmholtzNetwork, field_of, rows_at
from gfsvi.functions import GaussianProcess
from gfsvi.likelihoods import Normal
from gfsvi.methods import GFSVI
from gfsvi.networks import MLP
from gfsvi.numerics.precision import double
from gfsvi.points import FixedPoints

POSITIONS = np.random.default_rng(0).normal(size=(5, 2))
NETWORK = HelmholtzNetwork(MLP((7, 7)), MLP((7, 7)))


def jacobian(params, position):
    """d field_i / d x_j."""

    def field(p):
        rows = jnp.stack([jnp.append(p, 0.0), jnp.append(p, 1.0)])
        return NETWORK.apply(params, rows)[:, 0]

    return np.asarray(jax.jacfwd(field)(jnp.asarray(position)))


@double
@pytest.mark.parametrize("silent", ["potential", "stream"])
def test_a_gradient_has_no_curl_and_a_rotation_no_divergence(silent):
    params = NETWORK.init(rows_at(POSITIONS), key=jax.random.key(3), dtype=jnp.float64)
    params = params | {silent: jax.tree.map(jnp.zeros_like, params[silent])}
    for position in POSITIONS:
        slope = jacobian(params, position)
        curl, divergence = slope[1, 0] - slope[0, 1], np.trace(slope)
        none, some = (curl, divergence) if silent == "stream" else (divergence, curl)
        assert abs(none) < 1e-12 < 1e-4 < abs(some)


@double
def test_it_is_the_gradient_of_one_network_and_the_rotation_of_the_other():
    params = NETWORK.init(rows_at(POSITIONS), key=jax.random.key(3), dtype=jnp.float64)
    field = field_of(np.asarray(NETWORK.apply(params, rows_at(POSITIONS)))[:, 0])
    step = 1e-5
    for position, vector in zip(POSITIONS, field, strict=True):
        slopes = {}
        for name in ("potential", "stream"):
            network = getattr(NETWORK, name)
            ends = position + step * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])
            f = np.asarray(network.apply(params[name], ends))[:, 0]
            slopes[name] = np.array([f[0] - f[1], f[2] - f[3]]) / (2 * step)
        east, north = slopes["stream"]
        np.testing.assert_allclose(
            vector, slopes["potential"] + [north, -east], rtol=1e-6, atol=1e-8
        )


@pytest.mark.parametrize(
    "options",
    [{}, {"covariance": Kronecker(), "training": Training(num_steps=20)}],
    ids=["computed", "trained"],
)
def test_gfsvi_learns_a_field_from_both_components(options):
    y = np.column_stack([POSITIONS[:, 1], -POSITIONS[:, 0]])  # a rotation
    prior = Model(GaussianProcess(HelmholtzKernel()), Normal(0.05))
    method = GFSVI(
        NETWORK,
        points=FixedPoints(rows_at(np.random.default_rng(1).normal(size=(6, 2)))),
        gamma=1e-6,
        **options,
    )
    data = Data(rows_at(POSITIONS), np.ravel(y))
    fit = method(prior, data, key=jax.random.key(0))
    predicted = field_of(np.asarray(fit.posterior.predict(data.x).mean))
    assert np.mean((predicted - y) ** 2) < 0.02 * np.mean(y**2)
