"""The predictor in portable operations is the library's."""

# pyright: reportOptionalMemberAccess=false, reportAttributeAccessIssue=false
# pyright: reportArgumentType=false

import dataclasses

import jax
import numpy as np
import pytest

from gfsvi import GFSVIRegressor, Model
from gfsvi.auto.exporting import QUANTILES
from gfsvi.functions import GaussianProcess
from gfsvi.kernels import (
    RBF,
    IntegratedBrownian,
    Linear,
    LocallyPeriodic,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
)
from gfsvi.kernels.composed_in_numpy import composed_in_numpy
from gfsvi.likelihoods import AdaptiveNormal, Poisson
from gfsvi.networks import MLP
from gfsvi.portable.kernels import cross, diagonal
from gfsvi.portable.numpy_ops import NumpyOps
from gfsvi.portable.predictor import PortablePredictor

RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1, 1, size=(60, 3))
Y = np.exp(np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * (1 + X[:, 2]) * RANDOM.normal(size=60))
FAR = RANDOM.uniform(-2, 2, size=(11, 3))

KERNELS = [
    RBF(lengthscale=np.array([0.5, 1.0, 2.0]), variance=2.0),
    Matern12(),
    Matern32(),
    Matern52(variance=3.0),
    RBF() + Linear(variance=0.3).on(0) + IntegratedBrownian().on(1),
    Matern52() * Periodic(period=2.0).on(2),
    RBF() * 2.0 + LocallyPeriodic(period=1.5).on(0) + 0.5,
]


def compared(model, x, **tolerance):
    """Everything that a fit predicts, beside the same in portable operations."""
    fitted = model.fitted_
    predictor = PortablePredictor.of(model, "a test")
    found = predictor.predicted(NumpyOps(), x, QUANTILES)
    predictive, (lower, upper) = fitted.predict(x), fitted.interval(x)
    quantiles = np.asarray(predictive.quantile(np.array(QUANTILES)))
    expected = {
        "mean": predictive.mean,
        "std": predictive.std,
        "epistemic_std": predictive.epistemic_std,
        "lower": lower,
        "upper": upper,
    }
    for number, output in enumerate(found):
        for name, values in expected.items():
            wanted = np.reshape(values, (len(x), -1))[:, number]
            np.testing.assert_allclose(output[name][:, 0], wanted, err_msg=name, **tolerance)
        wanted = quantiles.reshape(len(QUANTILES), len(x), -1)[..., number].T
        np.testing.assert_allclose(output["quantiles"], wanted, **tolerance)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.code())
def test_kernels_are_those_of_the_library(kernel):
    plain = composed_in_numpy(kernel)
    found = cross(NumpyOps(), plain, FAR, X)
    np.testing.assert_allclose(found, plain.cross(FAR, X), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(cross(NumpyOps(), plain, X, X), plain.gram(X), rtol=1e-7)
    variances = diagonal(NumpyOps(), plain, FAR)[:, 0]
    np.testing.assert_allclose(variances, plain.diagonal(FAR), rtol=1e-12)
    batches = cross(NumpyOps(), plain, FAR[:10].reshape(2, 5, 3), X)
    np.testing.assert_allclose(batches.reshape(10, -1), found[:10], rtol=1e-12)


@pytest.mark.parametrize("hidden", [(12, 8, 6), (12,)])
def test_networks_are_those_of_the_library(hidden):
    options = {"kernel": "matern32", "likelihood": "normal", "random_state": 0}
    compared(GFSVIRegressor(hidden=hidden, **options).fit(X, Y), FAR, rtol=1e-7, atol=1e-7)


def test_warps_tails_and_noise_functions_are_those_of_the_library():
    model = GFSVIRegressor(hidden=(15,), kernel="matern32", random_state=0).fit(X, Y)
    likelihood = model.fitted_.posterior.likelihood
    assert isinstance(likelihood, AdaptiveNormal)
    compared(model, FAR, rtol=1e-7, atol=1e-7)
    heavy = AdaptiveNormal(
        noise=np.array([0.2]), degrees_of_freedom=np.array([4.0]), spread=np.array([1.3])
    )
    model = GFSVIRegressor(hidden=(15,), kernel="matern32", likelihood=heavy, random_state=0)
    compared(model.fit(X, Y), FAR, rtol=1e-7, atol=1e-7)


@pytest.mark.filterwarnings("ignore::gfsvi.auto.quality.PoorFitWarning")  # noise of two levels
def test_noise_that_depends_on_the_row_is_that_of_the_library():
    x = np.sort(np.random.default_rng(1).uniform(-2, 2, size=(300, 1)), axis=0)
    noise = np.where(x[:, 0] > 0, 1.0, 0.05) * np.random.default_rng(2).normal(size=300)
    model = GFSVIRegressor(hidden=(10,), kernel="matern52", random_state=0)
    model.fit(x, np.sin(2 * x[:, 0]) + noise)
    assert model.fitted_.posterior.likelihood.factor is not None
    compared(model, x[::17] * 1.5, rtol=1e-7, atol=1e-7)


def test_several_targets_and_promised_intervals_are_those_of_the_library():
    both = np.stack([Y, np.cos(X[:, 0]) + 0.1 * RANDOM.normal(size=60)], axis=1)
    options = {"hidden": (10,), "kernel": "matern52", "random_state": 0}
    compared(GFSVIRegressor(**options).fit(X, both), FAR, rtol=1e-6, atol=1e-6)
    compared(GFSVIRegressor(conformal="left_out", **options).fit(X, Y), FAR, rtol=1e-6, atol=1e-6)


def test_what_has_no_portable_form_is_refused_in_one_sentence():
    fitted = GFSVIRegressor(hidden=(5,), kernel="rbf", random_state=0).fit(X, Y).fitted_
    function, likelihood = fitted.posterior.function, fitted.posterior.likelihood
    rational = dataclasses.replace(function, prior=GaussianProcess(RationalQuadratic()))
    relu = dataclasses.replace(function.tangents, network=MLP((5,), activation=jax.nn.relu))
    posteriors = {
        "the likelihood Poisson": Model(function, Poisson()),
        "this kernel": Model(rational, likelihood),
        "a network or kernel without a form": Model(
            dataclasses.replace(function, tangents=relu), likelihood
        ),
        "a posterior of the kind GaussianProcess": Model(function.prior, likelihood),
    }
    for found, posterior in posteriors.items():
        changed = dataclasses.replace(fitted, posterior=posterior)
        with pytest.raises(ValueError, match=f"a test expects numbers.*; got {found}"):
            PortablePredictor.of(changed, "a test")


def test_warping_and_unwarping_are_inverse():
    model = GFSVIRegressor(hidden=(5,), kernel="rbf", random_state=0).fit(X, Y)
    scatter = PortablePredictor.of(model, "a test").scatter
    ops, y = NumpyOps(), np.linspace(-0.5, 6, 50)[:, None]
    inside = scatter.observed(ops, scatter.warped(ops, y, 0), 0)
    np.testing.assert_allclose(inside, y, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        scatter.warped(ops, y, 0)[:, 0],
        model.fitted_.posterior.likelihood.warp.forward(y.T)[0],
        rtol=1e-9,
        atol=1e-12,
    )
