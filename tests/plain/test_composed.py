"""Kernels of all families in NumPy are those of the library."""

import jax
import numpy as np
import pytest

from gfsvi import registry
from gfsvi.fields import HelmholtzKernel
from gfsvi.functions import GaussianProcess
from gfsvi.inference.conjugate import (
    Interpolation,
    posterior_of,
    solved,
    sums_over_rows,
    tangents_of,
)
from gfsvi.kernels import (
    RBF,
    Constant,
    Known,
    Linear,
    LocallyPeriodic,
    Matern12,
    Matern52,
    Periodic,
    RationalQuadratic,
    Scaled,
    White,
)
from gfsvi.kernels.composed_in_numpy import composed_in_numpy
from gfsvi.likelihoods.gaussian_targets import GaussianTargets
from gfsvi.networks import MLP
from gfsvi.numerics.precision import double
from gfsvi.plain.correlations import correlations_along

RANDOM = np.random.default_rng(0)
X, Z = RANDOM.normal(size=(9, 3)), RANDOM.normal(size=(7, 3))
Z[2] = X[4]
OWN = np.array([0.7, 1.3, 2.0])
KERNELS = {
    "periodic": Periodic(OWN, 1.7, OWN[::-1]),
    "rational quadratic": RationalQuadratic(OWN, 1.7, 0.6),
    "locally periodic": LocallyPeriodic(1.3, 1.7, 0.8, 0.5),
    "linear": Linear(OWN),
    "constant": Constant(1.7),
    "white": White(0.3),
    "sum": RBF(OWN) + 2.0 * Linear() + White(0.2),
    "product": Matern12(0.8) * Periodic(period=0.7).on(1),
    "scaled": Scaled(RBF() * Linear(), 1.7) + 0.4,
    "features": (RBF(np.array([0.5, 2.0])) + Linear()).on(2, 0),
    "known": Known(0.5 * RBF(0.3).on(0) + Matern52(2.0)),
}
by_name = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)


@by_name
@double
def test_composed_kernels_are_those_of_the_library(kernel):
    plain = composed_in_numpy(kernel)
    np.testing.assert_allclose(plain.cross(X, Z), kernel.cross(X, Z), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(plain.gram(X), kernel.gram(X), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(plain.diagonal(X), kernel.diagonal(X), rtol=1e-12)


@pytest.mark.parametrize("name", registry.names("kernels"))
def test_every_kernel_with_a_name_has_a_form_in_numpy(name):
    assert composed_in_numpy(registry.find("kernels", name)()) is not None


def test_kernels_of_fields_and_what_contains_them_have_none():
    assert composed_in_numpy(HelmholtzKernel()) is None
    assert composed_in_numpy(HelmholtzKernel() + RBF()) is None


@by_name
@double
def test_the_closed_form_is_the_same_without_compiling(kernel):
    network = MLP((6, 5))
    params = network.init(X, key=jax.random.key(0))
    interpolation = Interpolation.at(
        tangents_of(network, params), GaussianProcess(kernel), X, gamma=1e-6
    )
    targets = GaussianTargets(np.sin(X[:, :1]).T, np.full((1, len(X)), 0.04))
    posterior = posterior_of(
        interpolation, solved(interpolation, sums_over_rows(interpolation, X, targets))
    )
    mean, cov = posterior.in_numpy.joint(Z)
    compiled = posterior.at(Z)
    np.testing.assert_allclose(mean, compiled.mean, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(cov, compiled.cov, rtol=1e-6, atol=1e-8)
    marginal = posterior.in_numpy.marginals(Z)[1]
    np.testing.assert_allclose(np.diagonal(cov, axis1=1, axis2=2), marginal, rtol=1e-6, atol=1e-9)


ALONG = [
    RBF(),
    Matern52(np.array([0.3, 5.0, 0.02])),
    RBF(np.ones(2)).on(0, 2) + Linear().on(1),
    Periodic() * Matern12(),
    White().on(1) + RBF().on(0),
    RationalQuadratic(),
]


@pytest.mark.parametrize("kernel", ALONG, ids=repr)
def test_correlations_along_features_are_those_of_rows_that_differ_in_one(kernel):
    centre, steps = np.array([0.5, -2.0, 1.0]), np.geomspace(0.01, 3, 7)[:, None] * [1, 2, 0.1]
    in_numpy = composed_in_numpy(kernel)
    found = correlations_along(in_numpy, centre, steps)
    for feature in range(3):
        for number, step in enumerate(steps[:, feature]):
            other = centre.copy()
            other[feature] += step
            cov = np.asarray(kernel.cross(centre[None], other[None]))[0, 0]
            size = [np.asarray(kernel.diagonal(row[None]))[0] for row in (centre, other)]
            expected = cov / np.sqrt(size[0] * size[1])
            assert found[feature, number] == pytest.approx(expected, rel=1e-6)


def test_a_thousand_features_need_no_matrix_over_them():
    kernel = composed_in_numpy(RBF(np.ones(10_000)))
    found = correlations_along(kernel, np.zeros(10_000), np.ones((1, 10_000)))
    np.testing.assert_allclose(found, np.exp(-0.5))
