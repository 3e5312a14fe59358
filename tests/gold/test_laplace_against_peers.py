"""Laplace against laplax, which knows neither our Jacobians nor our curvatures.

Its full and diagonal Gauss-Newton matrices are ours; it has no Kronecker factors.
Those are compared with laplace-torch's in test_kronecker_against_peers.py.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi import Data, Model
from gfsvi.covariances import Diagonal, Full
from gfsvi.functions import BayesianNetwork, Ensemble, LinearizedNetwork
from gfsvi.inference.curvature import curvature
from gfsvi.inference.point_estimate import WeightPrior
from gfsvi.likelihoods import Bernoulli, Categorical, Normal
from gfsvi.networks import MLP

pytest.importorskip("laplax", reason="make test-peers installs it")

from laplax.curv import create_ggn_mv, create_posterior_fn
from laplax.eval.pushforward import lin_pred_cov, lin_pred_mean, lin_setup, set_lin_pushforward

RANDOM = np.random.default_rng(0)
X, GRID = RANDOM.normal(size=(40, 2)), RANDOM.normal(size=(7, 2))
SCALE, NOISE = 0.7, 0.4
STRUCTURES = {"full": Full(), "diagonal": Diagonal()}
# likelihood, observations, outputs, laplax's loss, and its share in minus our log-likelihood
PROBLEMS = {
    "normal": (Normal(NOISE), RANDOM.normal(size=40), 1, "mse", 0.5 / NOISE**2),
    "classes": (Categorical(), np.arange(40) % 3, 3, "cross_entropy", 1.0),
    "two_classes": (Bernoulli(), np.arange(40) % 2, 1, "binary_cross_entropy", 1.0),
}


def ours(network, params, likelihood, data, structure):
    """Mean and covariance of the linearised network at each point of the grid."""
    stacked = jax.tree.map(lambda leaf: leaf[None], params)
    found = curvature(structure, Model(Ensemble(network, stacked), likelihood), data)
    prior = BayesianNetwork.prior(network, X, scale=SCALE, dtype=jnp.float64)
    state = found.state(WeightPrior.of(prior).stds)
    values = LinearizedNetwork(network, structure, params, state).marginals(GRID)
    return values.mean.T, values.cov


def theirs(network, params, data, loss, share, structure):
    def model(input, params):
        return network.apply(params, input[None])[0]

    rows = {"input": jnp.asarray(data.x), "target": jnp.asarray(data.y)}
    product = create_ggn_mv(model, params, rows, loss_fn=loss)
    predict = set_lin_pushforward(
        model,
        params,
        create_posterior_fn(structure, product, layout=params),
        {"prior_prec": 1 / SCALE**2, "sigma_squared": share},
        pushforward_fns=[lin_setup, lin_pred_mean, lin_pred_cov],
    )
    found = [predict(point) for point in jnp.asarray(GRID)]
    return [jnp.stack([one[name] for one in found]) for name in ("pred_mean", "pred_cov")]


@pytest.mark.slow
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_what_is_predicted_is_what_laplax_predicts(problem, structure):
    likelihood, y, outputs, loss, share = PROBLEMS[problem]
    network, data = MLP((6, 5), outputs), Data(X, y)
    params = network.init(X, key=jax.random.key(0), dtype=jnp.float64)
    mean, cov = ours(network, params, likelihood, data, STRUCTURES[structure])
    peer_mean, peer_cov = theirs(network, params, data, loss, share, structure)
    np.testing.assert_allclose(mean, peer_mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(cov, np.reshape(peer_cov, cov.shape), rtol=1e-7, atol=1e-10)
