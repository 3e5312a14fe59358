"""Where GFSVI has a closed-form answer, it must find it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gfsvi import Data, Model, Training
from gfsvi.covariances import ClosedForm, Diagonal, Full
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import Constant, Linear
from gfsvi.likelihoods import Normal
from gfsvi.methods import GFSVI, ExactGP
from gfsvi.networks import MLP
from gfsvi.points import FixedPoints
from gfsvi.training import Adam


def linear_problem() -> tuple[Model, Data, np.ndarray]:
    random = np.random.default_rng(0)
    x = random.normal(size=(12, 2))
    y = x @ np.array([0.7, -0.4]) + 0.2 + 0.5 * random.normal(size=12)
    # A network without hidden layers is linear in its weights; N(0, I) on them is this kernel.
    model = Model(GaussianProcess(Linear() + Constant()), Normal(0.5))
    return model, Data(x, y), random.normal(size=(8, 2))


TRAINING = Training(num_steps=3000, optimizer=Adam(3e-2), evaluate_every=1000)


def fit(covariance, **options) -> tuple:
    model, data, points = linear_problem()
    method = GFSVI(
        MLP(()),
        covariance,
        FixedPoints(points),
        **options,
        dtype=jnp.float64,
        fixed=lambda model: model.likelihood,
    )
    key = jax.random.key(0)
    grid = np.random.default_rng(1).uniform(-2, 2, size=(50, 2))
    fitted = method(model, data, key=key).posterior.predict(grid)
    return fitted, ExactGP()(model, data, key=key).posterior.predict(grid)


def test_the_closed_form_on_a_linear_network_is_the_exact_posterior():
    fitted, exact = fit(ClosedForm())
    assert fitted.mean == pytest.approx(exact.mean, abs=1e-5)
    assert fitted.epistemic_variance == pytest.approx(exact.epistemic_variance, abs=1e-5)


def test_full_covariance_on_a_linear_network_is_the_exact_posterior():
    fitted, exact = fit(Full(0.3), training=TRAINING)
    assert fitted.mean == pytest.approx(exact.mean, abs=1e-3)
    assert fitted.epistemic_variance == pytest.approx(exact.epistemic_variance, abs=1e-3)


def test_diagonal_covariance_on_a_linear_network_has_the_exact_mean():
    fitted, exact = fit(Diagonal(0.3), training=TRAINING)
    assert fitted.mean == pytest.approx(exact.mean, abs=1e-3)


def test_exact_process_equals_scikit_learn():
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF as TheirRBF

    from gfsvi.kernels import RBF

    random = np.random.default_rng(0)
    x, grid = random.normal(size=(20, 2)), random.normal(size=(30, 2))
    y = np.sin(x[:, 0]) + 0.1 * random.normal(size=20)
    model = Model(GaussianProcess(RBF(0.8)), Normal(0.1))
    ours = ExactGP()(model, Data(x, y), key=jax.random.key(0)).posterior.predict(grid)
    peer = GaussianProcessRegressor(TheirRBF(0.8), alpha=0.01, optimizer=None).fit(x, y)
    mean, std = peer.predict(grid, return_std=True)
    assert ours.mean == pytest.approx(mean, abs=1e-8)
    assert ours.epistemic_std == pytest.approx(std, abs=1e-6)
