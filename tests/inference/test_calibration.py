"""Noise set by held-out rows."""

import jax
import numpy as np
import pytest

from gfsvi import Data, Model
from gfsvi.functions import GaussianProcess
from gfsvi.inference.calibration import LeaveOneOut, with_share
from gfsvi.kernels import RBF
from gfsvi.likelihoods import Categorical, Normal
from gfsvi.methods import ExactGP
from gfsvi.numerics.precision import double

X = np.linspace(-3, 3, 40)[:, None]
Y = np.random.default_rng(0).normal(size=40)


@pytest.mark.parametrize("noise", [1e-7, 1e-3, 0.5, 30.0])
def test_noise_is_that_of_the_held_out_rows_however_wrong_it_was(noise, key):
    prior = Model(GaussianProcess(RBF(variance=0.25)), Normal(noise))
    found = with_share(prior, Data(X, Y), 1.0, key=key).likelihood.noise
    # E[log N(y | f, s^2)] is largest at s^2 = mean of (y - m)^2 + v, with m = 0 and v = 0.25 here
    np.testing.assert_allclose(found, np.sqrt(np.mean(Y**2) + 0.25), rtol=1e-3)


def test_half_of_the_way_is_the_geometric_mean(key):
    prior = Model(GaussianProcess(RBF(variance=0.25)), Normal(0.01))
    ways = [with_share(prior, Data(X, Y), share, key=key).likelihood.noise for share in (0.5, 1.0)]
    np.testing.assert_allclose(ways[0], np.sqrt(0.01 * ways[1]), rtol=1e-6)


@double
def test_what_is_left_out_is_what_the_other_rows_say():
    random = np.random.default_rng(1)
    data = Data(random.normal(size=(8, 2)), random.normal(size=8))
    prior = Model(GaussianProcess(RBF(0.9, 1.5)), Normal(0.4))
    left_out = LeaveOneOut.of(prior, prior, data)
    for row in range(8):
        others = data.take(np.delete(np.arange(8), row))
        exact = ExactGP()(prior, others, key=jax.random.key(0)).posterior.function
        values = exact.marginals(data.x[row : row + 1])
        np.testing.assert_allclose(left_out.values.mean[:, row], values.mean[:, 0], rtol=1e-9)
        np.testing.assert_allclose(left_out.values.cov[row], values.cov[0], rtol=1e-8)


def test_rows_left_out_keep_few_validation_rows_from_setting_the_noise_alone():
    random = np.random.default_rng(2)
    x = random.uniform(-2, 2, size=(60, 1))
    data = Data(x[5:], np.sin(x[5:, 0]) + 0.3 * random.normal(size=55))
    lucky = Data(x[:5], np.sin(x[:5, 0]))  # without noise
    model = Model(GaussianProcess(RBF()), Normal(0.3))
    posterior = ExactGP()(model, data, key=jax.random.key(0)).posterior
    key = jax.random.key(0)
    found = [with_share(posterior, lucky, 1.0, key=key)]
    left_out = LeaveOneOut.of(posterior, model, data)
    found += [with_share(posterior, lucky, 1.0, key=key, left_out=left_out)]
    alone, together = (float(np.ravel(model.likelihood.noise)[0]) for model in found)
    assert alone < 0.15
    assert together == pytest.approx(0.3, rel=0.25)


def test_rows_of_another_likelihood_are_not_left_out():
    data = Data(np.zeros((3, 1)), np.array([0, 1, 1]))
    prior = Model(GaussianProcess(RBF(), outputs=2), Categorical())
    assert LeaveOneOut.of(prior, prior, data) is None
