"""Noise set by held-out rows."""

import numpy as np
import pytest

from gfsvi import Data, Model
from gfsvi.calibration import calibrated
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import RBF
from gfsvi.likelihoods import Normal

X = np.linspace(-3, 3, 40)[:, None]
Y = np.random.default_rng(0).normal(size=40)


@pytest.mark.parametrize("noise", [1e-7, 1e-3, 0.5, 30.0])
def test_noise_is_that_of_the_held_out_rows_however_wrong_it_was(noise, key):
    prior = Model(GaussianProcess(RBF(variance=0.25)), Normal(noise))
    found = calibrated(prior, Data(X, Y), 1.0, key=key).likelihood.noise
    # E[log N(y | f, s^2)] is largest at s^2 = mean of (y - m)^2 + v, with m = 0 and v = 0.25 here
    np.testing.assert_allclose(found, np.sqrt(np.mean(Y**2) + 0.25), rtol=1e-3)


def test_half_of_the_way_is_the_geometric_mean(key):
    prior = Model(GaussianProcess(RBF(variance=0.25)), Normal(0.01))
    ways = [calibrated(prior, Data(X, Y), share, key=key).likelihood.noise for share in (0.5, 1.0)]
    np.testing.assert_allclose(ways[0], np.sqrt(0.01 * ways[1]), rtol=1e-6)
