"""Rows that neither a process nor its parameters have seen."""

import jax
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF as SklearnRBF
from sklearn.gaussian_process.kernels import ConstantKernel

from gfsvi.auto import unseen_rows
from gfsvi.auto.unseen_rows import UnseenValues, unseen_values
from gfsvi.data import Data
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import RBF
from gfsvi.likelihoods import Normal
from gfsvi.methods import EvidenceSearch
from gfsvi.model import Model
from gfsvi.numerics.randomness import generator
from gfsvi.prior_means.folds import folds_of
from gfsvi.values import Independent

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, size=(60, 2))
Y = np.sin(2 * X[:, 0]) + 0.1 * RNG.normal(size=60)
KEY = jax.random.key(0)


def _prior(lengthscale=(1.0, 2.0), noise=0.2):
    kernel = RBF(lengthscale=np.array(lengthscale), variance=np.array(1.5))
    return Model(GaussianProcess(kernel), Normal(np.array([noise])))


def _keep_parameters(monkeypatch):
    monkeypatch.setattr(EvidenceSearch, "refined", lambda self, model, data, *, key: model)


def test_with_fixed_parameters_rows_are_predicted_as_by_scikit_learn(monkeypatch):
    _keep_parameters(monkeypatch)
    found = unseen_values(_prior(), Data(X, Y), key=KEY)
    folds = folds_of(X, seed=int(generator(KEY).integers(2**31)))
    kernel = ConstantKernel(1.5, "fixed") * SklearnRBF([1.0, 2.0], "fixed")
    for fold in range(5):
        kept, rest = folds != fold, folds == fold
        peer = GaussianProcessRegressor(kernel, alpha=0.2**2 + unseen_rows.JITTER)
        mean, std = peer.fit(X[kept], Y[kept]).predict(X[rest], return_std=True)
        np.testing.assert_allclose(found.mean[0, rest], mean, atol=1e-5)
        np.testing.assert_allclose(found.variance[0, rest], std**2, atol=1e-5)


def test_parameters_are_chosen_without_the_rows_they_predict():
    # With a length scale for each of twelve features that mean nothing, rows that are left out
    # under parameters that have seen them look better than new rows are.
    x, y = RNG.normal(size=(50, 12)), RNG.normal(size=50)
    overfitted = _prior(np.full(12, 1.2), 0.05)
    found = unseen_values(overfitted, Data(x, y), key=KEY)
    surprise = (y - found.mean[0]) ** 2 / (found.variance[0] + 0.05**2)
    assert np.mean((y - found.mean[0]) ** 2) > 0.8 * np.var(y)
    assert np.mean(surprise) < 100


def test_weights_count_like_copies_of_rows(monkeypatch):
    _keep_parameters(monkeypatch)
    weights = np.where(np.arange(60) < 20, 2.0, 1.0)
    copies = np.concatenate([np.arange(60), np.arange(20)])
    weighted = unseen_values(_prior(), Data(X, Y, weights), key=KEY)
    repeated = unseen_values(_prior(), Data(X[copies], Y[copies]), key=KEY)
    np.testing.assert_allclose(weighted.mean[0], repeated.mean[0, :60], atol=1e-6)


def test_each_output_has_its_own_noise(monkeypatch):
    _keep_parameters(monkeypatch)
    kernel = _prior().function.kernel
    both = Model(GaussianProcess(kernel, outputs=2), Normal(np.array([0.2, 1.0])))
    found = unseen_values(both, Data(X, np.stack([Y, Y], axis=1)), key=KEY)
    alone = unseen_values(_prior(noise=1.0), Data(X, Y), key=KEY)
    np.testing.assert_allclose(found.mean[1], alone.mean[0], atol=1e-9)
    assert np.all(found.variance[1] > found.variance[0])


def test_kernels_that_need_jax_have_no_unseen_rows():
    assert (
        unseen_values(Model(GaussianProcess(lambda x, z: 1.0), Normal()), Data(X, Y), key=KEY)
        is None
    )


def test_nothing_is_returned_when_the_time_is_over():
    assert unseen_values(_prior(), Data(X, Y), key=KEY, is_over=lambda: True) is None


def test_values_are_found_again_by_their_rows():
    known = UnseenValues.of(X, Independent(Y[None], Y[None] ** 2))
    rows = np.array([5, 2, 40])
    np.testing.assert_array_equal(known.at(X[rows]).mean[0], Y[rows])
    assert known.at(X[rows] + 1e-9) is None
