"""Our kernels against GPJax, tinygp and scikit-learn, and the adapters against their originals."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.gaussian_process import kernels as sk

from gfsvi.kernels import (
    RBF,
    Constant,
    Linear,
    LocallyPeriodic,
    Matern12,
    Matern32,
    Matern52,
    Periodic,
    RationalQuadratic,
    White,
    as_kernel,
)

TOLERANCE = {"rtol": 1e-12, "atol": 1e-12}
SCALES = np.array([0.6, 1.7])


@pytest.fixture
def x() -> np.ndarray:
    points = np.random.default_rng(0).normal(size=(12, 2))
    return np.concatenate([points, points[:3]])  # some points twice


@pytest.fixture
def z() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(5, 2))


@pytest.fixture
def gpjax():
    return pytest.importorskip("gpjax").kernels


@pytest.fixture
def tinygp():
    return pytest.importorskip("tinygp").kernels


def assert_same_as_function(kernel, function, x, z):
    """`function(a, b)` gives a whole matrix of covariances."""
    np.testing.assert_allclose(kernel.gram(x), function(x, x), **TOLERANCE)
    np.testing.assert_allclose(kernel.cross(x, z), function(x, z), **TOLERANCE)
    np.testing.assert_allclose(kernel.diagonal(x), np.diagonal(function(x, x)), **TOLERANCE)


def assert_same_as_sklearn(kernel, original, x, z):
    np.testing.assert_allclose(kernel.gram(x), original(x), **TOLERANCE)
    np.testing.assert_allclose(kernel.cross(x, z), original(x, z), **TOLERANCE)
    np.testing.assert_allclose(kernel.diagonal(x), original.diag(x), **TOLERANCE)


@pytest.mark.parametrize("kernel", [RBF, Matern12, Matern32, Matern52, RationalQuadratic])
def test_stationary_kernels_equal_those_of_gpjax(kernel, gpjax, x, z):
    theirs = getattr(gpjax, kernel.__name__)(lengthscale=jnp.asarray(SCALES), variance=1.3)
    assert_same_as_function(kernel(SCALES, 1.3), theirs.cross_covariance, x, z)


def test_rational_quadratic_with_a_mixture_equals_that_of_gpjax(gpjax, x, z):
    theirs = gpjax.RationalQuadratic(lengthscale=0.8, variance=1.3, alpha=0.4)
    assert_same_as_function(RationalQuadratic(0.8, 1.3, 0.4), theirs.cross_covariance, x, z)


def test_linear_kernel_equals_that_of_gpjax(gpjax, x, z):
    theirs = gpjax.Linear(variance=1.3)
    assert_same_as_function(Linear(1.3), theirs.cross_covariance, x, z)


def test_periodic_kernel_equals_that_of_gpjax_whose_length_scale_is_halved(gpjax, x, z):
    # GPJax writes exp(-sin^2 / (2 l^2)), we write exp(-2 sin^2 / l^2) as everybody else.
    theirs = gpjax.Periodic(lengthscale=jnp.asarray(SCALES / 2), variance=1.3, period=0.9)
    assert_same_as_function(Periodic(SCALES, 1.3, 0.9), theirs.cross_covariance, x, z)


def test_white_kernel_equals_that_of_gpjax(gpjax, x):
    np.testing.assert_allclose(White(0.7).gram(x), gpjax.White(variance=0.7).gram(x).as_matrix())


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(RBF, "ExpSquared"), (Matern12, "Exp"), (Matern32, "Matern32"), (Matern52, "Matern52")],
)
def test_stationary_kernels_equal_those_of_tinygp(ours, theirs, tinygp, x, z):
    kernel = 1.3 * getattr(tinygp, theirs)(0.7, distance=tinygp.distance.L2Distance())
    assert_same_as_function(ours(0.7, 1.3), kernel, x, z)


def test_rational_quadratic_equals_that_of_tinygp(tinygp, x, z):
    kernel = tinygp.RationalQuadratic(0.7, tinygp.distance.L2Distance(), alpha=2.3)
    assert_same_as_function(RationalQuadratic(0.7, 1.0, 2.3), kernel, x, z)


def test_periodic_kernel_equals_that_of_tinygp_for_one_feature(tinygp, x, z):
    kernel = tinygp.ExpSineSquared(0.9, gamma=2 / 0.7**2)
    assert_same_as_function(Periodic(0.7, 1.0, 0.9), kernel, x[:, 0], z[:, 0])


def test_locally_periodic_kernel_equals_a_product_in_tinygp(tinygp, x, z):
    kernel = tinygp.ExpSineSquared(0.9, gamma=2 / 0.7**2) * tinygp.ExpSquared(1.4)
    ours = LocallyPeriodic(lengthscale=1.4, period=0.9, periodic_lengthscale=0.7)
    assert_same_as_function(ours, kernel, x[:, 0], z[:, 0])


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (RBF(SCALES), sk.RBF(SCALES)),
        (Matern12(SCALES), sk.Matern(SCALES, nu=0.5)),
        (Matern32(SCALES), sk.Matern(SCALES, nu=1.5)),
        (Matern52(SCALES), sk.Matern(SCALES, nu=2.5)),
        (RBF(0.6), sk.Matern(0.6, nu=np.inf)),
        (RationalQuadratic(0.6, mixture=0.4), sk.RationalQuadratic(0.6, alpha=0.4)),
        (Linear() + 0.25, sk.DotProduct(0.5)),
        (Linear(), sk.DotProduct(0.0)),
        (Constant(0.4), sk.ConstantKernel(0.4)),
        (White(0.4), sk.WhiteKernel(0.4)),
        (2.0 * RBF(0.6) + White(0.3), 2.0 * sk.RBF(0.6) + sk.WhiteKernel(0.3)),
        (RBF(0.6) * Matern12(), sk.RBF(0.6) * sk.Matern(nu=0.5)),
        (Linear() * Linear() * Linear(), sk.DotProduct(0.0) ** 3),
    ],
    ids=lambda kernel: str(kernel).replace("\n", " ")[:40],
)
def test_kernels_and_translations_equal_those_of_scikit_learn(ours, theirs, x, z):
    assert_same_as_sklearn(ours, theirs, x, z)
    assert_same_as_sklearn(as_kernel(theirs), theirs, x, z)


def test_periodic_kernel_equals_that_of_scikit_learn_for_one_feature(x, z):
    theirs = sk.ExpSineSquared(0.6, periodicity=0.9)
    assert_same_as_sklearn(Periodic(0.6, period=0.9), theirs, x[:, :1], z[:, :1])
    assert_same_as_sklearn(as_kernel(theirs), theirs, x[:, :1], z[:, :1])


def test_adapted_gpjax_kernel_gives_its_own_covariances(gpjax, x, z):
    theirs = gpjax.Matern32(active_dims=[1], lengthscale=0.6) * gpjax.RBF() + gpjax.Linear()
    adapted = as_kernel(theirs)
    np.testing.assert_allclose(adapted.gram(x), theirs.gram(x).as_matrix(), **TOLERANCE)
    np.testing.assert_allclose(adapted.cross(x, z), theirs.cross_covariance(x, z), **TOLERANCE)
    np.testing.assert_allclose(adapted.diagonal(x), np.diagonal(adapted.gram(x)), **TOLERANCE)


def test_adapted_tinygp_kernel_gives_its_own_covariances(tinygp, x, z):
    theirs = 1.3 * tinygp.Matern32(0.6) + tinygp.DotProduct()
    adapted = as_kernel(theirs)
    np.testing.assert_allclose(adapted.gram(x), theirs(x, x), **TOLERANCE)
    np.testing.assert_allclose(adapted.cross(x, z), theirs(x, z), **TOLERANCE)
    np.testing.assert_allclose(adapted.diagonal(x), theirs(x), **TOLERANCE)


@pytest.mark.parametrize("library", ["gpjax", "tinygp"])
def test_parameters_of_adapted_kernels_are_not_trained(library, gpjax, tinygp, x):
    scale = jnp.asarray(0.6)
    kernel = gpjax.RBF(lengthscale=scale) if library == "gpjax" else tinygp.ExpSquared(scale)
    assert jax.tree.leaves(as_kernel(kernel))
    gradient = jax.grad(lambda kernel: jnp.sum(kernel.gram(x)))(as_kernel(kernel))
    assert all(np.all(leaf == 0) for leaf in jax.tree.leaves(gradient))


@pytest.mark.parametrize("library", ["gpjax", "tinygp"])
def test_adapted_kernels_pass_through_jit_and_gradients_by_points(library, gpjax, tinygp, x):
    kernel = as_kernel(gpjax.RBF(active_dims=[0]) if library == "gpjax" else tinygp.ExpSquared(0.6))
    jitted = jax.jit(lambda kernel, x: kernel.gram(x))(kernel, x)
    np.testing.assert_allclose(jitted, kernel.gram(x), **TOLERANCE)
    gradient = jax.grad(lambda x: jnp.sum(kernel.gram(x)))(jnp.asarray(x))
    assert np.all(np.isfinite(gradient))
    assert np.any(gradient != 0)


def test_distances_keep_their_digits_far_from_the_origin():
    x = np.random.default_rng(0).normal(size=(6, 2))
    far = 1e6 + x
    exact = sk.Matern(nu=0.5)(far)  # from differences, which are exact
    np.testing.assert_allclose(Matern12().gram(far), exact, rtol=1e-12)
    np.testing.assert_allclose(Matern12().cross(far, far[:3]), exact[:, :3], rtol=1e-12)
    period = sk.ExpSineSquared(periodicity=0.9)(far[:, :1])
    np.testing.assert_allclose(Periodic(period=0.9).gram(far[:, :1]), period, rtol=1e-12)
